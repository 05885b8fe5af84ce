/** Smooth unit normals of a mesh's vertices: each the sum of its triangles', larger ones counting for more.
 *  As three's own, without an object a corner: muscles are as many triangles as the skin, in every frame. */
export function vertexNormals(points: Float32Array, triangles: Uint32Array | Uint16Array, out: Float32Array): void {
  out.fill(0);
  for (let at = 0; at < triangles.length; at += 3) {
    const a = 3 * triangles[at]!;
    const b = 3 * triangles[at + 1]!;
    const c = 3 * triangles[at + 2]!;
    const ax = points[a]!;
    const ay = points[a + 1]!;
    const az = points[a + 2]!;
    const ux = points[b]! - ax;
    const uy = points[b + 1]! - ay;
    const uz = points[b + 2]! - az;
    const vx = points[c]! - ax;
    const vy = points[c + 1]! - ay;
    const vz = points[c + 2]! - az;
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    out[a]! += x;
    out[a + 1]! += y;
    out[a + 2]! += z;
    out[b]! += x;
    out[b + 1]! += y;
    out[b + 2]! += z;
    out[c]! += x;
    out[c + 1]! += y;
    out[c + 2]! += z;
  }
  for (let at = 0; at < out.length; at += 3) {
    const x = out[at]!;
    const y = out[at + 1]!;
    const z = out[at + 2]!;
    const length = Math.sqrt(x * x + y * y + z * z) || 1;
    out[at] = x / length;
    out[at + 1] = y / length;
    out[at + 2] = z / length;
  }
}
