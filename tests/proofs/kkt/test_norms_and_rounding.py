"""What rounding adds to bounds by norms, and what is left to the check row by row.

A sum of k products is off by k roundings of its sizes; twelve more are counted besides, and 2 % more of the gradient.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import convexcls as cc
from convexcls.losses import Exponential, HalfSquare, Logistic
from convexcls.proofs.kkt import at_once
from convexcls.proofs.kkt.at_once import MeasuredLater, _Block, _Bounds, bounded_at_once
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.verdict import certify
from convexcls.rows import DiagonalRows
from tests.norm_bounds import CAP, CURVED, ROWS, known
from tests.small_problems import a, block, over

#: A rounding and the least number.
U, ETA = 2.0**-53, 2.0**-1074
#: A curved unknown whose gradient is 4 - 4, and a row far from it: 12 + 3 numbers are added up.
STILL = {"quadratic": {"x": [4.0]}, "linear": {"x": [-4.0]}, "constant": 10.0}


def rounded(problem, x, multipliers, wanted):
    found = known(problem, x, multipliers)._asdict()
    for field, value in wanted.items():
        assert found[field] == pytest.approx(value, rel=1e-6, abs=0.0), field


def test_rows_are_rounded():
    """12 roundings and 2 of each row, of the largest entries of the columns and the largest side, on one row's side."""
    problem, x = over(2, block("row", *ROWS)), a(1, 1.5)
    off = 14 * U * (2 * 1 + 2 * 1.5 + 100)
    rounded(problem, x, {"row": a(0, 0, 0)}, {"violation": off, "primal_feasibility": off / 100})
    assert known(problem, a(0.5, 1), {"row": a(0, 0, 0)}).primal_feasibility == 0.0
    unit = over(2, block("row", *ROWS), unit=1e6, linear={"x": [0.0, 3.0]})
    rounded(unit, x, {"row": a(0, 0, 0)}, {"primal_feasibility": off / 100 + 3 * off / 1e6})
    for relation in ("<=", "=="):
        two = over(2, block("row", [[2.0, 0.0], [0.0, 2.0]], [2.0, 3.0], relation), linear={"x": [-2.0, -10.0]})
        off = 14 * U * (2 * 1 + 2 * 1.5 + 3)
        product = 0.0 if relation == "==" else 5 * off / 17
        found = known(two, x, {"row": a(1, 5)})
        assert found.primal_feasibility == pytest.approx(off / 3 + 10 * 2 * off / 17, rel=1e-6)
        assert found.complementary_slackness == pytest.approx(product, rel=1e-6)
        gradient = 1.02 * U * (12 + 2 + 2) * (4 + 20 * 1.5)  # of sizes 2 + 2 and 10 + 10
        assert found.relative_gap == pytest.approx((gradient + 6 * off) / 17, rel=1e-6)


def test_a_row_on_its_side_may_be_beyond_it():
    problem = over(1, block("row", [[1.0], [1.0], [1.0]], [3.0, 3.0 + 16 * U * 4, 4.0]))  # within by half, and by far
    off = 13 * U * (3 + 4)
    rounded(problem, a(3), {"row": a(1, 0, 0)}, {"violation": off, "primal_feasibility": off / 4 + 1 * 2 * off})


def test_the_least_numbers():
    problem = over(1, block("row", [[1.0]], 0.0), quadratic={"x": [1.0]})
    assert known(problem, a(0), {"row": a(0)}).violation == 8 * 13 * ETA
    still = over(1, CAP, quadratic={"x": [1.0]}, linear={"x": [-(2.0**-1064)]})
    found = known(still, a(2.0**-1064), {"cap": a(0)})
    assert found.stationarity == 64 / (2 * 1024)


def test_the_gradient_is_rounded():
    """12 and 2 numbers more than the rows of each block are added up, of sizes 4 + 4 and 1/2 2."""
    problem = over(1, CAP, block("far", [[4.0], [0.0]], 40.0), **STILL)
    for z, size in ((0.0, 8.0), (1.0, 8.0)):
        given = {"cap": a(0), "far": a(0, z)}
        rad = 1.02 * U * (12 + 3 + 4) * size
        rounded(problem, a(1), given, {"stationarity": rad / 8, "scale": 8.0})
    tied = over(1, block("tie", [[2.0], [-2.0]], a(2, -2), "=="), **STILL)
    rounded(tied, a(1), {"tie": a(-1, -1)}, {"stationarity": 1.02 * U * (12 + 4) * (8 + 4) / 8})


def with_errors(problem, x, multipliers, relative, absolute):
    """The bounds where the entries of all blocks are off by so much of themselves, and by so much."""
    blocks = [_Block.of(problem, b)._replace(relative=relative, absolute=absolute) for b in problem.blocks]
    return _Bounds(problem, blocks, x).found(multipliers)


