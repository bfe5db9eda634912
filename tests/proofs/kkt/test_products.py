"""Products with rows and the bounds on their rounding: what is true lies within, in rationals, and the bound is that of
its formula."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.kkt.products import Gradient, _gather, facts, plain_values, quadratic_value, row_values
from convexcls.proofs.rigorous.products import entry_error, error_from_afar
from convexcls.rows import CentredRows, JoinedRows, as_rows
from convexcls.rows.doubled import FOLDED_ERROR, Doubled, product_error, two_product
from convexcls.rows.kernel import KernelRows
from tests.small_problems import a, block, over

LIMITS = sys.modules[plain_values.__module__]
UNIT, ETA = 2.0**-53, 2.0**-1074
BIG = 2.0**30


def rows_and_block(rows, rhs=0.0):
    """The rows of a block, and the block."""
    problem = over(len(rows[0]), block("row", rows, rhs))
    return problem.rows(problem.constraints[0]), problem.constraints[0]


def as_given(X, y=(0, 1, 1), intercept=True):
    """A term over samples as they were given, which doubles round once: its rows and itself."""
    problem = cc.LeastSquares(X, list(y), intercept=intercept)
    return problem.rows(problem.terms[0]), problem.terms[0]


THIRDS = [[Fraction(1, 3), 2], [Fraction(-5, 3), 1], [Fraction(4, 7), -3]]


def centred(groups=(0, 0, 1)):
    """Rows less the mean of their group, new ones each time: what is known of rows is kept."""
    return CentredRows.by_group(as_rows(np.array([[0.1, 7.0], [0.3, 5.0], [0.7, 11.0]])), np.array(groups), 2)


CENTRED = centred()


# ---- entries ------------------------------------------------------------------------------------------------------


def test_entries_as_given_are_off_by_a_rounding():
    rows, _ = as_given(THIRDS)
    assert [part.rounding for _, part in rows.parts] == [1.0, 0.0]
    assert facts(rows) == pytest.approx((1.01 * UNIT, 0.0), rel=1e-3, abs=0)
    turned = JoinedRows(3, rows.shape[1], rows.parts[::-1])
    assert facts(turned).relative == pytest.approx(1.01 * UNIT, rel=1e-3, abs=0)
    assert facts(rows_and_block([[1.0, 2.0]])[0]) == (0.0, 0.0)


@pytest.mark.parametrize("closely", [True, False])
def test_entries_that_were_centred_are_off_by_column(closely):
    """By the error of the centred rows times the largest factor of a row and the factor of the column."""
    left, right, small = a(1, -3, 2), a(-2, 0.5), a(0.25, -0.5, 0.125)
    for factors, size in (
        (centred(), a(1, 1)),
        (centred().scaled(left, right), 3 * np.abs(right)),
        (centred().scaled(small, 1.0), a(0.5, 0.5)),
    ):
        rows = JoinedRows(3, 3, [(slice(0, 2), factors), (slice(2, 3), as_rows(np.ones((3, 1))))])
        error = entry_error(CENTRED) if closely else error_from_afar(CENTRED)
        relative, absolute = facts(rows, closely)
        assert relative == 0.0
        np.testing.assert_allclose(absolute, [*(1.01 * error.absolute * size), 0.0], rtol=1e-3)
        assert np.all(absolute[:2] > 0)
    far = centred((0, 1, 0))
    some = JoinedRows(2, 2, [(slice(0, 2), far[[1, 2]])])  # rows of them are off as all of them are
    np.testing.assert_allclose(facts(some, False).absolute, 1.01 * error_from_afar(far).absolute, rtol=1e-3)
    assert np.any(error_from_afar(far).absolute > 1.1 * entry_error(far).absolute)
    loosely = JoinedRows(3, 2, [(slice(0, 2), far)])
    np.testing.assert_allclose(facts(loosely, False).absolute, 1.01 * error_from_afar(far).absolute, rtol=1e-3)
    np.testing.assert_allclose(facts(loosely, True).absolute, 1.01 * entry_error(far).absolute, rtol=1e-3)
    known = JoinedRows(3, 2, [(slice(0, 2), far)])  # what has been worked out closely is used
    np.testing.assert_allclose(facts(known, False).absolute, 1.01 * entry_error(far).absolute, rtol=1e-3)


def test_both_kinds_of_errors_are_kept():
    """Entries as given beside centred ones, in either order."""
    given = as_given(THIRDS)[0].parts[0][1]
    for parts in ([(slice(0, 2), given), (slice(2, 4), CENTRED)], [(slice(2, 4), CENTRED), (slice(0, 2), given)]):
        relative, absolute = facts(JoinedRows(3, 4, parts))
        assert relative == pytest.approx(1.01 * UNIT, rel=1e-3, abs=0)
        np.testing.assert_allclose(absolute, [0.0, 0.0, *(1.01 * entry_error(CENTRED).absolute)], rtol=1e-3)


# ---- one bound for all rows ---------------------------------------------------------------------------------------


def test_one_bound_for_all_rows():
    """k roundings of the largest entries of the columns times |x|, and of the largest side; what entries are off."""
    rows, c = rows_and_block([[1.0, -2.0], [3.0, 0.5]], [0.25, -8.0])
    mid, rad = plain_values(rows, a(-1, 2), c, "rhs")
    assert mid.tolist() == [-5.25, 6.0]
    assert rad == pytest.approx(14 * UNIT * (3 + 4 + 8), rel=1e-3, abs=0)
    rows, term = as_given(THIRDS)
    mid, rad = plain_values(rows, a(-3, 2, 1), term, "offset")
    np.testing.assert_allclose(mid, np.array(THIRDS, dtype=float) @ a(-3, 2) + 1 + term.offset)
    largest = 3 * 5 / 3 + 2 * 3 + 1 + np.abs(term.offset).max()
    assert rad == pytest.approx((rows.row_length + 12 + 1.01) * UNIT * largest, rel=1e-3, abs=0)


def centred_block(groups=(0, 0, 1)):
    c = cc.Constraint("row", {"x": centred(groups)}, rhs=0.0)
    problem = cc.Problem("centred", [cc.Variable("x", 2, "x")], constraints=[c])
    return problem.rows(c), c


def test_what_centred_entries_are_off_counts():
    """From afar, unless closely is asked for."""
    rows, c = centred_block((0, 1, 0))
    core, x = rows.parts[0][1], a(-3, 2)
    sizes = (rows.row_length + 12) * UNIT * float(np.abs(core.to_dense()).max(axis=0) @ np.abs(x))
    afar, closely = (sizes + 1.01 * float(e.absolute @ np.abs(x)) for e in (error_from_afar(core), entry_error(core)))
    assert afar > 1.01 * closely
    assert plain_values(rows, x, c, "rhs")[1] == pytest.approx(afar, rel=1e-3, abs=0)
    assert plain_values(rows, x, c, "rhs", True)[1] == pytest.approx(closely, rel=1e-3, abs=0)
    rows, c = centred_block((0, 1, 0))
    np.testing.assert_allclose(row_values(rows, x, c, "rhs", 1.001 * closely).rad, closely, rtol=1e-3)


def test_what_underflows_is_off_by_little():
    """8 units of the smallest double for each rounding, as soon as anything is not 0."""
    one, two = [[1.0]], [[1e-300, 0.0]]
    for rows, rhs, x, off in (
        (one, 0.0, a(5e-324), 8 * 13),
        (one, 5e-324, a(0), 8 * 13),
        (two, 0.0, a(1e-300, 0), 8 * 14),
        (one, 0.0, a(0), 0),
    ):
        matrix, c = rows_and_block(rows, rhs)
        assert plain_values(matrix, x, c, "rhs")[1] == off * ETA


def test_what_overflows_has_no_bound():
    for rows, x in (
        ([[1.0], [1.0]], a(1e308)),
        ([[10.0, -10.0]], a(1e308, 1e308)),
        ([[1.0, 0.0]], a(0, np.nan)),
        ([[1e200, 1.0]], a(0, np.inf)),
        ([[1.0, -1e200], [0.0, 0.0]], a(1, 1e200)),
    ):
        matrix, c = rows_and_block(rows)
        with np.errstate(all="ignore"):
            assert plain_values(matrix, x, c, "rhs")[1] == np.inf


# ---- row by row ---------------------------------------------------------------------------------------------------

SIDED = rows_and_block([[1.0, 0.0, -2.0], [0.0, -3.0, 0.5], [0.25, 0.5, 0.25]], [0.5, -0.25, 100.0])
POINT = a(1, -2, 4)
SIZES = a(1 + 8 + 0.5, 6 + 2 + 0.25, 0.25 + 1 + 1 + 100)


def test_bounds_row_by_row_where_one_for_all_is_too_large():
    rows, c = SIDED
    mid, largest = plain_values(rows, POINT, c, "rhs")
    for wanted in (largest, np.full(3, largest), np.inf):
        found = row_values(rows, POINT, c, "rhs", wanted)
        assert (found.mid.tolist(), found.rad.tolist()) == (mid.tolist(), [largest] * 3)
    for wanted in (0.99 * largest, a(0.99 * largest, np.inf, np.inf)):
        found = row_values(rows, POINT, c, "rhs", wanted)
        assert found.mid.tolist() == mid.tolist()
        np.testing.assert_allclose(found.rad, 15 * UNIT * SIZES, rtol=1e-3)
    again = row_values(rows, POINT, c, "rhs", found.rad)
    assert again.rad.tolist() == found.rad.tolist()


def test_bounds_row_by_row_of_entries_that_are_off():
    rows, c = centred_block()
    x = a(-3, 2)
    largest = plain_values(rows, x, c, "rhs", True)[1]
    found = row_values(rows, x, c, "rhs", a(2, 2, 0.99) * largest)
    off = 1.01 * float(entry_error(CENTRED).absolute @ np.abs(x))
    sizes = np.abs(CENTRED.to_dense()) @ np.abs(x)
    assert off > 0.02 * largest
    np.testing.assert_allclose(found.rad, (rows.row_length + 12) * UNIT * sizes + off, rtol=1e-3)
    rows, term = as_given(THIRDS)
    x = a(-3, 2, 1)
    found = row_values(rows, x, term, "offset", a(2, 2, 0.999) * plain_values(rows, x, term, "offset")[1])
    sizes = np.abs(np.array(THIRDS, dtype=float)) @ a(3, 2) + 1 + np.abs(term.offset)
    np.testing.assert_allclose(found.rad, (rows.row_length + 12 + 1.01) * UNIT * sizes, rtol=1e-3)


def test_bounds_row_by_row_of_what_underflows():
    rows, c = rows_and_block([[1.0, 0.0], [0.0, 0.0]])
    assert row_values(rows, a(5e-324, 0), c, "rhs", a(90 * ETA, np.inf)).rad.tolist() == [64 * ETA, 64 * ETA]
    rows, c = rows_and_block([[1.0, 0.0], [0.0, 0.0]], [1.0, 0.0])
    found = row_values(rows, a(0, 0), c, "rhs", a(2e-15, 1e-300))
    np.testing.assert_allclose(found.rad, [14 * UNIT, 0], rtol=1e-3)


CANCEL = [[BIG, -BIG, 1.0], [3 * BIG, -3 * BIG, 1.0], [1.0, 1.0, 1.0], [-BIG, BIG, 1.0], [BIG, 0.0, 1.0]]


@pytest.mark.parametrize("chunk", [1_000_000, 6, 3, 2])
def test_rows_in_doubt_are_worked_out_again(monkeypatch, chunk):
    """Those whose bound is above what is wanted, however many at a time; 2^-40 is lost beside 2^30 in doubles."""
    monkeypatch.setattr(LIMITS, "BLOCK_ENTRIES", chunk)
    rows, c = rows_and_block(CANCEL, [1.0, -1.0, 0.0, 0.0, BIG])
    x = a(1 + 2.0**-50, 1, 2.0**-40)
    wanted = a(1e-20, 1e-20, 1.0, 1e-20, 1.0)
    found = row_values(rows, x, c, "rhs", wanted)
    true = [
        sum(Fraction(u) * Fraction(v) for u, v in zip(row, x, strict=True)) - Fraction(side)
        for row, side in zip(CANCEL, c.rhs, strict=True)
    ]
    assert all(abs(Fraction(m) - t) <= Fraction(r) for m, t, r in zip(found.mid, true, found.rad, strict=True))
    closely = [0, 1, 3]
    assert np.all(found.rad[closely] <= 4 * UNIT * np.abs(found.mid[closely]) + 1e-20)
    assert found.rad[2] == pytest.approx(15 * UNIT * 2, rel=1e-3, abs=0)
    assert found.rad[4] == pytest.approx(15 * UNIT * 2 * BIG, rel=1e-3, abs=0)


HUGE = 2.0**500


def test_rows_that_cannot_be_split_are_worked_out_in_rationals(monkeypatch):
    third = 1 / 3
    rows, c = rows_and_block(
        [[HUGE, -HUGE, 0.0, 0.0], [HUGE, 0.0, 1.0, 0.0], [0.0, 3 * HUGE, 1.0, 0.0]], [0.0, HUGE / 2, 0.0]
    )
    x = a(third, third, 2.0**-540, 0)
    found = row_values(rows, x, c, "rhs", 0.0)
    true = [
        Fraction(0),
        Fraction(HUGE) * Fraction(third) - Fraction(HUGE / 2) + Fraction(2.0**-540),
        3 * Fraction(HUGE) * Fraction(third) + Fraction(2.0**-540),
    ]
    assert all(abs(Fraction(m) - t) <= Fraction(r) for m, t, r in zip(found.mid, true, found.rad, strict=True))
    assert found.mid[1] < 0 < found.mid[2]
    np.testing.assert_allclose(found.rad, [0, *(UNIT * np.abs(found.mid[1:]))], rtol=1e-3)
    for limit, exact in ((12, True), (11, False)):
        monkeypatch.setattr(LIMITS, "MAX_RATIONAL_ENTRIES", limit)
        assert np.all(np.isfinite(row_values(rows, x, c, "rhs", 0.0).rad)) == exact
    single, c = rows_and_block([[HUGE]], HUGE / 3)
    assert row_values(single, a(third), c, "rhs", 0.0).rad.tolist() == [0.0]


def test_rationals_that_doubles_do_not_hold():
    rows, c = rows_and_block([[2.0**-600], [2.0**600]])
    low = row_values(rows, a(3 * 2.0**-476), c, "rhs", a(0.0, np.inf))
    assert low.rad[0] == ETA  # 3/4 of the smallest double, rounded to it
    with np.errstate(all="ignore"):
        high = row_values(rows, a(2.0**600), c, "rhs", a(0.0, 0.0))
        assert (np.isnan(high.mid[1]), high.rad[1]) == (True, np.inf)
        rows, c = rows_and_block([[1.0, 1.0]])
        assert row_values(rows, a(1, np.inf), c, "rhs", 0.0).rad.tolist() == [np.inf]


# ---- the quadratic part -------------------------------------------------------------------------------------------


def matrix(P, q=0.0, size=None):
    size = len(P) if size is None else size
    return over(size, quadratic={"x": P}, linear={"x": np.broadcast_to(q, size)})


def seen(problem, x, claimed, tol):
    """1/2 x'Px where Px is claimed to be this: what was claimed, unless doubles might miss the tolerance of it."""
    return quadratic_value(problem, np.array(x, dtype=float), np.array(claimed, dtype=float), tol)


