"""Some rows that stand for all, each with the number of rows that it stands for.

Where all rows are alike they are drawn alike. A category of few rows, or a column with few large entries, is missing in
such a sample, and its coefficient then is anything. So rows are drawn by their importance, half of it even, half of it
their share in the columns, sum_j |R_ij| / sum_l |R_lj|: by priority sampling (Duffield, Lund and Thorup 2007), in which
the m rows with the largest importance_i / u_i, u_i uniform, stand for max(1, t / importance_i) rows each, t the next of
these quotients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.solvers.rows.row_program import RowProgram, working_copy

#: A column is in a sample where its squares add up to so many times that of its largest entry.
ENTRIES_PER_COLUMN = 8.0


@dataclass(frozen=True, eq=False)
class RowOrder:
    """The rows that can be drawn, the first ones of which are a sample, and how many rows they stand for."""

    rows: Indices
    #: The importance of each, and the quotients by which they are ordered; None where all are alike.
    priority: tuple[Array, Array] | None
    count: int

    @classmethod
    def of(cls, program: RowProgram, most: int, least: int) -> RowOrder:
        """Of samples that have between ``least`` and ``most`` rows."""
        many, rng = np.flatnonzero(program.sampled), np.random.default_rng(0)
        alike = rng.choice(many, most, replace=False)
        if _covers(program, alike[:least]):
            return cls(alike, None, many.size)
        importance = _importance(program)[many]
        quotient = importance / (1.0 - rng.random(many.size))
        order = np.argsort(-quotient)[: most + 1]
        return cls(many[order], (importance[order], quotient[order]), many.size)

    def sample(self, m: int) -> tuple[Indices, Array]:
        """The first m rows, and how many each stands for."""
        if self.priority is None:
            return self.rows[:m], np.full(m, self.count / m)
        importance, quotient = self.priority
        return self.rows[:m], np.maximum(1.0, quotient[min(m, quotient.size - 1)] / importance[:m])


def _covers(program: RowProgram, index: Indices) -> bool:
    """Whether every column has enough entries in some rows."""
    squares = working_copy(program.rows, np.sort(index)).gram_diagonal(np.ones(index.size))
    return bool(np.all(squares >= ENTRIES_PER_COLUMN * program.rows.column_max() ** 2))


def _importance(program: RowProgram) -> Array:
    n, k = program.rows.shape
    sizes = abs(program.rows)
    total = sizes.transposed_matmul(np.ones(n))
    shares = sizes @ np.divide(1.0, total, out=np.zeros(k), where=total > 0)
    return np.asarray(0.5 / n + 0.5 * shares / max(float(shares.sum()), 1e-300))