def test_entries_may_be_off():
    """By a half of themselves, by 1/4 and 1/8, or by both: the rows, 2 + 2 and 4 more, and the gradient at 3 and 1."""
    problem = over(
        2,
        block("row", [[2.0, 0.0], [0.0, 2.0]], [2.0, 4.0], "=="),
        quadratic={"x": [1.0, 2.0]},
        linear={"x": [1.0, 6.0]},
        constant=-1000.0,
    )
    x, z, scale = a(1, 2), {"row": a(-1, -5)}, 982.5
    for relative, absolute, off, rad in (
        (0.5, 0.0, 0.5 * (6 + 4), (1, 5)),
        (0.0, a(0.25, 0.125), 0.5, (6 / 4, 6 / 8)),
        (0.5, a(0.25, 0.125), 5.5, (1 + 6 / 4, 5 + 6 / 8)),
    ):
        found = with_errors(problem, x, z, relative, absolute)
        assert found.scale == scale
        assert found.violation == pytest.approx(off, rel=1e-9)
        assert found.primal_feasibility == pytest.approx(off / 4 + 6 * 2 * off / scale, rel=1e-9)
        assert found.stationarity == pytest.approx(max(rad[0] / 4, rad[1] / 20), rel=1e-9)
        assert found.relative_gap == pytest.approx((rad[0] ** 2 + rad[1] ** 2 / 2 + 6 * off) / scale, rel=1e-9)


@pytest.mark.parametrize(("loss", "steepest"), [(HalfSquare(), 0.5), (Logistic(), 0.25), (Exponential(), None)])
def test_slopes_are_off_where_their_arguments_are(loss, steepest):
    """Of the weights 3 and 1/4; by twice the curvature, of a square by it. It costs its half, and goes to curved
    unknowns with the largest entries of their columns."""
    term = cc.Term("fit", {"x": [[2.0], [-1.0]]}, offset=a(-2, 1), loss=loss, weights=a(3, 0.25))
    slope = float(3 * 2 * loss.slope(np.zeros(1))[0] - 0.25 * loss.slope(np.zeros(1))[0])
    problem = over(1, terms=[term], quadratic={"x": [8.0]}, linear={"x": [-8.0 - slope]}, constant=1000.0)
    off = 0.125 * (2 * 1 + 2)
    error = 2 * 3.25 * steepest * off if steepest else 2 * 3.25 * float(loss.slope_change(np.zeros(1), off)[0])
    found = with_errors(problem, a(1), {}, 0.125, 0.0)
    size = 8 + abs(8 + slope) + (2 * 3 + 0.25) * abs(float(loss.slope(np.zeros(1))[0]))
    rad = 2 * error + 0.125 * (2 * 3 + 0.25) * abs(float(loss.slope(np.zeros(1))[0]))
    assert found.stationarity == pytest.approx(rad / size, rel=1e-9)
    assert found.relative_gap == pytest.approx((rad**2 / 8 + 0.5 * error * off) / found.scale, rel=1e-9)
    flat = over(1, terms=[term], linear={"x": [-slope]}, constant=1000.0)
    found = with_errors(flat, a(1), {}, 0.125, 0.0)
    own = rad - 2 * error  # a slope that is off is another multiplier
    assert found.relative_gap == pytest.approx((own * 1 + 0.5 * error * off) / found.scale, rel=1e-9)


def test_slopes_are_rounded_themselves():
    """8 halves, of the weight 3; 14 roundings of an argument near 0 are nothing beside them, and 15 of the gradient."""
    term = cc.Term("fit", {"x": [[1.0]]}, loss=Logistic(), weights=3.0)
    problem = over(1, terms=[term], quadratic={"x": [4.0]}, linear={"x": [1.5]}, constant=100.0)
    rounded(problem, a(0), {}, {"stationarity": (8 * 1.5 + 1.02 * 15 * 3) * U / 3})
    fit = cc.Term("fit", {"x": [[1.0]]}, weights=3.0)  # of a square the slope is the argument: one rounding, of 3
    problem = over(1, terms=[fit], quadratic={"x": [4.0]}, linear={"x": [-7.0]}, constant=100.0)
    rounded(problem, a(1), {}, {"stationarity": (1 * 3 + 3 * 13 + 1.02 * 15 * 14) * U / 14})


# ---- what is left to the check ------------------------------------------------------------------------------------


