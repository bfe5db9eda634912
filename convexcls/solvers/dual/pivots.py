"""A dual active-set method on a small dense program, compiled where numba is installed (Goldfarb and Idnani 1983, in the
box of a support vector machine as by Vishwanathan, Smola and Murty 2003):

    minimise  1/2 b'Kb + p'b   subject to  low <= b <= high,   sum_i b_i = total   (if there is an equation)

K is given itself, or as M M' + diag(compliance). With g = Kb + p and the multiplier s of the equation, b is optimal
where g + s is 0 between the bounds, at least 0 at the lower and at most 0 at the upper ones.

The active set A are unknowns between their bounds that solve their equations g_A + s = 0, with the triangle R of

    R'R = K_AA + sigma 11',      e = R'^-1 1,

in which sigma makes up for what the equation takes; e is the next column of the array of R, v = R'^-1 k_p the last.
The unknown p that violates its condition most moves at the rate theta = +1 or -1, A keeping its equations:

    ds = theta (1 - e'v) / e'e,      d_A = -R^-1 (theta v + ds e),      kappa = k_pp - v'v + (1 - e'v)^2 / e'e,

until g_p + s is 0, after |g_p + s| / kappa, and p joins A; or until p is at its bound; or until one of A is, which
leaves. The objective falls with every step. Where nothing ends it, it falls for ever.
"""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.compilation import compiled, compiled_reordered

#: How a run ends.
OPTIMAL, ENDLESS, TOO_LONG = 0, 1, 2
#: A curvature below this fraction of the diagonal is none: the row depends on the active ones.
FLAT = 1e-12
#: Rounding in units of what is added up.
EPS = 2.0**-52
#: How often what rounding left of the equations is taken out.
CORRECTIONS = 3
#: More unknowns than this are factorized at once.
MANY = 32
#: After so many sweeps it is known of most unknowns at which bound they are.
SWEEPS = 5


@compiled_reordered
def swept(M: Array, p: Array, low: Array, high: Array, diagonal: Array, total: float, has_sum: bool, b: Array) -> Array:
    """M'b after a few sweeps of coordinate descent from b, in place (Hsieh et al. 2008): each b_i moves to its minimiser.
    The equation is the penalty beta/2 (sum - total)^2, whose centre follows (the method of multipliers)."""
    n, v, i, price = b.size, np.dot(b, M), 0, 0.0
    beta = diagonal.mean() if has_sum else 0.0
    beyond, stride = b.sum() - total, _coprime(n)
    for _ in range(SWEEPS * n):
        slope = p[i] + beta * beyond + price
        for j in range(v.size):
            slope += M[i, j] * v[j]
        if diagonal[i] + beta > 0.0:
            step = min(max(b[i] - slope / (diagonal[i] + beta), low[i]), high[i]) - b[i]
            if step != 0.0:
                b[i] += step
                beyond += step
                for j in range(v.size):
                    v[j] += step * M[i, j]
        i += stride
        if i >= n:  # in an order that has nothing to do with that of the samples
            i -= n
        if i == 0:
            price += beta * beyond
    return v


@compiled
def _coprime(n: int) -> int:
    """A number without a common divisor with n, near n / 1.618."""
    stride = max(int(0.618 * n), 1)
    while True:
        one, other = n, stride
        while other:
            one, other = other, one % other
        if one == 1:
            return stride
        stride += 1


@compiled_reordered
def to_bounds(g: Array, low: Array, high: Array, total: float, has_sum: bool, b: Array) -> None:
    """Put every unknown at the bound that its gradient tells, with the multiplier s for which the sum is right: one is
    between its bounds then."""
    lacking = total - low.sum()
    for i in np.argsort(g):
        room = high[i] - low[i]
        part = min(room, max(lacking, 0.0)) if has_sum else (room if g[i] < 0.0 else 0.0)
        b[i] = high[i] if part == room else low[i] + part
        lacking -= part


@compiled_reordered
def gradient(K: Array, M: Array, p: Array, compliance: Array, b: Array) -> Array:
    """Kb + p, worked out afresh."""
    if M.shape[0] == 0:
        return np.dot(K, b) + p
    return np.dot(M, np.dot(b, M)) + compliance * b + p


