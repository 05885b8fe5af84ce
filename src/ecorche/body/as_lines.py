"""A rig whose parametric muscles become meshes on action lines: of the template, or of anyone's making."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from ecorche.base.names import listed
from ecorche.body.character import Character
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.spelled_lines import new_line_specs
from ecorche.document.files import Rig
from ecorche.document.line_spec import BodyTypeSpec
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import RigSpec
from ecorche.errors import EcorcheError
from ecorche.muscles.line_muscle import Admissible, Elastic, LineMuscle
from ecorche.muscles.lines.line_paths import LinePaths
from ecorche.muscles.musculature import musculature
from ecorche.muscles.scapula import with_scapulae
from ecorche.muscles.spindle_lines import lines_from_spindles
from ecorche.muscles.template.bones import template_bones
from ecorche.skeleton.naming.recognise import recognise

PathModel = Literal["admissible", "elastic"]

BESIDE = 0.01
"""An elastic line that rests farther from the middle of its muscle is told [m]."""


@dataclass(frozen=True)
class AsLinesReport:
    """What came of a rig's parametric muscles.

    Attributes:
        muscles: How many are meshes on lines now.
        bones: How many ellipsoids of bones their lines go round.
        notes: What a person should know about single muscles, a sentence each.
    """

    muscles: int
    bones: int
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """The report in sentences."""
        return [
            f"{self.muscles} muscles are meshes on action lines, which go round {self.bones} bones",
            *self.notes,
        ]


def as_lines(
    rig: Rig,
    character: Character,
    path: PathModel = "admissible",
    *,
    only: frozenset[str] | None = None,
    bulk: float = 1.0,
) -> tuple[Rig, AsLinesReport]:
    """The rig with parametric muscles as meshes on action lines in their place.

    They keep name, group, force, bulge and actions, and no longer move the skin.

    Args:
        rig: With parametric muscles.
        character: Its character.
        path: Whether lines are drawn tight over bones or are springs that fields bend.
        only: Names of the muscles that change; None is all.
        bulk: How muscular the body is, 1 as fitted under the skin.

    Raises:
        EcorcheError: The rig has no such muscle, or a name that no muscle has.
    """
    muscles, scapulae = muscles_of(rig, character.skeleton)
    chosen = [muscle for muscle in muscles if only is None or muscle.name in only]
    unknown = sorted((only or frozenset()) - {muscle.name for muscle in muscles})
    if unknown or not chosen:
        raise EcorcheError(
            f"there is no parametric muscle {unknown[0]!r}" if unknown else "there are no parametric muscles",
            where=rig.source,
            remedy="Make a rig of a humanoid: ecorche rig CHARACTER; ecorche info RIG lists its muscles",
        )
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    bones = template_bones(character.skeleton, naming)
    meshes, fields = lines_from_spindles(
        musculature(chosen, character.skeleton, scapulae),
        bones,
        Admissible() if path == "admissible" else Elastic(),
    )
    extended = with_scapulae(character.skeleton, scapulae)
    notes = _beside(meshes, LinePaths(extended, meshes, fields, scapulae)) if path == "elastic" else ()
    old = rig.spec.muscles
    with told_as_document_error(rig.source):
        lines, bent, surfaces = new_line_specs(meshes, fields, extended)
        spec = rig.spec.model_copy(
            update={
                "body_type": BodyTypeSpec(bulk=bulk, fat=rig.spec.body_type.fat),
                "muscles": old.model_copy(
                    update={
                        "named": {name: spec for name, spec in old.named.items() if name not in lines},
                        "lines": {**old.lines, **lines},
                        "fields": {**old.fields, **bent},
                    }
                ),
            }
        )
        spec = RigSpec.model_validate(spec.model_dump())  # copies are not checked
    known = {bone.bone for bone in bones}
    report = AsLinesReport(len(lines), len(known & set(bent)), notes)
    return replace(rig, spec=spec, surfaces={**rig.surfaces, **surfaces}), report


def _beside(muscles: Sequence[LineMuscle], paths: LinePaths) -> tuple[str, ...]:
    """Which lines rest beside the muscles they were made for: springs straighten what nothing holds."""
    lines = [line for muscle in muscles for line in muscle.lines]
    far = {
        name: float(np.linalg.norm(paths.bind[a:b] - line.places(), axis=1).max())
        for name, line, (a, b) in zip(paths.names, lines, pairwise(paths.starts), strict=True)
    }
    astray = [name for name, distance in far.items() if distance > BESIDE]
    if not astray:
        return ()
    return (
        f"{len(astray)} lines rest beside the middle of their muscle, by up to"
        f" {1000.0 * max(far.values()):.0f} mm: {listed(astray, 4)}",
    )
