"""What there is to say of a fitted estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from convexcls.arrays import Array
from convexcls.in_notebooks import InNotebooks
from convexcls.problem import BY_SAMPLE, Problem
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.kkt.residuals import KKT, Residual
from convexcls.proofs.words import MEASURES, worst_at
from convexcls.solution import Solution

#: A fit that is so near to the optimum is called optimal to rounding.
OPTIMAL_TO_ROUNDING = 1e-12
#: So many samples are named for a condition.
NAMED = 5


@dataclass(frozen=True, eq=False)
class Appraisal(InNotebooks):
    """A fitted estimator, judged as the answer to the convex program that it really solved.

    ``problem`` is that program and ``named`` says in a sentence which one it is. ``objective`` is its value at the
    estimator's point (where that violates the constraints but ``stretch`` times it does not, at that multiple), and
    lower <= optimum <= upper is proved. ``suboptimality`` = objective - lower is then the most by which the fit misses
    the optimum, ``suboptimality_at_least`` = objective - upper the least. ``kkt`` measures the optimality conditions at
    the estimator's ``point`` with ``multipliers``, its own where it keeps any (``source``).
    ``certificate`` is the toolkit's verdict on that point, ``proof`` the solution whose multipliers gave the lower
    bound where the estimator's own did not. ``findings`` are the things that are off.

    >>> import convexcls as cc
    >>> X, y = [[0.0], [2.0]], [0, 1]
    >>> appraisal = cc.certify(([1.5], -1.5), X, y, model="soft-margin", C=1.0)  # the best coef is 1
    >>> round(appraisal.objective, 6), round(appraisal.suboptimality, 6)  # 9/8, where 1/2 is possible
    (1.125, 0.625)
    """

    estimator: str
    problem: Problem
    named: str
    objective: float
    lower: float
    upper: float
    verdict: str
    findings: tuple[str, ...]
    kkt: KKT
    certificate: Certificate
    point: Array = field(repr=False)
    multipliers: Mapping[str, Array] = field(repr=False)
    source: str = ""
    bound_by: str = ""
    level: str = "rigorous"
    subject: str = ""
    stretch: float = 1.0
    proof: Solution | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.point.setflags(write=False)
        object.__setattr__(self, "multipliers", MappingProxyType(dict(self.multipliers)))

    @property
    def suboptimality(self) -> float:
        """The most by which the objective of the fit lies above the optimum."""
        return max(self.objective - self.lower, 0.0)

    @property
    def relative_suboptimality(self) -> float:
        """The same relative to the objective (to the problem's unit where that is larger)."""
        return relative(self.suboptimality, self.objective, self.problem)

    @property
    def suboptimality_at_least(self) -> float:
        """The least by which the objective of the fit lies above the optimum."""
        return max(self.objective - self.upper, 0.0)

    @property
    def distance(self) -> float | None:
        """How far coef is from the minimiser's at most, in the Euclidean norm: where the objective has the curvature p
        in coef, it lies p/2 times the squared distance above the optimum. None where it has none, or where
        the objective is that of a multiple."""
        curvature = self.problem.quadratic.get("coef")
        if not isinstance(curvature, np.ndarray) or not np.all(curvature > 0) or self.stretch != 1.0:
            return None
        return float(np.sqrt(2.0 * self.suboptimality / curvature.min()) * (1.0 + 1e-15))

    @property
    def parts(self) -> tuple[Appraisal, ...]:
        """The appraisal of each program that was solved: this one."""
        return (self,)

    def explain(self) -> str:
        """A paragraph, the conditions in a table, the samples that matter, and what was found."""
        lines = [f"{self.estimator}{self._of}: {self.verdict}.", *_paragraph(self), "", *_table(self), *_samples(self)]
        if self.findings:
            lines += ["", "What is off:", *(f"  - {finding}" for finding in self.findings)]
        return "\n".join(lines)

    @property
    def _of(self) -> str:
        return f" ({self.subject})" if self.subject else ""

    def __repr__(self) -> str:
        lines = [
            f"<Appraisal of {self.estimator}{self._of}: {self.verdict}",
            f"  {self.named}",
            f"  objective {self.objective:.10g}, optimum in [{self.lower:.10g}, {self.upper:.10g}] ({self.level})",
        ]
        return "\n".join([*lines, *(f"  - {finding}" for finding in self.findings)]) + ">"


@dataclass(frozen=True, eq=False)
class Appraisals(InNotebooks):
    """The appraisals of an estimator that solved several programs, such as one for each pair of classes. Its objective,
    bounds and suboptimality are sums over ``parts``.

    >>> import convexcls as cc
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["a", "a", "b", "b", "c", "c"]
    >>> appraisals = cc.certify(RidgeClassifier().fit(X, y), X, y)
    >>> len(appraisals), bool(appraisals.relative_suboptimality < 1e-8)
    (3, True)
    """

    estimator: str
    named: str
    parts: tuple[Appraisal, ...]
    findings: tuple[str, ...] = ()

    @property
    def objective(self) -> float:
        """The sum of the objectives."""
        return float(sum(p.objective for p in self.parts))

    @property
    def lower(self) -> float:
        """The sum of the lower bounds, rounded down."""
        return _added([p.lower for p in self.parts], -np.inf)

    @property
    def upper(self) -> float:
        """The sum of the upper bounds, rounded up."""
        return _added([p.upper for p in self.parts], np.inf)

    @property
    def suboptimality(self) -> float:
        """The most by which the objectives together lie above the optima."""
        return _added([p.suboptimality for p in self.parts], np.inf)

    @property
    def relative_suboptimality(self) -> float:
        """The largest relative suboptimality of a part."""
        return max(p.relative_suboptimality for p in self.parts)

    @property
    def verdict(self) -> str:
        """The verdict on the worst part, and how many there are."""
        worst = max(self.parts, key=lambda p: p.relative_suboptimality)
        return f"{len(self.parts)} programs, the worst ({worst.subject}) {worst.verdict}"

    def explain(self) -> str:
        """The appraisals one after another."""
        head = [f"{self.estimator}: {self.named} {self.verdict}.", *(f"Found: {f}." for f in self.findings)]
        return "\n\n".join(["\n".join(head), *(p.explain() for p in self.parts)])

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Appraisal]:
        return iter(self.parts)

    def __getitem__(self, index: int) -> Appraisal:
        return self.parts[index]

    def __repr__(self) -> str:
        lines = [f"<Appraisals of {self.estimator}: {self.verdict}", f"  {self.named}"]
        lines += [f"  - {finding}" for finding in self.findings]
        return "\n".join([*lines, *(f"  {p.subject}: {p.verdict}" for p in self.parts)]) + ">"


