"""Fisher's linear discriminant as a convex problem, with the proof that no direction separates better."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from scipy.linalg.lapack import dgeqp3

from convexcls.arrays import UNIT_ROUNDOFF, Array, all_finite
from convexcls.data import DataError, check_data
from convexcls.models.base import Model, check_choice, sample_rows
from convexcls.models.scorers import NearestScorer, Scorer
from convexcls.problem import UNIT_SHARE, Constraint, Label, NoAnswer, Term, Variable
from convexcls.problem.as_classifier import Values
from convexcls.rows import CentredRows, Rows, as_rows
from convexcls.rows.column_basis import MAX_GRAM_CONDITION, ColumnBasis, triangular_factor
from convexcls.rows.rounded import RoundedRows, exact_sum

Cut = Literal["fewest-errors", "midpoint", "equal-densities"]
CUTS: tuple[Cut, ...] = get_args(Cut)
#: Means that differ by less, relative to the spread of their column, may be equal.
ROUNDED_MEAN = 16 * UNIT_ROUNDOFF


class FisherLDA(Model):
    """Fisher's discriminant direction (ESL 4.16), as a convex problem:

        minimise    1/2 coef' S_W coef  =  1/2 sum_i ((x_i - m_i)' coef)^2
        subject to  (mean_2 - mean_1)' coef = 1          multiplier nu   (``separation``)

    m_i is the mean of sample i's class, S_W = sum_i (x_i - m_i)(x_i - m_i)' the scatter within classes; it is never
    multiplied out, which would halve the digits. The solution is parallel to S_W^-1 (mean_2 - mean_1) and to the
    least-squares direction (ESL exercise 4.2). The intercept is not part of the problem: it is a threshold along the
    projection, by the rule ``cut``: "fewest-errors" on the training samples, the "midpoint" of the projected means, or
    "equal-densities" of the normal densities that are fitted to the projected classes (where these cross between the
    means). Classes whose means are equal up to rounding have no direction, which is an error.

    Of c classes there is one such problem for each direction j: (mean_k - mean_1)' coef_j = 1 for k = j + 1 and 0 for
    the other classes. Together they span the discriminant directions, at most c - 1, which ``.estimates`` gives as
    solutions of the eigenproblem S_B v = ratio S_W v, with the proof that none has a larger Rayleigh quotient. A sample
    then belongs to the class with the nearest mean, in the metric of S_W.

    ``X`` has one sample a row, ``y`` their labels, two or more.

    >>> import convexcls as cc
    >>> X, y = [[0, 0], [2, 0], [1, 1], [4, 0], [6, 0], [5, 1]], [0, 0, 0, 1, 1, 1]
    >>> s = cc.FisherLDA(X, y).solve(level="exact")
    >>> [str(value) for value in s.certificate.coef], str(s.certificate.optimum)
    (['1/4', '0'], '1/8')
    >>> s.predict([[2.9, 0], [3.1, 0]]).tolist()
    [0, 1]
    """

    kind = "fisher"
    centred: CentredRows
    chosen: tuple[int, ...]

    def __init__(self, X: Any, y: Any, *, cut: Cut = "fewest-errors") -> None:
        check_choice("cut", cut, CUTS)
        data = check_data(X, y, several=True)
        classes, labels = data.grouping
        count = len(labels)
        with np.errstate(over="ignore", invalid="ignore"):
            centred = CentredRows.by_group(sample_rows(data), classes, count)
            differences = _differences(centred)
            _refuse_equal_means(centred, differences)
            unit = UNIT_SHARE * _single_feature_objective(centred, differences)
            squares = float((differences**2).sum())
        if not np.isfinite(unit) or not np.isfinite(squares):
            raise DataError("the squares of the features overflow: divide X by its largest value")
        if count > 2 and cut != "fewest-errors":
            raise ValueError(f"cut={cut!r} is for two classes: of several the nearest mean decides")
        chosen = (0,) if count == 2 else _independent(differences)
        afar = partial(_difference_error, centred) if np.isfinite(centred.base.rounding) else None
        apart = RoundedRows(differences[list(chosen)], partial(_exact_differences, centred, chosen), afar=afar)
        blocks = [_direction(k, centred, apart, count) for k in range(len(chosen))]
        super().__init__(
            data=data,
            parameters={} if cut == "fewest-errors" else {"cut": cut},
            name="Fisher discriminant" + ("" if count == 2 else f" of {count} classes"),
            variables=[variable for variable, _, _ in blocks],
            terms=[term for _, term, _ in blocks],
            constraints=[constraint for _, _, constraint in blocks],
            unit=unit,
            attributes={"centred": centred, "chosen": chosen},
        )

    def coef_from(self, values: Values, multipliers: Values) -> Array:
        """The direction; of several classes the discriminant directions, one a row."""
        return values["coef"] if "coef" in values else self.estimates_from(values, multipliers).directions

    def estimates_from(self, values: Values, multipliers: Values) -> Discriminants:
        """The discriminant directions with their Rayleigh quotients and the proof that they are the best."""
        counts = np.bincount(self.centred.groups).astype(float)
        return discriminants(self.centred, counts, np.vstack([values[v.name] for v in self.variables]))

    def scorer_from(self, values: Values, multipliers: Values) -> Scorer:
        """Along the direction, above 0 for the second class; of several classes minus half the squared distance from
        each mean, in the metric of the covariance within classes (divided by n - c)."""
        if "coef" in values:
            return super().scorer_from(values, multipliers)
        directions = self.estimates_from(values, multipliers).directions
        directions = directions * np.sqrt(max(self.data.n - len(self.data.grouping[1]), 1))
        return NearestScorer(directions, self.centred.origin, self.centred.means @ directions.T)

    def intercept_from(self, values: Values, multipliers: Values) -> float:
        """Minus the threshold along the direction, by the rule of the model; 0 for several classes."""
        if "coef" not in values:
            return 0.0
        projected, cut = as_rows(self.data.matrix) @ values["coef"], self.parameters.get("cut")
        if cut is None:
            return -self._with_fewest_errors(projected)
        first, second = (projected[self.centred.groups == k] for k in (0, 1))
        if cut == "midpoint":
            return -float((first.mean() + second.mean()) / 2.0)
        return -_where_densities_cross(first, second)

    def _with_fewest_errors(self, projected: Array) -> float:
        """The threshold with the fewest training errors, found by trying every place between two neighbouring
        projections; the widest gap wins among equals."""
        order = np.argsort(projected, kind="stable")
        places, positive = projected[order], self.data.target[order] > 0
        # errors with the threshold before sample k: positives below it, negatives from it on
        below = np.concatenate([[0], np.cumsum(positive)])
        above = (~positive).sum() - np.concatenate([[0], np.cumsum(~positive)])
        errors = below + above
        gaps = np.concatenate([[np.inf], np.diff(places), [np.inf]])
        inside = gaps > 0
        inside[[0, -1]] = False
        if not inside.any():
            return float(places[0])
        fewest = errors[inside].min()
        k = max(np.flatnonzero(inside & (errors == fewest)), key=lambda place: gaps[place])
        return float((places[k - 1] + places[k]) / 2.0)


def _where_densities_cross(first: Array, second: Array) -> float:
    """t between the means with the same density of both classes, (t - m_1)^2/s_1 + log s_1 = (t - m_2)^2/s_2 + log s_2,
    s_k the variance of class k divided by n_k: at t = m_1 + u (m_2 - m_1), a quadratic equation in u."""
    m1, m2, s1, s2 = first.mean(), second.mean(), first.var(), second.var()
    if not (s1 > 0 and s2 > 0):
        raise NoAnswer("a class does not vary along the direction, so that it has no density: choose another cut")
    gap = m2 - m1
    a, b, c = 1.0 / s1 - 1.0 / s2, 2.0 / s2, -1.0 / s2 - np.log(s2 / s1) / gap**2
    root = np.sqrt(max(b * b - 4.0 * a * c, 0.0))
    u = -2.0 * c / (b + root)  # the root that stays where a is 0
    if not 0.0 < u < 1.0:
        raise NoAnswer(
            "the densities do not cross between the means: one class is within the other; choose another cut"
        )
    return float(m1 + u * gap)


def _refuse_equal_means(centred: CentredRows, differences: Array) -> None:
    """Refuse classes whose means differ by no more than the rounding of entries, but not where they are equal exactly:
    that the problem proves itself."""
    spread = centred.column_max()
    if np.any(differences) and np.all(np.abs(differences) <= ROUNDED_MEAN * spread):
        raise DataError(
            "the means of the classes are equal up to rounding: Fisher's discriminant has no direction. Classes that "
            "differ in their spread, not in their means, need other features, such as squares"
        )


def _direction(k: int, centred: CentredRows, differences: Rows, count: int) -> tuple[Variable, Term, Constraint]:
    """The problem of one direction: it separates one class from the first by one, and the others not at all."""
    suffix, mark = ("", "") if count == 2 else (f"_{k + 1}", f"_{{{k + 1}}}")
    name = f"coef{suffix}"
    target = np.zeros(differences.shape[0])
    target[k] = 1.0
    label = Label("", r"(\mu_2 - \mu_1)" if count == 2 else "M")
    return (
        Variable(name, centred.shape[1], rf"\beta{mark}"),
        Term(f"scatter{suffix}", {name: centred}, f"z{mark}", "samples", {name: Label("", "(x_i - m_i)")}),
        Constraint(
            f"separation{suffix}",
            {name: differences},
            rf"\nu{mark}",
            "scalar" if count == 2 else "vector",
            {name: label},
            target,
            relation="==",
            rhs_label="" if count == 2 else f"e_{{{k + 1}}}",
        ),
    )


def _independent(differences: Array) -> tuple[int, ...]:
    """Classes whose means differ from the first in independent ways: the others add no direction."""
    size = np.abs(differences).max(axis=0)
    R, order = dgeqp3((differences / np.where(size > 0, size, 1.0)).T)[:2]
    diagonal = np.abs(R.diagonal())
    rank = max(int((diagonal > 1e-12 * diagonal.max(initial=0.0)).sum()), 1)
    return tuple(sorted((order[:rank] - 1).tolist()))


def _differences(centred: CentredRows) -> Array:
    """The means of the classes minus that of the first; where rounding is as large as the result, from exact sums."""
    out = centred.means[1:] - centred.means[0]
    size = np.abs(centred.means).max(axis=0, initial=0.0)
    unsure = np.flatnonzero(np.any(np.abs(out) <= 1e-9 * size, axis=0) & (size > 0))
    if unsure.size:
        some = centred.base.select_columns(unsure)
        sizes = np.bincount(centred.groups)
        sums = [exact_sum(some, (centred.groups == k).astype(float)) for k in range(sizes.size)]
        first, *others = ([total / size for total in row] for row, size in zip(sums, sizes.tolist(), strict=True))
        for row, mean in zip(out, others, strict=True):
            near = np.abs(row[unsure]) <= 1e-9 * size[unsure]
            exactly = np.array([float(value - start) for value, start in zip(mean, first, strict=True)])
            row[unsure[near]] = exactly[near]
    return out


def _difference_error(centred: CentredRows) -> Array:
    """How far a difference of means may be off, by column: both means, the entries as they were given, and the
    subtraction."""
    given = centred.base.rounding * (np.abs(centred.origin) + centred.span())
    return np.asarray(
        2.0 * centred.mean_error() + 2.04 * UNIT_ROUNDOFF * (given + 2.0 * np.abs(centred.means).max(axis=0))
    )


def _exact_differences(centred: CentredRows, chosen: tuple[int, ...]) -> list[list[Fraction]]:
    """The means of the chosen classes minus that of the first, without rounding."""
    means = centred.exact_means
    return [[value - first for value, first in zip(means[k + 1], means[0], strict=True)] for k in chosen]


def _single_feature_objective(centred: CentredRows, differences: Array) -> float:
    """The least objective that one feature alone reaches for one of the differences, of those that vary within the
    classes: what gives the problem its size where several together reach 0."""
    scatter = abs(centred).T @ np.ones(centred.shape[0])  # sums of absolute deviations; the squares are close enough
    squares, apart = scatter * centred.column_max(), differences**2
    varies = (squares > 1e-20 * apart) & (apart > 0)
    with np.errstate(all="ignore"):
        least = np.where(varies, squares / apart, np.inf).min(axis=1)
    if all_finite(least):
        return 0.5 * float(least.min())
    return float("inf") if varies.any(axis=1).all() else 0.0  # squares that overflow, or nothing varies


# ---- the discriminant directions ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Discriminants:
    """Directions v_1, v_2, ... (rows) in falling order of their Rayleigh quotients v'S_B v / v'S_W v (``ratios``),
    scaled to v'S_W v = 1: the solutions of S_B v = ratio S_W v (ESL 4.3.3).

    The proof that no direction has a larger quotient is a matrix inequality, ratio_1 S_W - S_B >= 0: its smallest
    eigenvalue, in the metric of S_W and relative to ratio_1, is ``inequality`` (0 at best, never above what rounding
    leaves). ``residual`` is the largest relative entry of S_B v - ratio S_W v. All other eigenvalues are 0, because S_B
    has no larger rank, so that the first r directions together are the best r.
    """

    directions: Array
    ratios: Array
    residual: float
    inequality: float

    def __str__(self) -> str:
        verdict = "proved" if self.holds() else "NOT proved"
        return (
            f"That no direction separates the classes better is {verdict}: ratio_1 S_W - S_B >= 0 holds to "
            f"{max(-self.inequality, 0.0):.0e},\nS_B v = ratio S_W v to {self.residual:.0e} (relative)."
        )

    def holds(self, tol: float = 1e-8) -> bool:
        """Whether the directions are proved best, to a relative tolerance."""
        return self.residual <= tol and self.inequality >= -tol


def discriminants(centred: CentredRows, counts: Array, basis: Array) -> Discriminants:
    """The eigenvectors of S_B v = ratio S_W v, which lie in the span of ``basis`` (rows): S_W^-1 times differences of
    means. S_W and S_B are only ever applied."""
    means = centred.means - counts @ centred.means / counts.sum()
    between = (means @ basis.T).T @ (counts[:, None] * (means @ basis.T))
    triangle, reach = np.zeros((0, len(basis))), np.zeros(len(basis))
    for _, block in centred.in_blocks():
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, block @ basis.T]), mode="r"), dtype=np.float64)
        reach = np.maximum(reach, (np.abs(block) @ np.abs(basis).T).max(axis=0, initial=0.0))
    factor = np.asarray(triangle, dtype=np.float64).T  # factor factor' = basis S_W basis'
    reach *= np.sqrt(centred.shape[0])
    if np.any(np.abs(np.diag(factor)) <= 1e-12 * reach):  # what nothing but rounding leaves of sums that cancel
        raise NoAnswer("a direction has no scatter within classes: its Rayleigh quotient has no bound")
    whitened = np.linalg.solve(factor, np.linalg.solve(factor, between).T)
    ratios, vectors = np.linalg.eigh((whitened + whitened.T) / 2)
    ratios, vectors = ratios[::-1], vectors[:, ::-1]
    directions = np.linalg.solve(factor.T, vectors).T @ basis
    leading = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(len(directions)), leading])[:, None]
    return Discriminants(directions, ratios, *_proof(centred, counts, means, directions, ratios))


def _proof(centred: CentredRows, counts: Array, means: Array, directions: Array, ratios: Array) -> tuple[float, float]:
    """The eigenvectors' residual, and the smallest eigenvalue of S_W - S_B / ratio_1 in the metric of S_W."""
    pulled = (means.T @ (counts[:, None] * (means @ directions.T))).T  # S_B v
    size = np.abs(means).T @ (counts[:, None] * np.abs(means @ directions.T))
    pushed = np.zeros(directions.shape)  # ratio S_W v
    for _, block in centred.in_blocks():
        moved = block @ directions.T
        pushed += (block.T @ moved * ratios).T
        size += np.abs(block).T @ np.abs(moved) * ratios
    residual = float((np.abs(pulled - pushed) / np.where(size.T > 0, size.T, 1.0)).max(initial=0.0))
    largest = _largest_quotient(centred, np.sqrt(counts)[:, None] * means)
    return residual, float(1.0 - largest / ratios[0])


