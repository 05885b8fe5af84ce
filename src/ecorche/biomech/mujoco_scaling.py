"""A subject's own MuJoCo model: segments scaled, masses and muscles with them, markers where they were.

Each body has one factor (`scaling`); bodies without a joint between them have the same. By it go, in the
body, the places of joints, geoms, sites, cameras and lights,
sizes of geoms and meshes, and the centre of mass; by
its parent's, its place on the parent and the ways of its slides, limits and polynomials included. Masses go
with the cube of the factor and inertias with its fifth power, or all to a total that was weighed, in these
proportions. A muscle's range of lengths, and so its optimal length and what it leaves for a tendon, goes as
its path does in the model's own pose, so their ratio stays. Forces of muscles stay in newtons. Last, each
marker that was measured is put where it was seen, as a site.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_folder, whole_file
from ecorche.base.recordings import MarkerRecording
from ecorche.biomech.inverse_kinematics import inverse_kinematics
from ecorche.biomech.misfit import FAR_FROM_SCALED, require_near
from ecorche.biomech.mujoco_model import MujocoModel, Placed, mujoco_package
from ecorche.biomech.scaling import (
    Pair,
    ScaledSubject,
    SegmentScale,
    require_scalable,
    segment_scales,
    standing,
)
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]

MESH_NUMBERS = (
    "refpos",
    "refquat",
    "inertia",
    "smoothnormal",
    "maxhullvert",
    "material",
    "content_type",
    "uservert",
    "usernormal",
    "usertexcoord",
    "userface",
    "userfacetexcoord",
)
"""What a copy of a mesh takes over besides file and scale, where MuJoCo knows it."""

ROUNDING = 2e-5
"""Of inertias in a file of six digits."""


def scale_mujoco_to_subject(
    source: str | os.PathLike[str],
    static: MarkerRecording,
    target: str | os.PathLike[str],
    *,
    markers: Placed | None = None,
    pairs: Mapping[str, Sequence[Pair]] | None = None,
    mass: float | None = None,
    keep: Sequence[str] = (),
) -> ScaledSubject:
    """Scale an MJCF file to somebody who stood still, and write it.

    Args:
        source: The model.
        static: Markers of the subject, still, in the model's ground frame.
        target: The file to write.
        markers: On the model as it is, besides its sites.
        pairs: Of markers to measure a body by, by its name; found by themselves for the others.
        mass: Of the subject [kg].
        keep: Markers that stay where the scaled model has them.
    """
    source, target = Path(source), Path(target)
    require_folder(target)
    model = MujocoModel(source, markers)
    require_scalable(model, mass, keep)
    still, shared, notes = standing(model, static)
    spec = _spec(source)
    before = _compile(spec, source)  # which numbers its parts, too
    scales = _welded(before, model, segment_scales(model, still, pairs))
    factors = np.array([1.0, *(one.factor for one in scales)])
    _scale_bodies(spec, before, factors)
    _scale_joints(spec, before, factors)
    _scale_meshes(spec, factors)
    if mass is not None:
        _weigh(spec, mass / float(_compile(spec, source).body_mass.sum()))
    _scale_muscles(spec, before, _compile(spec, source))
    known = [body.name for body in model.bodies]
    grown = {
        m.name: (m.body, _times(m.place, scales[known.index(m.body)].factor))
        for m in model.markers
        if m.name in shared
    }
    subject = MujocoModel(_compile(spec, source), grown)
    motion = inverse_kinematics(subject, still)
    require_near(subject, still, motion, FAR_FROM_SCALED)
    placed = _place(spec, subject, motion.q[0], still, keep, source)
    _compile(spec, source)
    with whole_file(target) as partial:
        _write(spec, source, target, partial)
        written = MujocoModel(partial)
    return ScaledSubject(
        scales,
        sum(body.mass for body in model.bodies),
        sum(body.mass for body in written.bodies),
        motion.markers,
        motion.errors[0],
        float(inverse_kinematics(model, still).rms[0]),
        placed,
        (*notes, *motion.notes),
    )


def _spec(source: Path) -> Any:
    """The model as MuJoCo edits it."""
    mujoco = mujoco_package()
    if not hasattr(mujoco, "MjSpec"):
        raise EcorcheError("scaling needs MuJoCo 3.2", where=source, remedy="pip install -U mujoco")
    return mujoco.MjSpec.from_file(str(source))


def _compile(spec: Any, source: Path) -> Any:
    try:
        return spec.compile()
    except (ValueError, mujoco_package().FatalError) as error:
        reason = " ".join(str(error).split())
        raise EcorcheError(
            f"MuJoCo does not accept it scaled ({reason})", where=source, remedy="Leave out what it names"
        ) from error


def _welded(model: Any, read: MujocoModel, scales: Sequence[SegmentScale]) -> tuple[SegmentScale, ...]:
    """Bodies without a joint between them are one segment: that of them with the most pairs measures it."""
    found = list(scales)
    for weld in set(model.body_weldid[1:].tolist()) - {0}:
        group = [k for k in range(len(scales)) if model.body_weldid[k + 1] == weld]
        best = max(group, key=lambda k: len(scales[k].pairs))
        for k in group:
            if k != best and scales[best].pairs:
                found[k] = replace(
                    scales[best], body=scales[k].body, pairs=(), taken_from=read.bodies[best].name
                )
    return tuple(found)


def _times(place: Sequence[float], factor: float) -> tuple[float, float, float]:
    x, y, z = (float(value) * factor for value in place)
    return x, y, z


def _scale_bodies(spec: Any, model: Any, factors: Floats) -> None:
    """Places and sizes of all that is on bodies; masses with the cube."""
    for body in spec.bodies[1:]:
        size, above = float(factors[body.id]), float(factors[body.parent.id])
        body.pos = np.asarray(body.pos) * above
        if size != above and len(body.joints):
            off = np.asarray(body.joints[0].pos)
            if off.any() and body.frame is not None:
                raise EcorcheError(
                    f"the joint of {body.name!r} is not at its origin, and it stands in a <frame>",
                    where=spec.modelname,
                    remedy="Put the body's origin at the joint",
                )
            # the joint stays where the parent has it: about it the body grows by its own factor
            turn = np.zeros(9)
            mujoco_package().mju_quat2Mat(turn, model.body_quat[body.id])
            body.pos = np.asarray(body.pos) + (above - size) * turn.reshape(3, 3) @ off
        for thing in (*body.sites, *body.cameras, *body.lights, *body.joints):
            thing.pos = np.asarray(thing.pos) * size
        for site in body.sites:
            site.fromto = np.asarray(site.fromto) * size
        for geom in body.geoms:
            geom.pos = np.asarray(geom.pos) * size
            geom.size = np.asarray(geom.size) * size
            geom.fromto = np.asarray(geom.fromto) * size
            geom.mass *= size**3  # what is not said is no number, and stays so
        if body.explicitinertial:
            body.ipos = np.asarray(body.ipos) * size
            body.mass *= size**3
            body.inertia = _possible(np.asarray(body.inertia) * size**5)
            body.fullinertia = np.asarray(body.fullinertia) * size**5
    for frame in spec.frames:
        frame.pos = np.asarray(frame.pos) * float(factors[frame.parent.id])


def _possible(inertia: Floats) -> Floats:
    """Inertias (3,) of which no one is above the two others together, by digits that a file keeps.

    Models have thin plates, where it is just that, and MuJoCo allows for no rounding.
    """
    largest = int(np.argmax(inertia))
    others = float(inertia.sum() - inertia[largest])
    if abs(inertia[largest] - others) < ROUNDING * others:
        return np.where(np.arange(3) == largest, others * (1.0 - ROUNDING), inertia)
    return inertia


def _scale_joints(spec: Any, model: Any, factors: Floats) -> None:
    """Ways of slides, with limits and with the polynomials by which joints follow others."""
    mujoco = mujoco_package()
    ways = {}
    for joint in spec.joints:
        slides = joint.type == mujoco.mjtJoint.mjJNT_SLIDE
        ways[joint.name] = way = float(factors[joint.parent.parent.id]) if slides else 1.0
        if slides:
            joint.range = np.asarray(joint.range) * way
            joint.ref *= way
            joint.springref *= way
            for key in spec.keys:
                if len(key.qpos):
                    at = int(model.jnt_qposadr[joint.id])
                    key.qpos[at] *= way
    for equality in spec.equalities:
        if equality.type == mujoco.mjtEq.mjEQ_JOINT:
            numbers = np.array(equality.data)
            leader = ways.get(equality.name2, 1.0)
            numbers[:5] *= ways[equality.name1] / leader ** np.arange(5)
            equality.data = numbers


def _scale_meshes(spec: Any, factors: Floats) -> None:
    """Meshes as large as the bodies that show them; one that several sizes show is copied."""
    users: dict[str, dict[float, list[Any]]] = {}
    for geom in spec.geoms:
        if geom.meshname:
            size = float(factors[geom.parent.id])
            users.setdefault(geom.meshname, {}).setdefault(size, []).append(geom)
    meshes = {mesh.name or Path(mesh.file).stem: mesh for mesh in spec.meshes}
    for name, sizes in users.items():
        mesh, own = meshes[name], np.array(meshes[name].scale)
        for number, (size, geoms) in enumerate(sizes.items()):
            if number == 0:
                mesh.scale = own * size
                continue
            copy = spec.add_mesh(name=f"{name}_{number}", file=mesh.file, scale=own * size)
            for what in MESH_NUMBERS:
                if hasattr(mesh, what):
                    setattr(copy, what, getattr(mesh, what))
            for geom in geoms:
                geom.meshname = copy.name


def _weigh(spec: Any, times: float) -> None:
    for body in spec.bodies[1:]:
        if body.explicitinertial:
            body.mass *= times
            body.inertia = _possible(np.asarray(body.inertia) * times)
            body.fullinertia = np.asarray(body.fullinertia) * times
    for geom in spec.geoms:
        geom.mass *= times
        geom.density *= times


def _scale_muscles(spec: Any, before: Any, after: Any) -> None:
    """Lengths of tendons and muscles as their paths in the model's own pose; forces in newtons."""
    mujoco = mujoco_package()
    grown = after.tendon_length0 / before.tendon_length0
    for tendon in spec.tendons:
        if before.wrap_type[before.tendon_adr[tendon.id]] == int(mujoco.mjtWrap.mjWRAP_JOINT):
            continue  # a sum of angles has no length
        slack = np.array(tendon.springlength)
        tendon.springlength = np.where(slack > 0.0, slack * grown[tendon.id], slack)
        tendon.range = np.asarray(tendon.range) * grown[tendon.id]
    for actuator in spec.actuators:
        a = actuator.id
        if before.actuator_gaintype[a] != int(mujoco.mjtGain.mjGAIN_MUSCLE):
            continue
        on_tendon = before.actuator_trntype[a] == int(mujoco.mjtTrn.mjTRN_TENDON)
        times = float(grown[before.actuator_trnid[a, 0]]) if on_tendon else 1.0
        actuator.lengthrange = before.actuator_lengthrange[a] * times
        for what in ("gainprm", "biasprm"):
            numbers = np.array(getattr(actuator, what))
            if numbers[2] < 0.0:  # by the body's own weight, which has changed
                numbers[2] = numbers[3] / before.actuator_acc0[a]
                setattr(actuator, what, numbers)