@compiled_reordered
def _advance(K: Array, M: Array, compliance: Array, g: Array, names: Indices, d: Array, count: int) -> None:
    """g for a step d of the first ``count`` of ``names``."""
    if M.shape[0] == 0:
        for k in range(count):
            row, step = K[names[k]], d[k]
            for t in range(g.size):
                g[t] += step * row[t]
        return
    u = np.zeros(M.shape[1])
    for k in range(count):
        row, step = M[names[k]], d[k]
        for j in range(u.size):
            u[j] += step * row[j]
        g[names[k]] += compliance[names[k]] * step
    g += np.dot(M, u)


@compiled_reordered
def _fill_column(K: Array, M: Array, sigma: float, A: Indices, m: int, i: int, R: Array) -> None:
    """v = R'^-1 k_i in the last column of R, with k_i the entries of K_Ai + sigma."""
    v = np.empty(m)
    for k in range(m):
        if M.shape[0] == 0:
            v[k] = K[A[k], i] + sigma
        else:
            entry, one, other = sigma, M[A[k]], M[i]
            for j in range(one.size):
                entry += one[j] * other[j]
            v[k] = entry
    for k in range(m):
        v[k] /= R[k, k]
        row, part = R[k], v[k]
        for j in range(k + 1, m):
            v[j] -= part * row[j]
        R[k, -1] = part


@compiled_reordered
def _join(A: Indices, m: int, i: int, R: Array, pivot: float) -> int:
    """Let i join A, its column v being in place; the new size of A."""
    rest = 1.0
    for k in range(m):
        R[k, m] = R[k, -1]
        rest -= R[k, -1] * R[k, -2]
    root = np.sqrt(pivot)
    R[m, : m] = 0.0
    R[m, m], R[m, -2], R[m, -1] = root, rest / root, 0.0
    A[m] = i
    return m + 1


@compiled_reordered
def _leave(A: Indices, m: int, k: int, R: Array) -> int:
    """Let the k-th of A leave: its column goes, and rotations of two rows each make R a triangle again; e and v, the
    last columns, turn with them."""
    for r in range(m):
        for j in range(max(k, r - 1), m - 1):
            R[r, j] = R[r, j + 1]
    for j in range(k, m - 1):
        A[j] = A[j + 1]
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
def _solved(R: Array, m: int, w: Array) -> None:
    """R^-1 w, in place."""
    for k in range(m - 1, -1, -1):
        row, rest = R[k], w[k]
        for j in range(k + 1, m):
            rest -= row[j] * w[j]
        w[k] = rest / row[k]


@compiled_reordered
def _direction(R: Array, m: int, theta: float, pivot: float, has_sum: bool, d: Array) -> tuple[float, float]:
    """d_A for a move of p at the rate theta, ds and the curvature kappa along it."""
    ds, curvature = 0.0, pivot
    if has_sum:
        along, length = 1.0, 0.0
        for k in range(m):
            along -= R[k, -2] * R[k, -1]
            length += R[k, -2] * R[k, -2]
        ds = theta * along / length
        curvature += along * along / length
    for k in range(m):
        d[k] = -(theta * R[k, -1] + ds * R[k, -2])
    _solved(R, m, d)
    return ds, curvature


@compiled_reordered
def _corrected(R: Array, A: Indices, m: int, g: Array, s: float, has_sum: bool, d: Array) -> float:
    """d_A and ds that take what is left of g_A + s out of it."""
    for k in range(m):
        d[k] = -(g[A[k]] + s)
    for k in range(m):
        d[k] /= R[k, k]
        row, part = R[k], d[k]
        for j in range(k + 1, m):
            d[j] -= part * row[j]
    ds = 0.0
    if has_sum:
        along, length = 0.0, 0.0
        for k in range(m):
            along += R[k, -2] * d[k]
            length += R[k, -2] * R[k, -2]
        ds = along / length
        for k in range(m):
            d[k] -= ds * R[k, -2]
    _solved(R, m, d)
    return ds


@compiled_reordered
def _to_first_bound(A: Indices, m: int, b: Array, low: Array, high: Array, d: Array, longest: float) -> tuple[float, int]:
    """How far A can move along d, at most ``longest``, and which of it is at a bound then; -1 if none."""
    step, stopped = longest, -1
    for k in range(m):
        i = A[k]
        distance = np.inf
        if d[k] > 0.0:
            distance = (high[i] - b[i]) / d[k]
        elif d[k] < 0.0:
            distance = (low[i] - b[i]) / d[k]
        if distance < step:
            step, stopped = max(distance, 0.0), k
    return step, stopped


