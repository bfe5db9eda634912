"""The widest slab, recognised with its numbers, and told apart from problems that only look like it."""

import numpy as np
import pytest

import convexcls as cc
from convexcls.problem import Constraint, NormBound, Problem, Variable
from convexcls.problem.slab import find_slab
from convexcls.proofs.claims.optimum import widest
from convexcls.rows import ConstantRows, DiagonalRows

ROWS = np.array([[-1.0], [-3.0]])


def stated(column=2.0, scale=4.0, radius=8.0, reward=3.0, **changes) -> Problem:
    """maximise 3 C subject to 2 C <= v, 2 C <= 3 v, 4 |v| <= 8: v = 2, C = 1."""
    distance = ConstantRows(2) if column == 1.0 else np.full((2, 1), column)
    parts = {
        "linear": {"C": -reward},
        "constraints": [Constraint("margin", {"v": ROWS, "C": distance}, rhs=0.0)],
        "norm_bounds": [NormBound("norm", {"v": DiagonalRows(np.array([scale]))}, bound=radius)],
    }
    return Problem("a slab", [Variable("v", 1, "v"), Variable("C", 1, "C")], **parts | changes)


def test_a_slab_is_found_with_its_numbers():
    slab = find_slab(stated())
    assert (slab.distance, slab.inside) == ("C", "v")
    assert (slab.column, slab.scale, slab.radius, slab.reward) == (2.0, 4.0, 8.0, 3.0)
    assert not slab.is_plain
    assert widest(stated()) is None


def test_the_quadratic_program_is_stretched_to_the_slab():
    slab = find_slab(stated())
    x = np.array([2.0])  # minimise 1/2 v^2 subject to 2 <= v, 2 <= 3 v, with the multipliers (2, 0)
    point, multipliers = slab.stretched(x, np.array([2.0, 0.0]), ROWS.T @ [2.0, 0.0])
    assert point.tolist() == [2.0, 1.0]
    assert slab.shrunk(point).tolist() == [2.0]
    found = cc.solve(stated(), "working-set")
    assert found.status == "optimal"
    np.testing.assert_allclose(found.x, point, rtol=1e-12)
    np.testing.assert_allclose(found.multipliers["margin"], multipliers["margin"], rtol=1e-12)
    assert multipliers["margin"].tolist() == [1.5, 0.0]  # 2 * 1.5 is the reward


def test_rows_that_contradict_each_other_give_a_slab_of_width_zero():
    slab = find_slab(stated())
    point, multipliers = slab.stretched(np.array([0.0]), np.array([1.0, 1.0]), np.array([0.0]))
    assert not point.any()
    assert multipliers["margin"].tolist() == [0.75, 0.75]
    assert multipliers["norm"].tolist() == [0.0, 0.0]


def test_the_model_is_plain():
    problem = cc.MaxMargin([[0, 0], [1, 2]], [0, 1])
    assert widest(problem).is_plain
    assert widest(problem).program.constraints[0].rhs.tolist() == [-1.0, -1.0]


@pytest.mark.parametrize(
    "changes",
    [
        {"quadratic": {"v": 1.0}},
        {"linear": {"C": 1.0}},
        {"linear": {"C": -1.0, "v": 1.0}},
        {"linear": {"v": -1.0}},
        {"norm_bounds": []},
        {"norm_bounds": [NormBound("norm", {"C": DiagonalRows(np.ones(1))}, bound=1.0)]},
        {"norm_bounds": [NormBound("norm", {"v": DiagonalRows(np.ones(1))}, offset=np.ones(1), bound=1.0)]},
        {"constraints": [Constraint("margin", {"v": ROWS, "C": np.ones((2, 1))}, rhs=[0.0, 1.0])]},
        {"constraints": [Constraint("margin", {"v": ROWS, "C": np.array([[1.0], [2.0]])}, rhs=0.0)]},
        {"constraints": [Constraint("margin", {"v": ROWS, "C": np.ones((2, 1))}, relation="==", rhs=0.0)]},
        {"constraints": [Constraint("margin", {"v": ROWS}, rhs=0.0)]},
    ],
)
def test_other_problems_are_no_slab(changes):
    assert find_slab(stated(**changes)) is None
    assert widest(stated(**changes)) is None


def test_a_slab_with_a_number_other_than_one_is_not_plain():
    assert widest(stated(1.0, 1.0, 1.0, 1.0)).is_plain
    for k in range(4):
        numbers = [1.0] * 4
        numbers[k] = 2.0
        assert not find_slab(stated(*numbers)).is_plain
    assert find_slab(stated(constant=1.0)) is not None
    assert widest(stated(1.0, 1.0, 1.0, 1.0, constant=1.0)) is None
