"""The lines of a muscle, edited as a whole: drawn tight or springs, more of them and fewer.

Every edit gives a whole rig, checked, and says what it did.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed
from ecorche.base.rotations import normalise
from ecorche.body.character import Character
from ecorche.body.edited_lines import AnyNode, Lines, relaid, told
from ecorche.body.edited_rig import Edited
from ecorche.body.line_specs import fields_of
from ecorche.body.spelled_joints import numbers
from ecorche.document.files import Rig
from ecorche.document.line_spec import (
    AdmissibleSpec,
    BoundNodeSpec,
    ElasticSpec,
    FreeNodeSpec,
    LineSpec,
    MobileNodeSpec,
)
from ecorche.document.problems import told_as_document_error
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.admissible import outwards
from ecorche.muscles.lines.fields import Field

Floats = npt.NDArray[np.float64]

ASIDE = 0.5
"""A further line lies beside the first by this share of the way to the edge of the mesh."""


def with_path_model(
    rig: Rig,
    character: Character,
    muscle: str,
    model: Literal["admissible", "elastic"],
    **numbers_of: float | None,
) -> Edited:
    """The rig with a muscle's lines drawn tight over bones, or springs that fields bend.

    Numbers of the model, such as ``stiffness``, are by their names in `AdmissibleSpec` and `ElasticSpec`.
    Elastic lines have no mobile nodes, nor such that follow their joint in part: those become bound wholly.
    """
    lines = Lines(rig, character)
    spec = lines.muscle(muscle)
    kept = spec.path.model_dump() if spec.path.model == model else {"model": model}
    with told_as_document_error(f"{rig.source}, {muscle}, path"):
        kind = AdmissibleSpec if model == "admissible" else ElasticSpec
        path: AdmissibleSpec | ElasticSpec = kind.model_validate(kept | numbers_of)
    told_of, made_lines = [], spec.lines
    if model == "elastic" and spec.path.model != "elastic":
        made_lines = tuple(
            line.model_copy(update={"nodes": tuple(map(_wholly, line.nodes))}) for line in spec.lines
        )
        changed = sum(a != b for one, line in zip(made_lines, spec.lines, strict=True)
                      for a, b in zip(one.nodes, line.nodes, strict=True))  # fmt: skip
        if changed:
            told_of.append(f"{changed} nodes that were mobile or followed in part are bound wholly now")
    if model == "admissible" and spec.path.model == "elastic":
        shared = sum(getattr(n, "shared", None) is not None for line in spec.lines for n in line.nodes)
        known = fields_of(rig, character.skeleton)
        drawing = {name for name, field in known.items() if not _in_the_way(field)}
        made_lines = tuple(_drawn_tight(lines, muscle, k, known, drawing) for k in range(len(spec.lines)))
        if shared:
            told_of.append(f"{shared} nodes are no longer shared: only elastic lines have such")
        off = [
            name for name in dict.fromkeys(f for line in spec.lines for f in line.fields) if name in drawing
        ]
        if off:
            told_of.append(
                f"they are not bent by {listed(off, 4)} any more: only elastic lines are drawn to fields"
            )
    made = lines.with_muscle(muscle, spec.model_copy(update={"path": path, "lines": made_lines}))
    return told(f"lines of {muscle!r} are {model}{_told_numbers(numbers_of)}", made, *told_of)


def added_line(
    rig: Rig,
    character: Character,
    muscle: str,
    *,
    like: int = 0,
    ends: tuple[Sequence[float], Sequence[float]] | None = None,
) -> Edited:
    """The rig with one more line in a muscle, made like one it has.

    Args:
        rig: The rig.
        character: Its character.
        muscle: Which.
        like: The line whose nodes, tendons and fields it takes.
        ends: Where it begins and ends, in the world at bind [m]; None is beside that line, where the mesh is
            wide and no line is near.
    """
    lines = Lines(rig, character)
    spec, base = lines.muscle(muscle), lines.line(muscle, like)
    places = lines.designed(muscle, like)
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    share = (arc / arc[-1])[:, None]
    if ends is None:
        points = rig.surfaces[spec.surface].points
        others = [lines.designed(muscle, number) for number in range(len(spec.lines))]
        by = _beside(places, points, others)
        # ends stay together on the bone more than bellies do
        to = places + by * (0.5 + 0.5 * np.sin(np.pi * share))
    else:
        first, last = (
            np.asarray(end, np.float64) - place
            for end, place in zip(ends, (places[0], places[-1]), strict=True)
        )
        to = places + (1.0 - share) * first + share * last
    nodes = relaid(lines, [_unshared(node) for node in base.nodes], to, ratios=False)
    # what draws the first line to itself would draw the second to the same place
    drawing = [name for name in base.fields if rig.spec.muscles.fields[name].kind == "attract"]
    acting = tuple(name for name in base.fields if name not in drawing)
    made_line = base.model_copy(update={"nodes": nodes, "fields": acting})
    made = lines.with_muscle(muscle, spec.model_copy(update={"lines": (*spec.lines, made_line)}))
    far = 1e3 * float(np.linalg.norm(to - places, axis=1).max())
    undrawn = [f"it is not drawn by {listed(drawing, 4)}, as that one is"] if drawing else []
    return told(
        f"{muscle!r} has a line {len(spec.lines) + 1}, {far:.0f} mm from line {like + 1}", made, *undrawn
    )


def removed_line(rig: Rig, character: Character, muscle: str, line: int) -> Edited:
    """The rig without one line of a muscle; fields on lines after it follow its change of number."""
    lines = Lines(rig, character)
    lines.line(muscle, line)
    spec, fields = lines.muscle(muscle), dict(rig.spec.muscles.fields)
    if len(spec.lines) == 1:
        raise EcorcheError(
            f"{muscle!r} has no other line", where=rig.source, remedy="Remove the muscle, or add a line first"
        )
    for name, field in rig.spec.muscles.fields.items():
        ellipsoids = []
        for one in field.ellipsoids:
            on = one.on_line
            if on is not None and on.muscle == muscle and on.line == line:
                raise EcorcheError(
                    f"the field {name!r} is carried by that line",
                    where=f"{rig.source}, {muscle}",
                    remedy="Let a joint or another line carry it, or remove the field",
                )
            if on is not None and on.muscle == muscle and on.line > line:
                one = one.model_copy(update={"on_line": on.model_copy(update={"line": on.line - 1})})
            ellipsoids.append(one)
        fields[name] = field.model_copy(update={"ellipsoids": tuple(ellipsoids)})
    left = tuple(one for row, one in enumerate(spec.lines) if row != line)
    muscles = {**rig.spec.muscles.lines, muscle: spec.model_copy(update={"lines": left})}
    made = lines.with_lines(muscles, fields, check=[muscle])
    return told(f"{lines.spoken(muscle, line)} is removed; it has {len(left)} left", made)


def _in_the_way(field: Field) -> bool:
    """Whether an admissible line knows what a field does: push it off ellipsoids on joints."""
    return field.kind == "repel" and all(one.joint is not None for one in field.ellipsoids)


def _drawn_tight(
    lines: Lines, muscle: str, number: int, known: Mapping[str, Field], drawing: Collection[str]
) -> LineSpec:
    """An elastic line as an admissible one: its free nodes held on the side of the bones that they are on."""
    line, places = lines.line(muscle, number), lines.designed(muscle, number)
    acting = tuple(name for name in line.fields if name not in drawing)
    bones = [one for name in acting for one in known[name].ellipsoids]
    nodes = []
    for node, place in zip(line.nodes, places, strict=True):
        freed = _unshared(node)
        if isinstance(freed, FreeNodeSpec) and freed.side is None and bones:
            freed = freed.model_copy(update={"side": numbers(np.round(outwards(place, bones), 9) + 0.0)})
        nodes.append(freed)
    return line.model_copy(update={"nodes": tuple(nodes), "fields": acting})


def _wholly(node: AnyNode) -> AnyNode:
    """The node as an elastic line can have it."""
    if isinstance(node, MobileNodeSpec):
        return BoundNodeSpec(kind="bound", joint=node.joint, at=node.at_rest)
    if isinstance(node, BoundNodeSpec) and (node.swing < 1.0 or node.twist < 1.0):
        return node.model_copy(update={"swing": 1.0, "twist": 1.0})
    return node


def _unshared(node: AnyNode) -> AnyNode:
    return node.model_copy(update={"shared": None}) if isinstance(node, FreeNodeSpec) else node


def _beside(places: Floats, points: Floats, others: Sequence[Floats]) -> Floats:
    """From a line to beside it [m], shape (3,): across, towards the wider side without a line."""
    along = normalise(places[-1] - places[0])
    across = points - places.mean(axis=0)
    across -= (across @ along)[:, None] * along
    widest = np.linalg.svd(across, full_matrices=False)[2][0]
    reach = across @ widest
    taken = [float((other.mean(axis=0) - places.mean(axis=0)) @ widest) for other in others]
    tried = [ASIDE * float(np.percentile(reach, share)) for share in (2.0, 98.0)]
    best = max(tried, key=lambda d: min(abs(d - t) for t in taken))
    return np.asarray(best * widest)


def _told_numbers(values: Mapping[str, float | None]) -> str:
    told_of = [f"{name.replace('_', ' ')} {'found' if v is None else f'{v:g}'}" for name, v in values.items()]
    return f", {', '.join(told_of)}" if told_of else ""
