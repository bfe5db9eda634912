"""The named blocks a problem is made of: variables, loss terms, constraints, norm bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, cast

import numpy as np

from convexcls.arrays import Array, Indices, all_finite
from convexcls.caching import cached_property
from convexcls.data import Coded, is_coded
from convexcls.data.numbers import given_vector
from convexcls.losses import HalfSquare, Loss
from convexcls.pickling import frozen
from convexcls.rational.numbers import exactly, nearest_double
from convexcls.rows import Rows, as_rows, block_gram

#: How a block is written: one entry a sample (``alpha_i``), one for each sample and each class that is not its own
#: (``alpha_{ik}``), a plain vector (``beta``) or one number.
Kind = Literal["samples", "margins", "vector", "scalar"]
#: The kinds that have entries for every sample.
BY_SAMPLE = ("samples", "margins")
#: So many samples are looked at at a time, where they are read by block.
PART = 2**13


class ProblemError(ValueError):
    """A problem that is not stated properly.

    >>> import convexcls as cc
    >>> x = cc.Variable("x", 2, "x")
    >>> cc.Problem("saddle", [x], quadratic={"x": [1.0, -1.0]})
    Traceback (most recent call last):
        ...
    convexcls.problem.blocks.ProblemError: the quadratic part of 'x' is not convex: -1 on the diagonal
    """


class NoAnswer(ValueError):
    """What was asked for does not exist: the problem has no solution, or the model no such quantity.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0], [1], [2]], ["a", "b", "a"]).solve()  # b lies between
    >>> s.coef  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    convexcls.problem.blocks.NoAnswer: the hard-margin SVM has no solution to show: it is infeasible (proved: ...
    """


@dataclass(frozen=True)
class Label:
    r"""How a coefficient of row i is written: ``scale`` times ``factor`` times ``vector``, as in -1 times y_i
    times x_i. ``product`` writes coefficient times unknown where that reads better, with ``%`` for the unknown.

    >>> import convexcls as cc
    >>> x, price = cc.Variable("x", 2, "x"), cc.Label(vector="p")
    >>> cost = cc.Constraint("cost", {"x": [[2.0, 3.0]]}, kind="scalar", labels={"x": price}, rhs=6.0)
    >>> print(cc.Problem("purchase", [x], linear={"x": [-1.0, -1.0]}, constraints=[cost]).latex())
    \begin{aligned}
    \min_{x}\quad & -\sum_j x_j \\
    \text{subject to}\quad & p^{\top} x \le 6
    \end{aligned}
    """

    factor: str = ""
    vector: str = ""
    scale: float = 1.0
    product: str = ""

    def times(self, number: float) -> Label:
        """The label of the coefficients multiplied by a number."""
        return Label(self.factor, self.vector, self.scale * number, self.product)

    def turned(self, number: float) -> Label:
        """The same for the transposed coefficients, whose product with an unknown is another."""
        return Label(self.factor, self.vector, self.scale * number)


@dataclass(frozen=True)
class Variable:
    r"""A named block of unknowns; ``symbol`` is its LaTeX.

    ``name`` is what blocks and solutions call it, ``size`` the number of its entries. ``kind`` says how it is written:
    one entry a sample ("samples"), for each sample and other class ("margins"), a "vector" or one number ("scalar").

    >>> import convexcls as cc
    >>> x = cc.Variable("x", 2, r"\beta")
    >>> print(cc.Problem("ball", [x], quadratic={"x": [1.0, 1.0]}).latex())
    \begin{aligned}
    \min_{\beta}\quad & \tfrac12 \|\beta\|^2
    \end{aligned}
    """

    name: str
    size: int
    symbol: str
    kind: Kind = "vector"

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ProblemError(f"variable {self.name!r} has {self.size} entries")


def frozen_vector(values: Any, size: int, name: str) -> Array:
    """A read-only copy of a vector of that size, from one number or as many as there are entries; codes themselves."""
    if isinstance(values, Coded) and values.size == size and np.isfinite(values).all():
        return cast("Array", values.astype(np.float64))
    if type(values) is float and math.isfinite(values):
        out = np.full(size, values)
    else:
        mine = isinstance(values, np.ndarray) and not values.flags.writeable and values.base is None
        array = np.asarray(values, dtype=float) if mine else np.array(values, dtype=float)
        if array.ndim > 1 or array.size not in (1, size):
            raise ProblemError(f"{name} has {array.size} entries, it needs {size} (or one for all)")
        if not all_finite(array):
            raise ProblemError(f"{name} holds a number that is not finite")
        out = np.full(size, array) if array.ndim == 0 or array.size != size else array
    out.setflags(write=False)
    return out


def as_given(values: Any, size: int, name: str) -> tuple[Fraction, ...] | None:
    """One number for each of ``size`` entries as it was given; None where the doubles are exact."""
    if type(values) is float or (isinstance(values, np.ndarray | Coded) and values.dtype != object):
        return None
    if isinstance(values, (float, int, Fraction, Decimal)):
        exact = exactly(values)
        return None if nearest_double(exact) is not None else (exact,) * size
    found = given_vector(values, name)
    return found * size if found is not None and len(found) == 1 else found


def frozen_rows(entries: Mapping[str, Any], name: str) -> Mapping[str, Rows]:
    """Coefficients by variable, as rows objects of the same height, in a mapping that cannot be changed."""
    rows = {v: as_rows(r) for v, r in entries.items()}
    if len(heights := {r.shape[0] for r in rows.values()}) > 1:
        raise ProblemError(f"block {name!r} has entries of different heights: {sorted(heights)}")
    for variable, r in rows.items():
        if not all_finite(r.column_max()):
            raise ProblemError(f"block {name!r} has a coefficient of {variable!r} that is not finite")
    return frozen(rows)


@dataclass(frozen=True, eq=False)
class Block:
    """Rows over named variables: ``entries[v] @ v`` summed over the variables v it touches."""

    name: str
    entries: Mapping[str, Rows]
    symbol: str = r"\lambda"
    kind: Kind = "samples"
    labels: Mapping[str, Label] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.entries:
            raise ProblemError(f"block {self.name!r} speaks of no variable")
        object.__setattr__(self, "entries", frozen_rows(self.entries, self.name))
        object.__setattr__(self, "labels", frozen(self.labels))

    def _freeze(self, field_name: str, size: int | None = None) -> None:
        values, size = getattr(self, field_name), self.size if size is None else size
        if type(values) is float and self.is_by_block:
            values = Coded.alike(values, size)
        name = f"the {field_name} of block {self.name!r}"
        vector = frozen_vector(values, size, name)
        if (exact := as_given(values, size, name)) is not None:
            object.__setattr__(self, "_exactly", {**getattr(self, "_exactly", {}), field_name: exact})
        object.__setattr__(self, field_name, vector)

    def given_rationals(self, field_name: str) -> tuple[Fraction, ...] | None:
        """A right-hand side, an offset or weights that were given in rationals; None where doubles were."""
        exact: tuple[Fraction, ...] | None = getattr(self, "_exactly", {}).get(field_name)
        return exact

    def rational_vector(self, field_name: str, index: Any = None) -> list[Fraction]:
        """Some entries (all where none are named) of a right-hand side, an offset or weights, as they were given."""
        exact, values = self.given_rationals(field_name), getattr(self, field_name)
        chosen = np.arange(values.size) if index is None else np.arange(values.size)[index]
        if exact is not None:
            return [exact[i] for i in chosen.tolist()]
        return [Fraction(value) for value in values[chosen].tolist()]

    @property
    def is_by_block(self) -> bool:
        """Whether some of the rows are read by block."""
        return any(rows.read_by_block() for rows in self.entries.values())

    def alike(self, value: Any) -> Any:
        """A vector with one value for every row."""
        return Coded.alike(value, self.size) if self.is_by_block else np.full(self.size, value)

    @property
    def size(self) -> int:
        """The number of rows."""
        return next(iter(self.entries.values())).shape[0]

    def same_entries(self, other: Block) -> bool:
        """Whether both blocks have the same name and the same coefficients."""
        return (
            self.name == other.name
            and self.entries.keys() == other.entries.keys()
            and all(rows.equals(other.entries[v]) for v, rows in self.entries.items())
        )


@dataclass(frozen=True, eq=False)
class Term(Block):
    """sum_i weights_i loss(M_i x + offset_i), with the multiplier of u = Mx + offset as ``symbol``. A loss of several
    arguments takes as many rows at a time: then M_i is a block of rows, and there is one weight for each block.

    ``entries`` gives M by variable, ``labels`` how its coefficients are written, ``offset_label`` how the offset is.
    ``kind`` is as of a ``Variable``.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> x = cc.Variable("x", 1, "x")
    >>> term = cc.Term("choices", {"x": [[1.0], [-1.0]]}, loss=cc.losses.Logistic(), weights=[3.0, 1.0])
    >>> s = cc.Problem("odds", [x], terms=[term]).solve()  # minimise 3 log(1 + exp(-x)) + log(1 + exp(x))
    >>> s.status, round(float(np.exp(s.values["x"][0])), 6)
    ('optimal', 3.0)
    """

    loss: Loss = field(default_factory=HalfSquare)
    offset: Any = 0.0
    weights: Any = 1.0
    offset_label: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._freeze("offset")
        if self.size % self.loss.width:
            raise ProblemError(
                f"term {self.name!r} has {self.size} rows: the {self.loss.name} loss takes {self.loss.width} at a time"
            )
        groups = self.size // self.loss.width
        self._freeze("weights", groups)
        if not self.loss.smooth:
            raise ProblemError(f"term {self.name!r}: the {self.loss.name} loss has kinks, state it with slack rows")
        if (self.weights < 0).any():
            raise ProblemError(f"term {self.name!r} has a negative weight: the problem would not be convex")

    @property
    def is_half_square(self) -> bool:
        """Whether the term is quadratic."""
        return isinstance(self.loss, HalfSquare)

    def parts(self) -> Iterator[tuple[Array, Array]]:
        """Weights and offsets, of samples by block a part at a time: what is worked out of them is never all there."""
        n, width = self.weights.size, self.loss.width
        if not self.is_by_block or is_coded(self.offset):
            yield self.weights, self.offset
            return
        for start in range(0, n, PART):
            yield self.weights[start : start + PART], self.offset[start * width : (start + PART) * width]

    @cached_property
    def row_weights(self) -> Array:
        """The weight of each row: that of its block."""
        return self.weights if self.loss.width == 1 else np.repeat(self.weights, self.loss.width)

    @cached_property
    def all_count(self) -> bool:
        """Whether all rows have a weight."""
        return bool(np.all(self.weights > 0))

    @cached_property
    def counted(self) -> Indices:
        """The rows that have a weight."""
        return np.flatnonzero(self.row_weights > 0)

    @property
    def count(self) -> int:
        """How many samples have a weight."""
        return self.weights.size if self.all_count else int(np.count_nonzero(self.weights > 0))

    def counted_samples(self, every: int) -> Indices:
        """Every so many of the samples that have a weight."""
        return np.arange(0, self.weights.size, every) if self.all_count else np.flatnonzero(self.weights > 0)[::every]

    def value(self, u: Array) -> float:
        """The weighted sum of the losses at the arguments u, without those that have no weight."""
        if is_coded(u) and self.loss.width == 1:
            return float(self.weights @ cast("Any", u).each(self.loss.value))
        if self.all_count:
            return float(self.weights @ self.loss.value(u))
        counts = self.weights > 0
        return float(self.weights[counts] @ self.loss.value(u[self.counted]))

    def thinned(self, groups: Indices) -> Term:
        """The same losses over some of the samples."""
        width = self.loss.width
        rows = groups if width == 1 else (groups[:, None] * width + np.arange(width)).ravel()
        entries = {v: r[rows] for v, r in self.entries.items()}
        return replace(self, entries=entries, offset=self.offset[rows], weights=self.weights[groups])

    def gram(self, rows: Rows, u: Array) -> Array:
        """``rows' W rows``: the Hessian of the term at the arguments u, with W the weighted curvatures."""
        curvature = self.loss.curvature(u)
        if curvature.ndim == 1:
            return rows.gram(self.weights * curvature)
        return block_gram(rows, self.weights[:, None, None] * curvature, rows)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Term)
            and self.same_entries(other)
            and self.loss == other.loss
            and np.array_equal(self.offset, other.offset)
            and np.array_equal(self.weights, other.weights)
        )


