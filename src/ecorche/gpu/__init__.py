"""The vertex pipeline as compute shaders."""
