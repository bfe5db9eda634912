"""What must happen to the answer when the data are changed in a known way.

Rows and columns permuted, labels swapped, units changed, samples repeated, the origin moved, the plane turned:
for each the new solution follows from the old one by a formula, which must hold to 1e-8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import convexcls as cc
from convexcls.rows import as_rows

pytestmark = pytest.mark.by_block

TOLERANCE = 1e-8

APART = np.array(
    [
        [1.0, 2.0, 0.0],
        [2.0, 4.0, 1.0],
        [0.0, 3.0, 1.0],
        [3.0, 6.0, 2.0],
        [2.0, 0.0, 1.0],
        [4.0, 1.0, 0.0],
        [3.0, -1.0, 2.0],
        [5.0, 2.0, 1.0],
    ]
)
APART_Y = np.array([1, 1, 1, 1, -1, -1, -1, -1])
MIXED = np.array(
    [
        [0.0, 1.0, 2.0],
        [1.0, -1.0, 0.0],
        [2.0, 2.0, 1.0],
        [3.0, 1.0, -1.0],
        [1.0, 3.0, 1.0],
        [-1.0, 0.0, 3.0],
        [2.0, -2.0, 1.0],
        [0.0, 0.0, 0.0],
        [4.0, 1.0, 2.0],
        [1.0, 1.0, 5.0],
        [-2.0, 3.0, 1.0],
    ]
)
MIXED_Y = np.array([-1, 1, -1, 1, 1, -1, 1, -1, -1, 1, 1])


@dataclass(frozen=True)
class Kind:
    """A model with what is known of it: ``build(X, y, strength, weights)``, where strength multiplies the
    penalty of coef (or divides the cost of a slack)."""

    build: Callable[..., cc.Problem]
    data: tuple[np.ndarray, np.ndarray]
    penalised: bool
    unique: bool = True
    weighted: bool = True
    intercept: bool = True


def _hard(X, y, strength=1.0, weights=None):
    return cc.HardMarginSVM(X, y)


def _widest(X, y, strength=1.0, weights=None):
    return cc.MaxMargin(X, y)


def _soft(X, y, strength=1.0, weights=None):
    return cc.SoftMarginSVM(X, y, C=0.75 / strength, sample_weight=weights)


def _squared_hinge(X, y, strength=1.0, weights=None):
    return cc.SoftMarginSVM(X, y, C=0.75 / strength, loss="squared_hinge", sample_weight=weights)


def _logistic(X, y, strength=1.0, weights=None):
    return cc.LogisticMLE(X, y, sample_weight=weights)


def _logistic_l2(X, y, strength=1.0, weights=None):
    return cc.LogisticMLE(X, y, l2=0.5 * strength, sample_weight=weights)


def _least_squares(X, y, strength=1.0, weights=None):
    return cc.LeastSquares(X, y, sample_weight=weights)


def _ridge(X, y, strength=1.0, weights=None):
    return cc.LeastSquares(X, y, l2=2.0 * strength, sample_weight=weights)


def _least_absolute(X, y, strength=1.0, weights=None):
    return cc.LeastAbsolute(X, y, sample_weight=weights)


def _perceptron(X, y, strength=1.0, weights=None):
    return cc.PerceptronCriterion(X, y, sample_weight=weights)


def _fisher(X, y, strength=1.0, weights=None):
    return cc.FisherLDA(X, y)


KINDS = {
    "hard": Kind(_hard, (APART, APART_Y), penalised=True, weighted=False),
    "widest": Kind(_widest, (APART, APART_Y), penalised=True, weighted=False),
    "soft": Kind(_soft, (MIXED, MIXED_Y), penalised=True),
    "soft, apart": Kind(_soft, (APART, APART_Y), penalised=True),
    "squared hinge": Kind(_squared_hinge, (MIXED, MIXED_Y), penalised=True),
    "logistic": Kind(_logistic, (MIXED, MIXED_Y), penalised=False),
    "logistic, l2": Kind(_logistic_l2, (MIXED, MIXED_Y), penalised=True),
    "least squares": Kind(_least_squares, (MIXED, MIXED_Y), penalised=False),
    "ridge": Kind(_ridge, (MIXED, MIXED_Y), penalised=True),
    "least absolute": Kind(_least_absolute, (MIXED, MIXED_Y), penalised=False, unique=False),
    "perceptron": Kind(_perceptron, (MIXED, MIXED_Y), penalised=False, unique=False),
    "fisher": Kind(_fisher, (MIXED, MIXED_Y), penalised=False, weighted=False, intercept=False),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def solved(problem: cc.Problem) -> cc.Solution:
    solution = problem.solve()
    assert solution.status == "optimal", solution.certificate.reason
    return solution


def assert_close(found, expected, size: float | None = None) -> None:
    found, expected = np.atleast_1d(found), np.atleast_1d(expected)
    size = float(np.abs(expected).max()) if size is None else size
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * (size or 1.0))


def scale_of(solution: cc.Solution) -> float:
    """The size of the scores: what an intercept is measured against."""
    return float(np.abs(solution.data.matrix @ solution.coef).max() + abs(solution.intercept))


def assert_coef(solution: cc.Solution, expected, columns=slice(None)) -> None:
    """A coef is measured against its largest entry or, where it may be 0, against the coef that moves a score
    by one."""
    reach = float(as_rows(solution.data.matrix).column_max().max())
    assert_close(solution.coef[columns], expected, size=max(float(np.abs(expected).max()), 1.0 / reach))


def assert_follows(kind: Kind, new: cc.Solution, old: cc.Solution, coef, intercept: float, objective: float) -> None:
    assert_close(new.objective, objective, size=abs(objective) or max(old.problem.unit, 1.0))
    if kind.unique:
        assert_coef(new, coef)
        if kind.intercept:
            assert_close(new.intercept, intercept, size=scale_of(old))


def setting(name: str):
    kind = KINDS[name]
    X, y = kind.data
    return kind, X, y, solved(kind.build(X, y))


@every_kind
def test_the_order_of_samples_does_not_matter(kind):
    kind, X, y, old = setting(kind)
    order = np.random.default_rng(0).permutation(len(y))
    new = solved(kind.build(X[order], y[order]))
    assert_follows(kind, new, old, old.coef, old.intercept, old.objective)
    if "margin" in old.multipliers and kind.unique:
        assert_close(sorted(new.margins), sorted(old.margins))


@every_kind
def test_swapping_the_labels_turns_the_hyperplane_round(kind):
    kind, X, y, old = setting(kind)
    new = solved(kind.build(X, -y))
    assert_follows(kind, new, old, -old.coef, -old.intercept, old.objective)


@every_kind
def test_the_names_of_the_labels_do_not_matter(kind):
    kind, X, y, old = setting(kind)
    new = solved(kind.build(X, np.where(y > 0, "yes", "no")))
    assert_follows(kind, new, old, old.coef, old.intercept, old.objective)
    assert set(new.predict(X)) <= {"yes", "no"}
    np.testing.assert_array_equal(new.predict(X) == "yes", old.predict(X) > 0)


@pytest.mark.parametrize("exponent", [-20, -3, 1, 20, 200])
@every_kind
def test_units_of_all_features(kind, exponent):
    """In units 2^k smaller the margins stay the same with coef / 2^k; a penalty has to grow with 4^k to mean the
    same, and a slack's cost to shrink."""
    kind, X, y, old = setting(kind)
    s = 2.0**exponent
    if kind.build is _hard:
        expected = (old.coef / s, old.intercept, old.objective / s**2)
    elif kind.build is _widest:
        expected = (old.coef, old.intercept * s, old.objective * s)
    elif kind.build in (_soft, _squared_hinge):
        expected = (old.coef / s, old.intercept, old.objective / s**2)
    else:
        expected = (old.coef / s, old.intercept, old.objective)
    new = solved(kind.build(X * s, y, strength=s**2))
    assert_close(new.objective, expected[2], size=abs(expected[2]) or max(old.problem.unit, 1.0))
    if kind.unique:
        assert_coef(new, expected[0])
        if kind.intercept:
            assert_close(new.intercept, expected[1], size=scale_of(old) * (s if kind.build is _widest else 1.0))


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.penalised])
def test_units_of_single_features_where_nothing_is_penalised(kind):
    kind, X, y, old = setting(kind)
    s = np.array([2.0**-7, 1.0, 2.0**9])
    new = solved(kind.build(X * s, y))
    assert_follows(kind, new, old, old.coef / s, old.intercept, old.objective)


