"""Muscles of a rig from those of a musculoskeletal model, by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecorche.biomech.muscle_map import MuscleMap, map_muscles, read_muscle_map
from ecorche.biomech.muscle_names import KnownMuscle, meant_by, side_of
from ecorche.errors import EcorcheError

RIG = (
    ("gluteus medius, anterior, right", "gluteus medius"),
    ("gluteus medius, posterior, right", "gluteus medius"),
    ("soleus, medial, right", "soleus"),
    ("soleus, lateral, right", "soleus"),
    ("soleus, medial, left", "soleus"),
    ("biceps brachii, long head, right", "biceps brachii"),
    ("gastrocnemius, right", ""),
)
MODEL = ("glmed1_r", "glmed2_r", "glmed3_r", "soleus_r", "soleus_l", "gaslat_r", "gasmed_r", "psoas_r")


def _taken(found: MuscleMap, name: str) -> dict[str, float]:
    row = found.shares[found.rig.index(name)]
    return {found.model[k]: float(row[k]) for k in np.flatnonzero(row)}


@pytest.mark.parametrize(
    ("name", "muscle", "parts", "side"),
    [
        ("bflh_r", "biceps femoris", ("long head",), "right"),
        ("BIClong", "biceps brachii", ("long head",), ""),
        ("EDC3", "extensor digitorum", (), ""),
        ("IL_R10_l", "erector spinae", ("iliocostalis",), "left"),
        ("MF_m1t.2_r", "multifidus", (), "right"),
        ("QL_ant_I.2-12.1_l", "quadratus lumborum", (), "left"),
        ("rect_abd_r", "rectus abdominis", (), "right"),
        ("glut_med1_l", "gluteus medius", ("anterior",), "left"),
        ("r_vas_lat", "vastus lateralis", (), "right"),
        ("tibialis_posterior_right", "tibialis posterior", (), "right"),
    ],
)
def test_short_names_are_read(name: str, muscle: str, parts: tuple[str, ...], side: str) -> None:
    assert meant_by(name) == (KnownMuscle(muscle, parts), side)


def test_sides_are_read_of_names_of_rigs_too() -> None:
    assert side_of("biceps brachii, long head, right") == ("biceps brachii, long head", "right")
    assert side_of("rectus abdominis") == ("rectus abdominis", "")


def test_parts_go_to_parts_and_what_is_undivided_to_all() -> None:
    found = map_muscles(RIG, MODEL, np.array([2.0, 1.0, 3.0, 1.0, 1.0, 1.0, 3.0, 1.0]))
    third = pytest.approx(1.0 / 3.0)
    assert _taken(found, RIG[0][0]) == {"glmed1_r": pytest.approx(2.0 / 3.0), "glmed2_r": third}
    assert _taken(found, RIG[1][0]) == {"glmed2_r": pytest.approx(0.25), "glmed3_r": pytest.approx(0.75)}
    assert _taken(found, RIG[2][0]) == _taken(found, RIG[3][0]) == {"soleus_r": 1.0}
    assert _taken(found, RIG[4][0]) == {"soleus_l": 1.0}
    # a rig that does not tell the heads apart takes the mean, the stronger head counting more
    assert _taken(found, RIG[6][0]) == {"gaslat_r": 0.25, "gasmed_r": 0.75}
    assert found.matched.tolist() == [True, True, True, True, True, False, True]
    np.testing.assert_allclose(found.shares.sum(axis=1), found.matched)


def test_activations_are_means_and_who_has_nobody_follows_what_else_is_said() -> None:
    found = map_muscles(RIG, MODEL)
    of_model = np.array([[0.2, 0.4, 0.6, 0.5, 0.1, 0.0, 1.0, 0.9]])
    active = found.activation(of_model, otherwise=np.full((1, 7), 0.07))
    np.testing.assert_allclose(active, [[0.3, 0.5, 0.5, 0.5, 0.1, 0.07, 0.5]])
    told = found.notes()
    assert told[0] == "6 of 7 muscles show 8 of the model: 6 by name"
    assert told[1] == "the model has none for 'biceps brachii, long head, right': they follow the joints"
    assert told[2] == "the rig has none for 'psoas_r': they pull, and do not show"


def test_a_model_without_sides_is_a_right_one() -> None:
    found = map_muscles([*RIG, ("biceps brachii, long head, left", "biceps brachii")], ("BIClong", "BRA"))
    assert _taken(found, RIG[5][0]) == {"BIClong": 1.0}
    assert not found.matched[-1]


def test_a_table_by_hand_is_read_and_what_is_wrong_in_it_is_told(tmp_path: Path) -> None:
    table = tmp_path / "map.csv"
    table.write_text(
        'muscle,model\n"soleus, medial, right",psoas_r\n"soleus, medial, right",soleus_r\n\ncalf,\n'
    )
    assert read_muscle_map(table) == {"soleus, medial, right": ["psoas_r", "soleus_r"], "calf": []}
    found = map_muscles(RIG, MODEL, by_hand={"gastrocnemius, right": []})
    assert not found.matched[-1]
    assert found.how == (*["name"] * 5, "", "")
    for text, message in (
        ("soleus,soleus_r\n", "has no columns muscle, model"),
        ("muscle,model\nsoleus, medial, right,soleus_r\n", "line 2.*between quotes"),
        ("muscle,model\ncalf,soleus_r\ncalf,soleus_r\n", "line 3: 'calf' takes 'soleus_r' twice"),
    ):
        table.write_text(text)
        with pytest.raises(EcorcheError, match=message):
            read_muscle_map(table)
    with pytest.raises(EcorcheError, match="cannot be read"):
        read_muscle_map(tmp_path / "none.csv")


def test_what_is_said_by_hand_wins_and_must_exist() -> None:
    found = map_muscles(RIG, MODEL, by_hand={RIG[5][0]: ["psoas_r"]})
    assert _taken(found, RIG[5][0]) == {"psoas_r": 1.0}
    with pytest.raises(EcorcheError, match=r"the rig has no muscle 'soleus, medial, rigth'.*Did you mean"):
        map_muscles(RIG, MODEL, by_hand={"soleus, medial, rigth": ["psoas_r"]})
    with pytest.raises(EcorcheError, match=r"the model has no muscle 'psaos_r'.*Did you mean 'psoas_r'"):
        map_muscles(RIG, MODEL, by_hand={RIG[5][0]: ["psaos_r"]})
