"""Action lines of a rig, edited: nodes moved, bound, freed and led, and what a line says beside its nodes.

Every edit gives a whole rig, checked, and says what it did. Places are in the world at bind [m]: what a node
holds of them depends on its kind, and each keeps its place while its kind changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise, xyzw_from_matrix
from ecorche.body.character import Character
from ecorche.body.edited_lines import AnyNode, Lines, relaid, told
from ecorche.body.edited_rig import Edited
from ecorche.document.files import Rig
from ecorche.document.line_spec import (
    BoundNodeSpec,
    FreedomSpec,
    FreeNodeSpec,
    LineMuscleSpec,
    LineSpec,
    MobileNodeSpec,
)
from ecorche.document.problems import told_as_document_error
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.mobile import FreedomKind

Floats = npt.NDArray[np.float64]
Kind = Literal["bound", "free", "mobile"]
Extreme = Literal["low", "rest", "high"]

LED = 90.0
"""A new mobile node's extremes lie so far to either side of bind where no action tells them [degrees]."""


def moved_node(
    rig: Rig,
    character: Character,
    muscle: str,
    line: int,
    node: int,
    to: npt.ArrayLike,
    extreme: Extreme = "rest",
) -> Edited:
    """The rig with a node elsewhere; free nodes around it keep their ratio, so they go along.

    Args:
        rig: The rig.
        character: Its character.
        muscle, line, node: Which; lines and nodes count from 0.
        to: Its place in the world at bind [m], shape (3,). A node shared by lines moves in all of them.
        extreme: Which of the places of a mobile node.
    """
    lines = Lines(rig, character)
    known, place = lines.node(muscle, line, node), np.asarray(to, np.float64)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise EcorcheError(
            "a node's place is not three finite numbers", where=muscle, remedy="Give x, y and z in metres"
        )
    where = f"node {node} of {lines.spoken(muscle, line)}"
    if isinstance(known, MobileNodeSpec):
        field = {"low": "at_low", "rest": "at_rest", "high": "at_high"}[extreme]
        before = np.array(getattr(known, field))
        after = lines.local(known.joint, place)
        made = _with_node(lines, muscle, line, node, known.model_copy(update={field: after}))
        far = 1e3 * float(np.linalg.norm(np.array(after) - before))
        return told(f"{where} moved by {far:.1f} mm at its {extreme}", made)
    places = lines.designed(muscle, line)
    far = 1e3 * float(np.linalg.norm(place - places[node]))
    places[node] = place
    if isinstance(known, FreeNodeSpec):
        made = _with_place(lines, muscle, line, node, place)
        others = [] if known.shared is None else _sharing(lines, known.shared, (muscle, line))
        for name, number, row in others:
            made = _with_place(made, name, number, row, place, check=False)
        made.require_compilable(sorted({name for name, *_ in others} | {muscle}))
        more = [f"it is shared: it moved in {len(others)} other lines"] if others else []
        return told(f"{where} moved by {far:.1f} mm", made, *more)
    spec = known.model_copy(update={"at": lines.local(known.joint, place)})
    made = _with_node(lines, muscle, line, node, spec)
    held = [row for row, one in enumerate(lines.line(muscle, line).nodes) if getattr(one, "shared", None)]
    if held:  # other lines have them too: they stay
        lie = made.designed(muscle, line)
        lie[held] = places[held]
        nodes = relaid(made, made.line(muscle, line).nodes, lie, ratios=False)
        made = made.with_line(muscle, line, {"nodes": nodes})
    return told(f"{where} moved by {far:.1f} mm", made)


def with_node_kind(
    rig: Rig, character: Character, muscle: str, line: int, node: int, kind: Kind, joint: str | None = None
) -> Edited:
    """The rig with a node bound to a joint, free, or mobile; it keeps its place, as do all others.

    A new mobile node is led by what the muscle's first action turns, or by the twist of the insertion's
    joint, and stays where it is until its extremes are moved.

    Args:
        rig: The rig.
        character: Its character.
        muscle, line, node: Which; lines and nodes count from 0.
        kind: What it shall be.
        joint: That carries it; None is the one that carries the end of the line nearer to it.
    """
    lines = Lines(rig, character)
    before, spec = lines.node(muscle, line, node), lines.line(muscle, line)
    places = lines.designed(muscle, line)
    where = f"node {node} of {lines.spoken(muscle, line)}"
    if before.kind == kind and joint is None:
        return Edited(rig, (f"{where} is {kind} already",))
    carrier = joint or (before.joint if not isinstance(before, FreeNodeSpec) else None)
    if carrier is None:
        arc = np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))
        ends = spec.nodes[0], spec.nodes[-1]
        nearer = ends[0] if arc[max(node - 1, 0)] < 0.5 * arc[-1] else ends[1]
        assert not isinstance(nearer, FreeNodeSpec)
        carrier = nearer.joint
    lines.joint(carrier)
    made: AnyNode
    if kind == "free":
        made = FreeNodeSpec(kind="free", ratio=0.5)
    elif kind == "bound":
        made = BoundNodeSpec(kind="bound", joint=carrier, at=lines.local(carrier, places[node]))
    else:
        made = _led(lines, lines.muscle(muscle), spec, carrier, lines.local(carrier, places[node]))
    nodes = [made if row == node else one for row, one in enumerate(spec.nodes)]
    if nodes[0].kind == "free" or nodes[-1].kind == "free":
        raise EcorcheError(
            "the end of a line cannot be free", where=where, remedy="Bind it, or free a node between the ends"
        )
    changed = relaid(lines, nodes, places, ratios=True)
    on = "" if kind == "free" else f", on {carrier!r}"
    return told(f"{where} is {kind}{on}", lines.with_line(muscle, line, {"nodes": changed}))


