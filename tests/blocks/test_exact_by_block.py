"""The level exact on blocks of which few rows are gathered: the optimum of the samples in one piece, as a rational."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.claims import affine_rows
from convexcls.proofs.claims.affine_rows import AffineRows, gram_of_blocks, weighted_product
from convexcls.rows import as_rows, by_block

N, D = 24_000, 5
#: More are not gathered at once; of fewer entries rows are written out.
MOST = 21_000


@pytest.fixture(autouse=True)
def few_rows_are_gathered(monkeypatch):
    monkeypatch.setattr(by_block, "MAX_GATHERED_ENTRIES", MOST)
    monkeypatch.setattr(affine_rows, "MAX_GATHERED_ENTRIES", MOST // 4)


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(N, D)), rng.normal(size=D)
    score = X @ w
    return (
        X,
        X + 0.2 * np.outer(np.sign(score), w),
        score > 0,
        score + rng.normal(size=N),
        rng.integers(1, 4, size=N) / 2,
    )


MODELS = {
    "least squares": lambda X, y, w: cc.LeastSquares(X, y, coding="real"),
    "without intercept": lambda X, y, w: cc.LeastSquares(X, y, coding="real", intercept=False),
    "ridge": lambda X, y, w: cc.LeastSquares(X, y > 0, l2=0.1, sample_weight=w),
    "soft margin": lambda X, y, w: cc.SoftMarginSVM(X, y > 0, sample_weight=w),
    "squared hinge": lambda X, y, w: cc.SoftMarginSVM(X, y > 0, loss="squared_hinge"),
    "least absolute": lambda X, y, w: cc.LeastAbsolute(X, y > 0),
    "perceptron": lambda X, y, w: cc.PerceptronCriterion(X, y > 0),
    "fisher": lambda X, y, w: cc.FisherLDA(X, y > 0),
}


@pytest.mark.parametrize("name", [*MODELS, "hard margin"])
def test_the_optimum_is_the_same_rational(name, samples):
    X, apart, side, noisy, weights = samples
    X, y = (apart, side) if name == "hard margin" else (X, noisy)
    if name == "squared hinge":  # every slack takes part
        X, y, weights = X[:5000], y[:5000], weights[:5000]
    make = MODELS.get(name, lambda X, y, w: cc.HardMarginSVM(X, y))
    blocks, whole = (
        make(source, y, weights).solve(level="exact").certificate
        for source in (cc.read_blocks(X, rows=len(X) // 5).X, X)
    )
    assert (blocks.status, blocks.level) == ("optimal", "exact"), blocks.reason
    assert blocks.optimum == whole.optimum


def in_rationals(X, beside, weights):
    rows = [[*map(Fraction, row)] for row in np.hstack([X, beside]).tolist()]
    return [
        [
            sum(Fraction(w) * r[j] * r[k] for w, r in zip(weights.tolist(), rows, strict=True))
            for k in range(len(rows[0]))
        ]
        for j in range(len(rows[0]))
    ]


@pytest.mark.parametrize("rows", [1, 7, 40])
@pytest.mark.parametrize("different", [1, 3, 40])
def test_sums_of_blocks_are_those_of_rationals(rows, different):
    """Entries of any size, weights that are few or all different, some of them 0, blocks of any size."""
    rng = np.random.default_rng(rows + different)
    X = rng.normal(size=(40, 2)) * 10.0 ** rng.integers(-9, 9, size=(40, 2))
    beside, weights = rng.normal(size=(40, 2)), rng.choice([0.0, *rng.uniform(0.1, 9.0, size=different)], size=40)
    expected = in_rationals(X, beside, weights)
    assert gram_of_blocks(cc.read_blocks(X, rows=rows).rows, beside, weights) == expected
    assert gram_of_blocks(as_rows(X), beside, weights) == expected
    assert weighted_product(np.hstack([X, beside]), weights) == expected


def test_rows_cut_at_their_blocks_have_the_same_sums(samples, monkeypatch):
    """Sums, Gram matrices and values of some rows of a constraint and of a term, in parts and at once."""
    X, _, _, y, weights = samples
    read = cc.read_blocks(X, rows=N // 5)
    problems = cc.LeastSquares(read.X, y, coding="real", sample_weight=weights), cc.SoftMarginSVM(read.X, y > 0)
    index = np.flatnonzero(np.arange(N) % 3)
    for block, problem in ((problems[0].terms[0], problems[0]), (problems[1].constraints[0], problems[1])):
        kept = ("coef", "intercept")
        rows = AffineRows(block, problem.narrow_rows(block.entries, kept), D + 1)
        z = [Fraction(k + 1, 3) for k in range(D + 1)]

        def asked(rows=rows, z=z):
            few = index[::200]
            return rows.total(index, weights[index]), rows.gram(index, weights[index]), rows.exact_values(few, z)

        in_parts = asked()
        monkeypatch.setattr(affine_rows, "MAX_GATHERED_ENTRIES", N * D * 2)
        monkeypatch.setattr(by_block, "MAX_GATHERED_ENTRIES", N * D * 2)
        assert asked() == in_parts
        monkeypatch.setattr(affine_rows, "MAX_GATHERED_ENTRIES", MOST // 4)
