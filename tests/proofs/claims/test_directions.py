"""Directions along which a minimum is not attained: what is accepted as a proof, and what is not.

Each problem is made so that one condition decides. Few rows are looked at in rationals, and a direction next to the one
given may be the proof; where they are many, it has to be that direction itself: ``roughly`` takes any number for many.
"""

from __future__ import annotations

from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
import pytest

import convexcls as cc
from convexcls.losses import Logistic
from convexcls.proofs.claims import direction as claim
from convexcls.proofs.claims.direction import check_direction
from tests.small_problems import a, block, over

SMALL = 2.0**-53


def roughly(most=0):
    return patch.object(claim, "MAX_EXACT_ENTRIES", most)


def cone(offset=0.0, bound=0.0):
    return cc.NormBound("cone", {"x": [[1.0, 0.0]] * 2}, offset=offset, bound_entries={"x": [[0.0, 1.0]]}, bound=bound)


class Rising(Logistic):
    """log(1 + e^u): its slopes are between 0 and 1."""

    slopes = (0.0, 1.0)


class Falling(Logistic):
    """A loss that falls for ever, at a rate between 1 and 2."""

    slopes = (-2.0, -1.0)


def falls(q, *blocks, **parts):
    return over(len(q), *blocks, linear={"x": list(q)}, **parts)


def likelihood(entries, q=None, loss=None, weights=1.0, *others):
    """Losses of rows that may fall for ever."""
    terms = [cc.Term("rows", {"x": np.array(entries)}, loss=loss or Logistic(), weights=weights), *others]
    return over(len(entries[0]), terms=terms, linear={"x": list(q or np.zeros(len(entries[0])))})