@pytest.mark.parametrize("n", [1, 20])
def test_products_with_a_matrix_are_worked_out_again_where_doubles_may_miss(n):
    """2 n + 12 roundings of |x|'|P||x| are compared with a tenth of the tolerance, of the value or of q'x."""
    P = 4.0 * np.eye(n) - 1.0 * (np.eye(n, k=1) + np.eye(n, k=-1))
    x = np.where(np.arange(n) % 2, -1.0, 1.0)
    off = (2 * n + 12) * UNIT * float(np.abs(P).sum())
    true = 0.5 * x @ P @ x
    for q, claimed, size in ((0.0, 64.0, 64.0), (0.0, -64.0, 64.0), (128.0, 64.0, 128.0), (-128.0, 64.0, 128.0)):
        linear = np.zeros(n)
        linear[0] = q
        fake = np.zeros(n)
        fake[0] = claimed
        for factor, believed in ((1.05, True), (0.95, False)):
            found = seen(matrix(P, linear), x, fake, factor * 10 * off / size)
            assert found == (0.5 * claimed if believed else true)


def test_what_is_no_matrix_or_large_is_not_worked_out_again(monkeypatch):
    assert seen(over(2, quadratic={"x": [1.0, 2.0]}), [1, 1], [7, 8], 0.0) == 7.5
    monkeypatch.setattr(LIMITS, "MAX_DOUBLED_MATRIX_ROWS", 2)
    assert seen(matrix(np.eye(2)), [1, 1], [7, 8], 0.0) == 1.0
    assert seen(matrix(np.eye(3)), [1, 1, 1], [7, 8, 9], 0.0) == 12.0
    assert seen(matrix(np.eye(2)), [1, np.inf], [7, 8], 0.0) == np.inf  # without a warning
    both = [cc.Variable("x", 2, "x"), cc.Variable("z", 1, "z")]
    problem = cc.Problem("both", both, quadratic={"x": np.eye(2), "z": [4.0]})
    assert quadratic_value(problem, a(1, 2, 3), a(0, 0, 12), 0.0) == 2.5 + 18


