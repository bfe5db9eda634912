"""Losses: values against interval arithmetic, slopes against differences, conjugates against Fenchel-Young."""

from __future__ import annotations

import dataclasses

import cvxpy as cp
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from convexcls.losses import (
    BY_NAME,
    Absolute,
    BinaryEntropy,
    Exponential,
    ExponentialEntropy,
    HalfSquare,
    Hinge,
    LinearOnInterval,
    LogDet,
    Logistic,
    Loss,
    Modulus,
    Perceptron,
    PiecewiseLinear,
    QuadraticOnInterval,
    Squared,
    SquaredHinge,
    ZeroOne,
    writing,
)

ctx.prec = 200

#: Each loss with what it is, in interval arithmetic of 200 bits.
REFERENCE = {
    Hinge(): lambda m: (1 - m).max(arb(0)),
    SquaredHinge(): lambda m: (1 - m).max(arb(0)) ** 2,
    Perceptron(): lambda m: (-m).max(arb(0)),
    Squared(): lambda m: (1 - m) ** 2,
    Absolute(): lambda m: abs(1 - m),
    Modulus(): lambda m: abs(m),
    HalfSquare(): lambda m: m**2 / 2,
    Logistic(): lambda m: (-m).exp().log1p(),
    Exponential(): lambda m: (-m).exp(),
}
OWN = [
    PiecewiseLinear(((2, 1),)),
    PiecewiseLinear(((0, 0), (-1, 1))),
    PiecewiseLinear(((-1, 0), (0, 0.5), (2, -1))),
    PiecewiseLinear(((-3, -1), (-1, 0), (0, 0.25), (0.5, 0.125), (4, -2))),
    PiecewiseLinear(((-1, 0), (0, -5), (1, 0))),  # the middle line is never the highest
    PiecewiseLinear(((-1, 0), (0, 0), (1, 0))),  # three lines through one point
    PiecewiseLinear(((1, 0), (1, 2), (-1, 0), (-1, -3), (1, 2))),  # equal slopes
    PiecewiseLinear(((0.1, 0.2), (0.3, 0.1), (0.7, -0.3))),
]
CONVEX = [*REFERENCE, *OWN]
BOTH = [*CONVEX, *(loss.conjugate for loss in CONVEX)]
CURVED = [Squared(), HalfSquare(), Logistic(), Exponential(), SquaredHinge()]

EVERYWHERE = np.concatenate([np.linspace(-6, 6, 49), [-1e4, -745.5, -709.5, -36.8, -1e-300, 1e-9, 36.8, 709.5, 1e4]])
margins = st.floats(-50, 50)


def name_of(loss: Loss) -> str:
    return f"{loss.name}-{len(loss.lines)}" if hasattr(loss, "lines") else loss.name


def every(losses):
    return pytest.mark.parametrize("loss", losses, ids=name_of)


# ---- values --------------------------------------------------------------------------------------------------


@every(REFERENCE)
def test_values_to_the_last_digits(loss):
    for m in EVERYWHERE:
        exact = REFERENCE[loss](arb(m))
        if exact > arb(np.finfo(float).max):
            assert loss.value(m) == np.inf
            continue
        error = abs(arb(float(loss.value(m))) - exact)
        assert error <= abs(exact) * arb(2.0**-51) + arb(2.0**-1074), f"at {m}"


@every([BinaryEntropy(Logistic()), ExponentialEntropy(Exponential())])
def test_entropies_to_the_last_digits(loss):
    inside = [1e-300, 1e-20, 1e-9, 0.1, 0.25, 0.5, 0.75, 0.9, 1 - 2.0**-20, 1 - 2.0**-53]
    for lam in inside + ([1.5, 2.0, 10.0, 1e10] if loss.domain[1] > 1 else []):
        x = arb(lam)
        rest = x if loss.domain[1] > 1 else -(1 - x) * (-x).log1p()
        exact = x * x.log() - rest
        assert abs(arb(float(loss.value(lam))) - exact) <= abs(exact) * arb(2.0**-50), f"at {lam}"
    assert loss.value(0.0) == 0.0
    assert loss.value(1.0) == (0.0 if loss.domain[1] == 1 else -1.0)


