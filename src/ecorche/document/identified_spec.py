"""The file of identified muscles: what was measured of a body's spindles, to be used on it and on others.

Plain JSON. Lengths in metres, tensions in newtons, angles in radians. It goes with a body of like build:
`scaled` takes it to one of another size.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from ecorche.base.files import require_file, whole_file
from ecorche.document.fields import Positive, Spec, refusal
from ecorche.document.files import frozen
from ecorche.document.muscle_spec import Name
from ecorche.document.problems import document_error
from ecorche.document.text import layout, lines_of, parse
from ecorche.errors import DocumentError, EcorcheError

LARGEST_TEXT = 1 << 26

Quantity = Literal[
    "k1 origin", "k2 origin", "k3 origin", "k4 origin",
    "k1 insertion", "k2 insertion", "k3 insertion", "k4 insertion",
    "eccentricity",
]  # fmt: skip
Terms = tuple[float, float, float]
Range = tuple[float, float]
LENGTHS: frozenset[str] = frozenset({"k3 origin", "k4 origin", "k3 insertion", "k4 insertion"})
NotNegative = Annotated[float, Field(ge=0.0)]


class IdentifiedSpindleSpec(Spec):
    """One spindle: its 27 numbers and what they were found from."""

    muscle: Name
    """The muscle it is of; thin spindles side by side share a flat one."""
    share: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    """Its share in the muscle's tension."""
    coefficients: Mapping[Quantity, Terms]
    """α [1/m], β [1/N] and γ of the nine quantities; times metres for k3 and k4."""
    undeformed: Mapping[Quantity, float]
    """The nine quantities of the best spindle that does not deform."""
    turn: Annotated[float, Field(ge=-7.0, le=7.0)] = 0.0
    """From the path's polar axis to the section's long axis [rad]."""
    undeformed_turn: Annotated[float, Field(ge=-7.0, le=7.0)] = 0.0
    """The same of the spindle that does not deform [rad]."""
    fat: NotNegative = 0.0
    """Between its surface and the markers [m]."""
    lengths: Range
    """Shortest and longest path it was identified at [m]."""
    tensions: Range
    """Least and greatest tension of the spindle [N]."""
    markers: Annotated[int, Field(ge=1)]
    """Marker positions that it was identified from, all frames together."""
    before: NotNegative
    """Mean distance of markers from the undeformed spindle [m], each marker's own mean taken out."""
    after: NotNegative
    """The same from the spindle as identified."""
    bare_before: NotNegative
    """Mean distance of markers from the undeformed spindle [m], nothing taken out."""
    bare_after: NotNegative
    """The same from the spindle as identified."""
    volume_deviation: NotNegative = 0.0
    """Standard deviation of its volume, as a share of the mean."""
    seam: NotNegative = 0.0
    """Largest step of its radius at the belly [m]."""
    notes: tuple[str, ...] = ()
    """What a person should know about it."""

    @model_validator(mode="after")
    def _require_nine(self) -> IdentifiedSpindleSpec:
        for field, given in (("coefficients", self.coefficients), ("undeformed", self.undeformed)):
            missing = [name for name in Quantity.__args__ if name not in given]  # type: ignore[attr-defined]
            if missing:
                raise refusal(f"there is no {missing[0]!r}", "Write all nine quantities", place=(field,))
        for field, (low, high) in (("lengths", self.lengths), ("tensions", self.tensions)):
            if low > high:
                raise refusal("the range ends before it begins", "Swap the two numbers", place=(field,))
        return self


class CostSpec(Spec):
    """How the four terms of the identification were weighed."""

    volume: NotNegative = 1.0
    tendon: NotNegative = 100.0
    seam: NotNegative = 100.0
    tendon_radius: Positive = 0.01
    """Radius asked for at both ends [m]."""
    outlier: Positive = 0.002
    """Distance from which a marker counts less than by its square [m]."""
    lasting: NotNegative = 1.0
    """How much a marker's mean distance counts against what changes."""


