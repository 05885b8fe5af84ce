"""The built-in figure's head, hands and feet, which the template's muscles leave bare: left side and middle.

Drawn by us, in metres.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ecorche.body.figure.solids import Tube, ball, rod, sections

Floats = npt.NDArray[np.float64]

FRONT = np.array([0.0, 0.0, 1.0])


def hand(heads: Mapping[str, Floats], tips: Mapping[str, Floats]) -> list[Tube]:
    """Palm, fingers and thumb; joints' places and bone tips at bind by canonical name."""
    wrist = heads["l_radiocarpal"]
    down = (heads["l_metacarpophalangeal_3"] - wrist) / np.linalg.norm(
        heads["l_metacarpophalangeal_3"] - wrist
    )
    palm = np.cross(down, FRONT)  # towards the palm, for fingers down and the thumb forward
    palm = (palm if palm[0] < 0.0 else -palm) / np.linalg.norm(palm)
    # the wrist, from the forearm's thickness to the palm's
    along = [wrist + step * down for step in (-0.022, 0.000, 0.022, 0.040)]
    made = [sections(along, palm, [0.0215, 0.0210, 0.0185, 0.0150], [0.0280, 0.0270, 0.0265, 0.0260])]
    for ray, near, knuckle, mid, tip in (
        (2, 0.0128, 0.0108, 0.0088, 0.0074),
        (3, 0.0132, 0.0110, 0.0090, 0.0076),
        (4, 0.0128, 0.0104, 0.0084, 0.0072),
        (5, 0.0120, 0.0094, 0.0075, 0.0064),
    ):
        mcp, pip, dip = (
            heads[f"l_{n}_{ray}"]
            for n in (
                "metacarpophalangeal",
                "carpal_proximal_interphalangeal",
                "carpal_distal_interphalangeal",
            )
        )
        across = mcp - wrist - down * float((mcp - wrist) @ down)
        made.append(
            rod(
                [wrist + 0.35 * across + 0.004 * down, 0.5 * (wrist + mcp) + 0.2 * across, mcp],
                [0.0165, near + 0.001, knuckle + 0.0012],
            )
        )
        made.append(
            rod(
                [
                    mcp,
                    0.5 * (mcp + pip),
                    pip,
                    0.5 * (pip + dip),
                    dip,
                    tips[f"l_carpal_distal_interphalangeal_{ray}"],
                ],
                [knuckle, 0.96 * mid + 0.0006, mid, 0.93 * mid, 0.97 * tip + 0.0004, 0.80 * tip],
            )
        )
    cmc, mcp, ip = (
        heads[f"l_{n}_1"] for n in ("carpometacarpal", "metacarpophalangeal", "carpal_interphalangeal")
    )
    end = tips["l_carpal_interphalangeal_1"]
    made.append(rod([cmc + 0.006 * palm, 0.5 * (cmc + mcp) + 0.005 * palm, mcp], [0.0165, 0.0160, 0.0118]))
    made.append(
        rod([mcp, 0.5 * (mcp + ip), ip, 0.5 * (ip + end), end], [0.0115, 0.0100, 0.0102, 0.0094, 0.0072])
    )
    little = heads["l_metacarpophalangeal_5"]
    # the webs between the fingers
    knuckles = [heads[f"l_metacarpophalangeal_{ray}"] + 0.003 * down for ray in (2, 3, 4, 5)]
    made.append(rod(knuckles, [0.0080, 0.0090, 0.0085, 0.0075]))
    made.append(
        rod(
            [
                wrist
                + 0.018 * down
                + 0.35 * (little - wrist - down * float((little - wrist) @ down))
                + 0.006 * palm,
                0.35 * wrist + 0.65 * little + 0.007 * palm,
            ],
            [0.0135, 0.0120],
        )
    )
    return made


