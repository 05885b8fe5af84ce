// The skin that the page's own device plays, against the server's positions: {"active": {muscle: 0 to 1}, "out": picture}.
// Gives the largest distance between the two [m], how far the skin is from bind [m], and the picture's path.
import { writeFile } from "node:fs/promises";

export default async function device(page, { active, out }, tools) {
  await page.waitForFunction(() => window.ecorcheStudio.viewport().onDevice !== null, undefined, { timeout: 60_000 });
  const before = await tools.request(page, "view.frame", { muscles: false });
  await tools.request(page, "view.activate", { values: active });
  await tools.refreshed(page);
  const after = await tools.request(page, "view.frame", { muscles: false });
  const drawn = await page.evaluate(async () => {
    const viewport = window.ecorcheStudio.viewport();
    const values = await viewport.onDevice.read();
    return { values: Array.from(values), of: viewport.skin.drawn.flatMap(({ points }) => Array.from(points)) };
  });
  let [apart, moved] = [0, 0];
  for (const [row, of] of drawn.of.entries()) {
    const [now, server, bind] = [drawn.values, after.arrays.points, before.arrays.points];
    const far = (a, at, b, from) => Math.hypot(a[at] - b[from], a[at + 1] - b[from + 1], a[at + 2] - b[from + 2]);
    apart = Math.max(apart, far(now, 3 * row, server, 3 * of));
    moved = Math.max(moved, far(server, 3 * of, bind, 3 * of));
  }
  if (out) {
    const picture = await page.evaluate(async () => {
      const bytes = new Uint8Array(await (await window.ecorcheStudio.viewport().picture()).arrayBuffer());
      return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    });
    await writeFile(out, Buffer.from(picture, "base64"));
  }
  return { apart, moved, complete: drawn.values.length === 3 * drawn.of.length };
}
