"""Constraints paired with their multipliers: each with its symbol, its meaning and its values."""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Array
from convexcls.describe.parts import Chapter, Column, Formula, Inline, Table
from convexcls.problem import BY_SAMPLE, Constraint, NormBound, Problem, Term, latex
from convexcls.problem.explain import multiplier_sign
from convexcls.problem.latex import indexed
from convexcls.solution import Solution
from convexcls.studies.paths import has_solution
from convexcls.wording import number

PAIRED = (
    Column("constraint or loss"),
    Column("formula"),
    Column("multiplier"),
    Column("what it means", "words"),
    Column("at this answer", "words"),
)


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
