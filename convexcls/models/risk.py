"""Sums of losses: how a loss enters the one form, and the classifier of the user's own that follows, ``EmpiricalRisk``.

A smooth loss is a term; a loss with kinks, max_k (a_k u + b_k), becomes a slack a sample,

    minimise sum_i w_i slack_i^power   subject to   slack_i >= a_k u_i + b_k   for every piece k,

so that the KKT conditions stay one formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.data import Data, check_data
from convexcls.losses import BY_NAME, HalfSquare, Loss
from convexcls.models.base import Model, check_choice, check_nonnegative, margin_rows, score_rows, score_variables
from convexcls.problem import ROUNDING_ROOM, Constraint, Label, Term, Variable
from convexcls.rows import DiagonalRows, Rows


class EmpiricalRisk(Model):
    """Regularized empirical risk:

        minimise    sum_i loss(y_i (coef'x_i + intercept)) + l2/2 ‖coef‖^2 + l1 ‖coef‖_1
        subject to  the constraints given, on ``coef`` and ``intercept``

    ``loss`` is a name (hinge, squared_hinge, logistic, squared, absolute, perceptron, exponential) or a
    ``Loss``; ``constraints`` is a list of ``Constraint`` blocks.

    ``X`` has one sample a row, ``y`` their two labels in any form. ``intercept=False`` leaves the intercept out.
    ``sample_weight`` multiplies the losses.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> risk = cc.EmpiricalRisk([[1], [1], [1], [1]], [1, 1, 1, 0], loss="exponential", intercept=False)
    >>> s = risk.solve()  # of 3 exp(-b) + exp(b) the minimum is at b = log(3)/2
    >>> s.status, round(float(np.exp(2 * s.coef[0])), 6), round(s.objective**2, 6)
    ('optimal', 3.0, 12.0)
    """

    kind = "empirical-risk"

    loss: Loss
    own_constraints: tuple[Constraint, ...]

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        loss: str | Loss = "logistic",
        l2: float = 0.0,
        l1: float = 0.0,
        constraints: Sequence[Constraint] = (),
        intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        if isinstance(loss, str):
            check_choice("loss", loss, tuple(BY_NAME))
            loss = BY_NAME[loss]
        if not isinstance(loss, Loss):
            raise ValueError(f"loss is {loss!r}: give a Loss or one of the names {', '.join(BY_NAME)}")
        if isinstance(constraints, Constraint):
            constraints = [constraints]
        l2, l1 = check_nonnegative("l2", l2), check_nonnegative("l1", l1)
        data = check_data(X, y, sample_weight)
        blocks = risk_blocks(loss, data, intercept, data.weights)
        blocks.setdefault("quadratic", {}).update({"coef": l2} if l2 else {})
        blocks["constraints"] = [*blocks.get("constraints", []), *constraints]
        if l1:
            _add_l1(blocks, data.d, l1)
        super().__init__(
            data=data,
            parameters={"loss": loss.name, "l2": l2, "l1": l1, "intercept": intercept},
            attributes={"loss": loss, "own_constraints": tuple(constraints)},
            name=f"empirical {loss.name} risk",
            **blocks,
        )

    def declared_with(self) -> dict[str, Any]:
        return {**self.parameters, "loss": self.loss, "constraints": self.own_constraints}


def _add_l1(blocks: dict[str, Any], d: int, l1: float) -> None:
    """l1 ‖coef‖_1 as l1 sum_j size_j with -size_j <= coef_j <= size_j."""
    blocks["variables"].append(Variable("size", d, r"\eta"))
    blocks.setdefault("linear", {})["size"] = l1
    for name, sign, symbol in (("size_above", 1.0, r"\tau^+"), ("size_below", -1.0, r"\tau^-")):
        entries = {"coef": DiagonalRows.identity(d, sign), "size": DiagonalRows.identity(d, -1.0)}
        blocks["constraints"].append(Constraint(name, entries, symbol, "vector", unit=1.0))


def risk_blocks(
    loss: Loss,
    data: Data,
    intercept: bool,
    weights: Array,
    *,
    target: NDArray[Any] | None = None,
    name: str = "margin",
    symbol: str = r"\alpha",
    unit: float = 0.0,
) -> dict[str, Any]:
    """The parts of the form that state sum_i weights_i loss(u_i) of the margins u_i = y_i f(x_i) or, where there is a
    target, of the residuals u_i = f(x_i) - t_i: keyword arguments for ``Model``, with the variables of f and the
    slack, if there is one."""
    if target is None:
        u = _Arguments(*margin_rows(data, intercept), np.zeros(data.n))
    else:
        u = _Arguments(*score_rows(data, intercept), -target, "t_i")
    scores = score_variables(data, intercept)
    if not loss.smooth:
        blocks = _slack_blocks(loss, u, weights, name, symbol, unit)
        return {**blocks, "variables": [*scores, *blocks["variables"]]}
    scale, offset = 1.0, u.offset
    if loss.half_square is not None:
        scale, shift = loss.half_square
        loss, offset = HalfSquare(), _line(1.0, shift, offset)
    term = Term(name, u.rows, symbol, "samples", u.labels, loss, offset, scale * weights, u.offset_label)
    return {"variables": scores, "terms": [term], "unit": _unit(term)}


@dataclass(frozen=True, eq=False)
class _Arguments:
    """What the losses are of: u = rows x + offset, with how both are written."""

    rows: Mapping[str, Rows]
    labels: Mapping[str, Label]
    offset: NDArray[Any]
    offset_label: str = ""


def _line(a: float, b: float, offset: NDArray[Any]) -> NDArray[Any]:
    """``a offset + b``, without rounding where the offset is of rationals."""
    if offset.dtype == object:
        return np.array([Fraction(a) * value + Fraction(b) for value in offset], dtype=object)
    return a * offset + b


def _unit(term: Term) -> float:
    """What counts as one: a fraction of the objective at x = 0, none where that overflows."""
    alike = term.offset.size and np.all(term.offset == term.offset[0])
    with np.errstate(over="ignore"):
        values = term.loss.value(term.offset[: term.loss.width] if alike else term.offset)
        unit = ROUNDING_ROOM * float(np.sum(term.weights * values))
    return unit if np.isfinite(unit) else 0.0


def _slack_blocks(loss: Loss, u: _Arguments, weights: Array, name: str, symbol: str, unit: float) -> dict[str, Any]:
    n = u.offset.size
    heights = [np.abs(a * u.offset.astype(float) + b).max(initial=0.0) for a, b in loss.pieces]
    unit = unit or float(max(heights)) or 1.0
    constraints = []
    for (a, b), piece_name, piece_symbol in _named_pieces(loss, name, symbol):
        entries = {v: r.scaled(a) if a != 1 else r for v, r in u.rows.items()} if a else {}
        entries["slack"] = DiagonalRows.identity(n, -1.0)
        labels = {v: label.times(a) for v, label in u.labels.items()} if a else {}
        rhs, rhs_label = _line(-a, -b, u.offset), _rhs_label(a, b, u.offset_label)
        constraints.append(
            Constraint(piece_name, entries, piece_symbol, "samples", labels, rhs, unit=unit, rhs_label=rhs_label)
        )
    cost = {"linear": {"slack": weights}} if loss.power == 1 else {"quadratic": {"slack": 2.0 * weights}}
    return {"variables": [Variable("slack", n, r"\xi", "samples")], "constraints": constraints, **cost}


def _named_pieces(loss: Loss, name: str, symbol: str) -> list[tuple[tuple[float, float], str, str]]:
    """The lines of the loss with the names and multipliers of their slack rows: the sloped ones first;
    a flat line at zero is the slack's sign."""
    sloped = [(a, b) for a, b in loss.pieces if a]
    if len(sloped) == 1:
        out = [(sloped[0], name, symbol)]
    elif len(sloped) == 2 and sloped[0][0] * sloped[1][0] < 0:
        out = [
            ((a, b), f"{name}_{'above' if a > 0 else 'below'}", symbol + ("^+" if a > 0 else "^-")) for a, b in sloped
        ]
    else:
        out = [(line, f"{name}_{k}", f"{symbol}^{{({k})}}") for k, line in enumerate(sloped, 1)]
    flat = max((b for a, b in loss.pieces if not a), default=None)
    if flat is not None:
        out.append(((0.0, flat), "slack_sign" if flat == 0 else "slack_floor", r"\mu"))
    return out


def _rhs_label(a: float, b: float, offset_label: str) -> str:
    """How -(a offset + b) is written where the offset is -t_i."""
    if not offset_label or not a or b or abs(a) != 1:
        return ""
    return offset_label if a > 0 else f"-{offset_label}"