def with_adherence(
    rig: Rig,
    character: Character,
    muscle: str,
    line: int,
    node: int,
    swing: float,
    twist: float,
    *,
    axis: Sequence[float] | None = None,
    relative_to: str | None = None,
) -> Edited:
    """The rig with a bound node that follows its joint so much.

    Args:
        rig: The rig.
        character: Its character.
        muscle, line, node: Which; lines and nodes count from 0.
        swing, twist: Share of the joint's swing and twist that it follows, 0 to 1.
        axis: Along the limb, in world axes at bind, by which swing and twist are told; None is the bone.
        relative_to: The joint both are seen from; None is the parent.
    """
    lines = Lines(rig, character)
    if relative_to is not None:
        lines.joint(relative_to)
    changes = {"swing": swing, "twist": twist, "axis": axis, "relative_to": relative_to}
    made = _changed_node(lines, muscle, line, node, "bound", changes)
    where = f"node {node} of {lines.spoken(muscle, line)}"
    return told(
        f"{where} follows {100 * swing:.0f} % of the swing and {100 * twist:.0f} % of the twist", made
    )


def with_freedom(
    rig: Rig,
    character: Character,
    muscle: str,
    line: int,
    node: int,
    *,
    led_by: str | None = None,
    kind: FreedomKind | None = None,
    axis: Sequence[float] | None = None,
    degrees: tuple[float, float, float] | None = None,
    shape: Literal["linear", "parabolic"] | None = None,
) -> Edited:
    """The rig with a mobile node led by another degree of freedom; None keeps what it is.

    Args:
        rig: The rig.
        character: Its character.
        muscle, line, node: Which; lines and nodes count from 0.
        led_by: The joint.
        kind: An angle or twist about the axis, or a component of the swing across it.
        axis: What that joint turns about, in world axes at bind, shape (3,).
        degrees: The lowest, the resting and the highest angle, from bind.
        shape: How it goes from place to place.
    """
    lines = Lines(rig, character)
    known = lines.node(muscle, line, node)
    if not isinstance(known, MobileNodeSpec):
        raise _other_kind(muscle, line, node, known.kind, "mobile")
    freedom = known.freedom.model_dump()
    if led_by is not None:
        lines.joint(led_by)
        freedom["joint"] = led_by
    freedom["kind"] = kind or freedom["kind"]
    freedom["frame"] = freedom["frame"] if axis is None else _frame(np.asarray(axis, np.float64), muscle)
    low, rest, high = degrees or (known.low, known.rest, known.high)
    changes = {"freedom": freedom, "low": low, "rest": rest, "high": high, "shape": shape or known.shape}
    made = _changed_node(lines, muscle, line, node, "mobile", changes)
    name = {"swing_x": "swing about x", "swing_y": "swing about y"}.get(freedom["kind"], freedom["kind"])
    where = f"node {node} of {lines.spoken(muscle, line)}"
    return told(f"{where} is led by the {name} of {freedom['joint']!r}, {low:g} to {high:g}°", made)


def changed_line(
    rig: Rig, character: Character, muscle: str, line: int, changes: Mapping[str, Any]
) -> Edited:
    """The rig with some of what a line says, but not its nodes: `LineSpec` tells the fields.

    ``curved``, ``references``, ``blend``, ``outward``, ``flesh``, ``isometric``, ``tendon``, ``exclusive``
    and ``fields``, the names of those that act on it.
    """
    allowed = set(LineSpec.model_fields) - {"nodes"}
    for name in changes:
        if name not in allowed:
            raise EcorcheError(
                f"a line has no {name!r} to change",
                where=muscle,
                remedy=f"Choose among {', '.join(sorted(allowed))}",
            )
    lines = Lines(rig, character)
    for joint in changes.get("references") or ():
        lines.joint(joint)
    made = lines.with_line(muscle, line, changes)
    return told(f"{lines.spoken(muscle, line)}: {_spelled(changes)}", made)


