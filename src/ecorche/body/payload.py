"""What changes of a character from frame to frame: all that a processor needs to play a `VertexProgram`.

Text 000, table 1, sends ten vectors a muscle and frame, 156 bytes. Most of that follows from where the joints
are, which skinning needs anyway: origin, insertion and via points hang on joints, the length follows from
them, the belly from the length. So a muscle's own part is eight bytes. Of one instance, version 1, all
numbers float32, little-endian, one after another:

| bytes | what |
|---|---|
| 0–11 | way w of the instance [m], x y z: how far its first joint has moved |
| 12–15 | zero |
| 16 + 48 j | joint j of the skeleton: the upper three rows of ``I − M``, row by row, with w taken off |
| 16 + 48 J + 8 m | muscle m: its bulge T, and its gain, 0 (not there) to 1 (wholly there) |

``M = world_from_joint · bind_inverse``; the fourth number of row r is ``w_r − t_r`` with t the translation of
M. Muscles that the skin slides over come first, then those it follows as joints. Instances follow one another
without a gap. The way is taken off so that a character far from the origin moves as exactly as one at it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError

VERSION = 1
"""Of the layout above; it goes up with any change."""
MUSCLE_BYTES = 8
"""Of a muscle in a frame."""

Floats = npt.NDArray[np.float64]


def payload_type(joint_count: int, muscle_count: int) -> np.dtype[np.void]:
    """One instance of a character with so many joints and muscles."""
    return np.dtype(
        [
            ("way", "<f4", (4,)),
            ("joints", "<f4", (joint_count, 3, 4)),
            ("muscles", "<f4", (muscle_count, 2)),
        ]
    )


def packed_payload(
    difference: Floats, bulge: Floats, gain: npt.ArrayLike = 1.0, out: npt.NDArray[Any] | None = None
) -> npt.NDArray[Any]:
    """The payload of n instances, (n,), of `payload_type`.

    Args:
        difference: ``M − I`` of the skeleton's joints, (n, joints, 4, 4).
        bulge: T of all muscles, (n, muscles).
        gain: How much of each muscle is shown, 0 to 1, one number or (n, muscles).
        out: Where to write.
    """
    count, joint_count = difference.shape[:2]
    if difference.shape[2:] != (4, 4) or bulge.ndim != 2 or len(bulge) != count:
        raise EcorcheError(
            f"matrices of shape {difference.shape} and bulges of {bulge.shape} are no instances",
            remedy="Give shapes (instances, joints, 4, 4) and (instances, muscles)",
        )
    kind = payload_type(joint_count, bulge.shape[1])
    if out is None:
        out = np.zeros(count, kind)
    elif out.shape != (count,) or out.dtype != kind:
        raise EcorcheError(
            f"the output array is {out.dtype} of shape {out.shape}",
            remedy=f"Give {count} of `payload_type({joint_count}, {bulge.shape[1]})`",
        )
    way = difference[:, 0, :3, 3]
    out["way"][:, :3] = way
    out["joints"] = -difference[:, :, :3]
    out["joints"][..., 3] = way[:, None] - difference[:, :, :3, 3]
    out["muscles"][..., 0], out["muscles"][..., 1] = bulge, gain
    return out
