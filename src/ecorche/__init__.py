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
    "Motion": "ecorche.skeleton.motion",
    "Pose": "ecorche.body.evaluate",
    "Rig": "ecorche.document.files",
    "Take": "ecorche.body.take",
    "WriteOptions": "ecorche.io.formats",
    "compile_body": "ecorche.body.compile",
    "create_rig": "ecorche.body.rig",
    "ecorche_figure": "ecorche.body.figure",
    "evaluate": "ecorche.body.evaluate",
    "open_evaluator": "ecorche.gpu.choice",
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
    "vertex_program": "ecorche.body.vertex_program",
    "write_rig": "ecorche.document.files",
    "write_take": "ecorche.io.formats",
    "write_web_page": "ecorche.web.page",
}

__all__ = [*sorted(_HOMES)]

if TYPE_CHECKING:
    from ecorche.body.character import Character as Character
    from ecorche.body.compile import compile_body as compile_body
    from ecorche.body.evaluate import Pose as Pose
    from ecorche.body.evaluate import evaluate as evaluate
    from ecorche.body.evaluator import Evaluator as Evaluator
    from ecorche.body.figure import ecorche_figure as ecorche_figure
    from ecorche.body.perform import perform as perform
    from ecorche.body.rebind import rebind as rebind
    from ecorche.body.rig import create_rig as create_rig
    from ecorche.body.take import Take as Take
    from ecorche.body.vertex_program import vertex_program as vertex_program
    from ecorche.document.files import Rig as Rig
    from ecorche.document.files import read_rig as read_rig
    from ecorche.document.files import write_rig as write_rig
    from ecorche.errors import EcorcheError as EcorcheError
    from ecorche.gpu.choice import open_evaluator as open_evaluator
    from ecorche.io.formats import WriteOptions as WriteOptions
    from ecorche.io.formats import read_character as read_character
    from ecorche.io.formats import read_motion as read_motion
    from ecorche.io.formats import write_take as write_take
    from ecorche.io.keyframes import read_keyframes as read_keyframes
    from ecorche.io.makehuman import sample_human as sample_human
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
