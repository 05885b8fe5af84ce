"""Many instances at once: each has the very bits of the character alone, whatever stands beside it."""

from __future__ import annotations

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.lanes import WIDTH
from ecorche.base.threads import at_most_threads
from ecorche.body.compile import Body
from ecorche.body.evaluate import Pose, posed_points
from ecorche.body.evaluator import FEW
from ecorche.body.payload import MUSCLE_BYTES, packed_payload, payload_type
from ecorche.errors import EcorcheError
from played_people import COUNT, body, evaluated, instances

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]


def _alone(body: Body, moved: Floats, active: Floats | None) -> tuple[bytes, bytes]:
    points = posed_points(body, Pose(np.zeros(0), activation=active), moved)
    normals = [of for of in body.normals.apply(points) if of is not None]
    return np.concatenate(points).tobytes(), np.concatenate(normals).tobytes()


@pytest.mark.parametrize(
    ("name", "found"),
    [("male_muscular_cmu_mb", False), ("male_dressed_mixamo", False), ("male_slim_cmu_mb", True)],
)
@pytest.mark.parametrize("count", [FEW, WIDTH + FEW, COUNT])
def test_an_instance_is_the_character_alone(data: Path, name: str, found: bool, count: int) -> None:
    path = data / "human" / f"{name}.glb"
    evaluator, moved, active = instances(path, found)
    points, normals = evaluated(evaluator, moved[:count], active[:count])
    for one in range(count):
        alone = _alone(body(path, found), moved[one], active[one])
        assert (points[one].tobytes(), normals[one].tobytes()) == alone, f"instance {one}"


def test_more_instances_than_are_posed_at_once_are_the_same_again(data: Path) -> None:
    evaluator, moved, active = instances(data / "human" / "male_muscular_cmu_mb.glb", False)
    spindles = evaluator._spindles
    assert spindles is not None
    turns = spindles.most // COUNT + 2
    once = evaluated(evaluator, moved, active)
    many = evaluated(evaluator, np.tile(moved, (turns, 1, 1, 1)), np.tile(active, (turns, 1)))
    for of_once, of_many in zip(once, many, strict=True):
        assert of_many.tobytes() == turns * of_once.tobytes()


def test_the_number_of_threads_changes_nothing(data: Path) -> None:
    evaluator, moved, active = instances(data / "human" / "male_muscular_cmu_mb.glb", False)
    many = evaluated(evaluator, moved, active)
    with at_most_threads(1):
        one = evaluated(evaluator, moved, active)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(many, one, strict=True))


def test_a_frame_takes_no_fresh_memory(data: Path) -> None:
    """But for a tile of 128 vertices a thread: nothing that grows with vertices or instances."""
    evaluator, moved, active = instances(data / "human" / "male_muscular_cmu_mb.glb", False)
    points, normals = evaluated(evaluator, moved, active)
    tracemalloc.start()
    try:
        evaluator.apply(moved, active, points=points, normals=normals)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0 < peak < 2**16 * numba.get_num_threads()


@pytest.mark.parametrize("found", [False, True])
def test_at_bind_all_instances_are_the_bind_mesh(data: Path, found: bool) -> None:
    path = data / "human" / "male_slim_cmu_mb.glb"
    evaluator, moved, _ = instances(path, found)
    points, _ = evaluated(evaluator, np.zeros_like(moved), None)
    assert all(one.tobytes() == evaluator.program.points.tobytes() for one in points)


@pytest.mark.parametrize("found", [False, True])
def test_muscles_fade_to_plain_skinning_and_back(data: Path, found: bool) -> None:
    """Half shown lies half-way, and nothing shown is skinning alone."""
    evaluator, moved, active = instances(data / "human" / "male_slim_cmu_mb.glb", found)
    shape = (COUNT, len(evaluator.program.points), 3)
    shown, half, none, plain = (np.empty(shape, np.float32) for _ in range(4))
    evaluator.apply(moved, active, points=shown, gain=1.0)
    evaluator.apply(moved, active, points=half, gain=np.full((COUNT, 1), 0.5))
    evaluator.apply(moved, active, points=none, gain=np.zeros(evaluator.program.muscle_count))
    evaluator.apply(moved, points=plain, muscles=False)
    assert np.abs(none - plain).max() < 1e-6
    assert np.abs(shown - plain).max() > 5e-3
    assert np.abs(half - 0.5 * (shown + none)).max() < 2e-6