def relative(amount: float, objective: float, problem: Problem) -> float:
    """An amount in units of the objective, or of the problem where the objective is smaller than its unit."""
    scale = max(abs(objective), problem.unit)
    return 0.0 if amount == 0 else float("inf") if scale == 0 else amount / scale


def _added(values: list[float], towards: float) -> float:
    """The sum of a few numbers, each partial sum rounded outward."""
    total = 0.0
    for value in values:
        total = float(np.nextafter(total + value, towards))
    return total


# ---- in words -------------------------------------------------------------------------------------------


def verdict_on(problem: Problem, objective: float, lower: float, own: Solution | None) -> str:
    """How far the objective of the fit is from the optimum, at most."""
    if own is not None and own.status == "infeasible":
        return "the program that it solves has no feasible point"
    above = max(objective - lower, 0.0)
    share = relative(above, objective, problem)
    if own is not None and own.status == "unattained":
        return f"the program has no minimiser; at most {above:.2g} above its infimum"
    if not np.isfinite(above):
        return "no bound on the distance from the optimum was found"
    if share <= OPTIMAL_TO_ROUNDING:
        return f"optimal to rounding (at most {above:.1e} above the optimum, relative {share:.1e})"
    return f"within {above:.2g} of optimal (relative {share:.1e})"