def _with_node(lines: Lines, muscle: str, line: int, row: int, node: AnyNode) -> Lines:
    nodes = lines.line(muscle, line).nodes
    return lines.with_line(
        muscle, line, {"nodes": tuple(node if n == row else one for n, one in enumerate(nodes))}
    )


def _with_place(
    lines: Lines, muscle: str, line: int, row: int, place: Floats, *, check: bool = True
) -> Lines:
    """A free node elsewhere; what it is shared with is moved by the caller, who checks then."""
    spec, places = lines.line(muscle, line), lines.designed(muscle, line)
    places[row] = place
    nodes = relaid(lines, spec.nodes, places, ratios=False)
    muscle_spec = lines.muscle(muscle)
    made = tuple(
        one.model_copy(update={"nodes": nodes}) if n == line else one
        for n, one in enumerate(muscle_spec.lines)
    )
    muscles = {**lines.rig.spec.muscles.lines, muscle: muscle_spec.model_copy(update={"lines": made})}
    return lines.with_lines(muscles, check=[muscle] if check and spec.nodes[row].kind != "free" else ())


def _changed_node(
    lines: Lines, muscle: str, line: int, row: int, kind: Kind, changes: Mapping[str, Any]
) -> Lines:
    known = lines.node(muscle, line, row)
    if known.kind != kind:
        raise _other_kind(muscle, line, row, known.kind, kind)
    with told_as_document_error(f"{lines.rig.source}, {muscle}, line {line}, node {row}"):
        made = type(known).model_validate(known.model_dump() | dict(changes))
    return _with_node(lines, muscle, line, row, made)


def _other_kind(muscle: str, line: int, row: int, is_kind: str, wanted: str) -> EcorcheError:
    return EcorcheError(
        f"node {row} is {is_kind}, not {wanted}",
        where=f"{muscle}, line {line}",
        remedy=f"Make it {wanted} first",
    )


def _sharing(lines: Lines, shared: str, besides: tuple[str, int]) -> list[tuple[str, int, int]]:
    """Muscle, line and node of all others of a shared name."""
    return [
        (name, number, row)
        for name, muscle in lines.rig.spec.muscles.lines.items()
        for number, line in enumerate(muscle.lines)
        for row, node in enumerate(line.nodes)
        if isinstance(node, FreeNodeSpec) and node.shared == shared and (name, number) != besides
    ]


def _led(
    lines: Lines, muscle: LineMuscleSpec, line: LineSpec, joint: str, at: tuple[float, float, float]
) -> MobileNodeSpec:
    """A mobile node that stays where it is, led by what the muscle does, else by a twist."""
    last = line.nodes[-1]
    assert not isinstance(last, FreeNodeSpec)
    led_by, kind, low, high = last.joint, "twist", -LED, LED
    skeleton, number = lines.skeleton, lines.joint(last.joint)
    tail = skeleton.tails[number]
    along = skeleton.bind_world[number, :3, :3] @ tail if np.isfinite(tail).all() else np.zeros(3)
    axis = along if np.linalg.norm(along) > 1e-9 else np.array([0.0, 1.0, 0.0])
    if muscle.actions:
        action = muscle.actions[0]
        led_by, kind, axis = action.joint, "angle", np.array(action.axis)
        low, high = min(0.0, *action.degrees), max(0.0, *action.degrees)
    return MobileNodeSpec.model_validate(
        {
            "kind": "mobile",
            "joint": joint,
            "freedom": FreedomSpec.model_validate(
                {"joint": led_by, "kind": kind, "frame": _frame(axis, led_by)}
            ),
            "low": low, "rest": 0.0, "high": high,
            "at_low": at, "at_rest": at, "at_high": at,
        }
    )  # fmt: skip


def _frame(axis: Floats, where: str) -> tuple[float, ...]:
    """The turn, xyzw, whose z is an axis (3,); x is as near as can be to the axis of the world across it."""
    size = float(np.linalg.norm(axis)) if axis.shape == (3,) else 0.0
    if not (np.isfinite(size) and size > 1e-9):
        raise EcorcheError("an axis is no direction", where=where, remedy="Give three numbers, not all zero")
    z = normalise(axis)
    x = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = normalise(x - (x @ z) * z)
    turn = xyzw_from_matrix(np.stack([x, np.cross(z, x), z], axis=1))
    return tuple(float(v) for v in np.round(normalise(turn), 9) + 0.0)


def _spelled(changes: Mapping[str, Any]) -> str:
    def short(value: Any) -> str:
        text = "none" if value is None or value == () else str(value)
        return text if len(text) <= 60 else f"{text[:57]}…"

    return "; ".join(f"{name.replace('_', ' ')} {short(value)}" for name, value in changes.items())
