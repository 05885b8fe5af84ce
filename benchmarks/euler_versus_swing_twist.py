"""The shoulder's twist through a serve, as three Euler angles tell it and as swing and twist do.

Figure 3.5 of the thesis shows a captured tennis serve whose Euler twist drops steeply near the singularity.
Those data are not published; the serve here is authored by us, as directions of the upper arm and of the
elbow's bend at some moments, joined by a spline of rotations that knows of neither parameterisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation, RotationSpline

from benchmarks.plots import panels, save
from ecorche.skeleton.human_limits import human_joint
from ecorche.skeleton.joints import BallAndSocket
from ecorche.skeleton.reach import anatomical_frame

Floats = npt.NDArray[np.float64]

FIGURE = Path(__file__).resolve().parent / "figures" / "euler_versus_swing_twist.png"
RATE = 240  # samples a second

KEYS = (
    # time [s], upper arm, where the elbow would bend to; +X left, +Y up, +Z forward
    (0.0, (-0.15, -0.95, 0.25), (0.2, 0.3, 1.0)),  # ready, racket before the body
    (1.5, (-0.25, -0.95, 0.00), (0.1, 0.0, 1.0)),  # arm drops
    (3.0, (-0.70, -0.60, -0.30), (0.0, -0.2, 1.0)),  # and swings out and back
    (4.5, (-0.85, -0.12, -0.45), (0.0, 0.5, 1.0)),  # raised towards the height of the shoulder
    (5.6, (-0.93, -0.02, -0.34), (0.0, 1.0, 0.15)),  # cocked: forearm upright
    (5.9, (-0.98, 0.02, 0.18), (0.1, 1.0, 0.15)),  # elbow leads, shoulder high
    (6.2, (-0.50, 0.80, 0.35), (0.7, 0.4, 0.4)),  # ball struck
    (6.6, (-0.05, 0.35, 0.93), (0.9, 0.0, 0.1)),  # through
    (7.2, (0.35, -0.55, 0.75), (0.8, 0.3, 0.2)),  # and down across the body
    (8.5, (-0.05, -0.95, 0.20), (0.3, 0.2, 1.0)),
)


@dataclass(frozen=True, eq=False)
class Serve:
    """What was found, angles in degrees, each of shape (samples,)."""

    times: Floats
    euler_twist: Floats
    euler_flexion: Floats
    swing_twist: Floats
    arm_speed: Floats  # the arm's angular speed [°/s], whatever it is described by
    nearest_lock: float  # how near Euler's second angle comes to ±90°
    nearest_opposite: float  # how near the arm comes to the direction where swing and twist fail
    beyond: float  # the farthest it goes beyond the human shoulder's limits

    def rate(self, angle: Floats) -> Floats:
        """Change of an angle [°/s]."""
        return np.asarray(np.gradient(angle, self.times))


def serve() -> tuple[Floats, Rotation]:
    """Times [s] and shoulder rotations relative to the arm hanging at the side."""
    rest = _axes(np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0]))
    keys = [_axes(np.array(arm), np.array(bend)) @ rest.T for _, arm, bend in KEYS]
    spline = RotationSpline([time for time, _, _ in KEYS], Rotation.from_matrix(np.stack(keys)))
    times = np.arange(0.0, KEYS[-1][0], 1.0 / RATE)
    return times, spline(times)


def measure() -> Serve:
    """Both descriptions of the same motion."""
    times, rotations = serve()
    shoulder = human_joint("r_shoulder")
    assert isinstance(shoulder, BallAndSocket)
    parameters = np.degrees(shoulder.parameters(rotations.as_quat()))
    # flexion about x, abduction about y, twist about the arm z: the scheme of the thesis's figure 3.4
    frame = Rotation.from_quat(anatomical_frame(limb=(0, -1, 0), x=(-1, 0, 0)))
    euler = np.unwrap((frame.inv() * rotations * frame).as_euler("XYZ"), axis=0)
    speed = np.linalg.norm((rotations[1:] * rotations[:-1].inv()).as_rotvec(), axis=1) * RATE
    _, excess = shoulder.clamp(rotations.as_quat())
    return Serve(
        times=times,
        euler_twist=np.degrees(euler[:, 2]),
        euler_flexion=np.degrees(euler[:, 0]),
        swing_twist=np.degrees(np.unwrap(np.radians(parameters[:, 2]))),
        arm_speed=np.degrees(np.append(speed, speed[-1])),
        nearest_lock=float(90.0 - np.degrees(np.abs(euler[:, 1])).max()),
        nearest_opposite=float(180.0 - np.linalg.norm(parameters[:, :2], axis=1).max()),
        beyond=float(np.degrees(max(excess.swing.max(), excess.twist.max()))),
    )


def draw(found: Serve, path: Path = FIGURE) -> None:
    """The plot, as figure 3.5, with the rates of change below."""
    figure, (upper, lower) = panels(2, 1, (8.0, 6.0), sharex=True)
    euler, ours = "#c4412f", "#1f5f99"
    upper.plot(found.times, found.euler_twist, color=euler, label="Euler xyz: twist")
    upper.plot(found.times, found.euler_flexion, color=euler, lw=0.8, ls="--", label="Euler xyz: flexion")
    upper.plot(found.times, found.swing_twist, color=ours, lw=2.0, label="swing–twist: twist")
    upper.set_ylabel("angle [°]")
    upper.set_title("Twist of the upper arm through a serve")
    upper.legend(frameon=False, loc="upper left")
    lower.plot(found.times, np.abs(found.rate(found.euler_twist)), color=euler, label="Euler twist")
    lower.plot(
        found.times, np.abs(found.rate(found.swing_twist)), color=ours, lw=2.0, label="swing–twist twist"
    )
    lower.plot(found.times, found.arm_speed, color="0.6", lw=1.0, label="the arm's own angular speed")
    lower.set_ylabel("rate of change [°/s]")
    lower.set_xlabel("time [s]")
    lower.legend(frameon=False, loc="upper left")
    save(figure, path)


def section() -> str:
    """The results as markdown; draws the figure."""
    found = measure()
    draw(found)
    euler, ours = (float(np.abs(found.rate(a)).max()) for a in (found.euler_twist, found.swing_twist))
    return f"""## Euler angles against swing and twist

A serve-like motion of the right shoulder, {found.times[-1]:.1f} s, authored by us (the thesis's captured
serve is not available), described by Euler angles xyz and by swing and twist, as in the thesis's figure 3.5.

| | Euler xyz | swing–twist |
|---|---|---|
| fastest change of twist | {euler:,.0f} °/s | {ours:,.0f} °/s |
| nearest to its singularity | {found.nearest_lock:.1f}° | {found.nearest_opposite:.1f}° |

The arm itself never turns faster than {found.arm_speed.max():,.0f} °/s.

![Twist of the upper arm through a serve](figures/{FIGURE.name})
"""


def _axes(arm: Floats, bend: Floats) -> Floats:
    """A rotation matrix from the arm's direction and, as far as perpendicular to it, the elbow's bend."""
    z = arm / np.linalg.norm(arm)
    x = bend - (bend @ z) * z
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


if __name__ == "__main__":
    print(section())
