"""The samples one by one: score, prediction, and for every inequality the slack beside its multiplier.

At a solution one of the two is zero in every row: that is complementary slackness, to be looked up sample by sample.
Of many samples those are shown that matter: the misclassified, those with the largest multipliers, the nearest ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.data import Data
from convexcls.explain import slack as slack_formula
from convexcls.latex import indexed
from convexcls.problem import Constraint, NoAnswer
from convexcls.report.formulas import formula
from convexcls.report.markup import Column, Content, Html, join, section, table, tag
from convexcls.report.reading import has_support, point_of, pulls, solved
from convexcls.report.text import shorten, small
from convexcls.solution import Solution

Array = NDArray[np.float64]
MOST = 60
#: Less slack than this, where the margin is one, is what rounding leaves.
NO_SLACK = 1e-8
#: Of smaller numbers two digits are enough.
TINY = 1e-6
MOST_BLOCKS = 2


@dataclass(frozen=True)
class Series:
    """A column of the table: a number or a word for every sample."""

    column: Column
    values: NDArray[Any]

    def cell(self, i: int) -> str:
        """The entry of a sample."""
        value = self.values[i]
        if isinstance(value, str):
            return shorten(value, 40)
        return small(float(value)) if abs(value) < TINY else f"{value:.6g}"


def samples_section(solution: Solution) -> Html:
    """The table, with a sentence that says how to read it and what was left out."""
    data: Data | None = getattr(solution.problem, "data", None)
    if data is None or not solved(solution):
        return Html("")
    series = list(_series(solution, data))
    state = _states(solution, data)
    chosen = rows_that_matter(solution, data)
    columns = [Column("row", number=True, head=True), *(one.column for one in series)]
    rows: list[list[Content]] = [[str(i), *(one.cell(i) for one in series)] for i in chosen]
    if state is not None:
        columns.append(Column("where it lies"))
        for i, row in zip(chosen, rows, strict=True):
            row.append(tag("span", state[i], class_="state fails" if state[i] == "wrong side" else "state"))
    caption = f"Rows counted from 0; {len(rows)} of {data.n} samples" if len(rows) < data.n else "Rows counted from 0"
    return section("samples", _heading(solution), _reading(solution, data, len(rows)),
                   table(caption, columns, rows, sortable=True))  # fmt: skip


def _heading(solution: Solution) -> str:
    return "Complementary slackness, sample by sample" if _blocks(solution) else "Sample by sample"


def _reading(solution: Solution, data: Data, shown: int) -> Html:
    words = []
    if _blocks(solution):
        words.append("Slack times multiplier is zero in every row: a sample has room, or it holds the answer in place.")
    if shown < data.n:
        words.append(
            f"Of {data.n} samples these are the {shown} that matter: those on the wrong side, those with the largest "
            "multipliers or losses, then those nearest to the boundary."
        )
    return tag("p", " ".join(words)) if words else Html("")


def _series(solution: Solution, data: Data) -> Iterator[Series]:
    if data.labels is not None:
        yield Series(Column("label"), np.array([str(v) for v in data.labels], dtype=object)[data.classes])
    else:
        yield Series(Column("target", number=True), data.target)
    if data.weighted:
        yield Series(Column("weight", number=True), data.weights)
    yield from _scores(solution, data)
    for c in _blocks(solution):
        slack = c.rhs - solution.problem.rows(c) @ point_of(solution)
        z = solution.multipliers[c.name]
        title = join([tag("small", formula(slack_formula(solution.problem, c))), "slack"])
        yield Series(Column(title, number=True), slack)
        yield Series(Column(formula(indexed(c.symbol, c.kind)), number=True), z)
        yield Series(Column("product", number=True), slack * z)
    yield from _slopes(solution, data)


def _scores(solution: Solution, data: Data) -> Iterator[Series]:
    """f(x_i), of several classes the predicted label, and the probability of the own label where there is one."""
    try:
        scores = solution.decision_function(data.samples)
    except NoAnswer:
        return
    if scores.ndim == 1:
        yield Series(Column(formula(r"f(x_i)"), number=True), scores)
    else:
        yield Series(Column("predicted"), np.array([str(v) for v in data.labels or ()], dtype=object)[scores.argmax(1)])
    convert = getattr(solution.problem, "probabilities", None)
    likely = None if convert is None or data.classes is None else convert(scores)
    if likely is not None:
        own = np.asarray(likely)[np.arange(data.n), data.classes]
        yield Series(Column("probability of its label", number=True), own)


def _blocks(solution: Solution) -> list[Constraint]:
    """The inequalities with one row a sample."""
    if not solved(solution):
        return []
    n = getattr(getattr(solution.problem, "data", None), "n", -1)
    found = [c for c in solution.problem.constraints if c.relation == "<=" and c.kind == "samples" and c.size == n]
    return [c for c in found if c.name in solution.multipliers][:MOST_BLOCKS]


def _slopes(solution: Solution, data: Data) -> Iterator[Series]:
    """The multipliers of losses of one argument a sample: minus their slopes, or their slopes."""
    for term in solution.problem.terms:
        if term.kind == "samples" and term.size == data.n and term.loss.width == 1:
            title = join([tag("small", formula(indexed(term.symbol, term.kind))), "pull"])
            yield Series(Column(title, number=True), pulls(solution, term))


def _wrong(solution: Solution, data: Data) -> NDArray[np.bool_] | None:
    """Which samples are predicted to be something else; None where nothing is predicted."""
    if data.labels is None or data.classes is None:
        return None
    try:
        scores = solution.decision_function(data.samples)
    except NoAnswer:
        return None
    if scores.ndim == 1:
        return np.asarray((scores > 0) != (data.classes > 0))
    return np.asarray(scores.argmax(axis=1) != data.classes)


def _states(solution: Solution, data: Data) -> NDArray[np.object_] | None:
    """Where each sample lies, in words; None for real targets."""
    wrong = _wrong(solution, data)
    if wrong is None:
        return None
    state = np.full(data.n, "right side", dtype=object)
    if has_support(solution):
        state[:] = "beyond the margin"
        state[solution.support] = "on the margin"
        inside = _slack_variable(solution, data)
        if inside is not None:
            state[inside] = "inside the margin"
    state[wrong] = "wrong side"
    return state


def _slack_variable(solution: Solution, data: Data) -> NDArray[np.bool_] | None:
    """Which samples pay: their slack variable (or, of a Wolfe dual, its multiplier) is positive."""
    paid = solution.values.get("slack")
    paid = solution.multipliers.get("slack") if paid is None else paid
    if paid is None or paid.size != data.n:
        return None
    return np.asarray(paid > NO_SLACK)


def rows_that_matter(solution: Solution, data: Data, most: int = MOST) -> list[int]:
    """All samples where they are few; else the misclassified, those with the largest multipliers, the nearest."""
    if data.n <= most:
        return list(range(data.n))
    weight = np.zeros(data.n)
    for c in _blocks(solution)[:1]:
        weight = np.abs(solution.multipliers[c.name])
    for one in _slopes(solution, data):
        weight = np.abs(one.values.astype(float))
    if solution.problem.variables[0].kind == "samples":  # a kernel's unknowns are the multipliers
        weight = np.abs(solution.values[solution.problem.variables[0].name])
    wrong = _wrong(solution, data)
    near = np.zeros(data.n)
    try:
        scores = solution.decision_function(data.samples)
        near = np.abs(scores) if scores.ndim == 1 else -scores.max(axis=1)
    except NoAnswer:
        pass
    order = np.lexsort((near, -weight, ~wrong if wrong is not None else np.zeros(data.n)))
    first = order[: most // 2] if wrong is not None and wrong.sum() > most // 2 else order[:most]
    heavy = np.lexsort((near, -weight))
    chosen = dict.fromkeys([*first.tolist(), *heavy[:most].tolist()])
    return sorted(list(chosen)[:most])
