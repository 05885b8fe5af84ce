"""Which joint is which: the canonical H-Anim vocabulary, and how rigs of all kinds are recognised."""

from ecorche.skeleton.naming.recognise import Naming, recognise
from ecorche.skeleton.naming.roles import Role
from ecorche.skeleton.naming.vocabulary import JOINTS, SEGMENTS, canonical_name, mirrored

__all__ = ["JOINTS", "SEGMENTS", "Naming", "Role", "canonical_name", "mirrored", "recognise"]
