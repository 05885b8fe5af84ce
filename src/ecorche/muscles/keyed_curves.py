"""Activation curves as a person edits them key by key: every edit gives other curves and leaves these.

They are what files of activation hold (`io.activation`), by the name of a muscle, of the muscle it is a head
of, or of a group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError
from ecorche.muscles.activation import Curves
from ecorche.muscles.edit_curves import Curve, scaled, shifted, tensed
from ecorche.muscles.keyed_activation import Keys

Floats = npt.NDArray[np.float64]

LEAST_APART = 1e-3
"""Keys are at least so far apart [s]: one that is moved stays between its neighbours."""
DECIMALS = 4
"""Of times [s] and activations that are set, so that a person can read the file."""


@dataclass(frozen=True, eq=False)
class KeyedCurves:
    """Curves by name.

    Attributes:
        curves: Times [s], rising, and activations 0 to 1, both (keys,), by name.
    """

    curves: Mapping[str, Curve] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checked = {}
        for name, keys in self.curves.items():
            try:
                times, values = (array.copy() for array in Curves([keys]).keys[0])
            except EcorcheError as error:
                raise EcorcheError(error.what, where=f"curve {name!r}", remedy=error.remedy) from None
            times.flags.writeable = values.flags.writeable = False
            checked[name] = times, values
        object.__setattr__(self, "curves", MappingProxyType(checked))

    def __len__(self) -> int:
        return len(self.curves)

    def __contains__(self, name: object) -> bool:
        return name in self.curves

    def of(self, name: str) -> Curve:
        """The curve of that name; one that is not there is refused."""
        if name not in self.curves:
            raise EcorcheError(
                f"there is no curve {name!r}",
                where="activation curves",
                remedy=suggestion(name, list(self.curves)) if self.curves else "Make one first",
            )
        return self.curves[name]

    def sampled(self, name: str, times: npt.ArrayLike) -> Floats:
        """Activation of a curve at times [s] (n,), (n,)."""
        return np.asarray(Curves([self.of(name)]).at(np.asarray(times, np.float64))[:, 0])

    def with_curve(self, name: str, keys: Keys) -> KeyedCurves:
        """With a curve of that name, new or in its place."""
        if not name.strip():
            raise EcorcheError("a curve needs a name", remedy="Name the muscle or group it is for")
        times, values = keys
        return KeyedCurves({**self.curves, name: (np.asarray(times), np.asarray(values))})

    def without_curve(self, name: str) -> KeyedCurves:
        """Without that curve: its muscles are as active as without any."""
        self.of(name)
        return KeyedCurves({other: keys for other, keys in self.curves.items() if other != name})

    def with_key(self, name: str, time: float, value: float) -> KeyedCurves:
        """With a key at that time [s]; one that is so near that it is the same takes the value."""
        times, values = self.of(name)
        time, value = _number(time, "time"), _share(value)
        nearest = int(np.argmin(np.abs(times - time)))
        if abs(times[nearest] - time) < LEAST_APART:
            return self.with_curve(name, (times, np.where(np.arange(len(times)) == nearest, value, values)))
        at = int(np.searchsorted(times, time))
        return self.with_curve(name, (np.insert(times, at, time), np.insert(values, at, value)))

    def with_key_moved(self, name: str, key: int, time: float, value: float) -> KeyedCurves:
        """With a key moved to another time [s] and activation; it stays between its neighbours, and within
        0 and 1, as far as it is drawn beyond."""
        times, values = (array.copy() for array in self._with_key(name, key))
        time, value = _number(time, "time"), _number(value, "activation")
        least = times[key - 1] + LEAST_APART if key > 0 else -np.inf
        most = times[key + 1] - LEAST_APART if key + 1 < len(times) else np.inf
        if least <= most:  # keys of a file may be nearer than that
            times[key] = min(max(time, least), most)
        values[key] = round(min(max(value, 0.0), 1.0), DECIMALS)
        return self.with_curve(name, (times, values))

    def without_key(self, name: str, key: int) -> KeyedCurves:
        """Without that key; the last one goes with its curve alone."""
        times, values = self._with_key(name, key)
        if len(times) == 1:
            raise EcorcheError(
                "a curve needs a key", where=f"curve {name!r}", remedy="Remove the curve instead"
            )
        return self.with_curve(name, (np.delete(times, key), np.delete(values, key)))

    def tensed(self, name: str, begin: float, end: float, level: float, ease: float = 0.15) -> KeyedCurves:
        """With the muscles at least so active from one time to another [s], eased in and out."""
        return self._with(name, lambda keys: tensed(keys, begin, end, level, ease))

    def scaled(self, name: str, gain: float) -> KeyedCurves:
        """With so many times as active muscles, never above 1."""
        return self._with(name, lambda keys: scaled(keys, gain))

    def shifted(self, name: str, seconds: float) -> KeyedCurves:
        """With the curve so much later; earlier below 0."""
        return self._with(name, lambda keys: shifted(keys, seconds))

    def _with(self, name: str, edit: Callable[[Curve], Curve]) -> KeyedCurves:
        return self.with_curve(name, edit(self.of(name)))

    def _with_key(self, name: str, key: int) -> Curve:
        times, values = self.of(name)
        if not 0 <= key < len(times):
            raise EcorcheError(
                f"there is no key {key}", where=f"curve {name!r}", remedy=f"It has keys 0 to {len(times) - 1}"
            )
        return times, values


def _number(value: float, what: str) -> float:
    if not np.isfinite(value):
        raise EcorcheError(f"the {what} {value} is no number", remedy="Give one, such as 0.5")
    return round(float(value), DECIMALS)


def _share(value: float) -> float:
    if not 0.0 <= _number(value, "activation") <= 1.0:
        raise EcorcheError(f"the activation {value:g} is not between 0 and 1", remedy="Give 0 to 1")
    return _number(value, "activation")
