"""The template against a public musculoskeletal model: which muscles shorten when a joint turns.

The full-body model of the package ``myo-sim`` (416 muscles, MuJoCo) has its muscles, wraps and coupled
joints from published OpenSim models. For the muscles both have, and each main degree of freedom, the change
of length from one end of an everyday range to the other must have the same sign. Changes below 3 mm there
count as none: such a muscle hardly acts on that joint, and its sign says little.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from anatomical_poses import AnatomicalPoses
from conftest import Figure
from ecorche.io.formats import read_character
from ecorche.muscles.fit import fit_to_skin
from ecorche.muscles.musculature import musculature
from ecorche.muscles.template import TEMPLATE, place
from ecorche.skeleton.naming import recognise

Floats = npt.NDArray[np.float64]

LEAST = 0.003
"""Changes of length below this [m] in the model say nothing."""

SAME = {
    "deltoid, anterior": ("DELT1",),
    "deltoid, middle": ("DELT2",),
    "deltoid, posterior": ("DELT3",),
    "pectoralis major, clavicular": ("PECM1",),
    "pectoralis major, sternal": ("PECM2",),
    "pectoralis major, abdominal": ("PECM3",),
    "latissimus dorsi, upper": ("LAT1",),
    "latissimus dorsi, middle": ("LAT2",),
    "latissimus dorsi, lower": ("LAT3",),
    "teres major": ("TMAJ",),
    "teres minor": ("TMIN",),
    "infraspinatus": ("INFSP",),
    "coracobrachialis": ("CORB",),
    "biceps brachii, long head": ("BIClong",),
    "biceps brachii, short head": ("BICshort",),
    "brachialis": ("BRA",),
    "triceps brachii, long head": ("TRIlong",),
    "triceps brachii, lateral head": ("TRIlat",),
    "triceps brachii, medial head": ("TRImed",),
    "anconeus": ("ANC",),
    "brachioradialis": ("BRD",),
    "extensor carpi radialis longus": ("ECRL",),
    "extensor carpi radialis brevis": ("ECRB",),
    "extensor digitorum": ("EDC3",),
    "extensor digiti minimi": ("EDM",),
    "extensor carpi ulnaris": ("ECU",),
    "abductor pollicis longus": ("APL",),
    "pronator teres": ("PT",),
    "flexor carpi radialis": ("FCR",),
    "palmaris longus": ("PL",),
    "flexor carpi ulnaris": ("FCU",),
    "flexor digitorum superficialis": ("FDS3",),
    "rectus abdominis": ("rect_abd_l",),  # theirs of that name is the one right of their midline
    "external oblique, anterior": ("EO1_r", "EO2_r"),
    "external oblique, lateral": ("EO5_r", "EO6_r"),
    "erector spinae, longissimus": tuple(f"LTpT_T{n}_r" for n in range(4, 11)),
    "erector spinae, iliocostalis": tuple(f"IL_R{n}_r" for n in range(6, 12)),
    "gluteus maximus, upper": ("glmax1_r",),
    "gluteus maximus, lower": ("glmax3_r",),
    "gluteus medius, anterior": ("glmed1_r",),
    "gluteus medius, posterior": ("glmed3_r",),
    "tensor fasciae latae": ("tfl_r",),
    "sartorius": ("sart_r",),
    "rectus femoris": ("recfem_r",),
    "vastus lateralis": ("vaslat_r",),
    "vastus medialis": ("vasmed_r",),
    "adductor longus": ("addlong_r",),
    "adductor magnus": ("addmagMid_r", "addmagIsch_r"),
    "gracilis": ("grac_r",),
    "biceps femoris, long head": ("bflh_r",),
    "biceps femoris, short head": ("bfsh_r",),
    "semitendinosus": ("semiten_r",),
    "semimembranosus": ("semimem_r",),
    "tibialis anterior": ("tibant_r",),
    "extensor digitorum longus": ("edl_r",),
    "extensor hallucis longus": ("ehl_r",),
    "fibularis longus": ("perlong_r",),
    "fibularis brevis": ("perbrev_r",),
    "gastrocnemius, medial": ("gasmed_r",),
    "gastrocnemius, lateral": ("gaslat_r",),
    "soleus, medial": ("soleus_r",),
    "soleus, lateral": ("soleus_r",),
    "flexor digitorum longus": ("fdl_r",),
}
"""Ours to theirs; several of theirs are the fascicles of one of ours, their lengths are averaged."""

FREEDOMS: dict[str, tuple[dict[str, float], str, tuple[float, float], tuple[str, str]]] = {
    "hip flexion": ({}, "hip_flexion_r", (0, 60), ("r_hip", "flexion")),
    "hip adduction": ({}, "hip_adduction_r", (-20, 15), ("r_hip", "adduction")),
    "hip internal rotation": ({}, "hip_rotation_r", (-25, 25), ("r_hip", "internal rotation")),
    "knee flexion": ({}, "knee_angle_r", (5, 90), ("r_knee", "flexion")),
    "ankle dorsiflexion": ({}, "ankle_angle_r", (-25, 15), ("r_talocrural", "dorsiflexion")),
    "foot inversion": ({}, "subtalar_angle_r", (-12, 12), ("r_talocrural", "inversion")),
    "shoulder abduction": ({"elv_angle_r": 0}, "shoulder_elv_r", (20, 90), ("r_shoulder", "abduction")),
    "shoulder flexion": ({"elv_angle_r": 90}, "shoulder_elv_r", (20, 90), ("r_shoulder", "flexion")),
    "shoulder internal rotation": ({}, "shoulder_rot_r", (-40, 40), ("r_shoulder", "internal rotation")),
    "elbow flexion": ({}, "elbow_flexion_r", (10, 100), ("r_elbow", "flexion")),
    "forearm pronation": ({}, "pro_sup_r", (-50, 50), ("r_elbow", "pronation")),
    "wrist flexion": ({}, "flexion_r", (-35, 35), ("r_radiocarpal", "flexion")),
    "wrist radial deviation": ({}, "deviation_r", (-8, 15), ("r_radiocarpal", "radial deviation")),
    "trunk extension": ({}, "flex_extension", (-20, 15), ("vl5", "extension")),
    "trunk lateral flexion": ({}, "lat_bending", (-12, 12), ("vl5", "lateral flexion")),
    "trunk contralateral rotation": ({}, "axial_rotation", (-15, 15), ("vl5", "contralateral rotation")),
}
"""Their pose, joint and range [degrees], and our joint and direction. Signs of theirs by looking which way
the bone beyond the joint moves."""

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("gluteus medius, anterior", "hip flexion"): (
        "their line runs from 12 mm before the hip joint to 22 mm behind it and passes behind it up to 60 "
        "degrees, past which it shortens; Gray's and Kendall let the anterior fibres flex, as ours do"
    ),
    ("pectoralis major, clavicular", "shoulder abduction"): (
        "theirs shortens because the blade turns on their collar bone and lifts the humeral head with it: "
        "with that joint held it changes by 0.0 mm; a rig's shoulder joint stays where the rig has it"
    ),
    ("biceps brachii, long head", "shoulder abduction"): (
        "the same: with that joint held theirs shortens too, by 1.3 mm; Kendall lets it assist abduction"
    ),
    ("coracobrachialis", "shoulder flexion"): (
        "theirs passes a point of the blade 36 mm below the joint, from which the arm moves away past 30 "
        "degrees; up to there it shortens too, and Gray's and Kendall call it a flexor"
    ),
    ("biceps brachii, short head", "shoulder flexion"): (
        "the same point, 33 mm below the joint; it shortens up to 15 degrees"
    ),
    ("erector spinae, iliocostalis", "trunk contralateral rotation"): (
        "theirs changes by 3 mm in 30 degrees, shortest about the middle and not at an end; on one side "
        "the muscle turns the trunk to its own side, as ours does"
    ),
}
"""Muscle and degree of freedom that disagree, and why. Each disagrees on every person, or it would not stand
here; all of them count as wrong in the share."""


class Model:
    """Lengths of the model's muscles in poses, with its coupled joints following."""

    def __init__(self) -> None:
        import mujoco
        import myo_sim

        # the package warns about its own names; unheard, the engine writes a log into the working folder
        heard: list[str] = []
        mujoco.set_mju_user_warning(heard.append)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model: Any = myo_sim.load_model("myofullbody")
        mujoco.set_mju_user_warning(None)
        self.data: Any = mujoco.MjData(self.model)
        self.mujoco = mujoco
        m = self.model
        joint = [e for e in range(m.neq) if m.eq_type[e] == mujoco.mjtEq.mjEQ_JOINT]
        self.couplings = [(int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e, :5].copy()) for e in joint]
        self.number = {m.actuator(i).name: i for i in range(m.nu)}

    def lengths(self, degrees: dict[str, float]) -> Floats:
        m, d = self.model, self.data
        self.mujoco.mj_resetData(m, d)
        for name, angle in degrees.items():
            d.qpos[m.joint(name).qposadr[0]] = np.radians(angle)
        for follower, leader, polynomial in self.couplings:
            place = m.jnt_qposadr[follower]
            x = 0.0 if leader < 0 else d.qpos[m.jnt_qposadr[leader]] - m.qpos0[m.jnt_qposadr[leader]]
            d.qpos[place] = m.qpos0[place] + np.polynomial.polynomial.polyval(x, polynomial)
        self.mujoco.mj_fwdPosition(m, d)
        return np.array(d.actuator_length)

    def sideways(self, muscle: str) -> float:
        """Where a muscle's path lies on average to the right of the midline [m], in the model's own pose."""
        m, d = self.model, self.data
        self.lengths({})
        tendon = int(m.actuator_trnid[self.number[muscle], 0])
        wraps = range(m.tendon_adr[tendon], m.tendon_adr[tendon] + m.tendon_num[tendon])
        sites = [m.wrap_objid[w] for w in wraps if m.wrap_type[w] == self.mujoco.mjtWrap.mjWRAP_SITE]
        return float(d.body("head").xpos[0] - d.site_xpos[sites, 0].mean())