def test_the_error_count():
    zero_one = ZeroOne()
    assert np.array_equal(zero_one.value(np.array([-1.0, -0.0, 0.0, 1e-300, 2.0])), [1, 1, 1, 0, 0])
    for refused in (lambda: zero_one.slope(np.zeros(1)), lambda: zero_one.conjugate):
        with pytest.raises(TypeError, match="not convex"):
            refused()
    with pytest.raises(TypeError, match="not convex"):
        zero_one.cvxpy(cp.Variable(2))
    with pytest.raises(TypeError):
        zero_one.curvature(np.zeros(1))
    with pytest.raises(TypeError):
        zero_one.pieces  # noqa: B018
    assert "zero-one" not in BY_NAME


@given(margins)
def test_every_surrogate_is_above_the_error_count(m):
    for loss in (Hinge(), SquaredHinge(), Squared(), Absolute(), Exponential()):
        assert loss.value(m) >= ZeroOne().value(m)
    assert Logistic().value(m) / np.log(2.0) >= ZeroOne().value(m) * (1 - 1e-15)


@every(CONVEX)
def test_far_margins_are_safe(loss):
    far = np.array([-1e4, -800.0, 800.0, 1e4])
    finite = loss.value(far) if loss.name != "exponential" else loss.value(far)[2:]
    assert np.all(np.isfinite(finite))
    assert not np.any(np.isnan(loss.slope(far)))
    if loss in CURVED:
        assert not np.any(np.isnan(loss.curvature(far)))
    if loss.name == "exponential":
        assert np.array_equal(loss.value(far)[:2], [np.inf, np.inf])
        assert np.array_equal(loss.slope(far)[:2], [-np.inf, -np.inf])
        assert loss.conjugate.value(np.inf) == np.inf


@every([Squared(), SquaredHinge(), HalfSquare(), Squared().conjugate, SquaredHinge().conjugate])
def test_squares_too_large_for_a_double_are_infinite(loss):
    far = -1e200 if loss == SquaredHinge() else 1e200
    assert loss.value(far) == np.inf
    assert np.isfinite(loss.slope(far))


@every(BOTH)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
@pytest.mark.parametrize("dtype", [float, int])
def test_entry_by_entry_in_every_shape(loss, shape, dtype):
    u = np.ones(shape, dtype=dtype)
    before = u.copy()
    verbs = [loss.value, loss.slope]
    verbs += [loss.curvature] if loss in CURVED or type(loss) is QuadraticOnInterval else []
    for verb in verbs:
        with np.errstate(divide="ignore"):
            found, alone = np.asarray(verb(u)), np.asarray(verb(1.0))
        assert found.shape == shape
        assert np.array_equal(found, np.full(shape, alone))
        assert not np.shares_memory(found, u)
    assert np.array_equal(u, before)


# ---- slopes and curvatures -------------------------------------------------------------------------------------


@every([loss for loss in BOTH if loss.domain[0] < loss.domain[1]])
def test_slopes_against_differences(loss):
    low, high = max(loss.domain[0], -5.0), min(loss.domain[1], 5.0)
    h = 1e-5
    u = np.linspace(low + 10 * h, high - 10 * h, 401) + 1e-7 * np.pi  # kinks are at round numbers
    difference = (loss.value(u + h) - loss.value(u - h)) / (2 * h)
    smooth = np.abs(loss.slope(u + h) - loss.slope(u - h)) < 1.0  # not across a kink
    assert smooth.sum() >= 390
    bend = np.abs(loss.slope(u + h) - 2 * loss.slope(u) + loss.slope(u - h))  # bounds the error of the difference
    error = np.abs(loss.slope(u) - difference)
    assert np.all((error <= 1e-9 * (1 + np.abs(difference)) + bend)[smooth])


