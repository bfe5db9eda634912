"""A small quadratic program in rationals, and the equations that hold when some of its inequalities are tight.

    minimise  1/2 x'Hx + g'x   subject to   E x = f,  G x <= h

With the rows B of G tight and the multipliers of the others zero, the KKT conditions are linear:

    H x + E'nu + G_B'lam = -g,     E x = f,     G_B x = h_B.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

from convexcls.proofs.claims.statement import NoProof
from convexcls.rational.elimination import independent_columns, independent_rows, null_space, solve, transposed

#: A row: its entries that are not zero, by unknown.
Row = dict[int, Fraction]


def sparse_row(values: Iterable[Fraction]) -> Row:
    """The entries that are not zero, by place."""
    return {j: value for j, value in enumerate(values) if value}


def dot(row: Row, x: Sequence[Fraction]) -> Fraction:
    """The inner product of a row with a vector."""
    return sum((value * x[j] for j, value in row.items() if x[j]), Fraction(0))


@dataclass(eq=False)
class Program:
    """The program; ``equalities`` and ``inequalities`` are rows with their right-hand sides."""

    quadratic: list[Row]
    linear: list[Fraction]
    equalities: list[tuple[Row, Fraction]] = field(default_factory=list)
    inequalities: list[tuple[Row, Fraction]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return len(self.linear)

    @property
    def bits_in_long(self) -> int:
        """How long the long numbers of the matrix are together."""
        values = (value for row in self.quadratic for value in row.values())
        lengths = (value.numerator.bit_length() + value.denominator.bit_length() for value in values)
        return sum(length for length in lengths if length > LONG)

    def tight(self, active: Sequence[int], *targets: Sequence[Fraction]) -> Tight | None:
        """The solution of the KKT equations with these rows tight, and any right-hand sides in the place of -g, f and
        h_B; None where they contradict each other. Where there are several, one of them."""
        n, equal = self.size, len(self.equalities)
        equations = [dict(row) for row in self.quadratic]
        chosen = [*(row for row, _ in self.equalities), *(self.inequalities[i][0] for i in active)]
        for k, row in enumerate(chosen, n):
            for j, value in row.items():
                equations[j][k] = value
        equations += [dict(row) for row in chosen]
        solution = solve_sparse(equations, [value for target in targets for value in target], n + len(chosen))
        if solution is None:
            return None
        return Tight(solution[:n], solution[n : n + equal], dict(zip(active, solution[n + equal :], strict=True)))

    def stationary(self, active: Sequence[int]) -> Tight | None:
        """The point and multipliers at which these rows are tight and the others have no multiplier."""
        return self.tight(
            active,
            [-value for value in self.linear],
            [rhs for _, rhs in self.equalities],
            [self.inequalities[i][1] for i in active],
        )

    def violations(self, tight: Tight) -> dict[int, Fraction]:
        """By inequality what is negative and must not be: the multiplier of a tight row, the room of another."""
        out = {}
        for i, (row, rhs) in enumerate(self.inequalities):
            value = tight.multipliers[i] if i in tight.multipliers else rhs - dot(row, tight.x)
            if value < 0:
                out[i] = value
        return out

    def dense(self, rows: Iterable[Row]) -> list[list[Fraction]]:
        """Rows written out."""
        return [[row.get(j, Fraction(0)) for j in range(self.size)] for row in rows]


@dataclass(frozen=True, eq=False)
class Tight:
    """x with the multipliers of the equalities, and by inequality those of the tight rows."""

    x: list[Fraction]
    equality_multipliers: list[Fraction]
    multipliers: dict[int, Fraction]


def solve_sparse(equations: list[Row], targets: list[Fraction], size: int) -> list[Fraction] | None:
    """A solution of equations given by their entries, unknowns that are left free 0; None where there is none.

    An equation of one unknown says what it is: slacks and bounds go so before anything is eliminated. The equations
    given are used up.
    """
    targets = list(targets)
    holding: list[set[int]] = [set() for _ in range(size)]
    for e, row in enumerate(equations):
        for j in row:
            holding[j].add(e)
    solution = [Fraction(0)] * size
    waiting = [e for e, row in enumerate(equations) if len(row) <= 1]
    done: set[int] = set()
    while waiting:
        e = waiting.pop()
        if e in done:
            continue
        done.add(e)
        if not equations[e]:
            if targets[e]:
                return None
            continue
        ((j, factor),) = equations[e].items()
        value = solution[j] = targets[e] / factor
        for other in holding[j]:
            coefficient = equations[other].pop(j)
            if other != e:
                targets[other] -= coefficient * value
                if len(equations[other]) <= 1:
                    waiting.append(other)
        holding[j] = set()
    rest = [e for e in range(len(equations)) if e not in done]
    unknowns, zero = sorted({j for e in rest for j in equations[e]}), Fraction(0)
    found = solve([[equations[e].get(j, zero) for j in unknowns] for e in rest], [targets[e] for e in rest])
    if found is None:
        return None
    for j, value in zip(unknowns, found, strict=True):
        solution[j] = value
    return solution


#: A program with more bits than that in the long numbers of its matrix, those of more than so many, as of a kernel of
#: high degree, is not searched: its steps take too long.
MAX_BITS_IN_LONG, LONG = 4_000_000, 1_000
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
    directions along which nothing changes the point is taken at ``near``. ``NoProof`` where they are others, and the
    numbers too long to look for them."""
    tight = program.stationary(guess)
    if tight is not None and not program.violations(tight):
        return tight
    if program.bits_in_long > MAX_BITS_IN_LONG:
        raise NoProof("the entries of the quadratic part, as they were given, have too many digits")
    start = _start(program, guess, near)
    if not isinstance(start, tuple):
        return start
    outcome = _criss_cross(*start)
    count = len(program.equalities)  # those after these only held unknowns in place, and have no multiplier
    if isinstance(outcome, Falling):
        return outcome
    return replace(outcome, equality_multipliers=outcome.equality_multipliers[:count])


