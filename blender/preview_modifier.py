"""The modifier that shows muscles: it adds a vector a vertex, right behind the Armature modifier.

The vectors are an attribute of the mesh, written as the armature moves. The mesh itself is never changed, and
modifiers that follow, such as a subdivision, work on the result.
"""

from typing import Any

import bpy
import numpy as np

from .scene_character import armature_place

MODIFIER, GROUP, ATTRIBUTE = "Ecorche Muscles", "Ecorche Offset", "ecorche_offset"
SOCKET = "Attribute"


def offset_group() -> Any:
    """The node group of the modifier, made once a file."""
    found = bpy.data.node_groups.get(GROUP)
    if found is not None and found.type == "GEOMETRY" and _name_socket(found) is not None:
        return found
    group = bpy.data.node_groups.new(GROUP, "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket(SOCKET, in_out="INPUT", socket_type="NodeSocketString")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    given, result = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    named, moved = (
        group.nodes.new("GeometryNodeInputNamedAttribute"),
        group.nodes.new("GeometryNodeSetPosition"),
    )
    named.data_type = "FLOAT_VECTOR"
    for number, node in enumerate((given, named, moved, result)):
        node.location = (200.0 * number, 0.0)
    group.links.new(given.outputs["Geometry"], moved.inputs["Geometry"])
    group.links.new(given.outputs[SOCKET], named.inputs["Name"])
    group.links.new(named.outputs["Attribute"], moved.inputs["Offset"])
    group.links.new(moved.outputs["Geometry"], result.inputs["Geometry"])
    return group


def _name_socket(group: Any) -> Any:
    """The input of a node group that takes the attribute's name; None where there is none."""
    sockets = (item for item in group.interface.items_tree if item.item_type == "SOCKET")
    return next((s for s in sockets if s.in_out == "INPUT" and s.name == SOCKET), None)


def preview_modifier(thing: Any) -> Any:
    """The preview's modifier of a mesh object; None where it has none."""
    return next((m for m in thing.modifiers if m.type == "NODES" and m.name.startswith(MODIFIER)), None)


def attribute_name(thing: Any) -> str:
    """The attribute of a mesh object's offsets: its own where several objects share the mesh."""
    return ATTRIBUTE if thing.data.users == 1 else f"{ATTRIBUTE} {thing.name}"


def show(thing: Any, armature: Any) -> None:
    """Give a mesh object the modifier and its attribute, if it has them not yet."""
    modifier = preview_modifier(thing)
    if modifier is None:
        modifier = thing.modifiers.new(MODIFIER, "NODES")
        modifier.show_expanded = False
        modifier.node_group = offset_group()
        place = armature_place(thing, armature) + 1
        thing.modifiers.move(len(thing.modifiers) - 1, place)
        modifier[_name_socket(modifier.node_group).identifier] = attribute_name(thing)
    name = used_attribute(modifier)
    if name not in thing.data.attributes:
        thing.data.attributes.new(name, "FLOAT_VECTOR", "POINT")


def used_attribute(modifier: Any) -> str:
    """The attribute that a preview's modifier reads."""
    return str(modifier[_name_socket(modifier.node_group).identifier])


def hide(thing: Any) -> None:
    """Take modifier and attribute away."""
    modifier = preview_modifier(thing)
    if modifier is None:
        return
    attribute = thing.data.attributes.get(used_attribute(modifier))
    if attribute is not None:
        thing.data.attributes.remove(attribute)
    thing.modifiers.remove(modifier)


def write_offsets(thing: Any, offsets: np.ndarray) -> bool:
    """Show a mesh object's vertices off by offsets (vertices, 3); False where that cannot be now."""
    modifier = preview_modifier(thing)
    if modifier is None or thing.mode == "EDIT":
        return False
    attribute = thing.data.attributes.get(used_attribute(modifier))
    if attribute is None or len(attribute.data) != len(offsets):
        return False
    attribute.data.foreach_set("vector", np.ascontiguousarray(offsets, np.float32).reshape(-1))
    thing.data.update_tag()
    return True
