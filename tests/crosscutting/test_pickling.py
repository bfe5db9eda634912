"""Problems, solutions and proofs come back from a pickle as they were, frozen, and can be proved again."""

import copy
import pickle

import numpy as np
import pytest
from datasets import SEPARABLE, every_model, overlapping

import convexcls as cc


@pytest.mark.parametrize("name", list(every_model()))
def test_a_solution_comes_back(name):
    solution = every_model()[name].solve()
    for other in (pickle.loads(pickle.dumps(solution)), copy.deepcopy(solution)):
        assert other.problem == solution.problem
        np.testing.assert_array_equal(other.x, solution.x)
        assert other.certify().status == solution.status == "optimal"
        assert other.problem.solve().objective == solution.objective
        assert other.problem.dual().solve().status == "optimal"
        with pytest.raises(TypeError):
            other.multipliers["margin"] = None
        with pytest.raises(AttributeError):
            other.problem.unit = 2.0


def test_what_can_be_worked_out_again_is_left_behind():
    X, y = overlapping(n=700, d=2)
    for problem in (cc.KernelSVM(X, y, C=1.0), cc.SoftMarginSVM(X, y)):
        before = len(pickle.dumps(problem))
        solution = problem.solve()
        assert len(pickle.dumps(problem)) < before + 8 * 700 * 5  # products that are remembered, no matrix of all pairs
        assert len(pickle.dumps(solution)) < before + 8 * 700 * 40


def test_proofs_come_back():
    X, y = SEPARABLE
    xor = [[1, 1], [-1, -1], [1, -1], [-1, 1]], [0, 0, 1, 1]
    for proof in (cc.separability(X, y), cc.separability(*xor), cc.existence(cc.LogisticMLE(X, y))):
        assert pickle.loads(pickle.dumps(proof)).verify()
    exact = cc.PerceptronCriterion(*overlapping()).solve(level="exact")  # its normalization is a sum without rounding
    other = pickle.loads(pickle.dumps(exact))
    assert other.certificate.optimum == exact.certificate.optimum
    assert other.certify(level="exact").optimum == exact.certificate.optimum
