"""Softmax regression: logistic regression for several classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.data import check_data
from convexcls.losses import SoftmaxMargins
from convexcls.models.base import Model, check_nonnegative, class_probabilities, score_rows
from convexcls.problem import UNIT_SHARE, Label, Term, Variable
from convexcls.problem.as_classifier import Values
from convexcls.proofs.separability import SeparatingLikelihood, separation_rows
from convexcls.rows import ClassMarginRows, PickedRows, Rows

#: How the rows of the margins are written: coefficient, and coefficient times unknown.
LABELS = {
    "coef": Label("", r"(e_{y_i} - e_k) \otimes x_i", product=r"(%_{y_i} - %_k)^{\top} x_i"),
    "intercept": Label("", r"(e_{y_i} - e_k)", product=r"%_{y_i} - %_k"),
}


class SoftmaxMLE(Model):
    """Softmax regression for K classes (ESL 4.17, 4.19 and 4.36), as minus the log-likelihood of the scores
    z_k(x) = coef_k'x + intercept_k. In the margins m_ik = z_{y_i}(x_i) - z_k(x_i) of the own class over the others:

        minimise    sum_i log(1 + sum_{k != y_i} exp(-m_ik)) + l2/2 sum_k ‖coef_k‖^2

    which is -sum_i log softmax(z(x_i))_{y_i}. The intercepts are never penalised. The dual maximises the entropies of
    the probabilities (1 - sum_k lambda_ik, lambda_ik): at the optimum lambda_ik is the probability of class k for
    sample i.

    A shift of all scores by the same function changes nothing: coef and intercept are given with sum zero over the
    classes, to rounding (with a penalty the coefficients come out so by themselves; the intercepts, not penalised, are
    put so before anything is proved of them).
    With two classes coef_2 - coef_1 is the coef of ``LogisticMLE`` with half the penalty. Without a penalty the
    minimum is attained iff no direction separates: none along which no margin of any sample shrinks, and some grow.

    ``X`` has one sample a row, ``y`` their labels, two or more. ``intercept=False`` leaves the intercept out.
    ``sample_weight`` multiplies the losses.

    >>> import convexcls as cc
    >>> X, y = [[0]] * 4 + [[1]] * 4, ["a", "a", "b", "c", "a", "b", "c", "c"]
    >>> s = cc.SoftmaxMLE(X, y).solve()
    >>> s.status, s.predict_proba([[0], [1]]).round(6).tolist()  # the shares of the classes
    ('optimal', [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    >>> bool(abs(s.coef.sum()) < 1e-12)
    True
    """

    kind = "softmax"

    def __init__(self, X: Any, y: Any, *, l2: float = 0.0, intercept: bool = True, sample_weight: Any = None) -> None:
        l2 = check_nonnegative("l2", l2)
        data = check_data(X, y, sample_weight, several=True)
        classes, labels = data.grouping
        count = len(labels)
        scores, _ = score_rows(data, intercept)
        rows: dict[str, Rows] = {v: ClassMarginRows(r, classes, count) for v, r in scores.items()}
        variables = [Variable("coef", count * data.d, r"\beta")]
        if intercept:
            variables.append(Variable("intercept", count, r"b"))
        written, loss = {v: LABELS[v] for v in rows}, SoftmaxMargins(count - 1)
        term = Term("likelihood", rows, r"\lambda", "margins", written, loss, weights=data.given_weights)
        free = ["intercept"] * intercept if l2 else [v.name for v in variables]
        shown = "coefficients and intercepts" if not l2 else "intercepts"
        super().__init__(
            data=data,
            parameters={"l2": l2, "intercept": intercept},
            name="softmax regression" + (" with ridge penalty" if l2 else ""),
            variables=variables,
            quadratic={"coef": l2} if l2 else {},
            terms=[term],
            unit=UNIT_SHARE * float(data.weights.sum()) * np.log(count),
            gauge={v.name: _sums(v.size, count) for v in variables if v.name in free},
            notes=(f"the scores of all classes may be shifted together: {shown} of a solution have sum zero",)
            if free
            else (),
        )

    def separating(self) -> SeparatingLikelihood | None:
        """Without a penalty attained iff the classes overlap: no direction moves all rows to one side."""
        if self.parameters["l2"]:
            return None
        rows = separation_rows(self.data, self.parameters["intercept"], several=True)
        return SeparatingLikelihood(self, rows, classes=self._count)

    def coef_from(self, values: Values, multipliers: Values) -> Array:
        return np.asarray(values["coef"].reshape(self._count, -1))

    def intercept_from(self, values: Values, multipliers: Values) -> Array:
        return np.asarray(values["intercept"]) if "intercept" in values else np.zeros(self._count)

    def probabilities(self, scores: Array) -> Array:
        return class_probabilities(scores)

    @property
    def _count(self) -> int:
        return len(self.data.grouping[1])


def _sums(size: int, count: int) -> Rows:
    """The sum over classes, for each feature: directions along which all classes move alike."""
    return PickedRows(np.ones(size), np.tile(np.arange(size // count), count), size // count).T
