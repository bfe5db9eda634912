r"""Problems told in words: variables, constraints and multipliers, convexity, Lagrangian, KKT conditions, and
for a dual the steps that lead to it.

>>> import convexcls as cc
>>> problem = cc.HardMarginSVM([[0], [2]], [0, 1])
>>> print(cc.explain.explain(problem).splitlines()[0])
Hard-margin SVM
>>> print(*cc.explain.statement_lines(problem), sep="\n")
minimise over β, β₀:   ½ ‖β‖²
subject to   yᵢ (xᵢᵀ β + β₀) ≥ 1   (i = 1…2)
"""

from __future__ import annotations

import numpy as np

from convexcls.losses.writing import number
from convexcls.problem import BY_SAMPLE, Constraint, Kind, Label, NormBound, Problem, Term, Variable, latex
from convexcls.problem.duality import Dual, Step
from convexcls.problem.latex import Formula, Line, Piece, in_letters, indexed, plain
from convexcls.wording import capitalized, count, listed


def explain(problem: Problem) -> str:
    """The problem in plain text."""
    sections = [_heading(problem)]
    if isinstance(problem, Dual):
        sections.append(_derivation(problem))
    sections += [
        _statement(problem),
        _variables(problem),
        _constraint_table(problem),
        f"Convexity\n  {convexity(problem)}",
    ]
    sections += [_lagrangian(problem), _conditions(problem), _notes(problem)]
    return "\n\n".join(section for section in sections if section) + "\n"


def _heading(problem: Problem) -> str:
    title = capitalized(problem.name)
    data = problem.data
    if data is None:
        return title
    shape = f"{data.n} samples, {count(data.d, 'feature')}"
    return f"{title}\n{shape}{_labels(data.labels)}{', weighted' if data.weighted else ''}"


def _labels(labels: tuple[object, ...] | None) -> str:
    """Which label is which, the first few of many."""
    if labels is None:
        return ""
    if len(labels) == 2:
        return f"; y = -1 for {labels[0]!r}, +1 for {labels[1]!r}"
    return f"; {len(labels)} classes: {listed(map(repr, labels), 6, ', …')}"


def statement_lines(problem: Problem) -> list[str]:
    """The problem as it is written: the objective, then a line a constraint."""
    unknowns = ", ".join(plain(v.symbol) for v in problem.variables)
    lines = [f"{problem.sense}imise over {unknowns}:   {plain(latex.objective(problem))}"]
    for c in problem.constraints:
        lines.append(f"subject to   {plain(latex.constraint(problem, c))}{_range(c)}")
    for b in problem.norm_bounds:
        lines.append(f"subject to   {plain(latex.norm_bound(problem, b))}")
    return lines[:2] + [line.replace("subject to", "          ") for line in lines[2:]]


def _range(c: Constraint | NormBound) -> str:
    return f"   (i = 1…{c.size})" if c.kind in BY_SAMPLE else ""


def _statement(problem: Problem) -> str:
    return "Problem\n" + _indented(statement_lines(problem))


def _variables(problem: Problem) -> str:
    lines = [f"{name:<14} {plain(symbol.latex):<4} {words}" for name, symbol, words in unknowns(problem)]
    return f"Variables ({problem.size} in all)\n" + _indented(lines)


def unknowns(problem: Problem) -> list[tuple[str, Formula, str]]:
    """Each variable with its symbol, its size, and whether it has a quadratic cost."""
    cost = dict.fromkeys(problem.quadratic, ", with a quadratic cost")
    return [
        (v.name, Formula(indexed(v.symbol, v.kind)), count(v.size, "unknown") + cost.get(v.name, ""))
        for v in problem.variables
    ]


def _constraint_table(problem: Problem) -> str:
    lines = [f"{name:<14} {in_letters(words)}" for name, words in multipliers(problem)]
    return ("Constraints and losses, with their multipliers\n" + _indented(lines)) if lines else ""


