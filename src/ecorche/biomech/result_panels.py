"""What a motion's results show, plot by plot: activations with measured EMG, moments, angles, and how far to
trust them. Numbers and words alone; `render.report` draws them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.biomech.inverse_dynamics import unmeasured_contacts
from ecorche.biomech.model import MusculoskeletalModel
from ecorche.biomech.muscle_groups import group_order, muscle_group
from ecorche.biomech.muscle_names import meant_by, side_of
from ecorche.biomech.tensions import TOLD

Floats = npt.NDArray[np.float64]
Kind = Literal["right", "left", "middle", "extra", "emg", "reserve"]

RMS_ERROR, WORST_ERROR = 20.0, 40.0
"""Of markers [mm]: what OpenSim's guide takes for a good fit."""
RESIDUAL = 0.05
"""Of the largest ground force: what may be left at the root (Hicks et al. 2015)."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A line over time.

    Attributes:
        label: What it is, such as "right".
        kind: How it is drawn.
        values: (samples,); NaN where there is nothing.
    """

    label: str
    kind: Kind
    values: Floats


@dataclass(frozen=True, eq=False)
class Panel:
    """A plot.

    Attributes:
        title: What is shown.
        unit: Of the vertical axis, with what it measures.
        curves: Measured ones first, so that others lie over them.
        limits: Ends of the vertical axis; None holds all curves and 0.
        guides: Values that are marked by a line, with their words.
        told: A remark, such as a correlation.
        flagged: Whether the remark is a warning.
    """

    title: str
    unit: str
    curves: tuple[Curve, ...]
    limits: tuple[float, float] | None = None
    guides: tuple[tuple[float, str], ...] = ()
    told: str = ""
    flagged: bool = False


@dataclass(frozen=True, eq=False)
class Section:
    """Plots that belong together."""

    title: str
    panels: tuple[Panel, ...]
    told: str = ""


@dataclass(frozen=True)
class Check:
    """One answer to "may I trust this": whether it is fine, and why."""

    fine: bool
    said: str


@dataclass(frozen=True, eq=False)
class ResultTables:
    """Results at common times.

    Attributes:
        times: [s], (samples,).
        q: Coordinates [rad or m], (samples, coordinates).
        activation: 0 to 1 by the model's muscle, (samples,).
        measured: The same as measured, NaN where it was not, by muscle.
        moments: [N·m or N] by coordinate; empty where there are none.
        reserves: What muscles lack, as ``moments``.
        marker_rms, marker_worst: Errors of markers [m], (samples,); None where there are none.
        ground: Vertical force by foot [N], (samples,).
    """

    times: Floats
    q: Floats
    activation: Mapping[str, Floats]
    measured: Mapping[str, Floats] = field(default_factory=dict)
    moments: Mapping[str, Floats] = field(default_factory=dict)
    reserves: Mapping[str, Floats] = field(default_factory=dict)
    marker_rms: Floats | None = None
    marker_worst: Floats | None = None
    ground: Mapping[str, Floats] = field(default_factory=dict)


def muscle_sections(tables: ResultTables) -> list[Section]:
    """Activations, a panel for both sides of a muscle, group by group, with EMG over them."""
    names = list(dict.fromkeys(side_of(name)[0] for name in tables.activation))
    groups: dict[str, list[Panel]] = {}
    for base in names:
        own = [name for name in tables.activation if side_of(name)[0] == base]
        curves = [
            Curve(f"EMG {_side(name)}".strip(), "emg", tables.measured[name])
            for name in own
            if name in tables.measured
        ]
        agreed = [
            f"r {_correlation(tables.activation[name], tables.measured[name]):.2f}".replace("-", "−")
            for name in own
            if name in tables.measured
        ]
        curves += [Curve(_side(name) or "activation", _kind(name), tables.activation[name]) for name in own]
        known = meant_by(base)[0]
        title = ", ".join((known.muscle, *known.parts[:1]))
        title = base if title.replace(" ", "_") == base.lower() else f"{title} ({base})"
        told = f"EMG {', '.join(agreed)}" if agreed else ""
        panel = Panel(title, "activation [0 to 1]", tuple(curves), (0.0, 1.0), told=told)
        groups.setdefault(muscle_group(base), []).append(panel)
    return [Section(group, tuple(groups[group])) for group in sorted(groups, key=group_order)]


