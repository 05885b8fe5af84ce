"""An OpenSim model (`.osim`) as a musculoskeletal model, answered by the official package `opensim`.

Muscles, ligaments and path springs run on OpenSim's own paths. Their moment arms come from the points of the
path: a pull of one newton along it, carried to the coordinates by the bodies' Jacobian. It is what OpenSim's
own moment arm is, for all coordinates at once.
Forces without a path that pose and speed decide (`ELASTIC`) count in `passive_moments`; contacts and other
forces are left out, and told.
Where only paths and lengths are wanted, `ecorche.io.osim` reads them without this package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_file
from ecorche.biomech.model import (
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
from ecorche.biomech.opensim_coordinates import OpensimCoordinates
from ecorche.errors import EcorcheError, MissingPackageError, ReadError

Floats = npt.NDArray[np.float64]

STEP = 1e-5
"""Of the central difference, in seconds along the motion, that gives how followers' rates change."""
BANDS = {"Ligament": "ligament", "Blankevoort1991Ligament": "ligament", "PathSpring": "tendon"}
"""Forces that pull along a path of their own."""
ELASTIC = (
    "BushingForce",
    "CoordinateLimitForce",
    "CoupledBushingForce",
    "ExpressionBasedBushingForce",
    "ExpressionBasedCoordinateForce",
    "ExpressionBasedPointToPointForce",
    "FunctionBasedBushingForce",
    "PointToPointSpring",
    "SpringGeneralizedForce",
)
"""Forces that pose and speed alone decide, without a path: cartilage between bones, stiff joints."""
CONTACT = ("HuntCrossley", "ElasticFoundation", "SmoothSphere", "MeyerFregly", "ArticularContact")
"""Words in the names of forces between surfaces. A millimetre decides them, and markers do not tell that."""


