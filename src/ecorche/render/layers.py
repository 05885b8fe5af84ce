"""What a picture of a take shows: its plain skin, the muscles below, the result, or what they changed.

- ``plain``: the skin by skinning alone;
- ``muscles``: the muscles under translucent skin;
- ``result``: the skin over its muscles;
- ``difference``: the result, coloured by how far the muscles moved it outwards;
- ``perimeter``: the result, its limbs coloured by how much further a tape goes round them than in the first
  frame, or than at bind where there is only one frame;
- ``superimposed``: plain and result in one place, in two colours;
- ``sections``: of muscles found in the skin, the sections in which they were found, under translucent skin;
- ``ellipses``: of muscles found in the skin, the ellipses they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.body.drawn_muscles import DrawnMuscles
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.frames import Frame, Frames
from ecorche.body.live_frames import LiveFrames
from ecorche.body.take import Take
from ecorche.errors import EcorcheError
from ecorche.io.posed import frames_of
from ecorche.muscles.extraction.build import Extraction
from ecorche.render.colour_bar import ColourBar, Colours, activation_bar, displacement_bar, perimeter_bar
from ecorche.render.ellipse_lines import EllipseLines
from ecorche.render.perimeter_growth import PerimeterGrowth
from ecorche.render.section_lines import SectionLines
from ecorche.render.superimposed import two_colours
from ecorche.render.surface import vertex_normals
from ecorche.render.tissue_colours import TissueColours
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]

LAYERS = ("plain", "muscles", "result", "difference")
"""What is shown when nobody says what."""
ALL_LAYERS = (*LAYERS, "perimeter", "superimposed", "sections", "ellipses")
SECTIONED = 0.8
"""How much of a skin is seen whose sections are shown: those on its far side would confuse."""
COLOURINGS = ("tissue", "activation", "muscle")


class Shapes(Protocol):
    """Surfaces under the skin: which triangles (triangles, 3), of how many vertices."""

    triangles: npt.NDArray[np.int32]
    vertex_count: int


@dataclass(frozen=True, eq=False)
class Look:
    """Everything one picture shows.

    Attributes:
        frame: Points and normals of every mesh.
        paint: sRGB colours of every mesh's vertices, each (vertices, 3), in place of its materials; or None.
        muscles: Vertices [m] of the surfaces under the skin, (vertices, 3); or None.
        muscle_colours: Their sRGB colours, (vertices, 3).
        other: A second skin in the same place: points and normals of every mesh; or None.
        other_paint: Its sRGB colours, as ``paint``.
    """

    frame: Frame
    paint: tuple[Colours, ...] | None = None
    muscles: Points | None = None
    muscle_colours: Colours | None = None
    other: Frame | None = None
    other_paint: tuple[Colours, ...] | None = None


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of a take, frame by frame.

    Attributes:
        look: What the frame of a number looks like.
        shapes: What it shows under the skin; None for a layer of skin.
        painted: Whether colours stand for something in place of materials.
        opacity: How much of the skin over the shapes is seen where it faces the camera; None as usual.
        doubled: Whether there is a second skin, also painted.
        bar: What its colours mean; None where they mean nothing.
    """

    look: Callable[[int], Look]
    shapes: Shapes | None = None
    painted: bool = False
    opacity: float | None = None
    doubled: bool = False
    bar: ColourBar | None = None


