"""The shaders as text: files of plain WGSL after one another, and before them the numbers they share with us.

No number is written down twice: what Python knows by a name is told to the shaders as a constant of the same
name. The text is the same for every character; what differs is in the uniform ``plan``. It is WebGPU's own
language without extensions, so that a browser runs the very same.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files

import numpy as np

from ecorche.base import quad_angles
from ecorche.body.payload import payload_type
from ecorche.gpu import device_plan, spindle_arrays
from ecorche.muscles import (
    loft,
    loft_plan,
    posed_joints,
    posing_plan,
    root_curves,
    scapula,
    sections,
    wrapping,
)
from ecorche.skin import normals, sliding_groups, sliding_lanes

WORKGROUP = 64
"""Threads that run together."""
REVERSED = 1e-6
"""A direction that points back so nearly, 1 + cosine, is turned to by no smallest rotation in float32."""
SKEWED = 1e-6
"""Cosine between a joint's axes from which on they are made a rotation in float32."""
POLAR_STEPS = 60
"""As many for that as `posed_joints` takes, at most; mostly four."""
_PI_FIRST = 3.140625
"""π in ten bits: a few thousand times this is exact."""

MUSCLES = ("muscles", "vectors", "angles", "joints", "scapulae", "spindles", "root_curves", "muscle_joints")
SKIN = ("skin", "joints")
NORMALS = ("normals",)
"""The files of each module."""


def shader(names: Iterable[str], told: Iterable[str]) -> str:
    """The text of a module.

    Args:
        names: Its files.
        told: What the uniform ``plan`` tells, in its order: see `DevicePlan`.
    """
    fields = "".join(f"    {name}: u32,\n" for name in told)
    head = f"struct Plan {{\n{fields}    rounding: f32,\n}}\n\nstruct Run {{\n    learn: u32,\n}}\n"
    folder = files("ecorche.gpu") / "wgsl"
    parts = [(folder / f"{name}.wgsl").read_text(encoding="utf-8") for name in names]
    return "\n".join([_constants(), head, *parts])


def _constants() -> str:
    whole = {name: f"const {name}: u32 = {value}u;\n" for name, value in _whole_numbers().items()}
    real = {name: f"const {name}: f32 = {value!r};\n" for name, value in _real_numbers().items()}
    return "".join({**whole, **real}.values())


def _of(module: object, names: str, prefix: str = "") -> dict[str, int]:
    return {prefix + name: getattr(module, name) for name in names.split()}


def _whole_numbers() -> dict[str, int]:
    return {
        "WORKGROUP": WORKGROUP,
        "POLAR_STEPS": POLAR_STEPS,
        "PAYLOAD_HEAD": payload_type(0, 0).itemsize // 4,
        "MUSCLE_CONSTANTS": spindle_arrays.CONSTANTS,
        **_of(posed_joints, "MOVED"),
        **_of(
            device_plan,
            "NODE_POINT NODE_SEGMENT NODE_BEND NODE_ROWS SPINDLE_ORIGIN SPINDLE_ALONG SPINDLE_OUT"
            " SPINDLE_SIDE SPINDLE_BELOW SPINDLE_ABOVE SPINDLE_ROWS STATION_POINT STATION_ALONG"
            " STATION_OUT STATION_SIDE STATION_ROWS PLACE_ROWS FRAME_POINT FRAME_ALONG FRAME_OUT"
            " FRAME_SIDE FRAME_ROWS CURVE_SHAPE CURVE_NAMED JOINT_CARRIER JOINT_PLACE JOINT_MUSCLE"
            " JOINT_NAMED NO_STATION",
        ),
        **_of(spindle_arrays, "SWEEP_BELLY SWEEP_OUT SWEEP_SIDE SWEEP_COLUMNS"),
        **_of(posing_plan, "CHORD BIND_OUT WEIGHT SCALE RULE CURVE CURVE_CHANGE"),
        **_of(posing_plan, "NODE NEAR JOINT JOINT_BEFORE OWNER ROW SHARE TANGENT ACROSS"),
        **_of(posing_plan, "NAMED KEPT", "STATION_"),
        **_of(wrapping, "STRAIGHT SPHERE BALL"),
        **_of(root_curves, "OF_ORIGIN OF_INSERTION OF_OBSTACLE", "CURVE_"),
        **_of(root_curves, "ORIGIN INSERTION CHORD CENTRE AXIS RADIUS AT_BIND KEPT", "CURVE_"),
        **_of(loft_plan, "PIECE_COLUMNS PLACE_KEPT JOINT_KEPT"),
        **_of(loft_plan, "AREA KNOT", "PIECE_"),
        **_of(loft_plan, "MOMENTS AT_BIND FIRST_PIECE", "SHAPE_"),
        "SHAPE_KEPT": loft_plan.MUSCLE_KEPT,
        **_of(loft_plan, "SHARE GIVING", "PLACE_"),
        **_of(loft_plan, "BIND_ALONG BIND_OUT BIND_POINT FOLLOWING MIDDLE", "JOINT_"),
        **_of(sliding_groups, "PUSH LIMIT MINUS_SIGMA FOLLOW STAY_T STAY_A"),
        **_of(sliding_groups, "KEPT", "SLIDING_"),
    }


def _real_numbers() -> dict[str, float]:
    series = {
        f"{name}_{power}": value
        for name, values in (
            ("SINE", quad_angles.SINGLE_SINE),
            ("COSINE", quad_angles.SINGLE_COSINE),
            ("ANGLE", quad_angles.SINGLE_ANGLE),
        )
        for power, value in enumerate(values)
    }
    numbers = {
        "PI": np.pi,
        "PI_FIRST": _PI_FIRST,
        "PI_REST": np.pi - _PI_FIRST,
        "HALF_TURNS": 1.0 / np.pi,
        "REVERSED": REVERSED,
        "SKEWED": SKEWED,
        **series,
        **_of(quad_angles, "TAN_EIGHTH"),
        **_of(scapula, "SETTING_PHASE SCAPULAR_SHARE"),
        **_of(wrapping, "FADE SINE_OF_FADE BACK TINY LEAST_LEAN THIRD TURN"),
        **_of(loft, "THINNEST MOST_SHORTENED"),
        **_of(sections, "ENDS RIM"),
        "ROOT_RIM": np.sqrt(sections.RIM),
        **_of(sliding_lanes, "BRIDGED"),
        "THINNEST_SECTION": sliding_lanes.THINNEST,
        "SHORT": sliding_lanes.SHORTEST,
        **_of(normals, "STEEP"),
    }
    return {name: float(value) for name, value in numbers.items()}
