// Opens the studio in a real browser and runs a scenario in it.
//
//   node studio.mjs REQUEST.json
//
// REQUEST: {"browser": path, "address": of the studio, "scenario": module beside studio/, "webgpu": true or false,
//   "size": [width, height], "ready": whether something is open from the start, "given": anything for the scenario}. The scenario is studio/NAME.mjs and exports
//   `default async (page, given, tools) => result`; its result goes to standard output as JSON. Errors of the page
//   and of its console fail it, but for those that `tools.expected` holds a part of.
import { readFile, writeFile } from "node:fs/promises";
import { chromium } from "playwright-core";

const request = JSON.parse(await readFile(process.argv[2], "utf8"));
const { default: scenario } = await import(`./studio/${request.scenario}.mjs`);
const software = [
  "--enable-unsafe-swiftshader",
  ...(request.webgpu
    ? [
        "--enable-unsafe-webgpu",
        "--use-webgpu-adapter=swiftshader",
        "--enable-features=Vulkan",
        "--use-vulkan=swiftshader",
        "--use-angle=vulkan",
        "--disable-vulkan-surface",
      ]
    : ["--use-angle=swiftshader"]),
];
const browser = await chromium.launch({
  executablePath: request.browser,
  args: [
    "--no-sandbox",
    "--headless",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu-watchdog",
    ...software,
  ],
});
const complaints = [];
const expected = [];
let outside = 0;

/** Wait until a page says yes; asked from outside, where its rules against text as code do not count. */
async function until(page, asked, given, seconds = 120) {
  for (const end = Date.now() + 1000 * seconds; !(await page.evaluate(asked, given)); ) {
    if (Date.now() > end) throw new Error(`never came: ${asked}`);
    await page.waitForTimeout(50);
  }
}

/**
 * A page of the studio that is ready: connected, with its first frame on the screen.
 *
 * Playwright's own waiting makes code of text, which the page forbids; `strict` keeps that, for `until` alone.
 */
async function openPage({ strict = false, ready = true, address = request.address } = {}) {
  const [width, height] = request.size ?? [1280, 800];
  const page = await browser.newPage({ viewport: { width, height }, bypassCSP: !strict });
  await page.addInitScript(() => {
    // scenarios close them, as a network does
    window.sockets = [];
    const Original = window.WebSocket;
    window.WebSocket = class extends Original {
      constructor(...given) {
        super(...given);
        window.sockets.push(this);
      }
    };
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  // nothing from outside may be needed
  await page.route(/./, (route) => {
    if (route.request().url().startsWith(request.address)) return route.continue();
    if (/^(data|blob):/.test(route.request().url())) return route.continue();
    outside++;
    return route.abort();
  });
  await page.goto(address);
  if (ready) await until(page, () => window.ecorcheStudio?.viewport()?.shown > 0);
  return page;
}

const tools = {
  openPage,
  until,
  expected,
  /** Ask the server as the page does; arrays come back as plain lists. */
  request: (page, type, fields = {}) =>
    page.evaluate(
      async ([type, fields]) => {
        const answer = await window.ecorcheStudio.request(type, fields);
        const arrays = Object.entries(answer.arrays ?? {}).map(([name, array]) => [name, Array.from(array)]);
        return { ...answer, arrays: Object.fromEntries(arrays) };
      },
      [type, fields],
    ),
  /** Wait until a frame that was asked for from now on is on the screen. */
  refreshed: (page) => page.evaluate(() => window.ecorcheStudio.viewport().refresh()),
  /** What is drawn of the skin: x y z of every vertex of all meshes. */
  skin: (page) =>
    page.evaluate(() => window.ecorcheStudio.viewport().skin.drawn.flatMap(({ position }) => Array.from(position.array))),
  shot: async (page, path) => {
    await page.evaluate(() => window.ecorcheStudio.viewport().refresh());
    await page.waitForTimeout(300);
    await page.screenshot({ path });
  },
};

try {
  const page = await openPage({ ready: request.ready ?? true });
  const result = await scenario(page, request.given ?? {}, tools);
  const wrong = complaints.filter((text) => !expected.some((part) => text.includes(part)));
  if (wrong.length) throw new Error(wrong.join("\n"));
  if (outside) throw new Error(`${outside} addresses outside of the studio were asked for`);
  await writeFile(process.argv[2].replace(/\.json$/, ".result.json"), JSON.stringify(result ?? null));
} catch (error) {
  // what the page complained of before tells more than what the scenario then missed
  if (complaints.length) console.error(complaints.join("\n"));
  throw error;
} finally {
  await browser.close();
}
