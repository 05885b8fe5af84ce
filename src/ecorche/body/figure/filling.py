"""What fills the built-in figure beside bones and the template's muscles: left side and middle.

Viscera, throat, deep muscles and fat that no template muscle stands for, as a few tubes drawn by us to the
girths and breadths of an athletic man of average stature, in metres.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ecorche.body.figure.solids import Tube, ball, moved, rod, sections

Floats = npt.NDArray[np.float64]
Rows = tuple[tuple[float, ...], ...]

FRONT = np.array([0.0, 0.0, 1.0])

# height, back, front, half-width
_BELLY: Rows = (
    (0.905, -0.030, 0.066, 0.060),
    (0.950, -0.050, 0.078, 0.096),
    (1.000, -0.060, 0.084, 0.112),
    (1.050, -0.062, 0.088, 0.114),
    (1.100, -0.060, 0.090, 0.114),
    (1.150, -0.060, 0.088, 0.112),
)
_CHEST: Rows = (
    (1.170, -0.040, 0.092, 0.108),
    (1.220, -0.040, 0.100, 0.114),
    (1.270, -0.040, 0.102, 0.114),
    (1.320, -0.040, 0.094, 0.100),
)
_NECK: Rows = (
    (1.425, -0.066, 0.026, 0.048),
    (1.465, -0.060, 0.026, 0.044),
    (1.510, -0.058, 0.032, 0.042),
    (1.560, -0.056, 0.044, 0.042),
)

# share of the thigh, forward, half-depth, half-width
_KNEE: Rows = (
    (0.80, 0.004, 0.036, 0.036),
    (0.93, 0.003, 0.041, 0.041),
    (1.03, 0.001, 0.041, 0.041),
)

# share of the forearm, forward, half-depth, half-width
_ELBOW: Rows = (
    (-0.12, 0.000, 0.027, 0.029),
    (0.00, -0.001, 0.031, 0.033),
    (0.15, 0.003, 0.034, 0.033),
)


def filling(heads: Mapping[str, Floats]) -> list[tuple[Tube, str]]:
    """Solids of the left half and the middle, and the joint each moves with, by canonical name.

    Args:
        heads: Joints' places at bind [m] by canonical name.
    """
    shoulder, elbow, wrist = (heads[f"l_{name}"] for name in ("shoulder", "elbow", "radiocarpal"))
    hip, knee = heads["l_hip"], heads["l_knee"]
    return [
        (_upright(_BELLY[:4]), "vl5"),
        (_upright(_BELLY[3:]), "vl1"),
        (_upright(_CHEST), "vt7"),
        (_upright(_NECK[:2]), "vc7"),
        (_upright(_NECK[1:]), "vc4"),
        # larynx, and what lies between neck and collar bone
        (rod([(0.0, 1.478, 0.018), (0.0, 1.500, 0.027), (0.0, 1.516, 0.032)], [0.015, 0.017, 0.014]), "vc4"),
        (
            rod(
                [(0.020, 1.456, -0.024), (0.070, 1.438, -0.028), (0.125, 1.430, -0.024)],
                [0.038, 0.032, 0.023],
            ),
            "vc7",
        ),
        # the slope of the trapezius, and what covers the tip of the shoulder blade
        (
            rod(
                [(0.030, 1.490, -0.036), (0.085, 1.456, -0.034), moved(shoulder, -0.016, 0.018, -0.008)],
                [0.026, 0.026, 0.025],
            ),
            "l_sternoclavicular",
        ),
        (
            rod(
                [(0.078, 1.205, -0.058), (0.088, 1.250, -0.064), (0.104, 1.300, -0.068)],
                [0.014, 0.018, 0.018],
            ),
            "l_acromioclavicular",
        ),
        # mound and groin, between belly and thigh
        (ball((0.0, 0.886, 0.040), (0.050, 0.046, 0.034)), "sacroiliac"),
        (
            rod([(0.030, 0.900, 0.046), (0.068, 0.918, 0.050), (0.098, 0.950, 0.044)], [0.030, 0.032, 0.026]),
            "sacroiliac",
        ),
        # from the crest of the hip bone to the thigh
        (
            sections(
                [
                    (0.100, 1.070, -0.004),
                    (0.108, 1.015, -0.002),
                    (0.118, 0.955, -0.004),
                    moved(hip, 0.046, -0.03, -0.004),
                ],
                FRONT,
                [0.046, 0.052, 0.048, 0.040],
                [0.026, 0.026, 0.028, 0.026],
            ),
            "sacroiliac",
        ),
        # buttock
        (ball((0.060, 0.918, -0.052), (0.056, 0.084, 0.047)), "sacroiliac"),
        # between shoulder blade, ribs and arm
        (
            rod(
                [(0.086, 1.255, -0.026), (0.104, 1.315, -0.024), (0.128, 1.360, -0.014)],
                [0.030, 0.034, 0.026],
            ),
            "vt7",
        ),
        # the side of the chest under the pectoral
        (
            rod([(0.088, 1.330, 0.040), (0.106, 1.280, 0.030), (0.108, 1.190, 0.020)], [0.028, 0.028, 0.024]),
            "vt7",
        ),
        # elbow
        (_limb(elbow, wrist, _ELBOW), "l_elbow"),
        # knee
        (_limb(hip, knee, _KNEE), "l_hip"),
        (ball(moved(knee, 0.0, 0.012, 0.040), (0.024, 0.030, 0.018)), "l_hip"),
    ]


def _limb(near: Floats, far: Floats, rows: Rows) -> Tube:
    """A tube round a bone's axis."""
    table = np.array(rows)
    places = near + table[:, :1] * (far - near) + table[:, 1:2] * FRONT
    return sections(places, FRONT, table[:, 2], table[:, 3])


def _upright(rows: Rows) -> Tube:
    """A tube of the middle plane."""
    table = np.array(rows)
    middle, half = 0.5 * (table[:, 2] + table[:, 1]), 0.5 * (table[:, 2] - table[:, 1])
    places = np.stack([np.zeros(len(table)), table[:, 0], middle], axis=1)
    return sections(places, FRONT, half, table[:, 3])