@compiled_reordered
def _most_violating(b: Array, g: Array, s: float, low: Array, high: Array, inactive: Array) -> tuple[int, float]:
    """The unknown outside A that gains most by moving, and its violation."""
    p, worst = -1, 0.0
    for i in range(b.size):
        if inactive[i]:
            slope = g[i] + s
            if (slope < 0.0 and b[i] < high[i]) or (slope > 0.0 and b[i] > low[i]):
                if abs(slope) > worst:
                    p, worst = i, abs(slope)
    return p, worst


@compiled_reordered
def _pair(b: Array, g: Array, low: Array, high: Array) -> tuple[int, int, float]:
    """What can rise with the smallest gradient, what can fall with the largest, and the multiplier s between them."""
    i, j = -1, -1
    for t in range(b.size):
        if b[t] < high[t] and (i < 0 or g[t] < g[i]):
            i = t
        if b[t] > low[t] and (j < 0 or g[t] > g[j]):
            j = t
    if i < 0 or j < 0:
        return i, j, -g[max(i, j)] if max(i, j) >= 0 else 0.0
    return i, j, -0.5 * (g[i] + g[j])


@compiled_reordered
def _move(b: Array, low: Array, high: Array, i: int, step: float) -> None:
    b[i] = min(max(b[i] + step, low[i]), high[i])


@compiled_reordered
def _factorized(K: Array, M: Array, sigma: float, diagonal: Array, b: Array, low: Array, high: Array, A: Indices,
                R: Array, inactive: Array) -> int:
    """Let all join A that are between their bounds and do not depend on those before them; the size of A."""
    inside = np.flatnonzero((low < b) & (b < high))
    if K.size and inside.size > MANY:
        m = _at_once(K, sigma, inside, R)
        A[:m] = inside[:m]
        inactive[A[:m]] = 0.0
        if m:
            return m
    m = 0
    for i in inside:
        if m < R.shape[0]:
            _fill_column(K, M, sigma, A, m, i, R)
            pivot = _pivot(R, m, diagonal[i] + sigma)
            if pivot > FLAT * (diagonal[i] + sigma):
                m = _join(A, m, i, R, pivot)
                inactive[i] = 0.0
    return m


@compiled_reordered
def _at_once(K: Array, sigma: float, inside: Indices, R: Array) -> int:
    """R and e of many unknowns by one factorization; their number, or 0 where they nearly depend on each other."""
    m = inside.size
    block = np.empty((m, m))
    for k in range(m):
        row = K[inside[k]]
        for j in range(m):
            block[k, j] = row[inside[j]] + sigma
    try:
        L = np.linalg.cholesky(block)
    except Exception:  # noqa: BLE001: a matrix that is not positive definite, by the one name that compiled code knows
        return 0
    for k in range(m):
        if not L[k, k] * L[k, k] > FLAT * block[k, k]:
            return 0
    R[:m, :m] = L.T
    e = np.ones(m)
    for k in range(m):
        e[k] /= R[k, k]
        row, part = R[k], e[k]
        for j in range(k + 1, m):
            e[j] -= part * row[j]
    R[:m, -2] = e
    return m


@compiled_reordered
def _pivot(R: Array, m: int, rest: float) -> float:
    for k in range(m):
        rest -= R[k, -1] * R[k, -1]
    return max(rest, 0.0)


@compiled_reordered
def _settle(K: Array, M: Array, compliance: Array, low: Array, high: Array, has_sum: bool, b: Array, g: Array,
            A: Indices, m: int, R: Array, inactive: Array, d: Array, s: float) -> tuple[int, float]:
    """Bring A to the solution of its equations; what meets a bound on the way stays there and leaves."""
    while m > 0:
        ds = _corrected(R, A, m, g, s, has_sum, d)
        step, stopped = _to_first_bound(A, m, b, low, high, d, 1.0)
        for k in range(m):
            d[k] *= step
            _move(b, low, high, A[k], d[k])
        s += step * ds
        _advance(K, M, compliance, g, A, d, m)
        if stopped < 0:
            break
        i = A[stopped]
        b[i] = high[i] if d[stopped] > 0.0 or (step == 0.0 and b[i] == high[i]) else low[i]
        inactive[i] = True
        m = _leave(A, m, stopped, R)
    return m, s