def test_a_matrix_that_cancels_is_multiplied_in_doubled_precision():
    P = np.array([[BIG**2, -(BIG**2)], [-(BIG**2), BIG**2 + 256.0]])
    assert seen(matrix(P), [1, 1], P @ a(1, 1), 1e-8) == 128.0


XOR, CLASSES = [[1e8, 1], [1e8, -2], [1e8, 3], [1e8, 5]], [0, 1, 0, 1]


def kernel(X=XOR, **parameters):
    """The dual of a kernel machine, whose matrix is y_i y_j k(x_i, x_j)."""
    problem = cc.KernelSVM(X, CLASSES, C=1.0, **parameters)
    (name,) = (v for v, p in problem.quadratic.items() if not isinstance(p, np.ndarray))
    return problem, name, problem.quadratic[name]


POLYNOMIAL = {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 1.0}
POLYNOMIAL_KERNEL = kernel(**POLYNOMIAL)


def true_kernel(k):
    signs = [2 * c - 1 for c in CLASSES]
    rows = [[Fraction(v) for v in row] for row in XOR]
    values = [[k(sum(u * v for u, v in zip(p, q, strict=True))) for q in rows] for p in rows]
    return [[si * sj * v for sj, v in zip(signs, row, strict=True)] for si, row in zip(signs, values, strict=True)]


