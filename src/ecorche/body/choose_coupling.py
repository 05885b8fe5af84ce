"""Say how a rig's skin follows what lies beneath, and be refused where that cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ecorche.body.character import Character
from ecorche.body.compile_coupling import require_regions
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.document.files import Rig
from ecorche.document.problems import told_as_document_error
from ecorche.errors import EcorcheError


def with_coupling(rig: Rig, character: Character, said: Mapping[str, Any], where: object = None) -> Rig:
    """The rig with its skin bound as is said; fields that nothing is said of stay.

    Args:
        rig: The rig.
        character: Its character.
        said: Fields of the rig file's ``coupling``, such as ``{"everywhere": "fascia", "intensity": 0.8}``.
        where: What messages name; None is the rig.
    """
    where = rig.source if where is None else where
    with told_as_document_error(where):
        coupling = CouplingSpec.model_validate({**rig.spec.coupling.model_dump(), **said})
    require_regions(coupling, character, rig.spec.skeleton.mapping, where)
    if {coupling.everywhere, *coupling.regions.values()} & {"height_field", "fascia"} and not (
        rig.spec.muscles.count or coupling.bones
    ):
        raise EcorcheError(
            "the skin shall keep its distance to muscles and bones, and there are none",
            where=where,
            remedy="Make the rig with muscles, name its bones in the rig's coupling.bones, or say plain",
        )
    return replace(rig, spec=rig.spec.model_copy(update={"coupling": coupling}))
