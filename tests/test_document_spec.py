"""The rig file's text: read strictly, refused with file, line, field and remedy, upgraded, described."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from ecorche.document import text
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.document.files import spec_from_text, text_from_spec
from ecorche.document.migrate import MIGRATIONS, migrate
from ecorche.document.schema import SCHEMA_FILE, schema_text, write_schema
from ecorche.document.spec import VERSION, RigSpec
from ecorche.document.springs_spec import SpringsSpec
from ecorche.errors import DocumentError
from ecorche.skeleton.human_limits import human_joint, human_joint_names
from ecorche.skeleton.joint_values import joint_from_values, values_from_joint
from tube_document import FIXTURES, VALID, refusal


def line_of(fragment: str, document: dict[str, Any]) -> int:
    lines = text.layout(document).splitlines()
    return next(number for number, line in enumerate(lines, 1) if fragment in line)


def test_reading_and_writing_gives_the_same_text() -> None:
    original = (FIXTURES / f"tube-version-{VERSION}.ecorche").read_text()
    assert text_from_spec(spec_from_text(original, "tube")) == original


def test_version_1_is_read_as_a_rig_without_muscles() -> None:
    old = (FIXTURES / "tube-version-1.ecorche").read_text()
    spec = spec_from_text(old, "tube")
    assert spec.version == VERSION
    assert spec.muscles.named == {}
    assert spec.skeleton.virtual_scapulae == {}
    again = json.loads(text_from_spec(spec))
    before = json.loads(old)
    assert again.pop("muscles") == {
        "named": {},
        "lofted": {},
        "lines": {},
        "fields": {},
        "volume": "exact",
        "activation": {"source": "joints", "value": 0.0},
        "gains": {},
    }
    assert again.pop("coupling") == json.loads(CouplingSpec().model_dump_json())
    assert again.pop("fat") == {"regions": {}, "gravity": 9.81}
    assert again.pop("springs") == json.loads(SpringsSpec().model_dump_json())
    assert again.pop("wrinkles") == {}
    assert again.pop("body_type") == {"bulk": 1.0, "fat": 0.0}
    assert again["skeleton"].pop("virtual_scapulae") == {}
    for new in ("virtual_scapulae", "muscles", "lofted"):
        assert again["skeleton"]["set_aside"].pop(new) == {}
    assert again == {**before, "version": VERSION}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda d: d.update(skinnig={}), ["unknown field 'skinnig'", "Did you mean 'skinning'?"]),
        (
            lambda d: d["skinning"].update(metod="linear"),
            ["skinning: unknown field 'metod'", "Did you mean 'method'?"],
        ),
        (
            lambda d: d["skinning"].update(method="liner"),
            ['skinning.method: "liner" is none of the choices', "'linear'"],
        ),
        (
            lambda d: d["skeleton"]["joints"]["upper"].update(model="kne"),
            ["skeleton.joints.upper.model: there is no joint model 'kne'", "Did you mean 'knee'?"],
        ),
        (
            lambda d: d["skeleton"]["joints"]["upper"].pop("model"),
            ["skeleton.joints.upper: the field 'model' is missing", "'ball_and_socket'"],
        ),
        (
            lambda d: d["skeleton"]["joints"]["upper"]["limits"].update(flexion=[10, -10]),
            ["skeleton.joints.upper.limits.flexion: the least angle 10 exceeds the greatest -10"],
        ),
        (
            lambda d: d["skeleton"]["joints"]["upper"]["limits"].pop("twist"),
            ["skeleton.joints.upper.limits: the field 'twist' is missing", "Add it"],
        ),
        (
            lambda d: d["skeleton"]["joints"]["upper"]["limits"].update(polygon=[]),
            ["limits: unknown field 'polygon'", "Known: 'flexion', 'twist', 'narrowing', 'play'"],
        ),
        (
            lambda d: d["skeleton"]["joints"]["lower"].update(anatomical_frame=[0, 0, 0, 2]),
            ["skeleton.joints.lower.anatomical_frame: the quaternion has length 2, not 1", "Divide"],
        ),
        (
            lambda d: d["skeleton"]["joints"]["lower"]["limits"]["polygon"].__setitem__(2, [0, 0, 0]),
            ["skeleton.joints.lower.limits.polygon[2]: the direction has no length"],
        ),
        (
            lambda d: d["skeleton"]["joints"]["lower"]["limits"]["twist_keys"].__setitem__(1, [0, 0, 5, 1]),
            ["limits.twist_keys[1]: the least angle 5 exceeds the greatest 1"],
        ),
        (
            lambda d: d["skeleton"]["joints"].update({"mixamorig:Hips": 3}),
            ['skeleton.joints["mixamorig:Hips"]: 3 is not', "Write an object in { }"],
        ),
        (lambda d: d.update(name=7), ["name: 7 is not text in quotes"]),
        (lambda d: d.update(notes="one"), ['notes: "one" is not a list in [ ]']),
        (lambda d: d["character"].pop("hash"), ["character: the field 'hash' is missing"]),
        (lambda d: d["character"]["hash"].update(points="md5:12"), ['character.hash.points: "md5:12"']),
        (lambda d: d["character"].update(path="/home/man.glb"), ["character.path", "relative path"]),
        (lambda d: d["character"].update(path="C:\\man.glb"), ["character.path", "forward slashes"]),
        (lambda d: d["arrays"].update(file="../../secret.npz"), ["arrays.file"]),
        (lambda d: d["maps"].update({"../x": {"mesh": "tube"}}), ['maps["../x"]']),
        (lambda d: d.update(version="1"), ["version '1' is not a whole number"]),
        (lambda d: d.update(version=0), ["version 0 is not a whole number from 1"]),
        (lambda d: d.update(version=True), ["version True is not a whole number"]),
        (lambda d: d.pop("version"), ["'version' is missing", f'Add "version": {VERSION}']),
        (
            lambda d: d.update(version=7),
            [f"written by a newer Ecorche (version 7; this one reads up to {VERSION})", "Upgrade"],
        ),
    ],
)
def test_what_is_wrong_is_named(change: Callable[[dict[str, Any]], object], parts: list[str]) -> None:
    message = refusal(change)
    assert message.startswith("man.ecorche")
    for part in parts:
        assert part in message


FLEXOR = 'muscles.named["flexor, left"]'


def flexor(document: dict[str, Any]) -> Any:
    return document["muscles"]["named"]["flexor, left"]


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda m: m.update(thicknes=[]), [": unknown field 'thicknes'", "Did you mean 'thickness'?"]),
        (lambda m: m.update(largest_bulge=0.0), [".largest_bulge: 0.0 is not at least 1", "Write a number"]),
        (lambda m: m.update(largest_bulge=-1.3), [".largest_bulge: -1.3 is not at least 1"]),
        (lambda m: m.update(largest_bulge=4.0), [".largest_bulge: 4.0 is not at most 3"]),
        (lambda m: m.update(scale=0.0), [".scale: 0.0 is not above 0"]),
        (lambda m: m.update(belly=1.0), [".belly: 1.0 is not below 1"]),
        (lambda m: m.update(max_force=-1.0), [".max_force: -1.0 is not at least 0"]),
        (lambda m: m.update(outward=[0.0, 0.0, 0.0]), [".outward: the direction has no length"]),
        (lambda m: m.update(path=m["path"][:1]), [".path: the list has 1 entries, not 2", "Write 2"]),
        (
            lambda m: [point.update(joint="upper") for point in m["path"]],
            [".path: both ends move with one joint, 'upper'", "Attach one end to the bone it moves"],
        ),
        (
            lambda m: m["path"].insert(1, dict(m["path"][1])),
            [".path[2]: the points 1 and 2 are the same", "Move them apart"],
        ),
        (lambda m: m["path"][1].update(at=[0.0, 1.0]), [".path[1].at: the list has 2 entries only"]),
        (
            lambda m: m["path"][1].update(at=[0.0, 1.0, 2.0, 3.0]),
            [".path[1].at: the list has 4 entries, not 3"],
        ),
        (
            lambda m: m["thickness"][0].__setitem__(1, -0.01),
            [".thickness[0][1]: -0.01 is not at least 0"],
        ),
        (
            lambda m: m["thickness"][1].__setitem__(0, 0.03),
            [".thickness[1][0]: the two halves do not meet at the belly: 0.02 before it, 0.03 after it"],
        ),
        (
            lambda m: m["thickness"][1].__setitem__(1, 0.03),
            [".thickness[1][1]: there is a crease at the belly", "Write 0.02 there"],
        ),
        (
            lambda m: [m["thickness"][0].__setitem__(3, 0.0), m["thickness"][1].__setitem__(0, 0.0)],
            [".thickness[0][3]: the belly has no thickness"],
        ),
        (lambda m: m["sweep"][0].__setitem__(0, [0.0, 0.1]), [".sweep[0][0]: ", "off the origin"]),
        (lambda m: m["sweep"][1].__setitem__(3, [0.1, 0.0]), [".sweep[1][3]: ", "off the insertion"]),
        (
            lambda m: m["sweep"][1][0].__setitem__(1, 0.2),
            [".sweep[1][0][1]: the two halves do not meet at the belly: 0.001 before it, 0.2 after it"],
        ),
        (
            lambda m: m["sweep"][1][1].__setitem__(0, 0.0),
            [".sweep[1][1][0]: there is a crease", "Write -0.003 there"],
        ),
        (
            lambda m: m["actions"][0].update(degrees=[5.0, 180.0]),
            [".actions[0].degrees: the range 5 to 180 degrees", "between -180 and 180"],
        ),
        (lambda m: m["actions"][0].update(degrees=[5.0, 5.0]), [".actions[0].degrees: the range 5 to 5"]),
        (lambda m: m["actions"][0].update(weight=1.5), [".actions[0].weight: 1.5 is not at most 1"]),
        (
            lambda m: m["influence"].update(neighbourhood="round"),
            ['.influence.neighbourhood: "round" is none of the choices', "'radial'"],
        ),
        (lambda m: m["influence"].update(radius=0.0), [".influence.radius: 0.0 is not above 0"]),
        (
            lambda m: m["influence"].update(painted="over the muscel"),
            [".influence.painted: there is no map 'over the muscel'", "Did you mean 'over the muscle'?"],
        ),
    ],
)
def test_what_is_wrong_with_a_muscle_is_named(change: Callable[[Any], object], parts: list[str]) -> None:
    message = refusal(lambda d: change(flexor(d)))
    assert message.startswith("man.ecorche, line ")
    assert FLEXOR + parts[0] in message
    for part in parts[1:]:
        assert part in message


def test_gains_are_given_to_groups_there_are() -> None:
    message = refusal(lambda d: d["muscles"]["gains"].update({"tube flexor": 2.0}))
    assert 'muscles.gains["tube flexor"]: no muscle is one of the' in message
    assert "Did you mean 'tube flexors'?" in message
    assert 'muscles.gains["tube flexors"]: 11.0 is not at most 10' in refusal(
        lambda d: d["muscles"]["gains"].update({"tube flexors": 11.0})
    )


def test_messages_name_the_line() -> None:
    document = copy.deepcopy(VALID)
    document["skeleton"]["joints"]["upper"]["limits"]["narowing"] = 3
    number = line_of("narowing", document)
    assert f"man.ecorche, line {number}, skeleton.joints.upper.limits: unknown field 'narowing'" in refusal(
        lambda d: d["skeleton"]["joints"]["upper"]["limits"].update(narowing=3)
    )
    document = {**VALID, "body": 12}
    assert f"line {line_of('body', document)}, body" in refusal(lambda d: d.update(body=12))


def test_several_problems_are_counted() -> None:
    def spoil(document: dict[str, Any]) -> None:
        document.update(name=1, body=2, notes=3)

    assert "There are 2 more problems" in refusal(spoil)


@pytest.mark.parametrize(
    ("broken", "parts"),
    [
        ('{\n  "version": 1\n  "name": "x"}', ["line 3, column 3", "is not JSON", "missing comma"]),
        ('{"version": 1, "name": NaN}', ["NaN is not a number"]),
        (
            '{"version": 1,\n "name": "x",\n "name": "y"}',
            ["line 3", "'name' is given twice", "first in line 2"],
        ),
        ("[]", ["is no rig"]),
        ('{"version": 1} // mine', ["is not JSON", "JSON knows no comments"]),
        ('{"version": 1, # mine\n"name": "x"}', ["is not JSON", "write what people should know into notes"]),
        ('{"version": 1,}', ["is not JSON", "Take out the comma"]),
        ("{'version': 1}", ["is not JSON", "Use double quotes"]),
        ("", ["is not JSON"]),
        ("[" * 100_000, ["nested too deeply"]),
        ("[" * 100 + "]" * 100, ["more than 64 levels deep"]),
        ('{"version": ' + "9" * 5000 + "}", ["is not JSON"]),
    ],
)
def test_text_that_is_no_rig_is_refused_with_its_place(broken: str, parts: list[str]) -> None:
    with pytest.raises(DocumentError) as caught:
        spec_from_text(broken, "man.ecorche")
    for part in parts:
        assert part in str(caught.value)


def test_infinity_in_disguise_is_refused() -> None:
    source = text.layout(VALID).replace("[0.0, 140.0]", "[0.0, 1e999]")
    with pytest.raises(DocumentError, match=r"limits\.flexion\[1\]"):
        spec_from_text(source, "man.ecorche")


plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(plain_values)
def test_layout_is_json_and_every_value_has_its_line(value: object) -> None:
    laid_out = text.layout(value)
    parsed, lines = text.parse(laid_out, "x"), text.lines_of(laid_out, "x")
    assert parsed == value == json.loads(laid_out)
    rows = laid_out.split("\n")
    for place, number in lines.items():
        if place and isinstance(place[-1], str):
            assert f"{json.dumps(place[-1], ensure_ascii=False)}:" in rows[number - 1]
        else:
            assert 1 <= number <= len(rows)


def test_lines_are_counted_only_where_something_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take ten times as long as reading."""

    def counted(content: str, where: object) -> NoReturn:
        pytest.fail("the lines of a good rig were counted")

    for module in ("text", "files"):
        monkeypatch.setattr(f"ecorche.document.{module}.lines_of", counted)
    assert spec_from_text(text.layout(VALID), "man.ecorche").version == VERSION


