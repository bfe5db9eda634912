"""A dual active-set method on a small dense program, compiled where numba is installed: that of Goldfarb and Idnani
(1983), in the box of a support vector machine as by Vishwanathan, Smola and Murty (2003):

    minimise  1/2 b'Kb + p'b   subject to  low <= b <= high,   sum_i b_i = total   (if there is an equation)

With g = Kb + p and the multiplier s of the equation, b is optimal where g + s is 0 between the bounds, at least 0 at
the lower and at most 0 at the upper ones. The active set A are unknowns between their bounds that solve their equations
g_A + s = 0, with the triangle R of

    R'R = K_AA + sigma 11',      e = R'^-1 1,

in which sigma makes up for what the equation takes; e is the last column but one of the array of R, v = R'^-1 k_i the
last. The unknown i that violates its condition most moves at the rate theta = +1 or -1, A keeping its equations:

    ds = theta (1 - e'v) / e'e,      d_A = -R^-1 (theta v + ds e),      kappa = k_ii - v'v + (1 - e'v)^2 / e'e,

until g_i + s is 0, after |g_i + s| / kappa, and i joins A; or until i is at its bound; or until one of A is, which
leaves. The objective falls with every step. Where nothing ends it, it falls for ever.

All of it is one file: what is kept of compiled code is known to be out of date by its own file only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from convexcls.arrays import Array, Indices, Mask
from convexcls.compilation import compiled_reordered
from convexcls.solvers.dual.small_program import Box

#: How a run ends.
OPTIMAL, ENDLESS, TOO_LONG = 0, 1, 2
#: A curvature below this fraction of the diagonal is none: the row depends on the active ones.
FLAT = 1e-12
#: Rounding in units of what is added up.
EPS = 2.0**-52
#: How often what rounding left of the equations is taken out.
CORRECTIONS = 3


class Working(NamedTuple):
    """What a run works on, in place: b with its gradient g, the active set A in its first places, R with e and v, a
    step d of A, which unknowns are not in A, and the direction in which the objective falls for ever, where it does."""

    b: Array
    g: Array
    A: Indices
    R: Array
    d: Array
    inactive: Mask
    way: Array

    @classmethod
    def at(cls, b: Array, widest: int) -> Working:
        """At a point, with A no larger than ``widest``."""
        A, R = np.empty(widest + 1, dtype=np.intp), np.empty((widest, widest + 2))
        return cls(b, np.empty(b.size), A, R, np.empty(widest + 1), np.ones(b.size, dtype=bool), np.zeros(b.size))


@compiled_reordered
def descend(box: Box, w: Working, m: int, most: int) -> tuple[int, float, int]:
    """Go from a feasible b, of which the first ``m`` in A are factorized, to the optimum, in hardly more than ``most``
    steps. Returns how it ended, s, and the steps."""
    _refresh(box, w, w.b)
    m, s = _settled(box, w, *_begun(box, w, m))
    steps, corrections = 0, 0
    while steps < most:
        noise = _noise(box, w, s)
        if box.has_sum and m == 0:
            m, s = _begun_with_a_pair(box, w, noise)
        i, worst = _most_violating(box, w, s)
        if worst > noise:
            m, s, taken, ended = _enter(box, w, m, s, i)
            steps, corrections = steps + taken, min(corrections, 1)
            if ended:
                return ENDLESS, s, steps
        elif corrections > CORRECTIONS:
            return OPTIMAL, s, steps
        else:
            _refresh(box, w, w.b)
            corrections = CORRECTIONS + 1 if _is_exact(box, w, m, s) else corrections + 1
            m, s = _settled(box, w, m, s)
    return TOO_LONG, s, steps


@compiled_reordered
def _enter(box: Box, w: Working, m: int, s: float, i: int) -> tuple[int, float, int, bool]:
    """Move i until its condition holds or it is at a bound; the new size of A, s, the steps, and whether the objective
    falls for ever on the way."""
    theta, size, steps = 1.0 if w.g[i] + s < 0.0 else -1.0, box.diagonal[i] + box.sigma, 0
    _fill_column(box, w, m, i)
    while True:
        steps += 1
        pivot = _pivot(w.R, m, size)
        ds, curvature = _direction(box, w, m, theta, pivot)
        own = box.high[i] - w.b[i] if theta > 0.0 else w.b[i] - box.low[i]
        whole = max(-theta * (w.g[i] + s), 0.0) / curvature if curvature > FLAT * size else np.inf
        step, stopped = _to_first_bound(box, w, m, min(whole, own))
        if step == np.inf:
            _keep_the_way(box, w, m, i, theta, ds)
            return m, s, steps, True
        w.A[m], w.d[m] = i, theta
        _move(box, w, m + 1, step)
        s += step * ds
        if stopped < 0:
            break
        m = _stay_at_bound(box, w, m, stopped)
        if box.has_sum and m == 0:
            if box.low[i] < w.b[i] < box.high[i]:
                m, s = _join(w, 0, i, size), -w.g[i]
            return m, s, steps, False
    if own <= whole:
        w.b[i] = box.high[i] if theta > 0.0 else box.low[i]
    elif pivot > FLAT * size and m < w.R.shape[0]:
        m = _join(w, m, i, pivot)
    return m, s, steps, False


# ---- the program ---------------------------------------------------------------------------------------------


@compiled_reordered
def _refresh(box: Box, w: Working, x: Array) -> None:
    """g = Kx + p, worked out afresh."""
    g, u = w.g, np.zeros(box.M.shape[1])
    for t in range(g.size):
        g[t] = box.p[t] + box.compliance[t] * x[t]
        if x[t] != 0.0 and box.M.size:
            row, part = box.M[t], x[t]
            for j in range(u.size):
                u[j] += part * row[j]
    if box.M.size:
        _add_product(box, w, u)
        return
    for i in range(g.size):
        if x[i] != 0.0:
            row, part = box.K[i], x[i]
            for t in range(g.size):
                g[t] += part * row[t]


@compiled_reordered
def _add_product(box: Box, w: Working, u: Array) -> None:
    """g with M u added."""
    for t in range(w.g.size):
        row, change = box.M[t], 0.0
        for j in range(u.size):
            change += row[j] * u[j]
        w.g[t] += change


@compiled_reordered
def _noise(box: Box, w: Working, s: float) -> float:
    """What rounding may leave of a condition."""
    total = 0.0
    for t in range(w.b.size):
        total += abs(w.b[t])
    return 2.0 * EPS * (box.unit + abs(s) + box.largest * total)


@compiled_reordered
def _is_exact(box: Box, w: Working, m: int, s: float) -> bool:
    """Whether rounding is all that is left of the equations of A."""
    left = 0.0
    for k in range(m):
        left = max(left, abs(w.g[w.A[k]] + s))
    return left <= 8.0 * EPS * (box.unit + abs(s))


@compiled_reordered
def _most_violating(box: Box, w: Working, s: float) -> tuple[int, float]:
    """The unknown outside A that violates its condition most, and by how much."""
    i, worst = -1, 0.0
    for t in range(w.b.size):
        slope = w.g[t] + s
        can_move = w.b[t] < box.high[t] if slope < 0.0 else w.b[t] > box.low[t]
        if w.inactive[t] and can_move and abs(slope) > worst:
            i, worst = t, abs(slope)
    return i, worst


@compiled_reordered
def _begun_with_a_pair(box: Box, w: Working, noise: float) -> tuple[int, float]:
    """Where A is empty and an equation has to hold, the multiplier s is between the smallest gradient of what can rise
    and the largest of what can fall. Where these violate each other's condition, the second joins A."""
    i, j = -1, -1
    for t in range(w.b.size):
        if w.b[t] < box.high[t] and (i < 0 or w.g[t] < w.g[i]):
            i = t
        if w.b[t] > box.low[t] and (j < 0 or w.g[t] > w.g[j]):
            j = t
    if i < 0 or j < 0:
        return 0, -w.g[max(i, j)] if max(i, j) >= 0 else 0.0
    if w.g[j] - w.g[i] <= noise:
        return 0, -0.5 * (w.g[i] + w.g[j])
    return _join(w, 0, j, box.diagonal[j] + box.sigma), -w.g[j]


