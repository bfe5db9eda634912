"""Why there is no feasible point, in names: constraints that contradict each other, and no fewer of them do.

Multipliers z (at least 0 for inequalities) with sum z_i row_i = 0 and sum z_i rhs_i < 0 prove that rows contradict each
other: added up, they say 0 <= something below 0. The rows of a proof with as few as possible depend on each other in
one way only; any one left out, the others are independent, and a point attains them all. Everything is worked out in
rationals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from convexcls.in_notebooks import InNotebooks
from convexcls.problem import Constraint, NoAnswer, Problem
from convexcls.rational.elimination import Matrix, Vector, dot, null_space, solve, transposed
from convexcls.solve import solve as solve_problem
from convexcls.wording import count, listed, rational_text

MAX_TERMS_SHOWN, MAX_NUMBERS_SHOWN = 8, 8


@dataclass(frozen=True)
class Member:
    """One of the constraints: its block, its row in that, how it is written, its multiplier, and a ``point`` by
    variable at which all other members hold."""

    block: str
    row: int
    name: str
    text: str
    multiplier: Fraction
    point: Mapping[str, tuple[Fraction, ...]] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Conflict(InNotebooks):
    """Constraints that no point satisfies together, while all but any one of them can be satisfied.

    The ``members`` have the multipliers that prove it: with these the rows add up to 0 <= ``total``, which is below 0.

    >>> import convexcls as cc
    >>> x = cc.Variable("x", 2, "x")
    >>> blocks = [
    ...     cc.Constraint("budget", {"x": [[1.0, 1.0]]}, rhs=1.0),
    ...     cc.Constraint("least", {"x": [[-1.0, 0.0], [0.0, -1.0]]}, rhs=[-0.5, -0.75]),
    ...     cc.Constraint("most", {"x": [[1.0, 0.0], [0.0, 1.0]]}, rhs=5.0),
    ... ]
    >>> found = cc.Problem("shares", [x], constraints=blocks).why_infeasible()
    >>> [member.name for member in found.members], str(found.total)
    (['budget', 'least[0]', 'least[1]'], '-1/4')
    >>> print(found.explain().splitlines()[1])
      1 times budget     x[0] + x[1] <= 1
    """

    problem: Problem = field(repr=False)
    members: tuple[Member, ...]
    total: Fraction

    @property
    def verdict(self) -> str:
        """A word for it."""
        return "infeasible"

    def holds(self) -> bool:
        """Whether the multipliers prove the contradiction, and each point all members but its own; worked out again."""
        rows = [_row(self.problem, member.block, member.row) for member in self.members]
        z = [member.multiplier for member in self.members]
        if any(v < 0 and relation == "<=" for v, (_, _, relation) in zip(z, rows, strict=True)):
            return False
        added = [dot(z, column) for column in zip(*(row for row, _, _ in rows), strict=True)]
        if any(added) or dot(z, [side for _, side, _ in rows]) >= 0:
            return False
        for k, member in enumerate(self.members):
            x = [v for variable in self.problem.variables for v in member.point[variable.name]]
            for j, (row, side, relation) in enumerate(rows):
                left = dot(row, x)
                if j != k and (left > side or (relation == "==" and left != side)):
                    return False
        return True

    def explain(self) -> str:
        """The contradiction and the points, in words."""
        width = max(len(member.name) for member in self.members)
        times = [rational_text(member.multiplier) for member in self.members]
        broad = max(map(len, times))
        lines = [f"These {count(len(self.members), 'constraint')} contradict each other, and no fewer of them do:"]
        for member, factor in zip(self.members, times, strict=True):
            lines.append(f"  {factor:>{broad}} times {member.name:<{width}}   {member.text}")
        lines.append(f"Added up they say 0 <= {rational_text(self.total)}, which is false.")
        for member in self.members:
            lines.append(f"Without {member.name} the others hold at {_point_text(member.point)}.")
        return "\n".join(lines)

    __str__ = explain

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, rationals as text."""
        members = [
            {
                "block": m.block,
                "row": m.row,
                "text": m.text,
                "multiplier": str(m.multiplier),
                "point": {name: [str(v) for v in values] for name, values in m.point.items()},
            }
            for m in self.members
        ]
        return {"problem": self.problem.name, "members": members, "total": str(self.total)}


def why_infeasible(problem: Problem) -> Conflict:
    """Constraints of the problem that contradict each other, as few as possible; ``NoAnswer`` where its linear
    constraints can be satisfied together."""
    places, z = _contradiction(problem)
    rows = [_row(problem, *place) for place in places]
    kept, z = _irreducible([row for row, _, _ in rows], [side for _, side, _ in rows], z)
    places, rows = [places[k] for k in kept], [rows[k] for k in kept]
    z = _in_small_numbers(z)
    members = []
    for k, ((block, row), (_, side, relation)) in enumerate(zip(places, rows, strict=True)):
        others = [j for j in range(len(rows)) if j != k]
        x: Vector | None = [Fraction(0)] * problem.size
        if others:
            x = solve([rows[j][0] for j in others], [rows[j][1] for j in others])
        assert x is not None, "rows of a proof with fewest members are independent when one is left out"
        point = {name: tuple(x[where]) for name, where in problem.layout.items()}
        text = _row_text(problem, rows[k][0], side, relation)
        members.append(Member(block, row, _member_name(problem, block, row), text, z[k], point))
    total = dot(z, [side for _, side, _ in rows])
    found = Conflict(problem, tuple(members), total)
    assert found.holds(), "a conflict is checked before it is told"
    return found


