"""The built-in figure's bones of head, trunk and girdles as simple solids: left side and middle.

Drawn by us after the proportions of an adult skeleton, enough to be read as one; no atlas. Metres.
"""

from __future__ import annotations

import numpy as np

from ecorche.body.figure.bone import FRONT, SIDE, Bone, Places
from ecorche.body.figure.solids import Tube, ball, moved, refined, rod, sections


def axial_bones(heads: Places) -> list[Bone]:
    """Bones of the trunk and the head; joints' places at bind."""
    return [_skull(), *_spine(heads), *_chest(heads), *_girdle(heads), _pelvis(heads)]


def _skull() -> Bone:
    return Bone(
        "skullbase",
        (
            ball((0.0, 1.667, -0.006), (0.066, 0.077, 0.087)),
            ball((0.0, 1.652, -0.030), (0.063, 0.062, 0.062)),
            ball((0.0, 1.616, 0.040), (0.044, 0.040, 0.040)),
            # brow, cheekbone, upper jaw
            rod([(0.008, 1.650, 0.076), (0.030, 1.653, 0.070), (0.046, 1.642, 0.054)], [0.008, 0.007, 0.007]),
            rod([(0.030, 1.612, 0.064), (0.048, 1.614, 0.048), (0.058, 1.618, 0.012)], [0.010, 0.008, 0.004]),
            sections([(0.0, 1.605, 0.052), (0.0, 1.578, 0.058)], FRONT, [0.024, 0.020], [0.026, 0.024]),
            rod([(0.0, 1.643, 0.078), (0.0, 1.624, 0.087)], [0.006, 0.005]),
            # lower jaw
            rod(
                [
                    (0.053, 1.612, 0.004),
                    (0.047, 1.566, 0.010),
                    (0.028, 1.546, 0.048),
                    (0.008, 1.543, 0.070),
                    (0.0, 1.543, 0.071),
                ],
                [0.006, 0.0080, 0.0080, 0.010, 0.010],
            ),
            sections([(0.0, 1.555, 0.062), (0.0, 1.568, 0.062)], FRONT, [0.015, 0.015], [0.021, 0.021]),
        ),
        (
            ball((0.031, 1.632, 0.072), (0.016, 0.014, 0.022)),
            ball((0.006, 1.608, 0.088), (0.0075, 0.013, 0.016)),
            ball((0.0, 1.572, 0.086), (0.024, 0.0022, 0.014)),
            ball((0.046, 1.590, 0.030), (0.008, 0.016, 0.018)),
        ),
    )


def _spine(heads: Places) -> list[Bone]:
    """Twenty-four vertebrae on the line through the joints of the spine."""
    line = np.array([heads[n] for n in ("vl5", "vl1", "vt7", "vc7", "vc4", "skullbase")])
    level = np.array([0.0, 5.0, 10.0, 17.0, 20.0, 24.0])  # how many vertebrae lie below each
    names = ("vl5", "vl1", "vt7", "vc7", "vc4")
    made: dict[str, list[Tube]] = {name: [] for name in names}
    for number in range(24):
        low, middle, high = (
            np.array([np.interp(number + s, level, line[:, a]) for a in range(3)]) for s in (0.12, 0.5, 0.88)
        )
        thick = np.interp(number, [0, 5, 17, 23], [0.024, 0.020, 0.0125, 0.0115])
        back = np.interp(number, [0, 5, 14, 17, 23], [0.034, 0.029, 0.030, 0.032, 0.018])
        slant = np.interp(number, [0, 5, 11, 17, 23], [0.006, 0.010, 0.020, 0.012, 0.004])
        wing = np.interp(number, [0, 5, 17, 23], [0.038, 0.030, 0.026, 0.022])
        joint = names[max(i for i in range(5) if level[i] <= number)]
        made[joint] += [
            Tube(
                np.array([low, high]),
                thick * np.array([FRONT, FRONT]),
                1.1 * thick * np.array([SIDE, SIDE]),
                (0.001, 0.001),
            ),
            rod([middle - 0.8 * thick * FRONT, middle - back * FRONT - (0.0, slant, 0.0)], [0.0055, 0.0035]),
            rod([middle - 0.9 * thick * FRONT, moved(middle, wing, 0.0, -1.3 * thick)], [0.0050, 0.0035]),
        ]
    return [Bone(joint, tuple(parts), joined=False) for joint, parts in made.items()]


