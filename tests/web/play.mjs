// Plays glTF files in a real browser with three.js and writes down where every vertex is.
//
//   node play.mjs REQUEST.json
//
// REQUEST: {"browser": path, "jobs": [{"file": path, "times": [seconds, …], "out": path}, …]}.
// Each `out` becomes float32 little-endian: for each time, for each mesh of the file, x y z of each
// vertex in world space. Vertex counts go to standard output as JSON, a list a job.
// A job may have "drivers", a folder beside its file with drivers.mjs and drivers.json, which then move
// the muscle joints after the animation; and "normals": true, then after each mesh's points come its
// normals as three.js shades them: blended by the joints' matrices, not their inverse transposes.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = path.dirname(fileURLToPath(import.meta.url));
const site = "http://ecorche.test";
const types = { ".js": "text/javascript", ".mjs": "text/javascript", ".html": "text/html" };
const page_text = `<!doctype html><script type="importmap">{"imports": {
  "three": "/node_modules/three/build/three.module.js",
  "three/addons/": "/node_modules/three/examples/jsm/"}}</script>`;

const request = JSON.parse(await readFile(process.argv[2], "utf8"));
const browser = await chromium.launch({
  executablePath: request.browser,
  args: [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
try {
  const page = await browser.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.route("**/*", async (route) => {
    const url = new URL(route.request().url());
    if (url.origin !== site) return route.abort();
    if (url.pathname === "/") return route.fulfill({ contentType: "text/html", body: page_text });
    const job = url.pathname.match(/^\/job\/(\d+)\/(.*)$/);
    const file = job
      ? path.join(path.dirname(request.jobs[+job[1]].file), decodeURIComponent(job[2]))
      : path.join(here, url.pathname);
    const contentType = types[path.extname(file)] ?? "application/octet-stream";
    return route.fulfill({ contentType, body: await readFile(file) });
  });
  await page.goto(site);
  const counts = [];
  for (const [number, job] of request.jobs.entries()) {
    const url = `/job/${number}/${encodeURIComponent(path.basename(job.file))}`;
    const played = await page.evaluate(play, {
      url,
      times: job.times,
      drivers: job.drivers ? `/job/${number}/${job.drivers}` : null,
      normals: job.normals ?? false,
    });
    await writeFile(job.out, Buffer.from(played.data, "base64"));
    counts.push(played.counts);
  }
  if (complaints.length) throw new Error(complaints.join("\n"));
  process.stdout.write(JSON.stringify(counts));
} finally {
  await browser.close();
}

// Runs in the page.
async function play({ url, times, drivers, normals }) {
  const THREE = await import("three");
  const { GLTFLoader } = await import("three/addons/loaders/GLTFLoader.js");
  const gltf = await new GLTFLoader().loadAsync(url);
  const meshes = [];
  gltf.scene.traverse((object) => {
    const place = gltf.parser.associations.get(object);
    // primitives of one mesh share their vertices: the first stands for all
    if (object.isMesh && !(place.primitives > 0)) meshes[place.meshes] = object;
  });
  let driven = null;
  if (drivers) {
    const { MuscleDrivers } = await import(`${drivers}/drivers.mjs`);
    driven = new MuscleDrivers(await (await fetch(`${drivers}/drivers.json`)).json());
  }
  const mixer = new THREE.AnimationMixer(gltf.scene);
  const parts = [];
  const point = new THREE.Vector3();
  for (const time of times) {
    for (const clip of gltf.animations) {
      const action = mixer.clipAction(clip).reset();
      action.setLoop(THREE.LoopOnce, 1);
      action.clampWhenFinished = true;
      action.play();
    }
    mixer.setTime(time);
    if (driven) driven.apply(gltf.scene);
    gltf.scene.updateMatrixWorld(true);
    for (const mesh of meshes) {
      if (mesh.skeleton) mesh.skeleton.update();
      const count = mesh.geometry.attributes.position.count;
      const positions = new Float32Array(3 * count);
      for (let v = 0; v < count; v++) {
        mesh.getVertexPosition(v, point).applyMatrix4(mesh.matrixWorld).toArray(positions, 3 * v);
      }
      parts.push(positions);
      if (normals) parts.push(shaded(mesh));
    }
  }
  // as the vertex shader does it (skinnormal_vertex)
  function shaded(mesh) {
    const { normal, skinIndex, skinWeight } = mesh.geometry.attributes;
    const result = new Float32Array(3 * normal.count);
    const bone = new THREE.Matrix4();
    const index = new THREE.Vector4();
    const weight = new THREE.Vector4();
    for (let v = 0; v < normal.count; v++) {
      index.fromBufferAttribute(skinIndex, v);
      weight.fromBufferAttribute(skinWeight, v);
      const sum = new THREE.Vector3();
      for (let k = 0; k < 4; k++) {
        bone.fromArray(mesh.skeleton.boneMatrices, 16 * index.getComponent(k));
        const turned = new THREE.Vector3().fromBufferAttribute(normal, v).applyMatrix3(
          new THREE.Matrix3().setFromMatrix4(bone),
        );
        sum.addScaledVector(turned, weight.getComponent(k));
      }
      sum.normalize().toArray(result, 3 * v);
    }
    return result;
  }
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) {
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  }
  return { counts: meshes.map((m) => m.geometry.attributes.position.count), data: btoa(text) };
}
