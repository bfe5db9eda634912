"""The natural parameters of Gaussian classes as unknowns of a problem."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from convexcls.arrays import Array, Indices, Mask, inverse_root
from convexcls.data import Data, DataError
from convexcls.engines import tree_sum
from convexcls.losses import LogDet
from convexcls.losses.log_det import lower_triangle
from convexcls.problem import Label, Term, Variable
from convexcls.problem.as_classifier import Values
from convexcls.rational.doubles import null_vector
from convexcls.rows import JoinedRows, PickedRows, Rows, as_rows
from convexcls.rows.column_basis import ColumnBasis, exact_products
from convexcls.rows.summation import row_blocks

if TYPE_CHECKING:
    from convexcls.proofs.enclosure.moments import Moments

#: Exact arithmetic looks for a constant combination in data no larger than this.
MAX_EXACT_UNKNOWNS = 60
MAX_EXACT_ENTRIES = 2_000_000
#: So many samples are multiplied at a time.
BLOCK = 4096
#: Coefficients of a combination that are whole numbers after this many times.
SMALL_DENOMINATORS = (1.0, 2.0, 3.0, 4.0, 6.0, 12.0)
#: What is smaller, relative to the largest entry, is taken for rounding.
NEARLY_ZERO = 1e-9
#: A condition of the scatter, and a ratio of all scatter to that within classes, that rounding does not reach.
MAX_CLEAR_CONDITION = 1e6


class NaturalParameters:
    """The classes that share a covariance: variables, costs and the log-determinant of their Omega (see
    ``GaussianMLE``)."""

    def __init__(self, data: Data, centre: Array, rows: Any, classes: range, unbiased: bool, shared: bool) -> None:
        numbers, labels = data.grouping
        self.data, self.rows, self.classes, self.unbiased = data, np.asarray(rows), classes, unbiased
        self.d, self.K = data.d, len(classes)
        self.suffix, mark = ("", "") if shared else (f"_{classes[0] + 1}", f"_{{{classes[0] + 1}}}")
        self.centre, self.indicators = centre, numbers[rows][:, None] == np.array(classes)
        weights = data.weights[rows]
        moments = self._moments(weights)
        if not np.all(np.isfinite(moments)):
            raise DataError("the squares of the features overflow: divide X by its largest value")
        counts = np.diag(moments)[self.d :]
        total = float(counts.sum())
        self.divisor = total - self.K if unbiased else total
        if not np.all(counts > 0) or not self.divisor > 0:
            label = labels[classes[int(np.argmin(counts))]]
            raise DataError(f"class {label!r} has too few samples (total weight {counts.min():g}) for a covariance")
        self.moments, self.counts = moments, counts
        self._build(moments, mark)
        logs = float(np.log(self.divisor / counts).sum()) - self.K
        self.constant = 0.5 * self.divisor * (self.d * float(np.log(2 * np.pi)) + logs)

    def _moments(self, weights: Array) -> Array:
        """sum_i w_i z_i z_i', added up over blocks of samples."""
        matrix = self.data.matrix
        away = None if as_rows(matrix).by_block is None else as_rows(matrix[self.rows])  # read once
        if away is not None and away.by_block is not None:
            parts = away.by_block.each(_moments_of, self.indicators, weights, common=(self.centre,))
            return np.asarray(tree_sum(parts))
        out = np.zeros((self.d + self.K,) * 2)
        for block in row_blocks(self.rows.size, BLOCK):
            samples = as_rows(matrix[self.rows[block]]) if away is None else away[block]
            out += _moments_of(samples, self.centre, self.indicators[block], weights[block])
        return out

    def _counted(self) -> Array:
        """(x_i, e_{y_i}) of all samples that have a weight."""
        samples = as_rows(self.data.matrix[self.rows]).to_dense()
        return np.hstack([samples, self.indicators])[self.data.weights[self.rows] > 0]

    def _build(self, moments: Array, mark: str) -> None:
        d, K = self.d, self.K
        i, j = lower_triangle(d + K)
        costs = np.where(i == j, 0.5, 1.0) * moments[i, j]
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
        for block, (sign, places, rows) in _blocks(d, K).items():
            name = block + self.suffix
            self.variables.append(Variable(name, places.size, symbols[block]))
            entries[name] = rows
            labels[name] = Label("", rf"\Pi_{{{symbols[block]}}}", sign, matrix if block == "precision" else " ")
            self.costs[name] = sign * costs[places]
            self.cost_labels[name] = Label("", "", sign, written[block])
        self.term = Term(
            f"determinant{self.suffix}", entries, f"Z{mark}", "vector", labels, LogDet(d + K), weights=self.divisor / 2
        )

    def precision(self, values: Values) -> Array:
        return np.asarray(LogDet(self.d).matrices(values[f"precision{self.suffix}"])[0])

    def natural_means(self, values: Values) -> Array:
        return np.reshape(values[f"natural_mean{self.suffix}"], (self.K, self.d))

    def moments_as_given(self) -> Moments:
        """sum_i w_i z_i z_i' of the data as they were given, without rounding."""
        from convexcls.proofs.claims.affine_rows import AffineRows
        from convexcls.proofs.enclosure.moments import Moments

        weights, d = self.data.weights[self.rows], self.d
        index, width = np.flatnonzero(weights > 0), d + self.K
        given = self.data.exact_weights
        own = None if given is None else [given[i] for i in self.rows[index].tolist()]
        members = (self.data.grouping[0][self.rows][:, None] == np.array(self.classes)).astype(float)
        samples = as_rows(self.data.matrix, self.data.exact_matrix)[self.rows]
        z = JoinedRows(weights.size, width, [(slice(0, d), samples), (slice(d, width), as_rows(members))])
        sums = AffineRows(Term("moments", {"z": z}, "z"), z, width).gram(index, weights[index] if own is None else own)
        S = _measured_from(self.centre, [row[:width] for row in sums[:width]])
        divisor = sum((S[k][k] for k in range(d, width)), Fraction(0)) - (self.K if self.unbiased else 0)
        precision, mean, corner = (f"{block}{self.suffix}" for block in ("precision", "natural_mean", "corner"))
        return Moments(S, divisor, d, (precision, mean, corner))

    @cached_property
    def columns(self) -> ColumnBasis | None:
        """Which features are combinations of others within the classes, up to rounding; None where it is not clear."""
        d, across = self.d, self.moments[: self.d, self.d :]
        return ColumnBasis.of_gram(self.moments[:d, :d] - across / self.counts @ across.T)

    @property
    def is_clearly_regular(self) -> bool:
        """Whether the scatter within classes is regular by far more than rounding, of which that between may bring
        some."""
        if self._has_fair_condition:
            return True
        d, columns = self.d, self.columns
        if columns is None or columns.others.size or columns.condition > MAX_CLEAR_CONDITION:
            return False
        within = np.square(columns.lengths)
        return bool(np.all(within * MAX_CLEAR_CONDITION > self.moments[:d, :d].diagonal()))

    @property
    def _has_fair_condition(self) -> bool:
        """Whether norms of a triangular factor show it."""
        d, across = self.d, self.moments[: self.d, self.d :]
        within = self.moments[:d, :d] - across / self.counts @ across.T
        with np.errstate(all="ignore"):
            condition = inverse_root(within)[1]
        varies = within.diagonal() * MAX_CLEAR_CONDITION > self.moments[:d, :d].diagonal()
        return condition <= MAX_CLEAR_CONDITION and bool(varies.all())

    def constant_combination(self) -> Array | None:
        """v with z_i'v = 0 for all samples, found and checked in exact arithmetic; None where there is none, or where
        that would take too long."""
        if self.is_clearly_regular:
            return None
        if self.columns is not None and self.columns.others.size:
            flat = self.columns.null_vectors
            for f in flat.T[np.argsort(np.count_nonzero(flat, axis=0), kind="stable")]:
                for times in SMALL_DENOMINATORS:
                    if (v := self.annihilator(_nearly_whole(times * f))) is not None:
                        return v
        return self._constant_by_elimination()

    def annihilator(self, f: Array) -> Array | None:
        """v with z_i'v = 0 for all samples whose combination f of features does not vary at all within a class; None
        where it does, or where rounding leaves that open."""
        counted = np.flatnonzero(self.data.weights[self.rows] > 0)
        samples = as_rows(self.data.matrix, self.data.exact_matrix)[self.rows[counted]]
        values = exact_products(samples, f[:, None]) if np.any(f) else None
        if values is None:
            return None
        numbers, v = self.data.grouping[0][self.rows[counted]], np.append(f, np.zeros(self.K))
        shift = sum(
            (Fraction(c) * Fraction(a) for c, a in zip(self.centre.tolist(), f.tolist(), strict=True)), Fraction(0)
        )
        for k, label in enumerate(self.classes):
            own = values[numbers == label, 0]
            if np.any(own != own[0]):
                return None
            v[self.d + k] = float(shift - Fraction(float(own[0])))
        return np.asarray(v / np.abs(f).max())

    def is_constant_along(self, step: Array) -> bool:
        """Whether a step of Omega is vv', up to rounding, of a combination v that is 0 at all samples exactly."""
        place = int(np.argmax(step.diagonal()))
        if not step[place, place] > 0:
            return not np.any(step)
        v = step[place] / np.sqrt(step[place, place])
        f = v[: self.d] / np.abs(v[: self.d]).max(initial=0.0)
        smallest = np.abs(f[np.abs(f) > NEARLY_ZERO]).min(initial=1.0)
        found = (self.annihilator(_nearly_whole(times * f / smallest)) for times in SMALL_DENOMINATORS)
        exactly = next((u for u in found if u is not None), None)
        if exactly is None:
            return False
        square = np.outer(exactly, exactly) * (np.abs(v[: self.d]).max() ** 2)
        return bool(np.all(np.abs(step - square) <= NEARLY_ZERO * np.abs(square).max()))

    def _constant_by_elimination(self) -> Array | None:
        """The same for any doubles, in rationals, of a few features."""
        width = self.d + self.K
        if width > MAX_EXACT_UNKNOWNS or np.count_nonzero(self.data.weights[self.rows]) * width > MAX_EXACT_ENTRIES:
            return None
        given = self._counted()
        z = given - np.append(self.centre, np.zeros(self.K))
        size = np.abs(z).max(axis=0, initial=0.0)
        size = np.where(size > 0, size, 1.0)
        values, vectors = np.linalg.svd(np.linalg.qr(z / size, mode="r"))[1:]
        if values.size == width and values[-1] > 1e-12 * values[0]:
            return None
        # the samples that contradict most what rounding takes for constant come first
        order = np.argsort(z / size @ vectors[-1], kind="stable")
        exactly = _constant_exactly(given, [*order[:width], *order[-width:]])
        if exactly is None:
            return None
        # the features of z are measured from their means
        shift = sum((Fraction(float(c)) * a for c, a in zip(self.centre, exactly, strict=False)), Fraction(0))
        largest = max(abs(a) for a in exactly)
        return np.array([float((a + shift * (k >= self.d)) / largest) for k, a in enumerate(exactly)])

    def step_of(self, direction: Values) -> Array:
        """Omega of a direction of the variables."""
        omega = np.zeros((self.d + self.K, self.d + self.K))
        omega[: self.d, : self.d] = self.precision(direction)
        omega[self.d :, : self.d] = -self.natural_means(direction)
        omega[: self.d, self.d :] = omega[self.d :, : self.d].T
        omega[self.d :, self.d :] = LogDet(self.K).matrices(direction[f"corner{self.suffix}"])[0]
        return omega

    def outer_square(self, v: Array) -> dict[str, Array]:
        """v v' as a step of the variables."""
        square = np.outer(v, v)[lower_triangle(self.d + self.K)]
        return {
            name + self.suffix: sign * square[places] for name, (sign, places, _) in _blocks(self.d, self.K).items()
        }