def _largest_quotient(centred: CentredRows, between: Array) -> float:
    """The largest v'S_B v / v'S_W v over all directions v, S_B = between' ``between``: the largest eigenvalue of
    between S_W^-1 between'. S_W^-1 comes from one factorization of S_W, refined on the rows; where columns depend on
    each other too nearly for that, from a triangular factor of the rows."""
    target = between.T
    columns = ColumnBasis.of_gram(centred.gram(np.ones(centred.shape[0])))
    if columns is not None and columns.others.size:
        columns = columns.on_rows([centred])
        flat = np.zeros((0, 0)) if columns is None else columns.null_vectors
        if columns is not None and np.any(np.abs(between @ flat) > 1e-12 * (np.abs(between) @ np.abs(flat))):
            return np.inf  # the means differ where no sample varies
    if columns is not None and columns.condition <= MAX_GRAM_CONDITION:
        inner = columns.solve_spread(target)
        for _ in range(2):
            inner = inner + columns.solve_spread(target - centred.sweep(inner, lambda _, u: u))
        quotients = np.linalg.eigvalsh(between @ inner)
        return float(quotients[-1])
    scale = centred.column_max()
    scale = np.where(scale > 0, scale, 1.0)
    triangle = triangular_factor([centred], scale)
    spread = np.linalg.lstsq(triangle.T, target / scale[:, None], rcond=None)[0]
    return float(np.linalg.svd(spread, compute_uv=False)[0] ** 2)
