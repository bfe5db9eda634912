"""Tables of numbers by family: the ways in which data are harmless, everyday, or awkward.

A family is a function of a generator that gives a table, a list of rows of numbers as a user would hold them: floats,
integers, Fractions or Decimals.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

Generator = np.random.Generator
Table = list[list[Any]]
Family = Callable[[Generator], Table]

FAMILIES: dict[str, Family] = {}
#: Families on which a solver may well be at a loss: beyond the range of squares.
EXTREME = ("tiny_and_huge",)


def family(function: Family) -> Family:
    FAMILIES[function.__name__] = function
    return function


def shape(g: Generator) -> tuple[int, int]:
    """Samples and features: few of them as a rule."""
    if g.random() < 0.03:
        return int(g.integers(15, 31)), int(g.integers(3, 7))
    return int(g.integers(3, 13)), int(g.integers(1, 5))


def floats(array: Any) -> Table:
    return [[float(v) for v in row] for row in np.asarray(array)]


def small(g: Generator, n: int, d: int) -> Any:
    """Small whole numbers."""
    return g.integers(-4, 5, (n, d)).astype(float)


def tenths(g: Generator, n: int, d: int, digits: int = 1) -> Any:
    """Decimals as doubles hold them."""
    return np.array([[float(f"{v:.{digits}f}") for v in row] for row in g.uniform(-5, 5, (n, d))])


@family
def integers(g: Generator) -> Table:
    return floats(small(g, *shape(g)))


@family
def decimals(g: Generator) -> Table:
    return floats(tenths(g, *shape(g), digits=int(g.integers(1, 4))))


@family
def gaussian(g: Generator) -> Table:
    return floats(g.normal(size=shape(g)))


@family
def as_given(g: Generator) -> Table:
    """Numbers that doubles round: Decimals, Fractions, whole numbers beyond 2^53."""
    n, d = shape(g)
    kind = g.integers(4)
    cells = g.integers(-50, 51, (n, d)).tolist()
    if kind == 0:
        return [[Decimal(v) / 10 for v in row] for row in cells]
    if kind == 1:
        return [[Fraction(v, int(g.choice([3, 7, 11]))) for v in row] for row in cells]
    base = int(g.choice([10**6, 10**9])) if kind == 2 else 2 ** int(g.integers(54, 64))
    if kind == 2:
        return [[Decimal(base) + Decimal(v) / 100 for v in row] for row in cells]
    return [[Fraction(base + v) for v in row] for row in cells]


@family
def offsets(g: Generator) -> Table:
    n, d = shape(g)
    base = 10.0 ** g.integers(6, 10, d) * g.integers(1, 10, d)
    near = small(g, n, d) if g.random() < 0.5 else tenths(g, n, d)
    return floats(np.where(g.random(d) < 0.7, base, 0.0) + near)


@family
def epoch(g: Generator) -> Table:
    """Seconds since 1970, beside a small feature or two."""
    n, d = shape(g)
    spread = 10.0 ** g.integers(1, 8)
    seconds = 1.6e9 + np.round(g.uniform(0, spread, n))
    return floats(np.column_stack([seconds, small(g, n, d - 1)]))


@family
def years(g: Generator) -> Table:
    n, d = shape(g)
    return floats(np.column_stack([g.integers(1950, 2026, n), g.integers(0, 13, (n, d - 1))]))


@family
def prices(g: Generator) -> Table:
    n, d = shape(g)
    return floats([[float(f"{v:.2f}") for v in row] for row in 10.0 ** g.uniform(0, 6, (n, d))])


@family
def coordinates(g: Generator) -> Table:
    """Degrees with six decimals, or metres on a map."""
    n, _ = shape(g)
    if g.random() < 0.5:
        centre, spread, digits = np.array([48.2, 16.37]), 0.01, 6
    else:
        centre, spread, digits = np.array([500_000.0, 4_649_776.0]), 1000.0, int(g.integers(0, 3))
    return floats([[float(f"{v:.{digits}f}") for v in row] for row in centre + g.uniform(-spread, spread, (n, 2))])


@family
def everyday(g: Generator) -> Table:
    """Ages and incomes, and perhaps a number of children."""
    n, d = shape(g)
    columns = [g.integers(18, 80, n), g.integers(10, 151, n) * 1000, g.integers(0, 5, n)]
    return floats(np.column_stack(columns[: 2 + (d > 2)]))


@family
def one_hot(g: Generator) -> Table:
    """All indicators of a category, which add up to the intercept, and perhaps a number."""
    n, d = shape(g)
    levels = int(g.integers(2, 4))
    table = np.eye(levels)[g.integers(0, levels, n)]
    return floats(np.column_stack([table, small(g, n, d - 2)]) if d > 2 else table)


@family
def nearly_dependent(g: Generator) -> Table:
    """A column that equals another, or lies on a line with it, up to rounding."""
    n, d = shape(g)
    table = g.uniform(-5, 5, (n, max(d, 1))) if g.random() < 0.5 else tenths(g, n, max(d, 1))
    slope = float(g.choice([1.0, 0.1, 0.3, 3.3, 1e3]))
    other = table[:, 0] * slope + float(g.choice([0.0, 0.1, 1.7]))
    if g.random() < 0.3:
        other = other * (1 + g.integers(-3, 4, n) * 2.0**-52)
    return floats(np.column_stack([table, other]))


@family
def dependent(g: Generator) -> Table:
    """A column that is a combination of others, exactly."""
    n, d = shape(g)
    table = small(g, n, max(d, 2))
    return floats(np.column_stack([table, table @ g.integers(-2, 3, table.shape[1])]))


@family
def duplicates(g: Generator) -> Table:
    n, d = shape(g)
    few = small(g, max(2, n // 2), d) if g.random() < 0.5 else tenths(g, max(2, n // 2), d)
    return floats(few[g.integers(0, len(few), n)])


@family
def scaled(g: Generator) -> Table:
    """Features in very different units."""
    n, d = shape(g)
    return floats(tenths(g, n, d) * 10.0 ** g.integers(-19, 20, d))


@family
def all_scaled(g: Generator) -> Table:
    """All features in an unusual unit."""
    n, d = shape(g)
    return floats(tenths(g, n, d) * 10.0 ** (int(g.choice([-1, 1])) * int(g.choice([3, 6, 9, 12, 19, 49]))))


@family
def far_scaled(g: Generator) -> Table:
    n, d = shape(g)
    size = g.choice([-150, -80, 0, 80, 150], d) if g.random() < 0.5 else [int(g.choice([-150, -80, 80, 150]))] * d
    return floats(small(g, n, d) * 10.0 ** np.asarray(size, dtype=float))


@family
def tiny_and_huge(g: Generator) -> Table:
    """Subnormal numbers and numbers near the largest."""
    n, d = shape(g)
    size = np.asarray(g.choice([-322, -310, -300, -290, 290, 300, 305], d), dtype=float)
    if g.random() < 0.5:
        size[:] = size[0]
    with np.errstate(under="ignore"):
        return floats(small(g, n, d) * 10.0**size)


@family
def weighted(g: Generator) -> Table:
    """Harmless samples; their weights are not (see ``draw``)."""
    return floats(small(g, *shape(g)) if g.random() < 0.5 else tenths(g, *shape(g)))


@family
def wide(g: Generator) -> Table:
    n = int(g.integers(2, 7))
    return floats(small(g, n, n + int(g.integers(1, 7))) if g.random() < 0.5 else g.normal(size=(n, n + 3)))


@family
def single(g: Generator) -> Table:
    """One sample a class, or little more."""
    return floats(tenths(g, int(g.integers(2, 4)), int(g.integers(1, 5))))


@family
def sparse(g: Generator) -> Table:
    n, d = int(g.integers(4, 15)), int(g.integers(3, 9))
    return floats(small(g, n, d) * (g.random((n, d)) < 0.3))


@family
def constant(g: Generator) -> Table:
    """A column that does not vary, or one given twice."""
    n, d = shape(g)
    table = small(g, n, d) if g.random() < 0.5 else tenths(g, n, d)
    if g.random() < 0.5:
        return floats(np.column_stack([table, np.full(n, g.choice([0.0, 1.0, 0.1, 1e8, 1e-8]))]))
    return floats(np.column_stack([table, table[:, g.integers(0, d)]]))


@family
def lattice(g: Generator) -> Table:
    """Few places for many samples: ties, touching hulls, several solutions."""
    n, d = shape(g)
    return floats(g.integers(0, 2, (n, d)))
