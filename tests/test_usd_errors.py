"""Bad USD files are refused with one message that names file and element and says how to mend it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ecorche.errors import EcorcheError, MeshError, MotionError, ReadError, SkeletonError
from ecorche.io.usd import read_character, read_mesh, read_motion
from usd_scenes import FACES, RIG, SKIN, mesh, scene

ZERO_SCALE = RIG.replace(
    "((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,2,0,1))", "((0,0,0,0),(0,1,0,0),(0,0,1,0),(0,2,0,1))"
)


def refused(path: Path, error: type[EcorcheError]) -> str:
    with pytest.raises(error) as caught:
        read_character(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", ["text.usda", "binary.usdc", "any.usd", "package.usdz"])
@pytest.mark.parametrize("content", [b"", b"hello world", b"PXR-USDC" + bytes(200), b"#usda 1.0\ndef Mesh"])
def test_not_usd(tmp_path: Path, name: str, content: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    refused(path, ReadError)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("part", [0.3, 0.7, 0.99])
def test_truncated(tmp_path: Path, part: float, capfd: pytest.CaptureFixture[str]) -> None:
    whole = scene(tmp_path, RIG, mesh()).read_bytes()
    path = tmp_path / "cut.usda"
    path.write_bytes(whole[: int(len(whole) * part)])
    message = refused(path, ReadError)
    assert "is not a readable USD file" in message
    assert "pxrInternal" not in message
    assert capfd.readouterr().err == ""


CASES = {
    "no mesh": ((RIG,), ReadError, "shows no mesh"),
    "no skeleton": ((mesh(skin=""),), ReadError, "no skeleton and no posed points"),
    "nothing bound": ((RIG, mesh(skin="")), ReadError, "no mesh is bound"),
    "joint outside": (
        (RIG, mesh(skin=SKIN.replace("[0, 1, 0, 1, 2,", "[0, 1, 0, 1, 7,"))),
        MeshError,
        "vertex 2 names joint 7, but only 0 to 2 exist",
    ),
    "weights zero": (
        (RIG, mesh(skin=SKIN.replace("0.5, 0.5, 1, 0,", "0.5, 0.5, 0, 0,"))),
        MeshError,
        "vertex 2 has no weight at all",
    ),
    "too few weights": (
        (RIG, mesh(skin=SKIN.replace(", 0.25, 0.75]", "]"))),
        MeshError,
        "8 joint indices and 6 weights, but 4 × 2 are needed",
    ),
    "unknown joint": (
        (RIG, mesh(skin=SKIN + '        uniform token[] skel:joints = ["hip", "arm", "hip/knee"]\n')),
        MeshError,
        "weighted to joint 'arm', which the skeleton lacks",
    ),
    "nan points": (
        (RIG, mesh(faces=FACES.replace("(1, 3, 0)", "(1, nan, 0)"))),
        MeshError,
        "vertex 2 is not",
    ),
    "corner outside": (
        (RIG, mesh(faces=FACES.replace("[0, 1, 2, 3]", "[0, 1, 2, 9]"))),
        MeshError,
        "corner 3 is 9, but only 0 to 3 exist",
    ),
    "faces do not fit": (
        (RIG, mesh(faces=FACES.replace("[4]", "[5]"))),
        MeshError,
        "need 5 corners but 4 are given",
    ),
    "bind not invertible": (
        (ZERO_SCALE, mesh()),
        SkeletonError,
        "bindTransforms of joint 'hip/knee/toe' cannot be inverted",
    ),
    "bind missing some": (
        (RIG.replace(",\n            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,2,0,1))]", "]"), mesh()),
        SkeletonError,
        "bindTransforms holds 2 matrices for 3 joints",
    ),
    "two joints alike": (
        (RIG.replace('"hip/knee/toe"', '"hip/knee"'), mesh()),
        SkeletonError,
        "two joints have the path 'hip/knee'",
    ),
    "animation does not fit": (
        (RIG.replace("translations = [(0, 1, 0), (0, 0, 0)]", "translations = [(0, 1, 0)]"), mesh()),
        ReadError,
        "translations has 1 values for 2 names at time code 12",
    ),
    "animation not finite": (
        (RIG.replace("translations = [(0, 1, 0),", "translations = [(0, inf, 0),"), mesh()),
        ReadError,
        "not a finite number at time code 12",
    ),
    "blend shape without target": (
        (RIG, mesh(more='        uniform token[] skel:blendShapes = ["smile"]\n')),
        MeshError,
        "1 blend shapes but has 0 targets",
    ),
    "primvar too short": (
        (RIG, mesh(more='        float[] primvars:mask = [1, 2] ( interpolation = "vertex" )\n')),
        MeshError,
        "primvar 'mask' has 2 values for 4 elements",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_values(tmp_path: Path, case: str) -> None:
    parts, error, words = CASES[case]
    message = refused(scene(tmp_path, *parts), error)
    assert words in message


def test_faces_that_change(tmp_path: Path) -> None:
    faces = FACES + "        int[] faceVertexIndices.timeSamples = { 0: [0, 1, 2, 3], 1: [3, 2, 1, 0] }\n"
    assert "faces change over time" in refused(scene(tmp_path, RIG, mesh(faces=faces)), MeshError)


def test_a_cache_that_changes_its_points(tmp_path: Path) -> None:
    faces = FACES + "        point3f[] points.timeSamples = { 0: [(0, 0, 0)], 1: [(0, 0, 1)] }\n"
    path = scene(tmp_path, mesh(skin="", faces=faces), root="Xform")
    cache = read_character(path).cache
    assert cache is not None
    with pytest.raises(MeshError, match="1 points at time code 0, but 4 at bind") as caught:
        cache[0]
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(("metres", "words"), [("0", "metersPerUnit is 0"), ("-1", "metersPerUnit is -1")])
def test_bad_units(tmp_path: Path, metres: str, words: str) -> None:
    assert words in refused(scene(tmp_path, RIG, mesh(), metres=metres), ReadError)


def test_motion_and_mesh(tmp_path: Path) -> None:
    path = scene(tmp_path, RIG, mesh())
    with pytest.raises(MotionError, match=r"no animation 'anim'. Did you mean 'Anim'\?"):
        read_motion(path, "anim")
    bare = scene(tmp_path, mesh(skin=""), root="Xform", name="bare.usda")
    with pytest.raises(MotionError, match="no skeleton"):
        read_motion(bare)
    with pytest.raises(ReadError, match="shows no mesh"):
        read_mesh(scene(tmp_path, RIG, name="rig.usda"))
