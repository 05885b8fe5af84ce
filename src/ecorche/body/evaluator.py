"""Many instances of one body at once: poses and activations in, positions and normals out.

Instances are evaluated by sixteens, side by side (`instance_skin`), and the few that are left over one after
another, their vertices side by side. Both ways give the same bits, which are those of `evaluate`.
"""

from __future__ import annotations

from itertools import pairwise
from threading import Lock

import numpy as np
import numpy.typing as npt
from numba import get_num_threads

from ecorche.base.lanes import WIDTH, rows_of_lanes
from ecorche.body.budget import muscle_lift
from ecorche.body.evaluate import Pose, posed_points
from ecorche.body.instance_evaluator import require_output
from ecorche.body.instance_joints import InstanceJoints
from ecorche.body.instance_spindles import InstanceSpindles
from ecorche.body.vertex_program import VertexProgram
from ecorche.errors import EcorcheError
from ecorche.skin.hybrid import HybridSkinning
from ecorche.skin.instance_normals import shade_instances
from ecorche.skin.instance_skin import InstanceSkin, skin_instances, tile_work, wear_instances

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]

FEW = 4
"""Up to so many instances are faster one after another."""

_NOTHING, _NONE_SHOWN = rows_of_lanes((1,)), np.zeros(0, np.bool_)