FIT = cc.Term("fit", {"x": [[1.0, 0.0]]})
TIED = np.array([[1.0, -1.0], [-1.0, 1.0]])
#: name: (problem, direction, its slope, the rows that fall towards an infimum)
DIRECTIONS = {
    "a cost": (falls([-1.0, 0.0]), [2, 0], -2, []),
    "a cost, backwards": (falls([3.0, -1.0]), [-1, 4], -7, []),
    "a cost, beyond rounding": (falls([1.0, -1 - 1e-8]), [1, 1], -1e-8, []),
    "a row further away": (falls([-1.0, 0.0], block("row", [[-4.0, 1.0], [0.0, 1.0]], 0.0)), [1, 0], -1, []),
    "an equation": (falls([-1.0, 0.0], block("row", [[1.0, -2.0]], 3.0, "==")), [2, 1], -2, []),
    "a cone": (falls([0.0, -1.0], norm_bounds=[cone()]), [0, 1], -1, []),
    "one without curvature": (falls([-1.0, 0.0], quadratic={"x": [0.0, 2.0]}), [1, 0], -1, []),
    "a matrix": (falls([-1.0, 0.0], quadratic={"x": TIED}), [1, 1], -1, []),
    "a square that stays": (falls([-1.0, 0.0], terms=[cc.Term("fit", {"x": [[1.0, -1.0]]})]), [1, 1], -1, []),
    "losses": (likelihood([[1.0], [0.0], [2.0]]), [1], 0, [0, 2]),
    "one loss": (likelihood([[1.0]]), [1], 0, [0]),
    "without weight": (likelihood([[1.0], [-1.0], [3.0]], weights=[1.0, 0.0, 0.0]), [1], 0, [0]),
    "with little weight": (likelihood([[1.0], [0.0]], weights=[0.25, 1.0]), [1], 0, [0]),
    "a loss that rises, and a cost": (likelihood([[-1.0], [1.0]], [-3.0], weights=2.0), [1], -1, [1]),
    "a loss that rises as a cost falls": (likelihood([[-1.0], [1.0]], [-2.0], weights=2.0), [1], 0, [1]),
    "a cost of rounding": (likelihood([[1.0, 0.0]], [0.1 * 2**20, -0.3 * 2**20]), [3, 1], 0, [0]),
    "the other way": (likelihood([[-1.0]], loss=Rising()), [1], 0, [0]),
}
#: name: (problem, direction) that prove nothing
NO_DIRECTIONS = {
    "nothing": (falls([-1.0, 0.0]), [0, 0]),
    "too many": (falls([-1.0, 0.0]), [1, 0, 0]),
    "no number": (falls([-1.0, 0.0]), [1, np.nan]),
    "infinite": (falls([-1.0, 0.0]), [np.inf, 0]),
    "a cost that rises": (falls([-1.0, 0.0]), [-1, 0]),
    "no cost": (falls([0.0, 0.0]), [1, 0]),
    "a cost of rounding": (falls([1.0, -1 - 1e-10]), [1, 1]),
    "a cost of rounding, backwards": (falls([-1.0, 1 + 1e-10]), [-1, -1]),
    "a cost of rounding beside a loss that rises": (likelihood([[-1.0]], [-1 - 1e-10]), [1]),
    "a cost of rounding beside a loss that falls": (likelihood([[1.0]], [1 - 1e-10], Falling()), [1]),
    "a cost of rounding, large": (falls([1e9, -1e9 - 0.5]), [1, 1]),
    "a row": (falls([-1.0, 0.0], block("row", [[1e-3, 0.0]], 5.0)), [1, 0]),
    "one row of two": (falls([-1.0, 0.0], block("row", [[1.0, 0.0]], 5.0), block("other", [[-1.0, 0.0]], 0.0)), [1, 0]),
    "an equation, above": (falls([-1.0, 0.0], block("row", [[1.0, -2.0]], 3.0, "==")), [3, 1]),
    "an equation, below": (falls([-1.0, 0.0], block("row", [[1.0, -2.0]], 3.0, "==")), [1, 1]),
    "a cone": (falls([0.0, -1.0], norm_bounds=[cone()]), [0.5, 1]),
    "a cone, backwards": (falls([0.0, 1.0], norm_bounds=[cone()]), [0, -1]),
    "curvature": (falls([-1.0, 0.0], quadratic={"x": [1e-9, 2.0]}), [1, 0]),
    "curvature, backwards": (falls([1.0, 0.0], quadratic={"x": [1e-9, 2.0]}), [-1, 0]),
    "a matrix": (falls([-1.0, 0.0], quadratic={"x": TIED}), [1, 0]),
    "a square": (falls([-1.0, 0.0], terms=[FIT]), [1, 0]),
    "a square beside losses": (likelihood([[1.0, 0.0]], [0.0, 0.0], None, 1.0, FIT), [1, 0]),
    "one square of two": (
        likelihood([[1.0, 0.0]], [0.0, 0.0], None, 1.0, cc.Term("fit", {"x": [[1.0, 0.0], [0.0, 1.0]]})),
        [1, 0],
    ),
    "a loss that rises": (likelihood([[1.0], [-1.0]]), [1]),
    "a loss that rises, rather": (likelihood([[-1.0], [1.0]], [-1.0], weights=2.0), [1]),
    "a cost beside losses": (likelihood([[1.0, 0.0]], [1.0, -1 - 1e-10]), [1, 1]),
    "a loss that does not move": (likelihood([[0.0, 1.0]]), [1, 0]),
    "a loss that hardly moves": (likelihood([[1.0, -1 + 1e-10]]), [1, 1]),
    "the other way": (likelihood([[1.0]], loss=Rising()), [1]),
}
#: Along (3, 1, 0) this row is 6e-17 in doubles, 3e-17 without rounding; along a direction next to it it is 0.
HARDLY = [0.1, -0.3, 0.0]
#: name: (problem, whether the direction itself will do where rows are many)
HARDLY_MOVED = {
    "a row, beyond": (falls([-1.0, 0.0, 0.0], block("row", [HARDLY], 0.0)), False),
    "a row, within": (falls([-1.0, 0.0, 0.0], block("row", [-np.array(HARDLY), [0.0, 0.0, 1.0]], 0.0)), True),
    "one row of two": (falls([-1.0, 0.0, 0.0], block("row", [HARDLY, -np.array(HARDLY)], 0.0)), False),
    "a row that stays": (falls([-1.0, 0.0, 0.0], block("row", [[0.5, -1.5, 0.0]], 0.0, "==")), True),
    "an equation, above": (falls([-1.0, 0.0, 0.0], block("row", [HARDLY], 0.0, "==")), False),
    "an equation, below": (falls([-1.0, 0.0, 0.0], block("row", [-np.array(HARDLY)], 0.0, "==")), False),
    "one equation of two": (falls([-1.0, 0.0, 0.0], block("row", [HARDLY, [0.5, -1.5, 1.0]], 0.0, "==")), False),
    "one equation of two, below": (
        falls([-1.0, 0.0, 0.0], block("row", [-np.array(HARDLY), [0.5, -1.5, 1.0]], 0.0, "==")),
        False,
    ),
    "a loss that falls": (likelihood([HARDLY], [-1.0, 0.0, 0.0]), True),
    "a loss that rises": (likelihood([-np.array(HARDLY)], [-1.0, 0.0, 0.0]), False),
    "a loss that rises, the other way": (likelihood([HARDLY], [-1.0, 0.0, 0.0], Rising()), False),
    "a loss that falls, the other way": (likelihood([-np.array(HARDLY)], [-1.0, 0.0, 0.0], Rising()), True),
    "a loss without weight": (likelihood([[1.0, 0.0, 0.0], -np.array(HARDLY)], None, None, [1.0, 0.0]), True),
    "a square": (falls([-1.0, 0.0, 0.0], terms=[cc.Term("fit", {"x": [HARDLY]})]), False),
    "a matrix": (falls([-1.0, 0.0, 0.0], quadratic={"x": np.outer([1.0, -3.0, 0.0], [1.0, -3.0, 0.0])}), False),
}


@pytest.mark.parametrize("name", DIRECTIONS)
def test_directions(name):
    problem, d, slope, falling = DIRECTIONS[name]
    for size in (1.0, 1024.0):
        with patch.object(claim, "ROUNDED_ZERO", 0.0) if "rounding" not in name else nullcontext():
            proof = check_direction(problem, size * np.array(d, dtype=float))
            with roughly():
                assert check_direction(problem, size * np.array(d, dtype=float)) is not None
        assert proof.slope == pytest.approx(size * slope, rel=1e-6)
        assert (proof.rows.tolist(), proof.residual) == (falling, 0.0)
        assert proof.x.tolist() == (size * np.array(d)).tolist()