@dataclass(frozen=True, eq=False)
class Constraint(Block):
    r"""``entries @ x <= rhs`` (or ``==``), with its multiplier's LaTeX as ``symbol``.

    ``unit`` is the size of a residual that counts as one: where it is 0, the largest right-hand side,
    and for a homogeneous block the size of its own left-hand side.

    ``entries`` gives the rows by variable; ``relation`` is "<=" or "==". ``kind`` is as of a ``Variable``. ``labels``
    and ``rhs_label`` say how coefficients and right-hand side are written.

    >>> import convexcls as cc
    >>> x = cc.Variable("x", 2, "x")
    >>> budget = cc.Constraint("budget", {"x": [[1.0, 1.0]]}, r"\lambda", "scalar", rhs=1.0, relation="==")
    >>> s = cc.Problem("shares", [x], quadratic={"x": [1.0, 3.0]}, constraints=[budget]).solve(level="exact")
    >>> [str(value) for value in s.certificate.exact_point["x"]], str(s.certificate.optimum)
    (['3/4', '1/4'], '3/8')
    """

    rhs: Any = 0.0
    relation: Literal["<=", "=="] = "<="
    unit: float = 0.0
    rhs_label: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._freeze("rhs")
        if self.relation not in ("<=", "=="):
            raise ProblemError(f"constraint {self.name!r}: relation {self.relation!r} is neither '<=' nor '=='")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Constraint)
            and self.same_entries(other)
            and self.relation == other.relation
            and np.array_equal(self.rhs, other.rhs)
        )


