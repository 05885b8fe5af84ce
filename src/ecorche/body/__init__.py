"""Compile, evaluate, bake: the only place that knows all layers."""
