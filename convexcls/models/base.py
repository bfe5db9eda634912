"""What all classifiers share: checked data and parameters, the linear score f(x) = coef'x + intercept, its rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from convexcls.arrays import Array
from convexcls.data import Data, as_decimals
from convexcls.data.decimals import shortest_decimal
from convexcls.data.numbers import LEAST_NORMAL
from convexcls.models.scorers import LinearScorer, Scorer
from convexcls.pickling import frozen
from convexcls.problem import Label, Problem, Variable
from convexcls.problem.as_classifier import Values
from convexcls.rational.numbers import exactly, remembered_number
from convexcls.rows import ConstantRows, Rows, as_rows
from convexcls.wording import did_you_mean

#: More entries are not taken as decimals, one by one.
MAX_DECIMALS = 1_000_000


class KindError(ValueError):
    """A kind that another model has; the message names both."""


_KINDS: dict[str, type[Model]] = {}


class Model(Problem):
    """A classifier stated as a convex program over its training data.

    A class that writes ``kind = "..."`` in its own body registers itself under that name, for files and the command
    line; a kind that another class has is refused. A subclass that writes none is a model of its own that has no such
    name: it solves and proves, but is not written to files, for these would state its parent.
    """

    def __init_subclass__(cls, **extra: Any) -> None:
        super().__init_subclass__(**extra)
        kind = cls.__dict__.get("kind", "")
        known = _KINDS.get(kind)
        if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise KindError(
                f"the kind {kind!r} of {cls.__qualname__} is that of {known.__module__}.{known.__qualname__}: choose "
                "another name, or leave it out"
            )
        if kind:
            _KINDS[kind] = cls

    data: Data
    shown = ("kind", "data", "parameters", "notes")

    def __init__(
        self,
        *,
        data: Data,
        parameters: Mapping[str, Any],
        notes: tuple[str, ...] = (),
        attributes: Mapping[str, Any] | None = None,
        **form: Any,
    ) -> None:
        known = {"data": data, "parameters": frozen(parameters), "notes": notes}
        super().__init__(attributes={**known, **(attributes or {})}, **form)

    # ---- the same model on other samples --------------------------------------------------------------------------

    def declared_with(self) -> dict[str, Any]:
        """The arguments that declare the model again; one that keeps more than its ``parameters`` say adds it here."""
        return dict(self.parameters)

    def on(self, rows: Any) -> Self:
        """The same model declared on some of its samples, with their weights, names and basis."""
        arguments = self.declared_with()
        if self.data.weighted:
            arguments["sample_weight"] = self.data.given_weights[rows]
        declare: Any = type(self)
        return declare(self.data.samples.take(rows), self.data.given[rows], **arguments)

    def as_written(self) -> Self | None:
        """The same model on samples that are the decimals which a file has; None where no file has others than the
        doubles, or it has too many to be taken one by one."""
        data = self.data
        if not data.written or data.exact_matrix is not None or data.n * data.d > MAX_DECIMALS:
            return None
        arguments = self.declared_with()
        if data.weighted:
            arguments["sample_weight"] = data.given_weights
        reals = None if data.labels is not None else np.array([shortest_decimal(t) for t in data.target.tolist()])
        declare: Any = type(self)
        return declare(as_decimals(data.samples), data.given if reals is None else reals, **arguments)

    def holding_out(self, rows: Any) -> tuple[Self, Any]:
        """The same model on all samples but these, and these in the form in which its solution takes them."""
        return self.on(np.delete(np.arange(self.data.n), rows)), self.data.samples.take(rows)

    def remedy(self, status: str) -> str:
        """What to do where it is proved that there is no solution: a penalty, where the model has one to give."""
        if status == "unattained" and "l2" in self.parameters:
            return f"With a penalty it has one: try l2={suggested_l2(self.data):g}"
        return super().remedy(status)

    # ---- how a solution is read ------------------------------------------------------------------------------------

    def scores_from(self, values: Values, multipliers: Values, X: Any) -> Array:
        """f(x) for each row of X, above 0 for the second label; for several classes one column a class."""
        return self.scorer_from(values, multipliers).scores(self.data.lift(X))

    def scorer_from(self, values: Values, multipliers: Values) -> Scorer:
        """What works out the scores of new samples, without the problem."""
        coef = self.coef_from(values, multipliers)
        shift = np.asarray(self.intercept_from(values, multipliers) - self.threshold)
        return LinearScorer(coef, shift, self.data.labels is not None)

    def probabilities(self, scores: Array) -> Array | None:
        """The probability of each label from the scores; None where the model has none."""
        return class_probabilities(scores) if any(t.loss.name == "logistic" for t in self.terms) else None


def class_probabilities(scores: Array) -> Array:
    """The probability of each label where the scores are log-odds of the second one, or of several up to a constant."""
    from scipy.special import expit, softmax  # not at import: it costs as much as the rest

    if scores.ndim > 1:
        return np.asarray(softmax(scores, axis=1))
    return np.column_stack([expit(-scores), expit(scores)])  # both to full relative accuracy


def suggested_l2(data: Data) -> float:
    """A penalty l2 to try: that of a normal prior with which a coefficient moves the log-odds by 2.5, at one standard
    deviation, over one standard deviation of a feature (of the middle one of all features)."""
    spread = np.array([_spread(data, j) for j in range(data.d)])
    positive = spread[np.isfinite(spread) & (spread > 0)]
    return float(f"{np.median(positive) ** 2 / 2.5**2:.1g}") if positive.size else 1.0


def _spread(data: Data, j: int) -> float:
    if data.by_block is not None:
        return float(data.by_block.extent.deviation[j])
    column = data.matrix[:, [j]]
    values = np.asarray(column.toarray() if data.sparse else column, dtype=float).ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.std(values))


def negated(labels: Mapping[str, Label]) -> dict[str, Label]:
    """How the same coefficients are written with the opposite sign."""
    return {name: label.times(-1.0) for name, label in labels.items()}


def score_variables(data: Data, intercept: bool) -> list[Variable]:
    """coef and, where wanted, intercept."""
    coef = Variable("coef", data.d, r"\beta")
    return [coef, Variable("intercept", 1, r"\beta_0", "scalar")] if intercept else [coef]


def sample_rows(data: Data) -> Rows:
    """The samples as rows, which know their entries as they were given."""
    return as_rows(data.matrix, data.exact_matrix)


def score_rows(data: Data, intercept: bool) -> tuple[dict[str, Rows], dict[str, Label]]:
    """The rows of f(x_i), with how they are written."""
    if not isinstance(intercept, (bool, np.bool_)):
        raise ValueError(f"intercept is {intercept!r}: it must be True or False")
    rows: dict[str, Rows] = {"coef": sample_rows(data)}
    labels = {"coef": Label("", "x_i")}
    if intercept:
        rows["intercept"] = ConstantRows(data.n)
        labels["intercept"] = Label("", "")
    return rows, labels


def margin_rows(data: Data, intercept: bool) -> tuple[dict[str, Rows], dict[str, Label]]:
    """The rows of the margins y_i f(x_i), with how they are written."""
    rows, labels = score_rows(data, intercept)
    assert data.signs is not None
    return (
        {name: r.scaled(data.signs) for name, r in rows.items()},
        {name: Label("y_i", label.vector) for name, label in labels.items()},
    )


# ---- checks of the numbers and choices that a model is declared with ------------------------------------------------


def check_positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    number = _number(name, value)
    if not number > 0:
        raise ValueError(f"{name} is {value!r}: it must be a number above 0")
    return number


def check_nonnegative(name: str, value: Any) -> float:
    """A finite number, zero or more."""
    number = _number(name, value)
    if number < 0:
        raise ValueError(f"{name} is {value!r}: it must be a number, 0 or more")
    return number


def is_infinite(value: Any) -> bool:
    """Whether the value is the number infinity, for parameters that may be without bound."""
    return isinstance(value, (int, float)) and float(value) == math.inf


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """One of a few words."""
    if value not in choices:
        meant = did_you_mean(str(value), map(str, choices))
        raise ValueError(f"{name} is {value!r}: choose one of {', '.join(map(repr, choices))}{meant}")


def _number(name: str, value: Any) -> float:
    """The nearest double, which remembers what was given where that is another number."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}: it must be a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is {value!r}: it must be finite")
    if type(value) in (float, int) and number == value:
        return number
    exact = exactly(value)
    if exact and abs(number) < LEAST_NORMAL:
        raise ValueError(f"{name} is {value!r}: it is below the range of doubles")
    return remembered_number(exact)
