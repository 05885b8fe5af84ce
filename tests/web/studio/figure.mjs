// The built-in figure as it is seen when the studio opens, without the page round it: {"out": path}.
export default async function figure(page, { out }, tools) {
  // whatever stands below the view, and takes its height
  await page.addStyleTag({ content: ".studio-bottom > * { display: none }" });
  await page.waitForTimeout(200);
  await page.evaluate(() => window.ecorcheStudio.viewport().frameAll());
  await page.getByRole("button", { name: "Muscles under translucent skin" }).click();
  await tools.refreshed(page);
  await page.waitForTimeout(800);
  await page.locator("canvas").screenshot({ path: out });
}
