"""What the USD reader makes of a scene: spaces, joints, weights, blend shapes, attributes, looks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecorche.io.usd import read_character, read_mesh, read_motion
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.methods import make_skinning
from usd_scenes import FACES, RIG, SKIN, mesh, scene

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360f8cfc000000301010018dd8db00000000049454e44ae426082"
)


def test_joints_are_matched_by_name(tmp_path: Path) -> None:
    """The animation lists two of three joints, in another order; the third stays at rest."""
    character = read_character(scene(tmp_path, RIG, mesh()))
    assert character.notes == ()
    assert character.skeleton.names == ("hip", "knee", "toe")
    assert list(character.skeleton.parents) == [-1, 0, 1]
    motion = character.motions[0]
    assert np.allclose(motion.times, [0.5, 1.0])
    assert np.array_equal(motion.local[:, 2], np.stack([character.skeleton.rest_local[2]] * 2))
    toe = motion.world()[1, 2, :3, 3]
    assert np.allclose(toe, [0.0, 1.0, 1.0], atol=1e-7)  # +Y turned a quarter about +X is +Z
    assert character.cache is None


def test_identity_conversion_touches_no_bit(tmp_path: Path) -> None:
    awkward = "0.1, -0.30000001, 1e-42"
    faces = FACES.replace("(0, 0, 0)", f"({awkward})")
    body = read_character(scene(tmp_path, RIG, mesh(faces=faces))).meshes[0].mesh
    assert body.points[0].tobytes() == np.array([0.1, -0.30000001, 1e-42], np.float32).tobytes()


@pytest.mark.parametrize(("metres", "up"), [("0.01", "Y"), ("1", "Z"), ("0.0254", "Z")])
def test_units_and_axes(tmp_path: Path, metres: str, up: str) -> None:
    """The same scene in other units and axes is the same character, moved; joints gain no scale."""
    plain = read_character(scene(tmp_path, RIG, mesh()))
    other = read_character(scene(tmp_path, RIG, mesh(), metres=metres, up=up, name="other.usda"))
    turn = np.eye(3) if up == "Y" else np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])
    matrix = turn * float(metres)
    assert np.allclose(other.meshes[0].mesh.points, plain.meshes[0].mesh.points @ matrix.T, atol=1e-7)
    assert np.allclose(np.abs(np.linalg.det(other.motions[0].world()[..., :3, :3])), 1.0)
    heads = plain.motions[0].world()[..., :3, 3] @ matrix.T
    assert np.allclose(other.motions[0].world()[..., :3, 3], heads, atol=1e-9)
    assert (other.metres_per_unit, other.up_axis) == (float(metres), up)


def _skinned(path: Path, frame: int) -> np.ndarray:
    character = read_character(path)
    body = character.meshes[0]
    assert body.weights is not None
    moved = difference_from_bind(character.skeleton, character.motions[0].local[frame])
    return make_skinning("linear", body.mesh.points, body.weights, character.skeleton).apply(moved)


def test_transforms_above_move_skin_and_joints_together(tmp_path: Path) -> None:
    """A scaled, turned and moving root: our skin is where UsdSkel puts it."""
    from pxr import Gf, Usd, UsdGeom, UsdSkel

    above = """
    double3 xformOp:translate.timeSamples = { 12: (5, 0, 0), 24: (6, 1, 0) }
    float xformOp:rotateZ = 30
    float3 xformOp:scale = (0.1, 0.1, 0.1)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ", "xformOp:scale"]
"""
    geometry = """
        matrix4d primvars:skel:geomBindTransform = ((0,1,0,0),(-1,0,0,0),(0,0,2,0),(0.5,0,0,1))
        double3 xformOp:translate = (9, 9, 9)
        uniform token[] xformOpOrder = ["xformOp:translate"]