@compiled_reordered
def descend(K: Array, M: Array, p: Array, compliance: Array, diagonal: Array, low: Array, high: Array, has_sum: bool,
            b: Array, most: int, widest: int) -> tuple[int, Array, float, int, Array]:
    """Go from a feasible b to the optimum, in at most so many steps, A never being larger than ``widest``. Returns how
    it ended, g, s, the steps, and where the objective falls for ever the direction."""
    inactive = np.ones(b.size)
    A, d, R = np.empty(widest + 1, dtype=np.intp), np.empty(widest + 1), np.empty((widest, widest + 2))
    sigma = diagonal.max() if has_sum else 0.0
    unit, reach = np.abs(p).max(), diagonal.max()
    g = gradient(K, M, p, compliance, b)
    m = _factorized(K, M, sigma, diagonal, b, low, high, A, R, inactive)
    s = 0.0
    if has_sum:
        for k in range(m):
            s -= g[A[k]] / m
    fresh, steps, i, theta = 0, 0, -1, 1.0
    m, s = _settle(K, M, compliance, low, high, has_sum, b, g, A, m, R, inactive, d, s)
    while steps < most:
        noise = 2.0 * EPS * (unit + abs(s) + reach * np.abs(b).sum())
        if has_sum and m == 0:
            i, j, s = _pair(b, g, low, high)
            if i >= 0 and j >= 0 and g[j] - g[i] > noise:
                m, s = _join(A, 0, j, R, diagonal[j] + sigma), -g[j]
                inactive[j] = 0.0
        i, worst = _most_violating(b, g, s, low, high, inactive)
        if worst <= noise:
            if fresh > CORRECTIONS:
                return OPTIMAL, g, s, steps, g
            g, left = gradient(K, M, p, compliance, b), 0.0
            for k in range(m):
                left = max(left, abs(g[A[k]] + s))
            if left <= 8.0 * EPS * (unit + abs(s)):
                fresh = CORRECTIONS
            m, s = _settle(K, M, compliance, low, high, has_sum, b, g, A, m, R, inactive, d, s)
            fresh += 1
            continue
        fresh = min(fresh, 1)
        theta = 1.0 if g[i] + s < 0.0 else -1.0
        _fill_column(K, M, sigma, A, m, i, R)
        while steps < most:
            steps += 1
            size = diagonal[i] + sigma
            pivot = _pivot(R, m, size)
            ds, curvature = _direction(R, m, theta, pivot, has_sum, d)
            own = high[i] - b[i] if theta > 0.0 else b[i] - low[i]
            whole = max(-theta * (g[i] + s), 0.0) / curvature if curvature > FLAT * size else np.inf
            step, stopped = _to_first_bound(A, m, b, low, high, d, min(whole, own))
            if step == np.inf:
                return ENDLESS, g, s, steps, _endless(K, M, compliance, R, A, m, i, theta, d, ds, has_sum)
            A[m], d[m] = i, theta
            for k in range(m + 1):
                d[k] *= step
                _move(b, low, high, A[k], d[k])
            s += step * ds
            _advance(K, M, compliance, g, A, d, m + 1)
            if stopped >= 0:
                k = A[stopped]
                b[k] = high[k] if d[stopped] > 0.0 or (step == 0.0 and b[k] == high[k]) else low[k]
                inactive[k] = 1.0
                m = _leave(A, m, stopped, R)
                if has_sum and m == 0:
                    if low[i] < b[i] < high[i]:
                        m, s = _join(A, 0, i, R, size), -g[i]
                        inactive[i] = 0.0
                    break
                continue
            if own <= whole:
                b[i] = high[i] if theta > 0.0 else low[i]
            elif pivot > FLAT * size and m < R.shape[0]:
                m = _join(A, m, i, R, pivot)
                inactive[i] = 0.0
            break
    return TOO_LONG, g, s, steps, g


@compiled_reordered
def _endless(K: Array, M: Array, compliance: Array, R: Array, A: Indices, m: int, i: int, theta: float, d: Array,
             ds: float, has_sum: bool) -> Array:
    """The direction of A and i along which the objective falls for ever, what rounding left of K times it taken out."""
    way = np.zeros(compliance.size)
    way[i] = theta
    for k in range(m):
        way[A[k]] = d[k]
    for _ in range(CORRECTIONS):
        ds += _corrected(R, A, m, gradient(K, M, np.zeros(way.size), compliance, way), ds, has_sum, d)
        for k in range(m):
            way[A[k]] += d[k]
    return way
