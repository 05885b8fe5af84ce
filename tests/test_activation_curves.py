"""Activation from a table: read strictly, found by name, part or group, smooth between keys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecorche.errors import EcorcheError, ReadError
from ecorche.io.activation import read_activation
from ecorche.muscles.activation import Constant
from ecorche.muscles.keyed_activation import KeyedActivation
from ecorche.muscles.muscle import Muscle
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.standing import standing_figure


def _muscle(name: str, muscle: str, group: str) -> Muscle:
    shape = np.full((2, 4), 0.02)
    ends = np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0]])
    return Muscle(name, muscle, group, (0, 1), ends, np.eye(3)[2], shape, np.zeros((2, 4, 2)), 0.5, 1.0)


MUSCLES = (
    _muscle("biceps, long, left", "biceps", "elbow flexors"),
    _muscle("biceps, short, left", "biceps", "elbow flexors"),
    _muscle("brachialis, left", "brachialis", "elbow flexors"),
    _muscle("soleus, left", "soleus", "plantarflexors"),
)


def _motion(times: list[float]) -> Motion:
    pose = bind_pose(standing_figure())
    return Motion("still", pose.skeleton, np.array(times), np.repeat(pose.local, len(times), axis=0))


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "curves.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_nearer_name_wins_and_others_keep_their_source(tmp_path: Path) -> None:
    path = _written(
        tmp_path, 'time,elbow flexors,biceps,"biceps, long, left"\n0,0.1,0.2,0.3\n1,0.1,0.2,0.9\n'
    )
    source = KeyedActivation(MUSCLES, read_activation(path), Constant(np.full(4, 0.5)))
    active = source.over(_motion([0.0, 0.5, 1.0, 2.0]))
    np.testing.assert_allclose(active[:, 1], 0.2)
    np.testing.assert_allclose(active[:, 2], 0.1)
    np.testing.assert_allclose(active[:, 3], 0.5)
    np.testing.assert_allclose(active[:, 0], [0.3, 0.6, 0.9, 0.9])


def test_empty_cells_are_no_keys(tmp_path: Path) -> None:
    keys = read_activation(_written(tmp_path, "time,biceps,soleus\n0,0,\n0.5,,1\n\n1,1,0\n"))
    np.testing.assert_array_equal(keys["biceps"], [[0.0, 1.0], [0.0, 1.0]])
    np.testing.assert_array_equal(keys["soleus"], [[0.5, 1.0], [1.0, 0.0]])


def test_an_unknown_muscle_is_refused_with_the_nearest(tmp_path: Path) -> None:
    keys = read_activation(_written(tmp_path, "time,bicep\n0,0\n"))
    with pytest.raises(EcorcheError, match=r"no muscle or group 'bicep'.*biceps"):
        KeyedActivation(MUSCLES, keys, Constant(np.zeros(4)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "does not begin with 'time'"),
        ("biceps,soleus\n0,0\n", "does not begin with 'time'"),
        ("time,biceps,biceps\n0,0,0\n", "two columns are named 'biceps'"),
        ("time,biceps\n0,50\n", r"row 2, column 'biceps': the activation 50 is not between 0 and 1"),
        ("time,biceps\n0,nan\n", r"row 2, column 'biceps': 'nan' is no number"),
        ("time,biceps\nx,0\n", r"row 2, column 'time': 'x' is no number"),
        ("time,biceps\n1,0\n0,0\n", "times do not rise"),
        ("time,biceps\n0,0,3\n", "3 cells for 2 columns"),
        ("time,biceps\n0,\n", "column 'biceps' is empty"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_activation(_written(tmp_path, text))
