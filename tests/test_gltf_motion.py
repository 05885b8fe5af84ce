"""glTF in: clips, with every kind of key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation, Slerp

from ecorche.io.formats import read_character, read_motion
from gltf_sample import (
    Sample,
    primitive,
    strip_of_two_bones,
)


def animate(sample: Sample, *channels: tuple[int, str, str, npt.ArrayLike, npt.ArrayLike]) -> None:
    entry: dict[str, Any] = {"name": "clip", "channels": [], "samplers": []}
    for node, path, interpolation, times, values in channels:
        entry["channels"].append({"sampler": len(entry["samplers"]), "target": {"node": node, "path": path}})
        entry["samplers"].append(
            {
                "input": sample.accessor(times),
                "output": sample.accessor(values),
                "interpolation": interpolation,
            }
        )
    sample.add("animations", entry)


def test_straight_keys_are_met_exactly_and_slerped_between(tmp_path: Path) -> None:
    turns = Rotation.from_rotvec([[0, 0, 0.0], [0, 0, 1.0], [0, 0, -0.5]])
    sample = strip_of_two_bones()
    animate(
        sample,
        (1, "rotation", "LINEAR", [0.0, 0.5, 1.0], turns.as_quat()),
        (0, "translation", "LINEAR", [0.0, 0.75, 1.0], [[0, 0, 0], [3, 0, 0], [3, 1, 0]]),
        (0, "scale", "STEP", [0.0], [[1, 2, 1]]),
    )
    motion = read_character(sample.save(tmp_path / "linear.glb")).motions[0]
    np.testing.assert_array_equal(motion.times, [0.0, 0.5, 0.75, 1.0])
    expected = Slerp([0.0, 0.5, 1.0], turns)(motion.times).as_matrix()
    np.testing.assert_allclose(motion.local[:, 1, :3, :3], expected, atol=1e-6)
    np.testing.assert_allclose(motion.local[:, 1, :3, 3], [[0, 0.5, 0]] * 4, atol=1e-12)
    np.testing.assert_allclose(
        motion.local[:, 0, :3, 3], [[0, 0, 0], [2, 0, 0], [3, 0, 0], [3, 1, 0]], atol=1e-6
    )
    np.testing.assert_allclose(motion.local[:, 0, 1, 1], 2.0)


def test_curved_keys_are_sampled_between(tmp_path: Path) -> None:
    # the cubic x = t³ - t, written with its own slopes, comes back exactly
    times = np.array([0.0, 1.0, 2.0])
    keys = np.zeros((3, 3, 3))
    keys[:, 0, 0] = keys[:, 2, 0] = 3 * times**2 - 1
    keys[:, 1, 0] = times**3 - times
    sample = strip_of_two_bones()
    animate(sample, (0, "translation", "CUBICSPLINE", times, keys.reshape(9, 3)))
    character = read_character(sample.save(tmp_path / "cubic.glb"))
    motion = character.motions[0]
    assert np.diff(motion.times).max() <= 1 / 60 + 1e-9
    assert set(times) <= set(motion.times)
    np.testing.assert_allclose(motion.local[:, 0, 0, 3], motion.times**3 - motion.times, atol=1e-6)
    assert any("60 frames a second" in n for n in character.notes)


def test_stepped_keys_hold_until_the_next(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    animate(sample, (0, "translation", "STEP", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]]))
    motion = read_motion(sample.save(tmp_path / "step.glb"))
    np.testing.assert_array_equal(motion.local[:, 0, 0, 3], motion.times >= 1.0)
    assert motion.frame_count == 61


def test_morph_weights_are_animated_by_name(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    offsets = np.zeros((6, 3))
    offsets[4] = [0, 0, 0.1]
    primitive(sample)["targets"] = [{"POSITION": sample.accessor(offsets)}] * 2
    sample.json["meshes"][0].update(weights=[0.25, 0.0], extras={"targetNames": ["puff", "frown"]})
    animate(sample, (2, "weights", "LINEAR", [0.0, 1.0], [0.0, 1.0, 0.5, 0.0]))
    character = read_character(sample.save(tmp_path / "morph.glb"))
    puff, frown = character.meshes[0].mesh.morphs
    assert (puff.name, puff.weight, frown.weight) == ("puff", 0.25, 0.0)
    np.testing.assert_array_equal(puff.vertices, [4])
    curves = character.motions[0].morph_weights
    np.testing.assert_allclose(curves["strip/puff"], [0.0, 0.5])
    np.testing.assert_allclose(curves["strip/frown"], [1.0, 0.0])


def test_a_motion_needs_no_mesh(tmp_path: Path) -> None:
    sample = strip_of_two_bones()
    animate(sample, (1, "translation", "LINEAR", [0.0, 1.0], [[0, 0.5, 0], [0, 0.6, 0]]))
    for key in ("meshes", "skins"):
        del sample.json[key]
    sample.json["nodes"] = sample.json["nodes"][:2]
    sample.json["scenes"] = [{"nodes": [0]}]
    motion = read_motion(sample.save(tmp_path / "bare.glb"))
    assert motion.skeleton.names == ("lower", "upper")
    np.testing.assert_allclose(motion.local[:, 1, 1, 3], [0.5, 0.6], atol=1e-7)
