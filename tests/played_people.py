"""Real people and a horse as vertex programs, in poses throughout the range of all joints."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.body.compile import Body, compile_body
from ecorche.body.evaluator import Evaluator
from ecorche.body.instance_evaluator import InstanceEvaluator
from ecorche.body.sample_poses import sample_poses
from ecorche.body.vertex_program import vertex_program
from ecorche.skeleton.kinematics import difference_from_bind
from extracted_people import extracted, hybrid_body
from rigged_people import person, rigged

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]

COUNT = 21  # more than sixteen, and not twice as many


@cache
def body(path: Path, found: bool) -> Body:
    """With the whole template, or with the muscles found in its skin."""
    return hybrid_body(path) if found else compile_body(person(path), rig=rigged(path))


@cache
def instances(path: Path, found: bool) -> tuple[Evaluator, Floats, Floats]:
    """An evaluator, and instances in poses throughout the range of all joints."""
    program = vertex_program(body(path, found))
    poses = sample_poses(person(path), extracted(path)[1] if found else rigged(path), COUNT).local[:COUNT]
    active = np.random.default_rng(8).random((COUNT, program.muscle_count))
    return Evaluator(program), difference_from_bind(person(path).skeleton, poses), active


def evaluated(evaluator: InstanceEvaluator, moved: Floats, active: Floats | None) -> tuple[Points, Points]:
    """Positions and normals of all instances."""
    program = evaluator.program
    points = np.empty((len(moved), len(program.points), 3), np.float32)
    normals = np.empty((len(moved), len(program.places.vertices), 3), np.float32)
    evaluator.apply(moved, active, points=points, normals=normals)
    return points, normals
