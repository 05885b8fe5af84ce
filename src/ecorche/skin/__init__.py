"""Blend skinning, normals and tangents; couplings to what lies beneath, contact, garments."""