def joint_sections(model: MusculoskeletalModel, tables: ResultTables) -> list[Section]:
    """Moments with reserves, angles; joints that no muscle crosses apart."""
    sections = []
    driven, bare = _coordinates(model, tables)
    if tables.moments:
        for title, names, told in (
            (
                "Joint moments",
                driven,
                f"What muscles could not make, a reserve made; it is flagged above {TOLD:.0%} of the peak.",
            ),
            ("Joints that no muscle crosses", bare, "All of their moment is a reserve's."),
        ):
            panels = [_moment_panel(tables, base, names, title == "Joint moments") for base in _bases(names)]
            if panels:
                sections.append(Section(title, tuple(panels), told))
    order = [c.name for c in model.coordinates]
    turning = [c.name for c in model.coordinates if c.unit == "rad" and c.name not in model.root]
    moving = [name for name in turning if np.ptp(tables.q[:, order.index(name)]) > 1e-6]
    angles = tuple(
        Panel(
            _words(base),
            "angle [degrees]",
            tuple(
                Curve(_side(n) or "angle", _kind(n), np.degrees(tables.q[:, order.index(n)]))
                for n in moving
                if side_of(n)[0] == base
            ),
        )
        for base in _bases(moving)
    )
    still = len(turning) - len(moving)
    told = f"{still} of {len(turning)} coordinates do not move and are left out." if still else ""
    return [*sections, *([Section("Joint angles", angles, told)] if angles or told else [])]


def trust_section(model: MusculoskeletalModel, tables: ResultTables) -> Section | None:
    """Ground forces, what is left at the root, and markers' errors."""
    panels = []
    if tables.ground:
        curves = tuple(
            Curve(_side(foot) or foot, _kind(foot), values) for foot, values in tables.ground.items()
        )
        panels.append(Panel("Ground force", "vertical force [N]", curves))
    force, moment = _root(model, tables)
    if force is not None:
        limit = _allowed(tables)
        guides = () if limit is None else ((limit, "5 % of ground force"),)
        size = np.linalg.norm(force, axis=1)
        panels.append(
            Panel(
                "Residual force at the root",
                "force [N]",
                (Curve("residual", "middle", size),),
                guides=guides,
                flagged=limit is not None and bool(size.max() > limit),
            )
        )
    if moment is not None:
        size = np.linalg.norm(moment, axis=1)
        panels.append(
            Panel("Residual moment at the root", "moment [N·m]", (Curve("residual", "middle", size),))
        )
    if tables.marker_rms is not None and tables.marker_worst is not None:
        rms, worst = 1e3 * tables.marker_rms, 1e3 * tables.marker_worst
        panels.append(
            Panel(
                "Marker error",
                "distance [mm]",
                (Curve("rms", "middle", rms), Curve("largest", "extra", worst)),
                guides=((RMS_ERROR, "rms 20 mm"), (WORST_ERROR, "largest 40 mm")),
                flagged=bool(rms.max() > RMS_ERROR or worst.max() > WORST_ERROR),
            )
        )
    return Section("How far to trust it", tuple(panels)) if panels else None


def unsure_spans(model: MusculoskeletalModel, tables: ResultTables) -> list[tuple[float, float]]:
    """Times [s] in which the ground carried the body unmeasured: what is computed there is not sure."""
    force, _ = _root(model, tables)
    if force is None:
        return []
    runs = unmeasured_contacts(tables.times, force, _weight(model))
    return [(float(tables.times[a]), float(tables.times[b])) for a, b in runs]


