"""The perceptron once more, update by update: a report keeps what came of it, not the way."""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import NoAnswer
from convexcls.solvers.rules.perceptron_report import PerceptronReport
from convexcls.solvers.rules.visits import orders, step_size

#: So many updates are replayed, and so many products spent on them.
MOST_UPDATES, BUDGET = 5000, 2e8
#: More entries than this are not written out.
LARGEST = 5e7


def replay(report: PerceptronReport) -> Array:
    """The weights before the first update and after each, one row each: those of the first updates where there are
    very many. Where all were replayed, the last row is the report's weights."""
    n, width = report.rows.shape
    if n * width > LARGEST:
        raise NoAnswer(f"{n:,} samples of {width - 1:,} features are too many to replay the perceptron on")
    rows = -report.rows.to_dense()  # v_i = y_i (x_i, 1)
    most = int(min(report.updates, MOST_UPDATES, max(BUDGET / rows.size, 10)))
    out = [np.array(report.start)]
    visits = orders("random" if report.order == "random" else "cyclic", len(rows), report.seed)
    for tau in range(1, report.passes + 1):
        rate = step_size(report.step, report.rate, tau)
        if report.rule == "batch":
            _batch(rows, out, rate)
        else:
            _one_by_one(rows[next(visits)], out, rate, most)
        if len(out) > most:
            break
    if most == report.updates and not np.allclose(out[-1], report.weights, rtol=1e-9, atol=0.0):
        raise NoAnswer("the run could not be replayed: its updates lead to other weights than the report has")
    return np.array(out[: most + 1])


def _one_by_one(rows: Array, out: list[Array], rate: float, most: int) -> None:
    """One pass: from each mistake on to the next, all margins at once."""
    at = 0
    while at < len(rows) and len(out) <= most:
        wrong = rows[at:] @ out[-1] <= 0
        if not wrong.any():
            return
        at += int(wrong.argmax())
        out.append(out[-1] + rate * rows[at])
        at += 1


def _batch(rows: Array, out: list[Array], rate: float) -> None:
    """One pass: all mistakes together."""
    wrong = rows @ out[-1] <= 0
    if wrong.any():
        out.append(out[-1] + rate * rows[wrong].sum(axis=0))