def test_a_polynomial_kernel_is_worked_out_of_the_samples(monkeypatch):
    """(1e16 + ...)^2 has more digits than a double; without the exact values only its blur is known."""
    problem, name, P = POLYNOMIAL_KERNEL
    exact = true_kernel(lambda t: (t + 1) ** 2)
    x = np.zeros(problem.size)
    x[problem.layout[name]] = own = a(1, 1, -1, -1)
    point = [Fraction(v) for v in own]
    moved = [sum(u * v for u, v in zip(row, point, strict=True)) for row in exact]
    true = sum(u * v for u, v in zip(moved, point, strict=True)) / 2
    assert abs(Fraction(seen(problem, x, problem.apply_quadratic(x), 1e-8)) - true) <= abs(true) / 10**12
    spread = P.spread()
    error = spread * float(spread @ np.abs(own))
    # four numbers are added up in a row of P x, the last sum is rounded once, and twelve roundings are to spare
    off = 16 * UNIT * float(np.abs(own) @ np.abs(P.to_dense()) @ np.abs(own)) + float(np.abs(own) @ error)
    where, fake = problem.layout[name], np.zeros(problem.size)
    fake[where.start] = 64.0
    size = max(64.0, abs(float(problem.q @ x)))
    for factor, believed in ((1.05, True), (0.95, False)):
        assert (seen(problem, x, fake, factor * 10 * off / size) == 32.0) is believed
    gradient = Gradient(problem, x)
    assert np.all(error > 0)
    assert np.all(gradient.rounding[where] >= error)
    assert np.all(gradient.rounding[where] <= 1.1 * error + 40 * UNIT * gradient.sizes[where])
    columns = np.arange(problem.size)[where][[2, 0]]
    found = gradient.refined(columns)
    wanted = [Fraction(problem.q[j]) + moved[k] for j, k in zip(columns, (2, 0), strict=True)]
    assert all(abs(Fraction(m) - w) <= Fraction(r) for m, w, r in zip(found.mid, wanted, found.rad, strict=True))
    assert np.all(found.rad <= 1e-3 * error[[2, 0]])
    monkeypatch.setattr(LIMITS, "MAX_RATIONAL_MATRIX_ROWS", 4)
    fresh, _, _ = kernel(**POLYNOMIAL)
    assert np.all(Gradient(fresh, x).refined(columns).rad <= 1e-3 * error[[2, 0]])
    monkeypatch.setattr(LIMITS, "MAX_RATIONAL_MATRIX_ROWS", 3)
    rad = Gradient(kernel(**POLYNOMIAL)[0], x).refined(columns).rad
    assert np.all((rad >= error[[2, 0]]) & (rad <= 1.1 * error[[2, 0]] + UNIT * np.abs(found.mid) * 4))