class _Part(NamedTuple):
    """A block of the lower triangle of Omega: its sign, its places in the triangle, and the rows that put it there."""

    sign: float
    places: Indices
    rows: Rows


@lru_cache(maxsize=4)
def _blocks(d: int, K: int) -> dict[str, _Part]:
    """The blocks of Omega, of d features and K classes."""
    i, j = lower_triangle(d + K)
    chosen = {"precision": (1.0, i < d), "natural_mean": (-1.0, (i >= d) & (j < d)), "corner": (1.0, j >= d)}
    out = {}
    for name, (sign, there) in chosen.items():
        places = np.flatnonzero(there)
        out[name] = _Part(sign, places, PickedRows(np.full(places.size, sign), places, i.size).T)
    return out


def _moments_of(samples: Rows, centre: Array, indicators: Mask, weights: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        z = np.hstack([samples.to_dense() - centre, indicators])
        return np.asarray(z.T @ (z if (weights == 1.0).all() else weights[:, None] * z))


def _nearly_whole(values: Array) -> Array:
    """The values, those next to whole numbers rounded to these."""
    near = np.rint(values)
    return np.asarray(np.where(np.abs(values - near) <= NEARLY_ZERO * np.maximum(np.abs(near), 1.0), near, values))


def _measured_from(centre: Array, S: list[list[Fraction]]) -> list[list[Fraction]]:
    """The moments of z_i = (x_i - c, e_k) from those of (x_i, e_k): x_i - c = x_i - sum_k c e_k."""
    d, shifts = centre.size, [Fraction(c) for c in centre.tolist()]
    for _ in range(2):  # rows, then columns
        total = [sum(column, Fraction(0)) for column in zip(*S[d:], strict=True)]
        moved = [[v - c * t for v, t in zip(row, total, strict=True)] for row, c in zip(S, shifts, strict=False)]
        S = [list(column) for column in zip(*moved, *S[d:], strict=True)]
    return S


def _constant_exactly(rows: Array, first: list[int]) -> list[Fraction] | None:
    """A vector that annihilates all rows: one for some rows, then for these and one that it does not annihilate, ..."""
    distinct = np.unique(rows, axis=0)
    chosen = np.unique(rows[first], axis=0)
    for _ in range(rows.shape[1] + 1):
        vector = null_vector(chosen)
        if vector is None:
            return None
        against = next((row for row in distinct if not _annihilates(vector, row)), None)
        if against is None:
            return vector
        chosen = np.vstack([chosen, against])
    return None


def _annihilates(vector: list[Fraction], row: Array) -> bool:
    return not sum((a * Fraction(float(x)) for a, x in zip(vector, row, strict=True) if a), Fraction(0))
