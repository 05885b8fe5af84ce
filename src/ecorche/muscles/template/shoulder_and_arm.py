"""Muscles of the shoulder girdle and the upper arm, right side.

Attachments and actions after Gray's Anatomy (41st ed., ch. 48) and Kendall, Muscles: Testing and Function
(5th ed., ch. 6), put into segment coordinates by us; forces of Holzbaur, Murray and Delp (2005) where
that model has the muscle. Via points stand for the rib cage and the humeral head, round which these
muscles wrap.
"""

from __future__ import annotations

from ecorche.muscles.template.muscle import (
    ARM,
    CLAVICLE,
    ESTIMATE,
    FOREARM,
    HOLZBAUR,
    LUMBAR,
    NECK,
    PELVIS,
    SCAPULA,
    SKULL,
    THORAX,
    WAIST,
    at,
    right,
)

SHOULDER_AND_ARM = (
    right(
        "deltoid: anterior", "shoulder flexors",
        (at(CLAVICLE, -0.25, 0.06, 0.05), at(ARM, 0.05, 0.10, 0.12), at(ARM, 0.08, 0.26, 0.10),
         at(ARM, 0.08, 0.48, 0.04)),
        ((ARM, "flexion", 1.0), (ARM, "horizontal adduction", 0.6), (ARM, "internal rotation", 0.3)),
        limb=ARM, outward=(0.5, 0.0, 1.0), thickness=0.10, force=1142.6, source=HOLZBAUR, flatness=0.6,
        resists=((ARM, "abduction", 0.5),),
    ),
    right(
        "deltoid: middle", "shoulder abductors",
        (at(SCAPULA, 0.05, 0.06, -0.01), at(ARM, 0.15, 0.08, 0.025), at(ARM, 0.14, 0.26, 0.02),
         at(ARM, 0.09, 0.50, 0.02)),
        ((ARM, "abduction", 1.0),),
        limb=ARM, outward=(1.0, 0.0, 0.0), thickness=0.12, force=1142.6, source=HOLZBAUR, flatness=0.6,
        skin=(SCAPULA,),
    ),
    right(
        "deltoid: posterior", "shoulder extensors",
        (at(SCAPULA, -0.15, 0.03, -0.10), at(ARM, 0.05, 0.12, -0.13), at(ARM, 0.09, 0.28, -0.11),
         at(ARM, 0.08, 0.48, -0.01)),
        ((ARM, "extension", 1.0), (ARM, "horizontal abduction", 0.8), (ARM, "external rotation", 0.3)),
        limb=ARM, outward=(0.5, 0.0, -1.0), thickness=0.10, force=259.9, source=HOLZBAUR, flatness=0.6,
        skin=(SCAPULA,), resists=((ARM, "abduction", 0.5),),
    ),
    right(
        "pectoralis major: clavicular", "shoulder flexors",
        (at(CLAVICLE, -0.62, 0.04, 0.10), at(THORAX, 0.58, 0.02, 0.13), at(ARM, 0.03, 0.18, 0.115),
         at(ARM, 0.04, 0.26, 0.08)),
        ((ARM, "horizontal adduction", 1.0), (ARM, "flexion", 0.6), (ARM, "internal rotation", 0.4)),
        limb=THORAX, skin=(ARM,), outward=(0.2, 0.5, 1.0), thickness=0.07, force=364.4, source=HOLZBAUR,
        flatness=0.35, belly=0.42,
    ),
    right(
        "pectoralis major: sternal", "shoulder adductors",
        (at(THORAX, 0.10, -0.13, 0.20), at(THORAX, 0.45, -0.12, 0.19), at(ARM, -0.02, 0.08, 0.11),
         at(ARM, 0.04, 0.26, 0.07)),
        ((ARM, "adduction", 1.0), (ARM, "horizontal adduction", 1.0), (ARM, "internal rotation", 0.5)),
        limb=THORAX, skin=(ARM,), outward=(0.2, 0.35, 1.0), thickness=0.09, force=515.4, source=HOLZBAUR,
        flatness=0.3, belly=0.4,
    ),
    right(
        "pectoralis major: abdominal", "shoulder adductors",
        (at(THORAX, 0.22, -0.26, 0.22), at(THORAX, 0.50, -0.20, 0.205), at(ARM, -0.03, 0.10, 0.08),
         at(ARM, 0.03, 0.28, 0.06)),
        ((ARM, "adduction", 1.0), (ARM, "horizontal adduction", 0.7), (ARM, "internal rotation", 0.4)),
        limb=THORAX, skin=(ARM,), outward=(0.4, 0.0, 1.0), thickness=0.07, force=390.5, source=HOLZBAUR,
        flatness=0.22, belly=0.38,
    ),
    right(
        "trapezius: upper", "scapular elevators",
        (at(SKULL, 0.08, 0.02, -0.24), at(NECK, 0.20, 0.12, -0.06), at(THORAX, 0.35, 0.15, -0.06),
         at(CLAVICLE, -0.20, 0.04, -0.03)),
        ((CLAVICLE, "elevation", 1.0), (SKULL, "extension", 0.5), (SKULL, "lateral flexion", 0.5),
         (SKULL, "contralateral rotation", 0.3)),
        limb=THORAX, outward=(0.5, 0.7, -0.8), thickness=0.04, force=550.0, source=ESTIMATE, flatness=0.5,
        skin=(NECK, SKULL),
        belly=0.55, resists=((ARM, "abduction", 0.6),),
    ),
    right(
        "trapezius: middle", "scapular retractors",
        (at(THORAX, 0.02, 0.08, -0.13), at(THORAX, 0.45, 0.07, -0.155), at(SCAPULA, -0.05, 0.07, -0.07)),
        ((CLAVICLE, "retraction", 1.0),),
        limb=THORAX, outward=(0.1, 0.4, -1.0), thickness=0.06, force=600.0, source=ESTIMATE, flatness=0.3,
        resists=((ARM, "abduction", 0.5),),
    ),
    right(
        "trapezius: lower", "scapular depressors",
        (at(THORAX, 0.02, -0.33, -0.105), at(THORAX, 0.30, -0.10, -0.165), at(SCAPULA, -0.50, 0.02, -0.14)),
        ((CLAVICLE, "depression", 1.0), (CLAVICLE, "retraction", 0.6)),
        limb=THORAX, outward=(0.1, 0.0, -1.0), thickness=0.06, force=500.0, source=ESTIMATE, flatness=0.25,
        resists=((ARM, "abduction", 0.5),),
    ),
    right(
        "latissimus dorsi: upper", "shoulder adductors",
        (at(THORAX, 0.04, -0.24, -0.125), at(THORAX, 0.55, -0.20, -0.12), at(THORAX, 0.84, -0.10, -0.07),
         at(ARM, -0.03, 0.20, 0.03)),
        ((ARM, "adduction", 1.0), (ARM, "extension", 1.0), (ARM, "internal rotation", 0.4)),
        limb=THORAX, outward=(0.5, 0.0, -1.0), thickness=0.07, force=389.1, source=HOLZBAUR, flatness=0.25,
    ),
    right(
        "latissimus dorsi: middle", "shoulder adductors",
        (at(WAIST, 0.05, -0.44, -0.075), at(THORAX, 0.58, -0.28, -0.085), at(THORAX, 0.84, -0.11, -0.05),
         at(ARM, -0.03, 0.21, 0.03)),
        ((ARM, "adduction", 1.0), (ARM, "extension", 1.0), (ARM, "internal rotation", 0.4)),
        limb=THORAX, outward=(0.8, 0.0, -1.0), thickness=0.08, force=389.1, source=HOLZBAUR, flatness=0.25,
    ),
    right(
        "latissimus dorsi: lower", "shoulder adductors",
        (at(PELVIS, 0.62, 0.19, -0.06), at(LUMBAR, 0.46, 0.06, -0.02), at(THORAX, 0.62, -0.30, -0.03),
         at(THORAX, 0.82, -0.11, -0.03), at(ARM, -0.03, 0.22, 0.03)),
        ((ARM, "adduction", 1.0), (ARM, "extension", 0.8), (LUMBAR, "lateral flexion", 0.3)),
        limb=THORAX, outward=(1.0, 0.0, -0.6), thickness=0.07, force=281.7, source=HOLZBAUR, flatness=0.25,
        belly=0.6,
    ),
    right(
        "teres major", "shoulder adductors",
        (at(SCAPULA, -0.45, -0.20, -0.13), at(SCAPULA, -0.15, -0.11, -0.08), at(ARM, -0.04, 0.24, 0.02)),
        ((ARM, "adduction", 1.0), (ARM, "extension", 1.0), (ARM, "internal rotation", 0.6)),
        limb=SCAPULA, outward=(0.4, 0.0, -1.0), thickness=0.045, force=425.4, source=HOLZBAUR, belly=0.4,
    ),
    right(
        "teres minor", "shoulder external rotators",
        (at(SCAPULA, -0.35, -0.10, -0.14), at(SCAPULA, -0.05, -0.02, -0.10), at(ARM, 0.08, 0.07, -0.08)),
        ((ARM, "external rotation", 1.0),),
        limb=SCAPULA, outward=(0.2, 0.0, -1.0), thickness=0.03, force=354.3, source=HOLZBAUR, belly=0.4,
        deep=True,
    ),
    right(
        "infraspinatus", "shoulder external rotators",
        (at(SCAPULA, -0.55, -0.08, -0.16), at(SCAPULA, 0.0, -0.045, -0.10), at(ARM, 0.085, -0.035, -0.015)),
        ((ARM, "external rotation", 1.0),),
        limb=SCAPULA, outward=(0.2, 0.0, -1.0), thickness=0.06, force=1210.8, source=HOLZBAUR, belly=0.4,
        flatness=0.4,
    ),
    right(
        "rhomboid major", "scapular retractors",
        (at(THORAX, 0.02, 0.06, -0.12), at(SCAPULA, -0.44, -0.04, -0.145)),
        ((CLAVICLE, "retraction", 1.0), (CLAVICLE, "elevation", 0.4)),
        limb=THORAX, outward=(0.1, 0.0, -1.0), thickness=0.06, force=400.0, source=ESTIMATE, flatness=0.25,
        deep=True,
    ),
    *(
        right(
            f"serratus anterior: {head}", "scapular protractors",
            (at(THORAX, 0.72, y, z), at(THORAX, 0.80, 0.5 * (y - 0.15), -0.02),
             at(SCAPULA, -0.55, end, -0.13)),
            ((CLAVICLE, "protraction", 1.0),),
            limb=THORAX, outward=(1.0, 0.0, 0.4), thickness=0.035, force=force, source=ESTIMATE, belly=0.35,
            flatness=0.4, resists=((ARM, "flexion", 0.6), (ARM, "abduction", 0.4)),
        )
        for head, y, z, end, force in (
            ("upper", -0.16, 0.10, -0.05, 250.0),
            ("middle", -0.25, 0.11, -0.15, 300.0),
            ("lower", -0.34, 0.10, -0.22, 350.0),
        )
    ),
    right(
        "coracobrachialis", "shoulder flexors",
        (at(SCAPULA, -0.12, 0.0, 0.06), at(ARM, -0.05, 0.50, 0.02)),
        ((ARM, "flexion", 1.0), (ARM, "adduction", 0.6)),
        limb=ARM, outward=(-1.0, 0.0, 0.5), thickness=0.04, force=242.5, source=HOLZBAUR, deep=True,
    ),
    right(
        "biceps brachii: long head", "elbow flexors",
        (at(SCAPULA, -0.02, 0.04, 0.02), at(ARM, 0.045, 0.08, 0.085), at(ARM, 0.05, 0.80, 0.09),
         at(FOREARM, -0.03, 0.16, 0.03)),
        ((FOREARM, "flexion", 1.0), (FOREARM, "supination", 0.6), (ARM, "flexion", 0.2)),
        limb=ARM, outward=(0.2, 0.0, 1.0), thickness=0.10, force=624.3, source=HOLZBAUR, belly=0.5,
        flatness=0.75,
    ),
    right(
        "biceps brachii: short head", "elbow flexors",
        (at(SCAPULA, -0.12, 0.01, 0.06), at(ARM, -0.04, 0.18, 0.085), at(ARM, -0.02, 0.80, 0.095),
         at(FOREARM, -0.03, 0.16, 0.03)),
        ((FOREARM, "flexion", 1.0), (FOREARM, "supination", 0.6), (ARM, "flexion", 0.3)),
        limb=ARM, outward=(-0.3, 0.0, 1.0), thickness=0.09, force=435.6, source=HOLZBAUR, belly=0.5,
        flatness=0.8,
    ),
    right(
        "brachialis", "elbow flexors",
        (at(ARM, 0.06, 0.44, 0.03), at(ARM, 0.05, 0.86, 0.06), at(FOREARM, -0.03, 0.10, 0.04)),
        ((FOREARM, "flexion", 1.0),),
        limb=ARM, outward=(1.0, 0.0, 0.7), thickness=0.06, force=987.3, source=HOLZBAUR, belly=0.36,
        deep=True,
    ),
    right(
        "triceps brachii: long head", "elbow extensors",
        (at(SCAPULA, -0.12, -0.06, -0.05), at(ARM, -0.06, 0.20, -0.10), at(ARM, -0.06, 0.50, -0.12),
         at(ARM, -0.02, 0.96, -0.10), at(FOREARM, -0.02, -0.02, -0.09)),
        ((FOREARM, "extension", 1.0), (ARM, "extension", 0.4), (ARM, "adduction", 0.3)),
        limb=ARM, outward=(-0.6, 0.0, -1.0), thickness=0.09, force=798.5, source=HOLZBAUR, belly=0.45,
    ),
    right(
        "triceps brachii: lateral head", "elbow extensors",
        (at(ARM, 0.06, 0.25, -0.08), at(ARM, 0.05, 0.55, -0.12), at(ARM, 0.0, 0.96, -0.10),
         at(FOREARM, -0.01, -0.02, -0.09)),
        ((FOREARM, "extension", 1.0),),
        limb=ARM, outward=(0.8, 0.0, -1.0), thickness=0.08, force=624.3, source=HOLZBAUR, belly=0.4,
    ),
    right(
        "triceps brachii: medial head", "elbow extensors",
        (at(ARM, -0.03, 0.50, -0.05), at(ARM, -0.04, 0.75, -0.09), at(ARM, -0.02, 0.96, -0.10),
         at(FOREARM, -0.03, -0.02, -0.09)),
        ((FOREARM, "extension", 1.0),),
        limb=ARM, outward=(-0.8, 0.0, -1.0), thickness=0.06, force=624.3, source=HOLZBAUR,
    ),
    right(
        "anconeus", "elbow extensors",
        (at(ARM, 0.10, 0.97, -0.04), at(FOREARM, 0.085, 0.04, -0.06), at(FOREARM, 0.05, 0.15, -0.09)),
        ((FOREARM, "extension", 1.0),),
        limb=FOREARM, outward=(0.7, 0.0, -1.0), thickness=0.03, force=350.0, source=HOLZBAUR,
    ),
)  # fmt: skip
"""Heads from the clavicle round to the elbow."""
