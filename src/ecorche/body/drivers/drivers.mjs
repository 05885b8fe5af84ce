// Drivers of muscle joints: from the pose of a skeleton to its muscle joints. No dependencies.
//
//   import { MuscleDrivers } from "./drivers.mjs";
//   const drivers = new MuscleDrivers(await (await fetch("drivers.json")).json());
//   const joints = drivers.evaluate((name) => [x, y, z, w]);   // local rotation of a joint by name
//   // [{ name, translation: [3], rotation: [x, y, z, w], scale: [3] }, …], relative to each joint's parent
//
// With three.js, every frame after animation, blending and inverse kinematics, before rendering:
//
//   drivers.apply(root);   // root: the loaded scene

const FORMAT = "ecorche drivers";
const VERSION = 1;

export class MuscleDrivers {
  constructor(table) {
    if (table.format !== FORMAT || table.version !== VERSION) {
      throw new Error(`not "${FORMAT}" of version ${VERSION}`);
    }
    this.table = table;
    // muscle joints that are driven by the same joints share their products
    this.groups = new Map();
    for (const joint of table.muscle_joints) {
      const key = joint.driven_by.join();
      if (!this.groups.has(key)) this.groups.set(key, []);
      this.groups.get(key).push(joint);
    }
  }

  /** The muscle joints, of a function that gives the local rotation [x, y, z, w] of a joint by its name. */
  evaluate(rotationOf) {
    const turns = this.table.joints.map((joint) => turnSinceBind(joint, rotationOf(joint.name)));
    const found = [];
    for (const joints of this.groups.values()) {
      const numbers = joints[0].driven_by.flatMap((joint) => turns[joint]);
      const products = this.table.terms[joints[0].driven_by.length].map((term) =>
        term.reduce((so_far, number) => so_far * numbers[number], 1),
      );
      for (const joint of joints) found.push(posed(joint, products));
    }
    return found;
  }

  /** Read the rotations of, and move, objects as three.js has them: name, position, quaternion, scale. */
  apply(root) {
    if (root !== this.root) {
      this.root = root;
      this.objects = new Map();
      root.traverse((object) => {
        // a loader may change names; it then keeps the file's own, also where a mesh is called as a bone is
        const name = object.userData?.name ?? object.name;
        if (object.isBone || !this.objects.has(name)) this.objects.set(name, object);
      });
    }
    for (const joint of this.evaluate((name) => this.#object(name).quaternion.toArray())) {
      const object = this.#object(joint.name);
      object.position.fromArray(joint.translation);
      object.quaternion.fromArray(joint.rotation);
      object.scale.fromArray(joint.scale);
    }
  }

  #object(name) {
    const object = this.objects.get(name);
    if (!object) throw new Error(`there is no joint "${name}"`);
    return object;
  }
}

/** x, y and z of a joint's turn since bind, on the side where w is not negative. */
function turnSinceBind(joint, rotation) {
  const [x, y, z, w] = joint.bind_rotation;
  const turn = multiply([-x, -y, -z, w], rotation);
  return turn[3] < 0 ? [-turn[0], -turn[1], -turn[2]] : turn.slice(0, 3);
}

/** A muscle joint of the products its polynomials are made of. */
function posed(joint, products) {
  const given = joint.coefficients.map((row, output) => {
    let sum = 0;
    for (let term = 0; term < row.length; term++) sum += row[term] * products[term];
    return Math.min(Math.max(sum, joint.lowest[output]), joint.highest[output]);
  });
  const { translation, rotation, scale } = joint.bind;
  const offset = rotate(rotation, given.slice(0, 3).map((value, axis) => value * scale[axis]));
  return {
    name: joint.name,
    translation: translation.map((value, axis) => value + offset[axis]),
    rotation: multiply(rotation, fromVector(given.slice(3, 6))),
    scale: [scale[0], scale[1] * (1 + given[6]), scale[2] * (1 + given[7])],
  };
}

/** The rotation by b first, then by a. */
function multiply([ax, ay, az, aw], [bx, by, bz, bw]) {
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

/** The rotation about a vector by its length, in radians. */
function fromVector([x, y, z]) {
  const angle = Math.hypot(x, y, z);
  const share = angle > 1e-12 ? Math.sin(angle / 2) / angle : 0.5;
  return [x * share, y * share, z * share, Math.cos(angle / 2)];
}

function rotate(q, v) {
  const [x, y, z] = multiply(multiply(q, [...v, 0]), [-q[0], -q[1], -q[2], q[3]]);
  return [x, y, z];
}