@cache
def _model() -> Model:
    return Model()


@cache
def _changes_of_the_model() -> dict[tuple[str, str], float]:
    """Change of length [m] by our muscle's name and degree of freedom."""
    model = _model()
    found = {}
    for freedom, (pose, joint, (low, high), _) in FREEDOMS.items():
        change = model.lengths({**pose, joint: high}) - model.lengths({**pose, joint: low})
        for ours, theirs in SAME.items():
            found[ours, freedom] = float(np.mean([change[model.number[name]] for name in theirs]))
    return found


def test_muscles_of_the_right_side_are_compared() -> None:
    for theirs in SAME.values():
        for muscle in theirs:
            assert _model().sideways(muscle) > 0.01, muscle


@pytest.mark.parametrize("name", ["male_average_cmu_mb", "female_average_cmu_mb", "male_muscular_mixamo"])
def test_muscles_shorten_where_the_public_model_says(data: Path, name: str, figure: Figure) -> None:
    character = read_character(data / "human" / f"{name}.glb")
    naming, mesh = recognise(character.skeleton), character.body().mesh
    placement = place(TEMPLATE, character.skeleton, naming)
    fitted, _ = fit_to_skin(placement.muscles, placement.skeleton, mesh.points, mesh.triangles())
    muscles = musculature(fitted, character.skeleton, placement.scapulae)
    poses = AnatomicalPoses(character.skeleton, naming)
    number = {muscle: i for i, muscle in enumerate(muscles.names)}
    wrong: dict[tuple[str, str], tuple[float, float]] = {}
    count = 0
    for freedom, (_, _, (low, high), (joint, direction)) in FREEDOMS.items():
        ends = np.stack([poses.difference([(joint, direction, angle)]) for angle in (low, high)])
        low_length, high_length = muscles.posed(ends)[0].path.lengths
        for ours in SAME:
            theirs = _changes_of_the_model()[ours, freedom]
            if abs(theirs) < LEAST or f"{ours}, right" not in number:
                continue
            change = (high_length - low_length)[number[f"{ours}, right"]]
            count += 1
            if np.sign(change) != np.sign(theirs):
                wrong[ours, freedom] = (1e3 * float(change), 1e3 * theirs)
    share = 1.0 - len(wrong) / count
    figure(f"signs of length changes as in myo-sim, {name}, of {count}", share, 0.95, "share")
    assert count > 120
    assert share >= 0.95, wrong
    assert set(wrong) == set(EXCEPTIONS), {key: wrong.get(key) for key in set(wrong) ^ set(EXCEPTIONS)}
