"""Which muscles the short names of musculoskeletal models mean: ``bflh_r``, a long head of biceps femoris.

Models of legs, arms and trunk that OpenSim and MuJoCo users share call their muscles by letters and numbers;
the table holds those of the Rajagopal, gait2392, arm26, Holzbaur and full-body MyoSuite families. A name
that is not among them is taken as it is, its underlines as spaces: a model may as well say what it means.
"""

from __future__ import annotations

import re
from typing import NamedTuple

Side = str
"""``"left"``, ``"right"``, or empty where a name tells none."""


class KnownMuscle(NamedTuple):
    """What a name means.

    Attributes:
        muscle: The muscle, such as "biceps femoris".
        parts: Those of its parts that it is, in words a rig's muscles are called by; none is all of it.
    """

    muscle: str
    parts: tuple[str, ...] = ()


def _known(muscle: str, *parts: str) -> KnownMuscle:
    return KnownMuscle(muscle, parts)


_TABLE = {
    # leg
    "addbrev": _known("adductor brevis"),
    "addlong": _known("adductor longus"),
    "addmag": _known("adductor magnus"),
    "addmagdist": _known("adductor magnus"),
    "addmagisch": _known("adductor magnus"),
    "addmagmid": _known("adductor magnus"),
    "addmagprox": _known("adductor magnus"),
    "add_brev": _known("adductor brevis"),
    "add_long": _known("adductor longus"),
    "add_mag": _known("adductor magnus"),
    "bflh": _known("biceps femoris", "long head"),
    "bfsh": _known("biceps femoris", "short head"),
    "bifemlh": _known("biceps femoris", "long head"),
    "bifemsh": _known("biceps femoris", "short head"),
    "hamstrings": _known("semimembranosus"),
    "dfl": _known("flexor digitorum longus"),
    "edl": _known("extensor digitorum longus"),
    "ext_dig": _known("extensor digitorum longus"),
    "ehl": _known("extensor hallucis longus"),
    "ext_hal": _known("extensor hallucis longus"),
    "fdl": _known("flexor digitorum longus"),
    "flex_dig": _known("flexor digitorum longus"),
    "fhl": _known("flexor hallucis longus"),
    "flex_hal": _known("flexor hallucis longus"),
    "gaslat": _known("gastrocnemius", "lateral"),
    "gasmed": _known("gastrocnemius", "medial"),
    "lat_gas": _known("gastrocnemius", "lateral"),
    "med_gas": _known("gastrocnemius", "medial"),
    "gastroc": _known("gastrocnemius"),
    "glmax1": _known("gluteus maximus", "upper"),
    "glmax2": _known("gluteus maximus"),
    "glmax3": _known("gluteus maximus", "lower"),
    "glut_max": _known("gluteus maximus"),
    "glut_max1": _known("gluteus maximus", "upper"),
    "glut_max2": _known("gluteus maximus"),
    "glut_max3": _known("gluteus maximus", "lower"),
    "glmed1": _known("gluteus medius", "anterior"),
    "glmed2": _known("gluteus medius"),
    "glmed3": _known("gluteus medius", "posterior"),
    "glut_med1": _known("gluteus medius", "anterior"),
    "glut_med2": _known("gluteus medius"),
    "glut_med3": _known("gluteus medius", "posterior"),
    "glmin": _known("gluteus minimus"),
    "glut_min": _known("gluteus minimus"),
    "grac": _known("gracilis"),
    "gra": _known("gracilis"),
    "iliacus": _known("iliacus"),
    "iliopsoas": _known("iliopsoas"),
    "psoas": _known("psoas major"),
    "pect": _known("pectineus"),
    "perbrev": _known("fibularis brevis"),
    "per_brev": _known("fibularis brevis"),
    "perlong": _known("fibularis longus"),
    "per_long": _known("fibularis longus"),
    "pertert": _known("fibularis tertius"),
    "per_tert": _known("fibularis tertius"),
    "piri": _known("piriformis"),
    "peri": _known("piriformis"),
    "quad_fem": _known("quadratus femoris"),
    "recfem": _known("rectus femoris"),
    "rect_fem": _known("rectus femoris"),
    "sart": _known("sartorius"),
    "sar": _known("sartorius"),
    "semimem": _known("semimembranosus"),
    "semiten": _known("semitendinosus"),
    "soleus": _known("soleus"),
    "tfl": _known("tensor fasciae latae"),
    "tibant": _known("tibialis anterior"),
    "tib_ant": _known("tibialis anterior"),
    "tibpost": _known("tibialis posterior"),
    "tib_post": _known("tibialis posterior"),
    "vasint": _known("vastus intermedius"),
    "vas_int": _known("vastus intermedius"),
    "vasti": _known("vastus lateralis"),
    "vaslat": _known("vastus lateralis"),
    "vas_lat": _known("vastus lateralis"),
    "vasmed": _known("vastus medialis"),
    "vas_med": _known("vastus medialis"),
    # arm and shoulder
    "anc": _known("anconeus"),
    "apl": _known("abductor pollicis longus"),
    "biclong": _known("biceps brachii", "long head"),
    "bicshort": _known("biceps brachii", "short head"),
    "bra": _known("brachialis"),
    "brd": _known("brachioradialis"),
    "corb": _known("coracobrachialis"),
    "delt1": _known("deltoid", "anterior"),
    "delt2": _known("deltoid", "middle"),
    "delt3": _known("deltoid", "posterior"),
    "ecrb": _known("extensor carpi radialis brevis"),
    "ecrl": _known("extensor carpi radialis longus"),
    "ecu": _known("extensor carpi ulnaris"),
    "edc": _known("extensor digitorum"),
    "edm": _known("extensor digiti minimi"),
    "eip": _known("extensor indicis"),
    "epb": _known("extensor pollicis brevis"),
    "epl": _known("extensor pollicis longus"),
    "fcr": _known("flexor carpi radialis"),
    "fcu": _known("flexor carpi ulnaris"),
    "fdp": _known("flexor digitorum profundus"),
    "fds": _known("flexor digitorum superficialis"),
    "fpl": _known("flexor pollicis longus"),
    "infsp": _known("infraspinatus"),
    "lat1": _known("latissimus dorsi", "upper"),
    "lat2": _known("latissimus dorsi", "middle"),
    "lat3": _known("latissimus dorsi", "lower"),
    "pecm1": _known("pectoralis major", "clavicular"),
    "pecm2": _known("pectoralis major", "sternal"),
    "pecm3": _known("pectoralis major", "abdominal"),
    "pl": _known("palmaris longus"),
    "pq": _known("pronator quadratus"),
    "pt": _known("pronator teres"),
    "subsc": _known("subscapularis"),
    "sup": _known("supinator"),
    "supsp": _known("supraspinatus"),
    "tmaj": _known("teres major"),
    "tmin": _known("teres minor"),
    "trilat": _known("triceps brachii", "lateral head"),
    "trilong": _known("triceps brachii", "long head"),
    "trimed": _known("triceps brachii", "medial head"),
    # trunk
    "ercspn": _known("erector spinae"),
    "extobl": _known("external oblique"),
    "eo": _known("external oblique"),
    "intobl": _known("internal oblique"),
    "io": _known("internal oblique"),
    "il": _known("erector spinae", "iliocostalis"),
    "ltpl": _known("erector spinae", "longissimus"),
    "ltpt": _known("erector spinae", "longissimus"),
    "mf": _known("multifidus"),
    "ps": _known("psoas major"),
    "ql": _known("quadratus lumborum"),
    "rect_abd": _known("rectus abdominis"),
}

_SIDES = {"r": "right", "right": "right", "l": "left", "left": "left"}


def side_of(name: str) -> tuple[str, Side]:
    """A name without its side, and the side: ``("bflh", "right")`` of "bflh_r"."""
    found = re.fullmatch(r"(.+?)[_ ,.-]+(r|l|right|left)", name.strip(), re.IGNORECASE)
    if found is None:
        found = re.fullmatch(r"()(r|l|right|left)[_ ,.-]+(.+)", name.strip(), re.IGNORECASE)
        if found is None:
            return name.strip(), ""
        return found[3], _SIDES[found[2].lower()]
    return found[1], _SIDES[found[2].lower()]


def meant_by(name: str) -> tuple[KnownMuscle, Side]:
    """The muscle that a model means by a name, and its side."""
    base, side = side_of(name)
    short = base.lower()
    # numbers of slips and levels of the spine: EDC3, EO2, IL_R10, LTpT_T4, MF_m1t.2
    for trial in (short, re.sub(r"\d+$", "", short), short.split("_")[0], re.sub(r"\d.*$", "", short)):
        if trial in _TABLE:
            return _TABLE[trial], side
    return KnownMuscle(re.sub(r"[_\s]+", " ", short).strip()), side
