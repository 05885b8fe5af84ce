"""Superficial muscles of the neck, right side.

Attachments and actions after Gray's Anatomy (41st ed., ch. 29 and 43) and Kendall (5th ed., ch. 4); forces
are our estimates in proportion to the muscles' bulk.
"""

from __future__ import annotations

from ecorche.muscles.template.muscle import CLAVICLE, ESTIMATE, NECK, SCAPULA, SKULL, THORAX, at, right

NECK_MUSCLES = (
    right(
        "sternocleidomastoid: sternal", "neck flexors",
        (at(THORAX, 0.10, 0.05, 0.14), at(SKULL, 0.28, 0.0, -0.14)),
        ((SKULL, "contralateral rotation", 1.0), (NECK, "flexion", 0.8), (SKULL, "lateral flexion", 0.5)),
        limb=NECK, outward=(0.6, 0.0, 1.0), thickness=0.07, force=130.0, source=ESTIMATE,
        skin=(SKULL, THORAX, CLAVICLE),
    ),
    right(
        "sternocleidomastoid: clavicular", "neck flexors",
        (at(CLAVICLE, -0.74, 0.05, 0.11), at(SKULL, 0.27, 0.0, -0.17)),
        ((SKULL, "lateral flexion", 1.0), (SKULL, "contralateral rotation", 0.7), (NECK, "flexion", 0.6)),
        limb=NECK, outward=(1.0, 0.0, 0.5), thickness=0.06, force=70.0, source=ESTIMATE,
        skin=(SKULL, THORAX, CLAVICLE),
    ),
    right(
        "splenius capitis", "neck extensors",
        (at(THORAX, 0.02, 0.12, -0.08), at(NECK, 0.15, 0.25, -0.02), at(SKULL, 0.24, 0.02, -0.17)),
        ((SKULL, "extension", 1.0), (SKULL, "ipsilateral rotation", 1.0), (SKULL, "lateral flexion", 0.4)),
        limb=NECK, outward=(0.5, 0.0, -1.0), thickness=0.07, force=150.0, source=ESTIMATE,
        skin=(SKULL, THORAX, CLAVICLE),
    ),
    right(
        "semispinalis capitis", "neck extensors",
        (at(THORAX, 0.08, 0.08, -0.10), at(NECK, 0.09, 0.25, -0.02), at(SKULL, 0.10, 0.04, -0.22)),
        ((SKULL, "extension", 1.0), (NECK, "extension", 1.0)),
        limb=NECK, outward=(0.2, 0.0, -1.0), thickness=0.07, force=200.0, source=ESTIMATE, deep=True,
    ),
    right(
        "levator scapulae", "scapular elevators",
        (at(NECK, 0.16, 0.45, 0.08), at(NECK, 0.19, 0.15, -0.02), at(SCAPULA, -0.52, 0.065, -0.10)),
        ((CLAVICLE, "elevation", 1.0),),
        limb=NECK, outward=(0.8, 0.0, -0.7), thickness=0.05, force=150.0, source=ESTIMATE, deep=True,
    ),
    right(
        "scalenes", "neck lateral flexors",
        (at(NECK, 0.18, 0.40, 0.08), at(THORAX, 0.30, 0.08, 0.06)),
        ((NECK, "lateral flexion", 1.0), (NECK, "flexion", 0.3)),
        limb=NECK, outward=(1.0, 0.0, 0.3), thickness=0.06, force=180.0, source=ESTIMATE, deep=True,
    ),
)  # fmt: skip
"""From the head down to the collar bones."""
