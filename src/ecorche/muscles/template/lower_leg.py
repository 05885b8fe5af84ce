"""Muscles of the lower leg and the foot, right side.

Attachments and actions after Gray's Anatomy (41st ed., ch. 83-84) and Kendall (5th ed., ch. 7); forces of
Rajagopal et al. (2016), soleus shared between its two sides. Retinacula are via points: those before the
ankle hold the extensors down, those behind the malleoli turn tendons forward. At the foot y is forward, z up.
Bellies ride on the shank. Rigs put the joint of the toes a few millimetres under the skin of the instep:
tendons that lift the toes end shortly behind it, where there is room above its axis.

Under load the calf resists dorsiflexion, a little. On tiptoe the ground bends the toes, so that extended toes
work their extensors only by half.
"""

from __future__ import annotations

from ecorche.muscles.template.muscle import ESTIMATE, FOOT, RAJAGOPAL, SHANK, THIGH, TOES, at, right

LOWER_LEG = (
    right(
        "tibialis anterior", "ankle dorsiflexors",
        (at(SHANK, 0.05, 0.10, 0.02), at(SHANK, 0.035, 0.40, 0.03), at(SHANK, 0.02, 0.70, 0.025),
         at(SHANK, -0.015, 0.92, 0.038), at(FOOT, -0.18, 0.45, -0.15)),
        ((FOOT, "dorsiflexion", 1.0), (FOOT, "inversion", 0.5)),
        limb=SHANK, outward=(0.5, 0.0, 1.0), thickness=0.04, force=1227.0, source=RAJAGOPAL, belly=0.3,
    ),
    right(
        "extensor digitorum longus", "toe extensors",
        (at(SHANK, 0.08, 0.12, 0.0), at(SHANK, 0.07, 0.45, 0.01), at(SHANK, 0.045, 0.72, 0.02),
         at(SHANK, 0.02, 0.93, 0.038), at(FOOT, 0.06, 0.45, -0.245), at(TOES, 0.0, -0.12, 0.07)),
        ((FOOT, "dorsiflexion", 1.0), (FOOT, "eversion", 0.4), (TOES, "extension", 0.5)),
        limb=SHANK, outward=(1.0, 0.0, 0.8), thickness=0.03, force=603.0, source=RAJAGOPAL, belly=0.3,
    ),
    right(
        "extensor hallucis longus", "toe extensors",
        (at(SHANK, 0.05, 0.45, 0.01), at(SHANK, 0.03, 0.72, 0.015), at(SHANK, 0.0, 0.93, 0.038),
         at(FOOT, -0.07, 0.45, -0.15), at(TOES, -0.12, 0.08, 0.05)),
        ((FOOT, "dorsiflexion", 1.0), (TOES, "extension", 0.5)),
        limb=SHANK, outward=(0.6, 0.0, 1.0), thickness=0.02, force=286.0, source=RAJAGOPAL, belly=0.35,
        deep=True,
    ),
    right(
        "fibularis longus", "ankle evertors",
        (at(SHANK, 0.09, 0.08, -0.03), at(SHANK, 0.09, 0.50, -0.04), at(SHANK, 0.05, 0.96, -0.05),
         at(FOOT, 0.13, 0.10, -0.28), at(FOOT, 0.12, 0.45, -0.38), at(FOOT, -0.10, 0.60, -0.33)),
        ((FOOT, "eversion", 1.0), (FOOT, "plantarflexion", 0.5)),
        limb=SHANK, outward=(1.0, 0.0, -0.2), thickness=0.03, force=1115.0, source=RAJAGOPAL, belly=0.25,
    ),
    right(
        "fibularis brevis", "ankle evertors",
        (at(SHANK, 0.07, 0.55, -0.03), at(SHANK, 0.047, 0.96, -0.045), at(FOOT, 0.13, 0.12, -0.23),
         at(FOOT, 0.19, 0.45, -0.35)),
        ((FOOT, "eversion", 1.0), (FOOT, "plantarflexion", 0.5)),
        limb=SHANK, outward=(1.0, 0.0, -0.3), thickness=0.025, force=521.0, source=RAJAGOPAL, belly=0.35,
        deep=True,
    ),
    right(
        "gastrocnemius: medial", "ankle plantarflexors",
        (at(THIGH, -0.05, 0.96, -0.08), at(SHANK, -0.05, 0.05, -0.11), at(SHANK, -0.045, 0.25, -0.135),
         at(SHANK, -0.03, 0.50, -0.11), at(SHANK, 0.0, 0.84, -0.068), at(FOOT, 0.0, -0.27, -0.15)),
        ((FOOT, "plantarflexion", 1.0), (SHANK, "flexion", 0.5)),
        limb=SHANK, outward=(-0.5, 0.0, -1.0), thickness=0.065, force=3116.0, source=RAJAGOPAL, belly=0.3,
        flatness=0.85, resists=((FOOT, "dorsiflexion", 0.3),),
    ),
    right(
        "gastrocnemius: lateral", "ankle plantarflexors",
        (at(THIGH, 0.05, 0.96, -0.08), at(SHANK, 0.05, 0.05, -0.11), at(SHANK, 0.055, 0.25, -0.13),
         at(SHANK, 0.035, 0.48, -0.11), at(SHANK, 0.005, 0.84, -0.068), at(FOOT, 0.0, -0.27, -0.15)),
        ((FOOT, "plantarflexion", 1.0), (SHANK, "flexion", 0.5)),
        limb=SHANK, outward=(0.6, 0.0, -1.0), thickness=0.055, force=1575.0, source=RAJAGOPAL, belly=0.28,
        flatness=0.85, resists=((FOOT, "dorsiflexion", 0.3),),
    ),
    right(
        "soleus: medial", "ankle plantarflexors",
        (at(SHANK, -0.03, 0.22, -0.05), at(SHANK, -0.04, 0.50, -0.065), at(SHANK, 0.0, 0.84, -0.06),
         at(FOOT, 0.0, -0.26, -0.15)),
        ((FOOT, "plantarflexion", 1.0),),
        limb=SHANK, outward=(-1.0, 0.0, -0.7), thickness=0.05, force=3097.5, source=RAJAGOPAL, belly=0.4,
        flatness=0.55, resists=((FOOT, "dorsiflexion", 0.3),),
    ),
    right(
        "soleus: lateral", "ankle plantarflexors",
        (at(SHANK, 0.06, 0.12, -0.06), at(SHANK, 0.06, 0.50, -0.065), at(SHANK, 0.005, 0.84, -0.06),
         at(FOOT, 0.0, -0.26, -0.15)),
        ((FOOT, "plantarflexion", 1.0),),
        limb=SHANK, outward=(1.0, 0.0, -0.7), thickness=0.05, force=3097.5, source=RAJAGOPAL, belly=0.45,
        flatness=0.55, resists=((FOOT, "dorsiflexion", 0.3),),
    ),
    right(
        "flexor digitorum longus", "toe flexors",
        (at(SHANK, -0.03, 0.35, -0.04), at(SHANK, -0.035, 0.94, -0.045), at(FOOT, -0.10, 0.12, -0.25),
         at(FOOT, -0.05, 0.60, -0.35), at(TOES, 0.0, 0.08, -0.06)),
        ((FOOT, "inversion", 1.0), (FOOT, "plantarflexion", 0.6), (TOES, "flexion", 1.0)),
        limb=SHANK, outward=(-1.0, 0.0, -0.4), thickness=0.02, force=423.0, source=RAJAGOPAL, belly=0.4,
        deep=True,
    ),
    right(
        "abductor hallucis", "foot arch muscles",
        (at(FOOT, -0.06, -0.15, -0.36), at(FOOT, -0.16, 0.40, -0.34), at(TOES, -0.16, 0.04, -0.05)),
        ((TOES, "flexion", 1.0),),
        limb=FOOT, outward=(-1.0, 0.0, -0.2), thickness=0.07, force=150.0, source=ESTIMATE,
    ),
    right(
        "extensor digitorum brevis", "toe extensors",
        (at(FOOT, 0.10, 0.22, -0.25), at(TOES, 0.0, -0.10, 0.05)),
        ((TOES, "extension", 0.5),),
        limb=FOOT, outward=(0.3, 0.0, 1.0), thickness=0.06, force=80.0, source=ESTIMATE, belly=0.3,
    ),
)  # fmt: skip
"""From the knee to the toes."""