def test_human_joints_fit_the_file_and_come_back() -> None:
    names = [*human_joint_names()[::12], "l_knee"]
    document = copy.deepcopy(VALID)
    document["skeleton"]["joints"] = {name: values_from_joint(human_joint(name)) for name in names}
    spec = spec_from_text(text.layout(document), "man.ecorche")
    again = spec_from_text(text_from_spec(spec), "man.ecorche")
    assert again == spec
    for name in names:
        values = again.skeleton.joints[name].model_dump(mode="json")
        assert values == document["skeleton"]["joints"][name], name
        assert joint_from_values(values).model == human_joint(name).model
    assert {j.model for j in spec.skeleton.joints.values()} == {
        "revolute",
        "knee",
        "swing",
        "ball_and_socket",
    }


def test_the_spec_is_read_only() -> None:
    spec = spec_from_text(text.layout(VALID), "x")
    with pytest.raises(ValueError, match="frozen"):
        spec.name = "other"


def test_old_versions_are_upgraded_step_by_step() -> None:
    seen: list[int] = []

    def one_to_two(document: dict[str, Any]) -> dict[str, Any]:
        seen.append(document["version"])
        return {**document, "tone": document["muscles"]}

    def two_to_three(document: dict[str, Any]) -> dict[str, Any]:
        seen.append(document["version"])
        return {k: v for k, v in document.items() if k != "muscles"}

    steps = {1: one_to_two, 2: two_to_three}
    old = {"version": 1, "muscles": 5}
    assert migrate(old, "x", current=3, migrations=steps) == {"version": 3, "tone": 5}
    assert seen == [1, 2]
    assert migrate({"version": 2, "tone": 1}, "x", current=3, migrations=steps) == {"version": 3, "tone": 1}
    assert old == {"version": 1, "muscles": 5}


