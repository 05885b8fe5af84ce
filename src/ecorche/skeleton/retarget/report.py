"""What retargeting did: which joints matched, how well limbs point, how much feet slide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ecorche.skeleton.retarget.soles import FootSkate


@dataclass(frozen=True)
class RetargetReport:
    """What came through, and how well.

    Attributes:
        mode: ``"directions"``, ``"planted"``, ``"names"`` for skeletons that are no humanoids and
            were matched by equal names, or ``"unchanged"``.
        scale: Target size over source size; all travel is multiplied by it.
        matched: Pairs of source and target joint names that move together.
        unmatched_source: Source joints whose motion had nowhere to go.
        unmatched_target: Target joints that keep their place in their parent.
        shared_twist: Target joints that take a part of their limb's twist.
        direction_error: Worst angle between a limb's direction in source and target, by limb [deg].
        floor: Height of the target's floor [m].
        floor_offset: How far the lowest sole is from the floor while a foot of the source is planted,
            at worst [m]; negative is below.
        out_of_reach: The most an ankle stayed short of its wanted place [m].
        skate_source: Sliding of planted feet in the source, its lengths scaled.
        skate_directions: The same with limb directions kept.
        skate: The same in the result.
        notes: What else a person should know, a sentence each.
    """

    mode: str
    scale: float = 1.0
    matched: tuple[tuple[str, str], ...] = ()
    unmatched_source: tuple[str, ...] = ()
    unmatched_target: tuple[str, ...] = ()
    shared_twist: tuple[str, ...] = ()
    direction_error: Mapping[str, float] = field(default_factory=dict)
    floor: float = 0.0
    floor_offset: float = 0.0
    out_of_reach: float = 0.0
    skate_source: FootSkate | None = None
    skate_directions: FootSkate | None = None
    skate: FootSkate | None = None
    notes: tuple[str, ...] = ()

    @property
    def worst_direction_error(self) -> float:
        """The largest of the direction errors [deg]."""
        return max(self.direction_error.values(), default=0.0)

    def __str__(self) -> str:
        if self.mode == "unchanged":
            return "motion unchanged: it was made for this skeleton"
        lines = [
            f"retargeted ({self.mode}): {len(self.matched)} joints matched, scale {self.scale:.3f}",
        ]
        for title, names in (
            ("motion joints without a counterpart", self.unmatched_source),
            ("joints that keep their place in their parent", self.unmatched_target),
            ("joints that share their limb's twist", self.shared_twist),
        ):
            if names:
                lines.append(f"  {title}: {listed(names)}")
        if self.direction_error:
            limb = max(self.direction_error, key=lambda name: self.direction_error[name])
            lines.append(f"  limb directions within {self.worst_direction_error:.2f} degrees (worst: {limb})")
        if self.skate is not None:
            lines.append(
                f"  foot skate: {self.skate}; source {self.skate_source}"
                + ("" if self.mode == "directions" else f"; with directions kept {self.skate_directions}")
            )
            lines.append(f"  lowest sole off by at most {100.0 * abs(self.floor_offset):.1f} cm")
        if self.out_of_reach > 1e-4:
            lines.append(f"  an ankle stayed {100.0 * self.out_of_reach:.1f} cm short of its place")
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)


def listed(names: tuple[str, ...], at_most: int = 8) -> str:
    """Names in a row, the first few of many."""
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return ", ".join(names[:at_most]) + more
