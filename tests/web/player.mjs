// Opens pages that `ecorche export --web` has written, from files, in a real browser.
//
//   node player.mjs REQUEST.json
//
// REQUEST: {"browser": path, "webgpu": true or false, "jobs": [{"page": path, …}, …]}. A job may have
//   "instances": [{"clips": [[number, time, weight], …], "tension": 0, "gain": 1}, …] and "out", a path:
//       that many figures are shown so, all at once, and what is drawn of them is written there, float32
//       little-endian: figure by figure, mesh by mesh, x y z of each vertex, and then of each normal;
//   "acts": [{"play": [clip, fade]}, {"blend": [clip, clip, share]}, …], each with "seconds", and "out": the first
//       figure does so, one after the other; how far each clip is then, 0 to 1, and its weight are written there;
//   "shots": [{"count": 1, "seconds": 0.5, "set": {"tension": "1"}, "out": path}, …]: pictures (.png);
//   "ends": true: the page is waited for until it says that it cannot go on;
//   "show": how many figures to show;
//   "lose": true: the device is destroyed under way.
// What each page says, "" where it plays, goes to standard output as a JSON list.
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const request = JSON.parse(await readFile(process.argv[2], "utf8"));
const webgpu = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-unsafe-swiftshader"];
// without a graphics card a canvas that is drawn to needs Vulkan in software throughout
const drawing = [
  "--enable-features=Vulkan",
  "--use-vulkan=swiftshader",
  "--use-angle=vulkan",
  "--disable-vulkan-surface",
];
const args = [
  "--no-sandbox",
  "--headless",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // drawn in software beside other tests, a frame may take longer than the watchdog of a graphics card allows
  "--disable-gpu-watchdog",
  ...(request.webgpu ? webgpu : []),
  ...(request.jobs.some((job) => job.shots) ? drawing : []),
];

// A browser whose graphics process did not come up is no finding about a page: it is started again, twice at most.
let said = [];
for (let attempt = 0; attempt < 3; attempt++) {
  said = await visit(request.jobs);
  if (!request.webgpu || !said.some((text) => text.includes("found no graphics device"))) break;
  process.stderr.write(`the browser found no graphics device (start ${attempt + 1})\n`);
}
process.stdout.write(JSON.stringify(said));

async function visit(jobs) {
  const browser = await chromium.launch({ executablePath: request.browser, args });
  const said = [];
  try {
    for (const job of jobs) said.push(await visitPage(browser, job));
  } finally {
    await browser.close();
  }
  return said;
}

async function visitPage(browser, job) {
  const page = await browser.newPage({ viewport: { width: 640, height: 480 } });
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  // nothing but the file itself may be needed
  await page.route(/^(http|ws)/, (route) => route.abort());
  await page.goto(`${pathToFileURL(job.page).href}#paused`);
  await page.waitForFunction(() => window.ecorche || !document.getElementById("message").hidden);
  if (await page.evaluate(() => window.ecorche !== undefined)) {
    if (job.instances) {
      await writeFile(job.out, Buffer.from(await page.evaluate(pose, job.instances), "base64"));
    }
    if (job.acts) await writeFile(job.out, JSON.stringify(await page.evaluate(acts, job.acts)));
    for (const shot of job.shots ?? []) {
      await writeFile(shot.out, Buffer.from(await page.evaluate(picture, shot), "base64"));
    }
    if (job.show) await page.evaluate((count) => window.ecorche.show(count), job.show);
    if (job.lose) await page.evaluate(() => window.ecorche.stage.renderer.backend.device.destroy());
    if (job.ends) await page.waitForFunction(() => !document.getElementById("message").hidden);
  }
  const said = await page.evaluate(() => {
    const message = document.getElementById("message");
    return message.hidden ? "" : `${message.dataset.trouble}: ${message.innerText}`;
  });
  await page.close();
  if (complaints.length && !job.ends) throw new Error(complaints.join("\n"));
  return said;
}

// Runs in the page.
async function pose(instances) {
  const shown = window.ecorche;
  shown.paused = true;
  shown.show(instances.length);
  const { crowd, figure } = shown;
  for (const [number, { clips, tension, gain }] of instances.entries()) {
    const actor = crowd.actors[number];
    actor.mixer.stopAllAction();
    actor.tension = tension ?? 0;
    actor.gain = gain ?? 1;
    for (const [clip, time, weight] of clips) {
      const action = actor.action(figure.clips[clip]).reset().play();
      action.setEffectiveWeight(weight);
      action.time = time;
    }
  }
  crowd.update(0);
  const parts = [];
  for (const number of instances.keys()) {
    for (const { positions, normals } of await crowd.read(number)) parts.push(positions, normals);
  }
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) {
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  }
  return btoa(text);
}

// Runs in the page.
function acts(asked) {
  const { crowd, figure } = window.ecorche;
  const [actor] = crowd.actors;
  const { clips } = figure;
  return asked.map(({ play, blend, seconds }) => {
    if (play) actor.play(clips[play[0]], play[1]);
    if (blend) actor.blend(clips[blend[0]], clips[blend[1]], blend[2]);
    actor.pose(seconds);
    return clips.map((clip) => {
      const action = actor.action(clip);
      const weight = action.isScheduled() && action.enabled ? action.getEffectiveWeight() : 0;
      return { weight, phase: weight > 0 && clip.duration > 0 ? action.time / clip.duration : null };
    });
  });
}

// Runs in the page.
function picture({ count, seconds, set }) {
  const shown = window.ecorche;
  shown.paused = true;
  if (shown.crowd.actors.length !== count) shown.show(count);
  for (const [id, value] of Object.entries(set ?? {})) {
    const element = document.getElementById(id);
    element.value = value;
    element.dispatchEvent(new Event("input"));
  }
  shown.step(seconds);
  return document.getElementById("stage").toDataURL("image/png").split(",")[1];
}