def foot(heads: Mapping[str, Floats]) -> list[Tube]:
    """Ankle, heel, instep and toes."""
    ankle, toes = (heads[f"l_{n}"] for n in ("talocrural", "metatarsophalangeal_2"))
    forward = np.array([toes[0] - ankle[0], 0.0, toes[2] - ankle[2]])
    forward /= np.linalg.norm(forward)
    lateral = np.array([forward[2], 0.0, -forward[0]])  # on the left

    def at(ahead: float, out: float, up: float) -> Floats:
        place = ankle + ahead * forward + out * lateral
        place[1] = up
        return place

    made = [
        # malleoli
        ball(at(0.002, -0.026, ankle[1] + 0.012), (0.012, 0.017, 0.014)),
        ball(at(-0.008, 0.027, ankle[1] + 0.004), (0.011, 0.018, 0.013)),
        # Achilles tendon and heel
        rod([at(-0.036, 0.0, 0.150), at(-0.040, 0.0, 0.100), at(-0.042, 0.0, 0.060)], [0.012, 0.0115, 0.016]),
        ball(at(-0.034, 0.0, 0.030), (0.031, 0.032, 0.036)),
        # instep, inner and outer edge of the foot
        rod(
            [
                at(-0.004, -0.001, 0.066),
                at(0.040, -0.006, 0.058),
                at(0.085, -0.010, 0.040),
                at(0.125, -0.014, 0.026),
            ],
            [0.029, 0.028, 0.024, 0.018],
        ),
        rod(
            [
                at(-0.030, 0.010, 0.026),
                at(0.030, 0.026, 0.024),
                at(0.085, 0.034, 0.019),
                at(0.112, 0.036, 0.016),
            ],
            [0.024, 0.022, 0.018, 0.015],
        ),
        rod(
            [
                at(-0.030, -0.008, 0.026),
                at(0.040, -0.014, 0.036),
                at(0.100, -0.026, 0.024),
                at(0.128, -0.029, 0.020),
            ],
            [0.024, 0.022, 0.021, 0.019],
        ),
        rod([at(0.060, 0.012, 0.022), at(0.120, 0.008, 0.017)], [0.022, 0.017]),
    ]
    for ahead, out, length, radius in (
        (0.132, -0.031, 0.052, 0.0125),
        (0.137, -0.0085, 0.050, 0.0088),
        (0.132, 0.0085, 0.045, 0.0084),
        (0.124, 0.0240, 0.040, 0.0080),
        (0.112, 0.0385, 0.034, 0.0078),
    ):
        made.append(
            rod(
                [
                    at(ahead, out, radius + 0.006),
                    at(ahead + 0.55 * length, 1.02 * out, radius + 0.006),
                    at(ahead + length - radius, 1.02 * out, radius),
                ],
                [radius + 0.001, 0.92 * radius, radius],
            )
        )
    return made


def head() -> list[Tube]:
    """Skull, face and ears."""
    return [
        ball((0.0, 1.664, -0.002), (0.073, 0.084, 0.094)),
        ball((0.0, 1.650, -0.030), (0.070, 0.070, 0.067)),
        # face, cheekbone, cheek, jaw, chin
        ball((0.0, 1.612, 0.032), (0.058, 0.074, 0.058)),
        rod([(0.040, 1.615, 0.056), (0.056, 1.616, 0.026), (0.058, 1.618, 0.008)], [0.016, 0.008, 0.006]),
        ball((0.033, 1.578, 0.040), (0.024, 0.042, 0.035)),
        # temple, and the muscle that closes the jaw
        ball((0.050, 1.638, 0.026), (0.014, 0.026, 0.034)),
        rod([(0.052, 1.612, 0.022), (0.049, 1.590, 0.020), (0.044, 1.562, 0.018)], [0.009, 0.010, 0.010]),
        rod(
            [(0.053, 1.600, 0.004), (0.047, 1.566, 0.014), (0.029, 1.543, 0.052), (0.012, 1.537, 0.074)],
            [0.011, 0.013, 0.014, 0.015],
        ),
        rod([(0.0, 1.537, 0.075), (0.010, 1.537, 0.073)], [0.015, 0.013]),
        rod([(0.0, 1.555, 0.069), (0.024, 1.556, 0.056)], [0.018, 0.017]),
        rod([(0.0, 1.576, 0.062), (0.020, 1.576, 0.054)], [0.025, 0.023]),
        # brow
        rod([(0.010, 1.650, 0.081), (0.030, 1.654, 0.074), (0.049, 1.647, 0.050)], [0.010, 0.0095, 0.007]),
        # nose
        rod([(0.0, 1.643, 0.085), (0.0, 1.622, 0.094), (0.0, 1.603, 0.103)], [0.0075, 0.0080, 0.0092]),
        rod([(0.0, 1.599, 0.097), (0.011, 1.598, 0.092)], [0.0080, 0.0070]),
        # eye in its lids
        ball((0.0315, 1.633, 0.070), (0.0150, 0.0110, 0.0120)),
        # lips
        rod(
            [(0.0, 1.5765, 0.0905), (0.011, 1.5770, 0.0875), (0.024, 1.5715, 0.0770)],
            [0.0056, 0.0052, 0.0032],
        ),
        rod(
            [(0.0, 1.5645, 0.0885), (0.010, 1.5652, 0.0860), (0.023, 1.5700, 0.0770)],
            [0.0064, 0.0060, 0.0032],
        ),
        # behind the jaw
        rod([(0.046, 1.606, 0.000), (0.044, 1.572, 0.000), (0.040, 1.545, 0.006)], [0.016, 0.016, 0.012]),
        # ear
        rod(
            [
                (0.0690, 1.606, 0.003),
                (0.0745, 1.606, -0.010),
                (0.0800, 1.622, -0.021),
                (0.0805, 1.637, -0.020),
                (0.0765, 1.648, -0.009),
                (0.0705, 1.643, 0.003),
            ],
            [0.0052, 0.0052, 0.0046, 0.0046, 0.0048, 0.0048],
        ),
        ball((0.0725, 1.625, -0.009), (0.0060, 0.024, 0.016), _ear_axes()),
    ]


def _ear_axes() -> Floats:
    """Standing off behind, and leaning back."""
    out = np.array([0.93, 0.05, -0.36])
    up = np.array([0.08, 0.97, -0.22])
    out /= np.linalg.norm(out)
    up -= out * float(up @ out)
    up /= np.linalg.norm(up)
    return np.stack([out, up, np.cross(out, up)], axis=1)
