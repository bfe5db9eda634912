"""Tests that are run a second time with their samples read by block: of a module or a test marked ``by_block``.

Every model that is declared while such a test runs gets its samples through ``read_blocks``, in at least three blocks.
A solver or a model that refuses them says so in the words of ``REFUSALS``; the test is then skipped, as it is about
samples in memory. Samples that blocks cannot give (exact numbers, coded tables, basis functions) stay as they are.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest
from scipy import sparse

import convexcls as cc
from convexcls.data import Named, check_data, given_table

#: The blocks of small samples have so many rows, those of others are a third of all.
LEAST_ROWS = 7
#: What is said of samples by block where only samples in memory will do.
REFUSALS = ("read by block", "does not go through its samples by passes")
#: Models that take samples by block.
MODELS = (
    cc.HardMarginSVM,
    cc.MaxMargin,
    cc.SoftMarginSVM,
    cc.LogisticMLE,
    cc.SoftmaxMLE,
    cc.LeastSquares,
    cc.LeastAbsolute,
    cc.PerceptronCriterion,
    cc.FisherLDA,
    cc.GaussianMLE,
    cc.EmpiricalRisk,
)


def in_blocks(X: Any, rows: int | None = None) -> Any:
    """Checked samples by block."""
    matrix = sparse.csr_array(X.matrix) if sparse.issparse(X.matrix) else X.matrix
    read = cc.read_blocks(matrix, rows=rows or max(LEAST_ROWS, matrix.shape[0] // 3))
    return replace(read.X, features=X.features)


def data_by_block(X: Any, *arguments: Any, **how: Any) -> Any:
    """``check_data``, which hands on samples by block where blocks can give them."""
    data = check_data(X, *arguments, **how)  # what is wrong is said in the same words
    if isinstance(X, Named) or given_table(X) is not None:
        return data
    return check_data(in_blocks(data), *arguments, **how)


def read_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every model from now on is declared on samples by block."""
    for module in {model.__module__ for model in MODELS}:
        monkeypatch.setattr(sys.modules[module], "check_data", data_by_block)


def is_refusal(error: BaseException) -> bool:
    """Whether an error says that samples by block will not do here."""
    return isinstance(error, (cc.DataError, cc.SolverRefused)) and any(words in str(error) for words in REFUSALS)