@every([*CURVED, BinaryEntropy(Logistic()), ExponentialEntropy(Exponential()), Squared().conjugate])
def test_curvatures_against_differences(loss):
    low, high = max(loss.domain[0], -5.0), min(loss.domain[1], 5.0)
    u = np.linspace(low + 0.01, high - 0.01, 301)
    h = 1e-5
    inside = np.abs(u - 1.0) > 2 * h if loss.name == "squared_hinge" else np.full(u.shape, True)
    difference = (loss.slope(u + h) - loss.slope(u - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(u)[inside], difference[inside], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("halved", [False, True])
def test_slopes_of_a_log_determinant_move_no_farther_than_said(halved):
    loss, rng = LogDet(4, halved), np.random.default_rng(0)
    i, j = np.tril_indices(4)
    factors = rng.normal(size=(3, 4, 4))
    path = 2.0 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1)  # no entry of its inverse is negative
    for matrix, equal in ((path, True), *((f @ f.T + np.eye(4), False) for f in factors)):
        u = np.where(i == j, 1.0, 2.0 if halved else 1.0) * matrix[i, j]
        moved = rng.uniform(0.0, 1.0, u.size)
        least = np.abs(loss.curvature(u)[0]) @ moved
        found = loss.slope_change(u, moved)
        assert np.all(found >= (1 - 1e-13) * least)
        assert np.allclose(found, least, rtol=1e-12) == equal
        np.testing.assert_allclose(loss.slope_change(u, 0.5), loss.slope_change(u, np.full(u.size, 0.5)), rtol=1e-15)


@every([loss for loss in CONVEX if loss not in CURVED])
def test_losses_with_kinks_have_no_curvature(loss):
    with pytest.raises(TypeError, match="no curvature"):
        loss.curvature(np.zeros(2))
    assert not loss.smooth


@given(margins, margins)
def test_slopes_rise_and_support_the_loss_from_below(u, v):
    for loss in CONVEX:
        tangent = loss.value(u) + loss.slope(u) * (v - u)
        size = abs(loss.value(u)) + abs(loss.slope(u) * (v - u)) + abs(loss.value(v))
        assert loss.value(v) >= tangent - 1e-14 * size
        assert (loss.slope(v) - loss.slope(u)) * (v - u) >= 0


@every(CONVEX)
def test_the_range_of_slopes(loss):
    low, high = loss.slopes
    slopes = loss.slope(np.concatenate([np.linspace(-600, 600, 997), EVERYWHERE]))
    assert np.all((slopes >= low) & (slopes <= high))
    # reached, or approached towards an end: the slope of the loss far out
    for end, bound in ((-1e8, low), (1e8, high)):
        if np.isfinite(bound):
            assert loss.slope(end) == pytest.approx(bound, abs=1e-12)
        else:
            assert abs(loss.slope(end)) > 1e7


@every(BOTH)
def test_the_domain(loss):
    low, high = loss.domain
    for end, outward in ((low, -1.0), (high, 1.0)):
        if np.isfinite(end):
            assert np.isfinite(loss.value(end))
            assert loss.value(np.nextafter(end, outward * np.inf)) == np.inf
            assert loss.value(end + outward * 1e4) == np.inf
    inside = np.linspace(max(low, -100.0), min(high, 100.0), 57)
    assert np.all(np.isfinite(loss.value(inside)))


@every([Logistic(), Exponential()])
def test_curvature_relative_to_the_room_left(loss):
    u = np.linspace(-30, 30, 601)
    for edge in loss.slopes:
        if np.isfinite(edge):
            room = np.abs(loss.slope(u) - edge)
            seen = room > 1e-10
            assert np.all(loss.curvature(u)[seen] <= loss.curvature_per_room * room[seen] * (1 + 1e-5))


def test_the_squares_are_what_they_say():
    u = np.linspace(-3, 3, 25)
    for loss in (Squared(), HalfSquare()):
        scale, shift = loss.half_square
        np.testing.assert_allclose(loss.value(u), scale / 2 * (u + shift) ** 2, rtol=1e-15)
    assert all(loss.half_square is None for loss in CONVEX if loss not in (Squared(), HalfSquare()))


@every([loss for loss in CONVEX if not loss.smooth])
def test_pieces_give_the_loss(loss):
    u = np.linspace(-4, 4, 81)
    lines = np.max([a * u + b for a, b in loss.pieces], axis=0)
    expected = lines if loss.power == 1 else np.maximum(lines, 0.0) ** loss.power
    np.testing.assert_allclose(loss.value(u), expected, rtol=1e-15, atol=1e-15)


@every([Squared(), HalfSquare(), Logistic(), Exponential()])
def test_smooth_losses_have_no_pieces(loss):
    assert loss.smooth
    with pytest.raises(TypeError, match="not piecewise linear"):
        loss.pieces  # noqa: B018


# ---- conjugates --------------------------------------------------------------------------------------------------


@given(margins, st.floats(-60, 60))
def test_fenchel_young(u, lam):
    for loss in CONVEX:
        psi = loss.conjugate
        low, high = psi.domain
        inside = float(np.clip(lam, low, high))
        for multiplier in {lam, inside}:
            product = loss.dual_sign * multiplier * u
            size = abs(loss.value(u)) + abs(product) + 1.0
            assert loss.value(u) + psi.value(multiplier) >= product - 1e-13 * size, name_of(loss)
        assert np.isfinite(psi.value(inside))


@given(st.floats(-30, 30))
def test_fenchel_young_is_equality_at_the_slope(u):
    for loss in CONVEX:
        psi = loss.conjugate
        lam = loss.dual_sign * loss.slope(u)
        product = loss.dual_sign * lam * u
        size = abs(loss.value(u)) + abs(product) + abs(psi.value(lam))
        assert abs(loss.value(u) + psi.value(lam) - product) <= 1e-14 * size, name_of(loss)


@given(st.floats(-5, 5), st.floats(0.01, 1.0))
def test_fenchel_young_is_strict_away_from_the_slope(u, off):
    for loss in (Squared(), HalfSquare(), Logistic(), Exponential()):
        psi = loss.conjugate
        at = loss.dual_sign * loss.slope(u)
        lam = at + off if at + off < psi.domain[1] else at - min(off, at / 2)
        assert loss.value(u) + psi.value(lam) > loss.dual_sign * lam * u


@every(CONVEX)
def test_the_conjugate_of_the_conjugate_is_the_loss(loss):
    psi = loss.conjugate
    assert psi.conjugate == loss
    assert psi.dual_sign == loss.dual_sign
    u = np.linspace(-3, 3, 61)
    low, high = max(psi.domain[0], -40.0), min(psi.domain[1], 40.0)
    lam = np.unique(np.concatenate([np.linspace(low, high, 20001), loss.dual_sign * loss.slope(u)]))
    lam = lam[(lam >= psi.domain[0]) & (lam <= psi.domain[1])]
    highest = np.max(loss.dual_sign * lam * u[:, None] - psi.value(lam), axis=1)
    np.testing.assert_allclose(highest, loss.value(u), rtol=1e-12, atol=1e-12)


@every(CONVEX)
def test_the_conjugate_is_the_supremum(loss):
    psi = loss.conjugate
    low, high = max(psi.domain[0], -8.0), min(psi.domain[1], 8.0)
    lam = np.linspace(low, high, 33)[1:-1] if high > low else np.array([low])
    best = loss.dual_sign * psi.slope(lam)  # where the supremum is attained, if somewhere
    grid = np.unique(np.concatenate([np.linspace(-60, 60, 4801), best]))
    highest = np.max(loss.dual_sign * lam[:, None] * grid - loss.value(grid), axis=1)
    np.testing.assert_allclose(psi.value(lam), highest, rtol=1e-12, atol=1e-12)


def test_the_conjugates_of_the_book():
    lam = np.linspace(0, 1, 11)
    np.testing.assert_allclose(Hinge().conjugate.value(lam), -lam)
    assert np.array_equal(Perceptron().conjugate.value(lam), np.zeros(11))
    np.testing.assert_allclose(SquaredHinge().conjugate.value(lam), lam**2 / 4 - lam)
    np.testing.assert_allclose(Absolute().conjugate.value(-lam), lam)
    assert Modulus().conjugate.value(1.5) == np.inf
    assert HalfSquare().conjugate == HalfSquare()
    assert Logistic().conjugate.value(0.5) == pytest.approx(-np.log(2))
    m = np.linspace(-4, 4, 9)
    np.testing.assert_allclose(BinaryEntropy(Logistic()).slope(1 / (1 + np.exp(m))), -m, rtol=1e-13, atol=1e-13)


def test_a_conjugate_without_an_edge_is_smooth():
    assert Squared().conjugate.smooth
    assert not SquaredHinge().conjugate.smooth
    assert not Hinge().conjugate.smooth


# ---- a user's own ------------------------------------------------------------------------------------------------

pieces = st.lists(
    st.tuples(st.integers(-12, 12).map(lambda k: k / 4), st.integers(-12, 12).map(lambda k: k / 4)),
    min_size=1,
    max_size=6,
)


@given(pieces, st.integers(-40, 40).map(lambda k: k / 8), st.integers(0, 16))
def test_any_maximum_of_lines(lines, u, step):
    loss = PiecewiseLinear(lines)
    psi = loss.conjugate
    assert loss.value(u) == max(a * u + b for a, b in lines)
    assert loss.slope(u) in {a for a, b in lines if a * u + b == loss.value(u)}
    low, high = loss.slopes
    assert psi.domain == (low, high)
    lam = low + (high - low) * step / 16
    # the best convex combination of two lines is the lowest point of the hull above lam
    hull = [
        (-b * (c - lam) - d * (lam - a)) / (c - a) if c > a else max(-b, -d) if b == d else min(-b, -d)
        for a, b in lines
        for c, d in lines
        if a <= lam <= c
    ]
    assert psi.value(lam) == pytest.approx(min(hull), abs=1e-14)
    assert loss.value(u) + psi.value(lam) >= lam * u - 1e-12
    assert PiecewiseLinear(lines) == loss
    assert PiecewiseLinear([list(line) for line in lines]) == loss
    assert hash(PiecewiseLinear(lines)) == hash(loss)


def test_a_users_own_loss_is_checked():
    for bad in ((), ((1.0, np.nan),), ((np.inf, 0.0),)):
        with pytest.raises(ValueError, match=r"finite \(slope, height\) pairs"):
            PiecewiseLinear(bad)
    loss = PiecewiseLinear(((0, 0), (-1, 1)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        loss.lines = ()
    assert repr(loss) == "PiecewiseLinear(lines=((0.0, 0.0), (-1.0, 1.0)))"
    assert loss != PiecewiseLinear(((0, 0), (-1, 2)))
    with pytest.raises(TypeError, match="only ever evaluated"):
        loss.conjugate.cvxpy(cp.Variable(1))


# ---- cvxpy -------------------------------------------------------------------------------------------------------


@every([loss for loss in BOTH if type(loss).__name__ != "_PiecewiseConjugate"])
def test_the_cvxpy_expression_has_the_same_value_and_is_convex(loss):
    low, high = max(loss.domain[0], -4.0), min(loss.domain[1], 4.0)
    u = np.linspace(low, high, 23)
    expression = loss.cvxpy(cp.Constant(u))
    np.testing.assert_allclose(expression.value, loss.value(u), rtol=1e-12, atol=1e-12)
    assert loss.cvxpy(cp.Variable(3)).is_convex()
    assert loss.cvxpy(cp.Variable(3)).shape == (3,)


# ---- writing -----------------------------------------------------------------------------------------------------

SCORE = r"x_i^\top \beta + \beta_0"
WRITTEN = [
    (ZeroOne(), r"\mathbf{1}[m_i \le 0]", rf"\mathbf{{1}}[{SCORE} \le 0]"),
    (Hinge(), r"\max\{0,\ 1 - m_i\}", rf"\max\{{0,\ 1 - ({SCORE})\}}"),
    (SquaredHinge(), r"\max\{0,\ 1 - m_i\}^2", rf"\max\{{0,\ 1 - ({SCORE})\}}^2"),
    (Perceptron(), r"\max\{0,\ -m_i\}", rf"\max\{{0,\ -({SCORE})\}}"),
    (Squared(), "(1 - m_i)^2", f"(1 - ({SCORE}))^2"),
    (Absolute(), "|1 - m_i|", f"|1 - ({SCORE})|"),
    (Modulus(), "|m_i|", f"|{SCORE}|"),
    (HalfSquare(), r"\tfrac12 m_i^2", rf"\tfrac12 ({SCORE})^2"),
    (Logistic(), r"\log\left(1 + e^{-m_i}\right)", rf"\log\left(1 + e^{{-({SCORE})}}\right)"),
    (Exponential(), "e^{-m_i}", f"e^{{-({SCORE})}}"),
    (
        Logistic().conjugate,
        r"m_i \log m_i + (1 - m_i) \log(1 - m_i)",
        rf"({SCORE}) \log({SCORE}) + (1 - ({SCORE})) \log(1 - ({SCORE}))",
    ),
    (Exponential().conjugate, r"m_i \log m_i - m_i", rf"({SCORE}) \log({SCORE}) - ({SCORE})"),
    (Hinge().conjugate, "-m_i", f"-({SCORE})"),
    (Perceptron().conjugate, "0", "0"),
    (SquaredHinge().conjugate, r"\tfrac{m_i^2}{4} - m_i", rf"\tfrac{{({SCORE})^2}}{{4}} - ({SCORE})"),
    (
        QuadraticOnInterval(2.0, 1.5, (0.0, 1.0), Hinge()),
        r"\tfrac{m_i^2}{1} + 1.5 m_i",
        rf"\tfrac{{({SCORE})^2}}{{1}} + 1.5 ({SCORE})",
    ),
    (QuadraticOnInterval(1.0, 0.0, (0.0, 1.0), Hinge()), r"\tfrac{m_i^2}{2}", rf"\tfrac{{({SCORE})^2}}{{2}}"),
    (LinearOnInterval(-1.5, (0.0, 1.0), Hinge()), "-1.5 m_i", f"-1.5 ({SCORE})"),
    (PiecewiseLinear(((2, 1),)), "2 m_i + 1", f"2 ({SCORE}) + 1"),
    (
        PiecewiseLinear(((0, 0), (-1, 1), (-2.5, 0), (1, -1e-5))),
        r"\max\{0,\ -m_i + 1,\ -2.5 m_i,\ m_i - 10^{-5}\}",
        rf"\max\{{0,\ -({SCORE}) + 1,\ -2.5 ({SCORE}),\ {SCORE} - 10^{{-5}}\}}",
    ),
    (PiecewiseLinear(((1, 0),)).conjugate, r"\psi(m_i)", rf"\psi({SCORE})"),
]


@pytest.mark.parametrize(("loss", "of_symbol", "of_sum"), WRITTEN, ids=[name_of(case[0]) for case in WRITTEN])
def test_formulas(loss, of_symbol, of_sum):
    assert loss.latex("m_i") == of_symbol
    assert loss.latex(SCORE) == of_sum


@pytest.mark.parametrize("loss", [case[0] for case in WRITTEN], ids=[name_of(case[0]) for case in WRITTEN])
def test_formulas_can_be_rendered(loss):
    math_core = pytest.importorskip("math_core")
    for argument in ("m_i", SCORE, r"y_i (x_i^{\top} \beta + \beta_0)", r"d_i \lambda_i"):
        formula = loss.latex(argument)
        rendered = math_core.LatexToMathML().convert_with_local_state(formula, displaystyle=True)
        assert rendered.startswith("<math")
        assert "error" not in rendered.lower()
        for opening, closing in ("()", "{}"):
            assert formula.count(opening) == formula.count(closing)


@pytest.mark.parametrize(
    ("u", "after_minus", "in_log", "as_square"),
    [
        ("m", "m", r"\log m", "m^2"),
        (r"\tilde{\beta}_{12}", r"\tilde{\beta}_{12}", r"\log \tilde{\beta}_{12}", r"\tilde{\beta}_{12}^2"),
        (r"\alpha^+_i", r"\alpha^+_i", r"\log \alpha^+_i", r"(\alpha^+_i)^2"),
        ("a + b", "(a + b)", r"\log(a + b)", "(a + b)^2"),
        ("-a", "(-a)", r"\log(-a)", "(-a)^2"),
        ("y_i (a + b)", "y_i (a + b)", r"\log(y_i (a + b))", "(y_i (a + b))^2"),
        ("y_i (a + b) - t", "(y_i (a + b) - t)", r"\log(y_i (a + b) - t)", "(y_i (a + b) - t)^2"),
        ("(a + b) - (c + d)", "((a + b) - (c + d))", r"\log((a + b) - (c + d))", "((a + b) - (c + d))^2"),
        ("d_i m_i", "d_i m_i", r"\log(d_i m_i)", "(d_i m_i)^2"),
        ("e^{-m}", "e^{-m}", r"\log e^{-m}", "(e^{-m})^2"),
        (r"\max\{0,\ 1 - m\}", r"\max\{0,\ 1 - m\}", r"\log(\max\{0,\ 1 - m\})", r"(\max\{0,\ 1 - m\})^2"),
    ],
)
def test_brackets_where_needed_and_only_there(u, after_minus, in_log, as_square):
    assert writing.bracketed(u) == after_minus
    assert writing.log(u) == in_log
    assert writing.squared(u) == as_square


@pytest.mark.parametrize(
    ("value", "written"),
    [(1.0, "1"), (-2.5, "-2.5"), (1e-5, "10^{-5}"), (-1e20, "-10^{20}"), (2.5e-7, r"2.5 \cdot 10^{-7}")],
)
def test_numbers(value, written):
    assert writing.number(value) == written


# ---- names -------------------------------------------------------------------------------------------------------


def test_losses_by_name():
    assert set(BY_NAME) == {"hinge", "squared_hinge", "logistic", "squared", "absolute", "perceptron", "exponential"}
    assert all(BY_NAME[name].name == name for name in BY_NAME)
    assert Hinge() == Hinge()
    assert hash(Hinge()) == hash(Hinge())
    assert Hinge() != Perceptron()
    assert Hinge().conjugate == Hinge().conjugate
    assert Hinge().conjugate != Perceptron().conjugate
    assert repr(Hinge()) == "Hinge()"


def test_log_det_speaks_of_its_argument_as_it_is_now() -> None:
    """Factors are remembered by the numbers, not by the array: one that was written to since is another point. Who
    writes to an answer does not change what is remembered."""
    u = np.array([2.0, 1.0, 3.0])
    plain, halved = LogDet(2), LogDet(2, halved=True)
    for _ in range(2):  # worked out, and remembered
        assert plain.value(u)[0] == pytest.approx(-np.log(5.0))
        assert plain.slope(u) == pytest.approx(-np.array([3.0, -2.0, 2.0]) / 5.0)
        assert halved.value(u)[0] == pytest.approx(-np.log(5.75) - 2.0)
    plain.slope(u)[:] = 0.0
    assert plain.slope(u) == pytest.approx(-np.array([3.0, -2.0, 2.0]) / 5.0)
    u[0] = 1.0
    assert plain.value(u)[0] == pytest.approx(-np.log(2.0))
    assert plain.slope(u) == pytest.approx(-np.array([3.0, -2.0, 1.0]) / 2.0)
    u[0] = 0.0
    assert plain.value(u)[0] == np.inf
    assert not plain.inside(u)
    assert np.all(np.isnan(plain.slope(u)))


@pytest.mark.parametrize("moved", [-3.0, -0.5, 0.0, 0.5, 3.0])
def test_what_remains_of_logistic_slopes_is_what_their_curvature_says(moved):
    u = np.array([-800.0, -40.0, -3.0, 0.0, 0.1, 5.0, 30.0, 800.0])
    loss = Logistic()
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            loss.remaining(u, np.full(8, moved)), Loss.remaining(loss, u, np.full(8, moved)), atol=1e-12
        )
