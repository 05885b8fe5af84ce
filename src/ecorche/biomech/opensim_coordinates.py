"""The coordinates of an OpenSim model: its state from plain numbers, one a coordinate that moves by itself.

A coordinate that a coupler leads (a knee cap) has no number: the coupler's own function puts it in its place,
exactly, where OpenSim would solve for it, and its derivative carries what acts on it to those it follows.
Bounds are held only where the file clamps a coordinate, as OpenSim's own tools do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.biomech.model import Coordinate, Unit
from ecorche.errors import ReadError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Coupler:
    """A coordinate that follows others: numbers among all coordinates, and OpenSim's function."""

    follower: int
    leaders: tuple[int, ...]
    function: Any
    scale: float


class OpensimCoordinates:
    """The map from coordinates to OpenSim's generalised positions and speeds."""

    def __init__(self, opensim: Any, model: Any, state: Any, where: str, notes: list[str]) -> None:
        self._opensim, self._where = opensim, where
        known = [model.getCoordinateSet().get(k) for k in range(model.getCoordinateSet().getSize())]
        self.names = [coordinate.getName() for coordinate in known]
        self._places = self._state_places(known, state)
        self._couplers = self._find_couplers(model)
        led = {coupler.follower for coupler in self._couplers}
        self.free = np.array([k for k in range(len(known)) if k not in led], np.int64)
        self.coordinates = tuple(_coordinate(opensim, known[k], notes) for k in self.free)
        self.root = self._root(known)
        self._require_plain_speeds(model, state)

    def _state_places(self, known: list[Any], state: Any) -> npt.NDArray[np.int64]:
        """The number of each coordinate in the state; a value of its own for each shows it."""
        marks = np.arange(1.0, len(known) + 1.0) / 1024.0
        for coordinate, mark in zip(known, marks.tolist(), strict=True):
            coordinate.setLocked(state, False)
            coordinate.setClamped(state, False)
            coordinate.setValue(state, mark, False)
        values = state.getQ().to_numpy()
        found = [np.flatnonzero(values == mark) for mark in marks]
        if len(values) != len(known) or any(len(place) != 1 for place in found):
            raise ReadError(
                "its state holds more than its coordinates",
                where=self._where,
                remedy="Replace ball and free joints by custom joints of three turns",
            )
        return np.array([place[0] for place in found], np.int64)

    def _find_couplers(self, model: Any) -> tuple[_Coupler, ...]:
        found = []
        constraints = model.getConstraintSet()
        for k in range(constraints.getSize()):
            one = constraints.get(k)
            coupler = self._opensim.CoordinateCouplerConstraint.safeDownCast(one)
            if not one.get_isEnforced():
                continue
            if coupler is None:
                kind = one.getConcreteClassName()
                raise ReadError(
                    f"constraint {one.getName()!r} is a {kind}, which coordinates cannot follow",
                    where=self._where,
                    remedy="Couple coordinates instead, or switch the constraint off",
                )
            leaders = coupler.getIndependentCoordinateNames()
            found.append(
                _Coupler(
                    self.names.index(coupler.getDependentCoordinateName()),
                    tuple(self.names.index(leaders.get(i)) for i in range(leaders.getSize())),
                    coupler.getFunction(),
                    float(
                        self._opensim.PropertyHelper.getValueDouble(coupler.getPropertyByName("scale_factor"))
                    ),
                )
            )
        ordered: list[_Coupler] = []
        while found:
            led = {coupler.follower for coupler in found}
            ready = [coupler for coupler in found if not led & set(coupler.leaders)]
            if not ready:
                raise ReadError(
                    "coordinates follow each other in a circle", where=self._where, remedy="Leave one free"
                )
            ordered += ready
            found = [coupler for coupler in found if coupler not in ready]
        return tuple(ordered)

    def _root(self, known: list[Any]) -> tuple[str, ...]:
        """The six coordinates of a joint on the ground."""
        by_joint: dict[str, list[str]] = {}
        for k in self.free.tolist():
            joint = known[k].getJoint()
            if joint.getParentFrame().findBaseFrame().getName() == "ground":
                by_joint.setdefault(joint.getName(), []).append(self.names[k])
        return next((tuple(names) for names in by_joint.values() if len(names) == 6), ())

    def _require_plain_speeds(self, model: Any, state: Any) -> None:
        """Refuse joints whose speeds are not the rates of their coordinates."""
        count = len(self.names)
        state.setQ(self.vector(np.linspace(0.1, 0.7, count)))
        model.realizePosition(state)
        rates = self._opensim.Vector()
        speeds = np.linspace(1.0, 2.0, count)
        model.getMatterSubsystem().multiplyByN(state, False, self.vector(speeds), rates)
        off = np.flatnonzero(np.abs(rates.to_numpy() - speeds) > 1e-9)
        if len(off):
            name = self.names[int(np.flatnonzero(self._places == off[0])[0])]
            raise ReadError(
                f"the speed of coordinate {name!r} is not its rate",
                where=self._where,
                remedy="Replace ball and free joints by custom joints of three turns",
            )

    def vector(self, values: Floats) -> Any:
        """Numbers as OpenSim takes them."""
        return self._opensim.Vector.createFromMat(np.ascontiguousarray(values, np.float64))

    def all_values(self, q: Floats) -> Floats:
        """Of every coordinate, those that follow too, in the file's order."""
        values = np.zeros(len(self.names))
        values[self.free] = q
        for one in self._couplers:
            values[one.follower] = one.scale * one.function.calcValue(self.vector(values[list(one.leaders)]))
        return values

    def rates(self, q: Floats) -> Floats:
        """Derivative of the state's positions, (state, coordinates): each coordinate and what follows it."""
        values = self.all_values(q)
        found = np.zeros((len(self.names), len(self.free)))
        found[self.free, np.arange(len(self.free))] = 1.0
        for one in self._couplers:
            at = self.vector(values[list(one.leaders)])
            for k, leader in enumerate(one.leaders):
                slope = one.scale * one.function.calcDerivative(self._opensim.StdVectorInt([k]), at)
                found[one.follower] += slope * found[leader]
        return self.in_state(found)

    def in_state(self, values: Floats) -> Floats:
        """Rows of the file's order in the state's."""
        moved = np.empty_like(values)
        moved[self._places] = values
        return moved

    def column(self, name: str) -> int:
        """The number of a coordinate in the state."""
        return int(self._places[self.names.index(name)])


def _coordinate(opensim: Any, one: Any, notes: list[str]) -> Coordinate:
    name = one.getName()
    low, high = float(one.getRangeMin()), float(one.getRangeMax())
    if not one.getDefaultClamped():
        low, high = -np.inf, np.inf
    prescribed = bool(one.getDefaultIsPrescribed())
    if prescribed:
        notes.append(f"Coordinate {name!r} is prescribed in the file; here it stays at its default.")
    return Coordinate(
        name,
        _unit(opensim, one),
        low,
        high,
        float(one.getDefaultValue()),
        bool(one.getDefaultLocked()) or prescribed,
    )


def _unit(opensim: Any, one: Any) -> Unit:
    """Of a coordinate that leads several motions: whether a turn is one of them."""
    kind = one.getMotionType()
    if kind != opensim.Coordinate.Coupled:
        return "rad" if kind == opensim.Coordinate.Rotational else "m"
    joint = opensim.CustomJoint.safeDownCast(one.getJoint())
    if joint is None:
        return "rad"
    for k in range(3):
        names = joint.getSpatialTransform().getTransformAxis(k).getCoordinateNames()
        if one.getName() in [names.get(i) for i in range(names.getSize())]:
            return "rad"
    return "m"
