"""What OpenUSD's own validators say of a file."""

from __future__ import annotations

from pathlib import Path

from pxr import Usd, UsdValidation


def complaints(path: Path) -> list[str]:
    """A sentence for each error or warning of OpenUSD's validators, in a fixed order."""
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    found = UsdValidation.ValidationContext(validators).Validate(Usd.Stage.Open(str(path)))
    return sorted(f"{error.GetName()}: {error.GetMessage()}" for error in found)