"""
    path = scene(tmp_path, RIG, mesh(more=geometry), above=above)
    ours = [_skinned(path, frame) for frame in (0, 1)]
    stage = Usd.Stage.Open(str(path))
    UsdSkel.BakeSkinning(UsdSkel.Root(stage.GetPrimAtPath("/Root")), Gf.Interval.GetFullInterval())
    prim = UsdGeom.Mesh(stage.GetPrimAtPath("/Root/Body"))
    for frame, code in enumerate((12, 24)):
        place = np.array(prim.ComputeLocalToWorldTransform(code))
        theirs = np.array(prim.GetPointsAttr().Get(code)) @ place[:3, :3] + place[3, :3]
        assert np.abs(ours[frame] - theirs).max() < 2e-6


def test_own_joint_list_and_constant_weights(tmp_path: Path) -> None:
    own = SKIN.replace("[0, 1, 0, 1, 2, 1, 2, 1]", "[0, 1, 0, 1, 0, 1, 0, 1]")
    own += '        uniform token[] skel:joints = ["hip/knee/toe", "hip"]\n'
    rigid = """
        rel skel:skeleton = </Root/Skel>
        int[] primvars:skel:jointIndices = [1] (
            elementSize = 1
            interpolation = "constant"
        )
        float[] primvars:skel:jointWeights = [1] (
            elementSize = 1
            interpolation = "constant"
        )
"""
    character = read_character(scene(tmp_path, RIG, mesh(skin=own), mesh("Patch", skin=rigid)))
    first, second = (m.weights for m in character.meshes)
    assert first is not None
    assert second is not None
    joints, weights = first.padded()
    assert joints.tolist() == [[2, 0], [0, 2], [2, 0], [0, 2]]
    assert weights.tolist() == [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0], [0.75, 0.25]]
    assert second.joints.tolist() == [1, 1, 1, 1]


def test_weights_are_normalised_and_said(tmp_path: Path) -> None:
    skin = SKIN.replace("[1, 0, 0.5, 0.5, 1, 0, 0.25, 0.75]", "[2, 0, 0.5, 0.5, 1, 0, 0.25, 0.75]")
    character = read_character(scene(tmp_path, RIG, mesh(skin=skin)))
    assert "1 vertices did not sum to one" in character.notes[0]


def test_equal_leaf_names_keep_their_paths(tmp_path: Path) -> None:
    rig = RIG.replace('"hip/knee/toe"', '"hip/knee/hip"')
    assert read_character(scene(tmp_path, rig, mesh())).skeleton.names == ("hip", "knee", "hip/knee/hip")


def test_blend_shapes(tmp_path: Path) -> None:
    shape = """
        uniform token[] skel:blendShapes = ["smile"]
        rel skel:blendShapeTargets = </Root/Body/Smile>
        def BlendShape "Smile"
        {
            uniform vector3f[] offsets = [(0, 0, 1), (0, 0, 2)]
            uniform int[] pointIndices = [3, 1]
        }
"""
    character = read_character(scene(tmp_path, RIG, mesh(more=shape), metres="0.01"))
    morph = character.meshes[0].mesh.morphs[0]
    assert (morph.name, morph.vertices.tolist()) == ("smile", [1, 3])
    assert np.allclose(morph.offsets, [[0, 0, 0.02], [0, 0, 0.01]])
    assert np.allclose(character.motions[0].morph_weights["Body/smile"], [0.0, 0.5])


def test_mirrored_faces_are_turned_over(tmp_path: Path) -> None:
    more = """
        uniform token orientation = "leftHanded"
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] ( interpolation = "faceVarying" )
"""
    character = read_character(scene(tmp_path, RIG, mesh(more=more)))
    body = character.meshes[0].mesh
    assert body.face_indices.tolist() == [0, 3, 2, 1]
    assert body.uv is not None
    assert body.uv.values.tolist() == [[0, 0], [0, 1], [1, 1], [1, 0]]
    assert any("reversed" in note for note in character.notes)


def test_everything_else_survives(tmp_path: Path) -> None:
    more = """
        color3f[] primvars:displayColor = [(1, 0, 0)] ( interpolation = "constant" )
        float[] primvars:mask = [0, 1, 2, 3, 4, 5, 6, 7] ( elementSize = 2; interpolation = "vertex" )
        string primvars:shop = "north"
        texCoord2f[] primvars:st = [(0, 0), (1, 1)] ( interpolation = "faceVarying" )
        int[] primvars:st:indices = [0, 1, 1, 0]
        half3[] primvars:soft = [(1, 2, 3)] ( interpolation = "uniform" )
        int[] creaseIndices = [0, 1]
        int[] creaseLengths = [2]
        float[] creaseSharpnesses = [4]
        uniform bool doubleSided = 1
