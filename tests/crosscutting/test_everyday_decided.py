"""Everyday tables are decided at every level, and what is claimed of them is true: judged in rationals by the hunt's
oracles, which share no code with the package."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import convexcls as cc
from convexcls.problem.centring import CentredScores, centre
from convexcls.proofs.kkt.settling import settled
from convexcls.proofs.levels.attained import at_attaining_point, doubles_near
from convexcls.rational.lattice import nearest_multiples
from tests.hunt.draw import Case
from tests.hunt.judge import Judge

PRICES = [[57703.26, 30856.41, 10016.0], [368.91, 98234.72, 14.85], [414.14, 7.27, 1119.52]]
LARGE = [[-24000000.0], [25000000.0], [-46000000.0], [23000000.0]]
YEARS = [[2010.0, 1.0], [1994.0, 11.0], [1984.0, 7.0], [1953.0, 5.0]]
HUGE = [[-2.5e49], [-3e49], [2.5e49], [-1.5e49], [-2.2e49], [-2.1e49]]
MIXED = [[-4e19, -1.5e-16], [-3.4e19, -3e-16], [-2e19, -4.8e-16], [3.9e19, -3.9e-16]]
UNITS = [
    [-390.0, 2.3e-17, 2200000.0],
    [380.0, -4.9e-17, 4200000.0],
    [300.0, -4e-18, -4800000.0],
    [430.0, 4.5e-17, 2.3e6],
]
FLAT = [
    [4.5e-14, -3.7e17],
    [-2.7e-14, 8e16],
    [-4e-14, -3.5e17],
    [9e-15, -1.6e17],
    [2.3e-14, 4.8e17],
    [4.3e-14, -3.8e17],
]
PLACES = [
    [499212.36, 4649331.27],
    [499593.9, 4650348.29],
    [499524.97, 4649775.63],
    [499719.02, 4649321.79],
    [500269.32, 4650661.68],
]
CENTS = [[Fraction(10**11 + v, 100)] for v in (-36, 14, 27, -9)]
TWINS = [
    [1.1739992297607662, 0.35219976892822985],
    [-0.3958791398947126, -0.11876374196841377],
    [2.25, 0.6750000000000002],
    [-1.5, -0.44999999999999996],
]

CASES: dict[str, tuple[str, Any, list[int], dict[str, Any]]] = {
    "prices, large C": ("SoftMarginSVM", PRICES, [0, 1, 0], {"C": 1e4, "loss": "hinge", "intercept": True}),
    "millions": ("SoftMarginSVM", LARGE, [1, 0, 1, 0], {"C": 1.0, "loss": "hinge", "intercept": True}),
    "years, large C": ("SoftMarginSVM", YEARS, [0, 0, 1, 1], {"C": 1e8, "loss": "hinge", "intercept": True}),
    "1e49": ("SoftMarginSVM", HUGE, [1, 1, 0, 0, 1, 0], {"C": 10.0, "loss": "hinge", "intercept": True}),
    "1e49, squared": (
        "SoftMarginSVM",
        HUGE,
        [1, 1, 0, 0, 1, 0],
        {"C": 1e4, "loss": "squared_hinge", "intercept": True},
    ),
    "mixed units": ("SoftMarginSVM", MIXED, [1, 0, 0, 1], {"C": 1e4, "loss": "hinge", "intercept": True}),
    "kernel of mixed units": ("KernelSVM", UNITS, [1, 0, 0, 1], {"kernel": "linear", "C": None, "intercept": False}),
    "widest margin": ("MaxMargin", FLAT, [1, 0, 0, 1, 0, 1], {"intercept": True}),
    "coordinates": (
        "KernelSVM",
        PLACES,
        [0, 0, 0, 1, 1],
        {"kernel": "poly", "C": None, "intercept": True, "degree": 3, "coef0": 0.0, "gamma": 1.67e-07},
    ),
    "cents": ("MaxMargin", CENTS, [0, 1, 1, 0], {"intercept": True}),
}


def judged(name: str, level: Any) -> tuple[cc.Solution, str]:
    model, table, y, parameters = CASES[name]
    case = Case(0, 0, "everyday", model, table, y, parameters, None)
    problem = getattr(cc, model)(table, y, **parameters)
    solution = problem.solve(level=level)
    return solution, Judge(case, problem).verdict(solution).outcome


@pytest.mark.parametrize("level", ["float", "rigorous", "exact"])
@pytest.mark.parametrize("name", CASES)
def test_decided_and_true(name: str, level: Any) -> None:
    solution, outcome = judged(name, level)
    assert (solution.status, outcome) == ("optimal", "right")


@pytest.mark.parametrize("name", ["prices, large C", "millions", "years, large C", "1e49"])
def test_slacks_of_a_rounding_are_stretched_away(name: str) -> None:
    """The optimum is near 1e-10, so that 1e-16 of a margin, times C, is more than the tolerance allows: the nearest
    doubles are not enough, and the solver's own answer is proved nevertheless, without rationals."""
    model, table, y, parameters = CASES[name]
    problem = getattr(cc, model)(table, y, **parameters)
    proof = problem.solve(level="exact").certificate.exact
    nearest = np.zeros(problem.size)
    for variable, values in {**proof.point, **proof.slacks()}.items():
        nearest[problem.layout[variable]] = [float(v) for v in values]
    assert problem.minimised(settled(problem, nearest, 1e-8)) <= (1 + 1e-9) * float(proof.optimum)
    assert problem.solve("rational").certificate.level == "float"
    assert problem.solve("rational").status == "optimal"


