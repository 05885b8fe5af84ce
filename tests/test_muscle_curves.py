"""Curves of muscles: as OpenSim's two muscles have them, one muscle at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from conftest import Figure
from ecorche.biomech.bezier_curves import through
from ecorche.biomech.muscle_curves import Millard, Thelen
from ecorche.biomech.muscle_state import MuscleSizes, at_equilibrium, muscle_sizes, with_rigid_tendon
from ecorche.errors import EcorcheError
from osim_models import opensim_package

Floats = npt.NDArray[np.float64]
STRONGEST, OPTIMAL, SLACK, ANGLE = 800.0, 0.1, 0.2, 0.3
ARM = Thelen(0.5, 4.0, 0.6, 0.033, 0.3, 1.8)
WALKER = Millard(0.25, 0.77, 1.9, 0.75, damping=0.01)


@pytest.fixture(scope="module")
def opensim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opensim_package(tmp_path_factory.mktemp("opensim")) as package:
        yield package


def sizes(count: int = 1) -> MuscleSizes:
    return muscle_sizes([f"m{k}" for k in range(count)], STRONGEST, OPTIMAL, SLACK, pennation=ANGLE)


def spanned(opensim: Any, muscle: Any) -> tuple[Any, Any, Any]:
    """A model of one muscle from the ground to a body on a slide, its state, and the muscle in it."""
    muscle.set_max_isometric_force(STRONGEST)
    muscle.set_optimal_fiber_length(OPTIMAL)
    muscle.set_tendon_slack_length(SLACK)
    muscle.set_pennation_angle_at_optimal(ANGLE)
    model = opensim.Model()
    body = opensim.Body("b", 1.0, opensim.Vec3(0), opensim.Inertia(1, 1, 1))
    slide = opensim.SliderJoint("slide", model.getGround(), body)
    model.addBody(body)
    model.addJoint(slide)
    muscle.setName("m")
    muscle.addNewPathPoint("a", model.getGround(), opensim.Vec3(0))
    muscle.addNewPathPoint("b", body, opensim.Vec3(0))
    model.addForce(muscle)
    state = model.initSystem()
    return model, state, type(muscle).safeDownCast(model.getMuscles().get(0))


def put(model: Any, state: Any, length: float, speed: float) -> None:
    place = model.getCoordinateSet().get(0)
    place.setValue(state, length)
    place.setSpeedValue(state, speed)
    model.realizeVelocity(state)


def thelen(opensim: Any) -> Any:
    muscle = opensim.Thelen2003Muscle()
    muscle.set_KshapeActive(ARM.active_width)
    muscle.set_KshapePassive(ARM.passive_shape)
    muscle.set_FmaxMuscleStrain(ARM.passive_strain)
    muscle.set_FmaxTendonStrain(ARM.tendon_strain)
    muscle.set_Af(ARM.shape)
    muscle.set_Flen(ARM.lengthening)
    return muscle


def millard(opensim: Any, *, rigid: bool) -> Any:
    muscle = opensim.Millard2012EquilibriumMuscle()
    muscle.set_ignore_tendon_compliance(rigid)
    muscle.set_fiber_damping(WALKER.damping)
    muscle.setActiveForceLengthCurve(opensim.ActiveForceLengthCurve(0.25, 0.77, 1.9, 0.75, 0.0))
    return muscle


@pytest.mark.parametrize(
    ("part", "kind", "low", "high"),
    [
        ("active", "ActiveForceLengthCurve", -0.2, 2.5),
        ("passive", "FiberForceLengthCurve", 0.5, 2.5),
        ("speed", "ForceVelocityCurve", -1.5, 1.5),
        ("tendon", "TendonForceLengthCurve", 0.9, 1.2),
    ],
)
def test_millards_curves_are_opensims(
    opensim: Any, figure: Figure, part: str, kind: str, low: float, high: float
) -> None:
    x = np.linspace(low, high, 1001)
    numbers = (0.4441, 0.73, 1.8123, 0.8616, 0.0) if part == "active" else ()
    curve = getattr(opensim, kind)(*numbers)
    away = np.abs(getattr(Millard(), part)(x) - [curve.calcValue(value) for value in x]).max()
    figure(f"Millard's curve {part!r} against OpenSim's", float(away), 1e-9, "F_max")
    assert away < 1e-9


def test_a_millard_muscle_with_a_rigid_tendon_is_as_strong_as_opensims(opensim: Any, figure: Figure) -> None:
    """Active, passive and damping along the tendon, slack muscles too, to a billionth of F_max."""
    model, state, muscle = spanned(opensim, millard(opensim, rigid=True))
    away = 0.0
    for length in np.linspace(0.18, 0.42, 25):
        for speed in (-1.2, -0.5, -0.1, 0.0, 0.3, 1.5):
            put(model, state, length, speed)
            muscle.setActivation(state, 0.7)
            model.realizeDynamics(state)
            ours = with_rigid_tendon(sizes(), WALKER, [length], [speed])
            parts = 0.7 * ours.active, ours.passive + ours.damping
            theirs = (
                muscle.getActiveFiberForceAlongTendon(state),
                muscle.getPassiveFiberForceAlongTendon(state),
            )
            if sum(theirs) > 0.0:  # else OpenSim takes from the passive part what makes their sum 0
                away = max(away, *(abs(a.item() - b) for a, b in zip(parts, theirs, strict=True)))
            else:
                assert parts[0] + parts[1] <= 1e-9
    figure("Millard's muscle with a rigid tendon against OpenSim's", away / STRONGEST, 1e-9, "F_max")
    assert away / STRONGEST < 1e-9


def test_where_opensim_optimises_millard_muscles_it_takes_another_angle(opensim: Any) -> None:
    """For its force of one unit of activation it takes the length over the optimal length for metres.

    That leaves nearly all of the cosine out. It is known here so that results can be compared.
    """
    model, state, muscle = spanned(opensim, millard(opensim, rigid=True))
    for length, speed in ((0.25, -0.5), (0.29, 0.0), (0.33, 0.3)):
        put(model, state, length, speed)
        ours = with_rigid_tendon(sizes(), WALKER, [length], [speed])
        theirs = muscle.calcInextensibleTendonActiveFiberForce(state, 1.0)
        slip = np.cos(np.arcsin(sizes().thickness / (ours.fibre_length / OPTIMAL)))
        assert theirs == pytest.approx((ours.active / ours.cosine * slip).item(), rel=1e-9)


def test_a_thelen_muscle_with_a_rigid_tendon_is_as_strong_as_opensims(opensim: Any, figure: Figure) -> None:
    """At several activations, which its force–speed curve depends on, to a billionth of F_max."""
    model, state, muscle = spanned(opensim, thelen(opensim))
    away = 0.0
    for length in np.linspace(0.18, 0.42, 25):
        for speed in (-1.2, -0.5, -0.1, 0.0, 0.3, 1.5):
            put(model, state, length, speed)
            for activation in (1.0, 0.6, 0.2):
                ours = with_rigid_tendon(sizes(), ARM, [length], [speed], activation=[activation])
                theirs = muscle.calcInextensibleTendonActiveFiberForce(state, activation)
                away = max(away, abs((activation * ours.active).item() - theirs))
    figure("Thelen's muscle with a rigid tendon against OpenSim's", away / STRONGEST, 1e-9, "F_max")
    assert away / STRONGEST < 1e-9


def test_thelens_fibres_and_tendon_are_opensims(opensim: Any) -> None:
    model, state, muscle = spanned(opensim, thelen(opensim))
    put(model, state, 0.31, 0.0)
    for fibre in np.linspace(0.06, 0.14, 17):
        muscle.setFiberLength(state, fibre)
        model.realizeDynamics(state)
        assert ARM.active(fibre / OPTIMAL) == pytest.approx(
            muscle.getActiveForceLengthMultiplier(state), rel=1e-9
        )
        assert ARM.passive(fibre / OPTIMAL) == pytest.approx(
            muscle.getPassiveForceMultiplier(state), abs=1e-12
        )
        tendon = ARM.tendon(muscle.getTendonLength(state) / SLACK)
        assert tendon == pytest.approx(muscle.getTendonForce(state) / STRONGEST, abs=1e-9)


@pytest.mark.parametrize("kind", ["Thelen", "Millard"])
def test_fibres_and_elastic_tendons_balance_as_in_opensim(opensim: Any, figure: Figure, kind: str) -> None:
    """At rest, to what OpenSim's own iteration leaves open."""
    given = thelen(opensim) if kind == "Thelen" else millard(opensim, rigid=False)
    model, state, muscle = spanned(opensim, given)
    curves, away = ARM if kind == "Thelen" else WALKER, 0.0
    for length in np.linspace(0.26, 0.36, 11):
        for activation in (0.1, 0.5, 1.0):
            put(model, state, length, 0.0)
            muscle.setActivation(state, activation)
            muscle.computeInitialFiberEquilibrium(state)
            model.realizeDynamics(state)
            ours = at_equilibrium(sizes(), curves, [length], [activation])
            force = activation * ours.active + ours.passive
            away = max(away, abs(force.item() - muscle.getTendonForce(state)) / STRONGEST)
            assert ours.fibre_length.item() == pytest.approx(muscle.getFiberLength(state), abs=1e-6)
    figure(f"{kind}'s muscle with an elastic tendon against OpenSim's", away, 1e-6, "F_max")
    assert away < 1e-6


