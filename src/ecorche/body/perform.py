"""Put a motion on a character: retarget it, keep it within its limits, and skin it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ecorche.body.character import Character
from ecorche.body.compile import compile_body, of_its_type
from ecorche.body.joint_limits import joint_limits
from ecorche.body.live_frames import LiveFrames
from ecorche.body.preroll import with_preroll, with_samples
from ecorche.body.rig import require_bound
from ecorche.body.take import Take
from ecorche.document.files import Rig
from ecorche.dynamics.setting import Dynamics, dynamics_named
from ecorche.errors import EcorcheError, MotionError
from ecorche.muscles.activation import ActivationSource
from ecorche.muscles.moving_scapulae import with_moving_scapulae
from ecorche.skeleton.enforce_limits import LimitReport, enforce_limits
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.naming import Naming, recognise
from ecorche.skeleton.naming.vocabulary import RADIOULNAR
from ecorche.skeleton.radioulnar import share_pronation
from ecorche.skeleton.resample import resample
from ecorche.skeleton.retarget import RetargetReport, retarget


@dataclass(frozen=True, eq=False)
class Performance:
    """A take and what was done to the motion on its way.

    Attributes:
        take: The take; its frames are computed when read.
        retargeting: What matched, and how well; None where the motion was already the character's.
        limits: What was clamped where; None where limits were not asked for.
    """

    take: Take
    retargeting: RetargetReport | None = None
    limits: LimitReport | None = None


def perform(
    character: Character,
    motion: Motion | None = None,
    *,
    feet: str = "directions",
    rate: float | None = None,
    frames: tuple[int, int] | None = None,
    rig: Rig | None = None,
    limits: bool | None = None,
    skinning: str | None = None,
    mapping: Mapping[str, str] | None = None,
    source_mapping: Mapping[str, str] | None = None,
    muscles: bool = True,
    activation: ActivationSource | None = None,
    dynamics: str = "off",
    preroll: float = 0.0,
    samples: int = 1,
) -> Performance:
    """A character in motion, its skin ready to be written or shown frame by frame.

    Args:
        character: Who moves.
        motion: How; None takes the character's posed cache with the motion it came with, else
            the bind pose. A motion made for another skeleton is retargeted.
        feet: ``"directions"`` keeps limb directions, ``"planted"`` keeps the feet in place.
        rate: Frames per second to resample to; None keeps the motion's own times.
        frames: First and last frame to keep, after resampling.
        rig: The character's rig: its skinning, names, limits and joint models hold where the
            arguments below do not say otherwise.
        limits: Keep joints within their limits, a human's where the rig has none of its own.
        skinning: Skinning method for all meshes; None takes the file's own.
        mapping: Joint name to H-Anim name, for a character whose names are not recognised.
        source_mapping: The same for the motion's skeleton.
        muscles: Whether the rig's muscles move the skin.
        activation: How active they are; None takes what the rig says.
        dynamics: ``"off"``, ``"oscillation"``: muscles on action lines swing after the bones, ``"fat"``: fat
            swings between muscles and skin, or ``"springs"``: muscles and skin jiggle as masses on springs.
            Frames then depend on all before, from the first of the whole motion on; `frames` cuts its part
            from that.
        preroll: Before the first frame that is kept the body goes from bind into its pose for so long [s], so
            that what swings has come to rest there; what was before that frame is then forgotten.
        samples: Moments a frame, for motion blur.
    """
    setting = dynamics_named(dynamics)
    if rig is not None:
        require_bound(rig, character, rig.source)
        skinning = skinning or rig.spec.skinning.method
        mapping = mapping or rig.spec.skeleton.mapping or None
        limits = rig.spec.skeleton.limits == "enforce" if limits is None else limits
    of_type, _ = of_its_type(character, rig)
    posed = None
    if motion is None:
        posed = of_type.cache
        motion = (
            character.motions[0] if posed is not None and character.motions else bind_pose(character.skeleton)
        )
    report = None
    if motion.skeleton is not character.skeleton:
        moved = retarget(
            motion, character.skeleton, mode=feet, mapping=mapping, source_mapping=source_mapping
        )
        motion, report = moved.motion, moved.report
        naming = recognise(character.skeleton, mapping)
        if not set(RADIOULNAR).isdisjoint(naming.canonical):  # no source moves it: the forearm's turn does
            motion = share_pronation(motion, naming.canonical)
        motion, report = _with_scapulae(motion, naming, report)
    if rate is not None:
        motion = resample(motion, rate=rate)
    clamped = None
    if limits:
        unlimited = motion
        motion, clamped = _within_limits(unlimited, character, rig, mapping)
        if frames is not None:  # told of the part alone
            clamped = _within_limits(unlimited.part(*frames), character, rig, mapping)[1]
    if posed is not None and (preroll or samples > 1):
        raise MotionError(
            "a posed cache has no frames before its first and none between",
            where=character.name,
            remedy="Leave out preroll and samples, or give a motion",
        )
    if preroll and frames is not None:
        motion, frames = motion.part(*frames), None
    begins, (motion, before) = float(motion.times[0]), with_preroll(motion, preroll)
    motion = with_samples(motion, samples)
    if muscles:
        body = compile_body(character, skinning=skinning, rig=rig, activation=activation)
    else:
        body = compile_body(of_type, skinning=skinning)
    if setting is Dynamics.OSCILLATION and body.lines is None:
        raise EcorcheError(
            "there are no muscles that could swing: those that are meshes do",
            where=character.name if rig is None else rig.source,
            remedy="Make the rig with --as-lines or --anatomy, or leave out --dynamics oscillation",
        )
    if setting is Dynamics.FAT:
        from ecorche.body.compile_fat import compile_fat

        body = replace(body, fat=compile_fat(body, rig))
    if setting is Dynamics.SPRINGS:
        from ecorche.body.compile_springs import compile_springs

        body = replace(body, springs=compile_springs(body, rig))
    live = LiveFrames(body, motion, posed, dynamics=setting, samples=samples, shown_from=begins)
    if frames is not None:
        live = live.part(samples * frames[0], samples * frames[1])
    elif before:
        live = live.part(samples * before, motion.frame_count - 1)
    return Performance(Take(of_type, live.motion, live, samples, rig), report, clamped)


def _with_scapulae(motion: Motion, naming: Naming, report: RetargetReport) -> tuple[Motion, RetargetReport]:
    """The motion with shoulder blades that follow the arms where it had none, and the report with a note."""
    names = motion.skeleton.names
    motion, moving = with_moving_scapulae(motion, naming, {names.index(n) for n in report.unmatched_target})
    if not moving:
        return motion, report
    told = [names[j] for j in moving]
    note = f"the motion has no shoulder blades: {', '.join(map(repr, told))} follow the arms"
    kept = tuple(name for name in report.unmatched_target if name not in told)
    return motion, replace(report, unmatched_target=kept, notes=(*report.notes, note))


def _within_limits(
    motion: Motion, character: Character, rig: Rig | None, mapping: Mapping[str, str] | None
) -> tuple[Motion, LimitReport]:
    """The motion within the limits of the rig's joint models, and of a human's joints elsewhere."""
    return enforce_limits(motion, *joint_limits(character.skeleton, rig, mapping))
