// Builds the player: one page that holds everything, and the library as a typed module.
//
//   node build.mjs FOLDER
import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { build } from "vite";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2]);
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
