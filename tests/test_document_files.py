"""Rig files on disk: text and arrays as one pair, the same bytes every time, damage told clearly."""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
import struct
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from characters import tube
from ecorche.body.rig import create_rig
from ecorche.document import files
from ecorche.document.bind import arrays_from_bind, bind_from_arrays
from ecorche.document.files import Rig, read_rig, write_rig
from ecorche.document.sidecar import arrays_from_bytes, arrays_to_bytes
from ecorche.document.spec import VERSION, MapRef
from ecorche.errors import DocumentError, WriteError
from fuzz import damaged

FIXTURES = Path(__file__).parent / "fixtures"
FIRST, FIXTURE = (FIXTURES / f"tube-version-{version}.ecorche" for version in (1, VERSION))


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    character = tube()
    made = create_rig(character, tmp_path / "tube.glb", tmp_path / "tube.ecorche", muscles=False)
    return painted(made, character.meshes[0].mesh.points[:, 1])


def painted(rig: Rig, values: np.ndarray) -> Rig:
    spec = rig.spec.model_copy(update={"maps": {"fat": MapRef(mesh="tube")}})
    return replace(rig, spec=spec, maps={"fat": np.asarray(values, np.float32)})


def names(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()}


def test_a_rig_comes_back_as_it_was(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / "tube.ecorche"
    written = write_rig(path, rig)
    back = read_rig(path)
    assert back.spec == written
    assert back.spec == rig.spec.model_copy(update={"arrays": written.arrays})
    assert list(back.maps) == ["fat"]
    assert np.array_equal(back.maps["fat"], rig.maps["fat"])
    assert back.maps["fat"].dtype == np.float32
    old, new = arrays_from_bind(rig.bind), arrays_from_bind(back.bind)
    assert sorted(old) == sorted(new)
    assert all(np.array_equal(old[k], new[k]) and old[k].dtype == new[k].dtype for k in old)


def test_same_rig_same_bytes(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / "tube.ecorche"
    write_rig(path, rig)
    first = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    write_rig(path, read_rig(path))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == first
    assert len(first) == 2


def test_the_kept_fixture_is_still_read_and_written_alike(tmp_path: Path) -> None:
    rig = read_rig(FIXTURE)
    assert rig.spec.skinning.method == "dual_quaternion"
    assert rig.maps["softness"].dtype == np.float32
    assert rig.maps["region"].dtype == np.uint8
    assert len(rig.bind.meshes[0].points) == 30
    assert list(rig.spec.muscles.named) == ["flexor, left", "extensor, left"]
    assert list(rig.spec.muscles.lofted) == ["bulge, left", "branch, left"]
    assert rig.maps["over the muscle"].shape == (30,)
    write_rig(tmp_path / FIXTURE.name, rig)
    assert rig.spec.arrays is not None
    kept = FIXTURE.with_name(rig.spec.arrays.file)
    assert (tmp_path / kept.name).read_bytes() == kept.read_bytes()
    assert (tmp_path / FIXTURE.name).read_text() == FIXTURE.read_text()


def test_a_rig_of_the_first_version_is_read_and_written_in_this_one(tmp_path: Path) -> None:
    rig = read_rig(FIRST)
    assert rig.spec.muscles.named == {}
    spec = write_rig(tmp_path / FIRST.name, rig)
    back = read_rig(tmp_path / FIRST.name)
    assert back.spec == spec == rig.spec  # the arrays are the same, so is their hash
    assert json.loads((tmp_path / FIRST.name).read_text())["version"] == VERSION


def test_painted_weights_are_numbers_from_zero_to_one(tmp_path: Path) -> None:
    """Weights for vertices that do not exist, or that are no weights, are not read or written."""
    rig = read_rig(FIXTURE)
    good = rig.maps["over the muscle"]
    for values, told in (
        (good[:-1], r"maps\.over the muscle: the map has shape \(29,\) for the 30 vertices of mesh 'tube'"),
        (np.append(good, good), r"the map has shape \(60,\) for the 30 vertices"),
        (2.0 * good.astype(np.float64), r"influence\.painted: the map 'over the muscle' holds .* at vertex"),
        (np.full(30, np.nan), r"holds nan at vertex 0"),
        (np.zeros((30, 2)), r"does not hold one number a vertex"),
    ):
        with pytest.raises(DocumentError, match=told):
            write_rig(tmp_path / "t.ecorche", replace(rig, maps={**rig.maps, "over the muscle": values}))
    assert names(tmp_path) == set()


def test_numpy_opens_the_arrays_without_pickle(rig: Rig, tmp_path: Path) -> None:
    spec = write_rig(tmp_path / "tube.ecorche", rig)
    assert spec.arrays is not None
    with np.load(tmp_path / spec.arrays.file, allow_pickle=False) as opened:
        assert np.array_equal(opened["maps/fat"], rig.maps["fat"])
        assert np.array_equal(opened["bind/0/points"], rig.bind.meshes[0].points)
        assert opened["bind/joint_names"].tolist() == ["lower", "upper"]


def test_arrays_nobody_names_go_and_shared_ones_stay(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / "tube.ecorche"
    first = write_rig(path, rig).arrays
    second = write_rig(path, painted(rig, 2.0 * rig.maps["fat"])).arrays  # type: ignore[operator]
    assert first is not None
    assert second is not None
    assert names(tmp_path) == {"tube.ecorche", second.file}

    shutil.copy(path, tmp_path / "copy.ecorche")
    third = write_rig(path, rig).arrays
    assert third is not None
    assert names(tmp_path) == {"tube.ecorche", "copy.ecorche", second.file, third.file}
    assert np.array_equal(read_rig(tmp_path / "copy.ecorche").maps["fat"], 2.0 * rig.maps["fat"])  # type: ignore[operator]


@pytest.mark.parametrize("stopped_at", ["arrays", "text"])
def test_a_write_that_stops_half_way_leaves_the_old_pair(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped_at: str
) -> None:
    path = tmp_path / "tube.ecorche"
    write_rig(path, rig)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    real = Path.replace

    def stop(self: Path, target: Path) -> Path:
        if (target.suffix == ".npz") == (stopped_at == "arrays"):
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        write_rig(path, painted(rig, 2.0 * rig.maps["fat"]))  # type: ignore[operator]
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_a_power_cut_between_the_two_leaves_the_old_pair_and_is_cleaned_up(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / "tube.ecorche"
    write_rig(path, rig)
    old_text = path.read_bytes()
    new = write_rig(path, painted(rig, 2.0 * rig.maps["fat"]))  # type: ignore[operator]
    assert new.arrays is not None
    orphan = (tmp_path / new.arrays.file).read_bytes()
    write_rig(path, rig)
    assert path.read_bytes() == old_text
    (tmp_path / new.arrays.file).write_bytes(orphan)  # as if the second rename had never happened
    assert np.array_equal(read_rig(path).maps["fat"], rig.maps["fat"])
    write_rig(path, rig)
    assert len(names(tmp_path)) == 2


def test_a_map_taken_out_of_the_text_is_gone(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / "tube.ecorche"
    write_rig(path, rig)
    document = json.loads(path.read_text())
    document["maps"] = {}
    path.write_text(json.dumps(document))
    assert read_rig(path).maps == {}


def spoil_hash(path: Path, arrays: Path) -> None:
    arrays.write_bytes(arrays.read_bytes()[:-1] + b"x")


def spoil_rename_map(path: Path, arrays: Path) -> None:
    path.write_text(path.read_text().replace('"fat": {"mesh"', '"fatt": {"mesh"'))


def spoil_mesh(path: Path, arrays: Path) -> None:
    path.write_text(path.read_text().replace('{"mesh": "tube"', '{"mesh": "tub"'))


def spoil_encoding(path: Path, arrays: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"tube"', b'"\xff"', 1))


@pytest.mark.parametrize(
    ("spoil", "parts"),
    [
        (lambda path, arrays: arrays.unlink(), ["tube.ecorche: its arrays file", "is missing", "Restore it"]),
        (spoil_hash, [".npz: is not the arrays file that 'tube.ecorche' was written with", "Restore it"]),
        (spoil_rename_map, ["maps.fatt: the map has no values", "Did you mean 'fat'?"]),
        (spoil_mesh, ["maps.fat.mesh: there is no mesh 'tub'", "Did you mean 'tube'?"]),
        (spoil_encoding, ["is not text in UTF-8"]),
    ],
)
def test_a_broken_pair_is_told(
    rig: Rig, tmp_path: Path, spoil: Callable[[Path, Path], object], parts: list[str]
) -> None:
    path = tmp_path / "tube.ecorche"
    arrays = write_rig(path, rig).arrays
    assert arrays is not None
    spoil(path, tmp_path / arrays.file)
    with pytest.raises(DocumentError) as caught:
        read_rig(path)
    for part in parts:
        assert part in str(caught.value)


def test_a_byte_order_mark_is_no_harm(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / "tube.ecorche"
    write_rig(path, rig)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_rig(path).spec.name == "tube"


def test_a_map_of_another_length_is_not_written(rig: Rig, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"the map has shape \(3,\) for the 108 vertices of mesh 'tube'"):
        write_rig(tmp_path / "tube.ecorche", painted(rig, np.zeros(3)))
    with pytest.raises(DocumentError, match="a map 'extra' that the rig does not name"):
        write_rig(tmp_path / "tube.ecorche", replace(rig, maps={**rig.maps, "extra": rig.maps["fat"]}))
    with pytest.raises(WriteError, match=r"ends in \.ecorche"):
        write_rig(tmp_path / "tube.json", rig)
    with pytest.raises(WriteError, match="does not exist"):
        write_rig(tmp_path / "nowhere" / "tube.ecorche", rig)
    assert names(tmp_path) == set()


def entry(name: str, header: str, body: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    """A hand-made arrays file of one array with that NumPy header."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        magic = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) + 1) + header.encode() + b"\n"
        archive.writestr(f"{name}.npy", magic + body)
    return content.getvalue()


PLAIN = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "is damaged or cut short"),
        (b"PK\x03\x04 nonsense", "is damaged or cut short"),
        (entry("a", PLAIN, b"\0" * 8)[:-30], "is damaged or cut short"),
        (entry("a", PLAIN, b"\0" * 7), "a.npy: is damaged or cut short"),
        (entry("a", PLAIN.replace("(2,)", "(10**15,)"), b"\0" * 8), "is damaged or cut short"),
        (entry("a", PLAIN.replace("(2,)", "(1000000000000000,)"), b"\0" * 8), "is damaged or cut short"),
        (entry("a", PLAIN.replace("(2,)", "(-2,)"), b"\0" * 8), "is damaged or cut short"),
        (entry("a", PLAIN.replace("<f4", "|O"), b"\0" * 16), r"holds '\|O'"),
        (entry("a", PLAIN.replace("False", "True"), b"\0" * 8), "by columns"),
        (entry("a", PLAIN, b"\0" * 8, zipfile.ZIP_DEFLATED), "is compressed"),
    ],
)
def test_arrays_files_that_are_none_are_refused(content: bytes, part: str) -> None:
    with pytest.raises(DocumentError, match=part):
        arrays_from_bytes(content, "x.npz")


def test_no_damage_to_an_array_ends_in_anything_but_a_message() -> None:
    """Inside the archive, with checksums that fit, as a fuzzer of whole files would never get to."""
    kept = FIXTURE.with_name(next(FIXTURE.parent.glob(f"{FIXTURE.name}.*.npz")).name)
    with zipfile.ZipFile(kept) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    refused = 0
    for case in range(600):
        rng = random.Random(case)
        name = rng.choice(sorted(entries))
        whole = entries[name]
        border = 128 if case % 2 else len(whole)  # the header alone, or anything
        injured = {**entries, name: damaged(whole[:border], rng) + whole[border:]}
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            for entry_name, body in injured.items():
                archive.writestr(entry_name, body)
        try:
            bind_from_arrays(arrays_from_bytes(content.getvalue(), "x.npz"), "x.npz")
        except DocumentError:
            refused += 1
    assert 300 < refused < 600


def test_big_endian_numbers_are_written_little() -> None:
    values = np.array([1.0, 2.0], ">f8")
    content = arrays_to_bytes({"a": values})
    assert content == arrays_to_bytes({"a": values.astype("<f8")})
    assert arrays_from_bytes(content, "x")["a"].tolist() == [1.0, 2.0]
    # fixed for ever: other machines and NumPy versions have to write these very bytes
    assert hashlib.sha256(content).hexdigest() == (
        "278dba59bf3a24def7cf95318c7eaa45bcc76b3220d843832be57a9b8d089105"
    )


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("bind/0/points", None, "'bind/0/points' is missing"),
        ("bind/0/points", np.zeros((108, 2), np.float32), "'bind/0/points' is missing or of the wrong shape"),
        ("bind/0/points", np.full((108, 3), np.nan, np.float32), "positions that are not numbers"),
        ("bind/0/face_counts", np.full(192, 4, np.int32), "faces that do not add up"),
        ("bind/0/face_indices", np.full(576, 108, np.int32), "vertices that do not exist"),
        ("bind/joint_parents", np.array([1, 0], np.int32), "a joint stands before its parent"),
        ("bind/joint_parents", np.array([-1], np.int32), "the joints do not add up"),
        ("bind/joint_world", np.full((2, 4, 4), np.inf), "the joints do not add up"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(name: str, value: np.ndarray | None, part: str) -> None:
    made = create_rig(tube(), "tube.glb", "tube.ecorche", muscles=False)
    arrays = arrays_from_bind(made.bind)
    if value is None:
        del arrays[name]
    else:
        arrays[name] = value
    with pytest.raises(DocumentError, match=part):
        bind_from_arrays(arrays, "x.npz")


def test_oversized_text_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_TEXT", 1 << 20)
    path = tmp_path / "big.ecorche"
    path.write_bytes(b" " * ((1 << 20) + 1))
    with pytest.raises(DocumentError, match="is larger than 1 MB"):
        read_rig(path)
