"""Rotations, meshes, checks, files: no knowledge of bodies."""
