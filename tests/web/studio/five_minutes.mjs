// Does what the page docs/studio.md says, by pointer and keys alone, from a character without muscles to a
// flexing arm: {"out": folder to leave pictures in, "elbow": joint, "muscle": its name}. Gives what was seen, and
// how long it took [s].
export default async function fiveMinutes(page, { out, elbow, muscle }, tools) {
  const begun = Date.now();
  const seen = {};
  const shot = async (name) => {
    await page.mouse.move(600, 60); // off the panels, whose hints would hide them
    await tools.shot(page, `${out}/${name}.png`);
  };
  const skin = async () => {
    await tools.refreshed(page);
    return tools.skin(page);
  };
  const apart = (a, b) => a.reduce((most, value, at) => Math.max(most, Math.abs(value - b[at])), 0);

  // 1: muscles for a character that has none
  await page.getByRole("button", { name: "Anatomical muscles" }).click();
  await page.waitForFunction(
    () => window.ecorcheStudio?.store.getState().document?.muscles.length > 100 && window.ecorcheStudio.viewport()?.shown > 0,
    undefined,
    { timeout: 120_000 },
  );
  seen.muscles = await page.evaluate(() => window.ecorcheStudio.store.getState().document.muscles.length);

  // what was done is told; read, it is closed
  const told = page.locator(".mantine-Notification-root");
  while (await told.count()) {
    await told.first().getByRole("button").click();
    await page.waitForTimeout(400);
  }

  // 2: seen under the skin
  await page.getByRole("tab", { name: "View" }).click();
  await page.getByRole("button", { name: "Muscles under translucent skin" }).click();
  await shot("view");

  // 3: the elbow bends, up to its limit
  const rest = await skin();
  await page.getByText(/^Joints \d+$/).click();
  await page.getByRole("option", { name: elbow, exact: true }).click();
  const flexion = page.getByRole("slider", { name: "flexion [degrees]" });
  await flexion.focus();
  await flexion.press("End");
  await page.waitForFunction(() => document.querySelector("[data-testid=held]").textContent !== "");
  seen.held = await page.getByTestId("held").textContent();
  await page.getByRole("tab", { name: "View" }).click();
  await page.getByRole("button", { name: "Frame choice" }).click();
  await page.getByRole("tab", { name: "Joints" }).click();
  await shot("joints");
  const bent = await skin();
  seen.bent = apart(rest, bent);

  // 4: the biceps works
  await page.getByText(/^Muscles \d+$/).click();
  await page.getByLabel("Find").fill(muscle);
  await page.getByRole("option", { name: muscle, exact: true }).click();
  const activation = page.getByTestId("activation").getByRole("slider");
  await activation.focus();
  const worked = async (key, level) => {
    await activation.press(key);
    const told = () => tools.request(page, "view.frame", { muscles: false });
    const number = await page.evaluate(
      (muscle) => window.ecorcheStudio.store.getState().document.muscles.findIndex(({ name }) => name === muscle),
      muscle,
    );
    while ((await told()).arrays.activation[number] !== level) await page.waitForTimeout(50);
    return skin();
  };
  const slack = await worked("Home", 0);
  const tense = await worked("End", 1);
  seen.tense = apart(slack, tense);
  await page.getByRole("button", { name: "Frame it in the view" }).click();
  await shot("muscles");

  // 5: saved under the name that is proposed
  await page.keyboard.press("Control+s");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.waitForFunction(() => !window.ecorcheStudio.store.getState().document.dirty);
  seen.seconds = (Date.now() - begun) / 1000;
  return seen;
}
