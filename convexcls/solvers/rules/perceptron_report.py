"""What a perceptron run has to tell: updates, counts, the mistake bound, a cycle, a proof that no line separates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import UNIT_ROUNDOFF, Array, Indices
from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.claims.farkas import Farkas, check_farkas
from convexcls.rows import Rows
from convexcls.solvers.rules import squared_norms
from convexcls.wording import count, listed

Counts = NDArray[np.int64]
MACHINE_EPSILON = 2 * UNIT_ROUNDOFF
#: Above this many entries a report does not solve for the margin unless it is asked to.
MAX_ENTRIES_UNASKED = 200_000


@dataclass(frozen=True, eq=False)
class Cycle:
    """The weights after pass ``begin`` came back ``passes`` passes and ``updates`` updates later; ``counts`` are the
    updates of each sample in between. They add up to nothing: sum_i counts_i v_i = 0."""

    begin: int
    passes: int
    updates: int
    counts: Counts

    def __str__(self) -> str:
        return f"{count(self.passes, 'pass', 'es')} with {count(self.updates, 'update')}"


@dataclass(frozen=True)
class MistakeBound:
    """Novikoff's bound on the updates from start 0: at most R²/γ² on-line, at most n R²/γ² for the batch rule, with
    R = max ‖v_i‖ (``radius``) and γ = max over ‖w‖ = 1 of min_i v_i'w (``margin``).

    ``margin`` is reached by a hyperplane and rounded down, so ``bound`` is a bound for certain. That of the largest
    margin lies between ``lowest`` and ``bound``.
    """

    updates: int
    radius: float
    margin: float
    bound: float
    lowest: float

    @property
    def holds(self) -> bool:
        """Whether the updates made are at most the bound."""
        return self.updates <= self.bound


@dataclass(frozen=True, eq=False)
class PerceptronReport:
    """A run of the perceptron rule on the rows v_i = y_i (x_i, 1), times their weights where samples have any.

    ``separated`` says whether the last pass made no mistake. ``counts`` is how often each sample caused an update.
    ``proof`` shows ``separation`` infeasible: no hyperplane has all samples strictly on their right side.
    """

    rule: str
    separation: Problem
    used: Indices
    updates: int
    passes: int
    counts: Counts
    weights: Array
    start: Array
    rate: float
    step: str
    order: str
    separated: bool
    cycle: Cycle | None = None
    proof: Farkas | None = None
    seed: int = 0

    @property
    def made(self) -> str:
        """The updates and passes in words."""
        return f"{count(self.updates, 'update')} in {count(self.passes, 'pass', 'es')}"

    @property
    def rows(self) -> Rows:
        """The rows -v_i of the samples that have a weight."""
        return self.separation.rows(self.separation.constraints[0])

    # ---- the counts ---------------------------------------------------------------------------------

    @cached_property
    def exact_weights(self) -> tuple[Fraction, ...]:
        """start + rate sum_i counts_i v_i, in rational arithmetic: doubles are the rationals that they are."""
        if self.step != "fixed":
            raise NoAnswer("the rate changed from pass to pass: the weights are not one rate times the counts")
        counts = self.counts[self.used]
        active = np.flatnonzero(counts)
        out = [Fraction(float(v)) for v in self.start]
        for times, row in zip(counts[active], -self.rows[active].to_dense(), strict=True):
            factor = int(times) * Fraction(float(self.rate))
            out = [total + factor * Fraction(float(v)) if v else total for total, v in zip(out, row, strict=True)]
        return tuple(out)

    def counts_reproduce_weights(self) -> bool:
        """Whether w = start + rate sum_i counts_i v_i exactly. Whole numbers add up without rounding: then it is true.
        Otherwise see ``rounding``."""
        return self.rounding == 0

    @cached_property
    def rounding(self) -> float:
        """The largest difference between the weights and what the counts make of them, relative to the largest."""
        pairs = list(zip(self.exact_weights, map(float, self.weights), strict=True))
        largest = max((abs(exact) for exact, _ in pairs), default=Fraction(0))
        worst = max((abs(exact - Fraction(found)) for exact, found in pairs), default=Fraction(0))
        return float(worst / largest) if largest else float(worst)

    # ---- the bound ----------------------------------------------------------------------------------

    def mistake_bound(self) -> MistakeBound:
        """The bound on the updates, with the margin from the hard margin through the origin of the rows."""
        return self._mistake_bound

    @cached_property
    def _mistake_bound(self) -> MistakeBound:
        if reason := self._no_bound():
            raise NoAnswer(f"there is no mistake bound: {reason}")
        solution = self.separation.solve()
        w = self.weights if solution.x is None else np.asarray(solution.x)
        rows, size = self.rows, abs(self.rows)
        rounding = 2.0 * (rows.shape[1] + 2) * MACHINE_EPSILON
        # v_i'w rounded down, ‖w‖ and R rounded up: what is claimed is true in spite of rounding
        nearest = float(np.min(-(rows @ w) - rounding * (size @ np.abs(w))))
        if not nearest > 0:
            raise NoAnswer("there is no mistake bound: no margin above rounding was found")
        margin = nearest / (float(np.linalg.norm(w)) * (1.0 + rounding))
        largest = float(np.sqrt(squared_norms(rows).max()))
        radius = largest * (1.0 + rounding)
        times = rows.shape[0] if self.rule == "batch" else 1
        alpha = np.maximum(solution.multipliers.get("margin", np.zeros(rows.shape[0])), 0.0)
        many = rounding * rows.shape[0]
        reach = float(np.linalg.norm(np.abs(rows.T @ alpha) + many * (size.T @ alpha)))  # >= γ sum_i alpha_i
        lowest = (largest * (1.0 - many) * float(alpha.sum()) / reach) ** 2 if reach > 0 else 0.0
        return MistakeBound(self.updates, radius, margin, times * (radius / margin) ** 2, times * lowest)

    def _no_bound(self) -> str:
        if self.proof is not None:
            return "the classes are not separable, so there is no margin"
        if np.any(self.start):
            return "it is for runs that start at 0"
        return "it is for a fixed rate" if self.step != "fixed" else ""

    # ---- the proof ----------------------------------------------------------------------------------

    def proof_verifies(self) -> bool:
        """Whether there is a proof of non-separability and it stands up to being checked again."""
        return self.proof is not None and check_farkas(self.separation, self.proof.multipliers) is not None

    # ---- in words -----------------------------------------------------------------------------------

    def explain(self, bound: bool | None = None) -> str:
        """The run in words; ``bound`` says whether to solve for the margin (by default where that is quick)."""
        begun = "at 0" if not np.any(self.start) else f"at ({listed((f'{v:g}' for v in self.start), 6)})"
        rate = f"rate {self.rate:g}" if self.step == "fixed" else f"rate {self.rate:g}/pass"
        order = f", {self.order} order" if self.rule == "on-line" else ""
        lines = [
            f"perceptron, {self.rule}{order}, {rate}, started {begun}:",
            f"  {self.made}, by {np.count_nonzero(self.counts)} of the samples",
            f"  {self._outcome()}",
        ]
        if self.step == "fixed":
            lines.append(f"  {self._counts_in_words()}")
        if bound is None:
            bound = self.rows.shape[0] * self.rows.shape[1] <= MAX_ENTRIES_UNASKED
        if bound and self.separated and not self._no_bound():
            lines.append(f"  {self._bound_in_words()}")
        return "\n".join(lines)

    __str__ = explain

    def _outcome(self) -> str:
        if self.separated:
            return "the last pass made no mistake: the weights separate the classes"
        cycle = "" if self.cycle is None else f"\n  the weights repeat: a cycle of {self.cycle}"
        if self.proof is None:
            return f"stopped without an answer: neither separated nor proved not to be separable{cycle}"
        rows = int(np.count_nonzero(self.proof.multipliers["margin"]))
        return (
            "no hyperplane has all samples strictly on their right side: proved by "
            f"{count(rows, 'sample')} whose rows y_i (x_i, 1) combine to 0 with positive weights{cycle}"
        )

    def _counts_in_words(self) -> str:
        formula = "w = " + ("start + " if np.any(self.start) else "")
        formula += ("" if self.rate == 1 else f"{self.rate:g} ") + "sum_i counts_i y_i (x_i, 1)"
        if self.counts_reproduce_weights():
            return f"{formula} holds exactly"
        return f"{formula} holds to rounding (relative {self.rounding:.1e})"

    def _bound_in_words(self) -> str:
        try:
            found = self.mistake_bound()
        except NoAnswer as reason:
            return str(reason)
        formula = "n R²/γ²" if self.rule == "batch" else "R²/γ²"
        sizes = f"R = {found.radius:.6g}, γ = {found.margin:.6g}"
        sign = "<=" if found.holds else ">"
        return f"mistake bound: {found.updates} updates {sign} {formula} = {found.bound:.6g}, with {sizes}"

    def to_dict(self) -> dict[str, Any]:
        """The run as plain values."""
        cycle, proof = self.cycle, self.proof
        return {
            "rule": self.rule,
            "order": self.order,
            "rate": self.rate,
            "step": self.step,
            "start": self.start.tolist(),
            "weights": self.weights.tolist(),
            "separated": self.separated,
            "updates": self.updates,
            "passes": self.passes,
            "counts": {str(i): int(self.counts[i]) for i in np.flatnonzero(self.counts)},
            "cycle": None if cycle is None else {"passes": cycle.passes, "updates": cycle.updates},
            "proved_not_separable": proof is not None,
        }
