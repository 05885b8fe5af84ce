"""Fat that is pressed by other skin gives way, with forces that balance, and nothing else does."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from benchmarks.muscle_people import motion_file

from ecorche.body.body_type import with_type
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.fat_spec import FatRegionSpec, FatSpec
from ecorche.fat.elastic_grid import ElasticGrid
from ecorche.fat.elasticity import tissue_named
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import bind_pose

Floats = npt.NDArray[np.float64]
FOLDED = 26
"""A frame of the squat in which thighs have just met the belly."""


@cache
def heavy_man(data: Path) -> LiveFrames:
    """A heavy man whose belly moves, squatting."""
    path = data / "human" / "male_average_cmu_mb.glb"
    character = read_character(path)
    rig = create_rig(character, path, path.with_suffix(".ecorche"))
    belly = FatSpec(regions={"belly": FatRegionSpec(place="belly")})
    rig = with_type(replace(rig, spec=rig.spec.model_copy(update={"fat": belly})), fat=1.0)
    frames = perform(character, read_motion(motion_file(data, "squat")), rig=rig, dynamics="fat").take.frames
    assert isinstance(frames, LiveFrames)
    return frames


def test_a_block_on_a_plane_sinks_until_it_carries_it() -> None:
    held = np.zeros((5, 4, 5), np.bool_)
    held[:, -1] = True
    grid = ElasticGrid(np.ones((4, 3, 4), np.bool_), 0.01, tissue_named("belly"), held)
    below = np.flatnonzero(grid.rest[:, 1] == 0.0)
    grid.meet(below, np.tile([0.0, 0.004, 0.0], (len(below), 1)), np.full(len(below), 200.0))
    for _ in range(20):
        grid.advance(0.05, drag=20.0)
    moved = grid.displacements[below, 1]
    # pressed up, by the plane and no farther
    assert moved.min() > 0.001
    assert moved.max() < 0.004
    pressing = 200.0 * (0.004 - moved)
    np.testing.assert_allclose(grid.forces()[below, 1], -pressing, atol=1e-3)
    grid.meet([], np.zeros((0, 3)), [])
    for _ in range(20):
        grid.advance(0.05, drag=20.0)
    assert np.abs(grid.displacements).max() < 1e-5


def test_nothing_presses_at_bind(data: Path) -> None:
    live = heavy_man(data)
    still = LiveFrames(live.body, bind_pose(live.body.character.skeleton), dynamics=live.dynamics)
    fat = still.fat
    assert fat is not None
    (rest,) = fat.at(0)
    assert not still._pressing(0, [rest]).any()
    assert not rest.any()


def test_a_thigh_presses_a_belly_and_both_forces_balance(data: Path) -> None:
    live = heavy_man(data)
    body = live.body
    assert body.fat is not None
    assert body.fat.contact is not None
    (part,) = body.fat.parts
    alone = replace(body, fat=replace(body.fat, contact=None))
    nodes, skins = [], []
    for one in (body, alone):
        frames = LiveFrames(one, live.motion.part(FOLDED, FOLDED), dynamics=live.dynamics)
        assert frames.fat is not None
        nodes.append(frames.fat.at(0)[0].copy())
        skins.append(frames[0].points[body.fat.mesh])
    before = body.fat.contact.pressing(skins[1])
    np.testing.assert_allclose(before[:, :3].sum(axis=0), 0.0, atol=1e-5)
    assert np.linalg.norm(before[part.vertices, :3], axis=1).sum() > 5.0
    # nodes give way where they are pressed to
    moved = part.moved_skin(nodes[0], _moved(frames)) - part.moved_skin(nodes[1], _moved(frames))
    forces = before[part.vertices, :3]
    along = (moved * forces).sum() / np.linalg.norm(forces, axis=1).sum()
    assert 0.003 < along < 0.05
    after = body.fat.contact.pressing(skins[0])
    assert np.linalg.norm(after[:, :3], axis=1).sum() < 0.7 * np.linalg.norm(before[:, :3], axis=1).sum()
    # and far from there nothing moves
    free = np.linalg.norm(nodes[0] - nodes[1], axis=1)
    top = part.grid.rest[:, 1] > np.quantile(part.grid.rest[:, 1], 0.9)
    assert np.median(free[top]) < 0.3 * along


def _moved(frames: LiveFrames) -> Floats:
    return difference_from_bind(frames.body.character.skeleton, frames.motion.local[0])
