"""Muscles of the forearm and hand, right side.

Attachments and actions after Gray's Anatomy (41st ed., ch. 49-50) and Kendall (5th ed., ch. 6); forces of
Holzbaur, Murray and Delp (2005), those of the fingers' four slips added up. In the default pose the palm
faces inward: +x is the back of the forearm and hand, +z the thumb's side. Tendons of the fingers pass the
wrist at a via point of the hand; on a rig without fingers they end there. A closing hand works the muscles of
the wrist too, which hold it against the pull of the long finger muscles.
"""

from __future__ import annotations

from ecorche.muscles.template.muscle import (
    ARM,
    ESTIMATE,
    FOREARM,
    HAND,
    HOLZBAUR,
    INDEX,
    LITTLE,
    MIDDLE,
    THUMB,
    at,
    right,
)

FOREARM_AND_HAND = (
    right(
        "brachioradialis", "elbow flexors",
        (at(ARM, 0.09, 0.80, 0.04), at(FOREARM, 0.04, 0.10, 0.11), at(FOREARM, 0.0, 0.95, 0.06)),
        ((FOREARM, "flexion", 1.0),),
        limb=FOREARM, outward=(0.4, 0.0, 1.0), thickness=0.06, force=261.3, source=HOLZBAUR, belly=0.35,
    ),
    right(
        "extensor carpi radialis longus", "wrist extensors",
        (at(ARM, 0.11, 0.88, 0.02), at(FOREARM, 0.11, 0.05, 0.06), at(FOREARM, 0.09, 0.20, 0.07),
         at(FOREARM, 0.05, 0.95, 0.05), at(HAND, 0.12, 0.60, 0.22)),
        ((HAND, "extension", 1.0), (HAND, "radial deviation", 0.8), (FOREARM, "flexion", 0.3)),
        limb=FOREARM, outward=(1.0, 0.0, 0.7), thickness=0.055, force=304.9, source=HOLZBAUR, belly=0.3,
        resists=((MIDDLE, "flexion", 0.6),),
    ),
    right(
        "extensor carpi radialis brevis", "wrist extensors",
        (at(ARM, 0.115, 0.97, 0.0), at(FOREARM, 0.115, 0.06, 0.03), at(FOREARM, 0.10, 0.30, 0.04),
         at(FOREARM, 0.06, 0.95, 0.03), at(HAND, 0.13, 0.55, 0.10)),
        ((HAND, "extension", 1.0), (HAND, "radial deviation", 0.4)),
        limb=FOREARM, outward=(1.0, 0.0, 0.3), thickness=0.05, force=100.5, source=HOLZBAUR, belly=0.4,
        resists=((MIDDLE, "flexion", 0.6),),
    ),
    right(
        "extensor digitorum", "finger extensors",
        (at(ARM, 0.115, 0.99, -0.045), at(FOREARM, 0.115, 0.06, -0.01), at(FOREARM, 0.10, 0.30, -0.01),
         # held by both borders of the retinaculum: a hand that turns does not lift it off the forearm
         at(FOREARM, 0.073, 0.85, 0.0), at(FOREARM, 0.065, 0.95, 0.0), at(HAND, 0.11, 0.62, 0.0),
         at(MIDDLE, 0.04, 0.36, 0.0)),
        ((HAND, "extension", 1.0), (MIDDLE, "extension", 1.0)),
        limb=FOREARM, outward=(1.0, 0.0, 0.0), thickness=0.06, force=272.0, source=HOLZBAUR, belly=0.3,
    ),
    right(
        "extensor digiti minimi", "finger extensors",
        (at(ARM, 0.12, 0.99, -0.03), at(FOREARM, 0.11, 0.07, -0.03), at(FOREARM, 0.09, 0.35, -0.04),
         at(FOREARM, 0.06, 0.95, -0.03), at(HAND, 0.08, 0.72, -0.26), at(LITTLE, 0.06, 0.20, 0.0)),
        ((HAND, "extension", 1.0), (LITTLE, "extension", 1.0)),
        limb=FOREARM, outward=(1.0, 0.0, -0.3), thickness=0.025, force=72.4, source=HOLZBAUR, belly=0.35,
    ),
    right(
        "extensor carpi ulnaris", "wrist extensors",
        (at(ARM, 0.11, 0.99, -0.05), at(FOREARM, 0.09, 0.07, -0.06), at(FOREARM, 0.07, 0.35, -0.08),
         at(FOREARM, 0.045, 0.95, -0.055), at(HAND, 0.06, 0.38, -0.26)),
        ((HAND, "extension", 1.0), (HAND, "ulnar deviation", 1.0)),
        limb=FOREARM, outward=(0.8, 0.0, -0.8), thickness=0.05, force=93.2, source=HOLZBAUR, belly=0.35,
        resists=((MIDDLE, "flexion", 0.6),),
    ),
    right(
        "abductor pollicis longus", "thumb abductors",
        (at(FOREARM, 0.05, 0.55, -0.01), at(FOREARM, 0.05, 0.85, 0.05), at(FOREARM, 0.0, 0.97, 0.07),
         at(HAND, -0.05, 0.30, 0.30)),
        ((HAND, "radial deviation", 1.0),),
        limb=FOREARM, outward=(0.7, 0.0, 1.0), thickness=0.025, force=116.7, source=HOLZBAUR,
    ),
    right(
        "pronator teres", "forearm pronators",
        (at(ARM, -0.13, 0.96, 0.03), at(FOREARM, -0.11, 0.05, 0.05), at(FOREARM, -0.06, 0.20, 0.07),
         at(FOREARM, 0.04, 0.50, 0.06)),
        ((FOREARM, "pronation", 1.0), (FOREARM, "flexion", 0.5)),
        limb=FOREARM, outward=(-0.5, 0.0, 1.0), thickness=0.04, force=566.2, source=HOLZBAUR, belly=0.45,
    ),
    right(
        "flexor carpi radialis", "wrist flexors",
        (at(ARM, -0.14, 0.98, 0.02), at(FOREARM, -0.13, 0.06, 0.03), at(FOREARM, -0.11, 0.25, 0.03),
         at(FOREARM, -0.055, 0.95, 0.03), at(HAND, -0.14, 0.40, 0.18)),
        ((HAND, "flexion", 1.0), (HAND, "radial deviation", 0.4)),
        limb=FOREARM, outward=(-1.0, 0.0, 0.6), thickness=0.055, force=74.0, source=HOLZBAUR, belly=0.35,
        resists=((MIDDLE, "flexion", 0.6),),
    ),
    right(
        "palmaris longus", "wrist flexors",
        (at(ARM, -0.145, 0.98, 0.0), at(FOREARM, -0.14, 0.06, 0.02), at(FOREARM, -0.13, 0.28, 0.0),
         at(FOREARM, -0.06, 0.95, 0.01), at(HAND, -0.15, 0.35, 0.02)),
        ((HAND, "flexion", 1.0),),
        limb=FOREARM, outward=(-1.0, 0.0, 0.1), thickness=0.025, force=26.7, source=HOLZBAUR, belly=0.35,
        resists=((MIDDLE, "flexion", 0.6),),
    ),
    right(
        "flexor carpi ulnaris", "wrist flexors",
        (at(ARM, -0.14, 0.97, 0.01), at(FOREARM, -0.13, 0.07, -0.005), at(FOREARM, -0.11, 0.30, -0.07),
         at(FOREARM, -0.045, 0.95, -0.055), at(HAND, -0.12, 0.25, -0.25)),
        ((HAND, "flexion", 1.0), (HAND, "ulnar deviation", 1.0)),
        limb=FOREARM, outward=(-0.8, 0.0, -0.8), thickness=0.055, force=128.9, source=HOLZBAUR, belly=0.4,
        resists=((MIDDLE, "flexion", 0.6),),
    ),
    right(
        "flexor digitorum superficialis", "finger flexors",
        (at(ARM, -0.12, 0.99, 0.0), at(FOREARM, -0.12, 0.07, 0.02), at(FOREARM, -0.10, 0.35, -0.02),
         at(FOREARM, -0.045, 0.95, 0.0), at(HAND, -0.20, 0.75, 0.0), at(MIDDLE, -0.12, 0.30, 0.0)),
        ((HAND, "flexion", 1.0), (MIDDLE, "flexion", 1.0)),
        limb=FOREARM, outward=(-1.0, 0.0, -0.3), thickness=0.065, force=668.0, source=HOLZBAUR, belly=0.4,
    ),
    right(
        "abductor pollicis brevis", "thenar muscles",
        (at(HAND, -0.15, 0.25, 0.15), at(THUMB, -0.08, 0.02, 0.05)),
        ((THUMB, "flexion", 1.0),),
        limb=HAND, outward=(-1.0, 0.0, 0.6), thickness=0.14, force=60.0, source=ESTIMATE,
    ),
    right(
        "abductor digiti minimi of the hand", "hypothenar muscles",
        (at(HAND, -0.15, 0.30, -0.30), at(LITTLE, -0.06, 0.08, -0.10)),
        ((LITTLE, "flexion", 0.6), (LITTLE, "abduction", 1.0)),
        limb=HAND, outward=(-0.6, 0.0, -1.0), thickness=0.11, force=60.0, source=ESTIMATE,
    ),
    right(
        "dorsal interosseous, first", "interossei",
        (at(HAND, 0.02, 0.45, 0.35), at(INDEX, 0.0, 0.12, 0.10)),
        ((INDEX, "abduction", 1.0),),
        limb=HAND, outward=(1.0, 0.0, 0.6), thickness=0.10, force=70.0, source=ESTIMATE,
    ),
)  # fmt: skip
"""From the elbow to the hand."""