@pytest.mark.parametrize("name", NO_DIRECTIONS)
def test_no_directions(name):
    problem, d = NO_DIRECTIONS[name]
    assert check_direction(problem, np.array(d, dtype=float)) is None
    with roughly():
        assert check_direction(problem, np.array(d, dtype=float)) is None


@pytest.mark.parametrize("name", HARDLY_MOVED)
def test_what_hardly_moves(name):
    """Of few rows a direction next to it is the proof; of many, it has to be the direction itself."""
    problem, itself = HARDLY_MOVED[name]
    with roughly(9):
        assert check_direction(problem, a(3, 1, 0)).residual < 1e-15
    with roughly(8):
        assert (check_direction(problem, a(3, 1, 0)) is not None) == itself
    if itself:
        with roughly(8), patch.object(claim, "MAX_EXACT_PRODUCTS", 2):
            assert check_direction(problem, a(3, 1, 0)) is not None
        with roughly(8), patch.object(claim, "MAX_EXACT_PRODUCTS", 1):  # a row has two entries along it
            assert (check_direction(problem, a(3, 1, 0)) is None) == ("without weight" not in name)


@pytest.mark.parametrize(
    ("entries", "curved"), [(HARDLY, {}), ([1.0, -3.0, 0.0], HARDLY_MOVED["a matrix"][0].quadratic)]
)
def test_of_many_rows_that_stay_the_direction_itself_is_the_proof(entries, curved):
    for count, near in ((300, True), (301, False)):
        problem = falls([-1.0, 0.0, 0.0], block("row", [entries] * count, 0.0), quadratic=curved)
        with roughly(9):
            assert (check_direction(problem, a(3, 1, 0)) is not None) == near


def test_rows_that_leave_no_direction():
    """To rounding both rows stay along (1, 1, 0); without it they do so at 0 alone, or along the last unknown, which
    another row holds."""
    for last in (0.0, 1.0):
        tie = block("tie", [[1.0, -1.0, last], [1.0, -1.0 - 2 * SMALL, -last]], 0.0, "==")
        held = falls([-1.0, 0.0, 0.0], tie, block("held", [[0.0, 0.0, 1.0]], 0.0, "=="))
        assert check_direction(held, a(1, 1, 0)) is None
        assert (check_direction(falls([-1.0, 0.0, 0.0], tie), a(1, 1, 0)) is not None) == bool(last)
        two = block("tie", [[1.0, -1.0], [1.0, -1.0 - 2 * SMALL]], 0.0, "==")
        assert check_direction(falls([-1.0, 0.0], two), a(1, 1)) is None


@pytest.mark.parametrize("size", [1.0, -1.0, 1000.0])
def test_the_direction_next_to_it_is_next_to_it(size):
    """The rows hold the last entry at 0, though they hardly show it: 1e-7 is the most that it may be off."""
    tie = block("tie", [[1.0, -1.0, 0.0], [1.0, -1.0, 1e-8]], 0.0, "==")
    for off, near in ((3e-8, True), (3e-7, False), (-3e-7, False)):
        assert (check_direction(falls([-size, 0.0, 0.0], tie), size * a(1, 1, off)) is not None) == near


def test_samples_that_differ_are_no_direction_of_a_kernel():
    """exp(-1e-24) is 1 in doubles: the rows of the matrix are the same, those of the kernel are not."""
    for step, proved in ((0.0, True), (1e-12, False)):
        problem = cc.KernelSVM([[0.0], [step]], [0, 1], kernel="rbf", gamma=1.0)
        assert (check_direction(problem, a(1, 1)) is not None) == proved


class Constant(cc.Problem):
    """A model that knows of every direction that its samples do not vary along it."""

    def is_constant_along(self, direction):
        return True


def test_what_a_model_knows_counts_more_than_what_rounding_shows():
    """A row that is off its place by the last digit, and slopes that are none, are rounding; what approaches its
    infimum does so all the same."""
    moves, away = cc.Term("moves", {"x": [[1.0, 0.0]]}, loss=Logistic()), a(1, 1 + 2 * SMALL)
    still = cc.Term("still", {"x": [[1.0, -1.0]]}, loss=Logistic())
    variables = [cc.Variable("x", 2, "x")]
    with roughly():
        for problem in (cc.Problem, Constant):
            found = check_direction(problem("known", variables, terms=[moves, still]), away)
            assert (found is not None) is (problem is Constant)
    for slope in (-1.0, 1.0, 0.0):
        costs = {"linear": {"x": [slope, 0.0]}}
        found = check_direction(Constant("known", variables, terms=[moves], **costs), a(1, 0))
        assert (found.slope, found.rows.tolist()) == (0.0, [0])
        assert check_direction(Constant("known", variables, **costs), a(1, 0)) is None
