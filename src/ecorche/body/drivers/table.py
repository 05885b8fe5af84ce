"""The table of drivers: its numbers, its file, and what it gives for a pose. docs/drivers.md explains it.

This is one of three evaluators of the same file; the others are ``drivers.mjs`` and ``blender_drivers.py``
beside it, which know nothing of this package.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base import rotations, transforms
from ecorche.base.files import require_file, whole_file
from ecorche.base.names import suggestion
from ecorche.body.drivers.terms import products, terms
from ecorche.errors import ReadError, SkeletonError
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

FORMAT, VERSION = "ecorche drivers", 1
OUTPUTS = 8
"""A driver gives an offset (3) [m], a rotation vector (3) [rad], and how much wider y and z are (2)."""


@dataclass(frozen=True, eq=False)
class Driver:
    """How one muscle joint follows the pose.

    Attributes:
        name, parent: Of the muscle joint and of the joint it hangs on.
        joints: Names of the joints that drive it.
        coefficients: Of each term in each output, shape (OUTPUTS, terms).
        lowest, highest: What each output is held within, (OUTPUTS,): what was seen, and a little more.
        bind_local: ``parent_from_joint`` at bind, (4, 4).
        bind_turn_xyzw: Of the joint in the character's space at bind, (4,).
    """

    name: str
    parent: str
    joints: tuple[str, ...]
    coefficients: Floats
    lowest: Floats
    highest: Floats
    bind_local: Floats
    bind_turn_xyzw: Floats


@dataclass(frozen=True, eq=False, repr=False)
class DriverTable:
    """The drivers of a character's muscle joints.

    Attributes:
        character: Its name.
        joints: Names of all joints that drive.
        parents: Names of the joints they hang on, None at a root.
        bind_xyzw: Their rotations against their parents at bind, (joints, 4).
        bind_turn_xyzw: Their rotations in the character's space at bind, (joints, 4).
        drivers: One a muscle joint.
        errors: What was measured at the skin over which poses [mm].
    """

    character: str
    joints: tuple[str, ...]
    parents: tuple[str | None, ...]
    bind_xyzw: Floats
    bind_turn_xyzw: Floats
    drivers: tuple[Driver, ...]
    errors: dict[str, dict[str, float]]

    def __repr__(self) -> str:
        return f"DriverTable({len(self.drivers)} muscle joints driven by {len(self.joints)} joints)"

    def outputs(self, turns_xyzw: Floats) -> Floats:
        """What every driver gives, (..., K, OUTPUTS), of the driving joints' turns since bind (..., n, 4)."""
        numbers = np.where(turns_xyzw[..., 3:] < 0.0, -1.0, 1.0) * turns_xyzw[..., :3]
        given = np.empty((*numbers.shape[:-2], len(self.drivers), OUTPUTS))
        place = {name: number for number, name in enumerate(self.joints)}
        known: dict[tuple[str, ...], Floats] = {}
        for number, driver in enumerate(self.drivers):
            if driver.joints not in known:
                own = numbers[..., [place[name] for name in driver.joints], :]
                flat = own.reshape(*own.shape[:-2], -1)
                known[driver.joints] = products(flat, terms(len(driver.joints)))
            raw = known[driver.joints] @ driver.coefficients.T
            given[..., number, :] = np.clip(raw, driver.lowest, driver.highest)
        return given

    def turns(self, skeleton: Skeleton, local: Floats) -> Floats:
        """The driving joints' turns since bind, xyzw (..., n, 4), of local matrices (..., joints, 4, 4)."""
        numbers = [skeleton.index(name) for name in self.joints]
        turn = transforms.decompose(local[..., numbers, :, :])[1]
        return rotations.multiply_xyzw(rotations.inverse_xyzw(self.bind_xyzw), turn)

    def muscle_local(self, skeleton: Skeleton, local: Floats) -> Floats:
        """``parent_from_joint`` of the muscle joints (..., K, 4, 4) of local matrices (..., joints, 4, 4)."""
        bind = np.stack([driver.bind_local for driver in self.drivers])
        return np.asarray(bind @ moved_by(self.outputs(self.turns(skeleton, local))))


