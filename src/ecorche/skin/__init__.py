"""Blend skinning, normals and tangents."""
