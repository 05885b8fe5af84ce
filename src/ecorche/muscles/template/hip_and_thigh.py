"""Muscles of the hip and the thigh, right side.

Attachments and actions after Gray's Anatomy (41st ed., ch. 80-82) and Kendall (5th ed., ch. 7); forces of
Rajagopal et al. (2016), pectineus of Delp et al. (1990). Parts of gluteus maximus and medius and of adductor
magnus that lie side by side there are added up here; rectus femoris stands for the vastus intermedius below
it too, in bulk though not in force.

Bellies ride on the limb they lie in: from a quarter of the thigh to the condyles every point is the thigh's,
and hip and knee are crossed by the segments at the ends. The quadriceps pass the knee-cap, a via point of
the thigh. The gluteus maximus rides on the pelvis to above the ischium and on the thigh from there on: as the
hip bends it goes down and forward round the joint, as the buttock's skin does, and clears the ischium; held
by the pelvis it would be left behind, outside the skin. A bent knee or hip is taken to carry the body:
quadriceps and gluteus maximus resist it, and work while they lengthen.
"""

from __future__ import annotations

from ecorche.muscles.template.muscle import DELP, PELVIS, RAJAGOPAL, SHANK, THIGH, at, right

HIP_AND_THIGH = (
    right(
        "gluteus maximus: upper", "hip extensors",
        (at(PELVIS, 0.45, 0.16, -0.11), at(PELVIS, 0.80, 0.07, -0.115), at(THIGH, 0.08, 0.02, -0.08),
         at(THIGH, 0.08, 0.16, -0.02)),
        ((THIGH, "extension", 1.0), (THIGH, "external rotation", 0.5), (THIGH, "abduction", 0.3)),
        limb=PELVIS, outward=(0.6, 0.0, -1.0), thickness=0.12, force=1687.0, source=RAJAGOPAL, flatness=0.6,
        skin=(THIGH,), resists=((THIGH, "flexion", 0.5),),
    ),
    right(
        "gluteus maximus: lower", "hip extensors",
        (at(PELVIS, 0.20, 0.05, -0.13), at(PELVIS, 0.50, -0.01, -0.115), at(THIGH, -0.04, 0.10, -0.10),
         at(THIGH, 0.05, 0.26, -0.02)),
        ((THIGH, "extension", 1.0), (THIGH, "external rotation", 0.4)),
        limb=PELVIS, outward=(0.3, -0.2, -1.0), thickness=0.12, force=1651.0, source=RAJAGOPAL,
        flatness=0.6, skin=(THIGH,), resists=((THIGH, "flexion", 0.5),),
    ),
    right(
        "gluteus medius: anterior", "hip abductors",
        (at(PELVIS, 1.02, 0.19, 0.07), at(PELVIS, 1.20, 0.07, 0.04), at(THIGH, 0.08, 0.03, 0.0)),
        ((THIGH, "abduction", 1.0), (THIGH, "internal rotation", 0.4), (THIGH, "flexion", 0.3)),
        limb=PELVIS, outward=(1.0, 0.0, 0.3), thickness=0.09, force=1475.0, source=RAJAGOPAL, flatness=0.5,
        skin=(THIGH,),
    ),
    right(
        "gluteus medius: posterior", "hip abductors",
        (at(PELVIS, 0.85, 0.19, -0.05), at(PELVIS, 1.15, 0.07, -0.03), at(THIGH, 0.08, 0.03, -0.02)),
        ((THIGH, "abduction", 1.0), (THIGH, "extension", 0.3)),
        limb=PELVIS, outward=(1.0, 0.0, -0.7), thickness=0.09, force=1254.0, source=RAJAGOPAL, flatness=0.5,
        skin=(THIGH,),
    ),
    right(
        "tensor fasciae latae", "hip abductors",
        (at(PELVIS, 1.15, 0.14, 0.09), at(THIGH, 0.09, 0.02, 0.07), at(THIGH, 0.10, 0.25, 0.05),
         at(THIGH, 0.085, 0.90, 0.05), at(SHANK, 0.075, 0.06, 0.055)),
        ((THIGH, "abduction", 0.8), (THIGH, "flexion", 0.5)),
        limb=THIGH, outward=(1.0, 0.0, 0.7), thickness=0.05, force=411.0, source=RAJAGOPAL, belly=0.12,
    ),
    right(
        "sartorius", "hip flexors",
        (at(PELVIS, 1.15, 0.14, 0.12), at(THIGH, 0.02, 0.12, 0.20), at(THIGH, -0.08, 0.35, 0.18),
         at(THIGH, -0.125, 0.60, 0.09), at(THIGH, -0.12, 0.85, -0.01), at(THIGH, -0.10, 0.99, -0.05),
         at(SHANK, -0.07, 0.06, -0.02), at(SHANK, -0.055, 0.11, 0.015)),
        ((THIGH, "flexion", 1.0), (SHANK, "flexion", 0.5)),
        limb=THIGH, outward=(-0.7, 0.0, 1.0), thickness=0.035, force=249.0, source=RAJAGOPAL, belly=0.5,
    ),
    right(
        "rectus femoris", "knee extensors",
        (at(PELVIS, 1.12, 0.075, 0.095), at(THIGH, 0.015, 0.24, 0.20), at(THIGH, -0.01, 0.52, 0.20),
         at(THIGH, -0.01, 0.80, 0.125), at(THIGH, 0.0, 0.98, 0.095), at(SHANK, 0.01, 0.10, 0.065)),
        ((SHANK, "extension", 1.0), (THIGH, "flexion", 0.7)),
        limb=THIGH, outward=(0.0, 0.0, 1.0), thickness=0.095, force=2192.0, source=RAJAGOPAL, belly=0.5,
        resists=((SHANK, "flexion", 0.7),), flatness=0.75,
    ),
    right(
        "vastus lateralis", "knee extensors",
        (at(THIGH, 0.08, 0.12, 0.03), at(THIGH, 0.08, 0.35, 0.105), at(THIGH, 0.06, 0.68, 0.10),
         at(THIGH, 0.02, 0.97, 0.09), at(SHANK, 0.015, 0.10, 0.06)),
        ((SHANK, "extension", 1.0),),
        limb=THIGH, outward=(1.0, 0.0, 1.0), thickness=0.115, force=5149.0, source=RAJAGOPAL, belly=0.45,
        resists=((SHANK, "flexion", 0.9),), flatness=0.7,
    ),
    right(
        "vastus medialis", "knee extensors",
        (at(THIGH, -0.03, 0.25, 0.08), at(THIGH, -0.08, 0.52, 0.135), at(THIGH, -0.08, 0.78, 0.095),
         at(THIGH, -0.02, 0.97, 0.09), at(SHANK, 0.0, 0.10, 0.06)),
        ((SHANK, "extension", 1.0),),
        limb=THIGH, outward=(-1.0, 0.0, 1.0), thickness=0.1, force=2748.0, source=RAJAGOPAL, belly=0.6,
        resists=((SHANK, "flexion", 0.9),), flatness=0.75,
    ),
    right(
        "pectineus", "hip adductors",
        (at(PELVIS, 0.50, -0.01, 0.07), at(THIGH, -0.05, 0.12, 0.05), at(THIGH, -0.01, 0.20, 0.01)),
        ((THIGH, "adduction", 1.0), (THIGH, "flexion", 0.7)),
        limb=THIGH, outward=(-0.5, 0.0, 1.0), thickness=0.045, force=177.0, source=DELP, deep=True,
    ),
    right(
        "adductor longus", "hip adductors",
        (at(PELVIS, 0.25, -0.04, 0.08), at(THIGH, -0.115, 0.24, 0.10), at(THIGH, -0.07, 0.38, 0.065),
         at(THIGH, -0.01, 0.52, 0.02)),
        ((THIGH, "adduction", 1.0), (THIGH, "flexion", 0.4)),
        limb=THIGH, outward=(-1.0, 0.0, 0.7), thickness=0.042, force=917.0, source=RAJAGOPAL, belly=0.55,
        flatness=0.5,
    ),
    right(
        "adductor magnus", "hip adductors",
        (at(PELVIS, 0.42, -0.11, -0.02), at(THIGH, -0.14, 0.24, 0.01), at(THIGH, -0.12, 0.50, 0.01),
         at(THIGH, -0.08, 0.92, -0.02)),
        ((THIGH, "adduction", 1.0), (THIGH, "extension", 0.5)),
        limb=THIGH, outward=(-1.0, 0.0, -0.2), thickness=0.07, force=2388.0, source=RAJAGOPAL, belly=0.45,
        deep=True,
    ),
    right(
        "gracilis", "hip adductors",
        (at(PELVIS, 0.15, -0.07, 0.04), at(THIGH, -0.18, 0.25, 0.03), at(THIGH, -0.16, 0.50, 0.02),
         at(THIGH, -0.12, 0.85, -0.05), at(THIGH, -0.09, 1.0, -0.07), at(SHANK, -0.06, 0.07, -0.03),
         at(SHANK, -0.05, 0.12, 0.01)),
        ((THIGH, "adduction", 1.0), (SHANK, "flexion", 0.5)),
        limb=THIGH, outward=(-1.0, 0.0, 0.0), thickness=0.03, force=281.0, source=RAJAGOPAL, belly=0.35,
    ),
    right(
        "biceps femoris: long head", "knee flexors",
        (at(PELVIS, 0.65, -0.085, -0.085), at(THIGH, 0.0, 0.25, -0.06), at(THIGH, 0.03, 0.55, -0.07),
         at(THIGH, 0.05, 0.88, -0.07), at(SHANK, 0.062, 0.06, -0.05)),
        ((SHANK, "flexion", 0.6), (THIGH, "extension", 1.0)),
        limb=THIGH, outward=(0.6, 0.0, -1.0), thickness=0.06, force=1313.0, source=RAJAGOPAL,
    ),
    right(
        "biceps femoris: short head", "knee flexors",
        (at(THIGH, 0.03, 0.45, -0.01), at(THIGH, 0.04, 0.70, -0.045), at(THIGH, 0.05, 0.90, -0.055),
         at(SHANK, 0.062, 0.06, -0.045)),
        ((SHANK, "flexion", 0.6),),
        limb=THIGH, outward=(1.0, 0.0, -0.8), thickness=0.04, force=557.0, source=RAJAGOPAL, deep=True,
    ),
    right(
        "semitendinosus", "knee flexors",
        (at(PELVIS, 0.55, -0.10, -0.10), at(THIGH, -0.05, 0.25, -0.07), at(THIGH, -0.06, 0.55, -0.085),
         at(THIGH, -0.065, 0.88, -0.09), at(THIGH, -0.07, 1.0, -0.10), at(SHANK, -0.06, 0.08, -0.04),
         at(SHANK, -0.045, 0.13, 0.01)),
        ((SHANK, "flexion", 0.6), (THIGH, "extension", 0.9)),
        limb=THIGH, outward=(-0.5, 0.0, -1.0), thickness=0.045, force=591.0, source=RAJAGOPAL, belly=0.4,
    ),
    right(
        "semimembranosus", "knee flexors",
        (at(PELVIS, 0.62, -0.08, -0.07), at(THIGH, -0.06, 0.28, -0.05), at(THIGH, -0.07, 0.60, -0.07),
         at(THIGH, -0.065, 0.90, -0.08), at(SHANK, -0.06, 0.05, -0.065)),
        ((SHANK, "flexion", 0.6), (THIGH, "extension", 1.0)),
        limb=THIGH, outward=(-0.9, 0.0, -1.0), thickness=0.05, force=2201.0, source=RAJAGOPAL, belly=0.6,
    ),
)  # fmt: skip
"""From the pelvis to the knee."""