class Layers:
    """A take with muscles or fat that moves, and the same without: everything its layers are made of.

    Args:
        result: The take.
        plain: The same take by skinning alone; None makes it from the take's own body.
        found: Finds again what the muscles were found by, see `body.extract_muscles.found_in_skin`; asked
            when sections are shown, which a take without it has not.
    """

    def __init__(
        self, result: Take, plain: Take | None = None, *, found: Callable[[], Extraction] | None = None
    ) -> None:
        self.result, self.frames, self._found = result, frames_of(result), found
        live = result.frames if isinstance(result.frames, LiveFrames) else None
        kinds = () if live is None else (live.body.muscles, live.body.lofts, live.body.lines)
        self._live = live if any(kind is not None for kind in kinds) else None
        moved = self._live is not None or (
            live is not None and (live.body.fat is not None or live.body.springs is not None)
        )
        self.plain: Frames | None = None
        if plain is not None:
            self.plain = frames_of(plain)
            self._require_alike(plain)
        elif live is not None and moved:
            self.plain = LiveFrames(live.body.without_muscles(), live.motion, live.posed)
        self.growth = PerimeterGrowth.of(result, self.frames)

    @property
    def names(self) -> tuple[str, ...]:
        """The layers this take has."""
        measured = set() if self.growth is None else {"perimeter"}
        if self.plain is None:
            return ("plain", *measured)
        has = {"plain", "result", "difference", "superimposed"} | measured
        if self._live is not None:
            has.add("muscles")
            if self._live.body.lofts is not None:
                has |= {"ellipses"} if self._found is None else {"ellipses", "sections"}
        return tuple(name for name in ALL_LAYERS if name in has)

    def layer(self, name: str, *, colouring: str = "tissue", bar: ColourBar | None = None) -> Layer:
        """One layer by its name.

        Args:
            name: One of `ALL_LAYERS`.
            colouring: Of muscles: ``"tissue"``, by ``"activation"``, or one colour for every ``"muscle"``.
            bar: The colours of a difference or of perimeters; None takes a range that holds all frames.
        """
        self.require(name)
        if colouring not in COLOURINGS:
            raise EcorcheError(
                f"muscles cannot be coloured by {colouring!r}",
                where="render",
                remedy=suggestion(colouring, COLOURINGS),
            )
        if name == "muscles":
            return self._muscles(colouring)
        if name == "sections":
            return self._sections()
        if name == "ellipses":
            return self._ellipses()
        if name == "superimposed":
            return self._superimposed()
        if name == "perimeter":
            return self._perimeter(bar)
        if name == "difference":
            return self._difference(bar or displacement_bar(self.greatest(range(len(self.frames)))))
        return skin_layer(self.plain if name == "plain" and self.plain is not None else self.frames)

    def require(self, name: str) -> None:
        """Refuse a layer that there is none of, or that this take has not."""
        if name not in ALL_LAYERS:
            raise EcorcheError(
                f"there is no layer {name!r}", where="render", remedy=suggestion(name, ALL_LAYERS)
            )
        if name == "perimeter" and self.growth is None:
            raise EcorcheError(
                "it has no arms or legs that can be measured",
                where=self.result.character.name,
                remedy="Give a take with its motion, and a skin on joints that are named",
            )
        if name not in self.names:
            in_skin = name in ("sections", "ellipses")
            command = "ecorche rig --muscles extract" if in_skin else "ecorche rig"
            raise EcorcheError(
                f"there is no layer {name!r} of a body without muscles"
                + (" that were found in its skin" if in_skin else ""),
                where=self.result.character.name,
                remedy=f"Make a rig of it with `{command}`, or show {', '.join(self.names)}",
            )

    def displacements(self, number: int) -> tuple[Floats, ...]:
        """How far the muscles moved every mesh outwards in a frame [mm], each (vertices,).

        Outwards is along the plain skin's normals.
        """
        assert self.plain is not None
        before, after = self.plain[number], self.frames[number]
        return tuple(
            1000.0 * np.einsum("vi,vi->v", (moved - still).astype(np.float64), normals)
            for still, moved, normals in zip(before.points, after.points, self._outward(before), strict=True)
        )

    def greatest(self, numbers: Iterable[int]) -> float:
        """The greatest displacement in or out over some frames [mm]."""
        return max(
            (float(np.abs(d).max(initial=0.0)) for number in numbers for d in self.displacements(number)),
            default=0.0,
        )

    def _difference(self, bar: ColourBar) -> Layer:
        def look(number: int) -> Look:
            return Look(self.frames[number], tuple(bar.colours(d) for d in self.displacements(number)))

        return Layer(look, painted=True, bar=bar)

    def _perimeter(self, bar: ColourBar | None) -> Layer:
        growth = self.growth
        assert growth is not None
        shown = bar or perimeter_bar(*growth.range(range(len(self.frames))), growth.since)

        def look(number: int) -> Look:
            return Look(self.frames[number], tuple(shown.colours(d) for d in growth.at_vertices(number)))

        return Layer(look, painted=True, bar=shown)

    def _superimposed(self) -> Layer:
        assert self.plain is not None
        plain = self.plain

        def look(number: int) -> Look:
            frame = self.frames[number]
            height = max((float(np.ptp(p[:, 1])) for p in frame.points if len(p)), default=1.0)
            pairs = [two_colours(apart, height) for apart in self.displacements(number)]
            first, second = (tuple(pair[k] for pair in pairs) for k in (0, 1))
            return Look(frame, second, other=plain[number], other_paint=first)

        return Layer(look, painted=True, doubled=True)

    def _muscles(self, colouring: str) -> Layer:
        live = self._live
        assert live is not None
        activation, body = live.activation, live.body
        assert activation is not None
        active = activation
        if body.lines is not None:  # meshes that could not be compiled are not shown
            first = activation.shape[1] - len(body.lines.designed)
            shown = [*range(first), *(first + body.lines.musculature.kept).tolist()]
            active = activation[:, shown]
        drawn = DrawnMuscles(live)
        shapes = drawn.surfaces
        paint = TissueColours(shapes)
        still = {"tissue": paint.tissue, "muscle": paint.own}.get(colouring)
        colours = None if still is None else still()

        def look(number: int) -> Look:
            frame = live[number]
            return Look(
                frame,
                muscles=drawn.points(number, frame),
                muscle_colours=paint.activation(active[number]) if colours is None else colours,
            )

        return Layer(look, shapes, bar=activation_bar() if colours is None else None)

    def _sections(self) -> Layer:
        live = self._live
        assert live is not None
        assert self._found is not None
        body = live.body
        assert body.lofts is not None
        skin = body.lofts.skin
        mesh = body.character.meshes[skin].mesh
        at_bind = evaluate(body, Pose(body.character.skeleton.bind_local)).points[skin]
        shown, before = body.lofts.lofts.muscles, self._named_before()
        lines = SectionLines(self._found(), shown, at_bind, mesh.triangles(), before)

        def look(number: int) -> Look:
            frame = live[number]
            return Look(frame, muscles=lines.points(frame.points[skin]), muscle_colours=lines.colours)

        return Layer(look, lines, opacity=SECTIONED)

    def _ellipses(self) -> Layer:
        live = self._live
        assert live is not None
        body = live.body
        assert body.lofts is not None
        lines = EllipseLines(body.lofts.lofts, self._named_before())

        def look(number: int) -> Look:
            points = lines.points(self._moved(number), self._bulges(number)[1])
            return Look(live[number], muscles=points, muscle_colours=lines.colours)

        return Layer(look, lines)

    def _named_before(self) -> list[str]:
        """What the template's muscles are parts of: they have their colours first."""
        assert self._live is not None
        muscles = self._live.body.muscles
        return [] if muscles is None else [m.muscle for m in muscles.musculature.muscles]

    def _moved(self, number: int) -> Floats:
        """``M − I`` of the joints in a frame, (joints, 4, 4)."""
        assert self._live is not None
        return difference_from_bind(self._live.body.character.skeleton, self._live.motion.local[number])

    def _bulges(self, number: int) -> tuple[Floats, Floats]:
        """The bulge T of the template's muscles and of those found in the skin, in a frame."""
        assert self._live is not None
        body, activation = self._live.body, self._live.activation
        first, second, _ = body.activations(None if activation is None else activation[number])
        return (
            np.zeros(0) if body.muscles is None else body.muscles.bulge(first),
            np.zeros(0) if body.lofts is None else body.lofts.bulge(second),
        )

    def _outward(self, frame: Frame) -> tuple[Points, ...]:
        return tuple(
            vertex_normals(mesh.mesh, points, normals)
            for mesh, points, normals in zip(
                self.result.character.meshes, frame.points, frame.normals, strict=True
            )
        )

    def _require_alike(self, plain: Take) -> None:
        ours, theirs = ([m.mesh.vertex_count for m in t.character.meshes] for t in (self.result, plain))
        assert self.plain is not None
        if ours != theirs or len(self.plain) != len(self.frames):
            raise EcorcheError(
                "the plain take has other meshes or frames than the result",
                where=plain.character.name,
                remedy="Give the same character in the same motion, without muscles",
            )


def skin_layer(frames: Frames) -> Layer:
    """The skin alone, in its own materials."""
    return Layer(lambda number: Look(frames[number]))


def range_text(displacements: Sequence[Floats]) -> str:
    """``−0.4 … +6.1 mm``: the least and the greatest displacement of a picture."""
    values = np.concatenate([np.zeros(1), *displacements])
    return f"{values.min():+.1f} … {values.max():+.1f} mm".replace("-", "−")
