"""What a picture of a take shows: its plain skin, the muscles below, the result, or what they changed.

- ``plain``: the skin by skinning alone;
- ``muscles``: the muscles under translucent skin;
- ``result``: the skin over its muscles;
- ``difference``: the result, coloured by how far the muscles moved it outwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.body.evaluate import LiveFrames
from ecorche.body.frames import Frame, Frames
from ecorche.body.take import Take
from ecorche.errors import EcorcheError
from ecorche.io.posed import frames_of
from ecorche.render.colour_bar import ColourBar, Colours, activation_bar, displacement_bar
from ecorche.render.muscle_shapes import MuscleShapes
from ecorche.render.surface import vertex_normals
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]

LAYERS = ("plain", "muscles", "result", "difference")
COLOURINGS = ("tissue", "activation")


@dataclass(frozen=True, eq=False)
class Look:
    """Everything one picture shows.

    Attributes:
        frame: Points and normals of every mesh.
        paint: sRGB colours of every mesh's vertices, each (vertices, 3), in place of its materials; or None.
        muscles: Vertices [m] of the muscles' surfaces under the skin, (vertices, 3); or None.
        muscle_colours: Their sRGB colours, (vertices, 3).
    """

    frame: Frame
    paint: tuple[Colours, ...] | None = None
    muscles: Points | None = None
    muscle_colours: Colours | None = None


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of a take, frame by frame.

    Attributes:
        look: What the frame of a number looks like.
        shapes: The muscles it shows; None for a layer of skin.
        painted: Whether colours stand for numbers in place of materials.
        bar: What its colours mean; None where they mean nothing.
    """

    look: Callable[[int], Look]
    shapes: MuscleShapes | None = None
    painted: bool = False
    bar: ColourBar | None = None


class Layers:
    """A take with muscles, and the same without: everything its layers are made of.

    Args:
        result: The take.
        plain: The same take by skinning alone; None makes it from the take's own body.
    """

    def __init__(self, result: Take, plain: Take | None = None) -> None:
        self.result, self.frames = result, frames_of(result)
        live = result.frames if isinstance(result.frames, LiveFrames) else None
        self._live = live if live is not None and live.body.muscles is not None else None
        self.plain: Frames | None = None
        if plain is not None:
            self.plain = frames_of(plain)
            self._require_alike(plain)
        elif self._live is not None:
            bare = replace(self._live.body, muscles=None)
            self.plain = LiveFrames(bare, self._live.motion, self._live.posed)

    @property
    def names(self) -> tuple[str, ...]:
        """The layers this take has."""
        if self.plain is None:
            return ("plain",)
        return LAYERS if self._live is not None else ("plain", "result", "difference")

    def layer(self, name: str, *, colouring: str = "tissue", bar: ColourBar | None = None) -> Layer:
        """One layer by its name.

        Args:
            name: One of `LAYERS`.
            colouring: Of muscles: ``"tissue"`` or by ``"activation"``.
            bar: The colours of a difference; None takes a range that holds all frames.
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
        if name == "difference":
            return self._difference(bar or displacement_bar(self.greatest(range(len(self.frames)))))
        return skin_layer(self.plain if name == "plain" and self.plain is not None else self.frames)

    def require(self, name: str) -> None:
        """Refuse a layer that there is none of, or that this take has not."""
        if name not in LAYERS:
            raise EcorcheError(f"there is no layer {name!r}", where="render", remedy=suggestion(name, LAYERS))
        if name not in self.names:
            raise EcorcheError(
                f"there is no layer {name!r} of a body without muscles",
                where=self.result.character.name,
                remedy=f"Make a rig of it with `ecorche rig`, or show {', '.join(self.names)}",
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

    def _muscles(self, colouring: str) -> Layer:
        live = self._live
        assert live is not None
        muscles, activation = live.body.muscles, live.activation
        assert muscles is not None
        assert activation is not None
        shapes = MuscleShapes(muscles.musculature)
        tissue = None if colouring == "activation" else shapes.tissue_colours()

        def look(number: int) -> Look:
            alpha = activation[number]
            moved = difference_from_bind(live.body.character.skeleton, live.motion.local[number])
            return Look(
                live[number],
                muscles=shapes.points(moved, muscles.bulge(alpha)),
                muscle_colours=shapes.activation_colours(alpha) if tissue is None else tissue,
            )

        return Layer(look, shapes, bar=activation_bar() if tissue is None else None)

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
