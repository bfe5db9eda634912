"""The natural parameters of Gaussian classes as unknowns of a problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from convexcls.certificate import exact
from convexcls.data import Data, DataError
from convexcls.losses import LogDet
from convexcls.losses.log_det import lower_triangle
from convexcls.models.base import Array, Values
from convexcls.problem import Label, Term, Variable


class NaturalParameters:
    """The classes that share a covariance: variables, costs and the log-determinant of their Omega (see
    ``GaussianMLE``)."""

    def __init__(self, data: Data, centre: Array, rows: Any, classes: range, unbiased: bool, shared: bool) -> None:
        numbers, labels = data.grouping
        self.d, self.K = data.d, len(classes)
        self.suffix, mark = ("", "") if shared else (f"_{classes[0]}", f"_{{{classes[0] + 1}}}")
        matrix = data.matrix[rows]
        samples = np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=float)
        indicators = (numbers[rows][:, None] == np.array(classes)).astype(float)
        weights = data.weights[rows]
        with np.errstate(over="ignore", invalid="ignore"):
            z = np.hstack([samples - centre, indicators])
            moments = z.T @ (weights[:, None] * z)
        self.measured, self.given = z[weights > 0], np.hstack([samples, indicators])[weights > 0]
        if not np.all(np.isfinite(moments)):
            raise DataError("the squares of the features overflow: divide X by its largest value")
        counts = np.diag(moments)[self.d :]
        total = float(counts.sum())
        self.divisor = total - self.K if unbiased else total
        if not np.all(counts > 0) or not self.divisor > 0:
            label = labels[classes[int(np.argmin(counts))]]
            raise DataError(f"class {label!r} has too few samples (total weight {counts.min():g}) for a covariance")
        self._build(moments, mark)
        logs = float(np.log(self.divisor / counts).sum()) - self.K
        self.constant = 0.5 * self.divisor * (self.d * float(np.log(2 * np.pi)) + logs)

    def _build(self, moments: Array, mark: str) -> None:
        d, K = self.d, self.K
        i, j = lower_triangle(d + K)
        costs = np.where(i == j, 0.5, 1.0) * moments[i, j]
        width, places = i.size, np.arange(i.size)
        mean = (i >= d) & (j < d)
        which = {"precision": i < d, "natural_mean": mean, "corner": (i >= d) & (j >= d)}
        symbols = {"precision": rf"\Lambda{mark}", "natural_mean": rf"\eta{mark}", "corner": rf"T{mark}"}
        written = {
            "precision": r"\tfrac12 \text{tr}(S_{xx} %)",
            "natural_mean": r"\text{tr}(S_{xy}^{\top} %)",
            "corner": r"\tfrac12 \text{tr}(S_{yy} %)",
        }
        entries, labels = {}, {}
        self.variables, self.costs, self.cost_labels = [], {}, {}
        matrix = rf"\begin{{pmatrix}} {symbols['precision']} & -{symbols['natural_mean']} \\ "
        matrix += rf"-{symbols['natural_mean']}^{{\top}} & {symbols['corner']} \end{{pmatrix}}"
        for block, chosen in which.items():
            name, sign = block + self.suffix, -1.0 if block == "natural_mean" else 1.0
            size = int(chosen.sum())
            self.variables.append(Variable(name, size, symbols[block]))
            entries[name] = sparse.csr_array((np.full(size, sign), (places[chosen], np.arange(size))), (width, size))
            labels[name] = Label("", rf"\Pi_{{{symbols[block]}}}", sign, matrix if block == "precision" else " ")
            self.costs[name] = sign * costs[chosen]
            self.cost_labels[name] = Label("", "", sign, written[block])
        self.term = Term(
            f"determinant{self.suffix}", entries, f"Z{mark}", "vector", labels, LogDet(d + K), weights=self.divisor / 2
        )

    def precision(self, values: Values) -> Array:
        return np.asarray(LogDet(self.d).matrices(values[f"precision{self.suffix}"])[0])

    def natural_means(self, values: Values) -> Array:
        return np.reshape(values[f"natural_mean{self.suffix}"], (self.K, self.d))

    def constant_combination(self) -> Array | None:
        """v with z_i'v = 0 for all samples, or None where rounding or exact arithmetic says there is none."""
        z = self.measured
        size = np.abs(z).max(axis=0, initial=0.0)
        size = np.where(size > 0, size, 1.0)
        values, vectors = np.linalg.svd(np.linalg.qr(z / size, mode="r"))[1:]
        if values.size == self.d + self.K and values[-1] > 1e-12 * values[0]:
            return None
        if z.size <= 100 * exact.LARGEST and exact.rank(np.unique(self.given, axis=0)) == self.d + self.K:
            return None
        return np.asarray(vectors[-1] / size)

    def outer_square(self, v: Array) -> dict[str, Array]:
        """v v' as a step of the variables."""
        i, j = lower_triangle(self.d + self.K)
        square = np.outer(v, v)[i, j]
        mean = (i >= self.d) & (j < self.d)
        return {
            f"precision{self.suffix}": square[i < self.d],
            f"natural_mean{self.suffix}": -square[mean],
            f"corner{self.suffix}": square[(i >= self.d) & (j >= self.d)],
        }
