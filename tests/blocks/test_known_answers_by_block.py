"""The problems of the gallery and every model on small data, read by block: their known answers, with their proofs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from by_block import MODELS, in_blocks
from datasets import every_model

import convexcls as cc
from convexcls import gallery
from convexcls.data import Labels, Named

PROBLEMS = {name: gallery.entry(name).problem for name in gallery.entries()} | every_model()
NAMES = [name for name, problem in PROBLEMS.items() if isinstance(problem, MODELS)]


def rounded(problem: cc.Problem, rows: int | None = None) -> cc.Problem:
    """The same problem on the nearest doubles, by block of so many rows where that is said."""
    data, arguments = problem.data.rounded, problem.declared_with()
    if data.weighted:
        arguments["sample_weight"] = data.weights
    y = data.given if data.labels is None else Labels(data.classes, data.labels)
    X = Named(data.matrix, data.features) if rows is None else in_blocks(data, rows)  # with what a basis made of them
    return type(problem)(X, y, **arguments)


@cache
def solved(name: str) -> cc.Solution:
    problem = PROBLEMS[name]
    return rounded(problem, max(1, problem.data.n // 3)).solve()


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_that_of_the_samples_in_memory(name):
    solution, expected = solved(name), rounded(PROBLEMS[name]).solve()
    assert solution.status == expected.status, solution.certificate.reason
    if solution.status != "optimal":
        return
    assert solution.objective == pytest.approx(expected.objective, rel=1e-8, abs=1e-8 * solution.problem.unit)
    if expected.uniqueness.unique and "coef" in expected.values:
        scores = [s.decision_function(expected.data.samples) for s in (solution, expected)]
        np.testing.assert_allclose(*scores, rtol=1e-6, atol=1e-6 * np.abs(scores[1]).max())


@pytest.mark.parametrize("name", NAMES)
def test_the_proof_holds_on_the_blocks_and_in_one_piece(name):
    problem, solution = PROBLEMS[name], solved(name)
    text, weights = solution.certificate.to_json(), problem.data.weights if problem.data.weighted else None
    y, whole = solution.data.given, problem.data.rounded
    y = y if whole.labels is None else Labels(whole.classes, whole.labels)
    for X in (solution.data.samples, Named(whole.matrix, whole.features)):
        found = cc.verify(text, X, y, weights)
        assert found, found.reasons
