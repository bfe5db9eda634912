"""The solvers side by side: what was solved, what was claimed wrongly, how near, how fast."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from convexcls.arrays import Array
from convexcls.bench.trial import MAX_DIGITS, OUTCOMES, Outcome, Trial
from convexcls.in_notebooks import InNotebooks
from convexcls.wording import columns, count, plain_values, seconds

if TYPE_CHECKING:
    from convexcls.report import Report

#: Added to each time before the geometric mean is taken, so that what takes next to no time does not decide.
SHIFT_SECONDS = 0.01
#: How many of the worst are listed.
MAX_WORST = 12
COLUMNS = ("solver", "taken", "solved", "wrong", "short", "silent", "failed", "late", "digits", "seconds")


@dataclass(frozen=True)
class Standing:
    """One solver in figures: how many problems it took, how each ended (see ``Trial``), the median of the digits where
    there is an optimum, the shifted geometric mean of the seconds, where one that is not solved counts as the limit.

    >>> import convexcls as cc
    >>> (standing,) = cc.referee("auto", problems=["two_points"]).standings
    >>> standing.taken, standing.solved, standing.digits
    (1, 1, 16.0)
    """

    solver: str
    taken: int
    solved: int
    wrong: int
    short: int
    silent: int
    failed: int
    late: int
    digits: float
    seconds: float


@dataclass(frozen=True)
class Judgement(InNotebooks):
    """What the referee found: ``trials``, one a solver and problem, and what they add up to.

    >>> import convexcls as cc
    >>> found = cc.referee(["auto", "osqp"], problems=["two_points", "infeasible/hard-margin/xor-1"])
    >>> [(s.solver, s.taken, s.solved, s.wrong) for s in found.standings]
    [('auto', 2, 2, 0), ('osqp', 2, 2, 0)]
    """

    trials: tuple[Trial, ...]
    tol: float
    time_limit: float | None
    #: How each solver is named on the command line; "" where it has no address.
    addresses: tuple[tuple[str, str], ...] = ()

    @cached_property
    def solvers(self) -> tuple[str, ...]:
        """The solvers, in the order in which they were given."""
        return tuple(dict.fromkeys(trial.solver for trial in self.trials))

    def of(self, solver: str) -> list[Trial]:
        """The trials of one solver, on the problems that it took."""
        return [trial for trial in self.trials if trial.solver == solver and trial.taken]

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The table, a row a solver."""
        return tuple(map(self._standing, self.solvers))

    def _standing(self, solver: str) -> Standing:
        own = self.of(solver)
        ends: Counter[Outcome] = Counter(trial.outcome for trial in own)
        digits = [trial.digits for trial in own if not math.isnan(trial.digits)]
        median = float(np.median(digits)) if digits else math.nan
        counts = {name: ends[name] for name in OUTCOMES if name != "refused"}
        return Standing(solver, len(own), digits=median, seconds=self.mean_seconds(own), **counts)

    def mean_seconds(self, own: Sequence[Trial]) -> float:
        """exp(mean log(t + shift)) - shift."""
        if not own:
            return math.nan
        worst = self.time_limit or max((t.seconds for t in self.trials if math.isfinite(t.seconds)), default=0.0)
        taken = [t.seconds if t.outcome == "solved" and math.isfinite(t.seconds) else worst for t in own]
        return float(np.exp(np.mean(np.log(np.array(taken) + SHIFT_SECONDS))) - SHIFT_SECONDS)

    # ---- profiles -------------------------------------------------------------------------------------------

    def profile(self, solver: str) -> tuple[Array, Array]:
        """The performance profile of Dolan and Moré: for each ratio the share of the problems, among those that some
        solver here solved, that this one solved in at most that many times the seconds of the fastest."""
        best = self._best_seconds
        ratios = [
            trial.seconds / best[trial.case]
            for trial in self.of(solver)
            if trial.outcome == "solved" and trial.case in best and math.isfinite(trial.seconds)
        ]
        steps = np.sort(np.maximum(np.array(ratios), 1.0))
        return steps, np.arange(1, steps.size + 1) / max(len(best), 1)

    @cached_property
    def _best_seconds(self) -> dict[str, float]:
        best: dict[str, float] = {}
        for trial in self.trials:
            if trial.outcome == "solved" and trial.seconds > 0:
                best[trial.case] = min(best.get(trial.case, math.inf), trial.seconds)
        return best

    def accuracy(self, solver: str) -> tuple[Array, Array]:
        """For each number of digits the share of the problems with an optimum that this solver took, of which it has at
        least so many right."""
        digits = sorted(t.digits if not math.isnan(t.digits) else 0.0 for t in self.of(solver) if t.known == "optimal")
        return np.array(digits), 1.0 - np.arange(len(digits)) / max(len(digits), 1)

    # ---- the worst ------------------------------------------------------------------------------------------

    @cached_property
    def wrong(self) -> tuple[Trial, ...]:
        """The trials with a wrong claim."""
        return tuple(trial for trial in self.trials if trial.outcome == "wrong")

    def worst(self, solver: str) -> list[Trial]:
        """Wrong claims first, then exceptions and what is not proved, the least accurate first."""
        bad: tuple[Outcome, ...] = ("wrong", "failed", "short", "silent", "late")
        found = [trial for trial in self.of(solver) if trial.outcome in bad]
        least = lambda t: (bad.index(t.outcome), MAX_DIGITS if math.isnan(t.digits) else t.digits)  # noqa: E731
        return sorted(found, key=least)[:MAX_WORST]

    def command(self, trial: Trial) -> str:
        """What to type to see this trial again; empty where the solver has no name there."""
        address = dict(self.addresses).get(trial.solver, trial.solver)
        if not address:
            return ""
        limit = "" if self.time_limit is None else f" --time-limit {self.time_limit:g}"
        tol = f" --tol {self.tol:g}"
        return f"convexcls referee {shlex.quote(address)} --problems {shlex.quote(trial.case)}{tol}{limit}"

    # ---- as text, for programs, as a page -------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<Judgement of {count(len(self.solvers), 'solver')}: {count(len(self.wrong), 'wrong claim')}>"

    def table(self) -> list[list[str]]:
        """The standings in letters."""
        out = []
        for s in self.standings:
            digits = "-" if math.isnan(s.digits) else f"{s.digits:.1f}"
            counts = (s.taken, s.solved, s.wrong, s.short, s.silent, s.failed, s.late)
            out.append([s.solver, *map(str, counts), digits, seconds(s.seconds)])
        return out

    def to_text(self) -> str:
        """The table, then each wrong claim with the command that shows it again."""
        lines = columns(COLUMNS, self.table(), range(1, len(COLUMNS)))
        for trial in self.wrong:
            said = f"{trial.solver} claims {trial.claimed} of {trial.case}, which is {trial.known}"
            lines.append(f"{said}: {trial.reason}" if trial.reason else said)
        return "\n".join(lines)

    __str__ = to_text

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values; what is not a number is None. The schema ``convexcls-referee/1`` says more."""
        trials = [{**asdict(trial), "command": self.command(trial)} for trial in self.trials]
        return plain_values(
            {
                "tolerance": self.tol,
                "time_limit": self.time_limit,
                "shift_seconds": SHIFT_SECONDS,
                "standings": [asdict(standing) for standing in self.standings],
                "trials": trials,
            }
        )

    def report(self, path: Any = None, *, title: str = "Solvers refereed", command: str | None = None) -> Report:
        """One HTML page with the tables, the profiles and the worst cases, written to ``path`` where one is given.

        >>> import convexcls as cc
        >>> found = cc.referee("osqp", problems=["two_points"])
        >>> "Solvers refereed" in found.report().html
        True
        """
        from convexcls.report.referee_page import referee_page

        return referee_page(self, path, title, command)