"""
    faces = FACES.replace('"none"', '"catmullClark"')
    body = read_character(scene(tmp_path, RIG, mesh(faces=faces, more=more))).meshes[0].mesh
    found = {a.name: a for a in body.attributes}
    assert found["mask"].values.shape == (4, 2)
    assert found["shop"].values.tolist() == ["north"]
    assert found["soft"].values.dtype == np.float16
    assert found["displayColor"].file_type == "color3f[]"
    assert found["usd:creaseSharpnesses"].values.tolist() == [4.0]
    assert body.subdivision == "catmullClark"
    assert body.double_sided
    assert body.uv is not None
    assert body.uv.flat().tolist() == [[0, 0], [1, 1], [1, 1], [0, 0]]


def test_looks(tmp_path: Path) -> None:
    (tmp_path / "skin.png").write_bytes(PNG)
    more = """
        rel material:binding = </Root/Looks/Skin>
        def GeomSubset "Lips" (prepend apiSchemas = ["MaterialBindingAPI"])
        {
            uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = [0]
            rel material:binding = </Root/Looks/Red>
        }
"""
    looks = """
    def Scope "Looks"
    {
        def Material "Red"
        {
            token outputs:surface.connect = </Root/Looks/Red/Surface.outputs:surface>
            def Shader "Surface"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor = (1, 0.25, 0)
                float inputs:roughness = 0.125
                token outputs:surface
            }
        }
        def Material "Skin"
        {
            token outputs:surface.connect = </Root/Looks/Skin/Surface.outputs:surface>
            def Shader "Surface"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor.connect = </Root/Looks/Skin/Pixels.outputs:rgb>
                token outputs:surface
            }
            def Shader "Pixels"
            {
                uniform token info:id = "UsdUVTexture"
                asset inputs:file = @skin.png@
                float3 outputs:rgb
            }
        }
    }
