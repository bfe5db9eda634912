"""What an exact proof consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from convexcls.problem import Problem


class NoProof(ValueError):
    """There is no exact proof; the message says why."""


@dataclass(frozen=True, eq=False)
class ExactProof:
    """A verdict in rationals, on the data as they were given.

    ``optimal``     ``point`` and ``multipliers`` satisfy the KKT conditions without rounding: ``optimum`` is the
                    minimised objective there, and ``gap``, its distance from the dual objective, is 0.
    ``infeasible``  ``multipliers`` z (>= 0 on inequalities) add the constraints K x <= k up to 0 <= k'z < 0.
    ``unattained``  ``point`` satisfies the constraints, and from it the objective falls for ever along ``direction``.

    ``point`` and ``direction`` leave out the slacks that only bound lines from above: a slack is as small as its lines
    (and its own cost) allow, see ``slacks``. ``multipliers`` has by constraint and row those that are not zero.
    """

    verdict: Literal["optimal", "infeasible", "unattained"]
    problem: Problem
    optimum: Fraction | None = None
    point: Mapping[str, list[Fraction]] = field(default_factory=dict)
    multipliers: Mapping[str, Mapping[int, Fraction]] = field(default_factory=dict)
    gap: Fraction | None = None
    direction: Mapping[str, list[Fraction]] = field(default_factory=dict)
    rows_checked_exactly: int = 0
    notes: tuple[str, ...] = ()

    def slacks(self) -> dict[str, list[Fraction]]:
        """The slacks that ``point`` leaves out, worked out when they are asked for: one number a sample."""
        from convexcls.proofs.exact.slacks import slack_values

        return slack_values(self.problem, self.point)
