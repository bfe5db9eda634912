"""The contract of rows: a class that defines the verbs and nothing else goes through solvers and checks.

``ListedRows`` stands for rows on disk or on other machines: its blocks are read one after the other; few rows may be
written out as an array, all of them never. What a solver or a check asks beyond that fails here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import convexcls as cc
from convexcls.rows import Rows, Visit

N, D, BLOCK = 40_000, 4, 5_000
#: As many rows may be written out at a time.
MOST_AT_ONCE = 13_000


class ListedRows(Rows):
    """Rows in a list of blocks; some of them are such rows again."""

    def __init__(self, X: np.ndarray) -> None:
        self.blocks = [X[start : start + BLOCK].copy() for start in range(0, len(X), BLOCK)]
        self.shape = X.shape
        self.readings = self.sweeps = 0

    def _read(self):
        self.readings += 1
        start = 0
        for block in self.blocks:
            yield slice(start, start + len(block)), block
            start += len(block)

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros((0, *v.shape[1:])), *(block @ v for _, block in self._read())])

    def transposed_matmul(self, u: np.ndarray) -> np.ndarray:
        return sum((block.T @ u[rows] for rows, block in self._read()), np.zeros((D, *u.shape[1:])))

    def gram(self, weights: np.ndarray) -> np.ndarray:
        return sum((block.T @ (weights[rows, None] * block) for rows, block in self._read()), np.zeros((D, D)))

    def __getitem__(self, index: Any) -> Rows:
        chosen = np.arange(self.shape[0])[index]
        return ListedRows(np.array([self.blocks[i // BLOCK][i % BLOCK] for i in chosen.tolist()]).reshape(-1, D))

    def sweep(self, x: np.ndarray, visit: Visit) -> np.ndarray:
        self.sweeps += 1
        return sum((block.T @ visit(rows, block @ x) for rows, block in self._read()), np.zeros(x.shape))

    def to_matrix(self) -> Any:
        assert self.shape[0] <= MOST_AT_ONCE, f"{self.shape[0]} rows are written out"
        return super().to_matrix()


def over(problem: cc.Problem, data: Rows) -> cc.Problem:
    """The problem with other rows in place of the samples."""

    def changed(rows: Rows) -> Rows:
        left, core, right = rows.factors()
        if core.in_memory() is None:
            return rows
        return data.scaled(1.0 if left is None else left, 1.0 if right is None else right)

    def block(b: Any) -> Any:
        return replace(b, entries={v: changed(rows) for v, rows in b.entries.items()})

    return cc.Problem(
        problem.name,
        problem.variables,
        quadratic=problem.quadratic,
        linear=problem.linear,
        terms=[block(t) for t in problem.terms],
        constraints=[block(c) for c in problem.constraints],
    )


@pytest.fixture(scope="module")
def samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    score = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.3
    return X, np.where(score > 0, 1, -1)


def apart(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The classes moved away from each other."""
    return X + 0.2 * y[:, None] * np.array([1.0, -2.0, 0.5, 0.0])


def overlapping(y: np.ndarray) -> np.ndarray:
    flips = np.random.default_rng(4).random(y.size) < 0.1
    return np.where(flips, -y, y)


MODELS = {
    "hard margin": lambda X, y: cc.HardMarginSVM(apart(X, y), y),
    "soft margin": lambda X, y: cc.SoftMarginSVM(X, overlapping(y), C=0.1),
    "logistic": lambda X, y: cc.LogisticMLE(X, overlapping(y), l2=1.0),
    "likelihood": lambda X, y: cc.LogisticMLE(X, overlapping(y)),
    "least squares": lambda X, y: cc.LeastSquares(X, overlapping(y), l2=1.0),
}


@pytest.mark.parametrize("level", ["float", "rigorous"])
@pytest.mark.parametrize("name", MODELS)
def test_the_verbs_are_enough(name, level, samples):
    """Solvers and checks see the same problem, whatever holds the rows."""
    model = MODELS[name](*samples)
    rows = ListedRows(np.asarray(model.data.matrix))
    listed, expected = over(model, rows).solve(level=level), model.solve()
    assert listed.status == expected.status == "optimal", listed.certificate
    assert listed.objective == pytest.approx(expected.objective, rel=1e-8)
    np.testing.assert_allclose(listed.values["coef"], expected.values["coef"], rtol=1e-6, atol=1e-9)
    assert rows.readings > 0


def test_an_evaluation_is_one_reading(samples):
    """Value, gradient and curvature of a smooth loss come from one sweep; a Hessian is one more reading."""
    from convexcls.solvers.smooth.terms import smooth_term

    model = MODELS["logistic"](*samples)
    rows = ListedRows(np.asarray(model.data.matrix))
    problem = over(model, rows)
    term, plain = (smooth_term(p, p.terms[0]) for p in (problem, model))
    x, rows.readings = np.array([0.3, -0.4, 0.1, 0.2, 0.1]), 0
    reading, other = term.read(x), plain.read(x)
    assert (rows.readings, rows.sweeps) == (1, 1)
    assert reading.value == pytest.approx(other.value, rel=1e-13)
    np.testing.assert_allclose(reading.gradient, other.gradient, rtol=1e-11)
    np.testing.assert_allclose(term.hessian(reading), plain.hessian(other), rtol=1e-11)