def checks(model: MusculoskeletalModel, tables: ResultTables) -> list[Check]:
    """In words, what a person should look at before believing the plots."""
    found = []
    if tables.marker_rms is not None and tables.marker_worst is not None:
        rms, worst = 1e3 * float(tables.marker_rms.mean()), 1e3 * float(tables.marker_worst.max())
        found.append(
            Check(
                rms <= RMS_ERROR and worst <= WORST_ERROR,
                f"Markers: {rms:.1f} mm rms in the mean, {worst:.1f} mm at most"
                f" (guide: {RMS_ERROR:.0f} and {WORST_ERROR:.0f} mm)",
            )
        )
    force, _ = _root(model, tables)
    if force is not None:
        size = np.linalg.norm(force, axis=1)
        limit = _allowed(tables)
        share = 100.0 * float(np.sqrt((size**2).mean())) / _weight(model)
        told = f"Residual force: {share:.1f} % of the weight rms, {size.max():.0f} N at most"
        if limit is not None:
            told += f" (guide: {limit:.0f} N, 5 % of the largest ground force)"
        found.append(Check(limit is not None and bool(size.max() <= limit), told))
        spans = unsure_spans(model, tables)
        if spans:
            when = ", ".join(f"{a:.2f} to {b:.2f} s" for a, b in spans)
            found.append(
                Check(
                    False,
                    f"A ground force is missing from {when}: plots are hatched there, and moments and"
                    " activations not to be trusted",
                )
            )
    if tables.reserves:
        driven, bare = _coordinates(model, tables)
        short = [(name, _share(tables, name)) for name in driven if _share(tables, name) > TOLD]
        short.sort(key=lambda pair: -pair[1])
        said = ", ".join(f"{name} {share:.0%}" for name, share in short)
        found.append(
            Check(
                not short,
                f"Reserves above {TOLD:.0%} of the peak moment: {said}"
                if short
                else f"Reserves stay below {TOLD:.0%} of the peak moment of every joint with muscles",
            )
        )
        if bare:
            found.append(Check(True, f"No muscle crosses {', '.join(bare)}: reserves move them"))
    return found


def _moment_panel(tables: ResultTables, base: str, names: Sequence[str], flag: bool) -> Panel:
    own = [name for name in names if side_of(name)[0] == base]
    curves = [
        Curve(f"reserve {_side(name)}".strip(), "reserve", tables.reserves[name])
        for name in own
        if flag and name in tables.reserves and _share(tables, name) > TOLD
    ]
    short = [name for name in own if flag and _share(tables, name) > TOLD]
    told = ", ".join(
        f"reserve {_side(name)} {_share(tables, name):.0%} of peak".replace("  ", " ") for name in short
    )
    curves += [Curve(_side(name) or "moment", _kind(name), tables.moments[name]) for name in own]
    return Panel(_words(base), "moment [N·m]", tuple(curves), told=told, flagged=bool(short))


def _coordinates(model: MusculoskeletalModel, tables: ResultTables) -> tuple[list[str], list[str]]:
    """Joints with moments that muscles cross, and those that none does; the root is neither."""
    order = [c.name for c in model.coordinates]
    crossed = np.abs(model.moment_arms(tables.q[0])).max(axis=0, initial=0.0) > 1e-9
    some = [c.name for c in model.coordinates if c.name in tables.moments and c.name not in model.root]
    some = [name for name in some if np.abs(tables.moments[name]).max() > 0.0]
    return [n for n in some if crossed[order.index(n)]], [n for n in some if not crossed[order.index(n)]]


def _root(model: MusculoskeletalModel, tables: ResultTables) -> tuple[Floats | None, Floats | None]:
    """What is left at the root: forces [N] and moments [N·m], (samples, axes) each; None without a root."""
    parts = [
        [tables.moments[c.name] for c in model.coordinates if c.name in model.root and c.unit == unit]
        for unit in ("m", "rad")
        if all(name in tables.moments for name in model.root)
    ]
    force, moment = (np.stack(rows, axis=1) if rows else None for rows in (parts or [[], []]))
    return force, moment


def _allowed(tables: ResultTables) -> float | None:
    """The residual force that is fine [N], by the largest ground force."""
    if not tables.ground:
        return None
    return RESIDUAL * float(sum(tables.ground.values(), np.zeros(len(tables.times))).max())


def _weight(model: MusculoskeletalModel) -> float:
    return sum(body.mass for body in model.bodies) * float(np.linalg.norm(model.gravity))


def _share(tables: ResultTables, name: str) -> float:
    if name not in tables.reserves:
        return 0.0
    return float(np.abs(tables.reserves[name]).max() / max(np.abs(tables.moments[name]).max(), 1e-12))


def _correlation(one: Floats, other: Floats) -> float:
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < 3 or np.ptp(one[both]) == 0.0 or np.ptp(other[both]) == 0.0:
        return float("nan")
    return float(np.corrcoef(one[both], other[both])[0, 1])


def _bases(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(side_of(name)[0] for name in names))


def _side(name: str) -> str:
    return side_of(name)[1]


def _kind(name: str) -> Kind:
    side = _side(name)
    return "right" if side == "right" else "left" if side == "left" else "middle"


def _words(base: str) -> str:
    return base.replace("_", " ")