# ---- where doubles have no room ---------------------------------------------------------------------------


def test_what_doubles_cannot_hold_is_said_and_proved_exactly() -> None:
    """The second column is 0.3 times the first, up to rounding: coefficients near 1e16 cancel to scores near 1. Without
    it there is an optimum that doubles hold; that of both columns as given, which is lower, only rationals prove."""
    problem = cc.LeastSquares(TWINS, [0, 1, 1, 0])
    told = problem.solve()
    assert told.status == "optimal"
    assert "depend on each other up to rounding" in " ".join(told.certificate.explain().split())
    assert problem.solve(level="exact").certificate.optimum < told.objective
    for level in ("rigorous", "exact"):
        assert problem.solve(level=level).certificate.level == "exact"
        assert problem.solve(level=level).status == "optimal"
    assert cc.LeastSquares(TWINS, [0, 1, 1, 0], l2=1.0).solve().status == "optimal"


def test_only_auto_looks_further() -> None:
    """A solver that was named is shown for what it does, and a tolerance that no digits reach is not reached."""
    problem = cc.LeastSquares(TWINS, [0, 1, 1, 0])
    assert "level='exact'" not in problem.solve("closed-form").certificate.reason
    assert cc.GaussianMLE([[0], [2], [3], [5]], [0, 0, 1, 1]).solve(level="rigorous", tol=1e-300).status == "undecided"


def test_a_point_that_does_not_attain_the_optimum_is_not_taken() -> None:
    certificate = cc.HardMarginSVM([[0.0], [3.0]], [0, 1]).solve(level="exact").certificate
    far = np.array([2 / 3 + 1e-6, -1.0])
    taken = at_attaining_point(certificate, far)
    assert taken is not None
    assert taken.x is not None
    assert abs(taken.x[0] - 2 / 3) < 1e-12
    bare = cc.MaxMargin([[0.0, 0.0], [1.0, 2.0]], [0, 1]).solve(level="exact").certificate
    assert bare.x is not None
    for wrong in (1 + 1e-6) * bare.x, (1 - 1e-6) * bare.x, bare.x + np.array([0.0, 0.0, 1e-6, 0.0]):
        taken = at_attaining_point(bare, wrong)
        assert taken is not None
        assert taken.x is not None
        assert not np.array_equal(taken.x, wrong)


def test_numbers_beyond_the_range_of_doubles_are_no_crash() -> None:
    """The precision of samples 1e-300 apart is 1e600."""
    problem = cc.GaussianMLE([[0.0], [2e-300], [3e-300], [5e-300]], [0, 0, 1, 1])
    for level in ("float", "rigorous", "exact"):
        assert problem.solve(level=level).status == "undecided"


# ---- larger tables ----------------------------------------------------------------------------------------


