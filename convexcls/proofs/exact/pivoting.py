"""The criss-cross method: a quadratic program solved in rationals from any guess, always in finitely many steps.

Each inequality is either tight, with a multiplier, or not, with room. From a set of tight rows whose KKT equations have
one solution, take a row whose multiplier or room is negative, and change its state; where that alone would leave the
equations singular, another row changes its state, too. Which pairs may be exchanged follows from the signs in one row
of the tableau. Taking always the first row that qualifies, the method cannot cycle, degenerate or not (Klafszky and
Terlaky 1992; den Hertog, Roos and Terlaky 1993 for all sufficient matrices), and needs no feasible start. Where there
is no exchange the row itself is a proof: a Farkas vector, or a direction along which the objective falls for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from convexcls import rational
from convexcls.proofs.exact.program import Program, Row, Tight, dot

#: So many steps per row take the worst row, which is quick but may cycle; then the first, which cannot.
GREEDY = 3


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Multipliers of equalities and inequalities (>= 0) that add the rows up to 0 <= a negative number."""

    equality_multipliers: list[Fraction]
    multipliers: dict[int, Fraction]


@dataclass(frozen=True, eq=False)
class Falling:
    """A direction that no row forbids, without curvature, along which the objective falls."""

    direction: list[Fraction]


Outcome: TypeAlias = Tight | Contradiction | Falling


def solve_program(program: Program, guess: Sequence[int], near: Sequence[Fraction]) -> Outcome:
    """The solution of a program, or the proof that there is none. ``guess`` are the rows that may be tight; in
    directions along which nothing changes the point is taken at ``near``."""
    tight = program.stationary(guess)
    if tight is not None and not program.violations(tight):
        return tight
    start = _start(program, guess, near)
    if not isinstance(start, tuple):
        return start
    outcome = _criss_cross(*start)
    count = len(program.equalities)  # those after these only held unknowns in place, and have no multiplier
    if isinstance(outcome, Tight):
        return Tight(outcome.x, outcome.equality_multipliers[:count], outcome.multipliers)
    if isinstance(outcome, Contradiction):
        return Contradiction(outcome.equality_multipliers[:count], outcome.multipliers)
    return outcome


def _start(
    program: Program, guess: Sequence[int], near: Sequence[Fraction]
) -> Contradiction | Falling | tuple[Program, list[int]]:
    """The program without equalities that follow from others, and with unknowns held where nothing depends on them; a
    set of tight rows whose equations have one solution."""
    equal = program.dense(row for row, _ in program.equalities)
    kept = rational.independent_rows(equal)
    if len(kept) < len(equal):
        contradiction = _contradicting_equalities(program, equal)
        if contradiction is not None:
            return contradiction
    curved = program.dense(program.quadratic)
    everything = [*curved, *equal, *program.dense(row for row, _ in program.inequalities)]
    pinned = _free_places(everything, program.size)
    for null in rational.null_space(everything) if pinned else []:
        slope = sum((a * b for a, b in zip(program.linear, null, strict=True)), Fraction(0))
        if slope:
            return Falling([-value if slope > 0 else value for value in null])
    # a dependent equality keeps its place, as 0 = 0: its multiplier is 0
    equalities: list[tuple[Row, Fraction]] = [
        pair if k in set(kept) else ({}, Fraction(0)) for k, pair in enumerate(program.equalities)
    ]
    equalities += [({j: Fraction(1)}, near[j]) for j in pinned]
    bounded = Program(program.quadratic, program.linear, equalities, program.inequalities)
    return bounded, _independent(bounded, guess)


def _free_places(rows: list[list[Fraction]], size: int) -> list[int]:
    """Unknowns that may take any value while all rows keep theirs."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    return sorted(set(range(size)) - set(rational.independent_rows(columns)))


def _independent(program: Program, guess: Sequence[int]) -> list[int]:
    """Of the guess the rows that do not follow from those before, and others, until the equations have one solution."""
    equal = [row for row, _ in program.equalities]
    first = program.dense([*equal, *(program.inequalities[i][0] for i in guess)])
    active = [guess[k - len(equal)] for k in rational.independent_rows(first) if k >= len(equal)]
    rest = [i for i in range(len(program.inequalities)) if i not in set(active)]
    before = [*program.quadratic, *equal, *(program.inequalities[i][0] for i in active)]
    stack = program.dense([*before, *(program.inequalities[i][0] for i in rest)])
    return active + [rest[k - len(before)] for k in rational.independent_rows(stack) if k >= len(before)]


def _contradicting_equalities(program: Program, equal: list[list[Fraction]]) -> Contradiction | None:
    """nu with E'nu = 0 and f'nu = -1, where there is one."""
    system = [list(column) for column in zip(*equal, strict=True)]
    system.append([rhs for _, rhs in program.equalities])
    found = rational.solve(system, [*[Fraction(0)] * program.size, Fraction(-1)])
    return None if found is None else Contradiction(found, {})


def _criss_cross(program: Program, active: list[int]) -> Outcome:
    active = sorted(active)
    greedy = GREEDY * len(program.inequalities)
    while True:
        tight = program.stationary(active)
        assert tight is not None
        violations = program.violations(tight)
        if not violations:
            return tight
        if greedy > 0:
            i, greedy = min(violations, key=lambda k: (violations[k], k)), greedy - 1
        else:
            i = min(violations)
        step = _leave(program, active, i) if i in tight.multipliers else _enter(program, active, i)
        if not isinstance(step, list):
            return step
        active = sorted(step)


def _enter(program: Program, active: list[int], i: int) -> list[int] | Contradiction:
    """Row i is violated: it becomes tight, in exchange for another where it depends on the tight rows."""
    row = program.inequalities[i][0]
    zeros = [Fraction(0)] * (len(program.equalities) + len(active))
    change = program.tight(active, [row.get(j, Fraction(0)) for j in range(program.size)], zeros)
    assert change is not None
    if dot(row, change.x) > 0:
        return [*active, i]
    leaving = [j for j in active if change.multipliers[j] > 0]
    if leaving:
        return [j for j in active if j != leaving[0]] + [i]
    used = {j: -value for j, value in change.multipliers.items() if value}
    return Contradiction([-value for value in change.equality_multipliers], {**used, i: Fraction(1)})


def _leave(program: Program, active: list[int], i: int) -> list[int] | Falling:
    """Row i has a negative multiplier: it gets room, and where there is no curvature along the way another row stops
    the fall."""
    equal = [Fraction(0)] * (program.size + len(program.equalities))
    change = program.tight(active, equal, [Fraction(j == i) for j in active])
    assert change is not None
    rest = [j for j in active if j != i]
    if change.multipliers[i] < 0:
        return rest
    for j in sorted(set(range(len(program.inequalities))) - set(active)):
        if dot(program.inequalities[j][0], change.x) < 0:
            return [*rest, j]
    return Falling([-value for value in change.x])
