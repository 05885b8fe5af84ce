// Opens the page and takes pictures of it: {"out": path without suffix}. Gives what a person would look for.
export default async function look(page, { out }, tools) {
  await tools.shot(page, `${out}-skin.png`);
  await page.getByRole("button", { name: "Muscles under translucent skin" }).click();
  await tools.shot(page, `${out}-muscles.png`);
  // a muscle that is clicked is chosen, here and in the list
  const box = await page.locator("canvas").boundingBox();
  await page.mouse.click(box.x + 0.44 * box.width, box.y + 0.6 * box.height);
  await page.waitForFunction(() => window.ecorcheStudio.store.getState().selected !== null);
  const chosen = await page.evaluate(() => window.ecorcheStudio.store.getState().selected);
  await page.getByRole("tab", { name: "View" }).click();
  const listed = await page.locator('[role="option"][data-selected="true"]').innerText();
  await page.getByRole("button", { name: "Frame choice" }).click();
  await tools.shot(page, `${out}-chosen.png`);
  await page.getByRole("button", { name: "Frame all" }).click();
  await page.getByLabel("Fat", { exact: true }).check();
  await page.waitForFunction(() => window.ecorcheStudio.viewport().fat.object.visible, undefined, { timeout: 90_000 });
  await page.getByRole("button", { name: "Theme" }).click();
  await tools.shot(page, `${out}-fat.png`);
  return { chosen, listed, theme: await page.evaluate(() => window.ecorcheStudio.store.getState().theme) };
}