class Evaluator:
    """A body ready to be evaluated as many instances, frame after frame, without fresh memory.

    Threads may share it, but wait for each other: what is kept between frames is one's at a time.

    Args:
        program: The body's vertex program.

    Attributes:
        program: As given.
    """

    def __init__(self, program: VertexProgram) -> None:
        self.program, self._body, self._one_at_a_time = program, program.body, Lock()
        self._joints = InstanceJoints(program)
        self._spindles: InstanceSpindles | None = None
        if program.body.muscles is not None:
            lift = muscle_lift(program)[: program.spindle_count]
            self._spindles = InstanceSpindles(program.body.muscles, lift)
        self._skin = _instance_skin(program, self._spindles)
        self._worn = np.flatnonzero(np.diff(program.worn.starts)).astype(np.int32)
        # vertices that have normals, where some have none
        shaded = np.array([mesh.mesh.subdivision == "none" for mesh in program.body.character.meshes])
        self._shaded = None if shaded.all() else np.repeat(shaded, np.diff(program.borders))
        vertices = len(program.points)
        self._at = rows_of_lanes((3 * vertices,))
        self._deltas = rows_of_lanes((3 * vertices if len(self._worn) else 0,))
        self._fine = np.ones(WIDTH if self._spindles is None else self._spindles.most, np.bool_)
        # activation and gain of all instances; of sixteen, those of muscles that the skin follows as joints
        self._told = np.empty((2, 0, program.muscle_count))
        self._of_joints = np.zeros((2, WIDTH, program.muscle_count - program.spindle_count))

    def __reduce__(self) -> tuple[type[Evaluator], tuple[VertexProgram]]:
        return Evaluator, (self.program,)  # what is kept between frames stays here

    @property
    def kept_bytes(self) -> int:
        """Memory that stays from frame to frame, whatever the number of instances."""
        posed = self._joints.kept_bytes + (0 if self._spindles is None else self._spindles.kept_bytes)
        arrays = (*self._skin, *self.program.places, self._at, self._deltas)
        return posed + sum(array.nbytes for array in arrays)

    def apply(
        self,
        difference: Floats,
        activation: npt.ArrayLike | None = None,
        *,
        points: Points,
        normals: Points | None = None,
        gain: npt.ArrayLike | None = None,
        muscles: bool = True,
    ) -> None:
        """Positions, and normals where they are asked for, of n instances.

        Args:
            difference: ``M − I`` of the skeleton's joints, (n, joints, 4, 4).
            activation: Of all muscles, 0 to 1, (n, muscles); None is at rest.
            points: Where to write positions [m], float32 (n, vertices, 3), all meshes one after another.
            normals: Where to write unit normals, float32 (n, places, 3).
            gain: How much of each muscle is shown, 0 to 1, (n, muscles) or what extends to it; None is all.
            muscles: False leaves muscles out: plain skinning.
        """
        program, count = self.program, len(difference)
        moved = np.ascontiguousarray(difference, np.float64)
        shape = (count, program.joint_count, 4, 4)
        if moved.shape != shape or count == 0:
            raise EcorcheError(
                f"matrices of shape {moved.shape} are no instances of {program.joint_count} joints",
                remedy=f"Give shape (instances, {program.joint_count}, 4, 4), one instance or more",
            )
        if not np.isfinite(moved).all():
            instance = int(np.argmin(np.isfinite(moved).reshape(count, -1).all(axis=1)))
            raise EcorcheError(
                f"the joints of instance {instance} are not all numbers", remedy="Check its pose"
            )
        require_output(points, (count, len(program.points), 3), "positions")
        if normals is not None:
            require_output(normals, (count, len(program.places.vertices), 3), "normals")
        with self._one_at_a_time:
            self._apply(moved, activation, points, normals, gain, muscles)

    def _apply(
        self,
        moved: Floats,
        activation: npt.ArrayLike | None,
        points: Points,
        normals: Points | None,
        gain: npt.ArrayLike | None,
        muscles: bool,
    ) -> None:
        program, count = self.program, len(moved)
        if self._told.shape[1] != count:
            self._told = np.empty((2, count, program.muscle_count))
        active = program.of_muscles(activation, 0.0, count, "activations", self._told[0])
        shown = program.of_muscles(gain if muscles else 0.0, 1.0, count, "gains", self._told[1])
        if gain is not None and not ((shown >= 0.0) & (shown <= 1.0)).all():
            raise EcorcheError(
                "a gain is not between 0 and 1", remedy="Give 0 for a muscle that is not shown"
            )
        # what is left over by sixteens, where it is few; muscles that are shown in part need lanes
        alone = count % WIDTH if gain is None and count % WIDTH <= FEW else 0
        together, step = count - alone, WIDTH if self._spindles is None else self._spindles.most
        for first in range(0, together, step):
            some = slice(first, min(first + step, together))
            self._pose(moved[some], active[some], shown[some])
            for number, at in enumerate(range(some.start, some.stop, WIDTH)):
                part = slice(at, min(at + WIDTH, together))
                flat = points[part].reshape(-1, points.shape[1] * 3)
                self._write(number, moved[part], active[part], shown[part], flat, laid=normals is not None)
                if normals is not None:
                    flat = normals[part].reshape(-1, normals.shape[1] * 3)
                    shade_instances(program.places, self._at, flat)
        for one in range(together, count):
            self._write_one(moved[one], active[one], muscles, points[one])
            if normals is not None:
                self._shade_one(points[one], normals[one])

    def _write_one(self, moved: Floats, active: Floats, muscles: bool, out: Points) -> None:
        """One instance, its vertices side by side: `evaluate` without fresh memory."""
        body, program = self._body, self.program
        of_spindles, of_lofts, _ = body.activations(active)
        views = [out[first:last] for first, last in pairwise(program.borders)]
        skinnings = body.skinnings if muscles or body.limb_skinnings is None else body.limb_skinnings
        for mesh, skinning, view in zip(body.character.meshes, skinnings, views, strict=True):
            if skinning is None:
                view[...] = mesh.mesh.points
            elif isinstance(skinning, HybridSkinning):
                skinning.apply_active(moved, of_lofts, out=view)
            else:
                skinning.apply(moved, out=view)
        if muscles and body.muscles is not None:
            for view, slid in zip(
                views, body.muscles.displaced(views, moved, of_spindles, in_place=True), strict=True
            ):
                if slid is not view:
                    view[...] = slid

    def _shade_one(self, points: Points, out: Points) -> None:
        shaded = self._shaded
        self._body.normals.of_all(points if shaded is None else points[shaded], out)

    def _pose(self, moved: Floats, active: Floats, gain: Floats) -> None:
        """Muscles that skin slides over, of some instances."""
        if self._spindles is not None:
            fine = self._fine[: len(moved)]
            fine[:] = True
            self._spindles.pose(moved, active, gain[:, : self.program.spindle_count], fine)
            self._require_fine(fine, moved, active)

    def _write(
        self, number: int, moved: Floats, active: Floats, gain: Floats, out: Points, *, laid: bool
    ) -> None:
        """Positions of up to sixteen instances, the instances side by side; laid out for normals too.

        They are sixteen number ``number`` of those that were posed.
        """
        spindles, count = self._spindles, self.program.spindle_count
        fine = self._fine[: len(moved)]
        fine[:] = True
        joints = self._of_joints[:, : len(moved)]
        joints[0], joints[1] = active[:, count:], gain[:, count:]
        self._joints.pose(moved, joints[0], joints[1], fine)
        self._require_fine(fine, moved, active)
        table, stations, shown = _NOTHING, _NOTHING, _NONE_SHOWN
        if spindles is not None:
            table, stations = spindles.table[number], spindles.stations[number]
            shown = spindles.shown if spindles.shown.any() else _NONE_SHOWN
        worn = len(self._worn) > 0 and len(shown) > 0
        at = self._at if laid or worn else self._at[:0]
        minus = self._joints.minus
        skin_instances(self._skin, minus, table, stations, shown, at, self._deltas, out, get_num_threads())
        if worn:
            of = self.program.worn
            wear_instances(self._worn, of.starts, of.vertices, of.parts, self._deltas, at, out)

    def _require_fine(self, fine: npt.NDArray[np.bool_], moved: Floats, active: Floats) -> None:
        """Say in words why an instance cannot be posed so, where one cannot."""
        if fine.all():
            return
        lane = int(np.argmin(fine))
        posed_points(self._body, Pose(np.zeros(0), activation=active[lane]), moved[lane])
        raise EcorcheError(
            "its muscles cannot be posed so", where=f"instance {lane}", remedy="Check the pose"
        )


def _instance_skin(program: VertexProgram, spindles: InstanceSpindles | None) -> InstanceSkin:
    entries, weights = program.sliding, program.weights
    return InstanceSkin(
        points=np.ascontiguousarray(program.points),
        joint_starts=weights.starts,
        joints=weights.joints,
        weights=weights.weights,
        muscle_starts=entries.starts,
        muscles=entries.muscles,
        stations=entries.stations if spindles is None else spindles.stations_of(entries),
        shares=np.ascontiguousarray(entries.shares),
        kept=np.ascontiguousarray(entries.kept),
        swept=np.zeros(0, np.float32) if spindles is None else spindles.swept,
        work=tile_work(entries.starts),
    )
