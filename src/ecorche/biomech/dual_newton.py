"""The cheapest way for muscles to make given torques: one small problem a frame, solved by its dual.

    minimise   Σ q_i x_i^p + Σ w_i (x_i − e_i)² + Σ (r_j / o_j)²
    such that  Σ_i A_ij x_i + r_j = b_j   and   l_i ≤ x_i ≤ h_i

x are the efforts of n muscles, r what reserves add to m torques. The cost is strictly convex and each effort
stands alone in it, so given prices λ of the torques every effort follows at once: the x between its bounds
whose marginal cost is s_i = Σ_j A_ij λ_j, and r_j = λ_j o_j²/2. What is left is to find m prices at which
Σ_i A_ij x_i(λ) + r_j = b_j: the gradient of a convex function of λ, whose second derivative jumps where a
muscle reaches a bound (semismooth Newton). Its matrix Σ_i A_i A_iᵀ / φ_i'' over muscles inside their bounds,
plus o²/2 on the diagonal, is never singular. Along a Newton step all sums are functions of s alone, n
numbers, so the step's length is found by bisection for next to nothing.

For p = 2 the answer is exact once the right muscles are at their bounds, and λ is then solved for anew: warm
and cold starts give the same. For p = 1 the cost is not strict, and SLIGHT x² is added: of all cheapest
answers the least.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]

SLIGHT = 1e-4
"""Quadratic share of the cost for p = 1."""
CLOSE = 1e-10
"""Torques are met to this share of the most that the muscles could make."""
QUICK, MOST_STEPS = np.int64(12), np.int64(60)  # see `compiled_once`
"""Steps from a guess before reserves are made strong; steps at each of their strengths."""
EASY, FALL, LEAST_EVEN = 1e-2, 10.0, 1e-12
"""Strength that reserves begin with, as a share of the muscles'; what they and the quadratic share of the
cost lose at a time; where the latter ends."""
ROUNDING = 2e-15
"""Of marginal costs, as a share of their largest summand."""


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _effort(
    s: float, q: float, p: float, w: float, pull: float, low: float, high: float
) -> tuple[float, float]:
    """The effort whose marginal cost is s, and dx/ds; 0 where a bound holds it."""
    if p == 2.0 or p == 1.0:
        slope = 1.0 / (2.0 * (q if p == 2.0 else SLIGHT * q) + 2.0 * w)
        x = (s + pull - (0.0 if p == 2.0 else q)) * slope
        if x < low:
            return low, 0.0
        return (high, 0.0) if x > high else (x, slope)
    cost = s + pull
    if cost <= q * p * low ** (p - 1.0) + 2.0 * w * low:
        return low, 0.0
    if cost >= q * p * high ** (p - 1.0) + 2.0 * w * high:
        return high, 0.0
    x = (cost / (q * p)) ** (1.0 / (p - 1.0))
    if w > 0.0:
        a, b = low, min(high, x)
        x = 0.5 * (a + b) if x > high else x
        for _ in range(100):
            off = q * p * x ** (p - 1.0) + 2.0 * w * x - cost
            if off > 0.0:
                b = x
            else:
                a = x
            after = x - off / (q * p * (p - 1.0) * x ** (p - 2.0) + 2.0 * w)
            if not a < after < b:
                after = 0.5 * (a + b)
            done = abs(after - x) <= 1e-16 + 1e-15 * x
            x = after
            if done:
                break
    steep = q * p * (p - 1.0) * max(x, 1e-9) ** (p - 2.0) + 2.0 * w
    return x, 1.0 / steep


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _efforts(
    s: Floats,
    q: Floats,
    p: float,
    w: Floats,
    pull: Floats,
    low: Floats,
    high: Floats,
    x: Floats,
    slope: Floats,
) -> None:
    for i in range(len(s)):
        x[i], slope[i] = _effort(s[i], q[i], p, w[i], pull[i], low[i], high[i])


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _marginal(A: Floats, price: Floats, s: Floats) -> None:
    for i in range(len(s)):
        total = 0.0
        for j in range(len(price)):
            total += A[i, j] * price[j]
        s[i] = total


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _missing(A: Floats, b: Floats, own: Floats, price: Floats, x: Floats, gap: Floats) -> None:
    """What is left of the torques b after muscles and reserves, (m,)."""
    for j in range(len(b)):
        gap[j] = b[j] - own[j] * price[j]
    for i in range(len(x)):
        if x[i] != 0.0:
            for j in range(len(b)):
                gap[j] -= A[i, j] * x[i]


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _matrix(A: Floats, slope: Floats, own: Floats, H: Floats) -> None:
    """The lower triangle of Σ slope A Aᵀ + diag(own), (m, m)."""
    m = len(own)
    for j in range(m):
        for k in range(m):
            H[j, k] = 0.0
        H[j, j] = own[j]
    for i in range(len(slope)):
        if slope[i] > 0.0:
            for j in range(m):
                a = slope[i] * A[i, j]
                if a != 0.0:
                    for k in range(j + 1):
                        H[j, k] += a * A[i, k]


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _solve(H: Floats, y: Floats) -> None:
    """Solve H z = y for z, in place of y; Cholesky's factor takes the place of H's lower triangle."""
    m = len(y)
    for j in range(m):
        for k in range(j):
            a = H[j, k]
            for c in range(k):
                a -= H[j, c] * H[k, c]
            a /= H[k, k]
            H[j, k] = a
        d = H[j, j]
        for c in range(j):
            d -= H[j, c] * H[j, c]
        H[j, j] = np.sqrt(d)
    for j in range(m):
        a = y[j]
        for k in range(j):
            a -= H[j, k] * y[k]
        y[j] = a / H[j, j]
    for j in range(m - 1, -1, -1):
        y[j] /= H[j, j]
        for k in range(j):
            y[k] -= H[j, k] * y[j]


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _newton(
    A: Floats,
    b: Floats,
    q: Floats,
    p: float,
    w: Floats,
    pull: Floats,
    low: Floats,
    high: Floats,
    own: Floats,
    price: Floats,
    x: Floats,
    most: int,
) -> tuple[int, bool]:
    """At most so many Newton steps from prices (m,), in place: how many, and whether they got there."""
    n, m = A.shape
    slope, s, along, gap, step = np.empty(n), np.empty(n), np.empty(n), np.empty(m), np.empty(m)
    after, before, H, scale = np.empty(m), np.empty(n), np.empty((m, m)), np.abs(b)
    for i in range(n):
        for j in range(m):
            scale[j] += abs(A[i, j]) * high[i]
    exact = p == 2.0 or p == 1.0
    _marginal(A, price, s)
    _efforts(s, q, p, w, pull, low, high, x, slope)
    for count in range(1, most + 1):
        _missing(A, b, own, price, x, gap)
        _matrix(A, slope, own, H)
        for j in range(m):
            step[j] = b[j] if exact else gap[j]
        if exact:  # solve for the prices themselves, so that rounding does not depend on where they began
            for i in range(n):
                held = pull[i] - (q[i] if p == 1.0 else 0.0)
                rest = x[i] if slope[i] == 0.0 else slope[i] * held
                if rest != 0.0:
                    for j in range(m):
                        step[j] -= A[i, j] * rest
        _solve(H, step)
        if exact:
            for j in range(m):
                after[j] = step[j]
                step[j] -= price[j]
        _marginal(A, step, along)
        first = 0.0
        for j in range(m):
            first += step[j] * gap[j]
        # how much the torques still ask for along the step falls from `first` to 0 where the cost is least
        length, lower, upper = 1.0, 0.0, 1.0
        for _ in range(60):
            left = 0.0
            for j in range(m):
                left += step[j] * (b[j] - own[j] * (price[j] + length * step[j]))
            for i in range(n):
                at, _ = _effort(s[i] + length * along[i], q[i], p, w[i], pull[i], low[i], high[i])
                left -= at * along[i]
            if left >= -1e-7 * abs(first) or first <= 0.0:  # the latter by rounding, at the end
                lower = length
                if left <= 0.2 * abs(first) or length == 1.0:
                    break
            else:
                upper = length
            length = 0.5 * (lower + upper)
        for j in range(m):
            price[j] = after[j] if exact and length == 1.0 else price[j] + length * step[j]
        for i in range(n):
            before[i] = slope[i]
        _marginal(A, price, s)
        _efforts(s, q, p, w, pull, low, high, x, slope)
        same = exact and length == 1.0
        for i in range(n):
            same = same and slope[i] == before[i]
        if same:
            return count, True
        _missing(A, b, own, price, x, gap)
        for j in range(m):
            step[j] = CLOSE * scale[j]
        for i in range(n):  # what rounding of the marginal costs leaves open where prices are high
            if slope[i] > 0.0:
                size = 0.0
                for j in range(m):
                    size += abs(A[i, j] * price[j])
                for j in range(m):
                    step[j] += ROUNDING * size * slope[i] * abs(A[i, j])
        met = True
        for j in range(m):
            met = met and abs(gap[j]) <= step[j]
        if met:
            return count, True
    return most, False


@njit(inline="always")  # type: ignore[untyped-decorator]
def solve_frame(
    A: Floats,
    b: Floats,
    q: Floats,
    p: float,
    w: Floats,
    pull: Floats,
    low: Floats,
    high: Floats,
    own: Floats,
    price: Floats,
    x: Floats,
) -> int:
    """One frame: prices (m,) go in as a first guess and come out right, efforts x (n,) come out.

    Args:
        A: Torque of each muscle for one unit of effort, (n, m).
        b: Torques asked, (m,).
        q, w: Costs of efforts and of their distance to wanted ones e, (n,).
        p: Power of the cost, from 1.
        pull: 2 w e, (n,).
        low, high: Bounds of efforts, (n,).
        own: o²/2 of the reserves, above 0, (m,).

    Returns:
        Newton steps taken; negative where they did not get there.
    """
    total, done = _newton(A, b, q, p, w, pull, low, high, own, price, x, QUICK)
    if done:
        return int(total)
    # prices of torques that muscles cannot make are far from all others, and muscles with a power above 2 go
    # from rest to work at nearly one price: come to both from strong reserves and a cost that is more even
    n, m = A.shape
    price[:] = 0.0
    stage, even = np.zeros(m), w.copy()
    for j in range(m):
        for i in range(n):
            stage[j] += EASY * A[i, j] * A[i, j]
        stage[j] = max(stage[j], own[j])
    if p > 2.0:
        even += q
    while True:
        steps, done = _newton(A, b, q, p, even, pull, low, high, stage, price, x, MOST_STEPS)
        total += steps
        last = True
        for j in range(m):
            last = last and stage[j] == own[j]
            stage[j] = max(own[j], stage[j] / FALL)
        for i in range(n):
            last = last and even[i] == w[i]
            more = (even[i] - w[i]) / FALL
            even[i] = w[i] + more if more > LEAST_EVEN * q[i] else w[i]
        if last:
            return int(total) if done else -int(total)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def solve_frames(
    arms: Floats,
    gain: Floats,
    torques: Floats,
    q: Floats,
    p: float,
    w: Floats,
    e: Floats,
    low: Floats,
    high: Floats,
    own: Floats,
    effort: Floats,
    reserve: Floats,
    steps: npt.NDArray[np.int64],
) -> None:
    """All frames of a motion one after the other, each from the prices of the one before.

    Args:
        arms: Moment arms (frames, n, m), or (1, n, m) for all frames.
        gain: Force for one unit of effort, (frames, n).
        torques: Asked of the muscles, (frames, m).
        q, w: Costs, (n,) and (frames, n).
        p: Power of the cost.
        e: Wanted efforts, (frames, n).
        low, high: Bounds of efforts, (n,).
        own: o²/2 of the reserves, (m,).
        effort: Comes out, (frames, n).
        reserve: What reserves add, comes out, (frames, m).
        steps: As of `solve_frame`, comes out, (frames,).
    """
    frames, n = gain.shape
    m = len(own)
    price, A, pull = np.zeros(m), np.empty((n, m)), np.empty(n)
    for f in range(frames):
        arm = arms[f if len(arms) > 1 else 0]
        for i in range(n):
            pull[i] = 2.0 * w[f, i] * e[f, i]
            for j in range(m):
                A[i, j] = arm[i, j] * gain[f, i]
        steps[f] = solve_frame(A, torques[f], q, p, w[f], pull, low, high, own, price, effort[f])
        for j in range(m):
            reserve[f, j] = own[j] * price[j]