@pytest.mark.parametrize("point", [(1, 1, -1, -1), (0.1, 0.3, 0.7, -0.9)])
def test_a_linear_kernel_is_multiplied_by_its_root(point):
    """P = R'R, whose entries have more digits than doubles: at the first point R x = (0, -5), rounded P x is off."""
    problem, name, _ = kernel(kernel="linear")
    exact = true_kernel(lambda t: t)
    x = np.zeros(problem.size)
    x[problem.layout[name]] = point
    own = [Fraction(v) for v in point]
    moved = [sum(u * v for u, v in zip(row, own, strict=True)) for row in exact]
    true = sum(u * v for u, v in zip(moved, own, strict=True)) / 2
    assert abs(Fraction(seen(problem, x, problem.apply_quadratic(x), 1e-15)) - true) <= abs(true) / 10**12
    columns = np.arange(problem.size)[problem.layout[name]][[2, 1]]
    found = Gradient(problem, x).refined(columns)
    wanted = [Fraction(problem.q[j]) + moved[k] for j, k in zip(columns, (2, 1), strict=True)]
    assert all(abs(Fraction(m) - w) <= Fraction(r) for m, w, r in zip(found.mid, wanted, found.rad, strict=True))
    if point[0] < 1:  # two roundings of the sum, and three of R x
        np.testing.assert_allclose(found.rad, 5.03 * UNIT * np.abs(found.mid), rtol=1e-2)
    else:
        assert np.all(found.rad <= 1e-12)


@pytest.mark.parametrize(
    ("X", "coef0"),
    [([[0.1, 1], [0.3, -2], [0.7, 3], [0.9, 5]], 1.0), ([[0.1, 0], [0.3, 0], [0, 0.7], [0, 0.9]], 0.0)],
)
def test_a_kernel_that_is_known_exactly_has_no_blur(X, coef0):
    """Entries that are 0 are known, too."""
    problem, name, P = kernel(X, **(POLYNOMIAL | {"coef0": coef0}))
    x = np.zeros(problem.size)
    x[problem.layout[name]] = 0.1
    assert np.all(P.spread() > 0)
    found = Gradient(problem, x).refined(np.arange(problem.size))
    assert np.all(found.rad <= 3 * UNIT * np.abs(found.mid) + 1e-25)


def test_a_kernel_that_is_no_rational_keeps_its_blur():
    problem, name, P = kernel([[0.1, 1], [0.3, -2], [0.7, 3], [0.9, 5]], kernel="rbf", gamma=1.0)
    x = np.zeros(problem.size)
    x[problem.layout[name]] = own = a(0.1, 0.2, -0.3, 0.4)
    error = P.spread() * float(P.spread() @ np.abs(own))
    columns = np.arange(problem.size)[problem.layout[name]]
    rad = Gradient(problem, x).refined(columns).rad
    assert np.all(error > 0)
    assert np.all((rad >= error) & (rad <= error + 4 * UNIT))
    assert abs(seen(problem, x, problem.apply_quadratic(x), 1e-20) - 0.5 * own @ P.to_dense() @ own) < 1e-14


