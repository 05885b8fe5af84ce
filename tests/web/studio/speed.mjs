// How fast the page is: {"file": a motion beside the rig, "seconds": how long to play, "muscles": whether they are
// shown too, under translucent skin, "poses": how many poses}. Milliseconds; the server's share apart.
import { readdirSync, readFileSync } from "node:fs";

/** Processor time [s] of a process's children and theirs, or of itself too: other work on the machine is not in it. */
function worked(root, itself) {
  const all = new Map();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
      all.set(Number(name), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) });
    } catch {
      // it has ended meanwhile
    }
  }
  const of = new Set([root]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const [pid, { parent }] of all) if (of.has(parent) && !of.has(pid)) grown = Boolean(of.add(pid));
  }
  let ticks = 0;
  for (const pid of of) if (itself || pid !== root) ticks += all.get(pid)?.ticks ?? 0;
  return ticks / 100;
}

export default async function speed(page, { file, seconds, muscles, poses, server }, tools) {
  if (muscles) await page.getByRole("button", { name: "Muscles under translucent skin" }).click();
  await page.getByRole("combobox", { name: "Motion", exact: true }).click();
  await page.getByRole("option", { name: file }).click();
  await page.getByRole("slider", { name: "Time" }).waitFor();
  await tools.refreshed(page);
  await page.evaluate(() => window.ecorcheStudio.viewport().frameAll());
  await tools.refreshed(page);
  const told = await page.evaluate(
    async ({ poses }) => {
      const { viewport, request, store } = window.ecorcheStudio;
      const view = viewport();
      const gl = view.renderer.getContext();
      const pixel = new Uint8Array(4);
      const changes = [];
      const server = [];
      for (let n = 0; n < poses; n++) {
        const begun = performance.now();
        const sought = request("motion.seek", { time: 0.3 + (2 * n) / poses });
        await Promise.all([sought, view.refresh()]);
        await new Promise((done) => requestAnimationFrame(done));
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); // waits until it is drawn
        changes.push(performance.now() - begun);
        server.push(1000 * store.getState().frame.seconds);
        await new Promise((done) => setTimeout(done, 50));
      }
      return { changes, server };
    },
    { poses },
  );
  const before = await page.evaluate(() => window.ecorcheStudio.viewport().shown);
  await page.getByRole("button", { name: "Play" }).click();
  const work = () => [worked(process.pid, false), worked(server, true)];
  const idle = work();
  const begun = Date.now();
  await page.waitForTimeout(1000 * seconds);
  const shown = (await page.evaluate(() => window.ecorcheStudio.viewport().shown)) - before;
  const elapsed = (Date.now() - begun) / 1000;
  const done = work();
  const ratio = await page.evaluate(() => window.ecorcheStudio.viewport().pace.moving);
  await page.getByRole("button", { name: "Pause" }).click();
  return { ...told, rate: shown / elapsed, shown, ratio, browser: (1000 * (done[0] - idle[0])) / shown, worked: (1000 * (done[1] - idle[1])) / shown };
}
