// Builds the player, one page that holds everything and the library as a typed module; and the studio's page.
//
//   node build.mjs PLAYER_FOLDER STUDIO_FOLDER
import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { build } from "vite";

const here = path.dirname(fileURLToPath(import.meta.url));
const [out, studio] = process.argv.slice(2).map((folder) => path.resolve(folder));
const { version } = JSON.parse(await readFile(path.join(here, "node_modules/three/package.json"), "utf8"));
const licence = await readFile(path.join(here, "node_modules/three/LICENSE"), "utf8");
const notice = `three.js ${version}\n\n${licence}`;
const common = { root: here, configFile: false, logLevel: "warn", publicDir: false };

execFileSync(process.execPath, [path.join(here, "node_modules/typescript/bin/tsc"), "--noEmit"], {
  cwd: here,
  stdio: "inherit",
});

const made = await build({
  ...common,
  build: {
    write: false,
    target: "es2022",
    chunkSizeWarningLimit: 4000,
    lib: { entry: "src/page.ts", formats: ["iife"], name: "page" },
  },
});
const script = made[0].output.find((part) => part.type === "chunk").code;

// a page from a file may not load modules: everything goes into it
const template = await readFile(path.join(here, "page/index.html"), "utf8");
const style = await readFile(path.join(here, "page/page.css"), "utf8");
const replaced = (text, from, to) => {
  if (!text.includes(from)) throw new Error(`page/index.html lacks ${from}`);
  return text.split(from).join(to);
};
let page = replaced(template, '<link rel="stylesheet" href="./page.css" />', `<style>\n${style}</style>`);
page = replaced(
  page,
  '<script type="module" src="../src/page.ts"></script>',
  `<!--\nThis page contains ${notice.replaceAll("--", "- -")}-->\n<script>${script.replaceAll("</script", "<\\/script")}</script>`,
);

const library = await build({
  ...common,
  build: {
    write: false,
    target: "es2022",
    minify: false,
    lib: { entry: "src/index.ts", formats: ["es"] },
    rolldownOptions: { external: [/^three/] },
  },
});
const types = await rolldown({
  cwd: here,
  input: "src/index.ts",
  external: [/^three/],
  plugins: [dts({ tsconfig: path.join(here, "tsconfig.json"), emitDtsOnly: true })],
});
const declared = await types.generate({ format: "es" });
const text = (output) => output.find((part) => part.type === "chunk").code;
await mkdir(out, { recursive: true });
await writeFile(path.join(out, "ecorche-player.js"), text(library[0].output));
await writeFile(path.join(out, "ecorche-player.d.ts"), text(declared.output));
await writeFile(path.join(out, "LICENSES.txt"), notice);
await writeFile(path.join(out, "index.html"), page);

const application = await build({
  ...common,
  root: path.join(here, "studio"),
  base: "./",
  build: {
    outDir: studio,
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 4000,
    modulePreload: false,
    // "use client" speaks to servers that render React, of which there is none
    rolldownOptions: { onLog: (level, log, next) => log.code !== "MODULE_LEVEL_DIRECTIVE" && next(level, log) },
  },
});
const modules = application.output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
await writeFile(path.join(studio, "LICENSES.txt"), await notices(modules));

/** The licences of all packages that some modules are of. */
async function notices(modules) {
  const found = modules.map((id) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll("\\", "/"))?.[1]);
  const names = [...new Set(found.filter((name) => name !== undefined))].sort();
  const parts = names.map(async (name) => {
    const folder = path.join(here, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const text = await Promise.any(
      ["LICENSE", "LICENSE.md", "license", "LICENSE.txt", "license.md", "LICENCE"].map((file) =>
        readFile(path.join(folder, file), "utf8"),
      ),
    ).catch(() => `Licence: ${license}`);
    return `${name} ${version}\n\n${text.trim()}\n`;
  });
  return (await Promise.all(parts)).join("\n----\n\n");
}
