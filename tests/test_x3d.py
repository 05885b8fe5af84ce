"""X3D humanoids go out and come back as they were, and move as the standard says."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from characters import bending, tube
from ecorche.base import transforms
from ecorche.base.rotations import normalise, xyzw_from_axis_angle
from ecorche.body.character import Character
from ecorche.body.frames import Frame, MemoryFrames
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, MotionError, ReadError, WriteError
from ecorche.io.formats import read_character, read_motion, write_take
from ecorche.io.x3d import read_sites
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming import recognise
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.normals import Normals

Floats = npt.NDArray[np.float64]

HUMANS = [
    "human/male_average_cmu_mb.glb",
    "human/male_dressed_mixamo.glb",
    "mesh2motion/human-male.glb",
]


def waving(character: Character, frames: int = 4, seed: int = 5) -> Motion:
    """Every joint turns, moves and stretches a little, differently on every frame; bind first."""
    rng = np.random.default_rng(seed)
    skeleton = character.skeleton
    shape = (frames, skeleton.joint_count)
    own = transforms.compose(
        rng.normal(0.0, 0.02, (*shape, 3)),
        xyzw_from_axis_angle(normalise(rng.normal(size=(*shape, 3))), rng.uniform(-1.0, 1.0, shape)),
        rng.uniform(0.8, 1.25, (*shape, 3)),
    )
    local = skeleton.bind_local @ own
    local[0] = skeleton.bind_local
    return Motion("waving", skeleton, 0.5 + np.arange(frames) / 30.0, local)


def linear_points(character: Character, local: Floats) -> list[npt.NDArray[np.float32]]:
    difference = difference_from_bind(character.skeleton, local)
    return [
        LinearSkinning(m.mesh.points, m.weights).apply(difference)
        for m in character.meshes
        if m.weights is not None
    ]


@pytest.mark.parametrize("file", HUMANS)
def test_a_human_comes_back_as_it_was(tmp_path: Path, data: Path, file: str) -> None:
    before = read_character(data / file)
    written = write_take(tmp_path / "human.x3d", Take(before))
    after = read_character(tmp_path / "human.x3d")
    assert after.notes == ()
    assert after.skeleton.names == before.skeleton.names
    np.testing.assert_array_equal(after.skeleton.parents, before.skeleton.parents)
    np.testing.assert_allclose(after.skeleton.bind_world, before.skeleton.bind_world, atol=1e-12)
    np.testing.assert_allclose(after.skeleton.rest_world, before.skeleton.rest_world, atol=1e-12)
    np.testing.assert_allclose(after.skeleton.tails, before.skeleton.tails, atol=1e-12)
    assert recognise(after.skeleton) == recognise(before.skeleton)
    assert [m.name for m in after.meshes] == [m.name for m in before.meshes]
    for old, new in zip(before.meshes, after.meshes, strict=True):
        np.testing.assert_array_equal(new.mesh.points, old.mesh.points)
        np.testing.assert_array_equal(new.mesh.face_counts, old.mesh.face_counts)
        np.testing.assert_array_equal(new.mesh.face_indices, old.mesh.face_indices)
        assert (new.mesh.normals is None) == (old.mesh.normals is None)
        if old.mesh.normals is not None:
            np.testing.assert_array_equal(new.mesh.normals, old.mesh.normals)
        assert (new.mesh.uv is None) == (old.mesh.uv is None)
        if old.mesh.uv is not None and new.mesh.uv is not None:
            np.testing.assert_array_equal(new.mesh.uv.flat(), old.mesh.uv.flat())
        assert old.weights is not None
        assert new.weights is not None
        np.testing.assert_array_equal(new.weights.starts, old.weights.starts)
        np.testing.assert_array_equal(new.weights.joints, old.weights.joints)
        np.testing.assert_array_equal(new.weights.weights, old.weights.weights)
        looks = {
            s.name: None if s.material is None else after.materials[s.material] for s in new.mesh.subsets
        }
        for subset in old.mesh.subsets:
            np.testing.assert_array_equal(
                next(s.faces for s in new.mesh.subsets if s.name == subset.name), subset.faces
            )
            if subset.material is not None:
                was, now = before.materials[subset.material], looks[subset.name]
                assert now is not None
                assert (now.name, now.base_color, now.roughness) == (was.name, was.base_color, was.roughness)
                assert now.double_sided == was.double_sided
    lost = any(m.mesh.morphs or m.mesh.attributes for m in before.meshes)
    assert bool(written.notes) == lost


def test_every_kind_of_motion_comes_back(tmp_path: Path, data: Path) -> None:
    character = read_character(data / "human/male_muscular_mixamo.glb")
    motion = waving(character)
    write_take(tmp_path / "waving.x3d", Take(character, motion))
    back = read_motion(tmp_path / "waving.x3d")
    assert back.name == "waving"
    np.testing.assert_allclose(back.times, motion.times, rtol=1e-15)
    np.testing.assert_allclose(back.world(), motion.world(), atol=1e-6)
    np.testing.assert_allclose(back.local[0], motion.local[0], atol=1e-12)


def hanim_skin(path: Path) -> list[tuple[float, Floats]]:
    """Skin points over time straight from the standard's words, sharing no code with our reader."""
    root = ElementTree.parse(path).getroot()
    scene = root.find("Scene")
    assert scene is not None
    humanoid = scene.find("HAnimHumanoid")
    assert humanoid is not None

    def numbers(text: str) -> Floats:
        return np.array([float(word) for word in text.split()])

    def rotation(v: Floats) -> Floats:
        x, y, z = v[:3]
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        m = np.eye(4)
        m[:3, :3] += np.sin(v[3]) * cross + (1 - np.cos(v[3])) * cross @ cross
        return m

    def move(v: Floats) -> Floats:
        m = np.eye(4)
        m[:3, 3] = v
        return m

    def stretch(v: Floats) -> Floats:
        return np.diag([*v, 1.0])

    coordinates = next(c for c in humanoid.findall("Coordinate") if c.get("containerField") == "skinCoord")
    bind = numbers(coordinates.get("point", "")).reshape(-1, 3)
    homogeneous = np.concatenate([bind, np.ones((len(bind), 1))], axis=1)
    channels = {}
    keys: Floats = np.zeros(0)
    for route in scene.findall("ROUTE"):
        if route.get("fromField") == "value_changed":
            source = next(e for e in scene if e.get("DEF") == route.get("fromNode"))
            width = 4 if source.tag == "OrientationInterpolator" else 3
            values = numbers(source.get("keyValue", "")).reshape(-1, width)
            channels[route.get("toNode"), route.get("toField")] = values
            keys = numbers(source.get("key", ""))
    results = []
    for frame, key in enumerate(keys):
        skin = np.zeros((len(bind), 3))

        def visit(joint: ElementTree.Element, above: Floats, frame: int, skin: Floats) -> None:
            def value(field: str, default: str) -> Floats:
                keyed = channels.get((joint.get("DEF"), field))
                return numbers(joint.get(field, default)) if keyed is None else keyed[frame]

            centre = numbers(joint.get("center", "0 0 0"))
            along = rotation(value("scaleOrientation", "0 0 1 0"))
            matrix = (
                above
                @ move(value("translation", "0 0 0"))
                @ move(centre)
                @ rotation(value("rotation", "0 0 1 0"))
                @ along
                @ stretch(value("scale", "1 1 1"))
                @ along.T
                @ move(-centre)
            )
            index = numbers(joint.get("skinCoordIndex", "")).astype(int)
            weight = numbers(joint.get("skinCoordWeight", ""))
            np.add.at(skin, index, weight[:, None] * (homogeneous[index] @ matrix.T)[:, :3])
            for child in joint.findall("HAnimJoint"):
                visit(child, matrix, frame, skin)

        for joint in humanoid.findall("HAnimJoint"):
            if joint.get("containerField") == "skeleton":
                visit(joint, np.eye(4), frame, skin)
        results.append((float(key), skin))
    return results


