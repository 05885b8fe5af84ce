"""What the EMG of some muscles says about the others: they are drawn to the time courses that were measured.

Muscles that work together share few time courses. (1) The measured envelopes e (frames, channels) are
factored, e ≈ c h with c, h ≥ 0, into k courses c (`courses`). (2) Every muscle without EMG is taken to follow
them, a = c w with w ≥ 0, every muscle with EMG its own envelope times a factor, as how loud a channel is says
little of its muscle's effort. Weights and factors are those that make the torques of all frames best,

    minimise   Σ_j mean_f ((τ_fj − Σ_m A_fmj a_fm) / max_f |τ_fj|)² + EFFORT Σ_m mean_f a_fm²,

one problem of non-negative least squares for the whole motion. (3) This is done for several k, and the mean
is taken: one k alone predicts muscles that were left out far less evenly (see benchmarks, tensions). The
result is a soft target of `muscle_tensions`, which meets the torques of each frame.

The idea is that of synergy extrapolation (Ao, Shourijeh, Patten and Fregly 2020), by torques alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

COUNTS = (3, 4, 5, 6)
"""Numbers of courses that are averaged over: what is published for walking."""
EFFORT = 0.01
"""How much the squared activation counts against the squared share of torques that is missed."""
SWEEPS, FIRST, FAINT = 600, 1e-3, 1e-6
"""Of the factoring: its steps, what they begin with where the singular vectors have nothing, and the share of
the envelopes' largest value below which a course is none."""


def courses(envelopes: npt.ArrayLike, count: int) -> Floats:
    """At most so many time courses, each 0 to 1, whose non-negative sums are nearest to envelopes.

    Hierarchical alternating least squares from the singular vectors' positive or negative parts, so the same
    envelopes give the same courses. There are fewer where the envelopes have fewer.

    Args:
        envelopes: From 0, (frames, channels).
        count: k, 1 to the number of channels.

    Returns:
        (frames, k).
    """
    given = np.asarray(envelopes, np.float64)
    left, size, right = np.linalg.svd(given, full_matrices=False)
    c, h = np.empty((len(given), count)), np.empty((count, given.shape[1]))
    for k in range(count):
        parts = [(np.maximum(s * left[:, k], 0.0), np.maximum(s * right[k], 0.0)) for s in (1.0, -1.0)]
        shares = [float(np.linalg.norm(u) * np.linalg.norm(v)) for u, v in parts]
        u, v = parts[int(np.argmax(shares))]
        scale = np.sqrt(size[k] * max(shares))
        c[:, k] = scale * u / max(np.linalg.norm(u), 1e-300) + FIRST
        h[k] = scale * v / max(np.linalg.norm(v), 1e-300) + FIRST
    for _ in range(SWEEPS):
        hh, eh = h @ h.T, given @ h.T
        for k in range(count):
            c[:, k] = np.maximum(c[:, k] + (eh[:, k] - c @ hh[:, k]) / max(hh[k, k], 1e-12), 0.0)
        cc, ce = c.T @ c, c.T @ given
        for k in range(count):
            h[k] = np.maximum(h[k] + (ce[k] - cc[k] @ h) / max(cc[k, k], 1e-12), 0.0)
    top = c.max(axis=0)
    heard = top * h.max(axis=1) > FAINT * given.max()
    return np.asarray(c[:, heard] / top[heard])


def synergy_targets(
    able: Floats, torques: Floats, measured: Floats, counts: Sequence[int] = COUNTS
) -> Floats:
    """Activation that muscles are drawn to, NaN where EMG says nothing, (frames, M).

    EMG speaks for muscles that share a coordinate with one it was measured on. Limbs that no muscle joins are
    taken apart: each follows its own channels.

    Args:
        able: Torque of each muscle at full activation, 0 where it does not cross, (frames, M, C).
        torques: That activation has to make, (frames, C).
        measured: Activation by EMG, NaN where none was measured, (frames, M).
        counts: Numbers of courses to average over.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    known = np.isfinite(measured).all(axis=0)
    if np.isfinite(measured[:, ~known]).any():
        frame, column = (int(k) for k in np.argwhere(np.isfinite(measured) & ~known)[0])
        raise EcorcheError(
            "measured activity has gaps",
            where=f"synergies of EMG, muscle {column}, measured in frame {frame}",
            remedy="Give every frame of a muscle or none",
        )
    crosses = (able != 0.0).any(axis=0)
    near = crosses[:, crosses[known].any(axis=0)].any(axis=1) | known
    whole = crosses.any(axis=0) & ~crosses[~near].any(axis=0)  # coordinates all of whose muscles are near
    size, pairs = sum(crosses.shape), np.argwhere(crosses & near[:, None] & whole)
    ends = pairs[:, 0], pairs[:, 1] + len(crosses)
    _, limb = connected_components(coo_matrix((np.ones(len(pairs)), ends), (size, size)), directed=False)
    target = np.full(measured.shape, np.nan)
    for one in np.unique(limb[: len(crosses)][known]):
        some = np.flatnonzero(near & (limb[: len(crosses)] == one))
        about = np.flatnonzero(whole & (limb[len(crosses) :] == one))
        if not about.size:  # a measured muscle whose torques others make too keeps its envelope
            target[:, some] = measured[:, some]
            continue
        part = able[:, some][:, :, about], torques[:, about], measured[:, some]
        target[:, some] = _of_limb(*part, counts)
    return target


def _of_limb(able: Floats, torques: Floats, measured: Floats, counts: Sequence[int]) -> Floats:
    """Targets of muscles that are all joined, (frames, M)."""
    known: Bools = np.asarray(np.isfinite(measured).all(axis=0))
    channels = np.unique(measured[:, known], axis=1)
    if not counts or min(counts) < 1 or max(counts) > channels.shape[1]:
        raise EcorcheError(
            f"{channels.shape[1]} channels on a limb have no {max(counts, default=0)} courses",
            where="synergies of EMG",
            remedy=f"Ask for 1 to {channels.shape[1]} courses, or leave synergies out",
        )
    peak = np.abs(torques).max(axis=0)
    scale = np.where(peak > 0.0, peak, 1.0) * np.sqrt(len(torques))
    fits = [_fitted(able / scale, torques / scale, measured, known, courses(channels, k)) for k in counts]
    return np.asarray(np.clip(np.mean(fits, axis=0), 0.0, 1.0))


def _fitted(able: Floats, torques: Floats, measured: Floats, known: Bools, shared: Floats) -> Floats:
    """Activations that make the torques best, each on its own envelope or the shared courses, (frames, M)."""
    from scipy.linalg import cholesky, solve_triangular
    from scipy.optimize import nnls

    bases = [measured[:, [m]] if known[m] else shared for m in range(measured.shape[1])]
    muscle: Ints = np.repeat(np.arange(len(bases)), [base.shape[1] for base in bases])
    basis = np.concatenate(bases, axis=1)
    # normal equations, as the motion may be long: so many columns squared, whatever the frames
    square = EFFORT * (muscle[:, None] == muscle) * (basis.T @ basis) / len(basis)
    side = np.zeros(len(muscle))
    for c in range(torques.shape[1]):
        column = basis * able[:, muscle, c]
        square += column.T @ column
        side += column.T @ torques[:, c]
    square[np.diag_indices_from(square)] += max(1e-12 * square.trace(), 1e-300)
    factor = cholesky(square)
    weight, _ = nnls(factor, solve_triangular(factor, side, trans=1), maxiter=30 * len(side))
    return np.stack([basis[:, muscle == m] @ weight[muscle == m] for m in range(len(bases))], axis=1)