def test_the_root_of_a_kernel_times_a_number_is_that_of_the_product():
    _, _, P = kernel(kernel="linear")
    scaled = P.scaled(4.0, 1.0)
    problem, x = over(4, quadratic={"x": scaled}), a(1, 1, -1, -1)
    assert seen(problem, x, scaled @ x, 0.0) == 4 * 12.5
    assert Gradient(problem, x).refined(np.arange(4)).mid.tolist() == [20.0, 40.0, 60.0, -100.0]


# ---- the gradient -------------------------------------------------------------------------------------------------


def true_gradient(problem, x, *parts):
    """P x + q + sum of R'z in rationals."""
    point = [Fraction(v) for v in x]
    out = [Fraction(v) for v in problem.q]
    for v, p in problem.quadratic.items():
        where = range(problem.size)[problem.layout[v]]
        dense = np.diag(p) if isinstance(p, np.ndarray) else p.to_dense()
        for k, row in zip(where, dense, strict=True):
            out[k] += sum(Fraction(e) * point[j] for e, j in zip(row, where, strict=True))
    for rows, z in parts:
        for row, weight in zip(rows.rational(), z, strict=True):
            out = [total + e * Fraction(weight) for total, e in zip(out, row, strict=True)]
    return out


def assert_within(found, true, columns):
    assert all(abs(Fraction(m) - true[j]) <= Fraction(r) for j, m, r in zip(columns, found.mid, found.rad, strict=True))


def test_the_gradient_is_bounded_by_what_is_added_up():
    """12 roundings, those of the rows, and those of a matrix, of the sum of absolute values."""
    names = [cc.Variable("d", 2, "d"), cc.Variable("x", 2, "x")]
    P = np.array([[2.0, -1.0], [-1.0, 3.0]])
    rows = cc.Constraint("rows", {"d": [[1.0, -2.0], [0.5, 4.0]], "x": [[-1.0, 0.0], [2.0, 1.0]]})
    problem = cc.Problem("two", names, constraints=[rows], quadratic={"d": [3.0, 0.5], "x": P}, linear={"d": [-1, 2.0]})
    x, z = a(-1, 2, 3, -4), a(-0.5, 0.25)
    gradient = Gradient(problem, x)
    gradient.add(problem.rows(rows), z)
    true = true_gradient(problem, x, (problem.rows(rows), z))
    assert gradient.value.tolist() == [float(v) for v in true]
    sizes = a(1 + 3 + 0.5 + 0.125, 2 + 1 + 1 + 1, 0.5 + 0.5 + 6 + 4, 0.25 + 3 + 12)
    np.testing.assert_allclose(gradient.sizes, sizes)
    lengths = 12 + problem.rows(rows).added_up(z)[1] + a(0, 0, 2, 2)
    np.testing.assert_allclose(gradient.rounding, 1.01 * UNIT * lengths * sizes, rtol=1e-3)
    for columns in ([0, 1, 2, 3], [3, 0], [2]):
        found = gradient.refined(np.array(columns))
        assert_within(found, true, columns)
        np.testing.assert_allclose(found.rad, 2 * UNIT * np.abs(found.mid), rtol=1e-2)
    double = Gradient(problem, x)
    double.add(problem.rows(rows), z, 2 * np.abs(z))
    np.testing.assert_allclose(double.sizes - sizes, a(0.625, 2, 1, 0.25))


@pytest.mark.parametrize("chunk", [1_000_000, 4, 1])
def test_gradients_that_cancel_are_added_up_in_doubled_precision(monkeypatch, chunk):
    monkeypatch.setattr(LIMITS, "BLOCK_ENTRIES", chunk)
    problem = over(2, block("row", [[BIG, 1.0], [-BIG, 1.0], [1.0, BIG]], 0.0), linear={"x": [0.0, -BIG]})
    rows, z = problem.rows(problem.constraints[0]), a(1, 1 + 2.0**-50, 1)
    gradient = Gradient(problem, a(0, 0))
    gradient.add(rows, z)
    found = gradient.refined(np.array([0, 1]))
    true = true_gradient(problem, a(0, 0), (rows, z))
    assert_within(found, true, [0, 1])
    assert np.all(found.rad <= 3 * UNIT * np.abs(found.mid) + 1e-20)


