"""From a guess to the exact solution: a small program in rationals, all rows checked, until none contradicts it.

Of the constraints only some rows take part, and of the samples only some have their slack as an unknown; the others are
taken to stand on the side where the guess has them, which makes their cost linear or quadratic. The small program is
solved without rounding, and then every row is looked at: a constraint that is violated and a sample that stands on
another side join the program. Rows only ever join, so this ends; usually the first program is the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.proofs.claims.affine_rows import AffineRows, added, compared
from convexcls.proofs.claims.statement import NoProof, Samples, Statement
from convexcls.proofs.exact.criss_cross import (
    Contradiction,
    Falling,
    Outcome,
    Program,
    Row,
    Tight,
    solve_program,
    sparse_row,
)
from convexcls.proofs.exact.hints import OFF, OPEN, Hints
from convexcls.rational.elimination import Matrix
from convexcls.rational.numbers import to_double

#: So many rows join at a time, for each unknown.
JOINING = 2
#: An answer that so many rows contradict, for each unknown, is no guess to start from.
MAX_CONTRADICTIONS_PER_UNKNOWN = 4
#: Programs of more rows are not tried: the guess was too far from the solution.
MAX_PROGRAM_ROWS = 4000


class TooFar(NoProof):
    """The guess is so far from the solution that solving anew is quicker."""


#: A row of the small program: a constraint's (block, row), or (number of samples, sample, line).
Key: TypeAlias = tuple[int, int] | tuple[int, int, int]


@dataclass(eq=False)
class ActiveSetSearch:
    """The small program as it grows. ``near`` is the point that is guessed, ``tight`` the rows guessed to be tight."""

    statement: Statement
    sides: list[ActivePieces]
    rows: list[Key]
    tight: list[Key]
    near: list[Fraction]
    #: Whether a row that takes no part is tight, too.
    touching: bool = False

    @classmethod
    def start(cls, statement: Statement, hints: Hints) -> ActiveSetSearch:
        """The program that a guess suggests."""
        sides = [ActivePieces(s, side) for s, side in zip(statement.samples, hints.sides, strict=True)]
        rows: list[Key] = [(b, int(i)) for b, chosen in enumerate(hints.rows) for i in chosen]
        search = cls(statement, sides, rows, [*rows, *hints.tight], [Fraction(float(v)) for v in hints.z])
        for g, part in enumerate(sides):
            for i in np.flatnonzero(part.side == OPEN).tolist():
                search.rows += [(g, i, k) for k in range(len(part.samples.lines))]
        return search

    # ---- the small program --------------------------------------------------------------------------

    @property
    def opened(self) -> list[tuple[int, int]]:
        """The samples whose slack is an unknown, in the order of the unknowns."""
        return list(dict.fromkeys(key[:2] for key in self.rows if len(key) == 3))

    def objective(self) -> tuple[Matrix, list[Fraction], Fraction]:
        """H, g and the constant over z, with the costs of all samples whose side is fixed."""
        m = self.statement.size
        quadratic = [row[:] for row in self.statement.quadratic]
        linear, constant = list(self.statement.linear), self.statement.constant
        for part in self.sides:
            linear = [a + b for a, b in zip(linear, part.total, strict=False)]
            constant += part.total[m]
            if part.gram is not None:
                quadratic = [
                    [a + b for a, b in zip(u, v, strict=False)] for u, v in zip(quadratic, part.gram, strict=False)
                ]
                linear = [a + row[m] for a, row in zip(linear, part.gram, strict=False)]
                constant += part.gram[m][m] / 2
        return quadratic, linear, constant

    def program(self) -> Program:
        """The small program: its unknowns are z and the slacks of the opened samples."""
        quadratic, linear, _ = self.objective()
        curved: list[Row] = [sparse_row(row) for row in quadratic]
        place = {}
        for g, i in self.opened:
            place[g, i] = len(linear)
            samples = self.statement.samples[g]
            (p,) = samples.rational("curvature", np.array([i]))
            curved.append({len(linear): p} if p else {})
            linear += samples.rational("cost", np.array([i]))
        equalities = [(sparse_row(row[:-1]), -row[-1]) for b in self.statement.equalities for row in b.rational()]
        inequalities = []
        for key in self.rows:
            (values,) = self.measured(key).rational(np.array([key[1]]))
            row = sparse_row(values[:-1])
            if len(key) == 3:
                row[place[key[:2]]] = Fraction(-1)
            inequalities.append((row, -values[-1]))
        return Program(curved, linear, equalities, inequalities)

    def measured(self, key: Key) -> AffineRows:
        """The block of a row."""
        return self.statement.samples[key[0]].lines[key[2]] if len(key) == 3 else self.statement.inequalities[key[0]]

    def run(self, patient: bool = True) -> SolvedProgram:
        """Solve, check all rows, let those join that contradict, until none does. ``TooFar`` where there are very
        many, unless one is patient."""
        while True:
            program = self.program()
            number = {key: k for k, key in enumerate(self.rows)}
            near = [*self.near, *[Fraction(0)] * (program.size - len(self.near))]
            guess = [number[key] for key in self.tight if key in number]
            outcome = solve_program(program, guess, near)
            if isinstance(outcome, Contradiction):
                return SolvedProgram(self, program, outcome)
            moving = isinstance(outcome, Falling)
            x = outcome.direction if isinstance(outcome, Falling) else outcome.x
            if isinstance(outcome, Tight):
                self.tight = [self.rows[k] for k in outcome.multipliers]
            joining = self._join(x[: self.statement.size], moving)
            if not joining:
                return SolvedProgram(self, program, outcome)
            if joining > MAX_CONTRADICTIONS_PER_UNKNOWN * (self.statement.size + 10) and not patient:
                raise TooFar("the point given is too far from the solution")
            if len(self.rows) > MAX_PROGRAM_ROWS:
                raise NoProof("no answer in doubles is near enough to the solution: too many rows are unsure")

    def _join(self, z: Sequence[Fraction], moving: bool) -> int:
        """Let the rows join that are violated at z, or forbid the direction; how many there are."""
        most = JOINING * (self.statement.size + 10)
        doubles = np.array([to_double(value) for value in z])
        known, against_all, self.touching = set(self.rows), 0, False
        for b, measured in enumerate(self.statement.inequalities):
            signs = measured.moves(z) if moving else measured.signs(z)
            against = np.array([i for i in np.flatnonzero(signs > 0).tolist() if (b, i) not in known], dtype=np.intp)
            self.rows += [(b, i) for i in _worst(measured.values(doubles), against, most)]
            against_all += against.size
            self.touching |= any((b, i) not in known for i in np.flatnonzero(signs == 0).tolist())
        for g, part in enumerate(self.sides):
            against = part.contradicted(z, moving)
            for i in part.worst(against, doubles, most).tolist():
                before = part.open(i)
                lines = [(g, i, k) for k in range(len(part.samples.lines))]
                self.rows += lines
                self.tight += lines[before : before + 1] if before >= 0 else []
            against_all += against.size
            self.touching |= part.touching
        return against_all


@dataclass(frozen=True, eq=False)
class SolvedProgram:
    """What a search ended with: the program on which all rows agree, and its outcome."""

    search: ActiveSetSearch
    program: Program
    outcome: Outcome


def _worst(values: Array, index: np.ndarray, most: int) -> list[int]:
    if index.size > most:
        index = np.sort(index[np.argsort(-values[index], kind="stable")[:most]])
    return [int(i) for i in index]


@dataclass(eq=False)
class ActivePieces:
    """``side[i]`` is the line on which the slack of sample i rests, OFF or OPEN. The samples that rest on a line cost
    linear or quadratic functions of z, whose sum is kept as

        1/2 (z, 1)' gram (z, 1) + total' (z, 1)."""

    samples: Samples
    side: Indices

    def __post_init__(self) -> None:
        #: Whether a sample with a fixed side rests on several lines at once.
        self.touching = False
        width = self.samples.lines[0].width + 1
        self.total = [Fraction(0)] * width
        self.gram: Matrix | None = None
        for k, line in enumerate(self.samples.lines):
            for costs, curved in ((self.samples.cost, False), (self.samples.curvature, True)):
                index = np.flatnonzero((self.side == k) & (costs > 0))
                if not index.size:
                    continue
                own = self.samples.weights_at("curvature" if curved else "cost", index)
                if curved:
                    part = line.gram(index, own)
                    self.gram = part if self.gram is None else added(self.gram, part)
                else:
                    self.total = [a + b for a, b in zip(self.total, line.total(index, own), strict=True)]

    def open(self, i: int) -> int:
        """Make the slack of a sample an unknown, and take its cost out of the sums; the side it was on."""
        k = int(self.side[i])
        self.side[i] = OPEN
        if k >= 0:
            (row,) = self.samples.lines[k].rational(np.array([i]))
            (c,), (p,) = (self.samples.rational(costs, np.array([i])) for costs in ("cost", "curvature"))
            if c:
                self.total = [a - c * b for a, b in zip(self.total, row, strict=True)]
            if p and self.gram is not None:
                self.gram = added(self.gram, [[a * b for b in row] for a in row], -p)
        return k

    def contradicted(self, z: Sequence[Fraction], moving: bool = False) -> Indices:
        """The samples that stand elsewhere at z than where they are taken to stand; or that leave their side along a
        direction."""
        lines, out = self.samples.lines, np.zeros(self.samples.size, dtype=bool)
        self.touching, counts = False, (self.side != OPEN) & (self.samples.cost > 0)
        for k, j in combinations(range(len(lines)), 2):
            sign = compared(lines[k], lines[j], z, moving)
            self.touching |= bool(np.any(counts & (sign == 0)))
            out |= ((self.side == k) & (sign < 0)) | ((self.side == j) & (sign > 0))
        curved = self.samples.curvature > 0
        if curved.any():
            for k, line in enumerate(lines):
                sign = line.moves(z) if moving else line.signs(z)
                out |= (self.side == OFF) & (sign > 0)
                if not moving:
                    out |= (self.side == k) & curved & (sign < 0)
        return np.flatnonzero(out)

    def worst(self, index: Indices, z: Array, most: int) -> Indices:
        """Of some samples those that are farthest from where they are taken to stand, by doubles."""
        if index.size <= most:
            return index
        values = np.array([line.values(z)[index] for line in self.samples.lines])
        resting = np.where(self.side[index] >= 0, values[self.side[index], np.arange(index.size)], 0.0)
        away = np.maximum(values.max(axis=0) - resting, -np.minimum(resting, 0.0) * (self.samples.curvature[index] > 0))
        return np.sort(index[np.argsort(-away, kind="stable")[:most]])
