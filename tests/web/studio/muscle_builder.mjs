// Works on a muscle as a person does, by pointer: {"out": path without suffix, "pose": a .pose file in base64}.
// Gives what happened to the skin [m] and to the rig at each step.
export default async function build(page, { out, pose }, tools) {
  const name = "biceps brachii, long head, right";
  const state = (of) => page.evaluate(of);
  const detail = () => tools.request(page, "muscle.get", { name });
  const label = () => state(() => window.ecorcheStudio.store.getState().document.undo);
  const revision = () => state(() => window.ecorcheStudio.store.getState().revision);
  // drags go on sending the newest edit for a moment: done when nothing changes any more
  const settled = async () => {
    for (let [before, now] = [-1, -2]; before !== now; ) {
      before = await revision();
      await page.waitForTimeout(150);
      await tools.refreshed(page);
      await tools.request(page, "document.get");
      now = await revision();
    }
  };
  const away = (a, b) => {
    let most = 0;
    for (let at = 0; at < a.length; at++) most = Math.max(most, Math.abs(a[at] - b[at]));
    return most;
  };
  const canvas = page.locator("canvas");
  const box = await canvas.boundingBox();
  const drag = async (from, by, steps = 3) => {
    await page.mouse.move(...from);
    await page.mouse.down();
    for (let step = 1; step <= steps; step++) {
      await page.mouse.move(from[0] + (by[0] * step) / steps, from[1] + (by[1] * step) / steps);
      await page.waitForTimeout(60);
    }
    await page.mouse.up();
    await settled();
  };
  const handle = async (id) => {
    await page.waitForFunction((id) => window.ecorcheStudio.viewport().handles.ids.includes(id), id);
    const [x, y] = await page.evaluate((id) => window.ecorcheStudio.viewport().handles.place(id), id);
    return [box.x + x, box.y + y];
  };
  const result = {};

  // a muscle is clicked in the view
  await page.getByRole("tab", { name: "Muscles" }).click();
  await page.getByText("Muscles by group").waitFor();
  await page.evaluate(() => window.ecorcheStudio.viewport().look("front"));
  await settled();
  const clicked = await page.evaluate(() => {
    const { scene, frame } = window.ecorcheStudio.viewport().current;
    const [first, count] = scene.muscles.find((one) => one.name === "deltoid, anterior, right").points;
    let best = first; // the vertex of the muscle that is furthest in front
    for (let n = first; n < first + count; n++) {
      if (frame.arrays.muscles[3 * n + 2] > frame.arrays.muscles[3 * best + 2]) best = n;
    }
    const viewport = window.ecorcheStudio.viewport();
    const at = viewport.camera.position.clone().fromArray(frame.arrays.muscles, 3 * best).project(viewport.camera);
    const { clientWidth, clientHeight } = viewport.canvas;
    return [0.5 * (at.x + 1) * clientWidth, 0.5 * (1 - at.y) * clientHeight];
  });
  await page.mouse.click(box.x + clicked[0], box.y + clicked[1]);
  await page.getByTestId("muscle-name").waitFor();
  result.selected = await state(() => window.ecorcheStudio.store.getState().selected.name);
  await page.evaluate((name) => window.ecorcheStudio.store.getState().set({ selected: { kind: "muscle", name } }), name);
  await settled();
  await page.getByRole("button", { name: "Frame it in the view" }).click();
  await settled();

  // the elbow bends, and the handles go with it
  const origin = await tools.request(page, "muscle.places", { name });
  await tools.request(page, "motion.give", { name: "curl.pose", content: pose });
  await tools.request(page, "motion.seek", { time: 1.5 });
  await tools.request(page, "motion.pose_from_here");
  await settled();
  const bent = await tools.request(page, "muscle.places", { name });
  result.shortened = bent.length / origin.length;
  await page.getByRole("button", { name: "Frame it in the view" }).click();
  await settled();

  // made to work, it stands out under the skin
  const slider = page.getByTestId("activation").getByRole("slider");
  await slider.focus();
  await page.keyboard.press("Home");
  await settled();
  const still = await tools.skin(page);
  await page.keyboard.press("End");
  await settled();
  const tense = await tools.skin(page);
  result.tensed = away(still, tense);

  // its insertion is dragged, and the skin follows; one drag is one step back
  const before = await detail();
  const places = await tools.request(page, "muscle.places", { name });
  await drag(await handle("muscle-point-3"), [-38, -30]);
  const moved = await tools.request(page, "muscle.places", { name });
  const dragged = await tools.skin(page);
  result.insertion = Math.hypot(...moved.points[3].map((value, axis) => value - places.points[3][axis]));
  result.skin = away(tense, dragged);
  result.undo = await label();
  await page.getByRole("button", { name: "Show this muscle alone" }).click();
  await tools.shot(page, `${out}-dragged.png`);
  result.alone = await state(() => {
    const { geometry } = window.ecorcheStudio.viewport().muscles.object.children[0];
    return geometry.drawRange.count / geometry.index.count;
  });
  await page.getByRole("button", { name: "Show all muscles" }).click();
  await page.keyboard.press("Control+z");
  await page.waitForFunction(() => window.ecorcheStudio.store.getState().document.redo !== null);
  await settled();
  result.back = away(tense, await tools.skin(page));
  result.nothing = await label();
  await page.getByRole("button", { name: "Redo" }).click();
  await page.waitForFunction(() => window.ecorcheStudio.store.getState().document.redo === null);
  await settled();
  result.again = away(dragged, await tools.skin(page));

  // a handle of the thickness beside the belly moves its partner
  const circle = async (id) => {
    const at = page.getByTestId(id);
    await at.scrollIntoViewIfNeeded();
    const place = await at.boundingBox();
    return [place.x + place.width / 2, place.y + place.height / 2];
  };
  await drag(await circle("thickness-0-2"), [0, 24]);
  const curved = await detail();
  result.beside = [before, curved].map(({ spindle }) => [spindle.thickness[0][2], spindle.thickness[1][1]]);
  result.belly = curved.spindle.thickness[0][3] - before.spindle.thickness[0][3];
  result.thickness = await label();
  await page.getByTestId("thickness-0-3").focus();
  await page.keyboard.press("ArrowUp");
  await settled();
  result.raised = (await detail()).spindle.thickness[0][3] - curved.spindle.thickness[0][3];

  // what it does to the skin in colours
  await page.getByText("Influence on the skin").click();
  await page.getByTestId("show-influence").click();
  await settled();
  result.coloured = await state(() => window.ecorcheStudio.viewport().current.frame.arrays.values.filter((v) => v > 0.1).length);
  await tools.shot(page, `${out}-influence.png`);
  await page.getByTestId("show-influence").click();

  // the other side, a copy, another name with markup in it, and away with it
  await page.getByRole("button", { name: /^Put it on the other side/ }).click();
  await settled();
  result.mirrored = (await tools.request(page, "muscle.get", { name: name.replace("right", "left") })).spindle.thickness[0][3];
  result.here = (await detail()).spindle.thickness[0][3];
  await page.getByRole("button", { name: "Duplicate" }).click();
  await page.waitForFunction(() => window.ecorcheStudio.store.getState().selected?.name.endsWith(".2"));
  await page.waitForFunction(() => document.querySelector('[data-testid="muscle-name"]')?.value.endsWith(".2"));
  const markup = '<img src=x onerror="window.broken=1">';
  await page.getByTestId("muscle-name").fill(markup);
  await page.keyboard.press("Enter");
  await page.waitForFunction((name) => window.ecorcheStudio.store.getState().selected?.name === name, markup);
  await settled();
  result.broken = await state(() => window.broken === 1);
  result.listed = await page.getByRole("option", { name: markup }).count();
  await page.getByRole("button", { name: "Remove this muscle" }).click();
  await page.waitForFunction((name) => !window.ecorcheStudio.store.getState().document.muscles.some((m) => m.name === name), markup);

  // a new one between two clicked points of the skin
  await page.getByText("Muscles by group").waitFor();
  await page.evaluate(() => window.ecorcheStudio.store.getState().setLayer("muscles", { shown: false }));
  await page.evaluate(() => window.ecorcheStudio.viewport().look("front"));
  await settled();
  await page.getByTestId("new-name").fill("my own");
  await page.getByTestId("add-between").click();
  const joints = await page.evaluate(() => {
    const { document, joints } = window.ecorcheStudio.store.getState();
    const viewport = window.ecorcheStudio.viewport();
    return ["LeftArm", "LeftForeArm", "LeftHand"].map((name) => {
      const at = 16 * document.joints.findIndex((joint) => joint.name === name);
      const place = viewport.camera.position.clone().set(joints[at + 3], joints[at + 7], joints[at + 11]).project(viewport.camera);
      return [0.5 * (place.x + 1) * viewport.canvas.clientWidth, 0.5 * (1 - place.y) * viewport.canvas.clientHeight];
    });
  });
  const between = (a, b, share) => [box.x + a[0] + share * (b[0] - a[0]), box.y + a[1] + share * (b[1] - a[1])];
  await page.mouse.click(...between(joints[0], joints[1], 0.35));
  await page.getByText("Click its insertion").waitFor();
  await page.mouse.click(...between(joints[1], joints[2], 0.25));
  await page.waitForFunction(() => window.ecorcheStudio.store.getState().selected?.name === "my own", undefined, { timeout: 20_000 });
  await settled();
  result.drawn = (await tools.request(page, "muscle.get", { name: "my own" })).joints;
  await page.evaluate(() => window.ecorcheStudio.store.getState().setLayer("muscles", { shown: true }));
  await page.waitForTimeout(200);
  await page.getByRole("button", { name: "Frame it in the view" }).click();
  await tools.shot(page, `${out}-drawn.png`);
  result.steps = 0;
  while ((await label()) !== null) {
    await tools.request(page, "document.undo");
    await page.waitForTimeout(50);
    await page.evaluate(() => window.ecorcheStudio.viewport().refresh());
    result.steps++;
  }
  result.first = away(tense, await tools.skin(page));
  return result;
}
