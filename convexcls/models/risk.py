"""Sums of losses: how a loss enters the one form.

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

from convexcls.data import Data, GivenCells
from convexcls.data.numbers import times
from convexcls.losses import BY_NAME, HalfSquare, Loss, ZeroOne
from convexcls.models.base import check_choice, margin_rows, score_rows, score_variables
from convexcls.problem import UNIT_SHARE, Constraint, Label, ProblemError, Term, Variable
from convexcls.rational.numbers import GivenNumber
from convexcls.rows import DiagonalRows, Rows, as_rows

#: What people call the count of mistakes.
ZERO_ONE = ("zero-one", "zero_one", "zero one", "zeroone", "0-1", "0_1", "0/1", "01", "misclassification", "errors")


def check_loss(loss: Any, choices: Sequence[str]) -> Loss:
    """The convex loss of one of these names."""
    if isinstance(loss, ZeroOne) or (isinstance(loss, str) and loss.lower() in ZERO_ONE):
        raise ProblemError(
            "the zero-one loss is not convex: it counts mistakes, is flat between its steps, and no multipliers can "
            f"prove a minimum of it. Minimise a convex loss in its place ({', '.join(choices)}); "
            "plots.MistakesDisplay (--kind mistakes) shows both along a line"
        )
    check_choice("loss", loss, choices)
    return BY_NAME[loss]


def risk_blocks(
    loss: Loss,
    data: Data,
    intercept: bool,
    weights: NDArray[Any],
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
        u = _Arguments(*margin_rows(data, intercept), data.alike(0.0))
    else:
        u = _Arguments(*score_rows(data, intercept), _negative(target), "t_i")
    scores = score_variables(data, intercept)
    if not loss.smooth:
        blocks = _slack_blocks(loss, u, weights, name, symbol, unit)
        return {**blocks, "variables": [*scores, *blocks["variables"]]}
    scale, offset = 1.0, u.offset
    if loss.half_square is not None:
        scale, shift = loss.half_square
        loss, offset = HalfSquare(), _line(1.0, shift, offset)
    term = Term(name, u.rows, symbol, "samples", u.labels, loss, offset, times(scale, weights), u.offset_label)
    return {"variables": scores, "terms": [term], "unit": _unit(term)}


@dataclass(frozen=True, eq=False)
class _Arguments:
    """What the losses are of: u = rows x + offset, with how both are written."""

    rows: Mapping[str, Rows]
    labels: Mapping[str, Label]
    offset: NDArray[Any]
    offset_label: str = ""


def _multiple(rows: Rows, factor: float) -> Rows:
    """Rows times a number, which may have been given as one that doubles round: then so are the entries."""
    if not isinstance(factor, GivenNumber):
        return rows.scaled(factor) if factor != 1 else rows
    cells = np.array([[factor.given * v for v in row] for row in rows.rational()], dtype=object)
    return as_rows(cells.astype(float), GivenCells(cells))


def _negative(target: NDArray[Any]) -> NDArray[Any]:
    """-target, of which no other copy is made."""
    out = -target
    if isinstance(out, np.ndarray):
        out.setflags(write=False)
    return out


def _line(a: float, b: float, offset: NDArray[Any]) -> NDArray[Any]:
    """``a offset + b``, without rounding where any of them is rational."""
    if type(a) is float and a == 1.0 and b == 0.0:
        return offset
    if offset.dtype == object or isinstance(a, GivenNumber) or isinstance(b, GivenNumber):
        return np.array([Fraction(a) * Fraction(value) + Fraction(b) for value in offset.tolist()], dtype=object)
    return a * offset + b


def _unit(term: Term) -> float:
    """What counts as one: a fraction of the objective at x = 0, none where that overflows."""
    alike = term.offset.size and np.all(term.offset == term.offset[0])
    with np.errstate(over="ignore"):
        if alike:
            total = float(np.sum(term.weights * term.loss.value(term.offset[: term.loss.width])))
        else:
            total = sum(float(np.sum(weights * term.loss.value(offset))) for weights, offset in term.parts())
        unit = UNIT_SHARE * total
    return unit if np.isfinite(unit) else 0.0


def _slack_blocks(
    loss: Loss, u: _Arguments, weights: NDArray[Any], name: str, symbol: str, unit: float
) -> dict[str, Any]:
    n = u.offset.size
    heights = [np.abs(a * u.offset.astype(float) + b).max(initial=0.0) for a, b in loss.pieces]
    unit = unit or float(max(heights)) or 1.0
    constraints = []
    for (a, b), piece_name, piece_symbol in _named_pieces(loss, name, symbol):
        entries = {v: _multiple(r, a) for v, r in u.rows.items()} if a else {}
        entries["slack"] = DiagonalRows.identity(n, -1.0)
        labels = {v: label.times(a) for v, label in u.labels.items()} if a else {}
        rhs, rhs_label = -_line(a, b, u.offset), _rhs_label(a, b, u.offset_label)
        constraints.append(
            Constraint(piece_name, entries, piece_symbol, "samples", labels, rhs, unit=unit, rhs_label=rhs_label)
        )
    cost = {"linear": {"slack": weights}} if loss.power == 1 else {"quadratic": {"slack": times(2.0, weights)}}
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
