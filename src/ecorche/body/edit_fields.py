"""The ellipsoids that bend action lines, edited: what carries them, how they lie, how and on what they act.

Every edit gives a whole rig, checked, and says what it did. Places and axes are in the world at bind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed
from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_matrix
from ecorche.base.transforms import transform_points
from ecorche.body.character import Character
from ecorche.body.edited_lines import Lines, told
from ecorche.body.edited_rig import Edited
from ecorche.body.place_muscles import rounded
from ecorche.body.spelled_joints import bind_rotation
from ecorche.document.files import Rig
from ecorche.document.line_spec import EllipsoidSpec, FieldSpec, FreeNodeSpec, OnLineSpec
from ecorche.document.problems import told_as_document_error
from ecorche.errors import DocumentError, EcorcheError

Floats = npt.NDArray[np.float64]
Carrier = str | OnLineSpec
"""A joint by name, or a place on an elastic line."""

UPRIGHT = (0.0, 0.0, 0.0, 1.0)
TOLD = 4


def added_field(
    rig: Rig,
    character: Character,
    name: str,
    carrier: Carrier,
    centre: npt.ArrayLike,
    radii: Sequence[float],
    *,
    turn: Sequence[float] = UPRIGHT,
    lines: Sequence[tuple[str, int]] = (),
    **law: Any,
) -> Edited:
    """The rig with one more field, of one ellipsoid.

    Args:
        rig: The rig.
        character: Its character.
        name: Of the field.
        carrier: What its ellipsoid goes along with.
        centre: In the world at bind [m], shape (3,).
        radii: Along its axes [m].
        turn: Of its axes in the world at bind, xyzw.
        lines: Muscle and number of the lines that it acts on.
        law: ``kind``, ``mode``, ``strength`` and the other numbers of a `FieldSpec`.
    """
    here = Lines(rig, character)
    if name in rig.spec.muscles.fields:
        raise DocumentError(
            f"there is a field {name!r} already", where=rig.source, remedy="Give another name"
        )
    ellipsoid = _ellipsoid(here, name, carrier, np.asarray(centre, np.float64), turn, radii)
    with told_as_document_error(f"{rig.source}, fields, {name}"):
        field = FieldSpec.model_validate({"ellipsoids": (ellipsoid.model_dump(),), **law})
    muscles = dict(rig.spec.muscles.lines)
    for muscle, number in lines:
        acting = here.line(muscle, number).fields
        muscles[muscle] = _acted_on(here, muscles[muscle], number, (*acting, name))
    made = here.with_lines(
        muscles, {**rig.spec.muscles.fields, name: field}, check=sorted({m for m, _ in lines})
    )
    on = f", which acts on {len(lines)} lines" if lines else ", which acts on no line yet"
    return told(f"there is a field {name!r} on {_carried_by(carrier)}{on}", made)


def added_field_at_line(
    rig: Rig,
    character: Character,
    name: str,
    line: tuple[str, int],
    *,
    joint: str | None = None,
    centre: npt.ArrayLike | None = None,
    radius: float | None = None,
    kind: Literal["attract", "repel"] = "repel",
) -> Edited:
    """The rig with one more field, a ball beside the middle of a line, which it acts on.

    Args:
        rig: The rig.
        character: Its character.
        name: Of the field.
        line: Muscle and number of the line.
        joint: What carries it; None is the joint of the line's origin.
        centre: In the world at bind [m], shape (3,); None is beside the line, so that it touches it.
        radius: Of the ball [m]; None is a tenth of the line's length.
        kind: Whether it pushes the line off or draws it.
    """
    here = Lines(rig, character)
    first, places = here.line(*line).nodes[0], here.designed(*line)
    assert not isinstance(first, FreeNodeSpec)
    length = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
    size = 0.1 * length if radius is None else radius
    if centre is None:
        middle = len(places) // 2
        along = normalise(places[-1] - places[0])
        # towards the bone, where what a line goes round mostly is
        off = here.skeleton.bind_world[here.joint(first.joint), :3, 3] - places[middle]
        off -= (off @ along) * along
        centre = places[middle] + size * normalise(
            off if np.linalg.norm(off) > 1e-6 else np.cross(along, [1, 0, 0])
        )
    return added_field(
        rig, character, name, joint or first.joint, centre, (size, size, size), lines=[line], kind=kind
    )


def removed_field(rig: Rig, character: Character, name: str) -> Edited:
    """The rig without a field; lines no longer name it."""
    here = Lines(rig, character)
    here.field(name)
    muscles, freed = {}, []
    for muscle, spec in rig.spec.muscles.lines.items():
        muscles[muscle] = spec
        for number, line in enumerate(spec.lines):
            if name in line.fields:
                left = tuple(n for n in line.fields if n != name)
                muscles[muscle] = _acted_on(here, muscles[muscle], number, left)
                freed.append(muscle)
    fields = {n: f for n, f in rig.spec.muscles.fields.items() if n != name}
    made = here.with_lines(muscles, fields, check=sorted(set(freed)))
    gone = f"; it acted on lines of {listed(list(dict.fromkeys(freed)), TOLD)}" if freed else ""
    return told(f"the field {name!r} is removed{gone}", made)


def changed_field(rig: Rig, character: Character, name: str, changes: Mapping[str, Any]) -> Edited:
    """The rig with a field that acts otherwise.

    ``kind`` (attract or repel), ``mode`` (orthogonal or radial), ``strength`` [N/m], ``reach``, ``rounding``
    and ``blend`` [m].
    """
    here = Lines(rig, character)
    field = here.field(name)
    allowed = sorted(set(FieldSpec.model_fields) - {"ellipsoids"})
    for key in changes:
        if key not in allowed:
            raise EcorcheError(
                f"a field has no {key!r} to change", where=name, remedy=f"Choose among {', '.join(allowed)}"
            )
    with told_as_document_error(f"{rig.source}, fields, {name}"):
        made = FieldSpec.model_validate(field.model_dump() | dict(changes))
    spelled = ", ".join(f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in changes.items())
    return told(f"the field {name!r}: {spelled}", _with_field(here, name, made))


def added_ellipsoid(
    rig: Rig,
    character: Character,
    name: str,
    carrier: Carrier,
    centre: npt.ArrayLike,
    radii: Sequence[float],
    turn: Sequence[float] = UPRIGHT,
) -> Edited:
    """The rig with one more ellipsoid in a field; the arguments are those of `added_field`."""
    here = Lines(rig, character)
    field = here.field(name)
    one = _ellipsoid(here, name, carrier, np.asarray(centre, np.float64), turn, radii)
    made = _with_field(here, name, field.model_copy(update={"ellipsoids": (*field.ellipsoids, one)}))
    return told(f"the field {name!r} has {len(field.ellipsoids) + 1} ellipsoids", made)


def copied_ellipsoid(rig: Rig, character: Character, name: str, number: int) -> Edited:
    """The rig with one more ellipsoid in a field, beside one that it has, of the same size and carrier."""
    here = Lines(rig, character)
    one = _require_ellipsoid(here, name, number)
    centre, axes = ellipsoid_at_bind(rig, character, name, number)
    carrier: Carrier = one.joint if one.joint is not None else one.on_line  # type: ignore[assignment]
    widest = int(np.argmax(one.radii))
    beside = centre + 0.7 * one.radii[widest] * axes[:, widest]
    turn = xyzw_from_matrix(axes).tolist()
    return added_ellipsoid(rig, character, name, carrier, beside, one.radii, turn)


def removed_ellipsoid(rig: Rig, character: Character, name: str, number: int) -> Edited:
    """The rig without one ellipsoid of a field, which has others."""
    here = Lines(rig, character)
    field = here.field(name)
    _require_ellipsoid(here, name, number)
    if len(field.ellipsoids) == 1:
        raise EcorcheError(
            f"the field {name!r} has no other ellipsoid", where=rig.source, remedy="Remove the field"
        )
    left = tuple(one for row, one in enumerate(field.ellipsoids) if row != number)
    made = _with_field(here, name, field.model_copy(update={"ellipsoids": left}))
    return told(f"the field {name!r} has {len(left)} ellipsoids", made)


def placed_ellipsoid(
    rig: Rig,
    character: Character,
    name: str,
    number: int,
    *,
    centre: npt.ArrayLike | None = None,
    turn: Sequence[float] | None = None,
    radii: Sequence[float] | None = None,
    carrier: Carrier | None = None,
) -> Edited:
    """The rig with an ellipsoid moved, turned, sized or carried by something else; None keeps what it is.

    Args:
        rig: The rig.
        character: Its character.
        name, number: Of the field, and of its ellipsoid, from 0.
        centre: In the world at bind [m], shape (3,).
        turn: Of its axes in the world at bind, xyzw.
        radii: Along its axes [m].
        carrier: What it goes along with; it keeps its place.
    """
    here = Lines(rig, character)
    field = here.field(name)
    one = _require_ellipsoid(here, name, number)
    was, axes = ellipsoid_at_bind(rig, character, name, number)
    kept: Carrier = one.joint if one.joint is not None else one.on_line  # type: ignore[assignment]
    turned = xyzw_from_matrix(axes).tolist() if turn is None else turn
    place = was if centre is None else np.asarray(centre, np.float64)
    made_one = _ellipsoid(here, name, carrier or kept, place, turned, radii or one.radii)
    told_of = []
    if centre is not None:
        told_of.append(f"moved by {1e3 * float(np.linalg.norm(place - was)):.1f} mm")
    if turn is not None:
        told_of.append("turned")
    if radii is not None:
        told_of.append(f"{' × '.join(f'{1e3 * r:.1f}' for r in radii)} mm")
    if carrier is not None:
        told_of.append(f"carried by {_carried_by(carrier)}")
    ellipsoids = tuple(made_one if row == number else e for row, e in enumerate(field.ellipsoids))
    made = _with_field(here, name, field.model_copy(update={"ellipsoids": ellipsoids}))
    return told(f"ellipsoid {number} of the field {name!r}: {', '.join(told_of) or 'as it was'}", made)


def with_fields_on_line(
    rig: Rig, character: Character, muscle: str, line: int, names: Sequence[str]
) -> Edited:
    """The rig with these fields acting on a line, and no others."""
    here = Lines(rig, character)
    for name in names:
        here.field(name)
    chosen = tuple(dict.fromkeys(names))
    made = here.with_muscle(muscle, _acted_on(here, here.muscle(muscle), line, chosen))
    what = listed(list(chosen), TOLD) if chosen else "nothing"
    return told(f"{here.spoken(muscle, line)} is bent by {what}", made)


def ellipsoid_at_bind(rig: Rig, character: Character, name: str, number: int) -> tuple[Floats, Floats]:
    """Centre [m], shape (3,), and axes as columns, (3, 3), of an ellipsoid in the world at bind."""
    here = Lines(rig, character)
    one = _require_ellipsoid(here, name, number)
    axes = matrix_from_xyzw(normalise(np.array(one.turn)))
    centre = np.array(one.centre)
    if one.joint is None:
        return centre, axes
    joint = here.joint(one.joint)
    return (
        transform_points(here.skeleton.bind_world[joint], centre[None])[0],
        np.asarray(bind_rotation(here.skeleton, joint) @ axes),
    )


def _ellipsoid(
    here: Lines, field: str, carrier: Carrier, centre: Floats, turn: Sequence[float], radii: Sequence[float]
) -> EllipsoidSpec:
    turned = np.asarray(turn, np.float64)
    if centre.shape != (3,) or turned.shape != (4,) or not np.isfinite([*centre, *turned]).all():
        raise EcorcheError(
            "an ellipsoid's centre or turn is not finite",
            where=f"field {field!r}",
            remedy="Give three numbers in metres, and a turn as x, y, z and w",
        )
    if not np.linalg.norm(turned) > 1e-9:
        raise EcorcheError(
            "an ellipsoid's turn is no rotation",
            where=f"field {field!r}",
            remedy="Give x, y, z, w, not all 0",
        )
    told_of: dict[str, Any] = {"radii": tuple(float(r) for r in radii)}
    if isinstance(carrier, str):
        joint = here.joint(carrier)
        own = bind_rotation(here.skeleton, joint).T @ matrix_from_xyzw(normalise(turned))
        told_of |= {"joint": carrier, "centre": here.local(carrier, centre)}
        turned = xyzw_from_matrix(own)
    else:
        here.line(carrier.muscle, carrier.line)
        told_of |= {"on_line": carrier.model_dump(), "centre": tuple(centre.tolist())}
    told_of["turn"] = tuple(normalise(turned).tolist())
    with told_as_document_error(f"{here.rig.source}, fields, {field}"):
        return EllipsoidSpec.model_validate(rounded(told_of))


def _require_ellipsoid(here: Lines, name: str, number: int) -> EllipsoidSpec:
    ellipsoids = here.field(name).ellipsoids
    if not 0 <= number < len(ellipsoids):
        raise DocumentError(
            f"the field {name!r} has no ellipsoid {number}",
            where=here.rig.source,
            remedy=f"Count from 0 to {len(ellipsoids) - 1}",
        )
    return ellipsoids[number]


def _with_field(here: Lines, name: str, field: FieldSpec) -> Lines:
    """The rig with a field changed; the muscles it acts on are tried."""
    bent = [n for n, m in here.rig.spec.muscles.lines.items() if any(name in line.fields for line in m.lines)]
    fields = {**here.rig.spec.muscles.fields, name: field}
    return here.with_lines(here.rig.spec.muscles.lines, fields, check=bent)


def _acted_on(here: Lines, muscle: Any, number: int, names: Sequence[str]) -> Any:
    if not 0 <= number < len(muscle.lines):
        raise DocumentError(
            f"there is no line {number}", where=here.rig.source, remedy=f"Count to {len(muscle.lines) - 1}"
        )
    lines = tuple(
        line.model_copy(update={"fields": tuple(names)}) if row == number else line
        for row, line in enumerate(muscle.lines)
    )
    return muscle.model_copy(update={"lines": lines})


def _carried_by(carrier: Carrier) -> str:
    return repr(carrier) if isinstance(carrier, str) else f"a line of {carrier.muscle!r}"
