"""A MuJoCo model (MJCF) as a musculoskeletal model: `MusculoskeletalModel` answered by the package `mujoco`.

What its coordinates are stands in `mujoco_coordinates`.
Muscles are actuators of the kind muscle on spatial tendons, tendons without any actuator are passive paths.
What muscles can do is MuJoCo's own (`mujoco_muscle`).
Markers are sites that no tendon uses, and those the caller names. Contacts, limits and equality forces are
off. So are springs and dampers in inverse dynamics; what springs of joints and springs and dampers of tendons
do is told apart (`passive_moments`), and dampers of joints are dropped, and told.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_file
from ecorche.biomech.model import (
    LEAST_MASS,
    Body,
    ExternalForce,
    Marker,
    Muscle,
    PassivePath,
    PathPoints,
    checked_pose,
    index_of,
    require_masses,
)
from ecorche.biomech.mujoco_coordinates import MujocoCoordinates
from ecorche.biomech.mujoco_muscle import MUSCLE_BIAS, MujocoMuscles, mujoco_muscles
from ecorche.biomech.muscle_state import MuscleState
from ecorche.errors import EcorcheError, MissingPackageError, ReadError

Floats = npt.NDArray[np.float64]
Placed = Mapping[str, tuple[str, tuple[float, float, float]]]
"""Body and place on it [m], by the name of a marker."""

OFF = (
    "CONSTRAINT",
    "EQUALITY",
    "FRICTIONLOSS",
    "LIMIT",
    "CONTACT",
    "PASSIVE",
    "SPRING",
    "DAMPER",
    "ACTUATION",
)
BALLAST = 3.0
"""Radius of gyration [m] from which a body's inertia is not its own, but there to steady a simulation."""
STEP = 1e-5
"""Of the central difference, in seconds along the motion, that gives how the speeds' map changes."""


