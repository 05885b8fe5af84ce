"""Superficial muscles of the belly and the back, right side.

Attachments and actions after Gray's Anatomy (41st ed., ch. 43 and 61) and Kendall (5th ed., ch. 5). Forces
are our estimates: whole-body models split these muscles into dozens of fascicles.
"""

from __future__ import annotations

from ecorche.muscles.template.muscle import ESTIMATE, LUMBAR, PELVIS, THORAX, WAIST, at, right

TRUNK_MUSCLES = (
    right(
        "rectus abdominis", "trunk flexors",
        (at(PELVIS, 0.25, -0.02, 0.16), at(PELVIS, 0.24, 0.12, 0.20), at(LUMBAR, 0.20, 0.05, 0.24),
         at(WAIST, 0.22, -0.45, 0.22), at(THORAX, 0.26, -0.30, 0.23)),
        ((LUMBAR, "flexion", 1.0), (THORAX, "flexion", 0.6)),
        limb=THORAX, outward=(0.1, 0.0, 1.0), thickness=0.075, force=700.0, source=ESTIMATE, flatness=0.4,
    ),
    right(
        "external oblique: anterior", "trunk rotators",
        (at(THORAX, 0.55, -0.33, 0.18), at(WAIST, 0.50, -0.48, 0.19), at(PELVIS, 0.55, 0.10, 0.17)),
        ((LUMBAR, "flexion", 1.0), (LUMBAR, "lateral flexion", 0.6)),
        limb=THORAX, outward=(0.7, 0.0, 1.0), thickness=0.08, force=500.0, source=ESTIMATE, flatness=0.3,
    ),
    right(
        "external oblique: lateral", "trunk lateral flexors",
        (at(WAIST, 0.68, -0.40, 0.0), at(LUMBAR, 0.64, 0.05, 0.05), at(PELVIS, 1.08, 0.19, 0.12)),
        ((LUMBAR, "lateral flexion", 1.0), (LUMBAR, "flexion", 0.2)),
        limb=THORAX, outward=(1.0, 0.0, 0.2), thickness=0.08, force=500.0, source=ESTIMATE, flatness=0.3,
    ),
    right(
        "erector spinae: longissimus", "trunk extensors",
        (at(PELVIS, 0.25, 0.08, -0.12), at(PELVIS, 0.24, 0.18, -0.11), at(LUMBAR, 0.16, 0.05, -0.065),
         at(WAIST, 0.20, -0.36, -0.11), at(THORAX, 0.20, -0.20, -0.14), at(THORAX, 0.20, 0.0, -0.15)),
        ((LUMBAR, "extension", 1.0), (THORAX, "extension", 0.6), (LUMBAR, "lateral flexion", 0.3)),
        limb=THORAX, outward=(0.1, 0.0, -1.0), thickness=0.06, force=1200.0, source=ESTIMATE, belly=0.35,
        flatness=0.6, resists=((LUMBAR, "flexion", 0.6), (THORAX, "flexion", 0.3)),
    ),
    right(
        "erector spinae: iliocostalis", "trunk extensors",
        (at(PELVIS, 0.55, 0.12, -0.11), at(PELVIS, 0.50, 0.18, -0.10), at(LUMBAR, 0.33, 0.05, -0.06),
         at(WAIST, 0.36, -0.42, -0.085), at(THORAX, 0.38, -0.26, -0.115)),
        ((LUMBAR, "extension", 1.0), (LUMBAR, "lateral flexion", 0.6)),
        limb=THORAX, outward=(0.3, 0.0, -1.0), thickness=0.05, force=900.0, source=ESTIMATE, belly=0.4,
        flatness=0.6, resists=((LUMBAR, "flexion", 0.6),),
    ),
)  # fmt: skip
"""Belly wall and back."""