@compiled_reordered
def _to_first_bound(box: Box, w: Working, m: int, longest: float) -> tuple[float, int]:
    """How far A can move along d, at most ``longest``, and which of it is at a bound then; -1 if none."""
    step, stopped = longest, -1
    for k in range(m):
        i, rate = w.A[k], w.d[k]
        distance = np.inf
        if rate > 0.0:
            distance = (box.high[i] - w.b[i]) / rate
        elif rate < 0.0:
            distance = (box.low[i] - w.b[i]) / rate
        if distance < step:
            step, stopped = max(distance, 0.0), k
    return step, stopped


@compiled_reordered
def _move(box: Box, w: Working, count: int, step: float) -> None:
    """Move the first of A by d times the step, and g with them."""
    g, u = w.g, np.zeros(box.M.shape[1])
    for k in range(count):
        i, change = w.A[k], step * w.d[k]
        w.b[i] = min(max(w.b[i] + change, box.low[i]), box.high[i])
        if box.K.size:
            row = box.K[i]
            for t in range(g.size):
                g[t] += change * row[t]
        else:
            row = box.M[i]
            for j in range(u.size):
                u[j] += change * row[j]
            g[i] += change * box.compliance[i]
    if box.M.size:
        _add_product(box, w, u)


@compiled_reordered
def _stay_at_bound(box: Box, w: Working, m: int, k: int) -> int:
    """Let the k-th of A leave at the bound that it moves to; the new size of A."""
    i = w.A[k]
    w.b[i] = box.high[i] if w.d[k] > 0.0 else box.low[i]
    w.inactive[i] = True
    return _leave(w, m, k)