def test_capped_springs_of_version_4_run_in_real_time_and_the_rig_says_so() -> None:
    old = {"version": 4, "springs": {"cap": 1e6, "muscle": 2000.0}, "notes": ["mine"]}
    now = migrate(old, "x")
    assert now["springs"] == {"muscle": 2000.0, "realtime": True}
    assert now["notes"][0] == "mine"
    assert "springs.cap of 1000000.0 became springs.realtime" in now["notes"][1]
    assert migrate({"version": 4, "springs": {"cap": None}}, "x")["springs"] == {}
    assert migrate({"version": 4}, "x") == {"version": VERSION}


def test_every_version_before_this_one_has_its_migration_and_its_fixture() -> None:
    assert sorted(MIGRATIONS) == list(range(1, VERSION))
    assert RigSpec.model_fields["version"].annotation is not None
    for version in range(1, VERSION + 1):
        kept = list(FIXTURES.glob(f"*-version-{version}.ecorche"))
        assert kept, f"keep a rig of version {version} in tests/fixtures"
        for path in kept:
            assert json.loads(path.read_text())["version"] == version


def test_the_schema_file_is_what_the_spec_generates(tmp_path: Path) -> None:
    assert (ROOT / SCHEMA_FILE).read_text(encoding="utf-8") == schema_text(), (
        "run: python -m ecorche.document.schema"
    )
    write_schema(tmp_path / "schema.json")
    assert (tmp_path / "schema.json").read_text(encoding="utf-8") == schema_text()


def test_the_schema_refuses_unknown_fields_everywhere() -> None:
    schema = json.loads(schema_text())
    objects = [schema, *(d for d in schema["$defs"].values() if d.get("type") == "object")]
    assert len(objects) > 10
    assert all(o["additionalProperties"] is False for o in objects)


def test_the_page_about_the_rig_file_names_every_field() -> None:
    page = (ROOT / "docs" / "rig-file.md").read_text(encoding="utf-8")
    schema = json.loads(schema_text())
    fields = {name for part in [schema, *schema["$defs"].values()] for name in part["properties"]}
    assert len(fields) > 25
    # the hashes are told of in words
    assert [f for f in sorted(fields) if f"`{f}`" not in page] == ["points", "topology"]


def test_the_example_on_the_page_is_a_rig() -> None:
    page = (ROOT / "docs" / "rig-file.md").read_text(encoding="utf-8")
    example = page.split("```json\n")[1].split("```")[0]
    example = example.replace("ecorche1:…", "ecorche1:" + 64 * "0").replace("5064fd8f60f7…", 64 * "0")
    assert spec_from_text(example, "page").skeleton.joints["LeftLeg"].model == "knee"
