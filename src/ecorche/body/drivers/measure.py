"""How far driven muscle joints are from the muscles, at the skin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base import rotations, transforms
from ecorche.body.as_joints import JointedCharacter, skinned_as
from ecorche.body.drivers.table import DriverTable
from ecorche.body.joint_error import least_move, muscled_points
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion, held
from ecorche.skin.linear import LinearSkinning

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DriverError:
    """Distances at the body's skin over poses [m]: root mean square and largest over what muscles move.

    Attributes:
        rms, largest: Of the driven skin from the muscles' own.
        of_drivers: Root mean square and largest of the driven skin from that of the undriven joints: the
            table's own part.
        displaced: Of what the muscles do.
    """

    rms: float
    largest: float
    of_drivers: tuple[float, float]
    displaced: tuple[float, float]

    def __str__(self) -> str:
        return (
            f"{1e3 * self.rms:.2f} mm rms, {1e3 * self.largest:.1f} mm at most; of that the table's part"
            f" {1e3 * self.of_drivers[0]:.2f} mm rms, {1e3 * self.of_drivers[1]:.1f} mm at most; the muscles"
            f" do {1e3 * self.displaced[0]:.2f} mm rms, {1e3 * self.displaced[1]:.1f} mm at most"
        )


def driver_error(jointed: JointedCharacter, table: DriverTable, poses: Floats) -> DriverError:
    """The error of a table over poses that are held, local matrices (poses, joints, 4, 4)."""
    own, skin = jointed.body.character.skeleton, jointed.skin
    mesh = jointed.character.meshes[skin]
    assert mesh.weights is not None
    skinning = LinearSkinning(mesh.mesh.points, mesh.weights)
    rows = []
    for local in poses:
        active = jointed.activation(held(own, local))[0]
        plain, full = (points[skin] for points in muscled_points(jointed, local, active))
        joints = skinning.apply(skinned_as(mesh, jointed.difference(local, active)))
        driven = skinning.apply(skinned_as(mesh, driven_difference(jointed, table, local)))
        pairs = ((full, plain), (driven, full), (driven, joints))
        rows.append([np.linalg.norm(a.astype(np.float64) - b, axis=1) for a, b in pairs])
    displaced, apart, part = np.moveaxis(np.array(rows), 1, 0)
    touched = displaced.max(axis=0) > least_move(jointed)
    rms = [float(np.sqrt(np.mean(d[:, touched] ** 2))) for d in (apart, part, displaced)]
    return DriverError(
        rms[0], float(apart.max()), (rms[1], float(part.max())), (rms[2], float(displaced.max()))
    )


def driven_difference(jointed: JointedCharacter, table: DriverTable, local: Floats) -> Floats:
    """``M − I`` of all joints, (J + K, 4, 4), with the muscle joints as a table drives them."""
    own = jointed.body.character.skeleton
    whole = np.concatenate([local, table.muscle_local(own, local)])
    return difference_from_bind(jointed.character.skeleton, whole)


def half_and_half(one: Motion, other: Motion, count: int) -> Floats:
    """Poses halfway between two clips, as a blend tree makes them: local matrices (count, joints, 4, 4)."""
    chosen = [m.local[np.linspace(0, m.frame_count - 1, count).astype(np.int64)] for m in (one, other)]
    (t0, q0, s0), (t1, q1, s1) = (transforms.decompose(local) for local in chosen)
    turn = rotations.slerp_xyzw(q0, q1, np.full(q0.shape[:-1], 0.5))
    return transforms.compose(0.5 * (t0 + t1), turn, 0.5 * (s0 + s1))
