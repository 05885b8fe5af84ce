"""The coordinates of a MuJoCo model: its position and speed from plain numbers, one a degree of freedom.

Hinges and slides are coordinates. A ball joint gives three, a rotation vector [rad] from its reference
orientation, named ``joint_rx``, ``_ry``, ``_rz``; a free joint has ``_tx`` to ``_tz`` before. A rotation
vector is singular at a whole turn: a body that turns round more than once needs hinges instead.
Joints tied to another by a ``<joint>`` equality follow it by their polynomial and have no coordinate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import multiply_xyzw, xyzw_from_rotation_vector
from ecorche.biomech.model import Coordinate, Unit
from ecorche.errors import ReadError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Follower:
    """A joint that follows another, or stays: where it is in qpos and qvel, and by which polynomial."""

    qpos: int
    dof: int
    leader_qpos: int  # -1: stays
    leader_dof: int
    coefficients: tuple[float, ...]


class MujocoCoordinates:
    """The map from coordinates to MuJoCo's ``qpos`` and ``qvel`` of one compiled model."""

    def __init__(self, model: Any, mujoco: Any, where: str) -> None:
        self._m, self._mujoco = model, mujoco
        self._scalar = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        self._followers = tuple(_followers(model, mujoco, where))
        self._entries = tuple(self._joint_entries())
        self.coordinates = tuple(coordinate for coordinate, *_ in self._entries)
        self.root = self._root()

    def _shifts(self, joint: int) -> int:
        """How many of a joint's numbers come before its turn."""
        return 3 if self._m.jnt_type[joint] == int(self._mujoco.mjtJoint.mjJNT_FREE) else 0

    def _joint_entries(self) -> Iterator[tuple[Coordinate, int, int, int]]:
        """Each coordinate with its joint, its number in the joint, and the joint's first in qvel."""
        m = self._m
        led = {follower.qpos for follower in self._followers}
        for j in range(m.njnt):
            name, qpos, dof = _joint_name(m, self._mujoco, j), int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
            if m.jnt_type[j] in self._scalar:
                if qpos not in led:
                    unit: Unit = "rad" if m.jnt_type[j] == self._scalar[0] else "m"
                    low, high = m.jnt_range[j].tolist() if m.jnt_limited[j] else (-np.inf, np.inf)
                    yield Coordinate(name, unit, low, high, float(m.qpos0[qpos]), low == high), j, 0, dof
                continue
            shifts = self._shifts(j)
            for k in range(shifts):
                start = float(m.qpos0[qpos + k])
                yield Coordinate(f"{name}_t{'xyz'[k]}", "m", -np.inf, np.inf, start), j, k, dof
            for k in range(3):
                yield Coordinate(f"{name}_r{'xyz'[k]}", "rad", -np.inf, np.inf, 0.0), j, shifts + k, dof

    def _root(self) -> tuple[str, ...]:
        """Coordinates of the first body on the world that has six."""
        for body in range(1, self._m.nbody):
            names = [c.name for c, j, *_ in self._entries if self._m.jnt_bodyid[j] == body]
            if self._m.body_parentid[body] == 0 and len(names) == 6:
                return tuple(names)
        return ()

    def qpos(self, q: Floats) -> Floats:
        """MuJoCo's own position of a pose, (nq,)."""
        m = self._m
        qpos = np.array(m.qpos0)
        turns: dict[int, Floats] = {}
        for value, (_, j, k, _) in zip(q.tolist(), self._entries, strict=True):
            first = int(m.jnt_qposadr[j])
            shifts = self._shifts(j)
            if m.jnt_type[j] in self._scalar or k < shifts:
                qpos[first + k] = value
            else:
                turns.setdefault(first + shifts, np.zeros(3))[k - shifts] = value
        for first, vector in turns.items():
            reference = m.qpos0[first : first + 4][[1, 2, 3, 0]]
            qpos[first : first + 4] = multiply_xyzw(reference, xyzw_from_rotation_vector(vector))[
                [3, 0, 1, 2]
            ]
        for one in self._followers:
            along = 0.0 if one.leader_qpos < 0 else qpos[one.leader_qpos] - m.qpos0[one.leader_qpos]
            qpos[one.qpos] = m.qpos0[one.qpos] + _value(one.coefficients, float(along))
        return qpos

    def speeds(self, q: Floats) -> Floats:
        """``qvel`` of a rate of each coordinate, (nv, coordinates): turns of balls, and what follows."""
        m = self._m
        qpos, found = self.qpos(q), np.zeros((m.nv, len(q)))
        done = set()
        for column, (_, j, k, dof) in enumerate(self._entries):
            shifts = self._shifts(j)
            if m.jnt_type[j] in self._scalar or k < shifts:
                found[dof + k, column] = 1.0
            elif j not in done:
                done.add(j)
                rows, columns = slice(dof + shifts, dof + shifts + 3), slice(column, column + 3)
                found[rows, columns] = _turn_rates(q[columns])
        for one in self._followers:
            if one.leader_qpos >= 0:
                along = float(qpos[one.leader_qpos] - m.qpos0[one.leader_qpos])
                slope = tuple(k * value for k, value in enumerate(one.coefficients))[1:]
                found[one.dof] = _value(slope, along) * found[one.leader_dof]
        return found


