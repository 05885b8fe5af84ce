"""Origin or insertion of a muscle found in the skin, dragged to another place; its rings stay where they
are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character
from ecorche.body.edited_rig import Edited, found_muscle, joint_called, with_found
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.muscles.extraction.attach import Attachment
from ecorche.muscles.extraction.redrawn import redrawn, space_rings_of
from ecorche.muscles.lofted_actions import actions_of


def dragged_end(
    rig: Rig,
    character: Character,
    name: str,
    end: int,
    place: npt.ArrayLike,
    joint: str | None = None,
) -> Edited:
    """The rig with an end of a muscle found in the skin elsewhere.

    Args:
        rig: The rig.
        character: Its character.
        name: The muscle.
        end: 0 for the origin, 1 for the insertion.
        place: In the world at bind [m], (3,).
        joint: The joint it shall move with; None leaves it on its own.
    """
    muscle, where = found_muscle(rig, character, name), np.asarray(place, np.float64)
    if end not in (0, 1):
        raise EcorcheError(f"{name!r} has no point {end}", where=name, remedy="Choose 0 (origin) or 1")
    if where.shape != (3,) or not np.isfinite(where).all():
        raise EcorcheError("that is no place", where=name, remedy="Give three finite numbers, in metres")
    number = muscle.joints[end] if joint is None else joint_called(character, joint)
    if number == muscle.joints[1 - end]:
        raise EcorcheError(
            f"both ends of {name!r} would move with {character.skeleton.names[number]!r}:"
            " it would never change its length",
            where=name,
            remedy="Name another joint",
        )
    ends = [Attachment(j, at) for j, at in zip(muscle.joints, muscle.ends, strict=True)]
    ends[end] = Attachment(number, where)
    moved = redrawn(muscle, (ends[0], ends[1]), space_rings_of(muscle), character.skeleton)
    moved = replace(moved, actions=actions_of(moved, character.skeleton))
    far = 1e3 * float(np.linalg.norm(where - muscle.ends[end]))
    line = f"the {'insertion' if end else 'origin'} of {name!r} moved by {far:.1f} mm"
    return Edited(with_found(rig, character, moved), (line,))
