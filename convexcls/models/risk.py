"""Sums of losses: how a loss enters the one form.

A smooth loss is a term; a loss with kinks, max_k (a_k u + b_k), becomes a slack a sample,

    minimise sum_i w_i slack_i^power   subject to   slack_i >= a_k u_i + b_k   for every piece k,

so that the KKT conditions stay one formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.losses import HalfSquare, Loss
from convexcls.problem import ROUNDING_ROOM, Constraint, Label, Term, Variable
from convexcls.rows import DiagonalRows, Rows


def risk_blocks(
    loss: Loss,
    rows: Mapping[str, Rows],
    labels: Mapping[str, Label],
    weights: Array,
    *,
    offset: NDArray[Any] | float = 0.0,
    offset_label: str = "",
    name: str = "margin",
    symbol: str = r"\alpha",
    unit: float = 0.0,
) -> dict[str, Any]:
    """The parts of the form that state sum_i weights_i loss(rows_i x + offset_i): keyword arguments
    for ``Problem``, with ``variables`` holding the slack if there is one."""
    n = next(iter(rows.values())).shape[0]
    offset = np.broadcast_to(np.asarray(offset), (n,))
    if loss.half_square is not None:
        scale, shift = loss.half_square
        term = Term(
            name,
            rows,
            symbol,
            "samples",
            labels,
            HalfSquare(),
            _line(1.0, shift, offset),
            scale * weights,
            offset_label,
        )
        return {"variables": [], "terms": [term], "unit": _unit(term)}
    if loss.smooth:
        term = Term(name, rows, symbol, "samples", labels, loss, offset, weights, offset_label)
        return {"variables": [], "terms": [term], "unit": _unit(term)}
    return _slack_blocks(loss, rows, labels, weights, offset, offset_label, name, symbol, unit)


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


def _slack_blocks(
    loss: Loss,
    rows: Mapping[str, Rows],
    labels: Mapping[str, Label],
    weights: Array,
    offset: NDArray[Any],
    offset_label: str,
    name: str,
    symbol: str,
    unit: float,
) -> dict[str, Any]:
    n = offset.size
    slack = Variable("slack", n, r"\xi", "samples")
    heights = [np.abs(a * offset.astype(float) + b).max(initial=0.0) for a, b in loss.pieces]
    unit = unit or float(max(heights)) or 1.0
    constraints = []
    for (a, b), piece_name, piece_symbol in _named_pieces(loss, name, symbol):
        entries: dict[str, Rows] = {}
        if a:
            entries = {v: r.scaled(a) if a != 1 else r for v, r in rows.items()}
        entries["slack"] = DiagonalRows.identity(n, -1.0)
        constraints.append(
            Constraint(
                piece_name, entries, piece_symbol, "samples",
                {v: label.times(a) for v, label in labels.items()} if a else {}, _line(-a, -b, offset),
                unit=unit, rhs_label=_rhs_label(a, b, offset_label),
            )
        )  # fmt: skip
    cost: dict[str, Any] = (
        {"linear": {"slack": weights}} if loss.power == 1 else {"quadratic": {"slack": 2.0 * weights}}
    )
    return {"variables": [slack], "constraints": constraints, **cost}


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
