"""The built-in figure's bones of arm, hand, leg and foot as simple solids: the left side's.

Drawn by us after the proportions of an adult skeleton, enough to be read as one; no atlas. Metres.
"""

from __future__ import annotations

import numpy as np

from ecorche.body.figure.bone import Bone, Floats, Places, along, finger_bone, shaft
from ecorche.body.figure.solids import Tube, ball, moved, rod, sections


def limb_bones(heads: Places, tips: Places) -> list[Bone]:
    """Bones of the left limbs; joints' places and bones' tips at bind."""
    return [*_arm(heads), *_hand(heads, tips), *_leg(heads), *_foot(heads)]


def _arm(heads: Places) -> list[Bone]:
    shoulder, elbow, wrist = (heads[f"l_{n}"] for n in ("shoulder", "elbow", "radiocarpal"))
    humerus = (
        ball(moved(shoulder, -0.004, 0.003, 0.0), (0.023, 0.023, 0.023)),
        ball(along(shoulder, elbow, ((0.02, 0.006, 0.016),))[0], (0.013, 0.016, 0.014)),
        shaft(
            shoulder,
            elbow,
            (
                (0.03, 0.0, 0.004, 0.019, 0.019),
                (0.15, 0.0, 0.003, 0.0135, 0.0135),
                (0.50, 0.0, 0.0, 0.0110, 0.0110),
                (0.80, 0.0, 0.0, 0.0095, 0.0140),
                (0.92, 0.0, 0.0, 0.0085, 0.0250),
                (0.96, 0.0, 0.0, 0.0090, 0.0305),
                (0.99, 0.002, 0.0, 0.0105, 0.0255),
            ),
        ),
    )
    ulna = shaft(
        elbow,
        wrist,
        (
            (-0.05, -0.010, -0.004, 0.009, 0.010),
            (0.03, -0.010, -0.004, 0.011, 0.010),
            (0.15, -0.010, -0.004, 0.0085, 0.008),
            (0.60, -0.012, -0.002, 0.0065, 0.006),
            (0.97, -0.014, 0.0, 0.0075, 0.007),
        ),
    )
    radius = shaft(
        elbow,
        wrist,
        (
            (0.05, 0.006, 0.010, 0.0105, 0.0105),
            (0.10, 0.008, 0.009, 0.0068, 0.0068),
            (0.45, 0.016, 0.004, 0.0070, 0.0068),
            (0.85, 0.012, 0.001, 0.0090, 0.0075),
            (0.97, 0.007, 0.0, 0.0150, 0.0095),
        ),
    )
    return [Bone("l_shoulder", humerus), Bone("l_elbow", (ulna, radius), joined=False)]


def _hand(heads: Places, tips: Places) -> list[Bone]:
    wrist = heads["l_radiocarpal"]
    knuckles = [heads[f"l_metacarpophalangeal_{ray}"] for ray in (2, 3, 4, 5)]
    down = (knuckles[1] - wrist) / np.linalg.norm(knuckles[1] - wrist)
    palm: list[Tube] = []
    for knuckle in knuckles:
        across = knuckle - wrist - down * float((knuckle - wrist) @ down)
        base = wrist + 0.028 * down + 0.62 * across
        palm += [
            ball(wrist + 0.007 * down + 0.40 * across, (0.0072,) * 3),
            ball(wrist + 0.019 * down + 0.52 * across, (0.0072,) * 3),
            finger_bone(base, knuckle, 0.0052),
        ]
    made = [Bone("l_radiocarpal", tuple(palm), joined=False)]
    for ray in (2, 3, 4, 5):
        joints = [
            f"l_{n}_{ray}"
            for n in (
                "metacarpophalangeal",
                "carpal_proximal_interphalangeal",
                "carpal_distal_interphalangeal",
            )
        ]
        ends = [heads[joints[1]], heads[joints[2]], tips[joints[2]]]
        made += [
            Bone(joint, (finger_bone(heads[joint], end, size),))
            for joint, end, size in zip(joints, ends, (0.0046, 0.0040, 0.0032), strict=True)
        ]
    thumb = [f"l_{n}_1" for n in ("carpometacarpal", "metacarpophalangeal", "carpal_interphalangeal")]
    ends = [heads[thumb[1]], heads[thumb[2]], tips[thumb[2]]]
    return made + [
        Bone(joint, (finger_bone(heads[joint], end, size),))
        for joint, end, size in zip(thumb, ends, (0.0056, 0.0050, 0.0040), strict=True)
    ]


