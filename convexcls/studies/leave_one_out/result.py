"""What leave-one-out cross-validation found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Mask
from convexcls.in_notebooks import InNotebooks
from convexcls.models import Model
from convexcls.solution import Solution
from convexcls.wording import count, listed

Progress = Callable[[int, int], None]


_HOW = {
    "hat": "by the hat matrix, exact",
    "newton": "by Newton's method from the full fit, each to the end",
    "one-step": "by one Newton step from the full fit",
    "refit": "by refitting, each fit proved",
}
MAX_REASONS = 5


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a method gives: the score of each sample by the fit without it (a row of scores for several classes), NaN
    where there is none; why there is none, by row; and, where it was worked out, how far the scores may be off."""

    method: str
    scores: Array = field(repr=False)
    undetermined: Mapping[int, str] = field(default_factory=dict, repr=False)
    bounds: Array | None = field(default=None, repr=False)
    #: How many samples needed a fit of their own.
    fits: int = field(default=0, repr=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class LeaveOneOut(Outcome, InNotebooks):
    """Every sample as the fit to all others sees it, by ``method``: hat, newton, one-step or refit.

    Arrays have one entry a sample, NaN (of ``predictions`` None) where the fit without it does not determine one:
    ``undetermined`` says why, by row. Totals and means are over the others, weighted by the sample weights. ``bounds``
    says how far each score may be off its exact value at most; it is None where the method makes no statement beyond
    its certificates and rounding.

    ``problem`` is the model with all samples, ``full`` its solution.

    >>> import convexcls as cc
    >>> left_out = cc.leave_one_out(cc.LeastSquares([[0], [1], [2], [3]], [0, 2, 1, 3], coding="real"))
    >>> left_out.method, left_out.scores.round(6).tolist()
    ('hat', [1.0, 0.714286, 2.285714, 2.0])
    """

    problem: Model
    full: Solution = field(repr=False)
    seconds: float = 0.0

    def __repr__(self) -> str:
        wrong = "" if self.errors is None else f", {count(int(self.error_count or 0), 'error')}"
        return f"<LeaveOneOut of {self.problem.name} by {self.method}: {count(self.problem.data.n, 'sample')}{wrong}>"

    @cached_property
    def determined(self) -> Mask:
        """Which samples have a prediction."""
        out = np.ones(self.problem.data.n, dtype=bool)
        out[list(self.undetermined)] = False
        return out

    @cached_property
    def predictions(self) -> NDArray[Any]:
        """The label predicted for each sample; for real targets the value."""
        labels = self.problem.data.labels
        if labels is None:
            return self.scores
        out = np.empty(self.problem.data.n, dtype=object)
        for row in np.flatnonzero(self.determined):
            score = self.scores[row]
            out[row] = labels[int(score > 0) if np.ndim(score) == 0 else int(np.argmax(score))]
        return out

    @cached_property
    def errors(self) -> Array | None:
        """1 where the prediction is wrong, 0 where it is right; None for real targets."""
        data = self.problem.data
        if data.labels is None or data.classes is None:
            return None
        right = np.array([data.labels[k] for k in data.classes], dtype=object)
        return np.where(self.determined, (self.predictions != right).astype(float), np.nan)

    @cached_property
    def squared_errors(self) -> Array | None:
        """(t_i - f(x_i))^2 for models that fit targets; None for others. Their sum is known as PRESS."""
        coding = self.problem.parameters.get("coding")
        if coding is None or self.scores.ndim != 1:
            return None
        fitted = self.scores + self.problem.threshold
        return np.asarray(np.square(self.problem.data.coded(coding) - fitted))

    @cached_property
    def log_likelihoods(self) -> Array | None:
        """log P(y_i | x_i) by the fit without sample i; None for models without probabilities."""
        data, safe = self.problem.data, np.nan_to_num(self.scores)
        probabilities = self.problem.probabilities(safe)
        if probabilities is None or data.classes is None:
            return None
        if data.signs is not None and self.scores.ndim == 1:  # log-odds: no digit is lost to a small probability
            return np.where(self.determined, -np.logaddexp(0.0, -data.signs * safe), np.nan)
        with np.errstate(divide="ignore"):
            logs = np.log(probabilities[np.arange(data.n), data.classes])
        return np.where(self.determined, logs, np.nan)

    @property
    def error_count(self) -> int | None:
        """How many samples are predicted wrongly; None for real targets."""
        return None if self.errors is None else int(np.nansum(self.errors))

    @property
    def mean_error(self) -> float | None:
        """The share of wrong predictions."""
        return self._mean(self.errors)

    @property
    def total_squared_error(self) -> float | None:
        """The sum of squared errors."""
        return self._total(self.squared_errors)

    @property
    def mean_squared_error(self) -> float | None:
        """The mean squared error."""
        return self._mean(self.squared_errors)

    @property
    def total_log_likelihood(self) -> float | None:
        """The sum of the log-likelihoods."""
        return self._total(self.log_likelihoods)

    @property
    def mean_log_likelihood(self) -> float | None:
        """The mean log-likelihood of a sample."""
        return self._mean(self.log_likelihoods)

    @property
    def in_doubt(self) -> int:
        """How many predictions might be others, the scores being known only within their ``bounds``."""
        if self.bounds is None or self.scores.ndim != 1 or self.problem.data.labels is None:
            return 0
        return int(np.sum(np.abs(self.scores[self.determined]) <= self.bounds[self.determined]))

    def _total(self, values: Array | None) -> float | None:
        if values is None:
            return None
        counts = self.determined & (self.problem.data.weights > 0)
        return float(self.problem.data.weights[counts] @ values[counts])

    def _mean(self, values: Array | None) -> float | None:
        weight = float(self.problem.data.weights[self.determined].sum())
        total = self._total(values)
        return None if total is None else total / weight if weight else float("nan")

    def __str__(self) -> str:
        lines = [f"Leave-one-out of {self.problem.name}: {self.problem.data.n} samples, {how(self)}."]
        return "\n".join([*lines, *(f"  {name:<16}{value}" for name, value in facts(self))])


# ---- in words -------------------------------------------------------------------------------------------


def how(result: LeaveOneOut) -> str:
    """The method in words."""
    return _HOW[result.method]


def facts(result: LeaveOneOut) -> list[tuple[str, str]]:
    """Names and values, one pair a line."""
    out = []
    n, weighted = int(result.determined.sum()), ", weighted" if result.problem.data.weighted else ""
    if result.errors is not None and n:
        share = f" ({100 * (result.mean_error or 0.0):.3g}%{weighted})"
        out.append(("errors", f"{result.error_count} of {n}{share}{_training(result)}"))
    for name, total, mean in (
        ("log-likelihood", result.total_log_likelihood, result.mean_log_likelihood),
        ("squared error", result.total_squared_error, result.mean_squared_error),
    ):
        if total is not None and mean is not None and n:
            out.append((name, f"{total:.10g}, {mean:.6g} a sample{weighted}"))
    if result.bounds is not None and n:
        out.append(("stated error", _stated(result)))
    if result.undetermined:
        left = ", not counted above" if n else ""
        out.append(("no prediction", f"{len(result.undetermined)} of {result.problem.data.n}{left}"))
        out += [("", reason) for reason in reasons(result)]
    return out


def _training(result: LeaveOneOut) -> str:
    data, full = result.problem.data, result.full
    if full.status != "optimal" or data.labels is None or data.classes is None:
        return ""
    right = np.array(data.labels)[data.classes]
    return f"; of the fit to all samples {int(np.sum(full.predict(data.samples) != right))}"


def _stated(result: LeaveOneOut) -> str:
    assert result.bounds is not None
    worst = float(np.nanmax(result.bounds))
    text = f"every score is within {worst:.1e} of the exact one (proved, up to rounding)"
    if result.log_likelihoods is not None:
        total = float(np.nansum(result.problem.data.weights * result.bounds))
        text += f", the log-likelihood within {total:.1e}"
    if result.in_doubt:
        text += f"; {result.in_doubt} prediction(s) might be the other label"
    return text


def reasons(result: LeaveOneOut) -> list[str]:
    """Why samples have no prediction, the frequent reasons first, with their rows."""
    counts = Counter(result.undetermined.values())
    out = []
    for reason, times in counts.most_common(MAX_REASONS):
        rows = [row for row, r in sorted(result.undetermined.items()) if r == reason]
        out.append(f"{'row' if times == 1 else 'rows'} {listed(rows, 10)}: {reason}")
    return out
