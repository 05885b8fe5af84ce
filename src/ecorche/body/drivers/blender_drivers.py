"""Drivers on the muscle bones of an imported character. Runs in Blender and needs nothing else.

Import the .glb, then open this file in Blender's text editor and run it, or:

    blender character.blend --python blender_drivers.py -- drivers.json

Without a path it looks for ``drivers.json`` beside itself. Muscle bones then follow the pose of the skeleton,
inverse kinematics and constraints included, under control bones too. The table and this script are kept in
the .blend file as texts, and run again whenever it is loaded, if Blender may run Python (*Preferences › Save
& Load › Auto Run Python Scripts*).
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import bpy  # type: ignore[import-not-found,unused-ignore]
from mathutils import Matrix, Quaternion  # type: ignore[import-not-found,unused-ignore]

FORMAT, VERSION = "ecorche drivers", 1
TABLE_TEXT, CODE_TEXT = "ecorche_drivers.json", "ecorche_drivers.py"
CHANNELS = (("location", 3), ("rotation_quaternion", 4), ("scale", 3))

Turns = tuple[tuple[float, ...], ...]
"""Quaternions, each w, x, y, z."""

tables: dict[str, Any] = {}
products_of: dict[tuple[str, tuple[int, ...]], tuple[Turns, list[float]]] = {}
bones: dict[tuple[str, int], tuple[Turns, tuple[float, ...]]] = {}

# ---- what the drivers call ----


def ecorche_muscle(name: str, number: int, channel: int, *quaternions: tuple[float, ...]) -> float:
    """One channel of a muscle bone, of w, x, y, z of each rotation that drives it."""
    known = bones.get((name, number))
    if known is None or known[0] != quaternions:
        known = bones[name, number] = quaternions, posed_bone(name, number, quaternions)
    return known[1][channel]


def posed_bone(name: str, number: int, quaternions: Turns) -> tuple[float, ...]:
    """Location, quaternion and scale of a muscle bone, ten numbers."""
    if name not in tables:
        tables[name] = json.loads(bpy.data.texts[name].as_string())
    joint = tables[name]["muscle_joints"][number]
    products = shared_products(name, tuple(joint["driven_by"]), quaternions)
    given = [
        min(max(sum(a * b for a, b in zip(row, products, strict=True)), low), high)
        for row, low, high in zip(joint["coefficients"], joint["lowest"], joint["highest"], strict=True)
    ]
    axes = joint["axes"]
    to_bone = [list(column) for column in zip(*axes, strict=True)]
    location = turned(to_bone, *given[:3])
    x, y, z = turned(to_bone, *given[3:6])
    angle = math.sqrt(x * x + y * y + z * z)
    share = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    wide = (1.0, 1.0 + given[6], 1.0 + given[7])
    scale = [sum(axes[i][j] ** 2 * wide[i] for i in range(3)) for j in range(3)]
    return (*location, math.cos(0.5 * angle), x * share, y * share, z * share, *scale)


def shared_products(name: str, driven_by: tuple[int, ...], quaternions: Turns) -> list[float]:
    """The terms of the polynomials; bones that are driven by the same bones share them."""
    shared = products_of.get((name, driven_by))
    if shared is not None and shared[0] == quaternions:
        return shared[1]
    numbers: list[float] = []
    left = [Quaternion(parts) for parts in quaternions]
    for driving in driven_by:
        joint = tables[name]["joints"][driving]
        turn = left.pop(0)
        if joint["rest_from_parent"] is not None:
            turn = Quaternion(joint["rest_from_parent"]) @ left.pop(0).conjugated() @ turn
        side = -1.0 if turn.w < 0.0 else 1.0
        numbers += turned(joint["axes"], side * turn.x, side * turn.y, side * turn.z)
    products = [math.prod(numbers[n] for n in term) for term in tables[name]["terms"][str(len(driven_by))]]
    products_of[name, driven_by] = quaternions, products
    return products


def turned(axes: list[list[float]], x: float, y: float, z: float) -> list[float]:
    """A vector in other axes."""
    return [row[0] * x + row[1] * y + row[2] * z for row in axes]


bpy.app.driver_namespace["ecorche_muscle"] = ecorche_muscle

# ---- installing them ----


def install(path: Path, source: str) -> None:
    """Put drivers on the muscle bones of the armature that a table is for."""
    table = json.loads(path.read_text(encoding="utf-8"))
    if table.get("format") != FORMAT or table.get("version") != VERSION:
        raise SystemExit(f"{path}: not {FORMAT!r} of version {VERSION}")
    armature = find_armature(table)
    for joint in table["joints"] + table["muscle_joints"]:
        joint["axes"] = axes_of(armature, joint)
    for joint in table["joints"]:
        joint["rest_from_parent"] = rest_from_parent(armature, joint)
    for joint in table["muscle_joints"]:
        if any(0.01 < abs(number) < 0.99 for row in joint["axes"] for number in row):
            raise SystemExit(
                f"bone {joint['name']!r} does not lie along its joint's axes, so it cannot dilate along them:"
                " import the file again with another bone direction, Blender or Temperance"
            )
    name = keep(armature, table, source)
    drive(armature, name, table)
    print(f"{armature.name}: {len(table['muscle_joints'])} muscle bones follow {len(table['joints'])} bones")


def find_armature(table: Any) -> Any:
    """The armature that has all the bones; the active one, where several have."""
    names = {joint["name"] for joint in table["joints"] + table["muscle_joints"]}
    active = bpy.context.view_layer.objects.active
    for thing in [*([] if active is None else [active]), *bpy.data.objects]:
        if thing.type == "ARMATURE" and names <= set(thing.data.bones.keys()):
            return thing
    raise SystemExit("no armature has all the bones of the table: import the .glb first")


def axes_of(armature: Any, joint: Any) -> list[list[float]]:
    """From a bone's axes to its joint's, 3 × 3: importers turn bones to point along limbs."""
    y_up = Matrix(((1, 0, 0), (0, 0, 1), (0, -1, 0)))  # glTF's up is y, Blender's z
    bone = y_up @ armature.data.bones[joint["name"]].matrix_local.to_3x3()
    x, y, z, w = joint["bind_world_rotation"]
    return [list(row) for row in Quaternion((w, x, y, z)).to_matrix().transposed() @ bone]


def rest_from_parent(armature: Any, joint: Any) -> list[float] | None:
    """The turn from the joint above to a bone at rest, w, x, y, z; None where Blender tells the turn itself.

    It does where a bone hangs on the joint above it and turns with it. Under a control bone, or on its own,
    its turn since rest is that from the joint above, of the rotations of both in the world.
    """
    bones = armature.data.bones
    bone, above = bones[joint["name"]], bones.get(joint["parent"] or "")
    if bone.parent == above and (above is None or bone.use_inherit_rotation):
        return None
    rest = bone.matrix_local.to_quaternion()
    return list(rest.conjugated() @ (above.matrix_local.to_quaternion() if above else Quaternion()))


def rotations_read(armature: Any, joint: Any) -> list[tuple[str, str]]:
    """Bones and spaces of the rotations that tell a joint's turn; no bone is the armature as a whole."""
    if joint["rest_from_parent"] is None:
        return [(joint["name"], "LOCAL_SPACE")]
    above = armature.data.bones.get(joint["parent"] or "")
    return [(joint["name"], "WORLD_SPACE"), (above.name if above else "", "WORLD_SPACE")]