def test_the_payload_is_as_its_page_says(data: Path) -> None:
    evaluator, moved, _ = instances(data / "human" / "male_slim_cmu_mb.glb", False)
    joints, muscles = evaluator.program.joint_count, evaluator.program.muscle_count
    kind = payload_type(joints, muscles)
    assert kind.itemsize == 16 + 48 * joints + MUSCLE_BYTES * muscles
    assert MUSCLE_BYTES <= 160
    bulge = np.linspace(1.0, 1.3, muscles)
    raw = packed_payload(moved[:2], np.tile(bulge, (2, 1)), 0.25).tobytes()
    numbers = np.frombuffer(raw, "<f4").reshape(2, -1)[1]
    way = moved[1, 0, :3, 3]
    assert numbers[:4] == pytest.approx([*way, 0.0], abs=1e-6)
    rows = numbers[4 : 4 + 12 * joints].reshape(joints, 3, 4)
    assert rows[7, :, :3] == pytest.approx(-moved[1, 7, :3, :3], abs=1e-6)
    assert rows[7, :, 3] == pytest.approx(way - moved[1, 7, :3, 3], abs=1e-6)
    assert numbers[4 + 12 * joints :].reshape(-1, 2) == pytest.approx(
        np.column_stack([bulge, np.full(muscles, 0.25)]), abs=1e-6
    )


def test_what_does_not_fit_is_refused(data: Path) -> None:
    evaluator, moved, active = instances(data / "human" / "male_slim_cmu_mb.glb", False)
    program = evaluator.program
    room = np.empty((COUNT, len(program.points), 3), np.float32)
    with pytest.raises(EcorcheError, match="one instance or more"):
        evaluator.apply(moved[:0], points=room[:0])
    with pytest.raises(EcorcheError, match="no instances of 31 joints"):
        evaluator.apply(moved[:, :-1], points=room)
    with pytest.raises(EcorcheError, match=r"array for positions is float32 of shape \(20"):
        evaluator.apply(moved, points=room[:20])
    with pytest.raises(EcorcheError, match="array for normals is float64"):
        evaluator.apply(moved, points=room, normals=np.empty(room.shape))  # type: ignore[arg-type]
    with pytest.raises(EcorcheError, match="activations have shape"):
        evaluator.apply(moved, active[:, 1:], points=room)
    with pytest.raises(EcorcheError, match="gain is not between"):
        evaluator.apply(moved, points=room, gain=1.5)
    with pytest.raises(EcorcheError, match="activation"):
        evaluator.apply(moved, active + 1.0, points=room)
    fixed = room.copy()
    fixed.flags.writeable = False
    with pytest.raises(EcorcheError, match="the array for positions is read-only"):
        evaluator.apply(moved, active, points=fixed)
    bad = moved.copy()
    head = program.body.character.skeleton.index("Head")  # no muscle of these hangs there alone
    bad[3, head, 0, 3] = np.inf
    with pytest.raises(EcorcheError, match="the joints of instance 3 are not all numbers"):
        evaluator.apply(bad, active, points=room)


def test_an_evaluator_goes_to_other_processes(data: Path) -> None:
    evaluator, moved, active = instances(data / "human" / "male_slim_cmu_mb.glb", False)
    again = pickle.loads(pickle.dumps(evaluator))
    for one, other in zip(evaluated(evaluator, moved, active), evaluated(again, moved, active), strict=True):
        assert one.tobytes() == other.tobytes()


def test_threads_may_share_an_evaluator(data: Path) -> None:
    evaluator, moved, active = instances(data / "human" / "male_slim_cmu_mb.glb", False)

    def four(first: int) -> tuple[Points, Points]:
        return evaluated(evaluator, moved[first : first + 4], active[first : first + 4])

    expected = [four(first) for first in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            found = list(pool.map(four, range(4)))
            for one, other in zip(expected, found, strict=True):
                assert all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))
