"""What a perceptron run has to tell: updates, counts, the mistake bound, a cycle, a proof that no line separates."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import UNIT_ROUNDOFF, Array, Indices, Mask
from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.claims.farkas import Farkas, check_farkas
from convexcls.rows import Rows
from convexcls.solvers.rules import squared_norms, step_size
from convexcls.solvers.rules.history import Convergence, Errors, Pocket, UpdateLog, Updates
from convexcls.wording import count, listed

Counts = NDArray[np.int64]
MACHINE_EPSILON = 2 * UNIT_ROUNDOFF
#: Above this many entries a report does not solve for the margin unless it is asked to.
MAX_ENTRIES_UNASKED = 200_000
#: More weights than this are not written out; so many are judged at a time.
MAX_WRITTEN_ENTRIES, POCKET_BLOCK = 50_000_000, 1000


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

    ``separated`` says whether the last pass made no mistake. ``counts`` is how often each sample caused an update,
    ``updates_made`` which sample made which update; ``way()`` has all weights on the way.
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
    ties: str = "mistake"
    positive: Mask | None = None
    updates_made: Updates = field(default_factory=lambda: UpdateLog(complete=False).closed())

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

    # ---- the way there ------------------------------------------------------------------------------

    def way(self, most: int | None = None) -> tuple[Array, Indices]:
        """The weights w_0, w_1, ... (the start, then after each update; of the batch rule, after each pass), one row
        each, and how many updates had been made; the first ``most`` of the updates where that is given."""
        made = self.updates_made
        if most is None and not made.complete:
            raise NoAnswer(f"there were {self.updates} updates: only the first {made.samples.size} of them are kept")
        chosen = slice(0, most)
        if self.rule == "batch" and most is not None and most < made.passes.size:
            chosen = slice(0, int(np.searchsorted(made.passes, made.passes[most])))  # whole passes
        samples, passes = made.samples[chosen], made.passes[chosen]
        if samples.size * self.start.size > MAX_WRITTEN_ENTRIES:
            raise NoAnswer(f"the weights after {samples.size} updates are too many to be written out")
        rate = np.array([step_size(self.step, self.rate, tau) for tau in passes.tolist()])
        steps = rate[:, None] * -self.rows[np.searchsorted(self.used, samples)].to_dense()
        count = np.arange(1, samples.size + 1)
        if self.rule == "batch" and samples.size:
            first = np.flatnonzero(np.diff(passes, prepend=0))
            steps, count = np.add.reduceat(steps, first, axis=0), np.append(first[1:], samples.size)
        return np.cumsum(np.vstack([self.start, steps]), axis=0), np.append(0, count)

    def errors(self, weights: Array | None = None) -> Errors:
        """The training samples that some weights, by default those at the end, mistake, ties counted as the rule counts
        them."""
        positive = self._positive()
        margins = -(self.rows @ (self.weights if weights is None else np.asarray(weights, dtype=float)))
        wrong = ~((margins > 0) | (margins == 0) & positive) if self.ties == "positive" else ~(margins > 0)
        return Errors(int((wrong & ~positive).sum()), int((wrong & positive).sum()))

    @cached_property
    def pocket(self) -> Pocket:
        """The pocket algorithm's weights: the best that the rule passed through, for classes that overlap."""
        weights, count = self.way()
        rows, positive, best = self.rows, self._positive(), np.zeros(len(weights), dtype=int)
        for k in range(0, len(weights), POCKET_BLOCK):
            margins = -np.column_stack([rows @ w for w in weights[k : k + POCKET_BLOCK]])
            right = margins > 0
            if self.ties == "positive":
                right |= (margins == 0) & positive[:, None]
            best[k : k + POCKET_BLOCK] = (~right).sum(axis=0)
        at = int(best.argmin())
        return Pocket(weights[at], int(count[at]), self.errors(weights[at]))

    @cached_property
    def averaged(self) -> Array:
        """The average of the weights after every visit of a sample (of the batch rule, after every pass): the averaged
        perceptron. An update counts for every visit from its own on."""
        made = self.updates_made
        if not made.complete:
            raise NoAnswer(f"there were {self.updates} updates: only the first {made.samples.size} of them are kept")
        a_pass = 1 if self.rule == "batch" else self.used.size
        total = a_pass * self.passes
        rate = np.array([step_size(self.step, self.rate, tau) for tau in made.passes.tolist()])
        counted = rate * (total - (a_pass * (made.passes - 1) + made.visits) + 1) / total
        coefficients = np.zeros(self.used.size)
        np.add.at(coefficients, np.searchsorted(self.used, made.samples), counted)
        return np.asarray(self.start - self.rows.T @ coefficients)

    def convergence(self) -> Convergence:
        """‖w_t‖² and w_t'w* after every update beside what the convergence proof says of them."""
        bound = self.mistake_bound()
        separator = np.asarray(self.separation.solve().x)
        separator = separator / np.linalg.norm(separator)
        weights, t = self.way()
        grown = t.astype(float)
        times = self.used.size if self.rule == "batch" else 1
        return Convergence(
            updates=t,
            squared_norms=np.sum(weights * weights, axis=1),
            at_most=times * grown * (self.rate * bound.radius) ** 2,
            along=weights @ separator,
            at_least=grown * self.rate * bound.margin,
            separator=separator,
            radius=bound.radius,
            margin=bound.margin,
        )

    def _positive(self) -> Mask:
        if self.positive is None:
            raise NoAnswer("the rows of this problem do not tell which samples are positive")
        return self.positive

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
        ties = ", f = 0 taken for positive" if self.ties == "positive" else ""
        lines = [
            f"perceptron, {self.rule}{order}, {rate}{ties}, started {begun}:",
            f"  {self.made}, by {np.count_nonzero(self.counts)} of the samples",
            f"  {self._outcome()}",
        ]
        if self.positive is not None and not self.separated:
            lines.append(f"  at the end {self.errors()}")
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
            "errors": None if self.positive is None else vars(self.errors()),
            "updates": self.updates,
            "passes": self.passes,
            "counts": {str(i): int(self.counts[i]) for i in np.flatnonzero(self.counts)},
            "cycle": None if cycle is None else {"passes": cycle.passes, "updates": cycle.updates},
            "proved_not_separable": proof is not None,
        }
