"""Where we stand in a case: our result, the fastest peer that reaches the accuracy, and the fastest at its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.bars import OURS
from benchmarks.race import Result


@dataclass(frozen=True)
class Standing:
    """Our line of a case beside the fastest peers. ``known`` says whether accuracies mean something: where nothing was
    proved and we have no answer there is nothing to be accurate to."""

    ours: Result
    exact: Result | None
    fastest: Result | None
    known: bool
    #: Seconds after which the first of the peers was stopped that had not answered by then.
    stopped: float = math.inf

    @classmethod
    def of(cls, results: Sequence[Result]) -> Standing:
        """Of the results of a case, ours among them."""
        ours = next(r for r in results if r.name == OURS)
        known = ours.reached or any(math.isfinite(r.bound) for r in results)
        answered = [r for r in results if not r.ours and not r.status and r.runs]
        stopped = min((r.cap for r in results if not r.ours and r.status.startswith(">")), default=math.inf)
        return cls(ours, _first([r for r in answered if r.reached and known]), _first(answered), known, stopped)

    @property
    def answered(self) -> bool:
        """Whether we have an answer that is accurate enough."""
        return not self.ours.status and self.ours.reached

    def ratio(self, peer: Result | None) -> float:
        """The peer's time over ours: above 1 we are faster."""
        if peer is None or not self.answered or not self.ours.seconds > 0.0:
            return math.nan
        return peer.seconds / self.ours.seconds

    @property
    def decisive(self) -> float:
        """The ratio that counts: to the fastest peer that reaches the accuracy, else to the fastest at its own, else to
        those that were stopped, which took longer; 0 where we have no answer."""
        if not self.answered:
            return 0.0
        if (peer := self.exact or self.fastest) is not None:
            return self.ratio(peer)
        return self.stopped / self.ours.seconds if math.isfinite(self.stopped) else math.nan

    def words(self, peer: Result | None) -> str:
        """A peer with its time, and the accuracy that it reaches where that is not enough."""
        if peer is None:
            return ""
        short = "" if peer.reached and self.known else f" ({peer.accuracy:.0e})" if self.known else " (unproved)"
        return f"{peer.name} {peer.seconds:.3g} s{short}"


def _first(results: Sequence[Result]) -> Result | None:
    return min(results, key=lambda r: r.seconds, default=None)