class IdentifiedSpec(Spec):
    """Muscles identified from markers."""

    format: Literal["ecorche identified muscles"] = "ecorche identified muscles"
    version: Literal[1] = 1
    subject: str = ""
    """Whose they are."""
    frames: Annotated[int, Field(ge=1)]
    """That they were identified from."""
    cost: CostSpec = Field(default_factory=CostSpec)
    spindles: Mapping[Name, IdentifiedSpindleSpec]
    left_out: Mapping[Name, str] = Field(default_factory=dict)
    """Muscles that could not be identified, and why."""
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _require_whole_muscles(self) -> IdentifiedSpec:
        sums: dict[str, float] = {}
        for spindle in self.spindles.values():
            sums[spindle.muscle] = sums.get(spindle.muscle, 0.0) + spindle.share
        for muscle, whole in sums.items():
            if whole > 1.0 + 1e-9:
                raise refusal(
                    f"the spindles of {muscle!r} bear {whole:.3g} times its tension",
                    "Make their shares add up to 1 at most",
                    place=("spindles",),
                )
        return self

    def scaled(self, size: float | Mapping[str, float], *, strength: float | None = None) -> IdentifiedSpec:
        """The same muscles of a body of like build, its segments ``size`` times as long.

        Radii and lengths grow with the size; tensions with ``strength``, by default with the size's square.

        Args:
            size: One number, or one for each muscle by name: that of the segment it lies along.
            strength: How many times as strong each muscle is.
        """
        made = {}
        for name, spindle in self.spindles.items():
            by = size if not isinstance(size, Mapping) else _size_of(size, name, spindle.muscle)
            if not by > 0.0 or (strength is not None and not strength > 0.0):
                raise EcorcheError(
                    "a size or strength is not a positive number", where=name, remedy="Give 1 for the same"
                )
            made[name] = _scaled(spindle, by, by * by if strength is None else strength)
        # copies are not checked, so it is made anew
        return IdentifiedSpec(**{**dict(self), "spindles": made})


def read_identified(path: str | os.PathLike[str]) -> IdentifiedSpec:
    """The identified muscles in a file; anything wrong is told with file, line and field."""
    path = require_file(path)
    if path.stat().st_size > LARGEST_TEXT:
        raise DocumentError("is too large to be a file of identified muscles", where=path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DocumentError("is not text in UTF-8", where=path, remedy="Give a JSON file") from None
    data = parse(text, path)
    try:
        return IdentifiedSpec.model_validate(frozen(data))
    except ValidationError as error:
        raise document_error(error, data, lines_of(text, path), path) from None


def write_identified(path: str | os.PathLike[str], identified: IdentifiedSpec) -> None:
    """Write identified muscles, whole or not at all; the same muscles give the same bytes."""
    with whole_file(Path(path)) as partial:
        partial.write_text(layout(identified.model_dump(mode="json")) + "\n", encoding="utf-8")


def _size_of(sizes: Mapping[str, float], name: str, muscle: str) -> float:
    for key in (name, muscle):
        if key in sizes:
            return sizes[key]
    raise EcorcheError(
        f"no size is given for the muscle {muscle!r}", remedy="Give one for every muscle, or one for all"
    )


def _scaled(spindle: IdentifiedSpindleSpec, size: float, strength: float) -> IdentifiedSpindleSpec:
    def power(name: str) -> float:
        return size if name in LENGTHS else 1.0

    return IdentifiedSpindleSpec(
        **{
            **dict(spindle),
            "coefficients": {
                name: (a * power(name) / size, b * power(name) / strength, c * power(name))
                for name, (a, b, c) in spindle.coefficients.items()
            },
            "undeformed": {name: value * power(name) for name, value in spindle.undeformed.items()},
            "fat": spindle.fat * size,
            "lengths": (spindle.lengths[0] * size, spindle.lengths[1] * size),
            "tensions": (spindle.tensions[0] * strength, spindle.tensions[1] * strength),
            "before": spindle.before * size,
            "after": spindle.after * size,
            "bare_before": spindle.bare_before * size,
            "bare_after": spindle.bare_after * size,
            "seam": spindle.seam * size,
        }
    )
