"""What an armature does over a range of frames, as a motion, with the activation of its muscles."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .live_preview import Live, quiet
from .messages import SceneError, package
from .scene_character import Y_UP, matrix


@dataclass(frozen=True, eq=False)
class SceneMotion:
    """An armature over some frames.

    Attributes:
        frames: The scene's frames.
        motion: Its joints, in the space that the armature has in the first frame.
        armature_world: ``world_from_armature`` in the first frame, (4, 4).
        object_world: ``world_from_object`` of every mesh object, (frames, meshes, 4, 4).
        own: Which muscles have an activation of their own, (frames, muscles).
        activation: What that is, (frames, muscles).
    """

    frames: tuple[int, ...]
    motion: Any
    armature_world: np.ndarray
    object_world: np.ndarray
    own: np.ndarray
    activation: np.ndarray


class OwnActivation:
    """Muscles' own activation where they have one, else that of another source."""

    def __init__(self, others: Any, own: np.ndarray, activation: np.ndarray) -> None:
        self.others, self.own, self.activation = others, own, activation

    def over(self, motion: Any) -> np.ndarray:
        """Activation over the motion that was read, (frames, muscles)."""
        given = np.asarray(self.others.over(motion))
        if given.shape != self.own.shape:
            raise SceneError("the motion is not the one that was read", "Bake again")
        return np.where(self.own, self.activation, given)


def read_scene_motion(live: Live, context: Any, first: int, last: int) -> SceneMotion:
    """Play a range of frames and write down what moves; the scene's frame is then as it was."""
    ecorche, scene, read = package(), context.scene, live.scene
    if last < first:
        raise SceneError(
            f"frames {first} to {last} are none", "Give a last frame that is not before the first"
        )
    frames = tuple(range(first, last + 1))
    rate = scene.render.fps / scene.render.fps_base
    names = live.body.muscle_names
    worlds, armatures, objects, owns, actives = [], [], [], [], []
    shapes: dict[str, list[float]] = {}
    with quiet(), _frame_kept(scene):
        for frame in frames:
            scene.frame_set(frame)
            graph = context.evaluated_depsgraph_get()
            armature = read.armature.evaluated_get(graph)
            worlds.append(read.joint_world(armature))
            armatures.append(matrix(armature.matrix_world))
            objects.append([matrix(thing.evaluated_get(graph).matrix_world) for thing in read.meshes])
            own, active = _own_activation(armature, names)
            owns.append(own)
            actives.append(active)
            for key, weight in _shape_weights(read, graph).items():
                shapes.setdefault(key, []).append(weight)
    # in the space of the first frame: what swings must feel the armature itself move
    turn = Y_UP @ np.linalg.inv(armatures[0])
    moved = np.stack([turn @ world @ np.linalg.inv(Y_UP) for world in armatures])
    moved[:, :3, 3] *= read.scale
    motion = ecorche.motion_from_arrays(
        read.character,
        joints=read.bones,
        world=moved[:, None] @ np.stack(worlds),
        times=np.arange(len(frames)) / rate,
        name=scene.name,
        shape_weights=shapes,
    )
    return SceneMotion(
        frames, motion, armatures[0], np.array(objects), np.array(owns), np.array(actives, np.float64)
    )


@contextlib.contextmanager
def _frame_kept(scene: Any) -> Iterator[None]:
    """Leave a scene in the frame it is in."""
    before = scene.frame_current
    try:
        yield
    finally:
        scene.frame_set(before)


def perform(live: Live, rig: Any, played: SceneMotion, dynamics: str) -> Any:
    """The take of what was played, with muscles and what swings."""
    ecorche, source = package(), None
    if live.body.activation is not None:
        source = OwnActivation(live.body.activation, played.own, played.activation)
    return ecorche.perform(
        live.scene.character, played.motion, rig=rig, activation=source, limits=False, dynamics=dynamics
    ).take


def _own_activation(armature: Any, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    muscles = {muscle.name: muscle for muscle in armature.ecorche.muscles}
    own = np.array([name in muscles and muscles[name].own for name in names], bool)
    return own, np.array([muscles[name].activation if name in muscles else 0.0 for name in names])


def _shape_weights(read: Any, graph: Any) -> dict[str, float]:
    """Values of the meshes' own shape keys."""
    found = {}
    for thing, mesh in zip(read.meshes, read.character.meshes, strict=True):
        for morph in mesh.mesh.morphs:
            block = thing.data.shape_keys.evaluated_get(graph).key_blocks[morph.name]
            found[f"{mesh.name}/{morph.name}"] = 0.0 if block.mute else float(block.value)
    return found
