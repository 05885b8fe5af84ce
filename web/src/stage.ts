import {
  AmbientLight,
  Box3,
  CircleGeometry,
  Color,
  DirectionalLight,
  Fog,
  GridHelper,
  HemisphereLight,
  Mesh,
  MeshStandardMaterial,
  PCFShadowMap,
  PerspectiveCamera,
  Scene,
  Vector3,
  WebGPURenderer,
} from "three/webgpu";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

/** Ground, lights and camera around something of a known size. */
export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(32, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly #key = new DirectionalLight(0xfff1de, 2.7);
  readonly #rim = new DirectionalLight(0xcfe0ff, 1.5);
  readonly #sky = new HemisphereLight(0xffffff, 0x777777, 0.55);
  readonly #ground: Mesh<CircleGeometry, MeshStandardMaterial>;
  readonly #followed = new Vector3();
  #grid: GridHelper;
  #reach = 1;
  #height = 1;

  constructor(
    readonly renderer: WebGPURenderer,
    readonly box: Box3,
  ) {
    this.controls = new OrbitControls(this.camera, renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.maxPolarAngle = 0.52 * Math.PI;
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = PCFShadowMap;
    this.#key.castShadow = true;
    this.#key.shadow.mapSize.set(2048, 2048);
    // closed surfaces cast by their back faces, which need hardly any
    this.#key.shadow.bias = -0.0001;
    this.#ground = new Mesh(new CircleGeometry(1, 96), new MeshStandardMaterial({ roughness: 1 }));
    this.#ground.rotation.x = -0.5 * Math.PI;
    this.#ground.receiveShadow = true;
    this.#grid = new GridHelper();
    const lights = [this.#key, this.#key.target, this.#rim, this.#rim.target, this.#sky, new AmbientLight(0xffffff, 0.12)];
    this.scene.add(...lights, this.#ground, this.#grid);
    this.frame(0);
    this.dress(false);
    this.resize();
  }

  /** Look at a square of figures that reaches so far from its middle [m], as well as at one. */
  frame(spread: number): void {
    const size = this.box.getSize(new Vector3());
    const floor = this.box.min.y;
    this.#height = size.y;
    this.#reach = spread + 0.5 * Math.max(size.x, size.y, size.z);
    this.controls.target.set(0, floor + 0.5 * size.y, 0).add(this.#followed);
    const away = ((spread > 0 ? 0.95 : 1.25) * this.#reach) / Math.tan((this.camera.fov * Math.PI) / 360);
    const aspect = Math.min(this.camera.aspect, 1);
    const direction = spread > 0 ? new Vector3(0.45, 0.42, 0.8) : new Vector3(0.55, 0.14, 0.83);
    this.camera.position.copy(this.controls.target).addScaledVector(direction.normalize(), away / aspect);
    this.camera.near = 0.02 * away;
    this.camera.far = 20 * away;
    this.camera.updateProjectionMatrix();
    this.scene.fog = new Fog(0, 1.6 * away, 4.5 * away);
    this.#ground.position.y = floor - 0.001 * this.#height;
    this.#ground.scale.setScalar(14 * this.#reach);
    this.#makeGrid(floor);
    const { camera } = this.#key.shadow;
    const lit = 1.4 * this.#reach;
    Object.assign(camera, { left: -lit, right: lit, top: lit, bottom: -lit, near: 0.1 * lit, far: 8 * lit });
    camera.updateProjectionMatrix();
    this.#shine();
    this.#colour();
  }

  /** Keep the camera with what walks away: x and z of it [m]. */
  follow(x: number, z: number): void {
    const moved = new Vector3(x - this.#followed.x, 0, z - this.#followed.z);
    this.#followed.add(moved);
    this.controls.target.add(moved);
    this.camera.position.add(moved);
    const cell = this.#cell();
    this.#grid.position.x = Math.round(x / cell) * cell;
    this.#grid.position.z = Math.round(z / cell) * cell;
    this.#ground.position.x = x;
    this.#ground.position.z = z;
    this.#shine();
  }

  /** Light or dark. */
  dress(dark: boolean): void {
    this.#dark = dark;
    this.#colour();
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.renderer.domElement;
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
  }

  draw(): void {
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
  }

  #dark = false;

  #colour(): void {
    const paper = new Color(this.#dark ? 0x1b1e23 : 0xe9ebee);
    this.scene.background = paper;
    if (this.scene.fog) this.scene.fog.color.copy(paper);
    this.#ground.material.color.set(this.#dark ? 0x1f2329 : 0xd7d9dc);
    this.#sky.intensity = this.#dark ? 0.3 : 0.5;
    const lines = this.#grid.material;
    lines.color.set(this.#dark ? 0x4a515b : 0xa9aeb5);
    lines.vertexColors = false;
    lines.transparent = true;
    lines.opacity = 0.55;
  }

  /** Lines as far apart as the figure is high, halved, in a round number of metres. */
  #cell(): number {
    return 10 ** Math.round(Math.log10(0.5 * this.#height));
  }

  #makeGrid(floor: number): void {
    const cell = this.#cell();
    const cells = 2 * Math.ceil((6 * this.#reach) / cell);
    this.scene.remove(this.#grid);
    this.#grid.dispose();
    this.#grid = new GridHelper(cells * cell, cells);
    this.#grid.position.set(this.#followed.x, floor, this.#followed.z);
    this.scene.add(this.#grid);
  }

  /** A low light from one side draws muscles out, a cold one from behind the outline. */
  #shine(): void {
    const far = 3.2 * this.#reach;
    const at = this.controls.target;
    this.#key.position.set(-0.72, 0.72, 0.5).normalize().multiplyScalar(far).add(at);
    this.#rim.position.set(0.75, 0.5, -0.85).normalize().multiplyScalar(far).add(at);
    this.#key.target.position.copy(at);
    this.#rim.target.position.copy(at);
  }
}