class MujocoModel:
    """A model that MuJoCo compiled.

    Args:
        source: An MJCF file, or a compiled ``mujoco.MjModel``.
        markers: Markers to add, or to take instead of sites of the same name.
    """

    def __init__(self, source: Path | str | Any, markers: Placed | None = None) -> None:
        mujoco = mujoco_package()
        notes: list[str] = []
        if isinstance(source, (str, Path)):
            self._m = _compiled(Path(source), notes)
            self.name = Path(source).name
        else:
            self._m = copy.copy(source)
            self.name = "MuJoCo model"
        self._mujoco = mujoco
        bits = mujoco.mjtDisableBit.__members__
        for name in OFF:
            if f"mjDSBL_{name}" in bits:
                self._m.opt.disableflags |= int(bits[f"mjDSBL_{name}"])
        notes += self._without_ballast()
        if self._m.dof_damping.any():
            notes.append(
                "Dampers of joints, which models have to keep a simulation quiet, are left out of what"
                " muscles must overcome; springs of joints and tendons count."
            )
            self._m.dof_damping[:] = 0.0
        self._m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self._d = mujoco.MjData(self._m)
        self._posed: bytes | None = None
        self._joints = MujocoCoordinates(self._m, mujoco, self.name)
        self.coordinates = self._joints.coordinates
        self.root = self._joints.root
        self.gravity = _triple(self._m.opt.gravity)
        self.bodies = tuple(
            Body(
                self._called("BODY", b),
                float(self._m.body_mass[b]),
                _triple(self._m.body_ipos[b]),
                self._called("BODY", int(self._m.body_parentid[b])) if self._m.body_parentid[b] else None,
            )
            for b in range(1, self._m.nbody)
        )
        self.markers = self._find_markers(markers or {})
        self._actuators, self.muscles = self._find_muscles(notes)
        self._muscle_tendons = np.array(self._m.actuator_trnid[self._actuators, 0], np.int64)
        self._passive_tendons = self._find_passive()
        self.notes = tuple(notes)

    def __repr__(self) -> str:
        return f"MujocoModel({self.name!r}, {len(self.coordinates)} coordinates, {len(self.muscles)} muscles)"

    # ---- what it is made of -------------------------------------------------------------------------------

    def _called(self, kind: str, number: int) -> str:
        name = self._mujoco.mj_id2name(self._m, getattr(self._mujoco.mjtObj, f"mjOBJ_{kind}"), number)
        return str(name or f"{kind.lower()}_{number}")

    def _without_ballast(self) -> list[str]:
        """Take away inertias that no body of its mass can have, as of 1 kg m² for a gram, and say so."""
        m = self._m
        heavy = m.body_inertia.max(axis=1) > np.maximum(m.body_mass, LEAST_MASS) * BALLAST**2
        numbers = np.flatnonzero(heavy).tolist()
        if not numbers:
            return []
        m.body_inertia[numbers] = 0.0
        return [
            f"{len(numbers)} bodies have inertias that their masses cannot have, such as"
            f" {self._called('BODY', numbers[0])!r}: in joint moments they count as points."
        ]

    def _find_markers(self, given: Placed) -> tuple[Marker, ...]:
        m, wraps = self._m, self._mujoco.mjtWrap
        used = set(m.wrap_objid[m.wrap_type == int(wraps.mjWRAP_SITE)].tolist())
        round_shapes = np.isin(m.wrap_type, [int(wraps.mjWRAP_SPHERE), int(wraps.mjWRAP_CYLINDER)])
        used |= set(np.rint(m.wrap_prm[round_shapes]).astype(int).tolist())  # on which side to wrap
        found = []
        for site in range(m.nsite):
            name = self._called("SITE", site)
            if site not in used and name not in given and m.site_bodyid[site] > 0:
                body = self._called("BODY", int(m.site_bodyid[site]))
                found.append(Marker(name, body, _triple(m.site_pos[site])))
        names = [body.name for body in self.bodies]
        for name, (body, place) in given.items():
            index_of(body, names, "body", f"{self.name}, marker {name!r}")
            found.append(Marker(name, body, _triple(place)))
        return tuple(found)

    def _find_muscles(self, notes: list[str]) -> tuple[npt.NDArray[np.int64], tuple[Muscle, ...]]:
        m, mujoco = self._m, self._mujoco
        numbers, muscles = [], []
        for a in range(m.nu):
            name, target = self._called("ACTUATOR", a), int(m.actuator_trnid[a, 0])
            if m.actuator_gaintype[a] != int(mujoco.mjtGain.mjGAIN_MUSCLE):
                notes.append(f"Actuator {name!r} is no muscle: it is left out.")
            elif m.actuator_trntype[a] != int(mujoco.mjtTrn.mjTRN_TENDON) or self._is_fixed(target):
                notes.append(f"Muscle {name!r} is on no spatial tendon: it is left out.")
            elif m.actuator_gear[a, 0] <= 0.0:
                notes.append(f"Muscle {name!r} has a gear of {m.actuator_gear[a, 0]:g}: it is left out.")
            else:
                numbers.append(a)
                muscles.append(self._muscle(a, name))
                if m.actuator_biastype[a] not in (MUSCLE_BIAS, int(mujoco.mjtBias.mjBIAS_NONE)):
                    notes.append(f"Muscle {name!r} has a passive force that is no muscle's: it is left out.")
        return np.array(numbers, np.int64), tuple(muscles)

    def _muscle(self, a: int, name: str) -> Muscle:
        """MuJoCo's muscle has its lengths from the actuator's range: both ends of it in fibre lengths.

        What is left of the path is called its tendon, of which MuJoCo knows nothing: it may be below 0.
        """
        m, gear = self._m, float(self._m.actuator_gear[a, 0])
        low, high, force, scale, _, _, velocity = m.actuator_gainprm[a, :7].tolist()
        first, last = m.actuator_lengthrange[a].tolist()
        if not (high > low and last > first):
            raise ReadError(
                f"muscle {name!r} has no range of lengths",
                where=self.name,
                remedy="Set its lengthrange in the file, or limit the joints it crosses",
            )
        fibre = (last - first) / (high - low)
        strongest = force if force >= 0.0 else scale / float(m.actuator_acc0[a])
        return Muscle(name, strongest * gear, fibre / gear, (first - low * fibre) / gear, 0.0, velocity)

    def _is_fixed(self, tendon: int) -> bool:
        """Whether it is a sum of joint angles, and no path."""
        return bool(self._m.wrap_type[self._m.tendon_adr[tendon]] == int(self._mujoco.mjtWrap.mjWRAP_JOINT))

    def _find_passive(self) -> npt.NDArray[np.int64]:
        m = self._m
        on = m.actuator_trntype == int(self._mujoco.mjtTrn.mjTRN_TENDON)
        pulled = set(m.actuator_trnid[on, 0].tolist())
        return np.array([t for t in range(m.ntendon) if t not in pulled and not self._is_fixed(t)], np.int64)

    @cached_property
    def passive_paths(self) -> tuple[PassivePath, ...]:
        """Tendons without a muscle."""
        return tuple(
            PassivePath(self._called("TENDON", t), "tendon", float(self._m.tendon_lengthspring[t, 1]))
            for t in self._passive_tendons.tolist()
        )

    # ---- one pose -----------------------------------------------------------------------------------------

    def defaults(self) -> Floats:
        """The reference pose, (coordinates,)."""
        return np.array([c.default for c in self.coordinates])

    def _pose(self, q: npt.ArrayLike) -> Floats:
        """Bring MuJoCo to a pose, tendons included, unless it stands there already."""
        values = checked_pose(self, q)
        if values.tobytes() != self._posed:
            self._d.qpos[:] = self._joints.qpos(values)
            self._mujoco.mj_kinematics(self._m, self._d)
            self._mujoco.mj_comPos(self._m, self._d)
            self._mujoco.mj_tendon(self._m, self._d)
            self._posed = values.tobytes()
        return values

    @cached_property
    def _marker_bodies(self) -> npt.NDArray[np.int64]:
        names = [body.name for body in self.bodies]
        return np.array([names.index(marker.body) + 1 for marker in self.markers], np.int64)

    @cached_property
    def _marker_places(self) -> Floats:
        return np.array([marker.place for marker in self.markers], np.float64).reshape(-1, 3)

    def marker_positions(self, q: Floats) -> Floats:
        """Where markers are [m], (markers, 3)."""
        self._pose(q)
        turns = self._d.xmat[self._marker_bodies].reshape(-1, 3, 3)
        return np.asarray(
            self._d.xpos[self._marker_bodies] + np.einsum("mij,mj->mi", turns, self._marker_places)
        )

    def marker_jacobian(self, q: Floats) -> Floats:
        """Derivative of the marker positions, (markers, 3, coordinates)."""
        at = self.marker_positions(q)
        found = np.zeros((len(at), 3, self._m.nv))
        for k, body in enumerate(self._marker_bodies.tolist()):
            self._mujoco.mj_jac(self._m, self._d, found[k], None, at[k], body)
        by_coordinate = found.reshape(-1, self._m.nv) @ self._joints.speeds(np.asarray(q, np.float64))
        return np.asarray(by_coordinate.reshape(len(at), 3, -1))

    def _lengths(self, q: Floats, tendons: npt.NDArray[np.int64]) -> Floats:
        self._pose(q)
        return np.array(self._d.ten_length[tendons])

    def _arms(self, q: Floats, tendons: npt.NDArray[np.int64]) -> Floats:
        values = self._pose(q)
        m, d = self._m, self._d
        if hasattr(m, "ten_J_rowadr"):
            rates = np.zeros((m.ntendon, m.nv))
            for t in tendons.tolist():
                row = slice(m.ten_J_rowadr[t], m.ten_J_rowadr[t] + m.ten_J_rownnz[t])
                rates[t, m.ten_J_colind[row]] = d.ten_J[row]
        else:  # before MuJoCo 4 a dense Jacobian is one
            rates = d.ten_J.reshape(m.ntendon, m.nv)
        return np.asarray(-rates[tendons] @ self._joints.speeds(values))

    def _paths(
        self, q: Floats, tendons: npt.NDArray[np.int64], names: Sequence[str]
    ) -> dict[str, PathPoints]:
        self._pose(q)
        m, d, found = self._m, self._d, {}
        points, objects = d.wrap_xpos.reshape(-1, 3), d.wrap_obj.reshape(-1)
        for name, t in zip(names, tendons.tolist(), strict=True):
            first, wraps = int(m.tendon_adr[t]), int(m.tendon_num[t])
            kinds = m.wrap_type[first : first + wraps]
            if (kinds == int(self._mujoco.mjtWrap.mjWRAP_PULLEY)).any():
                raise EcorcheError(
                    f"the path of {name!r} branches at a pulley",
                    where=self.name,
                    remedy="Ask for its length and moment arms, or write it as several tendons",
                )
            row = slice(int(d.ten_wrapadr[t]), int(d.ten_wrapadr[t] + d.ten_wrapnum[t]))
            sites = iter(
                m.wrap_objid[first : first + wraps][kinds == int(self._mujoco.mjtWrap.mjWRAP_SITE)].tolist()
            )
            bodies = [
                int(m.site_bodyid[next(sites)]) if thing < 0 else int(m.geom_bodyid[thing])
                for thing in objects[row].tolist()
            ]
            found[name] = PathPoints(
                np.array(points[row]), tuple(self._called("BODY", body) for body in bodies)
            )
        return found

    def muscle_lengths(self, q: Floats) -> Floats:
        """Lengths of muscles with their tendons [m], (muscles,)."""
        return self._lengths(q, self._muscle_tendons)

    def moment_arms(self, q: Floats) -> Floats:
        """Of muscles about coordinates [m or 1], (muscles, coordinates)."""
        return self._arms(q, self._muscle_tendons)

    @cached_property
    def _own_muscles(self) -> MujocoMuscles:
        return mujoco_muscles(self._m, self._actuators)

    def muscle_state(self, lengths: Floats, speeds: Floats) -> MuscleState:
        """What muscles can do by MuJoCo's curves, at lengths and speeds of paths [m, m/s], (..., muscles)."""
        return self._own_muscles.state(lengths, speeds)

    def muscle_paths(self, q: Floats) -> dict[str, PathPoints]:
        """Where muscles run, by name."""
        return self._paths(q, self._muscle_tendons, [muscle.name for muscle in self.muscles])

    def passive_lengths(self, q: Floats) -> Floats:
        """Lengths of tendons without a muscle [m], (passive paths,)."""
        return self._lengths(q, self._passive_tendons)

    def passive_moment_arms(self, q: Floats) -> Floats:
        """Of passive paths about coordinates [m or 1], (passive paths, coordinates)."""
        return self._arms(q, self._passive_tendons)

    def passive_moments(self, q: Floats, qd: Floats) -> Floats:
        """What springs and dampers of tendons and springs of joints do [N m or N], (coordinates,).

        MuJoCo's limits are constraints without a force of their own; they stay off.
        """
        values, rates = checked_pose(self, q), checked_pose(self, qd, "speed")
        speeds, m, d = self._joints.speeds(values), self._m, self._d
        bits, flags = self._mujoco.mjtDisableBit.__members__, int(m.opt.disableflags)
        for name in ("PASSIVE", "SPRING", "DAMPER"):  # one bit before MuJoCo 3.4, then two
            if f"mjDSBL_{name}" in bits:
                m.opt.disableflags &= ~int(bits[f"mjDSBL_{name}"])
        d.qpos[:], d.qvel[:] = self._joints.qpos(values), speeds @ rates
        self._posed = None  # velocities are now those of this call
        self._mujoco.mj_fwdPosition(m, d)
        self._mujoco.mj_fwdVelocity(m, d)
        m.opt.disableflags, d.qvel[:] = flags, 0.0
        return np.asarray((d.qfrc_spring + d.qfrc_damper) @ speeds)

    def passive_path_points(self, q: Floats) -> dict[str, PathPoints]:
        """Where tendons without a muscle run, by name."""
        return self._paths(q, self._passive_tendons, [path.name for path in self.passive_paths])

    def body_transforms(self, q: Floats) -> Floats:
        """``ground_from_body`` of each body, (bodies, 4, 4)."""
        self._pose(q)
        found = np.tile(np.eye(4), (len(self.bodies), 1, 1))
        found[:, :3, :3] = self._d.xmat[1:].reshape(-1, 3, 3)
        found[:, :3, 3] = self._d.xpos[1:]
        return found

    def inverse_dynamics(
        self, q: Floats, qd: Floats, qdd: Floats, external_forces: Sequence[ExternalForce] = ()
    ) -> Floats:
        """Forces of the coordinates [N m or N], (coordinates,); see `MusculoskeletalModel`."""
        require_masses(self)
        values = checked_pose(self, q)
        rates, changes = checked_pose(self, qd, "speed"), checked_pose(self, qdd, "acceleration")
        speeds = self._joints.speeds(values)
        turning = (
            self._joints.speeds(values + STEP * rates) - self._joints.speeds(values - STEP * rates)
        ) / (2.0 * STEP)
        d = self._d
        d.qpos[:], d.qvel[:] = self._joints.qpos(values), speeds @ rates
        d.qacc[:] = speeds @ changes + turning @ rates
        self._posed = None  # velocities and more are now those of this call
        self._mujoco.mj_inverse(self._m, d)
        needed = np.array(d.qfrc_inverse)
        names = [body.name for body in self.bodies]
        for one in external_forces:
            body = index_of(one.body, names, "body", self.name) + 1
            given = np.zeros(self._m.nv)
            self._mujoco.mj_applyFT(self._m, d, one.force, one.moment, one.point, body, given)
            needed -= given
        d.qvel[:] = d.qacc[:] = 0.0
        return np.asarray(needed @ speeds)


def _compiled(path: Path, notes: list[str]) -> Any:
    mujoco = mujoco_package()
    require_file(path)
    before = mujoco.get_mju_user_warning()  # it would print, and write a file into the current folder
    mujoco.set_mju_user_warning(lambda said: notes.append(f"MuJoCo: {' '.join(said.split())}"))
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, TypeError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split())
        raise ReadError(
            f"MuJoCo does not accept it ({reason})", where=path, remedy="Mend the model and try again"
        ) from error
    finally:
        mujoco.set_mju_user_warning(before)


def mujoco_package() -> Any:
    """The package, or how to get it."""
    try:
        import mujoco
    except ImportError:
        raise MissingPackageError(
            "MuJoCo models need the package mujoco", remedy='Run: pip install "ecorche[mujoco]"'
        ) from None
    return mujoco


def _triple(values: npt.ArrayLike) -> tuple[float, float, float]:
    x, y, z = np.asarray(values, np.float64).tolist()
    return x, y, z