def test_what_norms_do_not_decide_is_left_to_the_check(monkeypatch):
    fine = over(1, CAP, **CURVED)
    assert bounded_at_once(fine, a(1), {"cap": a(0)}) is not None
    ball = cc.NormBound("ball", {"x": np.eye(2)}, bound=5.0)
    rows = block("row", [[1.0, 1.0]], 100.0)
    assert bounded_at_once(over(2, rows, norm_bounds=[ball]), a(0, 0), {"row": a(0), "ball": a(0, 0, 0)}) is None
    matrix = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert bounded_at_once(over(2, rows, quadratic={"x": matrix}), a(0, 0), {"row": a(0)}) is None
    assert bounded_at_once(over(2, quadratic={"x": [1.0, 1.0]}), a(0, 0), {}) is None
    third = over(1, CAP, quadratic={"x": [1.0]}, linear={"x": [Fraction(1, 3)]})  # costs that doubles round
    assert bounded_at_once(third, a(0), {"cap": a(0)}) is None
    names = [cc.Variable("x", 1, "x"), cc.Variable("s", 1, "s")]
    sides = [
        cc.Constraint(name, {"x": [[sign]], "s": DiagonalRows.identity(1, -1.0)}, rhs=1.0)
        for name, sign in (("up", 1.0), ("down", -1.0))
    ]
    distance = cc.Problem("distance", names, constraints=sides, linear={"s": [1.0]})
    assert bounded_at_once(distance, a(1, 0), {"up": a(0.5), "down": a(0.5)}) is None
    for weights, counts in (([1.0, 0.0], False), ([0.5, 2.0], True)):
        fit = cc.Term("fit", {"x": [[1.0], [2.0]]}, weights=weights)
        assert (bounded_at_once(over(1, terms=[fit]), a(1), {}) is not None) is counts
    wrong = over(1, block("row", [[1.0], [1.0]], 1.0))
    assert bounded_at_once(wrong, a(0), {"row": a(1, -1e-300)}) is None
    assert bounded_at_once(wrong, a(0), {"row": a(0, 0)}) is not None
    empty = over(1, CAP, block("none", np.zeros((0, 1)), 0.0), **CURVED)
    assert bounded_at_once(empty, a(1), {"cap": a(0), "none": a()}) is not None
    for unit, constant, counts in ((0.0, 0.0, False), (0.0, 0.5, True), (0.5, 0.0, True)):
        found = bounded_at_once(over(1, CAP, quadratic={"x": [1.0]}, unit=unit, constant=constant), a(0), {"cap": a(0)})
        assert (found is not None) is counts
    far = over(1, block("cap", [[1.0]], -1e155), quadratic={"x": [1.0]})  # where nothing but the objective overflows
    assert bounded_at_once(far, a(-1e155), {"cap": a(1e155)}) is None
    assert bounded_at_once(over(1, CAP, **CURVED), a(1), {"cap": a(1e308)}) is None  # and here the gap
    for name, least, more in (("MAX_SMALL_UNKNOWNS", 2, 1), ("MAX_SMALL_ENTRIES", 2, 1)):
        for most, small in ((least, True), (more, False)):
            with monkeypatch.context() as patched:
                patched.setattr(at_once, name, most)
                assert at_once.is_small(over(2, rows)) is small
                assert (bounded_at_once(over(2, rows), a(0, 0), {"row": a(0)}) is not None) is small


def test_a_quarter_of_the_tolerance_is_asked_for():
    """Bounds may be half of what is measured."""
    problem, x, z = over(1, CAP, **CURVED, constant=5.0), a(1), {"cap": a(0.5)}  # the largest is the gap, 3/4
    found = known(problem, x, z)
    assert found.holds(3.0001)
    assert not found.holds(2.9999)
    exact = found._replace(stationarity=0.0, primal_feasibility=0.25, complementary_slackness=0.25, relative_gap=0.25)
    assert exact.holds(1.0)
    for name in found._fields[:4]:
        assert not exact._replace(**{name: 0.26}).holds(1.0)
        assert not exact._replace(**{name: math.nan}).holds(1.0)
    assert exact._replace(violation=9.0, scale=9.0, objective=9.0).holds(1.0)


def test_what_is_not_far_below_the_tolerance_is_measured():
    problem, x, z = over(1, CAP, **CURVED, constant=5.0), a(1), {"cap": a(0.5)}
    plain = check_kkt(problem, x, z)
    assert 0.5 < plain.worst <= 0.75  # a cap that is not tight has a multiplier
    later = certify(problem, x, z, 4.0).kkt
    assert isinstance(later, MeasuredLater)
    assert later.holds(3.5)
    assert later.dependent == ()
    assert (later.objective, later.scale, later.violation) == (4.0, 4.0, 0.0)
    assert later.lower == pytest.approx(4.0 - 3.0)
    assert not {"stationarity", "gap_rounding"} & vars(later).keys()  # so far nobody has looked
    assert later.holds(2.0)  # by the measures
    assert "stationarity" in vars(later)
    assert not later.holds(0.5)
    assert not isinstance(certify(problem, x, z, 2.0).kkt, MeasuredLater)
    with pytest.raises(AttributeError, match="colour"):
        _ = later.colour
    with pytest.raises(AttributeError, match="stationarity"):  # half made, as by copying
        _ = MeasuredLater.__new__(MeasuredLater).stationarity
