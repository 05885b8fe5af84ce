"""Which steps there are, which buffers each is given, and how many threads it takes.

One table for every program that plays a character: our own on a device, and the player in a browser, to which
a file tells it.
"""

from __future__ import annotations

from typing import NamedTuple

from ecorche.gpu import shaders


class ModuleTable(NamedTuple):
    """One module of shaders.

    Attributes:
        files: Its text, see `shaders`.
        buffers: What is bound, in the order of the bindings, and what is done with it: ``"uniform"``,
            ``"read"`` or ``"write"``. ``plan`` is `DevicePlan.uniform`, ``run`` tells whether to learn.
        steps: Its entry points in their order, and what of the plan counts their threads; an instance each
            along y.
    """

    files: tuple[str, ...]
    buffers: dict[str, str]
    steps: dict[str, str]


MODULES = {
    "muscles": ModuleTable(
        shaders.MUSCLES,
        {
            "plan": "uniform",
            "payload": "read",
            "names": "read",
            "numbers": "read",
            "bind_frames": "read",
            "posed": "write",
        },
        {
            "move_scapulae": "scapula_count",
            "pose_spindles": "read_count",
            "pose_stations": "station_count",
            "pose_places": "found_count",
            "pose_frames": "muscle_joint_count",
            "pose_muscle_joints": "muscle_joint_count",
        },
    ),
    "skin": ModuleTable(
        shaders.SKIN,
        {
            "plan": "uniform",
            "run": "uniform",
            "payload": "read",
            "skin_names": "read",
            "skin_numbers": "read",
            "posed": "read",
            "rest": "write",
            "points": "write",
            "deltas": "write",
        },
        {"move_skin": "vertex_count", "move_worn": "worn_count"},
    ),
    "normals": ModuleTable(
        shaders.NORMALS,
        {
            "plan": "uniform",
            "run": "uniform",
            "place_names": "read",
            "place_numbers": "read",
            "points": "read",
            "at_bind": "write",
            "normals": "write",
        },
        {"find_normals": "place_count"},
    ),
}
"""In the order they run in."""