@pytest.mark.parametrize("kind", ["hard", "widest"])
@pytest.mark.parametrize("row", range(8))
def test_a_repeated_sample_changes_no_hard_margin(kind, row):
    kind, X, y, old = setting(kind)
    new = solved(kind.build(np.vstack([X, X[row]]), np.append(y, y[row])))
    assert_follows(kind, new, old, old.coef, old.intercept, old.objective)


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.weighted])
def test_a_repeated_sample_is_a_weight_of_two(kind):
    kind, X, y, _ = setting(kind)
    weights = np.ones(len(y))
    weights[[1, 4]] = 2.0
    weighted = solved(kind.build(X, y, weights=weights))
    repeated = solved(kind.build(np.vstack([X, X[[1, 4]]]), np.append(y, y[[1, 4]])))
    assert_follows(kind, repeated, weighted, weighted.coef, weighted.intercept, weighted.objective)


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.weighted])
def test_a_weight_of_zero_leaves_the_sample_out(kind):
    kind, X, y, _ = setting(kind)
    weights = np.ones(len(y))
    weights[2] = 0.0
    weighted = solved(kind.build(X, y, weights=weights))
    keep = weights > 0
    left_out = solved(kind.build(X[keep], y[keep]))
    assert_follows(kind, weighted, left_out, left_out.coef, left_out.intercept, left_out.objective)


