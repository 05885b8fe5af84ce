"""What a device keeps of a vertex program: all that is the same in every frame, in a few flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.body.payload import payload_type
from ecorche.body.vertex_program import VertexProgram
from ecorche.gpu.packing import Packed
from ecorche.gpu.spindle_arrays import SpindleArrays, spindle_arrays
from ecorche.muscles.centre_lines import STATIONS
from ecorche.muscles.loft_plan import GAIN
from ecorche.muscles.lofted_posing import Lofts

# rows of four numbers that posing leaves of a frame: of a node its point and arc length, the segment that
# ends there, the corner
NODE_POINT, NODE_SEGMENT, NODE_BEND, NODE_ROWS = 0, 1, 2, 3
# of a muscle its origin and bulge, along over the length and height s_f T, out and one over the length, side
# and gain, and the curve of C_T
SPINDLE_ORIGIN, SPINDLE_ALONG, SPINDLE_OUT, SPINDLE_SIDE, SPINDLE_BELOW, SPINDLE_ABOVE = 0, 1, 2, 3, 4, 5
SPINDLE_ROWS = 6
# of a station its point and t, along, out, side
STATION_POINT, STATION_ALONG, STATION_OUT, STATION_SIDE, STATION_ROWS = 0, 1, 2, 3, 4
# of a place on a root curve: see `loft_plan`
PLACE_ROWS = 2
# of a muscle joint its frame
FRAME_POINT, FRAME_ALONG, FRAME_OUT, FRAME_SIDE, FRAME_ROWS = 0, 1, 2, 3, 4
# of a joint ``I − M``
JOINT_ROWS = 3

# columns of what a root curve names: joints as in `root_curves`, its shape
CURVE_SHAPE, CURVE_NAMED = 3, 4
# columns of what a muscle joint names: the joint that carries it, its place, its muscle
JOINT_CARRIER, JOINT_PLACE, JOINT_MUSCLE, JOINT_NAMED = 0, 1, 2, 3

NO_STATION = 0xFFFFFFFF
"""In place of the station below a vertex, where the muscle is straight."""
_FARTHEST = float(np.finfo(np.float32).max)


class DevicePlan(NamedTuple):
    """Constants of one character.

    Attributes:
        told: Counts, strides and where arrays begin, by the names that shaders know them by.
        rounding: Of the muscles' paths.
        names, numbers: Of the muscles.
        skin_names, skin_numbers: Of the skin.
        place_names, place_numbers: Of what has a normal.
        turning: Whether the rotation of each joint of the skeleton is needed, (joints,).
        entry_count: How many muscles lie below all vertices together.
    """

    told: dict[str, int]
    rounding: float
    names: npt.NDArray[np.uint32]
    numbers: npt.NDArray[np.float32]
    skin_names: npt.NDArray[np.uint32]
    skin_numbers: npt.NDArray[np.float32]
    place_names: npt.NDArray[np.uint32]
    place_numbers: npt.NDArray[np.float32]
    turning: npt.NDArray[np.bool_]
    entry_count: int

    @property
    def uniform(self) -> bytes:
        """``told`` and ``rounding`` as shaders read them."""
        told = np.array(list(self.told.values()), np.uint32).tobytes()
        told += np.array([self.rounding], np.float32).tobytes()
        return told + bytes(-len(told) % 16)

    @property
    def arrays(self) -> dict[str, npt.NDArray[np.uint32] | npt.NDArray[np.float32]]:
        """What is uploaded, by its name."""
        return {
            "names": self.names,
            "numbers": self.numbers,
            "skin_names": self.skin_names,
            "skin_numbers": self.skin_numbers,
            "place_names": self.place_names,
            "place_numbers": self.place_numbers,
        }


def device_plan(program: VertexProgram) -> DevicePlan:
    """The constants of a program's character."""
    body, joint_count = program.body, program.joint_count
    spindles = spindle_arrays(body.muscles, joint_count)
    lofts = None if body.lofts is None else body.lofts.lofts
    turning = spindles.turning[:joint_count].copy()
    if lofts is not None:
        turning |= lofts.standing.turning
    names, numbers = Packed(np.uint32), Packed(np.float32)
    _add_spindles(spindles, names, numbers)
    found = _add_lofts(lofts, names, numbers)
    skin_names, skin_numbers = _skin(program, spindles)
    place_names, place_numbers = _places(program)
    counts = {
        "joint_count": joint_count,
        "spindle_count": program.spindle_count,
        "scapula_count": len(spindles.scapula_joints),
        "read_count": len(spindles.read),
        "station_count": len(spindles.named),
        **found,
        "vertex_count": len(program.points),
        "worn_count": int(np.count_nonzero(np.diff(program.worn.starts))),
        "place_count": len(program.places.vertices),
    }
    told = {
        "payload_stride": payload_type(joint_count, program.muscle_count).itemsize // 4,
        **counts,
        **_posed_layout(counts, len(spindles.joints), spindles.line_count),
    }
    for packed in (names, numbers, skin_names, skin_numbers, place_names, place_numbers):
        told |= packed.starts
    return DevicePlan(
        told=told,
        rounding=spindles.rounding,
        names=names.array,
        numbers=numbers.array,
        skin_names=skin_names.array,
        skin_numbers=skin_numbers.array,
        place_names=place_names.array,
        place_numbers=place_numbers.array,
        turning=turning,
        entry_count=len(program.sliding.muscles),
    )