@pytest.mark.parametrize("file", ["human/male_dressed_mixamo.glb", "mesh2motion/human-male.glb"])
def test_the_skin_moves_as_the_standard_says(tmp_path: Path, data: Path, file: str) -> None:
    character = read_character(data / file)
    motion = waving(character, frames=3)
    write_take(tmp_path / "moving.x3d", Take(character, motion))
    shown = hanim_skin(tmp_path / "moving.x3d")
    assert len(shown) == 3
    for (key, skin), local, time in zip(shown, motion.local, motion.times, strict=True):
        assert motion.times[0] + key * (motion.times[-1] - motion.times[0]) == pytest.approx(time)
        np.testing.assert_allclose(skin, np.concatenate(linear_points(character, local)), atol=5e-6)


def test_a_departure_from_linear_skinning_is_said(tmp_path: Path) -> None:
    character = tube()
    motion = bending(character, frames=3)
    plain = [
        Frame(float(t), tuple(linear_points(character, m)), (None,))
        for t, m in zip(motion.times, motion.local, strict=True)
    ]
    assert write_take(tmp_path / "a.x3d", Take(character, motion, MemoryFrames(plain))).notes == ()
    other = [replace(f, points=(f.points[0] + np.float32(0.002),)) for f in plain]
    notes = write_take(tmp_path / "b.x3d", Take(character, motion, MemoryFrames(other))).notes
    assert notes == ("X3D shows plain linear skinning; the take's skin departs from it by up to 2 mm.",)
    assert (tmp_path / "a.x3d").read_bytes().replace(b"a.x3d", b"") == (
        tmp_path / "b.x3d"
    ).read_bytes().replace(b"b.x3d", b"")