def test_the_rounding_of_entries_counts_in_the_gradient():
    given, _ = as_given(THIRDS)
    for rows, relative, absolute in (
        (given, 1.01 * UNIT, 0.0),
        (centred_block()[0], 0.0, 1.01 * entry_error(CENTRED).absolute),
    ):
        problem, z = over(rows.shape[1]), a(-0.5, 0.25, 2)
        gradient = Gradient(problem, np.zeros(problem.size))
        gradient.add(rows, z)
        sizes = np.abs(rows.to_dense()).T @ np.abs(z)
        roundings = 1.01 * UNIT * (12 + rows.added_up(z)[1]) * sizes
        np.testing.assert_allclose(gradient.rounding, roundings + relative * sizes + absolute * 2.75, rtol=1e-3)
    loosely = Gradient(over(2), a(0, 0), False)
    rows, _ = centred_block((0, 1, 0))
    loosely.add(rows, z)
    np.testing.assert_allclose(loosely.errors, 2.75 * 1.01 * error_from_afar(rows.parts[0][1]).absolute, rtol=1e-3)
    closely = Gradient(over(2), a(0, 0))
    rows, _ = centred_block((0, 1, 0))
    closely.add(rows, z)
    np.testing.assert_allclose(closely.errors, 2.75 * 1.01 * entry_error(rows.parts[0][1]).absolute, rtol=1e-3)


def test_what_multipliers_are_off_is_inherited():
    problem = over(2, block("row", [[1.0, -2.0], [-3.0, 0.5]], 0.0))
    rows = problem.rows(problem.constraints[0])
    gradient = Gradient(problem, a(0, 0))
    gradient.inherit(rows, a(0.5, 0.25))
    gradient.inherit(rows, 2.0)
    np.testing.assert_allclose(gradient.inherited, a(0.5 + 0.75 + 6, 1 + 0.125 + 4))


def test_rows_without_multipliers_are_left_out():
    """Where most are, and there are many, or each counts."""
    rows, _ = rows_and_block(np.arange(1.0, 11.0).reshape(5, 2))
    for used, kept in ((2, 2), (3, 5)):
        gradient = Gradient(over(2), a(0, 0))
        z = np.where(np.arange(5) < used, 1.0, 0.0)
        gradient.add(rows, z)
        assert gradient.parts[0][0].shape[0] == gradient.parts[0][1].size == kept
        assert gradient.value.tolist() == (rows.to_dense().T @ z).tolist()
        assert_within(gradient.refined(np.array([0, 1])), true_gradient(over(2), a(0, 0), (rows, z)), [0, 1])


def test_what_underflows_or_overflows_in_the_gradient():
    """64 units of the smallest double, and no bound."""
    problem = over(3, block("row", [[5e-324, 0.0, 1e200]], 0.0))
    gradient = Gradient(problem, np.zeros(3))
    gradient.add(problem.rows(problem.constraints[0]), a(1))
    assert gradient.rounding[0] == 72 * ETA  # 8 of them for the rounding of the bound
    assert gradient.rounding[1] == 0.0
    with np.errstate(all="ignore"):
        gradient.add(problem.rows(problem.constraints[0]), a(1e200))
        large = Gradient(problem, np.zeros(3))
        large.add(problem.rows(problem.constraints[0]), a(1e200))
        assert large.rounding[2] == np.inf
        undefined = Gradient(problem, np.zeros(3))
        undefined.add(problem.rows(problem.constraints[0]), a(np.nan))
        assert undefined.rounding[2] == np.inf


def test_gradients_that_cannot_be_split_are_worked_out_in_rationals(monkeypatch):
    names = [cc.Variable("d", 1, "d"), cc.Variable("x", 2, "x")]
    P = np.array([[HUGE, -HUGE], [-HUGE, HUGE]])
    rows = cc.Constraint("rows", {"d": [[HUGE], [-HUGE]], "x": [[1.0, 0.0], [0.0, HUGE]]})
    problem = cc.Problem("huge", names, constraints=[rows], quadratic={"d": [HUGE], "x": P}, linear={"x": [3.0, 0.5]})
    x, z = a(1 / 3, 1.5, 1.5), a(1 / 3, 2 / 3)
    true = true_gradient(problem, x, (problem.rows(rows), z))
    for columns in ([0, 1, 2], [2, 1], [0]):
        gradient = Gradient(problem, x)
        gradient.add(problem.rows(rows), z)
        found = gradient.refined(np.array(columns))
        assert_within(found, true, columns)
        assert np.all(found.rad <= 1.01 * UNIT * np.abs(found.mid))
    for limit, exact in ((6, True), (5, False)):
        monkeypatch.setattr(LIMITS, "MAX_RATIONAL_ENTRIES", limit)
        assert np.isfinite(gradient.refined(np.array([2])).rad[0]) == exact
    monkeypatch.undo()
    with np.errstate(all="ignore"):
        gradient = Gradient(problem, x)
        gradient.add(problem.rows(rows), z)
        gradient.add(problem.rows(rows), a(1, np.inf))
        assert gradient.refined(np.array([0])).rad[0] == np.inf