@pytest.mark.parametrize("curves", [Thelen(), ARM, Millard(), WALKER])
def test_what_every_muscle_does(curves: Thelen | Millard) -> None:
    """Strongest at rest and optimal length, no force at full speed of shortening, F_max at a strain."""
    assert curves.active(1.0) == pytest.approx(1.0, abs=1e-12)
    lengths = np.linspace(0.3, 2.0, 4001)
    assert curves.active(lengths).max() <= 1.0 + 1e-12
    assert curves.speed(np.array([-3.0, -1.0, 0.0])) == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    assert (np.diff(curves.speed(np.linspace(-1.2, 2.0, 4001))) >= -1e-12).all()
    assert (np.diff(curves.passive(lengths)) >= -1e-12).all()
    assert curves.passive(np.array([0.7, 1.0, 1.0 + curves.passive_strain])) == pytest.approx(
        [0, 0, 1], abs=1e-12
    )
    assert curves.tendon(np.array([0.9, 1.0, 1.0 + curves.tendon_strain])) == pytest.approx(
        [0, 0, 1], abs=1e-12
    )


def test_the_slope_of_a_smooth_curve_is_its_derivative() -> None:
    """Inside the pieces, at their joins and on the straight ends; the error falls as the step squared."""
    curve = through((0.0, 0.0, 0.0), (1.0, 0.5, 1.2), (2.0, 1.4, 0.5), curviness=(0.2, 0.9))
    x = np.array([-1.0, 0.3, 0.77, 1.0, 1.5, 1.9, 2.0, 4.0])
    errors = [
        np.abs((curve.value(x + h) - curve.value(x - h)) / (2 * h) - curve.slope(x)).max()
        for h in (1e-3, 5e-4)
    ]
    assert errors[0] < 2e-4
    assert errors[1] < 0.3 * errors[0] + 1e-9
    assert np.isnan(curve.value(np.nan))