def test_bounds_at_the_point_decide_tables_of_moderate_size() -> None:
    """With a penalty of 1e-8 the gradient is rounding, many times the penalty's own: bounds tell what it costs."""
    rng = np.random.default_rng(5)
    X = np.round(10 ** rng.uniform(0, 6, (200, 5)), 2)
    y = (X[:, 0] + rng.normal(size=200) * 1e4 > 1e3).astype(int)
    found = cc.LogisticMLE(X, y, l2=1e-8).solve()
    assert found.status == "optimal"
    assert found.certificate.holds()


# ---- lattices ---------------------------------------------------------------------------------------------


def test_the_nearest_point_of_a_lattice() -> None:
    """Of steps that are far from orthogonal, against all multiples of the short ones that span the same lattice."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        short = [[int(v) for v in row] for row in np.diag([40, 50, 60]) + rng.integers(-9, 10, (3, 3))]
        a, b = (int(v) for v in rng.integers(50, 500, 2))
        long = [short[0], [v + a * u for u, v in zip(short[0], short[1], strict=True)], []]
        long[2] = [v + b * u for u, v in zip(long[1], short[2], strict=True)]
        target = [int(v) for v in rng.integers(-3000, 3000, 3)]
        inner = [[sum(u * v for u, v in zip(p, q, strict=True)) for q in long] for p in long]
        times = nearest_multiples(inner, [sum(u * v for u, v in zip(p, target, strict=True)) for p in long])
        found = _distance(times, long, target)
        start = np.rint(np.linalg.solve(np.array(short, dtype=float).T, target)).astype(int).tolist()
        near = product(*(range(c - 2, c + 3) for c in start))
        assert found <= 2 * min(_distance(list(k), short, target) for k in near)


def _distance(times: list[int], steps: list[list[int]], target: list[int]) -> int:
    point = [sum(k * step[j] for k, step in zip(times, steps, strict=True)) for j in range(len(target))]
    return sum((u - v) ** 2 for u, v in zip(point, target, strict=True))


def test_doubles_near_a_solution_do_as_well() -> None:
    """alpha is near 1e32, and what it weighs cancels: the nearest doubles are off, others a little farther are not."""
    model, table, y, parameters = CASES["kernel of mixed units"]
    certificate = getattr(cc, model)(table, y, **parameters).solve(level="exact").certificate
    nearest = [float(value) for value in certificate.exact_point["margin"]]
    assert certificate.x is not None
    assert certificate.x.tolist() != nearest
    assert np.array_equal(certificate.x, doubles_near(certificate.exact, Fraction(certificate.tol)))
    assert np.allclose(certificate.x, nearest, rtol=1e-3, atol=0.0)


def test_doubles_are_looked_for_where_the_matrix_is_singular() -> None:
    """Three samples in one place: rounded to whole numbers, what steps cost must not become negative."""
    X = [[0, 0, 0], [1, 0, -1], [-1, 2, 0], [0, 0, 0], [0, 0, 0], [0, 0, -4], [2, 0, 4], [-1, 0, 0]]
    problem = cc.KernelSVM(X, [1, 0, 0, 0, 1, 0, 1, 0], C=1e6, gamma=0.00588)
    certificate = problem.solve(level="exact").certificate
    assert certificate.status == "optimal"
    assert doubles_near(certificate.exact, Fraction(certificate.tol)) is not None
    assert cc.verify(certificate.to_json(), X, problem.data.given).accepted


# ---- entries as given -------------------------------------------------------------------------------------


def test_differences_of_entries_as_given_are_rounded_once() -> None:
    """As doubles all four are 2^60; what they differ by is all that they say."""
    found = centre(cc.SoftMarginSVM([[Fraction(2**60 + k)] for k in (1, 2, 5, 9)], [0, 1, 0, 1]))
    assert isinstance(found, CentredScores)
    (block,) = (c for c in found.problem.constraints if c.name == "margin")
    rows = block.entries["coef"]
    assert [abs(v) for (v,) in rows.to_dense().tolist()] == [1.0, 2.0, 5.0, 9.0]
    assert [[Fraction(v) for v in row] for row in rows.to_dense().tolist()] == rows.rational()