def moved_by(outputs: Floats) -> Floats:
    """How a joint moves in its own bind frame, (..., 4, 4), by what its driver gives (..., OUTPUTS)."""
    ones = np.ones((*outputs.shape[:-1], 1))
    scale = np.concatenate([ones, 1.0 + outputs[..., 6:]], axis=-1)
    turn = rotations.xyzw_from_rotation_vector(outputs[..., 3:6])
    return transforms.compose(outputs[..., :3], turn, scale)


def write_table(path: str | os.PathLike[str], table: DriverTable) -> None:
    """Write a table as JSON; the same table gives the same bytes."""
    place = {name: number for number, name in enumerate(table.joints)}
    counts = sorted({len(driver.joints) for driver in table.drivers})
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "character": table.character,
        "errors_mm": table.errors,
        "joints": [
            {
                "name": name,
                "parent": parent,
                "bind_rotation": _numbers(turn, 9),
                "bind_world_rotation": _numbers(world, 9),
            }
            for name, parent, turn, world in zip(
                table.joints, table.parents, table.bind_xyzw, table.bind_turn_xyzw, strict=True
            )
        ],
        "terms": {str(count): [list(term) for term in terms(count)] for count in counts},
        "muscle_joints": [],
    }
    for driver in table.drivers:
        translation, turn, scale = transforms.decompose(driver.bind_local)
        content["muscle_joints"].append(
            {
                "name": driver.name,
                "parent": driver.parent,
                "bind": {
                    "translation": _numbers(translation, 9),
                    "rotation": _numbers(turn, 9),
                    "scale": _numbers(scale, 9),
                },
                "bind_world_rotation": _numbers(driver.bind_turn_xyzw, 9),
                "driven_by": [place[name] for name in driver.joints],
                "lowest": _numbers(driver.lowest, 6),
                "highest": _numbers(driver.highest, 6),
                "coefficients": [_numbers(row, 6) for row in driver.coefficients],
            }
        )
    with whole_file(path) as partial:
        partial.write_text(json.dumps(content, separators=(",", ":"), ensure_ascii=False), encoding="utf-8")


def read_table(path: str | os.PathLike[str]) -> DriverTable:
    """The table in a file."""
    require_file(path)
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["format"] != FORMAT or content["version"] != VERSION:
            raise ReadError(
                f"is not {FORMAT!r} of version {VERSION}", where=path, remedy="Export the drivers again"
            )
        names = [joint["name"] for joint in content["joints"]]
        return DriverTable(
            character=content["character"],
            joints=tuple(names),
            parents=tuple(joint["parent"] for joint in content["joints"]),
            bind_xyzw=np.array([joint["bind_rotation"] for joint in content["joints"]]).reshape(-1, 4),
            bind_turn_xyzw=np.array([j["bind_world_rotation"] for j in content["joints"]]).reshape(-1, 4),
            drivers=tuple(
                Driver(
                    name=entry["name"],
                    parent=entry["parent"],
                    joints=tuple(names[number] for number in entry["driven_by"]),
                    coefficients=np.array(entry["coefficients"]),
                    lowest=np.array(entry["lowest"]),
                    highest=np.array(entry["highest"]),
                    bind_local=transforms.compose(
                        entry["bind"]["translation"], entry["bind"]["rotation"], entry["bind"]["scale"]
                    ),
                    bind_turn_xyzw=np.array(entry["bind_world_rotation"]),
                )
                for entry in content["muscle_joints"]
            ),
            errors=content["errors_mm"],
        )
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ReadError(
            f"is no table of drivers: {error}", where=path, remedy="Export the drivers again"
        ) from error


def require_joints(table: DriverTable, skeleton: Skeleton) -> None:
    """Refuse a skeleton that lacks a joint of the table."""
    for name in (*table.joints, *(driver.name for driver in table.drivers)):
        if name not in skeleton.names:
            raise SkeletonError(f"the drivers know a joint {name!r}", remedy=suggestion(name, skeleton.names))


def _numbers(values: Floats, digits: int) -> list[float]:
    """Numbers with so many digits that count."""
    return [float(f"{value:.{digits}g}") + 0.0 for value in np.asarray(values, np.float64)]