def multipliers(problem: Problem) -> list[tuple[str, Line]]:
    """Each block of constraints and losses with its size and its multiplier."""
    lines: list[tuple[str, Line]] = []
    for c in problem.constraints:
        kind = "inequality" if c.relation == "<=" else "equality"
        many = {"inequality": "inequalities", "equality": "equalities"}[kind] if c.size != 1 else kind
        symbol = indexed(c.symbol, c.kind)
        signed = Formula(rf"{symbol} \ge 0") if c.relation == "<=" else (Formula(symbol), " free")
        lines.append((c.name, _line(f"{c.size} {many}, multiplier ", signed)))
    for b in problem.norm_bounds:
        pair = Formula(f"({b.symbol}, {b.radius_symbol})")
        lines.append((b.name, _line("1 norm bound, multiplier ", pair, " with ", Formula(multiplier_sign(b)))))
    for t in problem.terms:
        terms = count(t.weights.size, "loss term")
        lines.append((t.name, _line(f"{terms} ({t.loss.name}), slope ", _slope(t))))
    return lines


def _line(*pieces: str | Formula | Line) -> Line:
    """Pieces of a line one after another."""
    return tuple(one for piece in pieces for one in (piece if isinstance(piece, tuple) else (piece,)))


def _slope(t: Term) -> Formula:
    """The multiplier of u = Mx + t, which at a solution is the loss's slope."""
    sign = "-" if t.loss.dual_sign < 0 else ""
    weight = "" if np.all(t.weights == 1) else "c_i " if t.kind in BY_SAMPLE else "c "
    slope = {"margins": r"\partial\phi/\partial u_k(u_i)", "samples": r"\phi'(u_i)"}.get(t.kind, r"\phi'(u)")
    return Formula(f"{indexed(t.symbol, t.kind)} = {sign}{weight}{slope}")


def convexity(problem: Problem) -> str:
    """What kind of convex program it is."""
    kind = (
        "a linear program"
        if problem.is_linear_program
        else "a convex quadratic program"
        if problem.is_quadratic_program
        else "a second-order cone program"
        if problem.norm_bounds and all(t.is_half_square for t in problem.terms)
        else "a smooth convex program"
    )
    strict = [v for v, p in problem.diagonals.items() if np.all(p > 0)]
    more = f"; strictly convex in {', '.join(strict)}, so that part of a solution is unique" if strict else ""
    return f"{capitalized(kind)}: every KKT point is a global optimum{more}."


# ---- Lagrangian and KKT -----------------------------------------------------------------------------------


def lagrangian(problem: Problem, split: bool = False) -> str:
    """The Lagrangian of the minimised problem as a formula; ``split`` gives every loss's argument a name u and
    a multiplier of its own."""
    parts = [latex.objective(problem, minimised=True, split=split)]
    for c in problem.constraints:
        left, _, right, turned = latex.sides(problem, c)
        difference = _difference(left, right)
        if _is_sum(difference):
            difference = f"({difference})"
        parts.append(f"{'-' if turned else '+'} {_paired(c.symbol, c.kind, difference)}")
    for b in problem.norm_bounds:
        left, right = _norm_sides(problem, b)
        parts.append(f"- {_paired(b.symbol, 'vector', left)} - {b.radius_symbol}{_times_bound(right)}")
    if split:
        for t in problem.terms:
            sign = "-" if t.loss.dual_sign < 0 else "+"
            inside = f"({latex.inside(problem, t)} - {indexed('u', t.kind)})"
            parts.append(f"{sign} {_paired(t.symbol, t.kind, inside)}")
    return " ".join(parts)


def _difference(left: str, right: str) -> str:
    """left - right, tidily."""
    if right == "0":
        return left
    return f"{left} + {right[1:]}" if right.startswith("-") else f"{left} - {right}"


def _norm_sides(problem: Problem, b: NormBound) -> tuple[str, str]:
    left, right = latex.norm_bound(problem, b)[2:].split(r"\| \le ")
    return (f"({left})" if _is_sum(left) else left), right


def _times_bound(right: str) -> str:
    return "" if right == "1" else rf"\, ({right})" if " " in right else rf"\, {right}"


def _paired(symbol: str, kind: Kind, inside: str) -> str:
    if kind in BY_SAMPLE:
        return rf"{latex.SUM[kind]} {indexed(symbol, kind)} {inside}"
    return f"{latex.transposed(symbol)} {inside}" if kind == "vector" else f"{symbol} {inside}"


