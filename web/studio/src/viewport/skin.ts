import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  FrontSide,
  Group,
  Mesh,
  MeshStandardMaterial,
} from "three/webgpu";
import { useStudio } from "../store.js";
import { paint, shownRange } from "./colours.js";
import type { FrameAnswer, SceneAnswer, ViewLayer } from "./layer.js";

const SKIN = new Color(0xc9a08a);

/** One of the character's meshes as it is drawn. */
export interface DrawnMesh {
  readonly name: string;
  /** Fixed to joints, as bones are: opaque under translucent skin. */
  readonly solid: boolean;
  readonly position: BufferAttribute;
  readonly normal: BufferAttribute;
  readonly colour: BufferAttribute;
  /** Point of the frame behind each written vertex. */
  readonly points: Uint32Array;
  /** Normal of the frame; none where these follow from the points. */
  readonly normals: Uint32Array | null;
  readonly mesh: Mesh<BufferGeometry, MeshStandardMaterial>;
}

/** The character's meshes over their muscles or, as `plain`, by skinning alone. */
export class SkinLayer implements ViewLayer {
  readonly object = new Group();
  /** Of all meshes. */
  drawn: DrawnMesh[] = [];

  constructor(readonly plain: boolean) {
    this.object.name = plain ? "plain skin" : "skin";
  }

  sceneChanged(scene: SceneAnswer): void {
    this.dispose();
    const { source, places, triangles } = scene.arrays;
    this.drawn = scene.meshes.map((told) => {
      const [first, count] = told.written;
      const [firstTriangle, triangleCount] = told.triangles;
      const geometry = new BufferGeometry();
      const position = new BufferAttribute(new Float32Array(3 * count), 3);
      const normal = new BufferAttribute(new Float32Array(3 * count), 3);
      const colour = new BufferAttribute(new Float32Array(3 * count).fill(1), 3);
      geometry.setAttribute("position", position);
      geometry.setAttribute("normal", normal);
      geometry.setAttribute("color", colour);
      const index = triangles!.slice(3 * firstTriangle, 3 * (firstTriangle + triangleCount));
      geometry.setIndex(new BufferAttribute(index, 1));
      const white = told.colour.every((part) => part > 0.75);
      const base = told.body && white ? SKIN : new Color().setRGB(...told.colour);
      const material = new MeshStandardMaterial({ color: base, roughness: 0.62, vertexColors: true });
      material.userData["base"] = base;
      const mesh = new Mesh(geometry, material);
      mesh.name = told.name;
      mesh.frustumCulled = false;
      this.object.add(mesh);
      return {
        name: told.name,
        solid: told.solid,
        position,
        normal,
        colour,
        points: source!.slice(first, first + count).map((n) => n + told.points[0]),
        normals: told.normals[1] === 0 ? null : places!.slice(first, first + count).map((n) => n + told.normals[0]),
        mesh,
      };
    });
    this.looksChanged();
  }

  frameChanged(frame: FrameAnswer): void {
    const points = this.plain ? frame.arrays.plain : frame.arrays.points;
    const normals = this.plain ? frame.arrays.plain_normals : frame.arrays.normals;
    if (points === undefined) return;
    for (const drawn of this.drawn) {
      gather(points, drawn.points, drawn.position);
      if (drawn.normals !== null && normals !== undefined) gather(normals, drawn.normals, drawn.normal);
      else drawn.mesh.geometry.computeVertexNormals();
    }
    this.#paint(frame);
  }

  looksChanged(): void {
    const { layers, colour, beside } = useStudio.getState();
    const { shown, opacity } = layers.skin;
    this.object.visible = !this.plain || beside;
    for (const { mesh, solid } of this.drawn) {
      const material = mesh.material;
      const through = opacity < 1 && !solid;
      mesh.visible = shown || (solid && layers.bones.shown);
      if (material.transparent !== through) {
        material.transparent = through;
        material.needsUpdate = true;
      }
      // from outside alone, and behind all that is opaque
      material.side = through ? FrontSide : DoubleSide;
      material.opacity = through ? opacity : 1;
      material.depthWrite = !through;
      mesh.renderOrder = through ? 10 : 0;
      const coloured = !this.plain && colour !== "material";
      material.color.copy(coloured ? WHITE : (material.userData["base"] as Color));
      if (!coloured) {
        (mesh.geometry.getAttribute("color").array as Float32Array).fill(1);
        mesh.geometry.getAttribute("color").needsUpdate = true;
      }
    }
  }

  dispose(): void {
    for (const { mesh } of this.drawn) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    this.object.clear();
    this.drawn = [];
  }

  #paint(frame: FrameAnswer): void {
    const { colour } = useStudio.getState();
    const values = frame.arrays.values;
    if (this.plain || colour === "material") return;
    if (values === undefined || frame.range === null) {
      // nothing is chosen any more: what was shown of it would be a lie
      for (const { colour: attribute } of this.drawn) {
        (attribute.array as Float32Array).fill(0.6);
        attribute.needsUpdate = true;
      }
      return;
    }
    const colours = new Float32Array(3 * values.length);
    paint(values, colour, shownRange(colour, frame.range), colours);
    for (const { points, colour: attribute } of this.drawn) gather(colours, points, attribute);
  }
}

const WHITE = new Color(0xffffff);

/** Put the vectors of some numbers into an attribute. */
function gather(from: Float32Array, numbers: Uint32Array, to: BufferAttribute): void {
  const out = to.array as Float32Array;
  for (let n = 0, at = 0; n < numbers.length; n++) {
    let of = 3 * numbers[n]!;
    out[at++] = from[of++]!;
    out[at++] = from[of++]!;
    out[at++] = from[of]!;
  }
  to.needsUpdate = true;
}
