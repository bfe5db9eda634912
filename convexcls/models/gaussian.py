"""Gaussian classes by maximum likelihood: linear and quadratic discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from convexcls.arrays import Array
from convexcls.data import Data, check_data
from convexcls.models.base import Model, check_choice, class_probabilities
from convexcls.models.natural_parameters import NaturalParameters
from convexcls.models.scorers import QuadraticScorer
from convexcls.problem import NoAnswer
from convexcls.problem.as_classifier import Values
from convexcls.rows import as_rows
from convexcls.wording import listed

if TYPE_CHECKING:
    from convexcls.proofs.enclosure.moments import Moments

#: So many features are named.
MAX_NAMED = 20


@dataclass(frozen=True, eq=False)
class GaussianEstimates:
    """Priors and means by class, with the covariance all classes share or one by class (K x d x d)."""

    priors: Array
    means: Array
    covariance: Array
    divisor: str


class GaussianMLE(Model):
    """Gaussian classes, x | k ~ N(mu_k, Sigma), by maximum likelihood (ESL 4.3, LDA; with one Sigma_k by class QDA).
    Minus the log-likelihood of the samples given their classes,

        1/2 sum_i (x_i - mu_{y_i})' Lambda (x_i - mu_{y_i}) - n/2 log det Lambda + n d/2 log 2 pi,    Lambda = Sigma^-1

    is not convex in mu, but it is in the natural parameters Lambda and eta_k = Lambda mu_k. With z_i = (x_i, e_{y_i}),
    the sample and the indicator of its class, it is, up to a constant, the minimum over T of

        minimise    1/2 sum_i z_i' Omega z_i - n/2 log det Omega,         Omega = ( Lambda  -eta )
                                                                                  ( -eta'    T   )

    whose KKT condition is the matching of moments: Omega^-1 = 1/n sum_i z_i z_i'. Features are measured from their mean
    over all samples. The covariance is divided by n; ``unbiased=True`` divides by n - K (by n_k - 1 where
    ``covariance="by-class"``), which is the same problem with that number in front of the determinant. Priors are the
    shares of the classes. No minimum exists where some combination of features does not vary within the classes.

    ``X`` has one sample a row, ``y`` their labels, two or more. ``sample_weight`` counts a sample so many times.

    >>> import convexcls as cc
    >>> X = [[1, 1], [3, 2], [2, 3], [7, 5], [9, 6], [8, 7]]
    >>> s = cc.GaussianMLE(X, ["a", "a", "a", "b", "b", "b"]).solve()
    >>> s.status, s.estimates.means.round(6).tolist()
    ('optimal', [[2.0, 2.0], [8.0, 6.0]])
    >>> (6 * s.estimates.covariance).round(6).tolist(), s.estimates.priors.tolist()
    ([[4.0, 2.0], [2.0, 4.0]], [0.5, 0.5])
    """

    kind = "gaussian"

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        covariance: Literal["shared", "by-class"] = "shared",
        unbiased: bool = False,
        sample_weight: Any = None,
    ) -> None:
        check_choice("covariance", covariance, ("shared", "by-class"))
        check_choice("unbiased", unbiased, (True, False))
        data = check_data(X, y, sample_weight, several=True)
        classes, labels = data.grouping
        shared = covariance == "shared"
        centre = as_rows(data.matrix).T @ data.weights / data.weights.sum()
        groups = [np.arange(data.n)] if shared else [np.flatnonzero(classes == k) for k in range(len(labels))]
        parts = [
            NaturalParameters(data, centre, rows, range(len(labels)) if shared else range(k, k + 1), unbiased, shared)
            for k, rows in enumerate(groups)
        ]
        super().__init__(
            data=data,
            parameters={"covariance": covariance, "unbiased": unbiased},
            name="Gaussian classes" + ("" if shared else ", each with its own covariance"),
            variables=[v for part in parts for v in part.variables],
            linear={name: q for part in parts for name, q in part.costs.items()},
            linear_labels={name: label for part in parts for name, label in part.cost_labels.items()},
            terms=[part.term for part in parts],
            constant=sum(part.constant for part in parts),
            unit=0.5 * float(data.weights.sum()) * data.d,
            notes=(_divisor_note(data, shared, unbiased),),
            attributes={"centre": centre, "parts": tuple(parts)},
        )

    centre: Array
    parts: tuple[NaturalParameters, ...]

    def moments_as_given(self) -> list[Moments]:
        """What the optimum follows from, of each part, without rounding."""
        return [part.moments_as_given() for part in self.parts]

    # ---- reading a solution -----------------------------------------------------------------------

    def estimates_from(self, values: Values, multipliers: Values) -> GaussianEstimates:
        """Priors, means and covariances, from the natural parameters."""
        covariances = [np.linalg.inv(_definite(part.precision(values))) for part in self.parts]
        means = [part.natural_means(values) @ c + self.centre for part, c in zip(self.parts, covariances, strict=True)]
        covariance = np.array(covariances, dtype=np.float64)
        shared = covariance[0] if len(self.parts) == 1 else covariance
        return GaussianEstimates(self._priors(), np.vstack(means), shared, self.notes[0])

    def _priors(self) -> Array:
        counts = np.bincount(self.data.grouping[0], weights=self.data.weights)
        return np.asarray(counts / counts.sum())

    def coef_from(self, values: Values, multipliers: Values) -> Array:
        """The coefficients of the discriminants; of two classes, of the log-odds of the second."""
        if len(self.parts) > 1:
            raise NoAnswer("with a covariance for each class the discriminants are quadratic: see .estimates")
        eta = self.parts[0].natural_means(values)
        return eta[1] - eta[0] if len(eta) == 2 else eta

    def intercept_from(self, values: Values, multipliers: Values) -> float | Array:
        if len(self.parts) > 1:
            raise NoAnswer("with a covariance for each class the discriminants are quadratic: see .estimates")
        at_zero = self._discriminants(values, np.zeros((1, self.data.d)))[0]
        return float(at_zero[1] - at_zero[0]) if at_zero.size == 2 else np.asarray(at_zero)

    def scorer_from(self, values: Values, multipliers: Values) -> QuadraticScorer:
        """log prior_k - 1/2 (x - mu_k)' Lambda (x - mu_k) + 1/2 log det Lambda, without what all classes share; of two
        classes, the log-odds of the second."""
        return self._scorer(values)

    def _scorer(self, values: Values) -> QuadraticScorer:
        etas, constants, sizes, precisions = [], [], [], []
        for part in self.parts:
            precision, eta = _definite(part.precision(values)), part.natural_means(values)
            constant = -0.5 * np.einsum("kj,jk->k", eta, np.linalg.solve(precision, eta.T))
            size = np.abs(constant)
            if len(self.parts) > 1:
                half = 0.5 * np.linalg.slogdet(precision)[1]
                constant, size = constant + half, size + np.abs(half)
                precisions.append(precision)
            etas.append(eta)
            constants.append(constant)
            sizes.append(size)
        priors = np.log(self._priors())
        total, size = np.concatenate(constants) + priors, np.concatenate(sizes) + np.abs(priors)
        d = self.data.d
        return QuadraticScorer(self.centre, np.vstack(etas), total, size, np.array(precisions).reshape(-1, d, d))

    def _discriminants(self, values: Values, matrix: Any) -> Array:
        return self._scorer(values).by_class(matrix)

    def quadratic_from(self, values: Values) -> tuple[Array, Array, float] | None:
        """The log-odds of two classes as x'Ax + g'x + k; None for several classes."""
        if len(self._priors()) != 2:
            return None
        zero, unit = np.zeros((1, self.data.d)), np.eye(self.data.d)
        first, last = self.parts[0].precision(values), self.parts[-1].precision(values)
        A = 0.5 * (first - last)

        def odds(points: Array) -> Array:
            scores = self._discriminants(values, points)
            return np.asarray(scores[:, 1] - scores[:, 0])

        k = float(odds(zero)[0])
        return A, (odds(unit) - odds(-unit)) / 2, k

    def probabilities(self, scores: Array) -> Array:
        return class_probabilities(scores)

    # ---- where no minimum exists --------------------------------------------------------------------

    @property
    def unattained_words(self) -> str:  # type: ignore[override]
        """Why there is no maximum, and what to do about it."""
        said = "Some combination of the features does not vary within a class, so its variance is estimated as 0."
        known = [part.columns for part in self.parts]
        left_out = sorted({int(j) for columns in known if columns is not None for j in columns.others})
        if not left_out or any(columns is None for columns in known):
            return f"{said} Leave such features out."
        names = listed((self.data.features[j] for j in left_out), MAX_NAMED)
        return f"{said} On the features without {names} the likelihood has its maximum: leave these out."

    def is_constant_along(self, direction: Array) -> bool:
        """Whether the direction adds vv' to Omega with v a combination that is 0 at all samples, without rounding."""
        values = self.split(direction)
        return all(part.is_constant_along(part.step_of(values)) for part in self.parts)

    def candidate_directions(self) -> list[Array]:
        """Precisions that may grow for ever: along a combination of features that is constant within the classes."""
        out = []
        for part in self.parts:
            null = part.constant_combination()
            if null is not None:
                direction = np.zeros(self.size)
                for name, value in part.outer_square(null).items():
                    direction[self.layout[name]] = value
                out.append(direction)
        return out


def _definite(precision: Array) -> Array:
    """The precision; ``NoAnswer`` where rounding it to doubles leaves nothing of the variance of some combination of
    features: where a pivot of the matrix, its diagonal brought to one, is of the order of rounding."""
    with np.errstate(all="ignore"):
        size = np.sqrt(np.diag(precision))
        try:
            pivots = np.diag(np.linalg.cholesky(precision / size[:, None] / size)) ** 2
        except np.linalg.LinAlgError:
            pivots = np.zeros(1)
    if not pivots.min() > size.size * np.finfo(float).eps:
        raise NoAnswer(
            "the precision matrix, rounded to doubles, is singular: some combination of the features hardly varies "
            "within the classes; leave one of them out"
        )
    return precision


def _divisor_note(data: Data, shared: bool, unbiased: bool) -> str:
    what = "the covariance is" if shared else "covariances are"
    if not unbiased:
        return (
            f"{what} divided by {'n' if shared else 'n_k'} (maximum likelihood); unbiased=True corrects for the means"
        )
    return f"{what} divided by " + (f"n - K = n - {len(data.grouping[1])}" if shared else "n_k - 1") + " (unbiased)"
