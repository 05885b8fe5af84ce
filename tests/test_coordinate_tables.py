"""Coordinates in tables: names plain or as paths, degrees of angles only, and what is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecorche.biomech.coordinate_tables import columns_from_poses, poses_from_columns
from ecorche.biomech.opensim_model import OpensimModel
from ecorche.errors import MotionError
from ecorche.io.opensim_storage import read_table, write_table
from osim_models import WALKER_FILE, opensim_package


def test_tables_of_a_walk_come_back(data: Path, tmp_path: Path) -> None:
    """Shifts stay metres where angles are degrees; OpenSim's own names by path are understood."""
    with opensim_package(tmp_path):
        model = OpensimModel(data / WALKER_FILE)
    q = model.defaults() + np.linspace(0.1, 0.9, 31) * np.ones((4, 1))
    for degrees in (False, True):
        columns = columns_from_poses(model, q, degrees=degrees)
        write_table(tmp_path / "q.mot", "walk", np.arange(4.0), columns, degrees=degrees)
        table = read_table(tmp_path / "q.mot")
        found = poses_from_columns(model, table.columns, degrees=table.degrees)
        np.testing.assert_allclose(found, q, rtol=1e-14)
        assert columns["pelvis_ty"][0] == q[0, 4]
    table = read_table(data / "walk" / "coordinates.sto")
    columns = dict(table.columns) | {
        name: np.zeros(len(table.times)) for name in ("mtp_angle_r", "mtp_angle_l")
    }
    walked = poses_from_columns(model, columns, degrees=table.degrees)
    np.testing.assert_array_equal(walked[:, 0], table.column("/jointset/ground_pelvis/pelvis_tilt/value"))
    assert walked.shape == (1350, 31)
    columns.pop("/jointset/hip_r/hip_flexion_r/value")
    with pytest.raises(MotionError, match=r"coordinates.sto: there is no column for 'hip_flexion_r'. Name a"):
        poses_from_columns(model, columns, degrees=False, where="coordinates.sto")
