"""Imported before anything else of this folder: tells a person without OpenUSD what to install."""

from __future__ import annotations

from importlib.util import find_spec

from ecorche.errors import MissingPackageError

if find_spec("pxr") is None:
    raise MissingPackageError("USD files need the package usd-core", remedy='Run: pip install "ecorche[usd]"')