class OpensimModel:
    """A model that OpenSim read.

    Args:
        path: An ``.osim`` file of any version OpenSim reads.
    """

    def __init__(self, path: Path | str) -> None:
        path = require_file(path)
        self._opensim = opensim = opensim_package()
        self.name = path.name
        self.path = path
        notes: list[str] = []
        try:
            self._m = opensim.Model(str(path))
            self._s = self._m.initSystem()
        except RuntimeError as error:
            reason = " ".join(str(error).split("\n")[0].split())
            raise ReadError(
                f"OpenSim does not accept it ({reason})", where=path, remedy="Open it in OpenSim and mend it"
            ) from None
        self._matter = self._m.getMatterSubsystem()
        self._joints = OpensimCoordinates(opensim, self._m, self._s, self.name, notes)
        self.coordinates, self.root = self._joints.coordinates, self._joints.root
        self.gravity = _triple(self._m.getGravity())
        self._body_components = [self._m.getBodySet().get(k) for k in range(self._m.getBodySet().getSize())]
        hung = self._parents()
        self.bodies = tuple(
            Body(
                body.getName(), float(body.getMass()), _triple(body.getMassCenter()), hung.get(body.getName())
            )
            for body in self._body_components
        )
        self._mobods = {"ground": 0}
        self._mobods |= {body.getName(): int(body.getMobilizedBodyIndex()) for body in self._body_components}
        self.markers = tuple(self._marker(k) for k in range(self._m.getMarkerSet().getSize()))
        self._find_forces(notes)
        self._without, self._with_passive = self._passive_states()
        self.notes = tuple(notes)
        self._posed: bytes | None = None
        self._frames: Floats | None = None

    def __repr__(self) -> str:
        return (
            f"OpensimModel({self.name!r}, {len(self.coordinates)} coordinates, {len(self.muscles)} muscles)"
        )

    # ---- what it is made of -------------------------------------------------------------------------------

    def _parents(self) -> dict[str, str]:
        """The body that each body hangs on, by name, but for those on the ground."""
        joints = [self._m.getJointSet().get(k) for k in range(self._m.getJointSet().getSize())]
        ends = [(j.getChildFrame().findBaseFrame(), j.getParentFrame().findBaseFrame()) for j in joints]
        return {child.getName(): parent.getName() for child, parent in ends if parent.getName() != "ground"}

    def _marker(self, number: int) -> Marker:
        one = self._m.getMarkerSet().get(number)
        frame = one.getParentFrame()
        place = frame.findTransformInBaseFrame().shiftFrameStationToBase(one.get_location())
        return Marker(one.getName(), frame.findBaseFrame().getName(), _triple(place))

    def _find_forces(self, notes: list[str]) -> None:
        forces, others = self._m.getForceSet(), Counter[str]()
        muscles, passive = [], []
        self._muscle_components: list[Any] = []
        self._passive_components: list[Any] = []
        self._elastic: list[Any] = []
        for k in range(forces.getSize()):
            kind = forces.get(k).getConcreteClassName()
            one = self._opensim.Muscle.safeDownCast(forces.get(k))
            name = forces.get(k).getName()
            if not forces.get(k).get_appliesForce():
                notes.append(f"{kind} {name!r} is switched off in the file: it is left out.")
            elif one is not None:
                muscles.append(_muscle(name, one))
                self._muscle_components.append(one)
            elif kind in BANDS:
                band = getattr(self._opensim, kind).safeDownCast(forces.get(k))
                length = band.get_slack_length() if kind.startswith("Blank") else band.get_resting_length()
                passive.append(
                    PassivePath(name, "ligament" if BANDS[kind] == "ligament" else "tendon", float(length))
                )
                self._passive_components.append(band)
            elif kind in ELASTIC:
                self._elastic.append(forces.get(k))
            else:
                others[kind] += 1
        for kind, count in sorted(others.items()):
            touching = any(word in kind for word in CONTACT)
            what = ", which a millimetre of a bone's place decides," if touching else ""
            notes.append(f"{count} of the kind {kind}{what} are left out.")
        self.muscles, self.passive_paths = tuple(muscles), tuple(passive)

    def _passive_states(self) -> tuple[Any, Any]:
        """Two states beside the one that paths are asked in: no force acts, and only passive ones do."""
        without, acting = self._opensim.State(self._s), self._opensim.State(self._s)
        forces = self._m.getForceSet()
        for k in range(forces.getSize()):
            forces.get(k).setAppliesForce(without, False)
            forces.get(k).setAppliesForce(acting, False)
        for one in (*self._passive_components, *self._elastic):
            one.setAppliesForce(acting, True)
        return without, acting

    # ---- one pose -----------------------------------------------------------------------------------------

    def defaults(self) -> Floats:
        """The model's own pose, (coordinates,)."""
        return np.array([coordinate.default for coordinate in self.coordinates])

    def _pose(self, q: npt.ArrayLike) -> Floats:
        values = checked_pose(self, q)
        if values.tobytes() != self._posed:
            joints = self._joints
            self._s.setQ(joints.vector(joints.in_state(joints.all_values(values))))
            self._m.realizePosition(self._s)
            self._posed, self._frames = values.tobytes(), None
        return values

    def _jacobian(self) -> Floats:
        """Turn and shift of every mobilised body by the state's speeds, (mobilised bodies, 6, state)."""
        found = self._opensim.Matrix()
        self._matter.calcSystemJacobian(self._s, found)
        matrix = np.asarray(found.to_numpy(), np.float64)
        return matrix.reshape(-1, 6, matrix.shape[1])

    def body_transforms(self, q: Floats) -> Floats:
        """``ground_from_body`` of each body, (bodies, 4, 4)."""
        self._pose(q)
        return self._transforms().copy()

    def _transforms(self) -> Floats:
        """Of the pose that stands; asked for once."""
        if self._frames is None:
            self._frames = self._read_transforms()
        return self._frames

    def _read_transforms(self) -> Floats:
        found = np.tile(np.eye(4), (len(self.bodies), 1, 1))
        for frame, body in zip(found, self._body_components, strict=True):
            placed = body.getTransformInGround(self._s)
            turn = placed.R().asMat33()
            frame[:3, :3] = [[turn.get(i, j) for j in range(3)] for i in range(3)]
            frame[:3, 3] = placed.p().to_numpy()
        return found

    def _station_jacobian(self, bodies: Sequence[str], points: Floats, origins: Floats) -> Floats:
        """Derivative of points on bodies in ground [m] by the state, (points, 3, state)."""
        whole = self._jacobian()[[self._mobods[body] for body in bodies]]
        return np.asarray(whole[:, 3:] + np.cross(whole[:, :3], (points - origins)[:, :, None], axis=1))

    def _origins(self, frames: Floats, bodies: Sequence[str]) -> Floats:
        at = {body.name: frame[:3, 3] for body, frame in zip(self.bodies, frames, strict=True)}
        return np.array([at.get(body, np.zeros(3)) for body in bodies]).reshape(-1, 3)

    def _marker_frames(self) -> tuple[Floats, Floats, list[str]]:
        frames = self._transforms()
        names = [body.name for body in self.bodies]
        on = [marker.body for marker in self.markers]
        placed = np.array([frames[names.index(b)] if b in names else np.eye(4) for b in on]).reshape(-1, 4, 4)
        local = np.array([marker.place for marker in self.markers]).reshape(-1, 3)
        return np.einsum("mij,mj->mi", placed[:, :3, :3], local) + placed[:, :3, 3], placed[:, :3, 3], on

    def marker_positions(self, q: Floats) -> Floats:
        """Where markers are [m], (markers, 3)."""
        self._pose(q)
        return self._marker_frames()[0]

    def marker_jacobian(self, q: Floats) -> Floats:
        """Derivative of the marker positions, (markers, 3, coordinates)."""
        values = self._pose(q)
        points, origins, bodies = self._marker_frames()
        return np.asarray(self._station_jacobian(bodies, points, origins) @ self._joints.rates(values))

    # ---- paths --------------------------------------------------------------------------------------------

    def _route(self, name: str, component: Any) -> tuple[PathPoints, list[Any]]:
        """Where a path runs in the pose that stands, and OpenSim's own points."""
        path = self._opensim.GeometryPath.safeDownCast(component.getPath())
        if path is None:
            raise EcorcheError(
                f"the path of {name!r} is a function of coordinates and has no points",
                where=self.name,
                remedy="Give it a GeometryPath",
            )
        now = path.getCurrentPath(self._s)
        own = [now.get(k) for k in range(now.getSize())]
        points = np.array([point.getLocationInGround(self._s).to_numpy() for point in own])
        bodies = tuple(point.getParentFrame().findBaseFrame().getName() for point in own)
        return PathPoints(points, bodies), own

    def _routes(self, q: Floats, names: Sequence[str], components: list[Any]) -> dict[str, PathPoints]:
        self._pose(q)
        return {name: self._route(name, one)[0] for name, one in zip(names, components, strict=True)}

    def _lengths(self, q: Floats, components: list[Any]) -> Floats:
        self._pose(q)
        return np.array([one.getPath().getLength(self._s) for one in components])

    def _arms(self, q: Floats, names: Sequence[str], components: list[Any]) -> Floats:
        """Of paths about coordinates, by a pull of one newton along each of them."""
        values = self._pose(q)
        routes = [self._route(name, one) for name, one in zip(names, components, strict=True)]
        if not routes:
            return np.zeros((0, len(self.coordinates)))
        bodies = [body for route, _ in routes for body in route.bodies]
        points = np.concatenate([route.points for route, _ in routes])
        moved = self._station_jacobian(bodies, points, self._origins(self._transforms(), bodies))
        first, arms = 0, np.zeros((len(routes), moved.shape[2]))
        for row, (route, own) in enumerate(routes):
            rates = moved[first : first + len(own)]
            for k, point in enumerate(own):
                if point.getConcreteClassName() == "MovingPathPoint":
                    rates[k] += self._own_motion(point)
            along = np.diff(route.points, axis=0)
            length = np.linalg.norm(along, axis=1, keepdims=True)
            along = np.divide(along, length, out=np.zeros_like(along), where=length > 0.0)
            elsewhere = np.array([a != b for a, b in zip(route.bodies, route.bodies[1:], strict=False)])
            # a piece round a surface lies on one body: nothing pulls there that its ends do not
            arms[row] = -np.einsum("ki,kic->c", along[elsewhere], np.diff(rates, axis=0)[elsewhere])
            first += len(own)
        return np.asarray(arms @ self._joints.rates(values))

    def _own_motion(self, point: Any) -> Floats:
        """How a moving point moves on its body, in ground, by the state, (3, state)."""
        moving = self._opensim.MovingPathPoint.safeDownCast(point)
        found = np.zeros((3, len(self._joints.names)))
        slope = moving.getdPointdQ(self._s)
        turn = moving.getParentFrame().getTransformInGround(self._s).R().asMat33()
        axes = (moving.getXCoordinate, moving.getYCoordinate, moving.getZCoordinate)
        for k, coordinate in enumerate(axes):
            column = self._joints.column(coordinate().getName())
            found[:, column] += [turn.get(i, k) * slope.get(k) for i in range(3)]
        return found

    def muscle_lengths(self, q: Floats) -> Floats:
        """Lengths of muscles with their tendons [m], (muscles,)."""
        return self._lengths(q, self._muscle_components)

    def moment_arms(self, q: Floats) -> Floats:
        """Of muscles about coordinates [m or 1], (muscles, coordinates)."""
        return self._arms(q, [muscle.name for muscle in self.muscles], self._muscle_components)

    def muscle_paths(self, q: Floats) -> dict[str, PathPoints]:
        """Where muscles run, by name."""
        return self._routes(q, [muscle.name for muscle in self.muscles], self._muscle_components)

    def passive_lengths(self, q: Floats) -> Floats:
        """Lengths of ligaments and springs [m], (passive paths,)."""
        return self._lengths(q, self._passive_components)

    def passive_moment_arms(self, q: Floats) -> Floats:
        """Of passive paths about coordinates [m or 1], (passive paths, coordinates)."""
        return self._arms(q, [path.name for path in self.passive_paths], self._passive_components)

    def passive_moments(self, q: Floats, qd: Floats) -> Floats:
        """What ligaments, springs, bushings and limits do [N m or N], (coordinates,), by OpenSim's own.

        It is what moving as they make the model move takes beyond moving as it would without them; so
        every kind of force is asked in the same way.
        """
        if not self._passive_components and not self._elastic:
            return np.zeros(len(self.coordinates))
        require_masses(self)
        values, joints = checked_pose(self, q), self._joints
        rates = joints.rates(values)
        needed = []
        for state in (self._with_passive, self._without):
            state.setQ(joints.vector(joints.in_state(joints.all_values(values))))
            state.setU(joints.vector(rates @ checked_pose(self, qd, "speed")))
            self._m.realizeAcceleration(state)
            needed.append(self._moved_by(state, state.getUDot()))
        return np.asarray((needed[0] - needed[1]) @ rates)

    def passive_path_points(self, q: Floats) -> dict[str, PathPoints]:
        """Where ligaments and springs run, by name."""
        return self._routes(q, [path.name for path in self.passive_paths], self._passive_components)

    # ---- dynamics -----------------------------------------------------------------------------------------

    def inverse_dynamics(
        self, q: Floats, qd: Floats, qdd: Floats, external_forces: Sequence[ExternalForce] = ()
    ) -> Floats:
        """Forces of the coordinates [N m or N], (coordinates,); see `MusculoskeletalModel`."""
        require_masses(self)
        values = self._pose(q)
        rates, changes = checked_pose(self, qd, "speed"), checked_pose(self, qdd, "acceleration")
        joints = self._joints
        speeds = joints.rates(values)
        turning = (joints.rates(values + STEP * rates) - joints.rates(values - STEP * rates)) / (2.0 * STEP)
        self._s.setU(joints.vector(speeds @ rates))
        self._m.realizeVelocity(self._s)
        needed = self._moved_by(self._s, joints.vector(speeds @ changes + turning @ rates))
        return np.asarray((needed - self._applied(external_forces)) @ speeds)

    def _moved_by(self, state: Any, accelerations: Any) -> Floats:
        """What it takes to move so with nothing else acting, along the state [N m or N], (state,)."""
        needed, none = self._opensim.Vector(), self._opensim.VectorOfSpatialVec()
        self._matter.calcResidualForceIgnoringConstraints(
            state, self._opensim.Vector(), none, accelerations, needed
        )
        return np.asarray(needed.to_numpy(), np.float64)

    def _applied(self, external_forces: Sequence[ExternalForce]) -> Floats:
        """What gravity and external forces do along the state, (state,)."""
        frames, names = self._transforms(), [body.name for body in self.bodies]
        loads = np.zeros((len(self._mobods), 6))
        gravity = np.array(self.gravity)
        for body, frame in zip(self.bodies, frames, strict=True):
            arm = frame[:3, :3] @ np.array(body.centre_of_mass)
            loads[self._mobods[body.name]] += [*np.cross(arm, body.mass * gravity), *(body.mass * gravity)]
        for one in external_forces:
            origin = frames[index_of(one.body, names, "body", self.name)][:3, 3]
            moment = np.cross(one.point - origin, one.force) + one.moment
            loads[self._mobods[one.body]] += [*moment, *one.force]
        return np.asarray(np.einsum("bk,bkc->c", loads, self._jacobian()))


def _muscle(name: str, one: Any) -> Muscle:
    return Muscle(
        name,
        float(one.getMaxIsometricForce()),
        float(one.getOptimalFiberLength()),
        float(one.getTendonSlackLength()),
        float(one.getPennationAngleAtOptimalFiberLength()),
        float(one.getMaxContractionVelocity()),
    )


def opensim_package() -> Any:
    """The package `opensim`, silent and without the log it would leave in the current folder."""
    try:
        import opensim
    except ImportError:
        raise MissingPackageError(
            "OpenSim models need the package opensim (Linux and Windows, Python below 3.13)",
            remedy='Run: pip install "ecorche[opensim]"',
        ) from None
    opensim.Logger.removeFileSink()
    opensim.Logger.setLevelString("off")
    return opensim


def _triple(values: Any) -> tuple[float, float, float]:
    x, y, z = np.asarray(values.to_numpy(), np.float64).tolist()
    return x, y, z
