"""`--activation`: how active the muscles are, as a person says it on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    from ecorche.cli.subject import Subject
    from ecorche.muscles.activation import ActivationSource
    from ecorche.muscles.line_muscle import LineMuscle
    from ecorche.muscles.lofted import LoftedMuscle
    from ecorche.muscles.muscle import Muscle

ACTIVATION: Any = typer.Option(
    None,
    metavar="HOW",
    help="joints, motion, anticipating, rest, a number 0 to 1, or curves (.csv, .sto); default: the rig's.",
)
WITHOUT_MUSCLES: Any = typer.Option(False, "--without-muscles", help="Skin by skinning alone.")


def all_muscles(subject: Subject) -> list[Muscle | LoftedMuscle | LineMuscle]:
    """The muscles of all kinds of a subject's rig, in the order of `Body.activation`."""
    from ecorche.body.line_specs import line_muscles_of
    from ecorche.body.lofted_specs import lofted_muscles_of
    from ecorche.body.muscle_specs import muscles_of

    assert subject.rig is not None
    rig, skeleton = subject.rig, subject.character.skeleton
    return [
        *muscles_of(rig, skeleton)[0],
        *lofted_muscles_of(rig, skeleton),
        *line_muscles_of(rig, skeleton),
    ]


def activation_source(text: str | None, subject: Subject) -> ActivationSource | None:
    """The source that was asked for; None where the rig's own shall be taken."""
    if text is None:
        return None
    rig = subject.rig
    if rig is None or rig.spec.muscles.count == 0:
        raise EcorcheError(
            "there are no muscles to activate",
            where="--activation",
            remedy="Make a rig first: ecorche rig CHARACTER, and give the .ecorche file",
        )
    import numpy as np

    from ecorche.body.muscles import BY_JOINTS, named_activation, rig_activation
    from ecorche.muscles.activation import Constant

    muscles = all_muscles(subject)
    if text == "rest":
        return Constant(np.zeros(len(muscles)))
    if text in BY_JOINTS:
        return named_activation(text, subject.character, rig, muscles)
    try:
        value = float(text)
    except ValueError:
        pass
    else:
        if not 0.0 <= value <= 1.0:
            raise EcorcheError(
                f"the activation {text} is not between 0 and 1", where="--activation", remedy="Give 0 to 1"
            )
        return Constant(np.full(len(muscles), value))
    if not Path(text).suffix:
        raise EcorcheError(
            f"{text!r} is no way to activate muscles",
            where="--activation",
            remedy="Give joints, motion, anticipating, rest, a number from 0 to 1, or a .csv or .sto file",
        )
    from ecorche.io.activation import read_activation
    from ecorche.muscles.keyed_activation import KeyedActivation

    curves = read_activation(text)
    return KeyedActivation(muscles, curves, rig_activation(subject.character, rig, muscles))
