"""Small USD scenes written as text, for the cases real files here do not show."""

from __future__ import annotations

from pathlib import Path

HEAD = """#usda 1.0
(
    defaultPrim = "Root"
    metersPerUnit = {metres}
    upAxis = "{up}"
    timeCodesPerSecond = 24
)
"""

RIG = """
    def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        uniform token[] joints = ["hip", "hip/knee", "hip/knee/toe"]
        uniform matrix4d[] bindTransforms = [
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)),
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1)),
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,2,0,1))]
        uniform matrix4d[] restTransforms = [
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)),
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1)),
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]
        rel skel:animationSource = </Root/Skel/Anim>

        def SkelAnimation "Anim"
        {
            uniform token[] joints = ["hip/knee", "hip"]
            float3[] translations = [(0, 1, 0), (0, 0, 0)]
            half3[] scales = [(1, 1, 1), (1, 1, 1)]
            quatf[] rotations.timeSamples = {
                12: [(1, 0, 0, 0), (1, 0, 0, 0)],
                24: [(0.70710678, 0.70710678, 0, 0), (1, 0, 0, 0)],
            }
            uniform token[] blendShapes = ["smile"]
            float[] blendShapeWeights.timeSamples = { 12: [0], 24: [0.5] }
        }
    }
"""

FACES = """
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 3, 0), (0, 3, 0)]
        uniform token subdivisionScheme = "none"
"""

SKIN = """
        rel skel:skeleton = </Root/Skel>
        int[] primvars:skel:jointIndices = [0, 1, 0, 1, 2, 1, 2, 1] (
            elementSize = 2
            interpolation = "vertex"
        )
        float[] primvars:skel:jointWeights = [1, 0, 0.5, 0.5, 1, 0, 0.25, 0.75] (
            elementSize = 2
            interpolation = "vertex"
        )
"""


def mesh(name: str = "Body", skin: str = SKIN, faces: str = FACES, more: str = "") -> str:
    """A quad, skinned or not."""
    return f'''
    def Mesh "{name}" (prepend apiSchemas = ["SkelBindingAPI", "MaterialBindingAPI"])
    {{{faces}{skin}{more}
    }}
'''


def scene(
    folder: Path,
    *parts: str,
    metres: str = "1",
    up: str = "Y",
    root: str = "SkelRoot",
    above: str = "",
    name: str = "scene.usda",
) -> Path:
    """A file with the given parts below one root prim."""
    path = folder / name
    body = "".join(parts)
    path.write_text(f'{HEAD.format(metres=metres, up=up)}\ndef {root} "Root"\n{{{above}{body}\n}}\n')
    return path