@dataclass(frozen=True, eq=False)
class NormBound(Block):
    """``‖E x + offset‖ <= bound_entries @ x + bound``; its multiplier is a pair (u, mu), ‖u‖ <= mu,
    kept as one array with mu last.

    ``entries`` gives E by variable, ``symbol`` and ``radius_symbol`` are the LaTeX of u and mu.

    >>> import convexcls as cc
    >>> x = cc.Variable("x", 2, "x")
    >>> disc = cc.NormBound("disc", {"x": [[1.0, 0.0], [0.0, 1.0]]}, bound=5.0)
    >>> s = cc.Problem("farthest", [x], linear={"x": [-3.0, -4.0]}, norm_bounds=[disc]).solve()
    >>> s.status, s.values["x"].round(6).tolist(), s.multipliers["disc"].round(6).tolist()
    ('optimal', [3.0, 4.0], [-3.0, -4.0, 5.0])
    """

    offset: Any = 0.0
    bound_entries: Mapping[str, Rows] = field(default_factory=dict)
    bound: float = 0.0
    radius_symbol: str = r"\mu"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._freeze("offset")
        object.__setattr__(self, "bound_entries", frozen_rows(self.bound_entries, self.name))
        if any(rows.shape[0] != 1 for rows in self.bound_entries.values()):
            raise ProblemError(f"norm bound {self.name!r}: its right-hand side is one row")

    @property
    def is_ball(self) -> bool:
        """Whether it keeps one variable within a ball around 0."""
        values = next(iter(self.entries.values())).diagonal()
        plain = len(self.entries) == 1 and not self.bound_entries and not np.any(self.offset) and self.bound >= 0
        return plain and values is not None and bool(np.all(values == 1.0))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, NormBound)
            and self.same_entries(other)
            and np.array_equal(self.offset, other.offset)
            and self.bound_entries.keys() == other.bound_entries.keys()
            and all(rows.equals(other.bound_entries[v]) for v, rows in self.bound_entries.items())
            and self.bound == other.bound
        )
