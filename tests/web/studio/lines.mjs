// Edits the action lines of a muscle as a person does: {"muscle": name, "elbow": joint,
// "out": path of pictures without suffix}.
export default async function lines(page, { muscle, elbow, out }, tools) {
  const state = () => page.evaluate(() => window.ecorcheStudio.store.getState().document);
  const told = () => tools.request(page, "lines.get", { muscle });
  const shown = () => tools.request(page, "lines.show", { muscle });
  const quiet = async () => {
    await tools.refreshed(page);
    await page.waitForTimeout(300);
  };
  const steps = {};

  // at bind a mesh is as it was modelled, wherever its lines are: so in a pose
  await tools.request(page, "joint.pose", { joint: elbow, turns: [0, 70, 0], limits: false });
  await tools.refreshed(page);
  await page.getByRole("option", { name: muscle, exact: true }).click();
  await page.getByLabel("Path model").waitFor();
  await page.getByRole("button", { name: "Frame", exact: true }).click();
  await quiet();
  await tools.shot(page, `${out}-line.png`);
  steps.nodes = (await told()).lines[0].nodes.length;
  steps.before = (await shown()).arrays.mesh;

  // drag a node in the view; the muscle's mesh follows while it is dragged, and after
  await page.getByText("Nodes", { exact: true }).click();
  const row = 5;
  const at = await page.evaluate((id) => window.ecorcheStudio.viewport().handles.place(id), `node-${row}`);
  const box = await page.locator(".studio-view canvas").boundingBox();
  await page.mouse.move(box.x + at[0], box.y + at[1]);
  await page.mouse.down();
  for (let n = 1; n <= 5; n++) await page.mouse.move(box.x + at[0] + 5 * n, box.y + at[1] - 2 * n);
  await page.waitForTimeout(1500);
  steps.drawnInDrag = await page.evaluate(() => {
    let mesh = null;
    window.ecorcheStudio.viewport().scene.traverse((one) => {
      if (one.name === "line-muscle") mesh = Array.from(one.geometry.getAttribute("position").array);
    });
    return mesh;
  });
  steps.undoInDrag = (await state()).undo;
  await tools.shot(page, `${out}-drag.png`);
  await page.mouse.up();
  await page.waitForFunction(() => window.ecorcheStudio.store.getState().document.undo !== null, undefined, { timeout: 60_000 });
  await quiet();
  steps.after = (await shown()).arrays.mesh;
  steps.undo = (await state()).undo;
  await tools.shot(page, `${out}-nodes.png`);

  await page.getByLabel("Undo").click();
  await page.waitForFunction(() => window.ecorcheStudio.store.getState().document.undo === null);
  await quiet();
  steps.undone = (await shown()).arrays.mesh;

  // more segments by the panel
  await page.getByText("Line", { exact: true }).last().click();
  const belly = page.getByLabel("Segments, belly");
  await belly.fill("16");
  await belly.press("Enter");
  await page.waitForFunction(() => window.ecorcheStudio.store.getState().document.undo !== null, undefined, { timeout: 60_000 });
  await quiet();
  steps.finer = (await told()).lines[0].nodes.length;

  // a second line, and both regions
  await page.getByLabel("Add a line").click();
  await page.waitForFunction((m) => window.ecorcheStudio.store.getState().document.undo === `add a line to ${m}`, muscle, { timeout: 60_000 });
  await quiet();
  steps.regions = (await told()).lines.map(({ region }) => region);
  await tools.shot(page, `${out}-regions.png`);

  // a field, named with markup, which is text
  await page.getByText("Fields", { exact: true }).click();
  await page.getByLabel("Name of a new field").fill("<b>ball</b>");
  await page.getByRole("button", { name: "Add field" }).click();
  await page.getByText("<b>ball</b>").first().waitFor();
  await page.getByText("Radial", { exact: true }).click();
  await quiet();
  steps.field = (await told()).fields.find(({ name }) => name === "<b>ball</b>").mode;
  await tools.shot(page, `${out}-fields.png`);

  // what cannot be is told in the page, and nothing is lost
  await page.getByLabel("Radius x").fill("-3");
  await page.getByLabel("Radius x").press("Enter");
  await page.getByText("above 0").first().waitFor();
  steps.refused = (await state()).undo;
  return steps;
}
