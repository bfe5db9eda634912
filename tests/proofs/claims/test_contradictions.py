"""Contradictions of the constraints and optima at 0: what is accepted as a proof, and what is not.

Each problem is made so that one condition decides. Few rows are looked at in rationals; where they are many, the bounds
on rounding have the last word: ``roughly`` takes any number for many.
"""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.claims import farkas, linear_program
from convexcls.proofs.claims.farkas import check_farkas
from convexcls.proofs.claims.linear_program import doubtful_at_origin
from tests.small_problems import a, block, over

SMALL = 2.0**-53


def roughly(most=0):
    return patch.object(linear_program, "MAX_EXACT_ENTRIES", most)


# ---- contradictions -----------------------------------------------------------------------------------------------


def rows(entries, rhs, relation="<=", *others):
    return over(
        len(entries[0]), block("rows", entries, rhs, relation), *others, quadratic={"x": np.ones(len(entries[0]))}
    )


def equation(row, side, other, rhs):
    """An equation, and another row."""
    return rows([[row]], [side], "==", block("other", [[other]], [rhs]))


def apart(size):
    """x <= size and x >= size + 1."""
    return rows([[1.0], [-1.0]], [size, -size - 1.0])


#: name: (problem, multipliers, their value)
CONTRADICTIONS = {
    "two rows": (rows([[2.0], [-1.0]], [2.0, -3.0]), {"rows": a(1, 2)}, -4),
    "two of three rows": (rows([[2.0], [-1.0], [5.0]], [2.0, -3.0, 7.0]), {"rows": a(0.25, 0.5, 0)}, -1),
    "one of two blocks": (
        rows([[2.0], [-1.0]], [2.0, -3.0], "<=", block("other", [[1.0]], 0.0)),
        {"rows": a(1, 2)},
        -4,
    ),
    "an equation, from above": (equation(1.0, 3.0, 1.0, 2.0), {"rows": a(-1), "other": a(1)}, -1),
    "a row twice": (rows([[1.0], [1.0], [-1.0]], [0.0, 0.0, -3.0]), {"rows": a(0.5, 0.5, 1)}, -3),
    "far from 0": (apart(2.0**26), {"rows": a(1, 1)}, -1),
}
#: name: (problem, multipliers) that prove nothing, even where rows are many
NO_CONTRADICTIONS = {
    "a sign": (rows([[1.0], [1.0]], [0.0, 1.0]), {"rows": a(1, -1)}),
    "a sum that is not 0": (rows([[1.0], [-2.0]], [0.0, -1.0]), {"rows": a(1, 1)}),
    "a sum that is not 0, of an equation": (equation(3.0, 3.0, 2.0, 0.0), {"rows": a(-1), "other": a(1)}),
    "one sum of two": (rows([[1.0, 1.0], [-1.0, 0.0]], [0.0, -1.0]), {"rows": a(1, 1)}),
    "a value of 0": (rows([[1.0], [-1.0]], [1.0, -1.0]), {"rows": a(1, 1)}),
    "a value of 0, of zeros": (rows([[1.0], [-1.0]], [0.0, 0.0]), {"rows": a(1, 1)}),
    "a value above 0": (rows([[1.0], [-1.0]], [2.0, -1.0]), {"rows": a(1, 1)}),
    "a value of rounding": (apart(2.0**31), {"rows": a(1, 1)}),
    "a value of rounding, of an equation": (equation(1.0, 2.0**31 + 1, 1.0, 2.0**31), {"rows": a(-1), "other": a(1)}),
    "nothing": (rows([[2.0], [-1.0]], [2.0, -3.0]), {}),
    "too many": (rows([[2.0], [-1.0]], [2.0, -3.0]), {"rows": a(1, 2, 0)}),
    "no numbers": (rows([[2.0], [-1.0]], [2.0, -3.0]), {"rows": a(np.nan, np.nan)}),
    "infinite": (rows([[2.0], [-1.0]], [2.0, -3.0]), {"rows": a(np.inf, 0)}),
}
#: Rows that cancel each other up to rounding only: there are points far away that satisfy all of them.
NEARLY = {
    "nearly parallel": (rows([[1.0, 1.0], [-1.0, -1.0 - 2 * SMALL]], [-1.0, 0.0]), {"rows": a(1, 1)}),
    "a sign in rationals": (
        rows([[1.0, 1.0], [-1.0, -1.0 + SMALL], [0.0, 1.0]], [-1.0, 0.0, 0.0]),
        {"rows": a(1, 1, 2.0**-60)},
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions(name):
    problem, multipliers, value = CONTRADICTIONS[name]
    with patch.object(farkas, "ROUNDED_ZERO", 0.0):  # nothing is rounded
        proof = check_farkas(problem, multipliers)
    assert (proof.value, proof.residual, proof.multipliers) == (value, 0.0, multipliers)


@pytest.mark.parametrize("name", NO_CONTRADICTIONS)
def test_no_contradictions(name):
    problem, multipliers = NO_CONTRADICTIONS[name]
    assert check_farkas(problem, multipliers) is None
    with roughly():
        assert check_farkas(problem, multipliers) is None


@pytest.mark.parametrize("name", NEARLY)
def test_what_nearly_cancels_is_no_contradiction(name):
    problem, multipliers = NEARLY[name]
    entries = multipliers["rows"].size * (problem.size + 1)
    with roughly(entries):
        assert check_farkas(problem, multipliers) is None
    with roughly(entries - 1):
        assert 0 < check_farkas(problem, multipliers).residual < 1e-15


# ---- optima at 0 --------------------------------------------------------------------------------------------------


def costs(entries, q, relation="<=", rhs=0.0, **parts):
    """min q'x subject to rows; 0 is feasible where the right-hand sides allow it."""
    return over(len(q), block("rows", entries, rhs, relation), linear={"x": list(q)}, **parts)


def cone(offset=0.0, bound=0.0):
    return cc.NormBound("cone", {"x": [[1.0, 0.0]] * 2}, offset=offset, bound_entries={"x": [[0.0, 1.0]]}, bound=bound)


EYE = np.eye(2)
#: name: (problem, multipliers) that satisfy stationarity at 0 without rounding
AT_ORIGIN = {
    "signs": (costs(-EYE, [1.0, 2.0]), a(1, 2)),
    "long columns": (costs(-4 * EYE, [1.0, 8.0]), a(0.25, 2)),
    "rows and columns without a say": (costs([[-1.0, 0.0], [0.0, 0.0]], [1.0, 0.0]), a(1, 0)),
    "an equation": (costs([[1.0]], [1.0], "=="), a(-1)),
    "a row twice": (costs([[-1.0], [-1.0]], [1.0]), a(0.5, 0.5)),
    "nothing": (costs([[-1.0]], [0.0]), a(0)),
}
#: name: (problem, multipliers) that do not
NOT_AT_ORIGIN = {
    "off by 1e-9": (costs(-EYE, [1.0, 2.0]), a(1 + 1e-9, 2)),
    "off by -1e-9": (costs(-EYE, [1.0, 2.0]), a(1, 2 - 1e-9)),
    "a row further away": (costs(-EYE, [1.0, 2.0], rhs=[0.0, 1.0]), a(1 + 1e-9, 2)),
    "of an equation": (costs([[1.0]], [1.0], "=="), a(-2)),
    "a sign": (costs([[1.0], [-1.0]], [1.0]), a(-1, 0)),
    "nothing": (costs([[-1.0]], [1.0]), a(0)),
    "the origin of a cone": (costs(-EYE, [1.0, 2.0], norm_bounds=[cone()]), a(1, 1)),
}
#: name: (problem, multipliers) that satisfy it up to rounding, and others do not satisfy it
NEARLY_AT_ORIGIN = {
    "a cost off": (costs([[-1.0, -1.0]], [1.0, 1 + 2 * SMALL]), a(1)),
    "a cost off, of an equation": (costs([[1.0, 1.0]], [1.0, 1 + 2 * SMALL], "=="), a(-1)),
    "a sign": (costs([[-1.0, -1.0], [0.0, 1.0]], [1.0, 1 + 2 * SMALL]), a(1, 2.0**-60)),
}
WRONG = a(3, 3)
#: Where nothing is doubted, whatever the multipliers are: 0 is not claimed, not feasible, or proved in other ways.
NOT_ASKED = {
    "another point": (costs(-EYE, [1.0, 2.0]), a(0, 1e-300), {}),
    "losses": (costs(-EYE, [1.0, 2.0], terms=[cc.Term("fit", {"x": EYE})]), a(0, 0), {}),
    "a row": (costs(-EYE, [1.0, 2.0], rhs=[0.0, -1.0]), a(0, 0), {}),
    "an equation": (costs(-EYE, [1.0, 2.0], "==", [0.0, 1.0]), a(0, 0), {}),
    "one of two blocks": (
        over(2, block("rows", -EYE, 0.0), block("other", -EYE, -1.0), linear={"x": [1.0, 2.0]}),
        a(0, 0),
        {"other": a(0, 0)},
    ),
    "a cone elsewhere": (costs(-EYE, [1.0, 2.0], norm_bounds=[cone(offset=[1.0, 0.0])]), a(0, 0), {"cone": a(0, 0, 0)}),
    "a cone below": (costs(-EYE, [1.0, 2.0], norm_bounds=[cone(bound=-1.0)]), a(0, 0), {"cone": a(0, 0, 0)}),
    "a cone in use": (costs(-EYE, [1.0, 2.0], norm_bounds=[cone()]), a(0, 0), {"cone": a(0, 0, 1)}),
}


def doubtful(problem, multipliers, x=None, **others):
    every = {"rows": multipliers, "cone": a(0, 0, 0)} | others
    return doubtful_at_origin(problem, np.zeros(problem.size) if x is None else x, every)


@pytest.mark.parametrize("name", AT_ORIGIN)
def test_the_origin_is_no_matter_of_doubt(name):
    assert not doubtful(*AT_ORIGIN[name])
    with roughly():
        assert not doubtful(*AT_ORIGIN[name])


@pytest.mark.parametrize("name", NOT_AT_ORIGIN)
def test_the_origin_is_doubtful(name):
    assert doubtful(*NOT_AT_ORIGIN[name])
    with roughly():
        assert doubtful(*NOT_AT_ORIGIN[name])
    with patch.object(linear_program, "MAX_PROGRAM_ENTRIES", 0):  # then there is no way to tell
        assert not doubtful(*NOT_AT_ORIGIN[name])


@pytest.mark.parametrize("name", NEARLY_AT_ORIGIN)
def test_the_origin_is_doubtful_by_a_rounding(name):
    problem, multipliers = NEARLY_AT_ORIGIN[name]
    with roughly(2 * multipliers.size):
        assert doubtful(problem, multipliers)
    with roughly(2 * multipliers.size - 1):
        assert not doubtful(problem, multipliers)


@pytest.mark.parametrize("name", NOT_ASKED)
def test_other_points_are_not_doubted(name):
    problem, x, others = NOT_ASKED[name]
    assert not doubtful(problem, WRONG, x, **others)
    assert not doubtful(over(2, linear={"x": [1.0, 2.0]}), WRONG)
