"""An écorché under any rigged character: skeleton, muscles, fat and skin that move as in life.

    import ecorche

    man = ecorche.read_character("man.glb")
    walk = ecorche.perform(man, ecorche.read_motion("walk.bvh")).take
    ecorche.write_take("walk.usdc", walk)
    ecorche.render_film("walk.mp4", walk)

Names are imported when first used, so `import ecorche` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ecorche.version import __version__ as __version__

_HOMES = {
    "Character": "ecorche.body.character",
    "EcorcheError": "ecorche.errors",
    "Evaluator": "ecorche.body.evaluator",
    "Focus": "ecorche.render.focus",
    "Frame": "ecorche.body.frames",
    "MeshArrays": "ecorche.body.from_arrays",
    "Motion": "ecorche.skeleton.motion",
    "Pose": "ecorche.body.evaluate",
    "Rig": "ecorche.document.files",
    "Take": "ecorche.body.take",
    "WriteOptions": "ecorche.io.formats",
    "character_from_arrays": "ecorche.body.from_arrays",
    "check_rig": "ecorche.body.rig",
    "compile_body": "ecorche.body.compile",
    "create_rig": "ecorche.body.rig",
    "ecorche_figure": "ecorche.body.figure",
    "evaluate": "ecorche.body.evaluate",
    "jointed_character": "ecorche.body.as_joints",
    "map_values": "ecorche.body.painting",
    "motion_from_arrays": "ecorche.body.from_arrays",
    "new_rig": "ecorche.io.new_rig",
    "open_evaluator": "ecorche.gpu.choice",
    "pack_rig": "ecorche.document.packed",
    "perform": "ecorche.body.perform",
    "read_character": "ecorche.io.formats",
    "read_keyframes": "ecorche.io.keyframes",
    "read_motion": "ecorche.io.formats",
    "read_rig": "ecorche.document.files",
    "rebind": "ecorche.body.rebind",
    "render_contact_sheet": "ecorche.render.pictures",
    "render_film": "ecorche.render.pictures",
    "render_layers": "ecorche.render.layer_sheet",
    "render_picture": "ecorche.render.pictures",
    "sample_human": "ecorche.io.makehuman",
    "shape_basis": "ecorche.io.departure",
    "skin_moved_by": "ecorche.body.muscle_summary",
    "unpack_rig": "ecorche.document.packed",
    "vertex_program": "ecorche.body.vertex_program",
    "with_coupling": "ecorche.body.choose_coupling",
    "with_map": "ecorche.body.painting",
    "with_weights": "ecorche.body.painting",
    "without_weights": "ecorche.body.painting",
    "write_drivers": "ecorche.body.drivers.package",
    "write_rig": "ecorche.document.files",
    "write_take": "ecorche.io.formats",
    "write_web_page": "ecorche.web.page",
}

__all__ = [*sorted(_HOMES)]

if TYPE_CHECKING:
    from ecorche.body.as_joints import jointed_character as jointed_character
    from ecorche.body.character import Character as Character
    from ecorche.body.choose_coupling import with_coupling as with_coupling
    from ecorche.body.compile import compile_body as compile_body
    from ecorche.body.drivers.package import write_drivers as write_drivers
    from ecorche.body.evaluate import Pose as Pose
    from ecorche.body.evaluate import evaluate as evaluate
    from ecorche.body.evaluator import Evaluator as Evaluator
    from ecorche.body.figure import ecorche_figure as ecorche_figure
    from ecorche.body.frames import Frame as Frame
    from ecorche.body.from_arrays import MeshArrays as MeshArrays
    from ecorche.body.from_arrays import character_from_arrays as character_from_arrays
    from ecorche.body.from_arrays import motion_from_arrays as motion_from_arrays
    from ecorche.body.muscle_summary import skin_moved_by as skin_moved_by
    from ecorche.body.painting import map_values as map_values
    from ecorche.body.painting import with_map as with_map
    from ecorche.body.painting import with_weights as with_weights
    from ecorche.body.painting import without_weights as without_weights
    from ecorche.body.perform import perform as perform
    from ecorche.body.rebind import rebind as rebind
    from ecorche.body.rig import check_rig as check_rig
    from ecorche.body.rig import create_rig as create_rig
    from ecorche.body.take import Take as Take
    from ecorche.body.vertex_program import vertex_program as vertex_program
    from ecorche.document.files import Rig as Rig
    from ecorche.document.files import read_rig as read_rig
    from ecorche.document.files import write_rig as write_rig
    from ecorche.document.packed import pack_rig as pack_rig
    from ecorche.document.packed import unpack_rig as unpack_rig
    from ecorche.errors import EcorcheError as EcorcheError
    from ecorche.gpu.choice import open_evaluator as open_evaluator
    from ecorche.io.departure import shape_basis as shape_basis
    from ecorche.io.formats import WriteOptions as WriteOptions
    from ecorche.io.formats import read_character as read_character
    from ecorche.io.formats import read_motion as read_motion
    from ecorche.io.formats import write_take as write_take
    from ecorche.io.keyframes import read_keyframes as read_keyframes
    from ecorche.io.makehuman import sample_human as sample_human
    from ecorche.io.new_rig import new_rig as new_rig
    from ecorche.render.focus import Focus as Focus
    from ecorche.render.layer_sheet import render_layers as render_layers
    from ecorche.render.pictures import render_contact_sheet as render_contact_sheet
    from ecorche.render.pictures import render_film as render_film
    from ecorche.render.pictures import render_picture as render_picture
    from ecorche.skeleton.motion import Motion as Motion
    from ecorche.web.page import write_web_page as write_web_page


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'ecorche' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
