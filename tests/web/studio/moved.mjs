// A rig whose character changed, and a character without rig: {"out": pictures or null}. The page begins with the first.
export default async function moved(page, { out }, tools) {
  const seen = {};
  const shot = async (name) => out && (await page.screenshot({ path: `${out}-${name}.png` }));
  await page.getByText("does not fit its character any more", { exact: false }).waitFor();
  seen.problem = await page.getByText("The bind points changed", { exact: false }).textContent();
  await page.keyboard.press("Escape"); // the folder, which is shown while nothing is open
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await shot("moved");
  await page.getByRole("button", { name: "Rebind" }).click();
  await page.getByTestId("dirty").waitFor();
  await page.getByText("same topology", { exact: false }).waitFor();
  await tools.until(page, () => window.ecorcheStudio?.viewport()?.shown > 0);
  await shot("rebound");
  await page.getByRole("button", { name: "Save the rig" }).click();
  await page.getByTestId("dirty").waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Open a file" }).click();
  await page.locator('[data-file="bare.glb"]').click();
  await page.getByText("bare.glb has no muscles yet").waitFor();
  await tools.until(page, () => window.ecorcheStudio?.viewport()?.shown > 0);
  await shot("bare");
  await page.getByRole("button", { name: "Anatomical muscles" }).click();
  await page.waitForFunction(() => window.ecorcheStudio.store.getState().refusal !== null);
  seen.refused = await page.evaluate(() => window.ecorcheStudio.store.getState().refusal.what);
  await shot("refused");
  return seen;
}