def _lagrangian(problem: Problem) -> str:
    if not problem.is_constrained:
        return ""
    word = "" if problem.sense == "min" else " (of the equivalent minimisation)"
    return f"Lagrangian{word}\n" + _indented(["L = " + plain(lagrangian(problem))])


def stationarity(problem: Problem, v: Variable) -> str:
    """The condition that the Lagrangian's derivative in one variable vanishes."""
    parts: list[Piece] = []
    p, q = problem.diagonals.get(v.name), problem.linear.get(v.name)
    unknown = indexed(v.symbol, v.kind)
    if v.name in problem.matrices:
        parts.append(latex.product(v.kind, v.kind, v.symbol, Label("", problem.quadratic_symbol), False))
    elif p is not None:
        uniform = bool(np.all(p == p[:1]))
        parts.append(Piece(float(p[0]) if uniform else 1.0, "", unknown if uniform else f"p_i {unknown}"))
    constant = 0.0
    letter = ""
    if q is not None and np.any(q):
        if np.all(q == q[:1]):
            constant = float(q[0])
        else:
            cost = problem.linear_labels.get(v.name, Label("c_i"))
            constant, letter = cost.scale, cost.factor if v.kind in BY_SAMPLE else "c"
    for block in problem.blocks:
        sign = block.loss.dual_sign if isinstance(block, Term) else -1 if isinstance(block, NormBound) else 1
        if v.name in block.entries:
            rows = block.entries[v.name]
            label = block.labels.get(v.name) or latex.default_label(rows)
            diagonal = rows.diagonal() is not None
            parts.append(latex.product(v.kind, block.kind, block.symbol, label.times(sign), diagonal, turned=True))
        if isinstance(block, NormBound) and v.name in block.bound_entries:
            parts.append(Piece(-1.0, "", block.radius_symbol))
    if parts and all(piece.number < 0 for piece in parts):
        parts, constant = [piece.times(-1.0) for piece in parts], -constant
    ordered = sorted(parts, key=lambda piece: piece.number < 0)
    text = latex.total(ordered) if ordered else ""
    if constant:
        size = letter if letter and abs(constant) == 1 else number(abs(constant)) + letter
        text += f" {'-' if constant < 0 else '+'} {size}"
    return f"{text} = 0"


def inequalities(problem: Problem) -> list[Constraint | NormBound]:
    """What has a multiplier with a sign, and a slack."""
    return [*(c for c in problem.constraints if c.relation == "<="), *problem.norm_bounds]


def multiplier_sign(block: Constraint | NormBound) -> str:
    """What the multiplier of an inequality has to satisfy."""
    if isinstance(block, NormBound):
        return rf"\|{block.symbol}\| \le {block.radius_symbol}"
    return rf"{indexed(block.symbol, block.kind)} \ge 0"


def complementarity(problem: Problem, block: Constraint | NormBound) -> str:
    """The condition that a multiplier times what its inequality leaves is zero."""
    if isinstance(block, NormBound):
        left, right = _norm_sides(problem, block)
        return f"{latex.transposed(block.symbol)} {left} + {block.radius_symbol}{_times_bound(right)} = 0"
    left, _, right, _ = latex.sides(problem, block)
    difference = _difference(left, right)
    inside = f"[{difference}]" if _is_sum(difference) else difference
    return f"{indexed(block.symbol, block.kind)} {inside} = 0"


def slack(problem: Problem, c: Constraint) -> str:
    """What an inequality leaves: its larger side minus its smaller one."""
    left, _, right, turned = latex.sides(problem, c)
    if turned:
        return _difference(left, right)
    return f"{right} - {f'({left})' if _is_sum(left) else left}" if right != "0" else f"-({left})"


def _is_sum(formula: str) -> bool:
    return " + " in formula or " - " in formula


def _conditions(problem: Problem) -> str:
    rows = conditions(problem)
    width = max(len(name) for name, _ in rows) + 2
    return "KKT conditions\n" + _indented([f"{name:<{width}}{in_letters(line)}" for name, line in rows])


