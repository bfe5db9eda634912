"""Complementary slackness: constraints with their multipliers, and the samples one by one with score, prediction, and
for every inequality the slack beside its multiplier.

At a solution one of the two is zero in every row, to be looked up sample by sample. Of many samples those are shown
that matter: the misclassified, those with the largest multipliers, the nearest ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Mask
from convexcls.data import Data
from convexcls.describe.parts import Chapter, Column, Formula, Inline, Mark, Prose, Table
from convexcls.describe.solution import has_support
from convexcls.problem import BY_SAMPLE, Constraint, NoAnswer, NormBound, Problem, Term, latex
from convexcls.problem.explain import multiplier_sign
from convexcls.problem.explain import slack as slack_formula
from convexcls.problem.latex import indexed
from convexcls.solution import Solution
from convexcls.studies.paths import has_solution
from convexcls.wording import number, shorten

PAIRED = (
    Column("constraint or loss"),
    Column("formula"),
    Column("multiplier"),
    Column("what it means", "words"),
    Column("at this answer", "words"),
)


MAX_LISTED_ROWS = 60
#: Less slack than this, where the margin is one, is what rounding leaves.
NO_SLACK = 1e-8
MAX_BLOCKS = 2
WRONG = "wrong side"


def multipliers(solution: Solution) -> Chapter:
    """Every constraint and loss of the problem with its multiplier, then every constraint of the dual with its own: a
    variable of the problem."""
    problem = solution.problem
    dual = problem.dual()
    own: list[tuple[Inline, ...]] = [
        (block.name, _rule(problem, block), _multiplier(block), _meaning(block), _values(block, solution))
        for block in _rules(problem)
    ]
    own += [_loss_row(problem, term, solution) for term in problem.terms]
    back = [(block.name, _rule(dual, block), _multiplier(block)) for block in _rules(dual)]
    heading = "Constraints of the dual: their multipliers are the unknowns of the problem, and slacks"
    first = Table("multipliers", "Constraints and losses of the problem, each with its multiplier", PAIRED, tuple(own))
    return Chapter("multipliers", "Multipliers", (first, Table("dual", heading, PAIRED[:3], tuple(back))))


def _rules(problem: Problem) -> list[Constraint | NormBound]:
    return [*problem.constraints, *problem.norm_bounds]


def _rule(problem: Problem, block: Constraint | NormBound) -> Formula:
    if isinstance(block, NormBound):
        return Formula(latex.norm_bound(problem, block))
    return Formula(latex.constraint(problem, block))


def _multiplier(block: Constraint | NormBound) -> Inline:
    if isinstance(block, NormBound) or block.relation == "<=":
        return Formula(multiplier_sign(block))
    return (Formula(indexed(block.symbol, block.kind)), " of any sign")


def _meaning(block: Constraint | NormBound) -> str:
    if isinstance(block, NormBound):
        return "the pair that holds the norm down; zero where the bound is not reached"
    if block.relation == "==":
        return "how fast the optimum moves with the right-hand side"
    each = "this sample's" if block.kind in BY_SAMPLE else "this"
    return f"how much {each} constraint holds the answer in place; zero where it has room"


def _loss_row(problem: Problem, term: Term, solution: Solution) -> tuple[Inline, ...]:
    """phi(u) with u as it is written, and its slope, which is the multiplier of u."""
    argument = "u_k" if term.kind == "margins" else "u"
    inside = Formula(f"{indexed('u', term.kind)} = {latex.inside(problem, term)}")
    each = "this sample" if term.kind in BY_SAMPLE else "it"
    return (
        term.name,
        (Formula(rf"\phi(u) = {term.loss.latex(argument)}"), " at ", inside),
        Formula(indexed(term.symbol, term.kind)),
        f"{'minus ' if term.loss.dual_sign < 0 else ''}the slope of the loss: how hard {each} pulls",
        _in_brief(pulls(solution, term)) if has_solution(solution) else "-",
    )


def _values(block: Constraint | NormBound, solution: Solution) -> str:
    found = has_solution(solution) and block.name in solution.multipliers
    return _in_brief(solution.multipliers[block.name]) if found else "-"


def _in_brief(z: Array) -> str:
    """How many multipliers are not zero, and the largest."""
    if z.size == 1:
        return number(float(z[0]))
    used = int(np.count_nonzero(z))
    largest = float(z[np.argmax(np.abs(z))]) if z.size else 0.0
    return f"{used} of {z.size} not zero" + (f", the largest {largest:.6g}" if used else "")


def pulls(s: Solution, term: Term) -> Array:
    """The multipliers of a loss: its slopes, or minus them, with their weights."""
    u = s.problem.rows(term) @ point_of(s) + term.offset
    return np.asarray(term.loss.dual_sign * term.row_weights * term.loss.slope(u))


def point_of(s: Solution) -> Array:
    """The point, of a solution that has one."""
    return np.concatenate([s.values[v.name] for v in s.problem.variables])


# ---- sample by sample -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Series:
    """A column of the table: a number or a word for every sample."""

    column: Column
    values: NDArray[Any]

    def cell(self, i: int) -> str | float:
        """The entry of a sample."""
        value = self.values[i]
        return shorten(value, 40) if isinstance(value, str) else float(value)


def slackness(solution: Solution) -> Chapter | None:
    """The table, with a sentence that says how to read it and what was left out."""
    data = solution.problem.data
    if data is None or not has_solution(solution):
        return None
    series = list(_series(solution, data))
    state = _states(solution, data)
    chosen = rows_that_matter(solution, data)
    columns = [Column("row", "count"), *(one.column for one in series)]
    rows: list[tuple[Any, ...]] = [(i, *(one.cell(i) for one in series)) for i in chosen]
    if state is not None:
        columns.append(Column("where it lies"))
        marks = [Mark(state[i], "fails" if state[i] == WRONG else "state") for i in chosen]
        rows = [(*row, mark) for row, mark in zip(rows, marks, strict=True)]
    caption = f"Rows counted from 0; {len(rows)} of {data.n} samples" if len(rows) < data.n else "Rows counted from 0"
    heading = "Complementary slackness, sample by sample" if _blocks(solution) else "Sample by sample"
    table = Table("samples", caption, tuple(columns), tuple(rows), sortable=True)
    return Chapter("samples", heading, (_how_to_read(solution, data, len(rows)), table))


def _how_to_read(solution: Solution, data: Data, shown: int) -> Prose:
    words = []
    if _blocks(solution):
        words.append("Slack times multiplier is zero in every row: a sample has room, or it holds the answer in place.")
    if shown < data.n:
        words.append(
            f"Of {data.n} samples these are the {shown} that matter: those on the wrong side, those with the largest "
            "multipliers or losses, then those nearest to the boundary."
        )
    return Prose(" ".join(words))


def _series(solution: Solution, data: Data) -> Iterator[Series]:
    if data.labels is not None:
        yield Series(Column("label"), np.array([str(v) for v in data.labels], dtype=object)[data.classes])
    else:
        yield Series(Column("target", "slack"), data.target)
    if data.weighted:
        yield Series(Column("weight", "slack"), data.weights)
    yield from _scores(solution, data)
    for c in _blocks(solution):
        slack = c.rhs - solution.problem.rows(c) @ point_of(solution)
        z = solution.multipliers[c.name]
        title = (Mark(Formula(slack_formula(solution.problem, c)), "small"), "slack")
        yield Series(Column(title, "slack"), slack)
        yield Series(Column(Formula(indexed(c.symbol, c.kind)), "slack"), z)
        yield Series(Column("product", "slack"), slack * z)
    yield from _slopes(solution, data)


def scores_of(solution: Solution, data: Data) -> Array | None:
    """The scores of the training samples; None where the model has none."""
    try:
        return solution.decision_function(data.samples)
    except NoAnswer:
        return None


def _scores(solution: Solution, data: Data) -> Iterator[Series]:
    """f(x_i), of several classes the predicted label, and the probability of the own label where there is one."""
    scores = scores_of(solution, data)
    if scores is None:
        return
    if scores.ndim == 1:
        yield Series(Column(Formula(r"f(x_i)"), "slack"), scores)
    else:
        yield Series(Column("predicted"), np.array([str(v) for v in data.labels or ()], dtype=object)[scores.argmax(1)])
    likely = None if data.classes is None else solution.problem.probabilities(scores)
    if likely is not None:
        own = np.asarray(likely)[np.arange(data.n), data.classes]
        yield Series(Column("probability of its label", "slack"), own)


def _blocks(solution: Solution) -> list[Constraint]:
    """The inequalities with one row a sample."""
    if not has_solution(solution):
        return []
    n = getattr(solution.problem.data, "n", -1)
    found = [c for c in solution.problem.constraints if c.relation == "<=" and c.kind == "samples" and c.size == n]
    return [c for c in found if c.name in solution.multipliers][:MAX_BLOCKS]


def _slopes(solution: Solution, data: Data) -> Iterator[Series]:
    """The multipliers of losses of one argument a sample: minus their slopes, or their slopes."""
    for term in solution.problem.terms:
        if term.kind == "samples" and term.size == data.n and term.loss.width == 1:
            title = (Mark(Formula(indexed(term.symbol, term.kind)), "small"), "pull")
            yield Series(Column(title, "slack"), pulls(solution, term))


def _wrong(solution: Solution, data: Data) -> Mask | None:
    """Which samples are predicted to be something else; None where nothing is predicted."""
    scores = None if data.labels is None else scores_of(solution, data)
    if scores is None or data.classes is None:
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
    state[wrong] = WRONG
    return state


def _slack_variable(solution: Solution, data: Data) -> Mask | None:
    """Which samples pay: their slack variable (or, of a Wolfe dual, its multiplier) is positive."""
    paid = solution.values.get("slack")
    paid = solution.multipliers.get("slack") if paid is None else paid
    if paid is None or paid.size != data.n:
        return None
    return np.asarray(paid > NO_SLACK)


def rows_that_matter(solution: Solution, data: Data, most: int = MAX_LISTED_ROWS) -> list[int]:
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
    scores = scores_of(solution, data)
    near = np.zeros(data.n) if scores is None else np.abs(scores) if scores.ndim == 1 else -scores.max(axis=1)
    order = np.lexsort((near, -weight, ~wrong if wrong is not None else np.zeros(data.n)))
    first = order[: most // 2] if wrong is not None and wrong.sum() > most // 2 else order[:most]
    heavy = np.lexsort((near, -weight))
    chosen = dict.fromkeys([*first.tolist(), *heavy[:most].tolist()])
    return sorted(list(chosen)[:most])
