"""What the referee has to say of a fitted estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem, carry_out
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.kkt.measures import KKT
from convexcls.solution import Solution

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Appraisal:
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
        from convexcls.referee.words import explained

        return explained(self)

    def __repr__(self) -> str:
        of = f" ({self.subject})" if self.subject else ""
        lines = [
            f"<Appraisal of {self.estimator}{of}: {self.verdict}",
            f"  {self.named}",
            f"  objective {self.objective:.10g}, optimum in [{self.lower:.10g}, {self.upper:.10g}] ({self.level})",
        ]
        return "\n".join([*lines, *(f"  - {finding}" for finding in self.findings)]) + ">"

    def _repr_html_(self) -> str:
        return carry_out("html", self)


@dataclass(frozen=True, eq=False)
class Appraisals:
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

    def _repr_html_(self) -> str:
        return carry_out("html", self)


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
