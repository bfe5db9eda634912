"""Support vector machines in the feature space of a kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.data import Data, DataError, check_data, check_matrix
from convexcls.data.numbers import times
from convexcls.models.base import Model, check_positive, sample_rows
from convexcls.models.kernels import Kernel, KernelFunction, kernel_values
from convexcls.models.scorers import KernelScorer, Scorer
from convexcls.problem import Constraint, Label, NoAnswer, Variable
from convexcls.problem.as_classifier import Values
from convexcls.problem.centring import CentredKernel, centre
from convexcls.problem.geometry import positive_multipliers
from convexcls.rows import ConstantRows, DiagonalRows
from convexcls.rows.kernel import KernelRows
from convexcls.rows.row_store import MatrixStore, MatrixTooLarge, RowStore, Store

#: A kernel matrix of so many samples is worked out when the problem is stated.
MAX_SAMPLES_AT_ONCE = 500


class KernelSVM(Model):
    """The support vector machine in the feature space of a kernel, f(x) = sum_i alpha_i y_i k(x_i, x) + intercept,
    stated by its Wolfe dual (ESL 12.13 with the kernel of 12.19 and 12.21; ESL 4.52 for the hard margin):

        maximise    sum_i alpha_i - 1/2 alpha' Q alpha,      Q_ij = y_i y_j k(x_i, x_j)
        subject to  sum_i alpha_i y_i = 0        multiplier: the intercept     (``intercept``)
                    alpha_i <= C                 multiplier: the slack xi_i    (``slack``, with C only)
                    alpha_i >= 0                 multiplier: y_i f(x_i) - 1 where that is positive  (``margin_sign``)

    The unknown alpha is called ``margin``, as the constraint whose multiplier it is. ``dual()`` is the primal in the
    coefficients a of the samples: minimise 1/2 a'Qa + C sum_i xi_i with (Qa)_i + y_i intercept + xi_i >= 1, xi_i >= 0.

    ``kernel`` is a name (linear, poly, rbf, laplacian, sigmoid, cosine, chi2, ...), "precomputed" (X is then the matrix
    of all k(x_i, x_j), and scores take k(new, training)), or a function of two matrices that gives one number for each
    pair of rows. One that is not positive semidefinite on the samples is refused. ``C=None`` is the hard margin: where
    no hyperplane of the feature space separates the classes, the maximum is infinite. A sample weight multiplies its C.

    ``memory_limit`` is in bytes: no matrix of n x n entries is made that would not fit. Solver "smo" needs none;
    others do, and refuse. A kernel that has to be looked at to know that it is semidefinite raises ``MatrixTooLarge``.

    ``gamma``, ``degree`` and ``coef0`` are those of scikit-learn's kernels, as in (gamma x'z + coef0)^degree and
    exp(-gamma ‖x - z‖^2).

    >>> import convexcls as cc
    >>> xor, parity = [[1, 1], [-1, -1], [1, -1], [-1, 1]], ["even", "even", "odd", "odd"]
    >>> s = cc.KernelSVM(xor, parity, kernel="poly", degree=2, coef0=1.0).solve()
    >>> s.status, round(s.objective, 6), s.dual_coef.round(6).tolist()
    ('optimal', 0.25, [-0.125, -0.125, 0.125, 0.125])
    >>> s.predict([[2, 3], [2, -3]]).tolist()
    ['even', 'odd']
    """

    kind = "kernel"

    kernel: Kernel
    memory_limit: float

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        kernel: str | KernelFunction = "rbf",
        C: float | None = None,
        gamma: float = 1.0,
        degree: float = 3,
        coef0: float = 0.0,
        intercept: bool = True,
        sample_weight: Any = None,
        memory_limit: float = 1e9,
    ) -> None:
        C = None if C is None else check_positive("C", C)
        if not isinstance(intercept, (bool, np.bool_)):
            raise ValueError(f"intercept is {intercept!r}: it must be True or False")
        if C is None and sample_weight is not None:
            raise ValueError("sample_weight multiplies C, and the hard margin has none: give C, or leave rows out")
        memory_limit = check_positive("memory_limit", memory_limit)
        k = Kernel(kernel, gamma, degree, coef0)
        data = check_data(X, y, sample_weight)
        if kernel == "precomputed" and data.n != data.d:
            raise DataError(
                f"a precomputed kernel is a square matrix, one row and one column a sample; X is {data.n} x {data.d}"
            )
        assert data.signs is not None
        super().__init__(
            data=data,
            parameters={"kernel": k.name, "C": C, **k.parameters, "intercept": intercept},
            notes=(f"Qᵢⱼ = yᵢ yⱼ k(xᵢ, xⱼ) with k(x, z) = {k.formula}",),
            attributes={"kernel": k, "memory_limit": memory_limit},
            name=f"{'hard' if C is None else 'soft'}-margin kernel SVM",
            variables=[Variable("margin", data.n, r"\alpha", "samples")],
            quadratic={"margin": _quadratic(k, data, memory_limit)},
            linear={"margin": -1.0},
            constraints=_constraints(data, C, intercept),
            sense="max",
            unit=0.0,
            quadratic_symbol="Q",
        )

    # ---- the same model on other samples ----------------------------------------------------------

    def declared_with(self) -> dict[str, Any]:
        """The parameters, with the kernel itself where it is a function."""
        return {**self.parameters, "kernel": self.kernel.kind, "memory_limit": self.memory_limit}

    def on(self, rows: Any) -> Self:
        """The same model on some of its samples; of a precomputed kernel both rows and columns."""
        if not self._precomputed:
            return super().on(rows)
        weights = {"sample_weight": self.data.given_weights[rows]} if self.data.weighted else {}
        declare: Any = type(self)
        return declare(self.data.matrix[rows][:, rows], self.data.given[rows], **self.declared_with(), **weights)

    def holding_out(self, rows: Any) -> tuple[Self, Any]:
        """The same model on all samples but these, and these as its solution takes them: against the others."""
        if not self._precomputed:
            return super().holding_out(rows)
        others = np.delete(np.arange(self.data.n), rows)
        return self.on(others), self.data.matrix[rows][:, others]

    # ---- the proof that there is no maximum -------------------------------------------------------

    def candidate_directions(self) -> list[Array]:
        """Two samples of different classes that the kernel cannot tell apart: alpha may grow on both for ever."""
        Q, signs = self.P["margin"].as_kernel, self.data.signs
        assert Q is not None
        assert signs is not None
        alike = Q.alike()
        first = {int(k): i for i, k in enumerate(alike) if signs[i] < 0}
        pair = next(([first[int(k)], i] for i, k in enumerate(alike) if signs[i] > 0 and int(k) in first), None)
        return [] if pair is None else [np.isin(np.arange(signs.size), pair).astype(float)]

    def remedy(self, status: str) -> str:
        return "A soft margin has one: give C, such as C=1" if self.parameters["C"] is None else ""

    # ---- how a solution is read -------------------------------------------------------------------

    def dual_coef_from(self, values: Values, multipliers: Values) -> Array:
        """y_i alpha_i, one a sample."""
        assert self.data.signs is not None
        return self.data.signs * values["margin"]

    def coef_from(self, values: Values, multipliers: Values) -> Array:
        """sum_i alpha_i y_i x_i (ESL 4.50), for the linear kernel only."""
        if self.kernel.kind != "linear":
            raise NoAnswer(f"the {self.kernel.name} kernel has no coef, one a feature: see .dual_coef, one a sample")
        if (centred := self._centred) is not None:
            return centred.score(values["margin"], multipliers)[0]
        return np.asarray(self.data.matrix.T @ self.dual_coef_from(values, multipliers))

    def norm_from(self, values: Values, multipliers: Values) -> float:
        """The norm of the normal in feature space, sqrt(alpha'Q alpha)."""
        alpha = values["margin"]
        return float(np.sqrt(np.maximum(alpha @ (self.quadratic["margin"] @ alpha), 0.0)))

    def intercept_from(self, values: Values, multipliers: Values) -> float:
        """The multiplier of sum_i alpha_i y_i = 0."""
        if (centred := self._centred) is not None:
            return centred.score(values["margin"], multipliers)[1]
        return float(multipliers["intercept"][0]) if "intercept" in multipliers else 0.0

    def support_from(self, values: Values, multipliers: Values) -> Indices:
        """The samples with alpha_i > 0 by the rule of ``positive_multipliers``, alpha_i in units of its bound where
        that is smaller than the largest alpha: a sample of little weight counts as much as any."""
        alpha = values["margin"]
        size = float(alpha.max(initial=0.0))
        box = next((c for c in self.constraints if c.name == "slack"), None)
        unit = np.full(alpha.size, size) if box is None else np.minimum(size, box.rhs)
        share = np.divide(alpha, unit, out=np.zeros_like(alpha), where=unit > 0)
        return np.flatnonzero(positive_multipliers(share, multipliers["margin_sign"], 1.0))

    def scores_from(self, values: Values, multipliers: Values, X: Any) -> Array:
        """f(x) = sum_i alpha_i y_i k(x_i, x) + intercept, over the support points only (ESL 12.24)."""
        matrix = check_matrix(self.data.expand(X))
        if matrix.shape[1] != self.data.d:
            meant = f"k(new row, training sample), {self.data.n} columns" if self._precomputed else f"{self.data.d}"
            raise DataError(f"X has {matrix.shape[1]} columns, but the classifier was declared with {meant}")
        return self.scorer_from(values, multipliers).scores(matrix)

    def scorer_from(self, values: Values, multipliers: Values) -> Scorer:
        if self._centred is not None:  # products of features far from zero would leave nothing of their difference
            return super().scorer_from(values, multipliers)
        rows = self.support_from(values, multipliers)
        weights, intercept = self.dual_coef_from(values, multipliers)[rows], self.intercept_from(values, multipliers)
        columns = rows if self._precomputed else None
        return KernelScorer(self.kernel, self.data.matrix[rows], weights, intercept, columns)

    @property
    def _centred(self) -> CentredKernel | None:
        """The same problem with centred samples, of the linear kernel, where these are far from zero."""
        found = self.remembered(centre) if self.kernel.kind == "linear" else None
        return found if isinstance(found, CentredKernel) else None

    @property
    def _precomputed(self) -> bool:
        return self.kernel.kind == "precomputed"


def _quadratic(kernel: Kernel, data: Data, limit: float) -> KernelRows:
    """Q_ij = y_i y_j k(x_i, x_j); for the linear kernel with its root, the samples y_i x_i.

    The kernel matrix is worked out at once where it is small, where it has to be looked at to know that it is positive
    semidefinite, and where it was given; else a row at a time when a row is needed.
    """
    assert data.signs is not None
    if data.by_block is not None:
        raise DataError(
            "a kernel compares every sample with every other one, and these are read by block: take a linear model, or "
            "samples that fit in memory"
        )
    store: Store
    given = kernel.kind == "precomputed"
    fits = given or 8.0 * data.n * data.n <= limit
    if kernel.semidefinite and not (fits and data.n <= MAX_SAMPLES_AT_ONCE):
        kernel.check(data.matrix)
        store = RowStore(kernel_values(kernel, data.matrix), limit)
    elif fits:
        store = MatrixStore(kernel.gram(data.matrix), limit)
    else:
        raise MatrixTooLarge(data.n, limit, f"that the {kernel.name} kernel is positive semidefinite is seen only from")
    root = sample_rows(data).scaled(data.signs).T if kernel.kind == "linear" else None
    return KernelRows(store, data.signs, root=root, blur=kernel.blur(data.matrix, data.exact_matrix is not None))


def _constraints(data: Data, C: float | None, intercept: bool) -> list[Constraint]:
    """Balance, box and sign of alpha, with the names that the dual of the soft margin gives them."""
    assert data.signs is not None
    out = []
    if intercept:
        balance = ConstantRows(data.n).scaled(data.signs).T
        labels = {"margin": Label("y_i", "")}
        out.append(Constraint("intercept", {"margin": balance}, r"\beta_0", "scalar", labels, relation="=="))
    if C is not None:
        upper = {"margin": DiagonalRows.identity(data.n)}
        out.append(Constraint("slack", upper, r"\xi", "samples", rhs=times(C, data.given_weights), rhs_label="c_i"))
    out.append(Constraint("margin_sign", {"margin": DiagonalRows.identity(data.n, -1.0)}, "s", "samples"))
    return out