def test_rationals_do_not_help_where_a_kernel_is_blurred():
    """Where nothing is, they do."""
    row = cc.Constraint("row", {"x": np.full((1, 4), HUGE)})
    names = [cc.Variable("d", 1, "d"), cc.Variable("x", 4, "x")]
    P = POLYNOMIAL_KERNEL[2]
    exact = {"x": KernelRows(P.store, P.factor)}
    for quadratic, known in (({}, True), ({"d": [1.0]}, True), ({"d": [1.0], "x": P}, False), (exact, True)):
        problem = cc.Problem("blurred", names, constraints=[row], quadratic=quadratic)
        gradient = Gradient(problem, np.ones(5))
        gradient.add(problem.rows(row), a(1 / 3))
        assert np.isfinite(gradient.refined(np.array([0, 2])).rad).tolist() == [True, known]


def test_what_is_lost_between_pieces_counts(monkeypatch):
    """1 + 2^-60 + 2^-120 - 1 - 2^-60, a row at a time: two doubles lose the third number."""
    monkeypatch.setattr(LIMITS, "BLOCK_ENTRIES", 1)
    problem = over(1, block("row", [[1.0], [2.0**-60], [2.0**-120], [-1.0], [-(2.0**-60)]], 0.0))
    gradient = Gradient(problem, a(0))
    gradient.add(problem.rows(problem.constraints[0]), np.ones(5))
    found = gradient.refined(np.array([0]))
    assert_within(found, {0: Fraction(1, 2**120)}, [0])


def test_unknowns_of_one_are_multiplied_like_others():
    """2^30 + 1 + 2^-30 - 2^30, in doubt."""
    rows, stated = rows_and_block([[BIG, 1.0, 1.0 / BIG, -BIG, 5.0]])
    found = row_values(rows, a(1, 1, 1, 1, 0), stated, "rhs", 1e-18)
    assert found.mid[0] == 1.0 + 2.0**-30


# ---- many products --------------------------------------------------------------------------------------------------


def test_many_products_are_added_up_in_turn_within_their_bound():
    """Rows of 1200 products of very different sizes, one of zeros: the sum of what is kept is the true one within the
    bound, which is that of the products and what folding them loses."""
    rng = np.random.default_rng(3)
    high = np.vstack([rng.normal(size=1200) * 10.0 ** rng.integers(-8, 9, 1200), rng.normal(size=1200), np.zeros(1200)])
    z = rng.normal(size=1200)
    for low in (np.zeros_like(high), 2.0**-54 * high * rng.choice([-1.0, 1.0], high.shape)):
        entries, parts = Doubled(high, low), [[], [], []]
        off = _gather(parts, np.arange(3), entries, z)
        assert all(len(part) <= 2 for part in parts)
        product, error = two_product(high, z)
        several = np.abs(np.hstack([product, error, low * z])).sum(axis=1)
        np.testing.assert_allclose(off, product_error(entries, z, product) + FOLDED_ERROR * several, rtol=1e-9)
        for k, part in enumerate(parts):
            rows = zip(high[k].tolist(), low[k].tolist(), z.tolist(), strict=True)
            true = sum((Fraction(h) + Fraction(b)) * Fraction(v) for h, b, v in rows)
            assert abs(sum(map(Fraction, part)) - true) <= Fraction(off[k])
    few = [[], [], []]
    assert np.all(_gather(few, np.arange(3), Doubled(high[:, :1000], low[:, :1000]), z[:1000]) < off + 1e-300)
    assert [len(part) for part in few] == [3000, 3000, 3000]  # so few are kept as they are


def test_products_that_overflow_are_not_folded():
    entries, parts = Doubled(np.full((2, 1200), [[1e300], [1.0]]), np.zeros((2, 1200))), [[], []]
    with np.errstate(all="ignore"):
        off = _gather(parts, np.arange(2), entries, np.full(1200, 1e10))
    assert not np.isfinite(off[0])
    assert np.isfinite(off[1])
    assert [len(part) for part in parts] == [3600, 3600]


@pytest.mark.parametrize("rhs", [[0.1, -0.3, 1e30], [Fraction(1, 3), Fraction(-2, 7), 5]])
@pytest.mark.parametrize("low", [0.0, 0.1])
def test_values_in_doubled_precision_are_those_of_sides_as_given(rhs, low):
    entries = [[Fraction(low) / 3 + 1, 2.0], [3.0, 4.0], [-5.0, 0.25]]
    rows, constraint = rows_and_block(entries if low else [[float(v) for v in row] for row in entries], rhs)
    x = a(0.1, -0.7)
    found = row_values(rows, x, constraint, "rhs", 0.0)
    sides = constraint.rational_vector("rhs")
    for mid, rad, row, side in zip(found.mid, found.rad, rows.rational(), sides, strict=True):
        truth = sum(v * Fraction(t) for v, t in zip(row, x.tolist(), strict=True)) - side
        assert abs(Fraction(mid) - truth) <= Fraction(rad) <= abs(truth) * Fraction(1, 2**50)
