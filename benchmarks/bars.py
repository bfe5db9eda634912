"""Bars: what a case is to reach, and the judgement whether it does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from benchmarks.race import Result

#: The contender that bars are about: what a user calls, with everything in the time.
OURS = "convexcls"
Mark = Literal["met", "missed", "open"]


@dataclass(frozen=True)
class Bar:
    """A limit on one number of our own line.

    ``ratio`` is the time of the fastest peer over ours, at least ``limit``; peers are named by patterns. Only peers
    that reach the case's accuracy count, unless ``at_own_accuracy``; with ``or_own_accuracy`` the others count where
    none reaches it. ``passes``, ``memory`` (relative to X),
    ``milliseconds`` and any number in ``Result.extra`` are at most ``limit``.
    """

    kind: str
    limit: float
    against: tuple[str, ...] = ("*",)
    at_own_accuracy: bool = False
    or_own_accuracy: bool = False
    words: str = ""

    @property
    def text(self) -> str:
        """The bar in words."""
        if self.words:
            return self.words
        if self.kind != "ratio":
            return f"{self.kind} <= {self.limit:g}"
        who = "fastest peer" if self.against == ("*",) else "fastest of " + ", ".join(self.against)
        return f">= {self.limit:g}x {who}" + (" (at its own accuracy)" if self.at_own_accuracy else "")


@dataclass(frozen=True)
class Verdict:
    """A bar, what was measured, and whether that meets it."""

    bar: str
    mark: Mark
    found: str


def judge(bar: Bar, results: Sequence[Result]) -> Verdict:
    """Whether our line meets the bar; ``open`` where nothing was there to compare."""
    ours = next((r for r in results if r.ours and r.name == OURS), None)
    if ours is None:
        return Verdict(bar.text, "open", "not run")
    if ours.status or not ours.reached:
        return Verdict(bar.text, "missed", f"ours: {ours.status or f'only {ours.accuracy:.1e}'}")
    if bar.kind == "ratio":
        return _ratio(bar, ours, results)
    value = _value(bar.kind, ours)
    if math.isnan(value):
        return Verdict(bar.text, "open", "not measured")
    return Verdict(bar.text, "met" if value <= bar.limit else "missed", f"{value:.3g}")


def _value(kind: str, ours: Result) -> float:
    if kind == "passes":
        return ours.passes
    if kind == "memory":
        return ours.memory
    if kind == "milliseconds":
        return 1e3 * ours.seconds
    return ours.extra.get(kind, math.nan)


def _ratio(bar: Bar, ours: Result, results: Sequence[Result]) -> Verdict:
    """Compare with the fastest peer that counts; peers stopped at the cap are known to take longer than that."""
    peers = [r for r in results if not r.ours and any(fnmatchcase(r.name, p) for p in bar.against)]
    answered = [r for r in peers if not r.status]
    counted = [r for r in answered if r.reached or bar.at_own_accuracy] or (answered if bar.or_own_accuracy else [])
    if counted:
        fastest = min(counted, key=lambda r: r.seconds)
        ratio = fastest.seconds / ours.seconds
        found = f"{ratio:.3g}x {fastest.name}" + ("" if fastest.reached else f", which reaches {fastest.accuracy:.0e}")
        return Verdict(bar.text, "met" if ratio >= bar.limit else "missed", found)
    if stopped := [r.cap for r in peers if r.status.startswith(">")]:
        ratio = min(stopped) / ours.seconds
        found = f"> {ratio:.3g}x: those that ran were stopped at the cap"
        return Verdict(bar.text, "met" if ratio >= bar.limit else "open", found)
    return Verdict(bar.text, "open", "no peer reaches the accuracy" if peers else "no such peer was run")
