"""A small quadratic program in rationals, and the equations that hold when some of its inequalities are tight.

    minimise  1/2 x'Hx + g'x   subject to   E x = f,  G x <= h

With the rows B of G tight and the multipliers of the others zero, the KKT conditions are linear:

    H x + E'nu + G_B'lam = -g,     E x = f,     G_B x = h_B.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from convexcls import rational

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
    left = [e for e in range(len(equations)) if e not in done]
    return solution if not left else _solve_rest([equations[e] for e in left], [targets[e] for e in left], solution)


def _solve_rest(equations: list[Row], targets: list[Fraction], solution: list[Fraction]) -> list[Fraction] | None:
    unknowns = sorted({j for row in equations for j in row})
    zero = Fraction(0)
    found = rational.solve([[row.get(j, zero) for j in unknowns] for row in equations], targets)
    if found is None:
        return None
    for j, value in zip(unknowns, found, strict=True):
        solution[j] = value
    return solution