@compiled_reordered
def _keep_the_way(box: Box, w: Working, m: int, i: int, theta: float, ds: float) -> None:
    """The direction of A and i along which the objective falls for ever, what rounding left of K times it taken out."""
    way = w.way
    way[i] = theta
    for k in range(m):
        way[w.A[k]] = w.d[k]
    for _ in range(CORRECTIONS):
        _refresh(box, w, way)
        for t in range(way.size):
            w.g[t] -= box.p[t]
        ds += _correction(box, w, m, ds)
        for k in range(m):
            way[w.A[k]] += w.d[k]


# ---- the triangle --------------------------------------------------------------------------------------------


@compiled_reordered
def _begun(box: Box, w: Working, m: int) -> tuple[int, float]:
    """Let all join A that are between their bounds and do not depend on those before them, where none are there yet;
    the size of A, and s."""
    for k in range(m):
        w.R[k, -1], w.inactive[w.A[k]] = 1.0, False
    v = w.R[:m, -1].copy()
    _solve_transposed(w.R, m, v)
    for k in range(m):
        w.R[k, -2] = v[k]
    for i in range(w.b.size if m == 0 else 0):
        if box.low[i] < w.b[i] < box.high[i] and m < w.R.shape[0]:
            _fill_column(box, w, m, i)
            pivot = _pivot(w.R, m, box.diagonal[i] + box.sigma)
            if pivot > FLAT * (box.diagonal[i] + box.sigma):
                m = _join(w, m, i, pivot)
    s = 0.0
    for k in range(m if box.has_sum else 0):
        s -= w.g[w.A[k]] / m
    return m, s


@compiled_reordered
def _settled(box: Box, w: Working, m: int, s: float) -> tuple[int, float]:
    """Bring A to the solution of its equations; what meets a bound on the way stays there and leaves."""
    while m > 0:
        ds = _correction(box, w, m, s)
        step, stopped = _to_first_bound(box, w, m, 1.0)
        _move(box, w, m, step)
        s += step * ds
        if stopped < 0:
            break
        m = _stay_at_bound(box, w, m, stopped)
    return m, s


