// A server that is killed: {"add": an edit, "lost": one that comes while it is away, "ready": a file that says that it
// may be killed now, "out": pictures or null}. Gives what was seen.
import { writeFile } from "node:fs/promises";

export default async function killed(page, { add, lost, ready, out }, tools) {
  const seen = {};
  const shot = async (name) => out && (await page.screenshot({ path: `${out}-${name}.png` }));
  tools.expected.push("WebSocket connection", "ERR_CONNECTION_REFUSED");
  await tools.request(page, "muscle.add_between", add);
  await tools.until(page, async () => (await window.ecorcheStudio.request("files.get")).kept !== null);
  await writeFile(ready, "");
  await page.getByText("server does not answer", { exact: false }).first().waitFor();
  await shot("lost");
  seen.told = await page.evaluate(
    (fields) => window.ecorcheStudio.request("muscle.add_between", fields).then(String, (error) => error.what),
    lost,
  );
  const notice = page.getByText("Work on tube.ecorche from", { exact: false });
  await notice.waitFor({ timeout: 120_000 });
  seen.notice = await notice.textContent();
  seen.before = (await tools.request(page, "document.get")).muscles.map(({ name }) => name);
  await tools.refreshed(page);
  await shot("offered");
  await page.getByRole("button", { name: "Recover" }).click();
  await notice.waitFor({ state: "detached" });
  const told = await tools.request(page, "document.get");
  seen.recovered = told.muscles.map(({ name }) => name);
  seen.dirty = told.dirty;
  await page.getByRole("button", { name: "Save the rig" }).click();
  await page.getByTestId("dirty").waitFor({ state: "detached" });
  await shot("saved");
  return seen;
}
