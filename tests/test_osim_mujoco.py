"""Muscle paths of OpenSim models, drawn by MuJoCo: as long, with the same moment arms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Figure
from ecorche.base.rotations import xyzw_from_matrix
from ecorche.io.osim import OsimModel, muscle_lengths, muscle_moment_arms, muscle_path, read_osim
from osim_models import ARM, ARM_FILE, SHARE, WALKER_FILE, Pose, arm_poses, stretched, walking


@pytest.fixture(scope="module")
def arm(data: Path) -> OsimModel:
    return read_osim(data / ARM_FILE)


@pytest.fixture(scope="module")
def walker(data: Path) -> OsimModel:
    return read_osim(data / WALKER_FILE)


class Mirror:
    """All bodies of a model as bodies that MuJoCo puts where it is told, with tendons between them."""

    def __init__(self, model: OsimModel, tendons: dict[str, tuple[str, tuple[tuple[str, int], ...]]]) -> None:
        """Each tendon is a muscle, with surfaces and the point before each."""
        import mujoco

        self.model, self.mujoco = model, mujoco
        names = ["ground", *(joint.child for joint in model.joints)]
        inside: dict[str, list[str]] = {name: [] for name in names}
        for muscle in model.muscles.values():
            for k, point in enumerate(muscle.points):
                place = " ".join(repr(float(v)) for v in point.place)
                inside[point.body].append(f'<site name="{muscle.name}:{k}" pos="{place}"/>')
        for name, one in model.surfaces.items():
            if one.surface.kind != "cylinder":
                continue
            at, turn = one.body_from_surface[:3, 3], xyzw_from_matrix(one.body_from_surface[:3, :3])
            place = " ".join(repr(float(v)) for v in at)
            quat = " ".join(repr(float(v)) for v in turn[[3, 0, 1, 2]])
            size = f"{one.surface.sizes[0]!r} {one.surface.sizes[2]!r}"
            inside[one.body].append(
                f'<geom name="{name}" type="cylinder" pos="{place}" quat="{quat}" size="{size}"'
                ' contype="0" conaffinity="0"/>'
            )
            if one.surface.side is not None:
                axis, sign = one.surface.side
                beside = at + sign * 1.5 * one.surface.sizes[0] * one.body_from_surface[:3, axis]
                place = " ".join(repr(float(v)) for v in beside)
                inside[one.body].append(f'<site name="side:{name}" pos="{place}"/>')
        bodies = "".join(
            f'<body name="{name}" mocap="true">{"".join(inside[name])}<site name="o:{name}"/></body>'
            for name in names
        )
        spatial = ""
        for title, (runs, wraps) in tendons.items():
            spatial += f'<spatial name="{title}">'
            for k in range(len(model.muscles[runs].points)):
                spatial += f'<site site="{runs}:{k}"/>'
                for name, before in wraps:
                    if before == k:
                        side = f' sidesite="side:{name}"' if model.surfaces[name].surface.side else ""
                        spatial += f'<geom geom="{name}"{side}/>'
            spatial += "</spatial>"
        text = f"<mujoco><worldbody>{bodies}</worldbody><tendon>{spatial}</tendon></mujoco>"
        self.compiled: Any = mujoco.MjModel.from_xml_string(text)
        self.data: Any = mujoco.MjData(self.compiled)
        self.names, self.titles = names, list(tendons)

    def lengths(self, pose: Pose) -> dict[str, float]:
        bodies = self.model.bodies(self.model.values(pose))
        for k, name in enumerate(self.names):
            self.data.mocap_pos[k] = bodies[name][:3, 3]
            self.data.mocap_quat[k] = xyzw_from_matrix(bodies[name][:3, :3])[[3, 0, 1, 2]]
        self.mujoco.mj_fwdPosition(self.compiled, self.data)
        return dict(zip(self.titles, self.data.ten_length.tolist(), strict=True))


def contacts(model: OsimModel, muscle: str, pose: Pose) -> tuple[tuple[str, int], ...] | None:
    """Which surfaces a path touches after which of its points; None where MuJoCo cannot say it."""
    found: list[tuple[str, int]] = []
    point = -1
    carriers = muscle_path(model, muscle, pose).carriers.tolist()
    for k, carrier in enumerate(carriers):
        if carrier < 0:
            point += 1
        elif carriers[k - 1] != carrier:
            name = model.muscles[muscle].wraps[carrier][0]
            if model.surfaces[name].surface.kind != "cylinder" or (found and found[-1][1] == point):
                return None
            found.append((name, point))
    return tuple(found)


@pytest.mark.parametrize("which", ["arm", "walker"])
def test_lengths_and_moment_arms_are_mujocos(
    which: str, arm: OsimModel, walker: OsimModel, data: Path, figure: Figure
) -> None:
    """Through points and round cylinders, those that OpenSim does not draw tight as well."""
    model = arm if which == "arm" else walker
    poses = arm_poses()[::3] if which == "arm" else [*walking(data, walker, 6), *stretched(walker, 10)]
    tendons: dict[str, tuple[str, tuple[tuple[str, int], ...]]] = {}
    asked: list[tuple[Pose, dict[str, str]]] = []
    for pose in poses:
        titles = {}
        for name in model.muscles:
            wraps = contacts(model, name, pose)
            if wraps is not None:
                titles[name] = f"{name}|{wraps}".replace('"', "").replace("'", "")
                tendons[titles[name]] = name, wraps
        asked.append((pose, titles))
    mirror = Mirror(model, tendons)
    worst, wrong, wrapped = 0.0, 0.0, 0
    for number, (pose, titles) in enumerate(asked):
        theirs, mine = mirror.lengths(pose), muscle_lengths(model, pose, list(titles))
        worst = max(worst, max(abs(mine[name] - theirs[title]) for name, title in titles.items()))
        wrapped += sum(bool(tendons[title][1]) for title in titles.values())
        if number % 6:
            continue
        coordinate = "r_elbow_flex" if which == "arm" else "hip_adduction_r"
        found = muscle_moment_arms(model, pose, [coordinate], list(titles))
        ends = [mirror.lengths({**pose, coordinate: pose[coordinate] + step}) for step in (1e-4, -1e-4)]
        for row, title in enumerate(titles.values()):
            slope = (ends[1][title] - ends[0][title]) / 2e-4
            wrong = max(wrong, abs(found.values[row, 0] - slope) / max(ARM, SHARE * abs(slope)))
    figure(f"muscle lengths against MuJoCo, {which}", 1000 * worst, 0.1, "mm")
    figure(f"moment arms against MuJoCo, {which}, of what is allowed", wrong, 1.0, "share")
    assert wrapped > (20 if which == "arm" else 150)
    assert worst < 1e-6
    assert wrong < 0.2
