"""The answer to a problem, with its proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.certificate import KKT, Certificate, Status, certify
from convexcls.data import Data, check_matrix
from convexcls.geometry import Uniqueness, intercept_interval, support_rows, uniqueness
from convexcls.problem import Problem
from convexcls.rows import as_rows

Array = NDArray[np.float64]


class NoAnswer(ValueError):
    """What was asked for does not exist: the problem has no solution, or the model no such quantity."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The point a solver found, judged. ``status`` is the toolkit's own verdict; what the solver said of
    itself is only in ``message``."""

    problem: Problem
    solver: str
    certificate: Certificate
    x: Array | None
    multipliers: Mapping[str, Array]
    message: str = ""
    iterations: int = 0
    seconds: float = 0.0
    trace: tuple[Any, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for array in (*self.multipliers.values(), *(() if self.x is None else (self.x,))):
            array.setflags(write=False)
        object.__setattr__(self, "multipliers", MappingProxyType(dict(self.multipliers)))

    @property
    def status(self) -> Status:
        """optimal, infeasible, unattained or undecided."""
        return self.certificate.status

    @property
    def kkt(self) -> KKT:
        """The four residuals."""
        if self.certificate.kkt is None:
            raise NoAnswer(f"there is no point to measure: {self.certificate.reason or self.status}")
        return self.certificate.kkt

    @property
    def objective(self) -> float:
        """The objective at the point, in the sense in which the problem is written; NaN without a point."""
        kkt = self.certificate.kkt
        return float("nan") if kkt is None or self.x is None else self.problem.reported(kkt.objective)

    @property
    def dual_objective(self) -> float:
        """The bound that the multipliers give."""
        kkt = self.certificate.kkt
        return float("nan") if kkt is None or self.x is None else self.problem.reported(kkt.dual_objective)

    @property
    def gap(self) -> float:
        """Primal minus dual objective (minimised form)."""
        kkt = self.certificate.kkt
        return float("nan") if kkt is None or self.x is None else kkt.gap

    @cached_property
    def values(self) -> Mapping[str, Array]:
        """The point by variable."""
        return MappingProxyType(self.problem.split(self._point()))

    def _point(self) -> Array:
        if self.x is None:
            raise NoAnswer(f"the {self.problem.name} has no solution to show: it is {self.status}")
        return self.x

    # ---- the classifier ---------------------------------------------------------------------------

    @property
    def coef(self) -> Array:
        """The coefficients, one a feature."""
        if "coef" not in self.problem.layout:
            raise NoAnswer(f"the {self.problem.name} has no variable 'coef'; see .values, or .primal() for a dual")
        return self.values["coef"]

    @cached_property
    def intercept(self) -> float:
        """The intercept, 0 where the model has none."""
        if "intercept" in self.problem.layout:
            return float(self.values["intercept"][0])
        chooser = getattr(self.problem, "intercept_for", None)
        return float(chooser(self.coef)) if chooser is not None else 0.0

    @property
    def data(self) -> Data:
        """The training data."""
        data = getattr(self.problem, "data", None)
        if data is None:
            raise NoAnswer(f"the {self.problem.name} was not declared on data")
        return data

    def decision_function(self, X: Any) -> Array:
        """f(x) = coef'x + intercept, above 0 for the second label."""
        matrix = check_matrix(X, columns=self.coef.size)
        return as_rows(matrix) @ self.coef + (self.intercept - getattr(self.problem, "threshold", 0.0))

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted label of each row; for real targets the fitted value."""
        scores = self.decision_function(X)
        labels = self.data.labels
        return scores if labels is None else np.where(scores > 0, labels[1], labels[0])

    def predict_proba(self, X: Any) -> Array:
        """The probabilities of both labels, for logistic models."""
        if not any(t.loss.name == "logistic" for t in self.problem.terms):
            raise NoAnswer(f"the {self.problem.name} has no probabilities: its scores are not log-odds")
        from scipy.special import expit  # not at import: it costs as much as the rest

        scores = self.decision_function(X)
        return np.column_stack([expit(-scores), expit(scores)])  # both to full relative accuracy

    # ---- margins and support ----------------------------------------------------------------------

    @cached_property
    def margins(self) -> Array:
        """The functional margins y_i f(x_i) on the training data."""
        return self._signs() * self.decision_function(self.data.matrix)

    @cached_property
    def geometric_margins(self) -> Array:
        """The margins y_i f(x_i) / ‖coef‖: distances, positive on the right side."""
        return self.margins / self._norm()

    @cached_property
    def signed_distances(self) -> Array:
        """f(x_i) / ‖coef‖ on the training data."""
        return self.decision_function(self.data.matrix) / self._norm()

    def _signs(self) -> Array:
        if self.data.signs is None:
            raise NoAnswer("real targets have no margins")
        return self.data.signs

    def _norm(self) -> float:
        norm = float(np.linalg.norm(self.coef))
        if norm == 0:
            raise NoAnswer("coef is zero: there is no hyperplane, so there are no distances")
        return norm

    @cached_property
    def support(self) -> NDArray[np.intp]:
        """The rows whose margin constraint has a positive multiplier: see ``support_rows`` for the rule."""
        return support_rows(self.problem, self._point(), self.multipliers)

    @cached_property
    def intercept_interval(self) -> tuple[float, float]:
        """All intercepts that are optimal with this coef: one value where a free support point fixes it."""
        return intercept_interval(self.problem, self.values, self.multipliers)

    @cached_property
    def uniqueness(self) -> Uniqueness:
        """Whether coef is the only solution, with the rank of the design and the reason."""
        return uniqueness(self.problem, self._point(), self.multipliers)

    # ---- other ------------------------------------------------------------------------------------

    def primal(self) -> Solution:
        """For the solution of a dual: the solution of its primal, mapped back and judged there."""
        back = getattr(self.problem, "recover", None)
        if back is None:
            raise NoAnswer(f"the {self.problem.name} is not a dual")
        x, multipliers = back(self._point(), self.multipliers)
        primal = self.problem.primal  # type: ignore[attr-defined]
        certificate, x, multipliers = certify(primal, x, multipliers, self.certificate.tol)
        return Solution(
            primal, f"{self.solver} on the dual", certificate, x, multipliers or {}, self.message, self.iterations,
            self.seconds, self.trace,
        )  # fmt: skip

    def __repr__(self) -> str:
        value = "" if self.x is None else f", objective {self.objective:.10g}, gap {self.gap:.1e}"
        return f"<Solution of {self.problem.name} by {self.solver}: {self.status}{value}>"

    def _repr_html_(self) -> str:
        return self.certificate._repr_html_()