def conditions(problem: Problem) -> list[tuple[str, Line]]:
    """The KKT conditions by name; a line without a name belongs to the one before."""
    rows: list[tuple[str, Line]] = []
    for v in problem.variables:
        rows.append((f"stationarity in {v.name}", (Formula(stationarity(problem, v)),)))
    for t in problem.terms:
        argument = Formula(f"{indexed('u', t.kind)} = {latex.inside(problem, t)}")
        loss = Formula(rf"\phi(u) = {t.loss.latex('u_k' if t.kind == 'margins' else 'u')}")
        rows.append(("", ("where ", _slope(t), ",  ", argument, ",  ", loss)))
    if problem.is_constrained:
        rows.append(("primal feasibility", ("the constraints above",)))
    for block in inequalities(problem):
        rows.append((f"dual feasibility of {block.name}", (Formula(multiplier_sign(block)),)))
        product = Formula(complementarity(problem, block))
        rows.append((f"complementarity of {block.name}", (product, _range(block))))
    return rows


def _notes(problem: Problem) -> str:
    return "Notes\n" + _indented(list(problem.notes)) if problem.notes else ""


# ---- the way to a dual ------------------------------------------------------------------------------------


def _derivation(dual: Dual) -> str:
    stages = derivation(dual)
    stages[0] = (stages[0][0], [(line,) for line in statement_lines(dual.primal)])
    lines = []
    for k, (title, steps) in enumerate(stages, 1):
        lines += [f"{k}. {title}", *(f"     {in_letters(step)}" for step in steps)]
    return "Derivation\n" + _indented(lines)


def derivation(dual: Dual) -> list[tuple[str, list[Line]]]:
    """The stages of the way from a problem to its dual, each with its steps."""
    primal = dual.primal
    conditions: list[Line] = [
        (f"{v.name}: ", Formula(stationarity(primal, v)))
        for v in (primal.variable(step.variable) for step in dual.steps)
    ]
    substituted = [_step(step, primal) for step in dual.steps]
    for t in primal.terms:
        conjugate = t.loss.conjugate.latex(f"{t.symbol}_k" if t.kind == "margins" else t.symbol)
        leaves = Formula(rf"\phi^*({t.symbol}) = {conjugate}")
        substituted.append((f"{t.name}: minimising over ", Formula("u"), " leaves minus the conjugate, ", leaves))
    last = ", maximised over the multipliers," if primal.sense == "min" else ""
    return [
        ("Start from the primal", [(Formula(latex.latex(primal)),)]),
        (
            "Lagrangian, with a multiplier for every constraint and for every loss's argument",
            [(Formula(f"L = {lagrangian(primal, split=True)}"),)],
        ),
        ("Minimise L over each variable (stationarity)", conditions),
        ("Substitute", substituted),
        (f"What is left{last} is the dual", []),
    ]


def _step(step: Step, primal: Problem) -> Line:
    v = primal.variable(step.variable)
    symbol = Formula(indexed(v.symbol, v.kind))
    if step.how == "substituted":
        why = _line("the cost is strictly convex in ", symbol, ", so it is solved for and put back into L")
    elif step.how == "equality":
        vanishes = ", so it is bounded below only where its coefficient vanishes: an equality, with "
        why = _line("L is linear in ", symbol, vanishes, symbol, " as its multiplier")
    elif step.how == "kept":
        why = _kept(v, primal)
    elif step.how == "identified":
        why = _line(symbol, f" and the multiplier of {step.multiplier!r} do the same, so one serves for both")
    else:
        kept = _line(_kept(v, primal), "; ") if step.copied else ()
        here = f"the multiplier of {step.multiplier!r} occurs here only; "
        why = _line(
            kept, here, "solved for, its own condition becomes one on the others, with ", symbol, " as multiplier"
        )
    return _line(f"{v.name}: ", why)


def _kept(v: Variable, primal: Problem) -> Line:
    """That a variable with a matrix in its cost stays in the dual."""
    copy = Formula(rf"\tilde{{{v.symbol}}}")
    stays = " stays in the dual as a variable "
    return _line(Formula(primal.quadratic_symbol), " need not be invertible, so ", Formula(v.symbol), stays, copy)


def _indented(lines: list[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)
