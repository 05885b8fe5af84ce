"""A few bodies of one character, for a crowd: other bulk and other fat on the same joints."""

from __future__ import annotations

from collections.abc import Sequence

from ecorche.body.body_type import with_type
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError

VARIANTS = (
    (1.0, 0.0),
    (0.85, 0.0),
    (1.0, 0.45),
    (1.15, 0.1),
    (0.95, 0.8),
    (1.25, 0.0),
    (0.8, -0.3),
    (1.1, 0.6),
)
"""How many times the bulk, and how much more fat, than the rig has; the first is the character itself."""


def body_variants(rig: Rig, count: int) -> Sequence[Rig]:
    """The rig as so many body types; the first is the rig itself."""
    if not 1 <= count <= len(VARIANTS):
        raise EcorcheError(
            f"{count} body types are asked for", where="body types", remedy=f"Give 1 to {len(VARIANTS)}"
        )
    own = rig.spec.body_type
    others = [with_type(rig, bulk=own.bulk * bulk, fat=own.fat + fat) for bulk, fat in VARIANTS[1:count]]
    return [rig, *others]