def _place(
    spec: Any, subject: MujocoModel, pose: Floats, still: MarkerRecording, keep: Sequence[str], source: Path
) -> tuple[str, ...]:
    """Measured markers as sites where they were seen, or where they are kept."""
    frames = dict(zip([body.name for body in subject.bodies], subject.body_transforms(pose), strict=True))
    placed = []
    for marker in subject.markers:
        if marker.name not in still.names:
            continue
        place = np.array(marker.place)
        if marker.name not in keep:
            frame = frames[marker.body]
            place = frame[:3, :3].T @ (still.of(marker.name)[0] - frame[:3, 3])
            placed.append(marker.name)
        site = spec.site(marker.name)
        if site is None:
            body = spec.body(marker.body)
            if body is None:
                raise EcorcheError(
                    f"the body of marker {marker.name!r} has no name", where=source, remedy="Give it one"
                )
            body.add_site(name=marker.name, pos=place)
        elif site.parent.name == marker.body and site.frame is None:
            site.pos = place
        else:
            raise EcorcheError(
                f"a site {marker.name!r} stands elsewhere than the marker", where=source, remedy="Rename it"
            )
    return tuple(placed)


def _write(spec: Any, source: Path, target: Path, partial: Path) -> None:
    """The file, with folders of meshes and textures as seen from where it goes."""
    folder = Path(os.path.realpath(target)).parent
    for what in ("meshdir", "texturedir"):
        assets = source.resolve().parent / getattr(spec, what)
        if getattr(spec, what) or (assets != folder and len(spec.meshes) + len(spec.textures)):
            setattr(spec, what, Path(os.path.relpath(assets, folder)).as_posix())
    partial.write_text(spec.to_xml(), encoding="utf-8")
