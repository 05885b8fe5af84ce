"""Constants that one compiled function hands to another.

For a plain ``True`` or ``12`` among the arguments Numba compiles a function anew, and everything that it
calls, which takes seconds each; for these it does so once for all values.
"""

from __future__ import annotations

from typing import Final

import numpy as np

YES: Final = np.bool_(True)
NO: Final = np.bool_(False)
