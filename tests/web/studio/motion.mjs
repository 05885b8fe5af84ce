// Plays a motion, scrubs, edits a key, shows side by side: {"out": folder for pictures, "file": a motion beside the rig,
// "muscle": whose curve is edited}.
export default async function motion(page, { out, file, muscle }, tools) {
  const told = {};
  const motionNow = () => tools.request(page, "motion.get");
  const frame = (plain) => tools.request(page, "view.frame", { muscles: false, plain: plain === true });
  await page.getByRole("combobox", { name: "Motion", exact: true }).click();
  await page.getByRole("option", { name: file }).click();
  await page.getByRole("slider", { name: "Time" }).waitFor();
  told.loaded = await motionNow();
  await tools.shot(page, `${out}/loaded.png`);

  // scrub to the middle of the track
  const track = await page.getByRole("slider", { name: "Time" }).boundingBox();
  await page.mouse.move(track.x + 4, track.y + track.height / 2);
  await page.mouse.down();
  await page.mouse.move(track.x + track.width / 2, track.y + track.height / 2, { steps: 5 });
  await page.mouse.up();
  await page.waitForTimeout(300);
  await tools.refreshed(page);
  told.scrubbed = (await motionNow()).time;
  told.skin = await tools.skin(page);
  await tools.shot(page, `${out}/scrubbed.png`);

  // play for a while, with the loop on: frames are shown and the clock goes on
  const before = await page.evaluate(() => window.ecorcheStudio.viewport().shown);
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForTimeout(2500);
  told.rate = await page.getByTestId("rate").textContent();
  await page.getByRole("button", { name: "Pause" }).click();
  told.frames = (await page.evaluate(() => window.ecorcheStudio.viewport().shown)) - before;
  told.played = (await motionNow()).time;

  // side by side: plain skin stands beside the skin over muscles
  await page.getByRole("switch", { name: "Side by side" }).click();
  await page.evaluate(() => window.ecorcheStudio.viewport().frameAll());
  await tools.shot(page, `${out}/beside.png`);
  told.beside = await page.evaluate(() => window.ecorcheStudio.viewport().plain.object.visible);

  // a muscle's curve: key it, draw a key up, and see the skin change at that moment
  await page.getByRole("button", { name: "Activation curves" }).click();
  await page.getByRole("combobox", { name: "Curve of" }).fill(muscle);
  await page.locator("[data-combobox-option]", { hasText: muscle }).first().click();
  await page.getByTestId("plot").waitFor();
  told.source = await page.getByTestId("curve-state").textContent();
  await tools.shot(page, `${out}/source.png`);
  await page.getByRole("button", { name: "Key it" }).click();
  await page.getByRole("button", { name: "Give back" }).waitFor();
  const plot = await page.getByTestId("plot").boundingBox();
  await page.mouse.dblclick(plot.x + plot.width / 2, plot.y + plot.height / 2);
  await page.waitForTimeout(400);
  const keyed = await motionNow();
  told.keys = keyed.curves[muscle];
  const middle = 0.5 * (keyed.motion.begins + keyed.motion.ends);
  told.number = told.keys.reduce((best, [time], n) => (Math.abs(time - middle) < Math.abs(told.keys[best][0] - middle) ? n : best), 0);
  await tools.request(page, "motion.seek", { time: told.keys[told.number][0] });
  await tools.refreshed(page);
  const slack = (await frame()).arrays;
  const dot = await page.locator(`[data-key="${told.number}"]`).boundingBox();
  await page.mouse.move(dot.x + dot.width / 2, dot.y + dot.height / 2);
  await page.mouse.down();
  await page.mouse.move(dot.x + dot.width / 2, plot.y + 8, { steps: 6 });
  await page.mouse.up();
  await page.waitForTimeout(600);
  told.drawn = (await motionNow()).curves[muscle][told.number];
  const tense = (await frame()).arrays;
  told.moved = Math.max(...tense.points.map((value, n) => Math.abs(value - slack.points[n])));
  await tools.shot(page, `${out}/keyed.png`);
  // the whole drag is one step
  await page.getByRole("button", { name: "Undo curves" }).click();
  await page.waitForTimeout(300);
  told.undone = (await motionNow()).curves[muscle][told.number];
  await page.getByRole("button", { name: "Redo curves" }).click();
  await page.waitForTimeout(300);
  await page.getByRole("button", { name: "Save curves" }).click();
  await page.waitForTimeout(400);

  // what swings is computed from the first frame on, and playing waits for it
  await page.getByRole("combobox", { name: "Dynamics" }).click();
  await page.getByRole("option", { name: "Fat swings" }).click();
  await page.waitForTimeout(1500);
  told.ahead = await motionNow();
  await tools.shot(page, `${out}/fat.png`);
  await page.getByRole("combobox", { name: "Dynamics" }).click();
  await page.getByRole("option", { name: "No dynamics" }).click();

  // the body panel: heavier, and back by undo
  await page.getByRole("tab", { name: "Body" }).click();
  await page.getByTestId("body").waitFor();
  const fat = page.getByRole("textbox", { name: "Fat" });
  await fat.fill("1");
  await fat.press("Enter");
  await page.waitForFunction(() => window.ecorcheStudio.store.getState().document.dirty, undefined, { timeout: 30000 });
  await tools.refreshed(page);
  told.heavy = await tools.request(page, "body.get");
  const wide = (await frame()).arrays;
  told.grown = Math.max(...wide.points.map((value, n) => Math.abs(value - tense.points[n])));
  await tools.shot(page, `${out}/heavy.png`);
  return told;
}