def _leg(heads: Places) -> list[Bone]:
    hip, knee, ankle = (heads[f"l_{n}"] for n in ("hip", "knee", "talocrural"))
    femur = (
        ball(hip, (0.0225, 0.0225, 0.0225)),
        rod([hip, along(hip, knee, ((0.09, -0.002, 0.046),))[0]], [0.014, 0.016]),
        ball(along(hip, knee, ((0.05, -0.006, 0.050),))[0], (0.014, 0.024, 0.016)),
        shaft(
            hip,
            knee,
            (
                (0.10, -0.002, 0.044, 0.018, 0.016),
                (0.22, 0.002, 0.034, 0.0150, 0.0150),
                (0.50, 0.008, 0.018, 0.0140, 0.0140),
                (0.80, 0.002, 0.006, 0.0155, 0.0190),
                (0.93, -0.002, 0.0, 0.0220, 0.0330),
                (0.97, -0.004, 0.0, 0.0240, 0.0350),
            ),
        ),
        ball(along(hip, knee, ((0.965, -0.012, 0.021),))[0], (0.016, 0.021, 0.024)),
        ball(along(hip, knee, ((0.965, -0.012, -0.021),))[0], (0.016, 0.021, 0.024)),
    )
    tibia = shaft(
        knee,
        ankle,
        (
            (0.045, -0.004, 0.0, 0.023, 0.035),
            (0.09, -0.002, 0.0, 0.022, 0.028),
            (0.20, 0.004, -0.004, 0.0170, 0.0150),
            (0.55, 0.006, -0.004, 0.0120, 0.0115),
            (0.85, 0.002, -0.003, 0.0120, 0.0130),
            (0.97, 0.0, -0.004, 0.0170, 0.0200),
        ),
    )
    fibula = shaft(
        knee,
        ankle,
        (
            (0.09, -0.016, 0.034, 0.0100, 0.0090),
            (0.18, -0.016, 0.032, 0.0060, 0.0060),
            (0.60, -0.014, 0.023, 0.0055, 0.0055),
            (0.90, -0.008, 0.017, 0.0060, 0.0055),
            (1.03, -0.006, 0.021, 0.0080, 0.0065),
        ),
    )
    cap = ball(moved(knee, 0.0, 0.010, 0.044), (0.019, 0.021, 0.009))
    return [Bone("l_hip", femur), Bone("l_hip", (cap,)), Bone("l_knee", (tibia, fibula), joined=False)]


def _foot(heads: Places) -> list[Bone]:
    ankle, toes = heads["l_talocrural"], heads["l_metatarsophalangeal_2"]
    forward = np.array([toes[0] - ankle[0], 0.0, toes[2] - ankle[2]])
    forward /= np.linalg.norm(forward)
    lateral = np.array([forward[2], 0.0, -forward[0]])

    def at(ahead: float, out: float, up: float) -> Floats:
        place: Floats = ankle + ahead * forward + out * lateral
        place[1] = up
        return place

    axes = np.stack([lateral, (0.0, 1.0, 0.0), forward], axis=1)
    tarsus = (
        ball(at(0.000, 0.0, 0.058), (0.019, 0.014, 0.024), axes),
        sections(
            [at(-0.046, 0.002, 0.034), at(-0.020, 0.004, 0.036), at(0.024, 0.014, 0.032)],
            (0.0, 1.0, 0.0),
            [0.022, 0.018, 0.013],
            [0.016, 0.014, 0.012],
        ),
        rod(
            [at(0.020, -0.004, 0.056), at(0.044, -0.010, 0.050), at(0.060, -0.012, 0.044)],
            [0.016, 0.016, 0.013],
        ),
        rod([at(0.030, 0.016, 0.032), at(0.056, 0.020, 0.030)], [0.013, 0.011]),
    )
    rays: list[Tube] = []
    toe_bones: list[Tube] = []
    for base, ball_of, up, tip, size in (
        ((0.066, -0.018, 0.040), (0.122, -0.030, 0.020), 0.017, (0.172, -0.031), 0.0085),
        ((0.066, -0.006, 0.042), (0.130, -0.009, 0.020), 0.014, (0.178, -0.0085), 0.0055),
        ((0.062, 0.004, 0.040), (0.126, 0.008, 0.019), 0.013, (0.168, 0.0085), 0.0052),
        ((0.058, 0.014, 0.034), (0.118, 0.022, 0.018), 0.012, (0.156, 0.0240), 0.0050),
        ((0.050, 0.026, 0.026), (0.106, 0.036, 0.016), 0.011, (0.138, 0.0385), 0.0050),
    ):
        start, end, far = at(*base), at(*ball_of), at(*tip, up - 0.001)
        rays.append(finger_bone(start, end, size))
        middle = 0.5 * (end + far)
        middle[1] = up
        toe_bones += [finger_bone(end, middle, 0.85 * size), finger_bone(middle, far, 0.72 * size)]
    return [
        Bone("l_talocrural", tarsus),
        Bone("l_talocrural", tuple(rays), joined=False),
        Bone("l_metatarsophalangeal_2", tuple(toe_bones), joined=False),
    ]
