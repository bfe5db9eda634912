"""What a loss is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from convexcls.arrays import Array, Mask
from convexcls.losses import writing
from convexcls.rational.numbers import exactly, remembered_number

INFINITY = math.inf


def square(u: Array) -> Array:
    """u^2, which is +inf where it is too large for a double."""
    with np.errstate(over="ignore"):
        return np.square(u)


class Loss(ABC):
    """A closed convex function of one variable, applied entry by entry, or of ``width`` variables, applied to as many
    entries at a time: then ``value`` gives one number for each such group, ``slope`` one an entry, and ``curvature`` a
    matrix for each group (also where a group has one entry).

    The conjugate is written in the multiplier lam = ``dual_sign`` * theta, so that multipliers of
    decreasing losses are positive: with psi = ``conjugate``, Fenchel-Young reads

        loss(u) + psi(lam) >= dual_sign * lam * u,   equality iff  dual_sign * lam = slope(u).

    >>> import convexcls as cc
    >>> import numpy as np
    >>> loss, u = cc.losses.Logistic(), np.array([0.3])
    >>> lam = -loss.slope(u)
    >>> total = loss.value(u) + loss.conjugate.value(lam)  # Fenchel-Young, with equality
    >>> bool(np.allclose(total, loss.dual_sign * lam * u))
    True
    """

    name: ClassVar[str]
    #: How many entries the loss takes at a time.
    width: ClassVar[int] = 1
    dual_sign: ClassVar[int] = 1
    #: Where the function is finite.
    domain: ClassVar[tuple[float, float]] = (-INFINITY, INFINITY)
    #: The closure of the set of slopes; also the slopes towards -infinity and +infinity.
    slopes: ClassVar[tuple[float, float]] = (-INFINITY, INFINITY)
    #: A bound on curvature / distance of the slope from an end of its range, where that distance rounds to 0.
    curvature_per_room: ClassVar[float] = INFINITY
    #: A slope changes by no more than this where every argument of its loss moves by one at most.
    steepest: ClassVar[float] = INFINITY
    #: Smooth losses enter a problem as a term; others as slack rows, by their pieces.
    smooth: ClassVar[bool] = True

    @abstractmethod
    def value(self, u: Array) -> Array:
        """The function, +inf outside its domain."""

    @abstractmethod
    def slope(self, u: Array) -> Array:
        """A derivative or, at a kink, one subgradient."""

    def weighed(self, u: Array, weights: Array | float) -> tuple[float, Array]:
        """The weighted sum of the losses, and the slopes: what a descent needs at every point, worked out together. A
        loss without weight does not count, even where it is infinite."""
        values = self.value(u)
        if isinstance(weights, float):
            return weights * float(values.sum()) if weights else 0.0, self.slope(u)
        counts = weights > 0
        return float(weights[counts] @ values[counts]), self.slope(u)

    def curvature(self, u: Array) -> Array:
        """The second derivative, where the loss is smooth."""
        raise TypeError(f"the {self.name} loss has kinks: it has no curvature")

    def slope_change(self, u: Array, moved: Array | float) -> Array:
        """At least |curvature| moved: how far slopes move, to first order, where arguments move by at most so much."""
        bend = np.abs(self.curvature(u))
        if bend.ndim == 1:
            return np.asarray(bend * moved)
        if isinstance(moved, float):
            return np.asarray(bend.sum(axis=2).ravel() * moved)
        moves = np.broadcast_to(moved, u.shape).reshape(*bend.shape[:2], 1)
        return np.asarray((bend @ moves).ravel())

    # ---- the domain, and what happens far away -----------------------------------------------------

    def inside(self, u: Array) -> bool:
        """Whether every argument lies in the interior of the domain."""
        low, high = self.domain
        return bool(np.all(np.asarray(u) > low) and np.all(np.asarray(u) < high))

    def middle(self) -> Array:
        """A point in the interior of the domain: ``width`` entries."""
        low, high = self.domain
        if np.isfinite(low) and np.isfinite(high):
            return np.full(1, (low + high) / 2)
        return np.full(1, low + 1.0 if np.isfinite(low) else high - 1.0 if np.isfinite(high) else 0.0)

    def slope_size(self, u: Array, slope: Array) -> Array:
        """How large the slopes are: the size against which what rounding leaves of them is judged."""
        return np.abs(slope)

    @property
    def slopes_end(self) -> bool:
        """Whether slopes have an end that they may never reach: then the loss may have no minimiser."""
        low, high = self.slopes
        return math.isfinite(low) or math.isfinite(high)

    def room(self, slope: Array) -> Array:
        """By how much slopes may change, all those of a sample alike, before they leave the interior of their range."""
        low, high = self.slopes
        return np.asarray(np.minimum(slope - low, high - slope))

    def remaining(self, u: Array, moved: Array) -> Array:
        """When the arguments move by ``moved``, the slopes change to first order; what remains of their distance from
        the ends of their range, relative to what it was: at most 1, not above 0 where a slope would leave the range."""
        slope, curvature = self.slope(u), self.curvature(u)
        out = np.ones(np.shape(u))
        low, high = self.slopes
        for edge, outward in ((low, -moved), (high, moved)):
            if np.isfinite(edge):
                distance = np.abs(slope - edge)
                rate = np.where(distance > 0, curvature / distance, self.curvature_per_room)
                out = np.minimum(out, 1.0 - rate * outward)
        return out

    def recession(self, moved: Array) -> Array:
        """The rate at which the loss grows in the end when its arguments keep moving by ``moved``."""
        low, high = self.slopes
        out, rising, falling = np.zeros(np.shape(moved)), moved > 0, moved < 0
        if np.any(rising):
            out[rising] = high * moved[rising]
        if np.any(falling):
            out[falling] = low * moved[falling]
        return out

    def falling(self, moved: Array) -> Mask:
        """Which losses keep falling, at a rate that tends to 0, when their arguments keep moving by ``moved``."""
        low, high = self.slopes
        falls = ((moved > 0) & (high == 0)) | ((moved < 0) & (low == 0))
        return np.asarray(falls.reshape(-1, self.width).any(axis=1) & (self.recession(moved) == 0))

    @property
    @abstractmethod
    def conjugate(self) -> Loss:
        """psi with psi(lam) = sup_u (dual_sign * lam * u - loss(u))."""

    @abstractmethod
    def latex(self, u: str) -> str:
        """The formula with the argument ``u``."""

    @abstractmethod
    def cvxpy(self, u: Any) -> Any:
        """The cvxpy expression of the loss at the expression ``u``, entry by entry."""

    @property
    def pieces(self) -> tuple[tuple[float, float], ...]:
        """For a loss that is a maximum of lines (or the square of one): the lines as (slope, height
        at 0)."""
        raise TypeError(f"the {self.name} loss is not piecewise linear")

    #: The slack form is cost * slack**power over slack >= every piece.
    power: ClassVar[int] = 1
    #: (scale, shift) where the loss is scale/2 (u + shift)^2: such a loss enters as a half-square.
    half_square: ClassVar[tuple[float, float] | None] = None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(type(self).__name__)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Polyhedral(Loss):
    """max_k (slope_k u + height_k) over ``lines``, the pairs (slope, height): enters a problem as slack rows."""

    smooth: ClassVar[bool] = False
    lines: tuple[tuple[float, float], ...]

    @property
    def pieces(self) -> tuple[tuple[float, float], ...]:
        return self.lines

    @property
    def slopes(self) -> tuple[float, float]:  # type: ignore[override]
        return min(slope for slope, _ in self.lines), max(slope for slope, _ in self.lines)

    def _heights(self, u: Array) -> Array:
        """Every line at u, one row a line."""
        return np.array([slope * u + height for slope, height in self.lines])

    def value(self, u: Array) -> Array:
        return np.asarray(self._heights(u).max(axis=0))

    def slope(self, u: Array) -> Array:
        return np.array(self.lines)[self._heights(u).argmax(axis=0), 0]


@dataclass(frozen=True, eq=False)
class PiecewiseLinear(Polyhedral):
    """max_k (slope_k u + height_k): a loss with kinks, such as a user's own.

    ``lines`` are the pairs (slope, height).

    >>> import convexcls as cc
    >>> import numpy as np
    >>> cc.losses.PiecewiseLinear(((0, 0), (-1, 1))).value(np.array([-1.0, 2.0])).tolist()  # the hinge
    [2.0, 0.0]
    """

    lines: tuple[tuple[float, float], ...] = ((0.0, 0.0),)
    name: ClassVar[str] = "piecewise-linear"

    def __post_init__(self) -> None:
        lines = tuple((float(slope), float(height)) for slope, height in self.lines)
        if not lines or not np.all(np.isfinite(lines)):
            raise ValueError(f"a piecewise-linear loss needs finite (slope, height) pairs, got {self.lines!r}")
        # numbers that doubles round are remembered as they were given
        lines = tuple((remembered_number(exactly(a)), remembered_number(exactly(b))) for a, b in self.lines)
        object.__setattr__(self, "lines", lines)

    @property
    def conjugate(self) -> Loss:
        return _PiecewiseConjugate(self)

    def latex(self, u: str) -> str:
        lines = [writing.line(slope, height, u) for slope, height in self.lines]
        return lines[0] if len(lines) == 1 else r"\max\{" + r",\ ".join(lines) + r"\}"

    def cvxpy(self, u: Any) -> Any:
        import cvxpy

        lines = [slope * u + height for slope, height in self.lines]
        return lines[0] if len(lines) == 1 else cvxpy.maximum(*lines)


class Conjugate(Loss):
    """The conjugate of ``origin``, written in its positive multiplier."""

    origin: Loss

    @property
    def dual_sign(self) -> int:  # type: ignore[override]
        return self.origin.dual_sign

    @property
    def conjugate(self) -> Loss:
        return self.origin


@dataclass(frozen=True, eq=False)
class _PiecewiseConjugate(Conjugate):
    """The conjugate of a maximum of lines: the lower hull of the points (slope_k, -height_k)."""

    origin: PiecewiseLinear
    name: ClassVar[str] = "piecewise-linear conjugate"
    smooth: ClassVar[bool] = False

    @property
    def domain(self) -> tuple[float, float]:  # type: ignore[override]
        return self.origin.slopes

    def _hull(self) -> tuple[Array, Array]:
        """The corners of the hull: slopes in rising order, and the values there."""
        hull: list[tuple[float, float]] = []
        for slope, height in sorted(self.origin.lines, key=lambda line: (line[0], -line[1])):
            point = (slope, -height)
            if hull and hull[-1][0] == slope:
                continue  # of equal slopes the highest line counts, and it came first
            while len(hull) >= 2 and not _turns_left(hull[-2], hull[-1], point):
                hull.pop()
            hull.append(point)
        slopes, values = np.array(hull).T
        return slopes, values

    def value(self, u: Array) -> Array:
        return np.interp(u, *self._hull(), left=INFINITY, right=INFINITY)

    def slope(self, u: Array) -> Array:
        slopes, values = self._hull()
        if slopes.size == 1:
            return np.zeros(np.shape(u))
        steps = np.diff(values) / np.diff(slopes)
        return np.asarray(steps[np.clip(np.searchsorted(slopes, u) - 1, 0, steps.size - 1)])

    def latex(self, u: str) -> str:
        return rf"\psi({u})"

    def cvxpy(self, u: Any) -> Any:
        raise TypeError("this conjugate is only ever evaluated: the dual has it as bounds")


def _turns_left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies strictly below the line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) < (c[1] - a[1]) * (b[0] - a[0])
