"""The same skinning by other people's programs, each called the way its own users call it.

Each maker returns a function that skins the whole body once. A peer that is not installed raises
`MissingPeer` with what to install.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.bodies import Body

ROOT = Path(__file__).resolve().parent.parent

Run = Callable[[], object]


class MissingPeer(Exception):
    """Another program is not here; the message says how to get it."""


def numpy_plain(body: Body) -> Run:
    """Straightforward NumPy: one influence of all vertices after another."""
    joints, weights = body.weights.padded()
    matrices = (body.difference + np.eye(4))[:, :3].astype(np.float32)
    points = body.mesh.points

    def run() -> object:
        moved = np.zeros_like(points)
        for slot in range(joints.shape[1]):
            m = matrices[joints[:, slot]]
            moved += weights[:, slot, None] * (np.einsum("vij,vj->vi", m[:, :, :3], points) + m[:, :, 3])
        return moved

    return run


def usdskel(body: Body, method: str) -> Run:
    """UsdSkel.SkinPoints on USD's own arrays, on all cores."""
    try:
        from pxr import Gf, UsdSkel, Vt
    except ImportError as error:
        raise MissingPeer("usd-core is not installed") from error
    joints, weights = body.weights.padded()
    bind = Vt.Vec3fArray.FromNumpy(body.mesh.points)
    matrices = Vt.Matrix4dArray.FromNumpy(
        np.ascontiguousarray((body.difference + np.eye(4)).transpose(0, 2, 1))
    )
    numbers = Vt.IntArray.FromNumpy(joints.reshape(-1))
    shares = Vt.FloatArray.FromNumpy(weights.reshape(-1))
    token = getattr(UsdSkel.Tokens, method)

    def run() -> object:
        moved = Vt.Vec3fArray(bind)  # shares the bind points until they are written to
        assert UsdSkel.SkinPoints(token, Gf.Matrix4d(1.0), matrices, numbers, shares, joints.shape[1], moved)
        return moved

    return run


def libigl(body: Body) -> Run:
    """libigl's skinning matrix times the stacked transforms, double precision and dense."""
    try:
        import igl
    except ImportError as error:
        raise MissingPeer("libigl is not installed") from error
    joints, weights = body.weights.padded()
    dense = np.zeros((body.mesh.vertex_count, body.skeleton.joint_count))
    np.add.at(dense, (np.arange(len(dense))[:, None], joints), weights)
    matrix = igl.lbs_matrix(body.mesh.points.astype(np.float64), dense)
    moved = body.difference + np.eye(4)
    stacked = np.ascontiguousarray(moved[:, :3].transpose(0, 2, 1).reshape(-1, 3))
    return lambda: matrix @ stacked


def mujoco_skin(body: Body) -> Run:
    """MuJoCo's own update of a skin for drawing: one thread, normals included."""
    try:
        import mujoco
    except ImportError as error:
        raise MissingPeer("mujoco is not installed") from error
    with tempfile.TemporaryDirectory() as folder:
        _write_skn(body, Path(folder) / "body.skn")
        bodies = "".join(
            f'<body name="{j}" mocap="true"><geom size="0.001" contype="0" conaffinity="0"/></body>'
            for j in range(body.skeleton.joint_count)
        )
        xml = Path(folder) / "body.xml"
        xml.write_text(
            f'<mujoco><asset/><worldbody>{bodies}</worldbody><deformable><skin file="body.skn"/></deformable>'
            "</mujoco>"
        )
        model = mujoco.MjModel.from_xml_path(str(xml))
    data = mujoco.MjData(model)
    world = (body.difference + np.eye(4)) @ body.skeleton.bind_world
    for joint in range(body.skeleton.joint_count):
        data.mocap_pos[joint] = world[joint, :3, 3]
        mujoco.mju_mat2Quat(data.mocap_quat[joint], np.ascontiguousarray(world[joint, :3, :3]).reshape(-1))
    mujoco.mj_forward(model, data)
    scene = mujoco.MjvScene(model, maxgeom=1000)
    options, camera = mujoco.MjvOption(), mujoco.MjvCamera()
    options.flags[:] = 0
    options.flags[mujoco.mjtVisFlag.mjVIS_SKIN] = 1  # the scene is the skin alone

    def run() -> object:
        mujoco.mjv_updateScene(model, data, options, None, camera, mujoco.mjtCatBit.mjCAT_DYNAMIC, scene)
        return scene.skinvert

    return run


