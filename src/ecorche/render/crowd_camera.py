"""Where the camera of a crowd stands: so that everybody is seen, or at eye level beside the first row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import normalise
from ecorche.body.crowd import Crowd
from ecorche.body.crowd_frames import Eye
from ecorche.errors import EcorcheError
from ecorche.render.camera import FIELD_OF_VIEW, direction, frame_subject

Floats = npt.NDArray[np.float64]

CAMERAS = ("whole", "eye")
RISE = 20.0
"""Degrees above the horizon from which a whole crowd is seen."""
EYE_FIELD = 40.0
"""Vertical opening at eye level [degrees]."""
EYE_HEIGHT, NEAREST = 0.93, 1.5
"""How high the eye is, and how near anybody comes to it, in heights of the character."""
MOMENTS = 24
"""Moments at which the camera looks where everybody is."""


@dataclass(frozen=True, eq=False)
class CrowdCamera:
    """A camera that stands still.

    Attributes:
        target: What it looks at [m], (3,).
        offset: From target to camera [m], (3,).
        field: Vertical opening [degrees].
    """

    target: Floats
    offset: Floats
    field: float

    def eye(self, height: int) -> Eye:
        """What it sees in pictures so many pixels high."""
        return Eye(self.target + self.offset, 2.0 * np.tan(np.radians(self.field) / 2.0) / height)


def crowd_camera(
    crowd: Crowd, times: Floats, size: tuple[int, int], *, view: str = "three_quarter", camera: str = "whole"
) -> CrowdCamera:
    """The camera for a crowd at some times [s].

    Args:
        crowd: The crowd.
        times: When it is seen.
        size: Width and height of the pictures [pixels].
        view: ``"front"``, ``"three_quarter"``, ``"side"`` or ``"back"``.
        camera: ``"whole"`` shows everybody; ``"eye"`` stands at eye level by the first row.
    """
    if camera not in CAMERAS:
        raise EcorcheError(
            f"there is no camera {camera!r}", where="camera", remedy=suggestion(camera, CAMERAS)
        )
    corners = _corners(crowd, times)
    towards = direction(view, np.array([0.0, 0.0, 1.0]))
    level = normalise(towards * (1.0, 0.0, 1.0))
    if camera == "eye":
        return _at_eye_level(corners, level)
    rise = np.radians(RISE)
    towards = np.cos(rise) * level + np.array([0.0, np.sin(rise), 0.0])
    found = frame_subject(corners, np.zeros(len(corners)), towards, size[0] / size[1], follow=False)
    return CrowdCamera(found.targets[0], found.offset, FIELD_OF_VIEW)


def _at_eye_level(corners: Floats, level: Floats) -> CrowdCamera:
    """As near as it can stand without anybody coming near, looking at the middle of the crowd at first."""
    height = float(corners[..., 1].max())
    middle = 0.5 * (corners[0].min(axis=0) + corners[0].max(axis=0)) * (1.0, 0.0, 1.0)
    around = (corners.reshape(-1, 3) - middle) * (1.0, 0.0, 1.0)
    along = around @ level
    aside = (around**2).sum(axis=1) - along**2
    room = (NEAREST * height) ** 2 - aside
    away = float((along[room > 0.0] + np.sqrt(room[room > 0.0])).max())
    target = middle + np.array([0.0, 0.5 * height, 0.0])
    offset = away * level + np.array([0.0, (EYE_HEIGHT - 0.5) * height, 0.0])
    return CrowdCamera(target, offset, EYE_FIELD)


def _corners(crowd: Crowd, times: Floats) -> Floats:
    """Corners of the boxes that members stay in [m], (moments, 8 members, 3)."""
    members, cast = np.arange(len(crowd)), crowd.cast
    height = float(np.ptp(crowd.programs[0].points[:, 1]))
    reach = np.array([[c.reach.left, c.reach.right, c.reach.ahead, c.reach.behind] for c in crowd.clips])
    wide = reach[cast.clip].max(axis=1)
    signs = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (0.0, 1.05) for z in (-1.0, 1.0)])
    box = signs[None] * np.stack([wide, np.full(len(wide), height), wide], axis=1)[:, None]
    moments = np.unique(times[np.linspace(0, len(times) - 1, MOMENTS).round().astype(np.int64)])
    return np.stack(
        [(crowd.whereabouts(members, float(time))[:, None] + box).reshape(-1, 3) for time in moments]
    )