@compiled_reordered
def _correction(box: Box, w: Working, m: int, s: float) -> float:
    """The step d of A, in place, and ds that take what is left of g_A + s out of it."""
    R, d, ds = w.R, w.d, 0.0
    for k in range(m):
        d[k] = -(w.g[w.A[k]] + s)
    _solve_transposed(R, m, d)
    if box.has_sum:
        along, length = 0.0, 0.0
        for k in range(m):
            along += R[k, -2] * d[k]
            length += R[k, -2] * R[k, -2]
        ds = along / length if m else 0.0
        for k in range(m):
            d[k] -= ds * R[k, -2]
    _solve(R, m, d)
    return ds


@compiled_reordered
def _direction(box: Box, w: Working, m: int, theta: float, pivot: float) -> tuple[float, float]:
    """d_A, in place, for a move at the rate theta, ds and the curvature kappa along it."""
    R, ds, curvature = w.R, 0.0, pivot
    if box.has_sum:
        along, length = 1.0, 0.0
        for k in range(m):
            along -= R[k, -2] * R[k, -1]
            length += R[k, -2] * R[k, -2]
        ds = theta * along / length
        curvature += along * along / length
    for k in range(m):
        w.d[k] = -(theta * R[k, -1] + ds * R[k, -2])
    _solve(R, m, w.d)
    return ds, curvature


@compiled_reordered
def _fill_column(box: Box, w: Working, m: int, i: int) -> None:
    """v = R'^-1 k_i, with k_i the entries of K_Ai + sigma."""
    v, sigma, one = np.empty(m), box.sigma, box.M[i] if box.M.size else box.p
    for k in range(m):
        if box.K.size:
            v[k] = box.K[w.A[k], i] + sigma
        else:
            entry, other = sigma, box.M[w.A[k]]
            for j in range(one.size):
                entry += one[j] * other[j]
            v[k] = entry
    _solve_transposed(w.R, m, v)
    for k in range(m):
        w.R[k, -1] = v[k]


@compiled_reordered
def _pivot(R: Array, m: int, size: float) -> float:
    """The square of the last entry of the column v that joins."""
    for k in range(m):
        size -= R[k, -1] * R[k, -1]
    return max(size, 0.0)


@compiled_reordered
def _join(w: Working, m: int, i: int, pivot: float) -> int:
    """Let i join A, its column v being in place; the new size of A."""
    R, rest = w.R, 1.0
    for k in range(m):
        R[k, m] = R[k, -1]
        rest -= R[k, -1] * R[k, -2]
    root = np.sqrt(pivot)
    for k in range(m):
        R[m, k] = 0.0
    R[m, m], R[m, -2], R[m, -1] = root, rest / root, 0.0
    w.A[m] = i
    w.inactive[i] = False
    return m + 1


@compiled_reordered
def _leave(w: Working, m: int, k: int) -> int:
    """Let the k-th of A leave: its column goes, and rotations of two rows each make R a triangle again; e and v, the
    last columns, turn with them. The new size of A."""
    R = w.R
    for r in range(m):
        for j in range(max(k, r - 1), m - 1):
            R[r, j] = R[r, j + 1]
    for j in range(k, m - 1):
        w.A[j] = w.A[j + 1]
        one, other = R[j], R[j + 1]
        x, y = one[j], other[j]
        length = np.sqrt(x * x + y * y)
        c, s = x / length, y / length
        for t in range(j, m - 1):
            one[t], other[t] = c * one[t] + s * other[t], c * other[t] - s * one[t]
        for t in range(one.size - 2, one.size):
            one[t], other[t] = c * one[t] + s * other[t], c * other[t] - s * one[t]
    return m - 1


@compiled_reordered
def _solve(R: Array, m: int, x: Array) -> None:
    """R^-1 x, in place."""
    for k in range(m - 1, -1, -1):
        row, rest = R[k], x[k]
        for j in range(k + 1, m):
            rest -= row[j] * x[j]
        x[k] = rest / row[k]


@compiled_reordered
def _solve_transposed(R: Array, m: int, x: Array) -> None:
    """R'^-1 x, in place."""
    for k in range(m):
        row = R[k]
        x[k] /= row[k]
        part = x[k]
        for j in range(k + 1, m):
            x[j] -= part * row[j]
