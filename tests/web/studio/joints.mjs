// The joint editor: {"joint", "elbow": names, "folder": of the rig, "out": path of pictures without suffix or null}.
// Gives what was seen at each step.
export default async function joints(page, { joint, elbow, out }, tools) {
  const seen = {};
  const shot = async (name) => out && (await tools.shot(page, `${out}-${name}.png`));
  const choose = async (name, posing = true) => {
    await page.evaluate((name) => window.ecorcheStudio.store.getState().set({ selected: { kind: "joint", name }, panel: "joints" }), name);
    await page.waitForFunction((name) => document.querySelector("[data-testid=joint]")?.textContent === name, name);
    if (posing) await page.getByText("About the body's axes, from standing").waitFor();
    await tools.refreshed(page);
  };
  const part = (name) => page.getByRole("radiogroup").getByText(name, { exact: true }).click();
  const now = async (name) => (await tools.request(page, "joint.get", { joint: name })).now;
  const angle = (told, name) => told.angles.find((one) => one.name === name).degrees;
  const canvas = await page.locator("canvas").boundingBox();
  const place = async (id) => {
    const at = await page.evaluate((id) => window.ecorcheStudio.viewport().handles.place(id), id);
    return [canvas.x + at[0], canvas.y + at[1]];
  };

  // flexed past its limit with the slider the elbow stops, says so, and the skin follows
  await page.getByLabel("Find").waitFor();
  await choose(elbow);
  const rest = await tools.skin(page);
  const flexion = page.getByRole("slider", { name: "flexion [degrees]" });
  await flexion.focus();
  await flexion.press("End");
  await page.waitForFunction(() => document.querySelector("[data-testid=held]").textContent !== "");
  seen.held = await page.getByTestId("held").textContent();
  await tools.refreshed(page);
  const bent = await now(elbow);
  seen.flexion = { degrees: angle(bent, "flexion"), high: bent.angles.find(({ name }) => name === "flexion").high };
  seen.asked = Number(await flexion.getAttribute("aria-valuemax"));
  const skin = await tools.skin(page);
  seen.moved = Math.max(...skin.map((value, at) => Math.abs(value - rest[at])));
  await shot("elbow");

  // without limits it goes on, and is told to be beyond
  await page.getByLabel("Stop at limits").click();
  await flexion.focus();
  await flexion.press("End");
  await page.getByTestId("beyond").waitFor();
  seen.beyond = (await now(elbow)).beyond;
  await shot("beyond");
  await page.getByLabel("Stop at limits").click();
  await page.getByRole("button", { name: "Within limits" }).click();
  await page.getByTestId("beyond").waitFor({ state: "detached" });

  // a pose saved, left and loaded
  await page.getByLabel("Name of the pose").fill("bent");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved bent.pose").waitFor();
  await page.getByRole("button", { name: "Bind pose" }).click();
  await tools.refreshed(page);
  seen.between = angle(await now(elbow), "flexion");
  await page.getByRole("button", { name: "Load", exact: true }).click();
  await page.getByText("Loaded bent.pose").waitFor();
  await tools.refreshed(page);
  seen.loaded = angle(await now(elbow), "flexion");
  await page.getByRole("button", { name: "Bind pose" }).click();

  // a corner of the shoulder dragged in the view, and taken back
  await choose(joint);
  await shot("shoulder");
  await part("Limits");
  await page.waitForFunction(() => window.ecorcheStudio.viewport().handles.ids.includes("corner-0"));
  await page.evaluate(() => window.ecorcheStudio.viewport().frameSelected());
  await page.waitForTimeout(300);
  const before = (await now(joint)).swings;
  const number = await page.evaluate(() => {
    const { handles, canvas } = window.ecorcheStudio.viewport();
    const ids = handles.ids.filter((id) => id.startsWith("corner-"));
    // the one that is most to the right is in nobody's way
    return ids.map((id) => [handles.place(id)[0], Number(id.slice(7))]).filter(([x]) => x < canvas.clientWidth).sort((a, b) => b[0] - a[0])[0][1];
  });
  const [x, y] = await place(`corner-${number}`);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 20, y + 8, { steps: 4 });
  await shot("dragging");
  await page.mouse.move(x - 34, y + 12, { steps: 4 });
  await page.mouse.up();
  await page.getByTestId("dirty").waitFor();
  await tools.refreshed(page);
  const after = (await now(joint)).swings;
  seen.corner = number;
  seen.corners = after.map((swing, at) => Math.hypot(swing[0] - before[at][0], swing[1] - before[at][1]));
  seen.chosen = await page.getByTestId("corner").textContent();
  await shot("corner");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByTestId("dirty").waitFor({ state: "detached" });
  const undone = (await now(joint)).swings;
  seen.undone = Math.max(...undone.map((swing, at) => Math.hypot(swing[0] - before[at][0], swing[1] - before[at][1])));

  // what cannot be is refused in words, and the number stands as it was
  const swing = page.getByLabel("Corner, swing x [degrees]");
  const stood = await swing.inputValue();
  await swing.fill("-200");
  await swing.press("Enter");
  await page.getByText("half-turn or more").first().waitFor();
  seen.refused = await page.getByText("half-turn or more").first().textContent();
  await page.waitForFunction((stood) => document.querySelector("[aria-label='Corner, swing x [degrees]']").value === stood, stood);

  // turned by a ring in the view
  await part("Pose");
  await choose(elbow);
  await page.evaluate(() => window.ecorcheStudio.viewport().look("front"));
  await page.waitForTimeout(300);
  const turns = (await now(elbow)).turns;
  const centre = await page.evaluate((at) => {
    const { camera, controls, canvas } = window.ecorcheStudio.viewport();
    const seen = controls.target.clone().set(...at).project(camera);
    return [0.5 * (seen.x + 1) * canvas.clientWidth, 0.5 * (1 - seen.y) * canvas.clientHeight];
  }, (await now(elbow)).limits.centre);
  const [cx, cy] = [canvas.x + centre[0], canvas.y + centre[1]];
  for (let far = 60; far < 72; far += 2) {
    await page.mouse.move(cx + 0.7 * far, cy + 0.7 * far);
    if (await page.evaluate(() => window.ecorcheStudio.viewport().handles.busy)) break;
  }
  await page.mouse.down();
  await page.mouse.move(cx + 64, cy, { steps: 5 });
  await page.mouse.move(cx + 45, cy - 45, { steps: 5 });
  await shot("ring");
  await page.mouse.up();
  await tools.refreshed(page);
  seen.ring = (await now(elbow)).turns.map((degrees, axis) => degrees - turns[axis]);
  await page.getByRole("button", { name: "Bind pose" }).click();

  // a motion that goes too far is listed, and a click goes where it is worst
  await page.getByLabel("Motion", { exact: true }).first().click();
  await page.getByRole("option", { name: "over.pose" }).click();
  await part("Check");
  await page.getByRole("listbox", { name: "Broken limits" }).getByRole("option").first().click();
  await page.waitForFunction(() => document.querySelector("[data-testid=beyond]") !== null);
  seen.worst = (await tools.request(page, "motion.get")).time;
  seen.row = await page.getByRole("listbox", { name: "Broken limits" }).getByRole("option").first().textContent();
  await shot("motion");
  await page.getByRole("button", { name: "Forget the motion" }).click();
  await choose(joint, false);

  // its type, its origin, and back
  await part("Model");
  seen.origin = [await page.getByTestId("origin").textContent()];
  await page.getByPlaceholder("None: it turns freely").click();
  await page.getByRole("option", { name: /^Swing/ }).click();
  await page.getByTestId("origin").getByText("own").waitFor();
  seen.origin.push(await page.getByTestId("origin").textContent());
  seen.model = (await now(joint)).values.model;
  await shot("model");
  await page.getByRole("button", { name: "Human default" }).click();
  await page.getByTestId("origin").getByText("human").waitFor();
  seen.again = (await now(joint)).values.model;

  await part("Check");
  await page.waitForFunction(() => document.querySelector("[data-testid=judged]").textContent !== "…");
  seen.judged = await page.getByTestId("judged").textContent();
  await shot("check");
  return seen;
}