def test_frames_without_joints_are_refused(tmp_path: Path) -> None:
    character = tube()
    frames = MemoryFrames([Frame(0.0, (character.meshes[0].mesh.points,), (None,))])
    with pytest.raises(WriteError, match=r"the motion of this take's joints is not known\. Write USD"):
        write_take(tmp_path / "a.x3d", Take(character, None, frames))
    assert not (tmp_path / "a.x3d").exists()


def test_a_mirroring_joint_is_refused(tmp_path: Path) -> None:
    character = tube()
    motion = bending(character, frames=2)
    motion.local[1, 1, :3, 0] *= -1.0
    with pytest.raises(WriteError, match="joint 'upper' is mirrored in the motion"):
        write_take(tmp_path / "a.x3d", Take(character, motion))
    assert list(tmp_path.iterdir()) == []


def test_odd_names_and_a_mesh_without_weights_survive(tmp_path: Path) -> None:
    character = tube()
    names = ('a "quoted" <joint> & more', "back\\slash é\n")
    still = replace(
        character.meshes[0], weights=None, mesh=replace(character.meshes[0].mesh, name="a <rock>")
    )
    odd = replace(
        character,
        skeleton=replace(character.skeleton, names=names),
        meshes=(*character.meshes, still),
    )
    write_take(tmp_path / "odd.x3d", Take(odd))
    back = read_character(tmp_path / "odd.x3d")
    assert back.skeleton.names == names
    assert [m.name for m in back.meshes] == ["tube", "a <rock>"]
    assert back.meshes[1].weights is None
    np.testing.assert_array_equal(back.meshes[1].mesh.points, still.mesh.points)


FOREIGN = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE X3D PUBLIC "ISO//Web3D//DTD X3D 4.0//EN" "https://www.web3d.org/specifications/x3d-4.0.dtd">
<X3D profile='Immersive' version='4.0'>
  <head><unit category='length' name='centimetre' conversionFactor='0.01'/></head>
  <Scene>
    <Transform translation='100 0 0'>
      <HAnimHumanoid DEF='Joe' name='Joe' version='2.0'>
        <HAnimJoint DEF='Joe_root' name='humanoid_root' containerField='skeleton' center='0 90 0'
                    skinCoordIndex='0 1' skinCoordWeight='1 1'>
          <HAnimSegment name='sacrum'><HAnimDisplacer name='breath'/>
            <HAnimSite name='crotch_pt' translation='0 82 2'/>
            <Transform translation='0 90 0'>
              <Shape DEF='box'>
                <IndexedFaceSet coordIndex='0 1 2 3 -1 0 1 -1'>
                  <Coordinate point='0 0 0, 1 0 0, 1 1 0, 0 1 0'/>
                </IndexedFaceSet>
              </Shape>
            </Transform>
            <Shape><Sphere radius='3'/></Shape>
          </HAnimSegment>
          <HAnimJoint DEF='Joe_l_hip' name='l_hip' center='10 88 0' rotation='0 0 2 0.5'
                      skinCoordIndex='2 1' skinCoordWeight='1 1'/>
        </HAnimJoint>
        <HAnimJoint USE='Joe_root' containerField='joints'/>
        <HAnimJoint USE='Joe_l_hip' containerField='joints'/>
        <Coordinate DEF='Joe_skin' containerField='skinCoord' point='0 90 0 10 88 0 10 40 0 5 5 5'/>
        <Shape containerField='skin'>
          <Appearance><Material DEF='red' diffuseColor='1 0 0' transparency='0.25'/></Appearance>
          <IndexedFaceSet solid='false' ccw='false' coordIndex='0 1 2'>
            <Coordinate USE='Joe_skin'/>
          </IndexedFaceSet>
        </Shape>
        <Shape containerField='skin'>
          <IndexedTriangleSet index='0 2 3'><Coordinate USE='Joe_skin'/></IndexedTriangleSet>
        </Shape>
      </HAnimHumanoid>
    </Transform>
    <TimeSensor DEF='Clock' cycleInterval='2'/>
    <OrientationInterpolator DEF='Turn' key='0 0.5 1' keyValue='0 0 1 0 0 0 1 1 0 0 1 0'/>
    <PositionInterpolator DEF='Walk' key='0 1' keyValue='0 0 0 0 0 100'/>
    <ROUTE fromNode='Clock' fromField='fraction_changed' toNode='Turn' toField='set_fraction'/>
    <ROUTE fromNode='Clock' fromField='fraction_changed' toNode='Walk' toField='set_fraction'/>
    <ROUTE fromNode='Turn' fromField='value_changed' toNode='Joe_l_hip' toField='set_rotation'/>
    <ROUTE fromNode='Walk' fromField='value_changed' toNode='Joe_root' toField='translation'/>
  </Scene>
