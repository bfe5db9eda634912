"""Learning rules, shown for what they do: the perceptron and stochastic gradients.

Here stands what they share: how they visit samples, whose rows are laid out for loops that take one at a time, the
orders of the visits, the sizes of the steps, and where they begin. Imports ``solvers.smooth`` and below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from convexcls.arrays import Array
from convexcls.problem import Block, Problem
from convexcls.rows import Rows, summation

#: ``fixed`` is eta0 throughout, ``decay`` eta0/tau.
Step = Literal["fixed", "decay"]
#: ``cyclic`` visits the samples as they stand, ``random`` in a new order each pass.
Order = Literal["cyclic", "random"]
STEPS: tuple[Step, ...] = ("fixed", "decay")
ORDERS: tuple[Order, ...] = ("cyclic", "random")


@dataclass(frozen=True, eq=False)
class SampleMatrix:
    """Sample i is the row ``factor[i] * (matrix[i], bias)``: ``matrix`` is the caller's own, dense or by rows (CSR),
    and ``bias`` is 1, or 0 in a model without intercept."""

    matrix: Any
    factor: Array
    bias: float

    @property
    def sparse(self) -> bool:
        """Whether the matrix is sparse."""
        return bool(issparse(self.matrix))

    @property
    def width(self) -> int:
        """The entries of a weight vector: one a column and one for the bias."""
        return int(self.matrix.shape[1]) + 1


def samples_of(problem: Problem, block: Block) -> SampleMatrix | None:
    """The samples of a block over ``coef`` and perhaps ``intercept``, the first variables of the problem; None where
    its rows are not made like that. Other variables of the block, such as the slack, are left out."""
    if "coef" not in block.entries or problem.layout["coef"].start != 0:
        return None
    left, core, right = block.entries["coef"].factors()
    matrix = core.in_memory()
    if matrix is None or right is not None:
        return None
    factor = np.ones(core.shape[0]) if left is None else np.array(left)
    matrix = matrix.tocsr() if issparse(matrix) else matrix
    if "intercept" not in block.entries:
        return SampleMatrix(matrix, factor, 0.0)
    ones = block.entries["intercept"].factors()
    same = np.array_equal(np.ones(core.shape[0]) if ones.left is None else ones.left, factor)
    follows = problem.layout["intercept"].start == matrix.shape[1]
    if not (ones.core.is_ones and ones.right is None and same and follows):
        return None
    return SampleMatrix(matrix, factor, 1.0)


def step_size(step: str, eta0: float, tau: int) -> float:
    """eta0, or eta0/tau where the step decays: the sum of all steps is infinite, that of their squares is not."""
    return eta0 / tau if step == "decay" else eta0


def orders(order: Order, n: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """The order of the samples in each pass, without end. The same seed gives the same orders."""
    if order == "cyclic":
        as_they_stand = np.arange(n, dtype=np.int64)
        for _ in count():
            yield as_they_stand
    generator = np.random.default_rng(seed)
    for _ in count():
        yield generator.permutation(n)


def random_start(size: int, seed: int) -> Array:
    """Normal deviates in multiples of 1/1024: so coarse that sums with whole numbers stay exact."""
    return np.asarray(np.round(1024.0 * np.random.default_rng(seed).normal(size=size)) / 1024.0)


def squared_norms(rows: Rows) -> Array:
    """‖v_i‖² of every row, a block of rows at a time."""
    return np.concatenate([np.zeros(0), *(summation.squared_norms(matrix) for _, matrix in rows.in_blocks())])
