"""A subject's own OpenSim model: segments scaled, masses and muscles with them, markers where they were.

OpenSim scales bodies, joints, wrap surfaces, paths and inertias by the factors found (`scaling`). Each
muscle's optimal fibre and tendon slack length change as its whole length does, so their ratio stays. Masses
go with the cube of a segment's factor, or to a total that was weighed, in these proportions. Forces of
muscles do not change: how strong somebody is, markers do not say. Last, the model stands as the still
recording does, and each marker that was measured is put where it was seen, but for those that the file calls
fixed, as on landmarks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_folder, whole_file
from ecorche.base.recordings import MarkerRecording
from ecorche.biomech.inverse_kinematics import inverse_kinematics
from ecorche.biomech.misfit import FAR_FROM_SCALED, require_near
from ecorche.biomech.opensim_model import OpensimModel, opensim_package
from ecorche.biomech.scaling import (
    Pair,
    ScaledSubject,
    SegmentScale,
    require_scalable,
    segment_scales,
    standing,
)

Floats = npt.NDArray[np.float64]


def scale_to_subject(
    source: str | os.PathLike[str],
    static: MarkerRecording,
    target: str | os.PathLike[str],
    *,
    pairs: Mapping[str, Sequence[Pair]] | None = None,
    mass: float | None = None,
    keep: Sequence[str] = (),
) -> ScaledSubject:
    """Scale an ``.osim`` file to somebody who stood still, and write it.

    Args:
        source: The model.
        static: Markers of the subject, still, in the model's ground frame.
        target: The file to write.
        pairs: Of markers to measure a body by, by its name; found by themselves for the others.
        mass: Of the subject [kg].
        keep: Markers that stay where the scaled model has them.
    """
    target = Path(target)
    require_folder(target)
    model = OpensimModel(Path(source))
    require_scalable(model, mass, keep)
    still, _, notes = standing(model, static)
    scales = segment_scales(model, still, pairs)
    opensim = opensim_package()
    scaled = _scaled(opensim, model, scales, mass)
    with TemporaryDirectory() as folder:
        half = Path(folder) / "scaled.osim"
        scaled.printToXML(str(half))
        subject = OpensimModel(half)
        motion = inverse_kinematics(subject, still)
        require_near(subject, still, motion, FAR_FROM_SCALED)
        placed = _place(opensim, scaled, subject, motion.q[0], still, keep)
    with whole_file(target) as partial:
        scaled.printToXML(str(partial))
    total = sum(body.mass for body in subject.bodies)
    return ScaledSubject(
        scales,
        sum(body.mass for body in model.bodies),
        total,
        motion.markers,
        motion.errors[0],
        float(inverse_kinematics(model, still).rms[0]),
        placed,
        (*notes, *motion.notes),
    )


def _scaled(opensim: Any, model: OpensimModel, scales: Sequence[SegmentScale], mass: float | None) -> Any:
    """OpenSim's model, scaled."""
    made = opensim.Model(str(model.path))
    state = made.initSystem()
    factors = opensim.ScaleSet()
    for one in scales:
        factor = opensim.Scale()
        factor.setSegmentName(one.body)
        factor.setScaleFactors(opensim.Vec3(one.factor))
        factor.setApply(True)
        factors.cloneAndAppend(factor)
    made.scale(state, factors, False, -1.0 if mass is None else mass)
    made.initSystem()
    return made


def _place(
    opensim: Any,
    scaled: Any,
    subject: OpensimModel,
    pose: Floats,
    still: MarkerRecording,
    keep: Sequence[str],
) -> tuple[str, ...]:
    """Put measured markers where they were seen, on the body that each is on."""
    frames = subject.body_transforms(pose)
    names = [body.name for body in subject.bodies]
    placed = []
    for marker in subject.markers:
        if marker.name not in still.names or marker.name in keep or marker.body not in names:
            continue
        frame = frames[names.index(marker.body)]
        local = frame[:3, :3].T @ (still.of(marker.name)[0] - frame[:3, 3])
        one = scaled.updMarkerSet().get(marker.name)
        if one.get_fixed():
            continue  # the file says that it lies on a landmark
        offset = one.getParentFrame().findTransformInBaseFrame()
        one.set_location(offset.shiftBaseStationToFrame(opensim.Vec3(*local.tolist())))
        placed.append(marker.name)
    return tuple(placed)
