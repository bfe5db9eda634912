"""Constraints paired with their multipliers: each with its symbol, its meaning and its values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convexcls import latex
from convexcls.explain import multiplier_sign
from convexcls.latex import indexed
from convexcls.problem import BY_SAMPLE, Constraint, NormBound, Problem, Term
from convexcls.report.formulas import formula
from convexcls.report.markup import Column, Content, Html, join, section, table
from convexcls.report.reading import pulls, solved
from convexcls.report.text import number
from convexcls.solution import Solution

COLUMNS = [
    Column("constraint or loss", head=True), Column("formula"), Column("multiplier"),
    Column("what it means", words=True), Column("at this answer", words=True),
]  # fmt: skip


def pairing_section(solution: Solution) -> Html:
    """Every constraint and loss of the problem with its multiplier, then every constraint of the dual with its own: a
    variable of the problem."""
    problem = solution.problem
    dual = problem.dual()
    own = [_rule_row(problem, block, solution) for block in _rules(problem)]
    own += [_loss_row(problem, term, solution) for term in problem.terms]
    back = [[block.name, _rule(dual, block), _multiplier(block)] for block in _rules(dual)]
    return section(
        "multipliers",
        "Multipliers",
        table("Constraints and losses of the problem, each with its multiplier", COLUMNS, own),
        table(
            "Constraints of the dual: their multipliers are the unknowns of the problem, and slacks", COLUMNS[:3], back
        ),
    )


def _rules(problem: Problem) -> list[Constraint | NormBound]:
    return [*problem.constraints, *problem.norm_bounds]


def _loss_row(problem: Problem, term: Term, solution: Solution) -> list[Content]:
    found = _told(pulls(solution, term)) if solved(solution) else "-"
    return [term.name, _loss(problem, term), formula(indexed(term.symbol, term.kind)), _pull(term), found]


def _rule_row(problem: Problem, block: Constraint | NormBound, solution: Solution) -> list[Content]:
    return [block.name, _rule(problem, block), _multiplier(block), _meaning(block), _values(block, solution)]


def _rule(problem: Problem, block: Constraint | NormBound) -> Html:
    if isinstance(block, NormBound):
        return formula(latex.norm_bound(problem, block))
    return formula(latex.constraint(problem, block))


def _multiplier(block: Constraint | NormBound) -> Html:
    if isinstance(block, NormBound) or block.relation == "<=":
        return formula(multiplier_sign(block))
    return join([formula(indexed(block.symbol, block.kind)), " of any sign"])


def _meaning(block: Constraint | NormBound) -> str:
    if isinstance(block, NormBound):
        return "the pair that holds the norm down; zero where the bound is not reached"
    if block.relation == "==":
        return "how fast the optimum moves with the right-hand side"
    each = "this sample's" if block.kind in BY_SAMPLE else "this"
    return f"how much {each} constraint holds the answer in place; zero where it has room"


def _loss(problem: Problem, term: Term) -> Html:
    """phi(u) with u as it is written."""
    argument = "u_k" if term.kind == "margins" else "u"
    left = indexed("u", term.kind)
    return join(
        [formula(rf"\phi(u) = {term.loss.latex(argument)}"), " at ", formula(f"{left} = {latex.inside(problem, term)}")]
    )


def _pull(term: Term) -> str:
    each = "this sample" if term.kind in BY_SAMPLE else "it"
    return f"{'minus ' if term.loss.dual_sign < 0 else ''}the slope of the loss: how hard {each} pulls"


def _values(block: Constraint | NormBound, solution: Solution) -> str:
    found = solved(solution) and block.name in solution.multipliers
    return _told(solution.multipliers[block.name]) if found else "-"


def _told(z: NDArray[np.float64]) -> str:
    """How many multipliers are not zero, and the largest."""
    if z.size == 1:
        return number(float(z[0]))
    used = int(np.count_nonzero(z))
    largest = float(z[np.argmax(np.abs(z))]) if z.size else 0.0
    return f"{used} of {z.size} not zero" + (f", the largest {largest:.6g}" if used else "")
