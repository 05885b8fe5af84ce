// Opens the page and takes pictures of it: {"out": path without suffix}.
export default async function look(page, { out }, tools) {
  await tools.shot(page, `${out}-skin.png`);
  await page.getByRole("button", { name: "Muscles under translucent skin" }).click();
  await tools.shot(page, `${out}-muscles.png`);
  return page.evaluate(() => ({
    webgpu: window.ecorcheStudio.viewport().renderer.backend.isWebGPUBackend === true,
    document: window.ecorcheStudio.store.getState().document.character,
  }));
}