def _chest(heads: Places) -> list[Bone]:
    """Ten ribs and the breastbone, on the joint of the upper back."""
    wide = np.interp(np.arange(10), [0, 1, 3, 6, 9], [0.058, 0.080, 0.108, 0.124, 0.118])
    front = np.interp(np.arange(10), [0, 3, 6, 9], [0.046, 0.078, 0.084, 0.062])
    last = np.radians(np.interp(np.arange(10), [0, 6, 9], [84.0, 82.0, 38.0]))
    made: list[Tube] = []
    for number in range(10):
        height = 1.438 - 0.0262 * number
        spine = np.interp(
            height,
            [heads["vl1"][1], heads["vt7"][1], heads["vc7"][1]],
            [heads[n][2] for n in ("vl1", "vt7", "vc7")],
        )
        angle = np.linspace(np.radians(-78.0), last[number], 22)
        middle = 0.5 * (front[number] + spine - 0.024)
        deep = front[number] - middle
        drop = np.interp(number, [0, 4, 9], [0.030, 0.075, 0.085])
        fall = drop * (np.sin(angle) + 1.0) / 2.0
        curve = np.stack(
            [wide[number] * np.cos(angle) ** 0.85, height - fall, middle + deep * np.sin(angle)], axis=1
        )
        curve[0, 0] = 0.018
        made.append(sections(curve, (0.0, 1.0, 0.0), 0.0062, 0.0036))
    ends = [tube.centres[-1] for tube in made]
    for number, place in (
        (0, (0.018, 1.404, 0.047)),
        *((k, (0.014, 1.396 - 0.022 * k, 0.054 + 0.0050 * k)) for k in range(1, 7)),
    ):
        made.append(
            rod(
                [ends[number], 0.5 * (ends[number] + place) + (0.0, -0.002, 0.002), place],
                [0.0045, 0.0042, 0.0045],
            )
        )
    for below, above in ((ends[k], ends[k - 1]) for k in (7, 8, 9)):  # cartilage that joins the one above
        middle = moved(0.5 * (below + above), -0.006, 0.004, 0.004)
        made.append(rod([below, middle, moved(above, -0.012, 0.0, 0.0)], [0.0045, 0.004, 0.004]))
    breastbone = sections(
        [
            (0.0, 1.412, 0.044),
            (0.0, 1.385, 0.052),
            (0.0, 1.330, 0.070),
            (0.0, 1.272, 0.082),
            (0.0, 1.240, 0.082),
        ],
        FRONT,
        [0.006, 0.006, 0.005, 0.005, 0.003],
        [0.026, 0.017, 0.015, 0.018, 0.007],
    )
    return [Bone("vt7", (*made, breastbone), joined=False)]


def _girdle(heads: Places) -> list[Bone]:
    shoulder = heads["l_shoulder"]
    tip = moved(shoulder, -0.012, 0.021, -0.006)
    collar = rod(
        [
            (0.020, 1.420, 0.034),
            (0.060, 1.424, 0.034),
            (0.110, 1.429, 0.011),
            moved(tip, -0.010, -0.002, 0.008),
        ],
        [0.010, 0.0062, 0.0062, 0.0075],
    )
    socket = moved(shoulder, -0.026, -0.002, -0.006)
    blade = (
        refined(
            sections(
                [
                    (0.110, 1.418, -0.064),
                    (0.104, 1.376, -0.076),
                    (0.098, 1.328, -0.080),
                    (0.088, 1.274, -0.077),
                ],
                FRONT,
                [0.0055, 0.0050, 0.0050, 0.005],
                [0.046, 0.040, 0.028, 0.010],
            ),
            12,
        ),
        rod(
            [(0.062, 1.388, -0.080), (0.108, 1.410, -0.082), moved(tip, -0.026, -0.010, -0.024), tip],
            [0.0040, 0.0058, 0.0070, 0.0085],
        ),
        rod([(0.088, 1.274, -0.077), (0.126, 1.350, -0.066), socket], [0.0060, 0.0062, 0.0100]),
        sections([moved(socket, 0.0, 0.014, 0.002), moved(socket, 0.0, -0.016, -0.002)], FRONT, 0.011, 0.006),
        rod(
            [
                moved(socket, -0.010, 0.012, 0.006),
                moved(socket, -0.006, 0.018, 0.026),
                moved(socket, 0.010, 0.010, 0.034),
            ],
            [0.007, 0.006, 0.005],
        ),
        rod([(0.074, 1.420, -0.066), moved(socket, -0.004, 0.008, -0.004)], [0.0042, 0.0085]),
    )
    return [Bone("l_sternoclavicular", (collar,)), Bone("l_acromioclavicular", blade)]


def _pelvis(heads: Places) -> Bone:
    hip = heads["l_hip"]
    up = np.array([0.0, 1.0, 0.0])
    return Bone(
        "sacroiliac",
        (
            # wing of the hip bone, socket, pubis, ischium, sacrum
            refined(
                sections(
                    [
                        (0.030, 0.996, -0.060),
                        (0.062, 1.020, -0.052),
                        (0.096, 1.030, -0.020),
                        (0.110, 1.016, 0.018),
                        (0.102, 0.990, 0.042),
                    ],
                    up,
                    [0.030, 0.040, 0.042, 0.036, 0.018],
                    [0.011, 0.008, 0.007, 0.007, 0.008],
                ),
                15,
            ),
            rod(
                [(0.060, 1.000, -0.046), (0.080, 0.965, -0.020), moved(hip, -0.006, 0.006, 0.0)],
                [0.016, 0.018, 0.028],
            ),
            rod(
                [(0.098, 0.983, 0.036), (0.094, 0.955, 0.022), moved(hip, -0.004, 0.006, 0.006)],
                [0.008, 0.012, 0.022],
            ),
            rod(
                [
                    moved(hip, -0.012, -0.004, 0.012),
                    (0.050, 0.922, 0.044),
                    (0.012, 0.905, 0.054),
                    (0.0, 0.902, 0.055),
                ],
                [0.016, 0.010, 0.010, 0.011],
            ),
            rod(
                [
                    (0.008, 0.898, 0.050),
                    (0.030, 0.872, 0.026),
                    (0.050, 0.858, -0.012),
                    (0.066, 0.880, -0.034),
                    moved(hip, -0.010, -0.010, -0.014),
                ],
                [0.009, 0.007, 0.013, 0.012, 0.017],
            ),
            sections(
                [(0.0, 1.008, -0.052), (0.0, 0.975, -0.070), (0.0, 0.935, -0.080), (0.0, 0.900, -0.068)],
                FRONT,
                [0.016, 0.013, 0.009, 0.005],
                [0.044, 0.038, 0.022, 0.008],
            ),
        ),
        (ball(moved(hip, 0.012, -0.002, 0.0), (0.024, 0.024, 0.024)),),
    )
