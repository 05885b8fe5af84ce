import {
  AmbientLight,
  Box3,
  Color,
  DirectionalLight,
  GridHelper,
  Group,
  HemisphereLight,
  type PerspectiveCamera,
  Vector3,
} from "three/webgpu";

/** Lights that go with the camera, and the floor. */
export class Surroundings extends Group {
  readonly background = new Color();
  readonly #key = new DirectionalLight(0xfff1de, 2.2);
  readonly #fill = new DirectionalLight(0xcfe0ff, 0.8);
  readonly #sky = new HemisphereLight(0xffffff, 0x888078, 0.9);
  #grid = new GridHelper();

  constructor() {
    super();
    this.add(this.#key, this.#key.target, this.#fill, this.#fill.target, this.#sky, new AmbientLight(0xffffff, 0.15), this.#grid);
  }

  /** A floor under something of a height [m] that stands on a floor [m]. */
  stand(height: number, floor: number, dark: boolean): void {
    this.remove(this.#grid);
    this.#grid.dispose();
    const cell = 10 ** Math.round(Math.log10(0.3 * height));
    this.#grid = new GridHelper(20 * cell, 20);
    this.#grid.position.y = floor;
    this.#grid.material.color.set(dark ? 0x4a515b : 0xb3b8bf);
    this.#grid.material.vertexColors = false;
    this.#grid.material.transparent = true;
    this.#grid.material.opacity = 0.5;
    this.add(this.#grid);
    this.background.set(dark ? 0x1b1e23 : 0xe9ebee);
    this.#sky.intensity = dark ? 0.6 : 0.9;
  }

  /** Light from the left above whoever looks: relief shows from every side. */
  follow(camera: PerspectiveCamera, target: Vector3): void {
    const place = new Vector3(-0.6, 0.65, 0.45).applyQuaternion(camera.quaternion);
    this.#key.position.copy(target).add(place);
    this.#key.target.position.copy(target);
    place.set(0.8, 0.1, 0.5).applyQuaternion(camera.quaternion);
    this.#fill.position.copy(target).add(place);
    this.#fill.target.position.copy(target);
  }
}

/** Where to stand to see a box whole, looking along a direction. */
export function placeFor(box: Box3, direction: Vector3, camera: PerspectiveCamera): { at: Vector3; target: Vector3 } {
  const target = box.getCenter(new Vector3());
  const size = box.getSize(new Vector3());
  const half = 0.5 * Math.max(size.y, Math.hypot(size.x, size.z) / Math.max(camera.aspect, 0.2), 0.02);
  const away = (1.12 * half) / Math.tan((camera.fov * Math.PI) / 360) + 0.25 * Math.min(size.x, size.z);
  return { at: target.clone().addScaledVector(direction.clone().normalize(), away), target };
}