@pytest.mark.parametrize("shift", [[1.0, -2.0, 3.0], [64.0, 0.0, -128.0], [1000.0, 1000.0, 1000.0]])
@every_kind
def test_moving_the_origin_moves_only_the_intercept(kind, shift):
    kind, X, y, old = setting(kind)
    new = solved(kind.build(X + shift, y))
    assert_close(new.objective, old.objective, size=abs(old.objective) or max(old.problem.unit, 1.0))
    if kind.unique:
        assert_coef(new, old.coef)
        assert_close(new.intercept, old.intercept - old.coef @ shift, size=scale_of(new))


@every_kind
def test_the_order_of_features_does_not_matter(kind):
    kind, X, y, old = setting(kind)
    order = [2, 0, 1]
    new = solved(kind.build(X[:, order], y))
    assert_follows(kind, new, old, old.coef[order], old.intercept, old.objective)


@every_kind
def test_a_feature_of_zeros_changes_nothing(kind):
    kind, X, y, old = setting(kind)
    new = solved(kind.build(np.column_stack([X[:, :1], np.zeros(len(y)), X[:, 1:]]), y))
    assert_close(new.objective, old.objective, size=abs(old.objective) or max(old.problem.unit, 1.0))
    if kind.unique:
        assert_coef(new, old.coef, [0, 2, 3])
        if kind.penalised and kind.build is not _widest:
            assert new.coef[1] == 0.0
        if kind.intercept:
            assert_close(new.intercept, old.intercept, size=scale_of(old))


SIGNED_PERMUTATION = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
#: Integer columns, orthogonal, all of length 3: a rotation in units of 1/3.
TRIPLED = np.array([[1.0, 2.0, 2.0], [2.0, 1.0, -2.0], [2.0, -2.0, 1.0]])


@every_kind
def test_turning_and_mirroring_the_axes(kind):
    kind, X, y, old = setting(kind)
    new = solved(kind.build(X @ SIGNED_PERMUTATION, y))
    assert_follows(kind, new, old, SIGNED_PERMUTATION.T @ old.coef, old.intercept, old.objective)


@every_kind
def test_a_rotation_by_an_integer_matrix(kind):
    """X Q with Q'Q = 9 I: the scores stay with coef -> Q'coef / 9, whose length is a third."""
    kind, X, y, old = setting(kind)
    np.testing.assert_array_equal(TRIPLED.T @ TRIPLED, 9.0 * np.eye(3))
    new = solved(kind.build(X @ TRIPLED, y, strength=9.0))
    coef, intercept, objective = TRIPLED.T @ old.coef / 9.0, old.intercept, old.objective
    if kind.build is _widest:
        coef, intercept, objective = 3.0 * coef, 3.0 * intercept, 3.0 * objective
    elif kind.build in (_hard, _soft, _squared_hinge):
        objective = objective / 9.0
    assert_follows(kind, new, old, coef, intercept, objective)


@pytest.mark.parametrize("factor", [0.25, 8.0])
def test_weights_and_cost_are_the_same_thing(factor):
    X, y = MIXED, MIXED_Y
    one = solved(cc.SoftMarginSVM(X, y, C=factor))
    other = solved(cc.SoftMarginSVM(X, y, C=1.0, sample_weight=np.full(len(y), factor)))
    assert_close(other.coef, one.coef)
    assert_close(other.objective, one.objective)


def test_the_widest_slab_is_the_hard_margin_normalised():
    hard, widest = solved(_hard(APART, APART_Y)), solved(_widest(APART, APART_Y))
    norm = np.linalg.norm(hard.coef)
    assert_close(widest.coef, hard.coef / norm)
    assert_close(widest.objective, 1.0 / norm)
    assert_close(widest.intercept, hard.intercept / norm)


def test_a_large_cost_makes_the_margin_hard():
    hard = solved(_hard(APART, APART_Y))
    soft = solved(cc.SoftMarginSVM(APART, APART_Y, C=2.0 * float(hard.multipliers["margin"].max())))
    assert_close(soft.coef, hard.coef)
    assert_close(soft.intercept, hard.intercept, size=scale_of(hard))
    assert_close(soft.objective, hard.objective)


def test_fisher_and_least_squares_point_the_same_way():
    """ESL exercise 4.2, on any coding."""
    fisher = solved(_fisher(MIXED, MIXED_Y)).coef
    for coding in ("pm1", "01"):
        coef = solved(cc.LeastSquares(MIXED, MIXED_Y, coding=coding)).coef
        assert_close(coef / np.linalg.norm(coef), fisher / np.linalg.norm(fisher))