def _start(
    program: Program, guess: Sequence[int], near: Sequence[Fraction]
) -> Contradiction | Falling | tuple[Program, list[int]]:
    """The program without equalities that follow from others, and with unknowns held where nothing depends on them; a
    set of tight rows whose equations have one solution."""
    equal = program.dense(row for row, _ in program.equalities)
    kept = independent_rows(equal)
    if len(kept) < len(equal):
        contradiction = _contradicting_equalities(program, equal)
        if contradiction is not None:
            return contradiction
    curved = program.dense(program.quadratic)
    everything = [*curved, *equal, *program.dense(row for row, _ in program.inequalities)]
    pinned = sorted(set(range(program.size)) - set(independent_columns(everything)))  # no row changes with them
    for null in null_space(everything) if pinned else []:
        if slope := sum((a * b for a, b in zip(program.linear, null, strict=True)), Fraction(0)):
            return Falling([-value if slope > 0 else value for value in null])
    # a dependent equality keeps its place, as 0 = 0: its multiplier is 0
    equalities: list[tuple[Row, Fraction]] = [
        pair if k in set(kept) else ({}, Fraction(0)) for k, pair in enumerate(program.equalities)
    ]
    equalities += [({j: Fraction(1)}, near[j]) for j in pinned]
    bounded = Program(program.quadratic, program.linear, equalities, program.inequalities)
    return bounded, _independent(bounded, guess)


def _independent(program: Program, guess: Sequence[int]) -> list[int]:
    """Of the guess the rows that do not follow from those before, and others, until the equations have one solution."""
    equal = [row for row, _ in program.equalities]
    first = program.dense([*equal, *(program.inequalities[i][0] for i in guess)])
    active = [guess[k - len(equal)] for k in independent_rows(first) if k >= len(equal)]
    rest = [i for i in range(len(program.inequalities)) if i not in set(active)]
    before = [*program.quadratic, *equal, *(program.inequalities[i][0] for i in active)]
    stack = program.dense([*before, *(program.inequalities[i][0] for i in rest)])
    return active + [rest[k - len(before)] for k in independent_rows(stack) if k >= len(before)]


def _contradicting_equalities(program: Program, equal: list[list[Fraction]]) -> Contradiction | None:
    """nu with E'nu = 0 and f'nu = -1, where there is one."""
    system = [*transposed(equal), [rhs for _, rhs in program.equalities]]
    found = solve(system, [*[Fraction(0)] * program.size, Fraction(-1)])
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