"""
    character = read_character(scene(tmp_path, RIG, mesh(more=more), looks))
    body = character.meshes[0].mesh
    assert [m.name for m in character.materials] == ["Red", "Skin"]
    assert body.material == 1
    assert body.subsets[0].material == 0
    assert body.subsets[0].faces.tolist() == [0]
    assert character.materials[0].base_color == (1.0, 0.25, 0.0, 1.0)
    assert character.materials[0].roughness == 0.125
    assert character.materials[1].base_color_image == 0
    assert character.images[0].data == PNG
    assert "ecorche-image-0" in character.materials[1].extra["usd"]["network"]
    assert str(tmp_path) not in character.materials[1].extra["usd"]["network"]


def test_skeleton_in_another_layer_and_an_instance(tmp_path: Path) -> None:
    scene(tmp_path, RIG, name="rig.usda", root="Scope")
    scene(tmp_path, mesh("Hat", skin=""), name="hat.usda", root="Xform")
    path = tmp_path / "shot.usda"
    path.write_text(
        '#usda 1.0\n( metersPerUnit = 1\n upAxis = "Y"\n subLayers = [@rig.usda@] )\n'
        f'def SkelRoot "Root" {{ {mesh()} }}\n'
        'def Xform "Hat" ( instanceable = true\n prepend references = @hat.usda@ ) {}\n'
    )
    character = read_character(path)
    assert character.skeleton.names == ("hip", "knee", "toe")
    assert [m.name for m in character.meshes] == ["Body", "Hat"]
    assert character.meshes[1].weights is None
    assert character.motions[0].frame_count == 2


def test_a_missing_reference_is_noted(tmp_path: Path) -> None:
    lost = 'def Xform "Lost" ( references = @nowhere.usda@ ) {}\n'
    character = read_character(scene(tmp_path, RIG, mesh(), lost))
    assert any("nowhere.usda" in note and "0x" not in note for note in character.notes)


def test_what_is_hidden_is_left_out_and_said(tmp_path: Path) -> None:
    guide = mesh("Guide", skin="", more='        uniform token purpose = "guide"\n')
    hidden = mesh("Hidden", skin="", more='        token visibility = "invisible"\n')
    other = RIG.replace('"Skel"', '"Second"').replace("/Root/Skel", "/Root/Second")
    character = read_character(scene(tmp_path, RIG, mesh(), guide, hidden, other, 'def Sphere "Ball" {}'))
    assert [m.name for m in character.meshes] == ["Body"]
    told = " ".join(character.notes)
    for word in ("Guide", "guide", "Hidden", "invisible", "Sphere", "/Root/Second"):
        assert word in told


def test_skin_outside_a_skel_root_stands_still(tmp_path: Path) -> None:
    outside = f'\n}}\ndef Xform "Aside"\n{{{mesh("Loose")}'
    character = read_character(scene(tmp_path, RIG, mesh(), outside))
    assert character.mesh("Loose").weights is None
    assert any("outside any SkelRoot" in note for note in character.notes)


CACHE = (
    FACES
    + """
        point3f[] points.timeSamples = {
            0: [(0, 0, 0), (1, 0, 0), (1, 3, 0), (0, 3, 0)],
            12: [(0, 0, 1), (1, 0, 1), (1, 3, 1), (0, 3, 1)],
            24: [(0, 0, 4), (1, 0, 4), (1, 3, 4), (0, 3, 4)],
        }
"""
)


def test_a_posed_cache_without_a_skeleton(tmp_path: Path) -> None:
    still = mesh("Floor", skin="")
    path = scene(tmp_path, mesh(skin="", faces=CACHE), still, root="Xform", metres="0.01")
    character = read_character(path)
    assert character.cache is not None
    assert character.skeleton.names == ("root",)
    assert any("no skeleton" in note for note in character.notes)
    assert np.allclose(character.cache.times, [0.0, 0.5, 1.0])
    assert np.allclose(character.cache[1].points[0][:, 2], 0.01)
    assert np.array_equal(character.cache[-1].points[1], character.meshes[1].mesh.points)
    assert np.array_equal(character.motions[0].times, character.cache.times)


def test_a_cache_beside_a_skinned_mesh_is_whole(tmp_path: Path) -> None:
    """USD skins one mesh and plays the points of the other: so do the frames."""
    path = scene(tmp_path, RIG, mesh(), mesh("Cloth", skin="", faces=CACHE))
    character = read_character(path)
    assert character.cache is not None
    assert np.allclose(character.cache.times, [0.0, 0.5, 1.0])
    assert np.array_equal(character.cache[2].points[0], _skinned(path, 2))
    assert not np.array_equal(character.cache[2].points[0], character.meshes[0].mesh.points)


def test_motion_and_mesh_alone(tmp_path: Path) -> None:
    path = scene(tmp_path, RIG, mesh())
    assert read_motion(path).name == "Anim"
    assert read_motion(path, "Anim").frame_count == 2
    two = read_mesh(scene(tmp_path, mesh(skin=""), mesh("Other", skin=""), root="Xform", name="two.usda"))
    assert two.vertex_count == 8
    assert two.face_indices.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