def _write_skn(body: Body, path: Path) -> None:
    """MuJoCo's binary skin: counts, vertices, faces, then each bone with its bind frame and weights."""
    import mujoco

    mesh, weights = body.mesh, body.weights
    triangles = mesh.triangles()
    vertex = np.repeat(np.arange(mesh.vertex_count, dtype=np.int32), np.diff(weights.starts))
    with path.open("wb") as file:
        used = np.unique(weights.joints)
        file.write(struct.pack("4i", mesh.vertex_count, 0, len(triangles), len(used)))
        file.write(mesh.points.tobytes())
        file.write(triangles.astype(np.int32).tobytes())
        for joint in used:
            bind = body.skeleton.bind_world[joint]
            quaternion = np.empty(4)
            mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(bind[:3, :3]).reshape(-1))
            mine = weights.joints == joint
            file.write(str(joint).encode().ljust(40, b"\0"))
            file.write(bind[:3, 3].astype(np.float32).tobytes() + quaternion.astype(np.float32).tobytes())
            file.write(struct.pack("i", int(mine.sum())))
            file.write(vertex[mine].tobytes() + weights.weights[mine].astype(np.float32).tobytes())


BLENDER = """
import json, sys, time
import bpy, numpy as np
given = np.load(sys.argv[-2])
points, joints, weights, heads = (given[n] for n in ("points", "joints", "weights", "heads"))
mesh = bpy.data.meshes.new("mesh")
mesh.vertices.add(len(points))
mesh.vertices.foreach_set("co", points.ravel())
mesh.update()
thing = bpy.data.objects.new("mesh", mesh)
bpy.context.collection.objects.link(thing)
rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
bpy.context.collection.objects.link(rig)
bpy.context.view_layer.objects.active = rig
bpy.ops.object.mode_set(mode="EDIT")
for number, head in enumerate(heads):
    bone = rig.data.edit_bones.new(str(number))
    bone.head, bone.tail = head, head + np.array([0.0, 0.0, 0.1])
bpy.ops.object.mode_set(mode="POSE")
groups = [thing.vertex_groups.new(name=str(j)) for j in range(len(heads))]
for vertex, (row, shares) in enumerate(zip(joints.tolist(), weights.tolist())):
    for joint, share in zip(row, shares):
        if share > 0.0:
            groups[joint].add((vertex,), share, "REPLACE")
modifier = thing.modifiers.new("rig", "ARMATURE")
modifier.object = rig
modifier.use_deform_preserve_volume = sys.argv[-1] == "dual"
taken = []
for turn in range(int(sys.argv[-3]) + 2):
    for bone in rig.pose.bones:
        bone.rotation_quaternion = (1.0, 0.02 * (turn % 5), 0.01, 0.0)
    start = time.perf_counter()
    bpy.context.view_layer.update()
    taken.append(1e3 * (time.perf_counter() - start))
print(json.dumps(taken[2:]))
"""


def blender_armature(body: Body, rounds: int, method: str = "linear") -> list[float]:
    """Milliseconds of each update of Blender's evaluated mesh after all bones turned.

    Blender runs in a process of its own, so it cannot take turns with the others.
    """
    python = Path(os.environ.get("ECORCHE_BPY", ROOT / ".venv-bpy" / "bin" / "python"))
    if not python.exists():
        raise MissingPeer("Blender is not here: run tools/setup-peers, or set ECORCHE_BPY")
    joints, weights = body.weights.padded()
    with tempfile.TemporaryDirectory() as folder:
        program, given = Path(folder) / "program.py", Path(folder) / "given.npz"
        program.write_text(BLENDER)
        heads = body.skeleton.bind_world[:, :3, 3]
        np.savez(given, points=body.mesh.points, joints=joints, weights=weights, heads=heads)
        done = subprocess.run(
            [python, program, str(rounds), given, method], capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise MissingPeer(f"Blender stopped: {done.stderr.strip().splitlines()[-1:]}")
    taken: list[float] = json.loads(done.stdout.splitlines()[-1])
    return taken
