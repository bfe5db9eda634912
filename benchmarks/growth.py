"""How our time grows with the number of samples and of features: exponents fitted over several sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks import hard_margin, kernel, least_squares, logistic, soft_margin, softmax
from benchmarks.bars import OURS, Verdict
from benchmarks.race import Case, Setup, race

#: The bar: above ten thousand rows the exponent in n is at most this.
MOST_IN_N = 1.1
IN_N = (20_000, 40_000, 80_000, 160_000)
IN_D = (25, 50, 100, 200)


@dataclass(frozen=True)
class Growth:
    """One family of problems, one size that varies, the others fixed."""

    case: Case
    varied: str
    values: tuple[int, ...]
    fixed: Mapping[str, int]
    #: The values of quick runs; none leaves it out of them.
    quick: tuple[int, ...]
    bar: float = math.nan

    @property
    def name(self) -> str:
        """The family, what varies and what is fixed."""
        return f"{self.case.name} in {self.varied} ({', '.join(f'{k} = {v}' for k, v in self.fixed.items())})"

    def quickly(self) -> Growth:
        """The same at small sizes, without its bar."""
        return replace(self, values=self.quick, case=self.case.quickly(), bar=math.nan)


@dataclass(frozen=True)
class Grown:
    """The seconds at each size, and the exponent."""

    name: str
    varied: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    passes: tuple[float, ...]
    bar: float
    note: str = ""

    @property
    def exponent(self) -> float:
        """The slope of log seconds over log size."""
        return exponent(self.sizes, self.seconds)

    @property
    def verdict(self) -> Verdict | None:
        """Against the bar, where there is one."""
        if math.isnan(self.bar):
            return None
        text = f"exponent in {self.varied} <= {self.bar:g}"
        if math.isnan(self.exponent):
            return Verdict(text, "missed", self.note or "not measured")
        return Verdict(text, "met" if self.exponent <= self.bar else "missed", f"{self.exponent:.2f}")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"growth": self.name, "sizes": self.sizes, "seconds": self.seconds, "exponent": self.exponent}


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The least-squares slope of log seconds over log size; NaN where a time is missing."""
    if len(sizes) < 2 or len(sizes) != len(seconds) or not np.all(np.isfinite(seconds)):
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def grow(growth: Growth, setup: Setup, begins: Callable[[str], None] = lambda _: None) -> Iterator[Grown]:
    """Run our side at each size in turn; yields what is known after each. Stops where a size cannot be solved."""
    ours = tuple(c for c in growth.case.contenders if c.name == OURS)
    seconds: list[float] = []
    passes: list[float] = []
    for k, value in enumerate(growth.values):
        begins(f"{growth.varied} = {value}")
        sized = replace(growth.case, contenders=ours, sizes={**growth.fixed, growth.varied: value})
        (outcome,) = race(sized, setup)
        (result,) = outcome.results
        solved = not result.status and result.reached
        seconds.append(result.seconds if solved else math.nan)
        passes.append(result.passes if solved else math.nan)
        note = "" if solved else f"{growth.varied} = {value}: {result.status or f'only {result.accuracy:.1e}'}"
        yield Grown(growth.name, growth.varied, growth.values[: k + 1], tuple(seconds), tuple(passes), growth.bar, note)
        if not solved:
            return


def _growths() -> Iterator[Growth]:
    families = (hard_margin.CASES[0], soft_margin.CASES[0], logistic.CASES[0], softmax.CASES[0], least_squares.CASES[0])
    for case in families:
        more = {"K": 5} if "K" in case.sizes else {}
        fixed_d = {"d": 20 if more else 50}
        yield Growth(case, "n", IN_N, {**fixed_d, **more}, (2_000, 4_000, 8_000), MOST_IN_N)
    for case in families:
        more = {"K": 5} if "K" in case.sizes else {}
        values = IN_D[:3] if more else IN_D
        yield Growth(case, "d", values, {"n": 20_000, **more}, ())
    yield Growth(kernel.CASES[0], "n", (1_000, 2_000, 4_000), {"d": 20}, ())


GROWTHS = tuple(_growths())