def _posed_layout(counts: dict[str, int], node_count: int, line_count: int) -> dict[str, int]:
    """Where in an instance's rows of four numbers what is posed lies, and how many rows these are."""
    rows = {
        "at_scapulae": JOINT_ROWS * counts["scapula_count"],
        "at_nodes": NODE_ROWS * node_count,
        "at_spindles": SPINDLE_ROWS * counts["spindle_count"],
        "at_stations": STATION_ROWS * STATIONS * line_count,
        "at_places": PLACE_ROWS * counts["found_count"] * counts["places_per_muscle"],
        "at_frames": FRAME_ROWS * counts["muscle_joint_count"],
        "at_muscle_joints": JOINT_ROWS * counts["muscle_joint_count"],
    }
    ends = np.cumsum([0, *rows.values()]).tolist()
    return {**dict(zip(rows, ends[:-1], strict=True)), "posed_stride": ends[-1]}


def _add_spindles(spindles: SpindleArrays, names: Packed, numbers: Packed) -> None:
    names.add("read_muscles", spindles.read)
    names.add("node_starts", spindles.starts)
    names.add("node_joints", spindles.joints)
    names.add("station_named", spindles.named)
    names.add("scapula_joints", spindles.scapula_joints)
    numbers.add("node_points", spindles.points)
    numbers.add("muscle_constants", spindles.constants)
    numbers.add("station_kept", spindles.kept)
    numbers.add("scapula_vectors", spindles.scapula_vectors)


def _add_lofts(lofts: Lofts | None, names: Packed, numbers: Packed) -> dict[str, int]:
    """Muscles found in the skin, and how many of them and of what belongs to them there are."""
    if lofts is None:
        for name in ("curve_named", "joint_named"):
            names.add(name, np.zeros(0))
        for name in ("curve_kept", "found_gains", "knots", "pieces", "of_shapes", "of_places", "of_joints"):
            numbers.add(name, np.zeros(0))
        return dict.fromkeys(("found_count", "places_per_muscle", "border_count", "muscle_joint_count"), 0)
    curves, standing = lofts.curves.plan, lofts.standing
    # a shader need not know of infinity
    knots = np.minimum(standing.knots, _FARTHEST)
    joints = np.column_stack([standing.carriers, standing.rows, standing.muscles])
    names.add("curve_named", np.column_stack([curves.joints, curves.shapes]))
    names.add("joint_named", joints)
    numbers.add("curve_kept", curves.kept)
    numbers.add("found_gains", standing.of_muscles[:, GAIN])
    numbers.add("knots", knots)
    numbers.add("pieces", standing.pieces)
    numbers.add("of_shapes", standing.of_shapes)
    numbers.add("of_places", standing.of_places)
    numbers.add("of_joints", standing.of_joints)
    return {
        "found_count": len(lofts.muscles),
        "places_per_muscle": standing.of_places.shape[1],
        "border_count": knots.shape[1],
        "muscle_joint_count": len(standing.rows),
    }


def _skin(program: VertexProgram, spindles: SpindleArrays) -> tuple[Packed, Packed]:
    weights, sliding, worn = program.weights, program.sliding, program.worn
    names, numbers = Packed(np.uint32), Packed(np.float32)
    names.add("weight_starts", weights.starts)
    names.add("weight_joints", weights.joints)
    names.add("sliding_starts", sliding.starts)
    names.add("sliding_muscles", sliding.muscles)
    station = sliding.lines.astype(np.int64) * STATIONS + sliding.stations
    names.add("sliding_stations", np.where(sliding.lines >= 0, station, NO_STATION))
    names.add("worn", np.flatnonzero(np.diff(worn.starts)))
    names.add("worn_starts", worn.starts)
    names.add("worn_vertices", worn.vertices)
    numbers.add("bind_points", program.points)
    numbers.add("weights", weights.weights)
    numbers.add("sliding_shares", sliding.shares)
    numbers.add("sliding_kept", sliding.kept)
    numbers.add("sweeps", spindles.sweeps)
    numbers.add("worn_parts", worn.parts)
    return names, numbers


def _places(program: VertexProgram) -> tuple[Packed, Packed]:
    places, names, numbers = program.places, Packed(np.uint32), Packed(np.float32)
    names.add("place_vertices", places.vertices)
    names.add("pair_starts", places.starts)
    names.add("pairs", places.pairs)
    names.add("neighbours", places.neighbours)
    numbers.add("locals", places.local)
    numbers.add("authored", places.authored)
    return names, numbers
