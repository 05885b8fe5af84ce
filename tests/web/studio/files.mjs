// Files as a person meets them: {"add": an edit, "again": another, "broken": [name, text], "out": pictures or null}.
// Gives what was seen at each step.
export default async function files(page, { add, again, broken, out }, tools) {
  const seen = {};
  const shot = async (name, of = page) => out && (await tools.shot(of, `${out}-${name}.png`));
  const alerts = [];
  page.on("dialog", (dialog) => {
    alerts.push(dialog.message());
    void dialog.dismiss();
  });

  // a page that keeps its rules against scripts and addresses from elsewhere works all the same
  const other = await tools.openPage({ strict: true });
  await page.getByTestId("others").waitFor();
  seen.others = await page.getByTestId("others").textContent();

  // an edit is seen by the other page, with who did it; a name with markup in it is text
  await tools.request(page, "muscle.add_between", add);
  await other.getByText("Page 1: ", { exact: false }).waitFor();
  await other.getByText(add.name).first().waitFor();
  await page.getByText(add.name).first().waitFor();
  seen.images = await other.locator("img[src=x]").count();
  await shot("edited", other);
  await other.close();
  await page.getByTestId("others").waitFor({ state: "detached" });

  // the connection is lost while an edit is on its way: it is done once
  const count = async () => (await tools.request(page, "document.get")).muscles.length;
  seen.before = await count();
  seen.answered = await page.evaluate(async (fields) => {
    const asked = window.ecorcheStudio.request("muscle.add_between", fields);
    for (const socket of window.sockets) socket.close();
    const told = await asked;
    return told.lines.length;
  }, again);
  seen.after = await count();

  // a broken file is a message, and what was open stays
  const [name, text] = broken;
  const transfer = await page.evaluateHandle(([name, text]) => {
    const made = new DataTransfer();
    made.items.add(new File([text], name));
    return made;
  }, broken);
  await page.dispatchEvent("body", "dragover", { dataTransfer: transfer });
  await page.getByText("Put into the folder").waitFor();
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  await page.getByText(`${name}:`, { exact: false }).first().waitFor();
  seen.refusal = await page.evaluate(() => ({ where: window.ecorcheStudio.store.getState().refusal.where }));
  seen.still = await count();
  await shot("broken");

  // the folder, and saving by the keyboard
  await page.getByRole("button", { name: "Open a file" }).click();
  await page.locator(`[data-file="${name}"]`).waitFor();
  seen.listed = await page.locator("[data-file]").allTextContents();
  await page.waitForTimeout(400);
  await shot("folder");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Control+s");
  await page.getByTestId("dirty").waitFor({ state: "detached" });

  // as another file; then over one that is there, which asks
  await page.getByRole("button", { name: "Save as" }).click();
  await page.getByLabel("File name").fill("copy");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.locator("[data-testid=file]", { hasText: "copy.ecorche" }).waitFor();
  await page.getByRole("button", { name: "Save as" }).click();
  await page.getByLabel("File name").fill("tube.ecorche");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("tube.ecorche is there already").waitFor();
  await page.waitForTimeout(400);
  await shot("conflict");
  await page.keyboard.press("Escape");
  seen.address = new URL(page.url()).search;
  seen.alerts = alerts;
  return seen;
}