def _value(coefficients: tuple[float, ...], x: float) -> float:
    """Of a polynomial, constant first; plain numbers are far quicker here than arrays of one."""
    value = 0.0
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def _turn_rates(vector: Floats) -> Floats:
    """Angular velocity in the turned frame of a rate of a rotation vector [rad], (3, 3)."""
    x, y, z = vector.tolist()
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = float(np.linalg.norm(vector))
    if angle < 1e-4:  # the next terms are below 1e-17
        return np.asarray(np.eye(3) - cross * (0.5 - angle**2 / 24.0) + cross @ cross * (1.0 / 6.0))
    return np.asarray(
        np.eye(3)
        - cross * ((1.0 - np.cos(angle)) / angle**2)
        + cross @ cross * ((angle - np.sin(angle)) / angle**3)
    )


def _followers(m: Any, mujoco: Any, where: str) -> list[_Follower]:
    """Joints tied to others by equalities, leaders first; other equalities are refused."""
    found: dict[int, _Follower] = {}
    for e in range(m.neq):
        if not m.eq_active0[e]:
            continue
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_EQUALITY, e) or f"number {e}"
        if m.eq_type[e] != int(mujoco.mjtEq.mjEQ_JOINT):
            kind = mujoco.mjtEq(int(m.eq_type[e])).name.removeprefix("mjEQ_").lower()
            raise ReadError(
                f"equality {name!r} is a {kind}, which coordinates cannot follow",
                where=where,
                remedy="Tie joints by <joint> equalities, or make it inactive",
            )
        joint, leader = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        if joint in found:
            raise ReadError(f"two equalities lead the joint of {name!r}", where=where, remedy="Keep one")
        found[joint] = _Follower(
            int(m.jnt_qposadr[joint]),
            int(m.jnt_dofadr[joint]),
            -1 if leader < 0 else int(m.jnt_qposadr[leader]),
            -1 if leader < 0 else int(m.jnt_dofadr[leader]),
            tuple(m.eq_data[e, :5].tolist()) if leader >= 0 else (float(m.eq_data[e, 0]),),
        )
    ordered: list[_Follower] = []
    waiting = dict(found)
    while waiting:
        led = {follower.qpos for follower in waiting.values()}
        ready = [joint for joint, one in waiting.items() if one.leader_qpos not in led]
        if not ready:
            raise ReadError("joints follow each other in a circle", where=where, remedy="Leave one free")
        ordered += [waiting.pop(joint) for joint in ready]
    return ordered


def _joint_name(m: Any, mujoco: Any, number: int) -> str:
    return str(mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_JOINT, number) or f"joint_{number}")
