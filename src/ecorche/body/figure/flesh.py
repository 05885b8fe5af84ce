"""What fills the built-in figure under its skin beside the template's muscles: left side and middle.

Deep muscles, viscera, joints and fat as a few tubes, drawn by us to the girths and breadths of an athletic
man of average stature. Written in metres, limbs in shares of their bones.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ecorche.body.figure.extremities import hand, head, knee_and_foot
from ecorche.body.figure.solids import Tube, ball, moved, rod, sections

Floats = npt.NDArray[np.float64]
Rows = tuple[tuple[float, ...], ...]

FRONT = np.array([0.0, 0.0, 1.0])
DEPTH = 0.85
"""Where soft parts begin to move with the spine, as a share of the way out."""

# height, back, front, half-width, how far muscles may stand out beyond that [m]
_TRUNK: Rows = (
    (0.850, -0.050, 0.055, 0.045, 0.010),
    (0.895, -0.085, 0.078, 0.098, 0.014),
    (0.940, -0.092, 0.086, 0.126, 0.016),
    (0.990, -0.084, 0.090, 0.134, 0.014),
    (1.040, -0.074, 0.094, 0.129, 0.014),
    (1.090, -0.068, 0.096, 0.124, 0.016),
    (1.140, -0.070, 0.098, 0.126, 0.018),
    (1.200, -0.080, 0.102, 0.138, 0.020),
    (1.270, -0.090, 0.104, 0.146, 0.024),
    (1.340, -0.094, 0.098, 0.142, 0.026),
    (1.395, -0.092, 0.074, 0.116, 0.024),
    (1.440, -0.082, 0.044, 0.075, 0.014),
)
_NECK: Rows = (
    (1.420, -0.088, 0.040, 0.066, 0.012),
    (1.465, -0.076, 0.028, 0.052, 0.010),
    (1.510, -0.068, 0.032, 0.048, 0.010),
    (1.560, -0.064, 0.042, 0.047, 0.009),
    (1.600, -0.056, 0.046, 0.046, 0.006),
)

# share of the bone, forward, lateral, half-depth, half-width, how far muscles may stand out [m]
_ARM: Rows = (
    (-0.02, -0.004, 0.002, 0.044, 0.040, 0.027),
    (0.14, -0.003, 0.004, 0.044, 0.041, 0.027),
    (0.35, -0.004, 0.000, 0.033, 0.031, 0.024),
    (0.60, -0.002, 0.000, 0.031, 0.029, 0.021),
    (0.84, 0.000, 0.000, 0.030, 0.033, 0.007),
    (1.00, -0.003, 0.000, 0.030, 0.033, 0.003),
)
_FOREARM: Rows = (
    (0.00, -0.003, 0.000, 0.031, 0.033, 0.003),
    (0.15, 0.002, 0.000, 0.035, 0.033, 0.006),
    (0.30, 0.002, 0.000, 0.035, 0.030, 0.008),
    (0.60, 0.002, 0.000, 0.027, 0.022, 0.006),
    (0.85, 0.002, 0.000, 0.023, 0.018, 0.003),
    (1.00, 0.002, 0.000, 0.025, 0.018, 0.002),
)
_THIGH: Rows = (
    (0.00, 0.004, 0.004, 0.074, 0.060, 0.016),
    (0.15, 0.004, -0.004, 0.070, 0.062, 0.020),
    (0.35, 0.004, -0.004, 0.060, 0.055, 0.028),
    (0.60, 0.002, 0.000, 0.048, 0.045, 0.027),
    (0.80, 0.001, 0.000, 0.041, 0.042, 0.019),
    (0.93, 0.003, 0.000, 0.043, 0.044, 0.008),
    (1.02, 0.003, 0.000, 0.044, 0.044, 0.004),
)
_SHANK: Rows = (
    (-0.02, 0.004, 0.000, 0.044, 0.044, 0.004),
    (0.08, -0.001, 0.000, 0.042, 0.043, 0.008),
    (0.22, -0.016, 0.000, 0.047, 0.046, 0.013),
    (0.34, -0.018, 0.000, 0.048, 0.046, 0.013),
    (0.50, -0.014, 0.000, 0.039, 0.038, 0.010),
    (0.70, -0.008, 0.000, 0.029, 0.027, 0.006),
    (0.86, -0.005, 0.000, 0.027, 0.024, 0.004),
    (1.00, -0.002, 0.000, 0.031, 0.027, 0.003),
)


def flesh(heads: Mapping[str, Floats], tips: Mapping[str, Floats]) -> tuple[list[Tube], list[Tube]]:
    """Solids of the left half and the middle: what fills the body, and what its muscles must stay within.

    Args:
        heads: Joints' places at bind [m] by canonical name.
        tips: Bones' tips at bind [m] by canonical name.
    """
    large = [*_middle(heads), *_arm(heads), *_leg(heads)]
    small = [*hand(heads, tips), *knee_and_foot(heads), *head()]
    return [tube for tube, _ in large] + small, [tube.grown(by) for tube, by in large] + [
        tube.grown(0.002) for tube in small
    ]


def soft_sources() -> tuple[Floats, list[str]]:
    """Points in belly and neck [m] (n, 3) that move with the spine, far from bones, and their joints."""
    points: list[Floats] = []
    joints: list[str] = []
    angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    for joint, rows, low, high in (
        ("vl5", _TRUNK, 1.020, 1.085),
        ("vl1", _TRUNK, 1.105, 1.150),
        ("vc7", _NECK, 1.475, 1.490),
        ("vc4", _NECK, 1.525, 1.545),
    ):
        table = np.array(rows)
        for height in np.linspace(low, high, 4):
            back, front, wide = (np.interp(height, table[:, 0], table[:, column]) for column in (1, 2, 3))
            x, z = (
                DEPTH * wide * np.cos(angle),
                0.5 * (front + back) + DEPTH * 0.5 * (front - back) * np.sin(angle),
            )
            points.append(np.stack([x, np.full(len(x), height), z], axis=1))
            joints += [joint] * len(x)
    return np.concatenate(points), joints


Limited = tuple[Tube, Floats | float]
"""A tube, and how far muscles may stand out beyond it [m]."""


def _upright(rows: Rows) -> Limited:
    """A tube of the middle plane."""
    table = np.array(rows)
    middle, half = 0.5 * (table[:, 2] + table[:, 1]), 0.5 * (table[:, 2] - table[:, 1])
    places = np.stack([np.zeros(len(table)), table[:, 0], middle], axis=1)
    return sections(places, FRONT, half, table[:, 3]), table[:, 4]


def _limb(near: Floats, far: Floats, rows: Rows) -> Limited:
    """A tube along a bone of the left side."""
    table = np.array(rows)
    along = (far - near) / np.linalg.norm(far - near)
    front = FRONT - along * along[2]
    front /= np.linalg.norm(front)
    side = np.cross(front, along)  # lateral on the left: (0, -1, 0) hanging and forward give +x
    side = side if side[0] > 0.0 else -side
    places = near + table[:, :1] * (far - near) + table[:, 1:2] * front + table[:, 2:3] * side
    return sections(places, FRONT, table[:, 3], table[:, 4]), table[:, 5]


def _middle(heads: Mapping[str, Floats]) -> list[Limited]:
    shoulder, hip = heads["l_shoulder"], heads["l_hip"]
    at_arm = shoulder + 0.24 * (heads["l_elbow"] - shoulder)
    return [
        _upright(_TRUNK),
        _upright(_NECK),
        # from the neck over the collar bone and the top of the shoulder blade
        (
            rod(
                [(0.02, 1.440, -0.030), (0.090, 1.424, -0.028), moved(shoulder, -0.03, 0.004, -0.004)],
                [0.046, 0.042, 0.037],
            ),
            0.014,
        ),
        (
            rod(
                [(0.025, 1.505, -0.036), (0.085, 1.456, -0.034), moved(shoulder, -0.02, 0.022, -0.008)],
                [0.026, 0.024, 0.020],
            ),
            0.006,
        ),
        # the shoulder blade and what lies on it
        (
            sections(
                [
                    (0.080, 1.41, -0.072),
                    (0.098, 1.34, -0.075),
                    (0.097, 1.27, -0.068),
                    (0.090, 1.19, -0.054),
                    (0.080, 1.10, -0.040),
                ],
                FRONT,
                [0.024, 0.026, 0.025, 0.023, 0.018],
                [0.055, 0.048, 0.043, 0.038, 0.030],
            ),
            0.008,
        ),
        # the shoulder's round, and the folds before and behind the armpit
        (ball(moved(shoulder, 0.010, 0.002, -0.002), (0.048, 0.046, 0.050)), 0.014),
        (
            rod(
                [(0.055, 1.340, 0.070), (0.120, 1.355, 0.052), moved(at_arm, 0.0, 0.0, 0.012)],
                [0.028, 0.027, 0.022],
            ),
            0.010,
        ),
        (
            rod(
                [
                    (0.096, 1.210, -0.046),
                    (0.116, 1.270, -0.052),
                    (0.132, 1.325, -0.052),
                    moved(at_arm, 0.0, 0.0, -0.018),
                ],
                [0.022, 0.027, 0.028, 0.024],
            ),
            0.006,
        ),
        # the chest below the collar bone
        (
            rod(
                [(0.050, 1.385, 0.044), (0.115, 1.395, 0.034), moved(shoulder, -0.012, -0.020, 0.016)],
                [0.034, 0.034, 0.034],
            ),
            0.010,
        ),
        (rod([(0.105, 1.320, 0.000), (0.140, 1.360, -0.004), at_arm], [0.046, 0.036, 0.024]), 0.006),
        # the side of the chest under the pectoral
        (
            rod([(0.075, 1.325, 0.058), (0.108, 1.285, 0.044), (0.112, 1.215, 0.036)], [0.027, 0.030, 0.026]),
            0.012,
        ),
        # collar bone
        (
            rod(
                [
                    (0.020, 1.424, 0.034),
                    (0.070, 1.432, 0.036),
                    (0.125, 1.444, 0.016),
                    moved(shoulder, -0.022, 0.026, -0.004),
                ],
                [0.011, 0.009, 0.009, 0.011],
            ),
            0.004,
        ),
        # from the crest of the hip bone to the trochanter
        (
            rod(
                [(0.100, 1.030, 0.004), (0.110, 0.975, 0.000), moved(hip, 0.034, -0.03, 0.0)],
                [0.028, 0.032, 0.032],
            ),
            0.010,
        ),
        # buttock
        (ball((0.064, 0.935, -0.060), (0.066, 0.082, 0.058)), 0.008),
    ]


def _arm(heads: Mapping[str, Floats]) -> list[Limited]:
    shoulder, elbow, wrist = (heads[f"l_{n}"] for n in ("shoulder", "elbow", "radiocarpal"))
    return [_limb(shoulder, elbow, _ARM), _limb(elbow, wrist, _FOREARM)]


def _leg(heads: Mapping[str, Floats]) -> list[Limited]:
    hip, knee, ankle = (heads[f"l_{n}"] for n in ("hip", "knee", "talocrural"))
    return [_limb(hip, knee, _THIGH), _limb(knee, ankle, _SHANK)]