def keep(armature: Any, table: Any, source: str) -> str:
    """Table and script as texts of the file, so that it needs no other; the table's name."""
    known = armature.get(TABLE_TEXT)  # of drivers that are put on anew
    table_text = bpy.data.texts.get(known or "") or bpy.data.texts.new(TABLE_TEXT)
    armature[TABLE_TEXT] = table_text.name
    # a line a row: Blender's texts take very long for very long lines
    table_text.from_string(json.dumps(table).replace("[[", "[\n[").replace("], [", "],\n["))
    code = bpy.data.texts.get(CODE_TEXT) or bpy.data.texts.new(CODE_TEXT)
    code.from_string(source)
    code.use_module = True
    return str(table_text.name)


def drive(armature: Any, name: str, table: Any) -> None:
    """The ten drivers of each muscle bone."""
    joints = table["muscle_joints"]
    # with many drivers in a file every setting takes Blender long: each set of driving bones is put together
    # once, while there are few, and copied from then on
    first: dict[tuple[int, ...], Any] = {}
    read = [rotations_read(armature, joint) for joint in table["joints"]]
    for joint in joints:
        bone = armature.pose.bones[joint["name"]]
        bone.rotation_mode = "QUATERNION"
        for path, _ in CHANNELS:
            bone.driver_remove(path)
        driven_by = tuple(joint["driven_by"])
        if driven_by not in first:
            first[driven_by] = bone.driver_add("location", 0)
            for place, (name_read, space) in enumerate(source for n in driven_by for source in read[n]):
                for part in "wxyz":
                    add_variable(first[driven_by].driver, armature, name_read, space, f"{part}{place}")
    drivers = armature.animation_data.drivers
    for number, joint in enumerate(joints):
        driven_by = tuple(joint["driven_by"])
        bone_path = armature.pose.bones[joint["name"]].path_from_id()
        count = sum(len(read[n]) for n in driven_by)
        # in tuples: Python makes a list of more than thirty arguments, which Blender's drivers may not
        variables = ",".join(f"(w{place},x{place},y{place},z{place})" for place in range(count))
        channels = [(path, index) for path, size in CHANNELS for index in range(size)]
        for channel, (path, index) in enumerate(channels):
            model = first[driven_by]
            curve = model
            if model.data_path != f"{bone_path}.{path}" or model.array_index != index:
                curve = drivers.from_existing(src_driver=model)
                curve.data_path, curve.array_index = f"{bone_path}.{path}", index
            curve.driver.expression = f"ecorche_muscle({name!r},{number},{channel},{variables})"


def add_variable(driver: Any, armature: Any, bone: str, space: str, name: str) -> None:
    """A part of a bone's rotation, whatever has turned it, as a driver's variable."""
    variable = driver.variables.new()
    variable.name, variable.type = name, "TRANSFORMS"
    target = variable.targets[0]
    target.id, target.bone_target = armature, bone
    target.transform_space, target.rotation_mode = space, "QUATERNION"
    target.transform_type = f"ROT_{name[0].upper()}"


def main() -> None:
    """Run as a script, from the command line or the text editor."""
    here = Path(__file__)
    if here.exists():
        source = here.read_text(encoding="utf-8")
    else:
        text = bpy.data.texts[here.name]
        source, here = text.as_string(), Path(bpy.path.abspath(text.filepath or "//"))
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    install(Path(given[0]) if given else here.with_name("drivers.json"), source)


# kept in a .blend file under another name, it only says what the drivers call
if __name__ == "__main__" and Path(__file__).name != CODE_TEXT:
    main()
