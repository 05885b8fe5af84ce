"""Remedies of the package in Blender's words: it names options of its command, a panel has buttons."""

import re

WORDS = {
    "Name its joints (--mapping FILE) if it is one. For another creature take the muscles that show in its"
    " skin (--muscles extract) or those of a finished rig (--template RIG), or make a rig without any"
    " (--without-muscles)": "Give its bones usual names, such as those of Rigify, if it is one. For another"
    " creature choose Extract in Give Muscles, or read a rig that was made for it: Read Rig",
    "Take the anatomical template for a humanoid (--muscles template), or make a rig without any"
    " (--without-muscles) and mark a region of the skin (ecorche muscles RIG --mark MASK)": "Choose Template"
    " in Give Muscles for a humanoid, or read a rig that has muscles: Read Rig",
    "(--muscles extract has them)": "(Extract in Give Muscles has them)",
    "unless --coupling says otherwise": "unless Coupling says otherwise",
    "Give it muscles with `ecorche rig`, name its bones in coupling.bones, or write plain": "Give it some:"
    " Give Muscles, or choose Plain under Coupling",
    "Name a thickness for a region in the rig's fat, or leave out --dynamics fat": "Name a thickness for a"
    " region in the rig file's fat and read it: Read Rig, or choose another Dynamics",
    "Make the rig with --as-lines or --anatomy, or leave out --dynamics oscillation": "Choose Anatomy in Give"
    " Muscles, or another Dynamics",
    "Make one with muscles: ecorche rig CHARACTER": "Give it some: Give Muscles",
    "Make a rig with --muscles template or extract, or bake the skin's points: ecorche bake": "Choose"
    " Template or Extract in Give Muscles, or Bake to Cache",
    "Make the rig anew from meshes that fit: ecorche rig --anatomy FOLDER CHARACTER": "Choose Anatomy in Give"
    " Muscles, with meshes that fit",
    "Say which mesh does (--mesh {}=NEW), or take the map out of the rig file": "Give the mesh that does its"
    " name, {}",
    "or fit the rig anew with `ecorche rebind`": "or make the rig anew: Give Muscles",
    "Upgrade Ecorche: pip install --upgrade ecorche": "Install a newer version of the extension",
}
"""What the package says, and what a person in Blender reads in its place; {} is a name."""
_PATTERNS = [(re.compile(re.escape(said).replace(r"\{\}", "(.+?)")), read) for said, read in WORDS.items()]


def in_blender_words(message: str) -> str:
    """A message of the package with buttons and properties of the panel where it names its command's."""
    for said, read in _PATTERNS:
        message = said.sub(lambda found, read=read: read.format(*found.groups()), message)
    return message