def _paragraph(a: Appraisal) -> list[str]:
    """What was solved, what the fit reaches, what nobody can undercut, and how we know."""
    certain = {
        "float": "as far as floating point can tell",
        "rigorous": "despite all rounding",
        "exact": "in exact arithmetic",
    }[a.level]
    out = [
        f"{a.named}.",
        f"{_where(a)} the objective of this program is {a.objective:.12g}. By weak duality no feasible",
        f"point lies below {a.lower:.12g}, "
        f"{certain}: that bound comes from {a.bound_by or 'multipliers'}"
        f"{'' if a.level == 'exact' else ', and it holds whoever made them'}.",
    ]
    if np.isfinite(a.suboptimality):
        least = a.suboptimality_at_least
        between = f"between {least:.3g} and" if least > 0 else "at most"
        fit = "the fit" if a.stretch == 1.0 else f"{a.stretch:.6g} times the fit, not the fit itself,"
        out.append(f"So {fit} lies {between} {a.suboptimality:.3g} above the optimum.")
    if a.distance is not None and np.isfinite(a.distance):
        out.append(f"As the objective is strongly convex, coef is within {a.distance:.3g} of the only best one.")
    multipliers = f", with the multipliers {a.source}" if a.multipliers else ""
    out.append(f"The optimality conditions at the fitted point{multipliers}:")
    return out


def _where(a: Appraisal) -> str:
    """Where the objective is taken: a point that violates its constraints has none that could be compared."""
    if a.stretch == 1.0:
        return "At the fitted parameters"
    return f"The fitted parameters violate the constraints; at {a.stretch:.6g} times them, which do not,"


def _table(a: Appraisal) -> list[str]:
    """A line for each condition: largest residual, relative one, where it is, what the condition means."""
    features = () if a.problem.data is None else a.problem.data.features
    lines = [f"  {'condition':<24}{'largest':>10}{'relative':>10}  {'where':<20}meaning"]
    for name, share in a.kkt.measures().items():
        residual: Residual | None = getattr(a.kkt, name.replace(" ", "_"), None)
        largest = a.kkt.gap if residual is None else residual.max
        where = "-" if residual is None or residual.max == 0 else worst_at(residual, features)
        lines.append(f"  {name:<24}{largest:>10.1e}{share:>10.1e}  {where:<20}{MEASURES[name]}")
    return lines


def _samples(a: Appraisal) -> list[str]:
    """The samples that matter: those that hold the answer, and those at which a condition fails most."""
    lines: list[str] = []
    constraint = next((c for c in a.problem.constraints if c.name == "margin"), None)
    weights = a.multipliers.get("margin") if constraint is not None else None
    if a.problem.variables[0].name == "margin":  # a kernel machine: its unknowns are the multipliers
        weights = a.point
    if weights is not None and weights.size:
        held = np.flatnonzero(np.abs(weights) > 1e-9 * np.abs(weights).max(initial=0.0))
        top = held[np.argsort(-np.abs(weights[held]), kind="stable")[:NAMED]]
        shown = ", ".join(f"{i} ({weights[i]:.4g})" for i in top)
        most = f"; the largest multipliers: {shown}" if shown else ""
        lines.append(f"Samples that hold the answer: {held.size} of {weights.size}{most}.")
    lines += _worst_rows(a, a.kkt.complementary_slackness, "complementary slackness")
    lines += _worst_rows(a, a.kkt.dual_feasibility, "the sign of the multipliers")
    if not a.problem.constraints and a.problem.terms:
        lines += _largest_losses(a)
    return ["", *lines] if lines else []


def _worst_rows(a: Appraisal, residual: Residual, what: str) -> list[str]:
    """The samples with the largest relative residual of a condition, block by block."""
    out = []
    kinds = {b.name: b.kind for b in a.problem.constraints}
    for block, values in residual.relative_values.items():
        worst = np.argsort(-values, kind="stable")[:NAMED]
        worst = worst[values[worst] > 1e-9]
        if worst.size and kinds.get(block) in BY_SAMPLE:
            shown = ", ".join(f"{i} ({residual.values[block][i]:.1e})" for i in worst)
            out.append(f"Samples farthest from {what} ({block}): {shown}.")
    return out


def _largest_losses(a: Appraisal) -> list[str]:
    """Where there are no constraints: the samples that pull hardest."""
    term = a.problem.terms[0]
    u = a.problem.rows(term) @ a.point + term.offset
    values = np.where(term.weights > 0, term.weights * term.loss.value(u), 0.0)
    top = np.argsort(-values, kind="stable")[:NAMED]
    shown = ", ".join(f"{i} ({values[i]:.4g})" for i in top if values[i] > 0)
    return [f"Samples with the largest losses: {shown}."] if shown else []