</X3D>
"""


def saved(folder: Path, text: str, name: str = "joe.x3d") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_foreign_humanoid_is_read_with_its_unit_and_place(tmp_path: Path) -> None:
    path = saved(tmp_path, FOREIGN)
    character = read_character(path)
    skeleton = character.skeleton
    assert skeleton.names == ("humanoid_root", "l_hip")
    np.testing.assert_allclose(skeleton.bind_world[:, :3, 3], [[1.0, 0.9, 0.0], [1.1, 0.88, 0.0]], atol=1e-12)
    assert character.metres_per_unit == 0.01
    assert [m.name for m in character.meshes] == ["skin", "box"]
    skin, box = character.meshes
    np.testing.assert_allclose(skin.mesh.points[2], [1.1, 0.4, 0.0], atol=1e-6)
    np.testing.assert_array_equal(skin.mesh.face_indices, [2, 1, 0, 0, 2, 3])
    assert [s.faces.tolist() for s in skin.mesh.subsets] == [[0], [1]]
    assert character.materials[0].base_color == (1.0, 0.0, 0.0, 0.75)
    assert skin.weights is not None
    assert box.weights is not None
    np.testing.assert_allclose(skin.weights.weights[skin.weights.starts[1] : skin.weights.starts[2]], 0.5)
    assert set(box.weights.joints) == {0}
    np.testing.assert_allclose(box.mesh.points[2], [1.01, 0.91, 0.0], atol=1e-6)
    assert [site.name for site in read_sites(path)] == ["crotch_pt"]
    np.testing.assert_allclose(read_sites(path)[0].position, [1.0, 0.82, 0.02])
    told = " | ".join(character.notes)
    for words in (
        "1 points of the skin are moved by no joint",
        "the weights of 1 vertices of 'skin' did not sum to one",
        "the Sphere shape in line 19 is no polygon mesh",
        "1 faces with fewer than three corners were left out (line 14)",
        "1 displacers, which reshape parts of the surface, were not read",
        "1 sites with the joints that carry them: crotch_pt (humanoid_root)",
    ):
        assert words in told


def test_the_rest_pose_and_the_clip_of_a_foreign_humanoid(tmp_path: Path) -> None:
    path = saved(tmp_path, FOREIGN)
    character = read_character(path)
    turned = character.skeleton.rest_world[1, :3, :3] / 0.01
    np.testing.assert_allclose(turned[:2, :2], [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
    motion = read_motion(path, "Clock")
    np.testing.assert_array_equal(motion.times, [0.0, 1.0, 2.0])
    world = motion.world()
    np.testing.assert_allclose(world[:, 0, :3, 3], [[1, 0.9, 0], [1, 0.9, 0.5], [1, 0.9, 1.0]], atol=1e-12)
    np.testing.assert_allclose(world[:, 1, 2, 3], [0.0, 0.5, 1.0], atol=1e-12)
    np.testing.assert_allclose(world[1, 1, :2, 0] / 0.01, [np.cos(1.0), np.sin(1.0)])
    with pytest.raises(MotionError, match=r"there is no clip 'Clok'\. Did you mean 'Clock'"):
        read_motion(path, "Clok")


VRML = """#VRML V2.0 utf8
# an H-Anim 1.1 figure, as tools of the time wrote it
PROTO Joint [ exposedField SFVec3f center 0 0 0  exposedField MFNode children []
              exposedField SFRotation rotation 0 0 1 0  exposedField SFString name "" ]
{ Transform { center IS center rotation IS rotation children IS children } }
PROTO Segment [ exposedField MFNode children [] exposedField SFString name "" ]
{ Group { children IS children } }
PROTO Humanoid [ field MFNode humanoidBody [] ] { Group { children IS humanoidBody } }
EXTERNPROTO Gadget [ field SFFloat x ] [ "gadget.wrl" ]
DEF Nancy Humanoid {
  name "Nancy, \\"the\\" figure"
  humanoidBody [
    DEF hanim_HumanoidRoot Joint {
      name "HumanoidRoot" center 0, 0.9, 0
      children [
        DEF hanim_sacrum Segment { name "sacrum" children [
          DEF cloth Shape {
            appearance Appearance { material DEF skin Material { diffuseColor .9 0.6 5e-1 } }
            geometry IndexedFaceSet {
              coord DEF points Coordinate { point [ 0 0.9 0, 0.1 0.9 0, 0.1 1 0, 0 1 0 ] }  # four
              coordIndex [ 0, 1, 2, -1, 0 2 3 -1 ]
              creaseAngle 0.5 solid FALSE
            }
          }
          Gadget { x 3 }
        ] }
        DEF hanim_l_hip Joint { name "l_hip" center 0.1 0.88 0 rotation 1 0 0 0.25 children [
          Transform { translation 0 0.1 0 children USE cloth }
          NULL
        ] }
      ]
    }
  ]
  joints [ USE hanim_HumanoidRoot, USE hanim_l_hip ]
}
DEF Logic Script { eventIn SFBool go field SFInt32 count 0xFF url "javascript: function go() { }" }
DEF Clock TimeSensor { cycleInterval 4 loop TRUE }
DEF Bend OrientationInterpolator { key [ 0 1 ] keyValue [ 1 0 0 0, 1 0 0 1.5 ] }
ROUTE Clock.fraction_changed TO Bend.set_fraction
ROUTE Bend.value_changed TO hanim_l_hip.set_rotation
"""


def test_vrml97_figures_are_read(tmp_path: Path) -> None:
    character = read_character(saved(tmp_path, VRML, "nancy.wrl"))
    skeleton = character.skeleton
    assert skeleton.names == ("HumanoidRoot", "l_hip")
    np.testing.assert_allclose(skeleton.bind_world[:, :3, 3], [[0, 0.9, 0], [0.1, 0.88, 0]])
    np.testing.assert_allclose(skeleton.rest_local[1, 2, 1], np.sin(0.25))
    assert [m.name for m in character.meshes] == ["cloth", "cloth.2"]
    first, second = character.meshes
    np.testing.assert_array_equal(first.mesh.face_indices, [0, 1, 2, 0, 2, 3])
    np.testing.assert_allclose(second.mesh.points, first.mesh.points + np.array([0, 0.1, 0]), atol=1e-6)
    assert first.weights is not None
    assert second.weights is not None
    assert (set(first.weights.joints), set(second.weights.joints)) == ({0}, {1})
    assert character.materials[0].base_color == (0.9, 0.6, 0.5, 1.0)
    assert character.materials[0].double_sided
    assert character.notes == ("what the file's own prototypes hold was not read: Gadget",)
    (motion,) = character.motions
    assert (motion.name, motion.frame_count) == ("Clock", 2)
    np.testing.assert_allclose(motion.local[1, 1, 2, 1], np.sin(1.5))


def test_compressed_vrml97_is_read(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "nancy.wrl"
    path.write_bytes(gzip.compress(VRML.encode()))
    assert read_character(path).skeleton.names == ("HumanoidRoot", "l_hip")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ReadError, match=r"nancy\.wrl"):
        read_character(path)


BAD_FILES = {
    "no XML": ("<X3D><Scene>", r"joe\.x3d, line 1: this is no well-formed XML \(no element found\)"),
    "not X3D": ("<svg/>", "line 1: the outermost element is 'svg', not X3D"),
    "empty": ("  \n", "the file is empty"),
    "no humanoid": ("<X3D><Scene><Group/></Scene></X3D>", "there is no humanoid in the scene"),
    "no joints": ("<X3D><Scene>\n<HAnimHumanoid/></Scene></X3D>", "line 2: the humanoid has no joints"),
    "an entity": (
        "<!DOCTYPE X3D [\n<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><X3D name='&b;'/>",
        "line 2: the file declares an entity 'a', which is not allowed",
    ),
    "an outside entity": (
        "<!DOCTYPE X3D [<!ENTITY a SYSTEM 'file:///etc/hostname'>]><X3D/>",
        "declares an entity 'a', which is not allowed",
    ),
    "itself": ("<X3D><Scene><Group DEF='a'><Group USE='a'/></Group></Scene></X3D>", "used inside itself"),
    "too deep": ("<X3D><Scene>" + "<Group>" * 2000, "elements nest more than 1000 deep"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_what_is_no_humanoid_file_is_refused(tmp_path: Path, case: str) -> None:
    text, message = BAD_FILES[case]
    with pytest.raises(ReadError, match=message):
        read_character(saved(tmp_path, text))


INJURIES = [
    ("USE='Joe_skin'", "USE='Skin'", 30, "USE of 'Skin', which no DEF before it defines"),
    ("10 88 0", "10 high 0", 21, "'high' in field 'center' of HAnimJoint is no number"),
    ("10 88 0", "10 nan 0", 21, "nan in field 'center' of HAnimJoint is out of any range"),
    ("10 88 0", "10 1e999 0", 21, "1e999 in field 'center' of HAnimJoint is out of any range"),
    ("10 88 0'", "10 88'", 21, "field 'center' of HAnimJoint has 2 numbers, not a multiple of 3"),
    ("10 88 0'", "10 88 0 1 2 3'", 21, "field 'center' of HAnimJoint has more than 3 numbers"),
    ("'2 1'", "'2 9'", 21, "joint 'l_hip' moves point 9, but only 0 to 3 exist"),
    ("'2 1'", "'2 0.5'", 21, "0.5 in field 'skinCoordIndex' of HAnimJoint is no whole number"),
    ("'2 1'", "'2 1 0'", 21, "joint 'l_hip' lists 3 points but 2 weights"),
    ("Weight='1 1'/>", "Weight='1 -1'/>", 21, "joint 'l_hip' has a negative weight"),
    ("'0 1 2'", "'0 1 7'", 27, "a face wants point 7, but only 0 to 3 exist"),
    ("center='10 88 0'", "scale='1 0 1'", 21, "HAnimJoint has zero scale"),
    ("toNode='Joe_l_hip'", "toNode='Jim'", 43, "a ROUTE names 'Jim', which no DEF defines"),
    (" toField='set_rotation'", "", 43, "a ROUTE lacks its toField"),
    ("key='0 0.5 1'", "key='0 1 0.5'", 39, "the keys of OrientationInterpolator do not rise"),
    ("key='0 0.5 1'", "key='0 1'", 39, "OrientationInterpolator has 2 keys but 3 values"),
    ("cycleInterval='2'", "cycleInterval='0'", 38, "a cycle of 0 seconds is none"),
    ("'0.01'", "'0'", 4, "a unit of 0 metres is no unit"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), INJURIES)
def test_bad_values_are_refused_with_their_line(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in FOREIGN
    path = saved(tmp_path, FOREIGN.replace(old, new, 1))
    with pytest.raises(ReadError, match=f"joe.x3d, line {line}: {message}"):
        read_character(path)


HEAD = "#VRML V2.0 utf8\n"
BAD_VRML = {
    "another header": (VRML.replace("#VRML V2.0 utf8", "#!/bin/sh"), "not begin with '#VRML V2.0 utf8'"),
    "VRML 1": (VRML.replace("V2.0 utf8", "V1.0 ascii"), "line 1: this is VRML 1.0. Convert it"),
    "cut": (VRML[: VRML.index("creaseAngle")], "expected a field of IndexedFaceSet or '}', found the end"),
    "wrong quotes": (VRML.replace('"', "'"), 'line 4: "\'" has no meaning here'),
    "no end of string": (HEAD + '\nShape { name "abc }', "line 3: a string has no end"),
    "no brace": (HEAD + "Group children", "line 2: expected '{', found 'children'"),
    "no value": (HEAD + "Group { center }", "line 2: field 'center' of Group has no value, found '}'"),
    "unknown USE": (HEAD + "Group { children [\nUSE Bob ] }", "line 3: USE of 'Bob', which no DEF"),
    "itself": (HEAD + "DEF A Group { children USE A }", "node 'A' is used inside itself"),
    "too deep": (HEAD + "Group { children [ " * 3000, "line 2: nodes nest more than 100 deep"),
    "open prototype": (HEAD + "PROTO A [ ] { Group { }", "a '}' is missing"),
    "half a route": (HEAD + "ROUTE A.b TO C", r"line 2: expected '\.', found the end of the file"),
    "a lone number": (HEAD + "17", "line 2: expected a node, found '17'"),
    "word in numbers": (VRML.replace("0 2 3 -1 ]", "0 two 3 -1 ]"), "line 21: expected '{', found '3'"),
}


@pytest.mark.parametrize("case", BAD_VRML)
def test_bad_vrml97_is_refused_with_its_line(tmp_path: Path, case: str) -> None:
    text, message = BAD_VRML[case]
    with pytest.raises(ReadError, match=message):
        read_character(saved(tmp_path, text, "nancy.wrl"))


@pytest.mark.parametrize("suffix", [".x3d", ".wrl"])
def test_a_scene_that_unfolds_without_end_is_refused(tmp_path: Path, suffix: str) -> None:
    """Forty groups, each holding the one before twice, are a million million nodes."""
    if suffix == ".x3d":
        text = "<X3D><Scene><Switch><Group DEF='g0'/>"
        for i in range(40):
            text += f"<Group DEF='g{i + 1}'><Group USE='g{i}'/><Group USE='g{i}'/></Group>"
        text += "</Switch></Scene></X3D>"
    else:
        text = "#VRML V2.0 utf8\nDEF g0 Group { }\n"
        for i in range(40):
            text += f"DEF g{i + 1} Group {{ children [ USE g{i} USE g{i} ] }}\n"
    with pytest.raises(ReadError, match="too many nodes"):
        read_character(saved(tmp_path, text, f"bomb{suffix}"))


@pytest.mark.parametrize(("text", "name"), [(FOREIGN, "joe.x3d"), (VRML, "nancy.wrl")])
def test_damaged_text_ends_in_a_message(tmp_path: Path, text: str, name: str) -> None:
    """Cuts, swaps and replacements everywhere: an answer or one of our errors, nothing else."""
    rng = np.random.default_rng(7)
    pieces = [
        "",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "<",
        ">",
        "-1",
        "1e400",
        "nan",
        "USE",
        "DEF",
        "\0",
        "é",
        "99999999999",
    ]
    for _ in range(150):
        broken = text
        for _ in range(int(rng.integers(1, 4))):
            at, size = int(rng.integers(len(broken))), int(rng.choice([0, 1, 3, 40]))
            broken = broken[:at] + str(rng.choice(pieces)) + broken[at + size :]
        path = saved(tmp_path, broken, name)
        try:
            read_character(path)
            read_sites(path)
        except EcorcheError as error:
            assert name in str(error)  # noqa: PT017


def test_normals_that_x3d_drops_are_told(tmp_path: Path) -> None:
    """An HAnim skin has one list of normals: where one mesh has none, the others lose theirs."""
    character = tube()
    body = character.meshes[0]
    (normals,) = Normals([body.mesh]).apply([body.mesh.points])
    smooth = replace(body, mesh=replace(body.mesh, name="smooth", normals=normals))
    fixed = replace(smooth, weights=None, mesh=replace(smooth.mesh, name="fixed"))
    both = replace(character, meshes=(body, smooth, fixed))
    notes = write_take(tmp_path / "a.x3d", Take(both)).notes
    assert any("'smooth' has: normals, which either all skinned meshes have or none" in n for n in notes)
    assert any("'fixed' has: normals of a mesh without weights" in n for n in notes)
    alone = replace(character, meshes=(smooth,))
    assert write_take(tmp_path / "b.x3d", Take(alone)).notes == ()
