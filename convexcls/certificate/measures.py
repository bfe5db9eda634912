"""What a check of the KKT conditions finds: four residuals by block, both objectives and their gap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Residual:
    """One of the four conditions: ``values`` are absolute residuals by block, ``max`` the largest,
    ``relative`` the largest relative one.

    >>> import convexcls as cc
    >>> s = cc.SoftMarginSVM([[0], [1], [2], [3]], [0, 1, 0, 1]).solve()
    >>> feasibility = s.kkt.primal_feasibility
    >>> sorted(feasibility.by_block()), feasibility.max < 1e-12
    (['margin', 'slack_sign'], True)
    """

    values: Mapping[str, Array]
    relative_values: Mapping[str, Array]
    #: How far rounding may have put each relative residual off.
    rounding_values: Mapping[str, Array] = field(default_factory=dict)

    @cached_property
    def max(self) -> float:
        """The largest absolute residual."""
        return _largest(self.values)

    @cached_property
    def relative(self) -> float:
        """The largest relative residual."""
        return _largest(self.relative_values)

    @cached_property
    def bound(self) -> float:
        """The largest relative residual, with all that rounding may hide."""
        return self.bound_of(self.relative_values)

    def bound_of(self, blocks: Iterable[str]) -> float:
        """The same of some blocks."""
        return _largest({b: self.relative_values[b] + self.rounding_values.get(b, 0.0) for b in blocks})

    @property
    def worst(self) -> tuple[str, int]:
        """The block and the row with the largest relative residual; an empty name where nothing is to be satisfied."""
        if not self.relative_values:
            return "", 0
        block = max(self.relative_values, key=lambda b: float(self.relative_values[b].max(initial=-1.0)))
        return block, int(np.argmax(self.relative_values[block]))

    def by_block(self) -> dict[str, tuple[float, float]]:
        """The largest absolute and relative residual of each block."""
        return {
            b: (float(v.max(initial=0.0)), float(self.relative_values[b].max(initial=0.0)))
            for b, v in self.values.items()
        }


@dataclass(frozen=True, eq=False)
class KKT:
    """The four residuals of a point, with both objectives (minimised form) and their gap.

    ``stationarity``, ``primal_feasibility``, ``dual_feasibility`` and ``complementary_slackness`` are one ``Residual``
    each. ``scale`` is what the gap is measured against.

    >>> import convexcls as cc
    >>> kkt = cc.HardMarginSVM([[0], [2], [5]], [0, 1, 1]).solve().kkt
    >>> list(kkt.measures())
    ['stationarity', 'primal feasibility', 'dual feasibility', 'complementary slackness', 'duality gap']
    >>> kkt.holds(1e-10), kkt.relative_gap < 1e-10
    (True, True)
    """

    stationarity: Residual
    primal_feasibility: Residual
    dual_feasibility: Residual
    complementary_slackness: Residual
    objective: float
    dual_objective: float
    scale: float
    #: Variables whose columns doubles cannot tell from dependent ones, though they are none: then the optimum may be
    #: elsewhere, with coefficients as large as rounding is small, and stationarity at no point shows that it is not.
    dependent: tuple[str, ...] = ()
    #: How far rounding may have put the relative gap off.
    gap_rounding: float = 0.0

    @property
    def gap(self) -> float:
        """Primal minus dual objective."""
        return self.objective - self.dual_objective

    @property
    def relative_gap(self) -> float:
        """The size of the gap relative to the objective or the problem's unit."""
        return ratio(abs(self.gap), self.scale)

    def measures(self) -> dict[str, float]:
        """The five relative measures, by name."""
        return {
            "stationarity": self.stationarity.relative,
            "primal feasibility": self.primal_feasibility.relative,
            "dual feasibility": self.dual_feasibility.relative,
            "complementary slackness": self.complementary_slackness.relative,
            "duality gap": self.relative_gap,
        }

    def bounds(self) -> dict[str, float]:
        """The same with all that rounding may hide: what each of them is at most."""
        return {
            "stationarity": self.stationarity.bound,
            "primal feasibility": self.primal_feasibility.bound,
            "dual feasibility": self.dual_feasibility.bound,
            "complementary slackness": self.complementary_slackness.bound,
            "duality gap": self.relative_gap + self.gap_rounding,
        }

    @property
    def worst(self) -> float:
        """The largest of the five relative measures."""
        return max(self.measures().values())

    def all_but_columns_hold(self, tol: float) -> bool:
        """Whether only columns that doubles cannot tell from dependent ones are in the way: that is the problem's own,
        and no other point of the same objective fares better."""
        others = (value for name, value in self.bounds().items() if name != "stationarity")
        return bool(self.dependent) and all(value <= tol for value in others)

    def may_hold(self, tol: float) -> bool:
        """Whether only what rounding may hide stands between the five measures and ``tol``."""
        bounds = self.bounds()
        return not any(value - (bounds[name] - value) > tol for name, value in self.measures().items())

    def holds(self, tol: float) -> bool:
        """Whether all five relative measures are at most ``tol``, whatever rounding may hide."""
        return all(value <= tol for value in self.bounds().values())


def _largest(values: Mapping[str, Array]) -> float:
    return max((float(v.max(initial=0.0)) for v in values.values()), default=0.0)


def ratio(value: float, scale: float) -> float:
    """value / scale, 0 of nothing, infinite where it cannot be told."""
    if not np.isfinite(value) or not np.isfinite(scale):
        return float("inf")
    return 0.0 if value == 0 else float("inf") if scale == 0 else value / scale


def ratios(values: Array, scales: Array | float) -> Array:
    """The same for each entry."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        out = np.where(values == 0, 0.0, values / scales)
    return np.where(np.isnan(out), np.inf, out)
