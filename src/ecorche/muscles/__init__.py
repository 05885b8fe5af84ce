"""Paths, shapes, activation; the anatomical template."""
