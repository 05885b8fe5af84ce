"""Force fields: an energy whose derivatives are the forces told, C1, zero far away, continuous in groups."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from ecorche.errors import EcorcheError
from ecorche.muscles.lines.field_places import FieldBinding, place_ellipsoid
from ecorche.muscles.lines.fields import PLACED, Field, FieldEllipsoid, FieldLaws, field_terms, pull

Floats = npt.NDArray[np.float64]
Kind = Literal["attract", "repel"]
Mode = Literal["orthogonal", "radial"]
ALL: list[tuple[Kind, Mode]] = [
    ("repel", "orthogonal"),
    ("attract", "orthogonal"),
    ("repel", "radial"),
    ("attract", "radial"),
]
TURN = Rotation.from_rotvec([0.3, -0.8, 0.5]).as_matrix()
GROUP = (
    FieldEllipsoid(np.array([0.0, 0.0, 0.0]), np.array([0.05, 0.03, 0.08]), TURN, joint=0),
    FieldEllipsoid(np.array([0.05, 0.02, 0.0]), np.array([0.04, 0.04, 0.04]), joint=0),
    FieldEllipsoid(np.array([0.0, 0.06, 0.03]), np.array([0.02, 0.05, 0.03]), TURN.T, joint=0),
)


class Placed:
    """A field in a pose of one joint."""

    def __init__(self, field: Field, moved: Floats | None = None) -> None:
        field.checked()
        ones = field.ellipsoids
        self.laws = FieldLaws(
            np.array([field.law()], np.int32),
            np.array([field.numbers()]),
            np.array([0, len(ones)], np.int32),
        )
        binding = FieldBinding(
            np.array([one.centre for one in ones]),
            np.array([one.axes for one in ones]),
            np.array([one.radii for one in ones]),
            np.zeros(len(ones), np.int32),
            np.full((len(ones), 2), -1, np.int32),
            np.zeros(len(ones)),
            np.zeros((len(ones), 3)),
            np.zeros((len(ones), 3)),
        )
        self.placed = np.empty((len(ones), PLACED))
        for n in range(len(ones)):
            pose = np.zeros((1, 4, 4)) if moved is None else moved
            place_ellipsoid(binding, n, pose, np.zeros((1, 3)), self.placed)

    def at(self, x: Floats, exact: bool = True) -> tuple[float, Floats, Floats]:
        u, gx, gy, gz, xx, xy, xz, yy, yz, zz = field_terms(self.laws, self.placed, 0, *x, exact)
        return u, np.array([gx, gy, gz]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def around(count: int, seed: int) -> Floats:
    return np.random.default_rng(seed).normal(size=(count, 3)) * 0.05


@pytest.mark.parametrize(("kind", "mode"), ALL)
@pytest.mark.parametrize("ellipsoids", [GROUP[:1], GROUP])
def test_forces_and_stiffness_are_derivatives_of_the_energy(
    kind: Kind, mode: Mode, ellipsoids: tuple[FieldEllipsoid, ...]
) -> None:
    field = Placed(Field("f", ellipsoids, kind, mode, strength=1000.0, reach=0.09, rounding=0.01, blend=0.01))
    step, acting = 1e-6, 0
    for x in around(100, 3):
        _, gradient, stiffness = field.at(x)
        ahead = [field.at(x + step * e) for e in np.eye(3)]
        behind = [field.at(x - step * e) for e in np.eye(3)]
        numeric = np.array([(a[0] - b[0]) / (2 * step) for a, b in zip(ahead, behind, strict=True)])
        slopes = np.array([(a[1] - b[1]) / (2 * step) for a, b in zip(ahead, behind, strict=True)])
        if np.abs(slopes).max() > 1e5:  # across the disc inside, where an orthogonal force turns over
            continue
        acting += np.abs(gradient).max() > 0.0
        assert gradient == pytest.approx(numeric, abs=1e-6)
        assert stiffness == pytest.approx(slopes, abs=1e-2 + 1e-4 * np.abs(slopes).max())
        never_negative = np.linalg.eigvalsh(field.at(x, exact=False)[2])
        assert never_negative.min() > -1e-6 * max(1.0, never_negative.max())
    assert acting > 15


@pytest.mark.parametrize("law", range(4))
def test_the_pull_is_c1_and_zero_far_away(law: int) -> None:
    numbers = np.array([[500.0, 0.1, 0.004, 0.002]])
    m = np.linspace(-0.15 if law != 3 else 0.0, 0.15, 200_001)
    energy, slope, bend = np.array([pull(law, numbers, 0, value) for value in m[::10]]).T
    spacing = m[10] - m[0]
    assert np.gradient(energy, spacing)[1:-1] == pytest.approx(slope[1:-1], abs=1e-2)
    assert np.abs(np.diff(bend)).max() < 500.0 * 0.015  # the slope's slope has no jump either
    assert slope[-1] == 0.0
    assert (energy >= 0.0).all()


def test_repelled_to_outside_attracted_from_both_sides_radially_to_the_centre() -> None:
    ball = (FieldEllipsoid(np.zeros(3), np.full(3, 0.1), joint=0),)
    inside, outside = np.array([0.09, 0.0, 0.0]), np.array([0.11, 0.0, 0.0])
    repel, attract = Placed(Field("f", ball, "repel")), Placed(Field("f", ball, "attract"))
    assert -repel.at(inside)[1] == pytest.approx([3000.0 * 0.01, 0.0, 0.0])
    assert (repel.at(outside)[1] == 0.0).all()
    assert -attract.at(inside)[1][0] > 0.0 > -attract.at(outside)[1][0]
    x = np.array([0.03, 0.04, 0.02])
    for kind, sign in (("repel", 1.0), ("attract", -1.0)):
        egg = (FieldEllipsoid(np.zeros(3), np.array([0.1, 0.08, 0.12]), TURN, joint=0),)
        force = -Placed(Field("f", egg, kind, "radial")).at(x)[1]  # type: ignore[arg-type]
        assert np.cross(force, x) == pytest.approx(np.zeros(3), abs=1e-12)
        assert sign * (force @ x) > 0.0


def test_of_a_group_the_nearest_acts_and_forces_do_not_jump_where_it_changes() -> None:
    two = tuple(FieldEllipsoid(np.array([s * 0.1, 0.0, 0.0]), np.full(3, 0.03), joint=0) for s in (-1, 1))
    group = Placed(Field("f", two, "attract", reach=0.2))
    alone = Placed(Field("f", two[1:], "attract", reach=0.2))
    near = np.array([0.05, 0.0, 0.02])
    assert group.at(near)[1] == pytest.approx(alone.at(near)[1], abs=1e-9)
    path = np.stack([np.linspace(-0.02, 0.02, 40_001), np.full(40_001, 0.01), np.zeros(40_001)], axis=-1)
    forces = np.array([group.at(x)[1] for x in path])
    assert np.abs(np.diff(forces, axis=0)).max() < 0.1  # in steps of a micrometre; both pull by 60 N and more
    assert forces[0, 0] > 60.0
    assert forces[-1, 0] < -60.0


def test_a_joint_takes_ellipsoids_along() -> None:
    moved = np.zeros((1, 4, 4))
    moved[0, :3, :3], moved[0, :3, 3] = 1.5 * TURN - np.eye(3), (0.1, 0.2, 0.3)
    still = Placed(Field("f", GROUP[:1], "attract", reach=0.2))
    there = Placed(Field("f", GROUP[:1], "attract", reach=0.3), moved)
    x = np.array([0.07, 0.05, -0.02])
    goes_to = 1.5 * TURN @ x + (0.1, 0.2, 0.3)
    assert there.at(goes_to)[1] == pytest.approx(1.5 * TURN @ still.at(x)[1], rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ellipsoids": ()}, "no ellipsoid"),
        ({"ellipsoids": (FieldEllipsoid(np.zeros(3), np.zeros(3), joint=0),)}, "make no ellipsoid"),
        ({"ellipsoids": (FieldEllipsoid(np.zeros(3), np.ones(3)),)}, "neither or both"),
        ({"ellipsoids": (FieldEllipsoid(np.zeros(3), np.ones(3), np.ones((3, 3)), 0),)}, "no rotation"),
        ({"strength": 0.0}, "strength is 0"),
        ({"reach": -1.0}, "reach is -1"),
        ({"kind": "push"}, "Choose attract or repel"),
    ],
)
def test_what_is_no_field_is_refused_by_name(change: dict[str, object], message: str) -> None:
    with pytest.raises(EcorcheError, match=message) as told:
        Field(**{"name": "pulley", "ellipsoids": GROUP, **change}).checked()  # type: ignore[arg-type]
    assert "pulley" in str(told.value)