def test_knots_between_which_no_corner_lies_are_refused() -> None:
    with pytest.raises(EcorcheError, match=r"their straight lines cross at x = 2.333, not between 1 and 2"):
        through((0.0, 0.0, 0.0), (1.0, 0.5, 2.0), (2.0, 3.0, 0.5), curviness=0.5)


def test_a_stiff_tendon_is_a_rigid_one() -> None:
    """As strains of the tendon go to zero so does what they change, in proportion."""
    away = []
    for strain in (1e-3, 1e-4):
        soft = at_equilibrium(sizes(), Millard(tendon_strain=strain), [0.3], [0.5])
        hard = with_rigid_tendon(sizes(), Millard(), [0.3], [0.0])
        away.append(abs(soft.active - hard.active).item() / STRONGEST)
    assert away[0] < 2e-3
    assert away[1] == pytest.approx(0.1 * away[0], rel=0.1)


def test_slack_muscles_are_told_and_have_no_force() -> None:
    state = with_rigid_tendon(sizes(2), Millard(), [[0.15, 0.3]], [[0.1, 0.1]])
    assert state.slack.tolist() == [[True, False]]
    assert state.active[0, 0] == state.passive[0, 0] == state.damping[0, 0] == 0.0
    assert state.active[0, 1] > 0.0
    assert at_equilibrium(sizes(2), Millard(), [0.15, 0.3], 0.5).slack.tolist() == [True, False]


def test_bad_sizes_and_lengths_are_refused() -> None:
    with pytest.raises(EcorcheError, match=r"muscle 'b': strongest is -2. Give a number above 0"):
        muscle_sizes(["a", "b"], [1.0, -2.0], 0.1, 0.2)
    with pytest.raises(EcorcheError, match=r"pennation is 1.6. Give a number from 0 and below 1.5708"):
        muscle_sizes(["a", "b"], 1.0, 0.1, 0.2, pennation=1.6)
    with pytest.raises(EcorcheError, match=r"optimal_length has the shape \(3,\) for 2 muscles"):
        muscle_sizes(["a", "b"], 1.0, [0.1] * 3, 0.2)
    with pytest.raises(EcorcheError, match=r"muscle 'm1', frame 1: the velocity of its path is not a number"):
        with_rigid_tendon(sizes(2), ARM, np.full((2, 2), 0.3), [[0.0, 0.0], [0.0, np.nan]])
    with pytest.raises(EcorcheError, match=r"length of paths has the shape \(3,\) for 2 muscles"):
        with_rigid_tendon(sizes(2), ARM, [0.3] * 3, [0.0] * 3)
    with pytest.raises(EcorcheError, match=r"muscle 'a': it has no tendon to stretch. Take a rigid tendon"):
        at_equilibrium(muscle_sizes(["a"], 1.0, 0.1, 0.0), ARM, [0.1], [0.5])
