"""Sites: named points on the body's surface, and the segment each lies on.

The feature points of ISO/IEC 19774-1:2019, annex B, which come from anthropometric surveys
(CAESAR, ISO 7250-1): tailors, ergonomists and marker sets speak of these. In files a site
named after a feature point carries the suffix ``_pt``; other sites end in ``_tip`` (an end effector),
``_view`` (a camera) or have names of their own.
"""

from __future__ import annotations

_MIDDLE = {
    "skull": "skull_vertex glabella sellion nuchale opisthocranion",
    "jaw": "supramenton menton",
    "c7": "cervicale",
    "c4": "adams_apple",
    "t1": "suprasternale",
    "t6": "mesosternale spine_1_middle_back",
    "t10": "substernale",
    "l1": "spine_2_lower_back",
    "l3": "rear_center_midsagittal_plane",
    "l5": "navel waist_preferred_anterior waist_preferred_posterior",
    "pelvis": "crotch buttocks_standing_wall_contact_point",
}
_SIDES = {
    "skull": "infraorbitale tragion ectocanthus",
    "jaw": "gonion",
    "t1": "neck_base",
    "t6": "thelion chest_midsagittal_plane",
    "t10": "rib10",
    "pelvis": "asis iliocristale psis",
    "*_clavicle": "clavicle",
    "*_scapula": "acromion axilla_posterior_folds",
    "*_upperarm": "axilla_proximal axilla_distal bideltoid humeral_lateral_epicondyle"
    " humeral_medial_epicondyle",
    "*_forearm": "olecranon radiale ulnar_styloid radial_styloid",
    "*_carpal_proximal_phalanx_2": "metacarpal_phalanx_2",
    "*_carpal_proximal_phalanx_3": "metacarpal_phalanx_3",
    "*_carpal_proximal_phalanx_5": "metacarpal_phalanx_5",
    "*_thigh": "trochanterion femoral_lateral_epicondyle femoral_medial_epicondyle suprapatella knee_crease",
    "*_calf": "tibiale medial_malleolus lateral_malleolus sphyrion",
    "*_calcaneus": "calcaneus_posterior",
    "*_tarsal_proximal_phalanx_1": "metatarsal_phalanx_1",
    "*_tarsal_proximal_phalanx_5": "metatarsal_phalanx_5",
    "*_tarsal_middle_phalanx_2": "dactylion",
}


def _feature_points() -> dict[str, str]:
    points = {point: segment for segment, names in _MIDDLE.items() for point in names.split()}
    for side in "lr":
        for segment, names in _SIDES.items():
            points |= {f"{side}_{point}": segment.replace("*", side) for point in names.split()}
        for ray in range(1, 6):
            for part in ("carpal", "tarsal"):
                tip = f"{side}_{part}_distal_phalanx_{ray}"
                points[tip] = tip
    return points


FEATURE_POINTS: dict[str, str] = _feature_points()
"""Every feature point by its name, and the segment it lies on."""


def site_name(feature_point: str) -> str:
    """What a file calls the site at a feature point: ``l_acromion`` becomes ``l_acromion_pt``."""
    return f"{feature_point}_pt"


def feature_point(site: str) -> str | None:
    """The feature point a file's site stands at, None for sites with names of their own."""
    bare = site.removesuffix("_pt")
    return bare if bare in FEATURE_POINTS else None