def _contradiction(problem: Problem) -> tuple[list[tuple[str, int]], Vector]:
    """Rows with multipliers that prove that the linear constraints contradict each other."""
    if not problem.constraints:
        raise NoAnswer(f"the {problem.name} has no linear constraints that could contradict each other")
    bare: dict[str, Any] = {part: {} for part in ("quadratic", "linear", "linear_labels", "gauge")}
    feasibility = problem.restated(**bare, terms=[], norm_bounds=[], constant=0.0, sense="min", unit=1.0)
    found = solve_problem(feasibility, level="exact").certificate
    if found.status != "infeasible" or found.farkas is None or found.exact is None:
        if found.status == "optimal":
            also = ", without its norm bounds, which this does not look at" if problem.norm_bounds else ""
            raise NoAnswer(f"the linear constraints of the {problem.name} can be satisfied together{also}")
        raise NoAnswer(f"whether the constraints of the {problem.name} contradict each other is {found.status}: "
                       f"{found.reason or 'there is no proof in rationals'}")  # fmt: skip
    places, z = [], []
    for c in problem.constraints:
        for row, value in _by_row(found.exact.multipliers.get(c.name, {})):
            if value:
                places.append((c.name, row))
                z.append(Fraction(value))
    return places, z


def _by_row(values: Any) -> Iterator[tuple[int, Any]]:
    return iter(sorted(values.items())) if isinstance(values, Mapping) else iter(enumerate(values))


def _irreducible(rows: Matrix, sides: Vector, z: Vector) -> tuple[list[int], Vector]:
    """The rows of a proof with fewest members, and its multipliers. As long as the rows depend on each other in another
    way, the proof moves along that, with the same total, until a multiplier is 0; the first to become 0 is that of
    the shortest way, so that none changes its sign."""
    kept = list(range(len(rows)))
    while True:
        ways = null_space(transposed([rows[k] for k in kept]))
        if len(ways) == 1:
            return kept, z
        own = [sides[k] for k in kept]
        total = dot(z, own)
        for way in ways:
            along = dot(way, own) / total
            other = [w - along * v for w, v in zip(way, z, strict=True)]
            if any(other):
                break
        step = min((-v / w for v, w in zip(z, other, strict=True) if w), key=abs)
        z = [v + step * w for v, w in zip(z, other, strict=True)]
        kept = [k for k, v in zip(kept, z, strict=True) if v]
        z = [v for v in z if v]


def _in_small_numbers(z: Vector) -> Vector:
    """The multipliers as whole numbers without a common factor."""
    scale = lcm(*(v.denominator for v in z))
    whole = [int(v * scale) for v in z]
    common = gcd(*whole)
    return [Fraction(v, common) for v in whole]


# ---- rows and their words -------------------------------------------------------------------------------------------


def _block(problem: Problem, name: str) -> Constraint:
    return next(c for c in problem.constraints if c.name == name)


def _row(problem: Problem, block: str, row: int) -> tuple[Vector, Fraction, str]:
    """Its coefficients, its right-hand side and its relation, as given."""
    c = _block(problem, block)
    return list(problem.rows(c).rational([row])[0]), c.rational_vector("rhs", [row])[0], c.relation


def _member_name(problem: Problem, block: str, row: int) -> str:
    return block if _block(problem, block).size == 1 else f"{block}[{row}]"


def _row_text(problem: Problem, row: Sequence[Fraction], side: Fraction, relation: str) -> str:
    """2 x[0] - x[1] <= 5."""
    terms = []
    for variable in problem.variables:
        for k, value in enumerate(row[problem.layout[variable.name]]):
            if value:
                name = variable.name if variable.size == 1 else f"{variable.name}[{k}]"
                size = "" if abs(value) == 1 else f"{rational_text(abs(value))} "
                terms.append(("- " if value < 0 else "+ ") + size + name)
    shown = terms[:MAX_TERMS_SHOWN]
    left = " ".join(shown).removeprefix("+ ") or "0"
    more = f" and {len(terms) - len(shown)} more" if len(terms) > len(shown) else ""
    return f"{left.replace('- ', '-', 1) if left.startswith('- ') else left}{more} {relation} {rational_text(side)}"


def _point_text(point: Mapping[str, tuple[Fraction, ...]]) -> str:
    parts = []
    for name, values in point.items():
        shown = listed(map(rational_text, values), MAX_NUMBERS_SHOWN)
        parts.append(f"{name} = {shown if len(values) == 1 else f'({shown})'}")
    return ", ".join(parts)
