"""The answer to a problem, with its proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices
from convexcls.caching import cached_property
from convexcls.data import Data
from convexcls.in_notebooks import InNotebooks
from convexcls.problem import NoAnswer, Problem
from convexcls.problem.duality import Dual
from convexcls.problem.geometry import Uniqueness, intercept_interval, uniqueness
from convexcls.proofs.certificate import Certificate, Level, Status
from convexcls.proofs.kkt.residuals import KKT
from convexcls.proofs.levels import DIGITS, check_level, raise_level
from convexcls.proofs.verdict import certify

if TYPE_CHECKING:
    from convexcls.report import Report
    from convexcls.saved import SavedModel
    from convexcls.studies.inference import Existence, Summary

#: What stands in place of the solver's message when Ctrl-C stopped it.
INTERRUPTED = "interrupted"


@dataclass(frozen=True, eq=False)
class Solution(InNotebooks):
    """The point a solver found, judged. ``status`` is the toolkit's own verdict; what the solver said of
    itself is only in ``message``.

    ``x`` is the point, all variables joined (``values`` has them by name), None where there is none; ``multipliers``
    are by constraint. ``certificate`` is the proof. ``iterations``, ``seconds`` and ``trace`` tell how the
    solver got there, ``chosen`` why it was taken.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0, 0], [3, 4]], ["left", "right"]).solve()
    >>> s.status, round(s.objective, 6), s.coef.round(6).tolist(), round(s.intercept, 6)
    ('optimal', 0.08, [0.24, 0.32], -1.0)
    >>> s.predict([[1, 1], [2, 3]]).tolist(), s.support.tolist()
    (['left', 'right'], [0, 1])
    """

    problem: Problem
    solver: str
    certificate: Certificate
    x: Array | None
    multipliers: Mapping[str, Array]
    message: str = ""
    iterations: int = 0
    seconds: float = 0.0
    trace: tuple[Any, ...] = field(default=(), repr=False)
    #: What a learning rule has to tell besides, such as the perceptron's updates.
    rule_report: Any = field(default=None, repr=False)
    #: Why ``auto`` took this solver; empty where the caller named it.
    chosen: str = field(default="", repr=False)
    #: Whether the solver's time was up before it had a proved answer.
    cut_off: bool = field(default=False, repr=False)
    #: Whether it is read at the last point whatever the verdict, for pictures that say so.
    at_last_point: bool = field(default=False, repr=False)
    #: Where columns depend on others up to rounding: the proved solution without these.
    fewer: Solution | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for array in (*self.multipliers.values(), *(() if self.x is None else (self.x,))):
            array.setflags(write=False)
        object.__setattr__(self, "multipliers", MappingProxyType(dict(self.multipliers)))

    @property
    def status(self) -> Status:
        """optimal, infeasible, unattained or undecided."""
        return self.certificate.status

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped the solver: then this is where it stood, and nothing is proved."""
        return self.message == INTERRUPTED

    def unless_interrupted(self) -> Solution:
        """This solution; where it was interrupted, the interrupt goes on, for work that is made of many solutions."""
        if self.interrupted:
            raise KeyboardInterrupt
        return self

    @property
    def kkt(self) -> KKT:
        """The four residuals.

        >>> import convexcls as cc
        >>> s = cc.HardMarginSVM([[0], [2]], [0, 1]).solve()
        >>> bool(s.kkt.complementary_slackness.max < 1e-12)
        True
        """
        if self.certificate.kkt is None:
            raise NoAnswer(f"there is no point to measure: {self.certificate.reason or self.status}")
        return self.certificate.kkt

    @property
    def objective(self) -> float:
        """The objective at the point, in the sense in which the problem is written; NaN without a point. Where the
        optimum is proved without rounding it is the double nearest to that: rounding the point may cost more."""
        return float("nan") if self.x is None else self.certificate.objective

    @property
    def dual_objective(self) -> float:
        """The bound that the multipliers give; where the optimum is proved without rounding, that."""
        if (proved := self.certificate.nearest_optimum) is not None:
            return proved
        kkt = self.certificate.kkt
        return float("nan") if kkt is None or self.x is None else self.problem.reported(kkt.dual_objective)

    @property
    def gap(self) -> float:
        """Primal minus dual objective (minimised form); where the optimum is proved without rounding, what is left
        open of it."""
        if self.certificate.nearest_optimum is not None:
            return float(self.certificate.upper - self.certificate.lower)
        kkt = self.certificate.kkt
        return float("nan") if kkt is None or self.x is None else kkt.gap

    @cached_property
    def values(self) -> Mapping[str, Array]:
        """The point by variable; ``NoAnswer`` where it is proved that there is no solution."""
        return MappingProxyType(self.problem.split(self._point()))

    @cached_property
    def last_point(self) -> Mapping[str, Array] | None:
        """The point that the solver reached, by variable, whatever the verdict on it; None where it reached none.

        >>> import convexcls as cc
        >>> s = cc.LogisticMLE([[0], [1]], [0, 1]).solve()  # separated: coef grows without end
        >>> s.status, bool(s.last_point["coef"][0] > 1)
        ('unattained', True)
        """
        return None if self.x is None else MappingProxyType(self.problem.split(self.x))

    def _point(self) -> Array:
        """The solution; a point at which a solver stopped is none where it is proved that there is none."""
        proofs = {"infeasible": "its constraints contradict each other", "unattained": "its objective falls for ever"}
        if self.x is None or (self.status in proofs and not self.at_last_point):
            proved = f" (proved: {proofs[self.status]}; see .explain())" if self.status in proofs else ""
            remedy = self.problem.remedy(self.status) if proved else ""
            raise NoAnswer(
                f"the {self.problem.name} has no solution to show: it is {self.status}{proved}"
                + (f". {remedy}" if remedy else "")
            )
        return self.x

    # ---- the classifier ---------------------------------------------------------------------------

    @cached_property
    def coef(self) -> Array:
        """The coefficients, one a feature; for several classes one row a class."""
        return self.problem.coef_from(self.values, self.multipliers)

    @cached_property
    def intercept(self) -> Any:
        """The intercept, 0 where the model has none; for several classes one a class."""
        return self.problem.intercept_from(self.values, self.multipliers)

    @cached_property
    def dual_coef(self) -> Array:
        """The coefficients of a kernel classifier, one a sample: y_i alpha_i."""
        return self.problem.dual_coef_from(self.values, self.multipliers)

    @cached_property
    def estimates(self) -> Any:
        """What a model of the classes estimates: of Gaussian classes priors, means and covariances."""
        return self.problem.estimates_from(self.values, self.multipliers)

    @property
    def data(self) -> Data:
        """The training data."""
        if self.problem.data is None:
            raise NoAnswer(f"the {self.problem.name} was not declared on data")
        return self.problem.data

    def decision_function(self, X: Any) -> Array:
        """f(x) = coef'x + intercept, above 0 for the second label; for several classes one column a class. With targets
        0 and 1 that is the fitted value minus 1/2: see ``fitted_values``.

        A score depends on its row alone, not on the others of the batch or their order: every row is added up in the
        same order. One that is within the bound on its own rounding, (d + 16) 2^-53 (|coef|'|x| + |intercept|), is
        given as 0; of several classes, scores that are within it of the largest are given as equal to it.

        >>> import convexcls as cc
        >>> s = cc.HardMarginSVM([[0], [2]], [0, 1]).solve()
        >>> s.decision_function([[0], [1.5], [4]]).round(6).tolist()
        [-1.0, 0.5, 3.0]
        """
        samples = X if self.problem.data is None else self.problem.data.expand(X)
        return self.problem.scores_from(self.values, self.multipliers, samples)

    def fitted_values(self, X: Any) -> Array:
        """coef'x + intercept for each row, in the coding of the targets; for several classes one column a class.

        >>> import convexcls as cc
        >>> s = cc.LeastSquares([[0], [1], [2], [3]], [0, 0, 1, 1], coding="01").solve()
        >>> s.fitted_values([[0], [3]]).round(6).tolist(), s.decision_function([[0], [3]]).round(6).tolist()
        ([-0.1, 1.1], [-0.6, 0.6])
        """
        return self.decision_function(X) + self.problem.threshold

    def signed_distance(self, X: Any) -> Array:
        """f(x) / ‖coef‖ for each row: its distance from the hyperplane, positive on the side of the second label.

        >>> import convexcls as cc
        >>> cc.HardMarginSVM([[0, 0], [3, 4]], [0, 1]).solve().signed_distance([[0, 0], [6, 8]]).round(6).tolist()
        [-2.5, 7.5]
        """
        return self.decision_function(X) / self._norm()

    def predict(self, X: Any, threshold: float | None = None) -> NDArray[Any]:
        """The predicted label of each row; for real targets the fitted value.

        The second label where the score is above 0, the first where it is 0 or below: a row on the plane, as far as
        rounding lets it be known, belongs to the first. Of several classes the first with the largest score. With a
        ``threshold`` the second label where its probability is above that, for models of two classes that have one.

        >>> import convexcls as cc
        >>> s = cc.LeastSquares([[0], [1], [4], [5]], ["a", "a", "b", "b"]).solve()
        >>> s.predict([[2.4], [2.6]]).tolist()
        ['a', 'b']
        >>> s = cc.LogisticMLE([[0], [0], [0], [1], [1], [1]], ["no", "no", "yes", "no", "yes", "yes"]).solve()
        >>> s.predict([[0], [1]], threshold=0.3).tolist()  # the probabilities of "yes" are 1/3 and 2/3
        ['yes', 'yes']
        """
        labels = self.data.labels
        if threshold is not None:
            return np.array(labels)[self._above(X, threshold)]
        scores = self.decision_function(X)
        if labels is None:
            return scores
        winners = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.array(labels)[winners]

    def _above(self, X: Any, threshold: float) -> Indices:
        """1 where the probability of the second label is above the threshold, 0 elsewhere."""
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold is {threshold}: give a probability, between 0 and 1")
        probabilities = self.predict_proba(X)
        if probabilities.shape[1] != 2:
            raise NoAnswer("a threshold needs two classes: of several the most probable is predicted")
        return (probabilities[:, 1] > threshold).astype(np.intp)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each label, for models that have one.

        >>> import convexcls as cc
        >>> s = cc.LogisticMLE([[0], [0], [0], [1], [1], [1]], ["no", "no", "yes", "no", "yes", "yes"]).solve()
        >>> s.predict_proba([[0], [0.5]]).round(6).tolist()
        [[0.666667, 0.333333], [0.5, 0.5]]
        """
        probabilities = self.problem.probabilities(self.decision_function(X))
        if probabilities is None:
            raise NoAnswer(f"the {self.problem.name} has no probabilities: its scores are not log-odds")
        return probabilities

    # ---- margins and support ----------------------------------------------------------------------

    @cached_property
    def margins(self) -> Array:
        """The functional margins y_i f(x_i) on the training data."""
        return self._signs() * self.decision_function(self.data.samples)

    @cached_property
    def geometric_margins(self) -> Array:
        """The margins y_i f(x_i) / ‖coef‖: distances, positive on the right side."""
        return self.margins / self._norm()

    @cached_property
    def signed_distances(self) -> Array:
        """f(x_i) / ‖coef‖ on the training data."""
        return self.signed_distance(self.data.samples)

    def _signs(self) -> Array:
        if self.data.signs is None:
            raise NoAnswer("real targets and several classes have no margins y_i f(x_i): these need two classes")
        return self.data.signs

    def _norm(self) -> float:
        norm = self.problem.norm_from(self.values, self.multipliers)
        if norm == 0:
            raise NoAnswer("coef is zero: there is no hyperplane, so there are no distances")
        return norm

    @cached_property
    def support(self) -> Indices:
        """The rows whose margin constraint has a positive multiplier: see ``support_rows`` for the rule.

        >>> import convexcls as cc
        >>> cc.HardMarginSVM([[0], [1], [3], [9]], [0, 0, 1, 1]).solve().support.tolist()  # those next to the gap
        [1, 2]
        """
        return self.problem.support_from(self.values, self.multipliers)

    @cached_property
    def intercept_interval(self) -> tuple[float, float]:
        """All intercepts that are optimal with this coef: one value where a free support point fixes it.

        >>> import convexcls as cc
        >>> s = cc.SoftMarginSVM([[0], [1]], [0, 1], C=0.1).solve()  # both points at the bound C
        >>> [round(end, 6) for end in s.intercept_interval]
        [-1.0, 0.9]
        """
        if np.ndim(self.intercept) or len(self.data.labels or ()) > 2:
            raise NoAnswer(f"the {self.problem.name} is of several classes: it has no interval of intercepts")
        return intercept_interval(self.problem, self.values, self.multipliers)

    @cached_property
    def uniqueness(self) -> Uniqueness:
        """Whether coef is the only solution, with the rank of the design and the reason.

        >>> import convexcls as cc
        >>> bool(cc.LeastAbsolute([[0], [1]], [0, 1]).solve().uniqueness)
        True
        >>> bool(cc.LeastSquares([[1, 1], [2, 2], [3, 3]], [0, 1, 1]).solve().uniqueness)  # the columns are the same
        False
        """
        return uniqueness(self.problem, self._point(), self.multipliers)

    # ---- proofs ----------------------------------------------------------------------------------

    def certify(self, level: Level = "float", tol: float | None = None, digits: int = DIGITS) -> Certificate:
        """The verdict on this answer, proved again at a level: ``float`` (residuals), ``rigorous`` (bounds that hold
        despite rounding) or ``exact`` (rationals; of a likelihood ``digits`` proved decimal digits).

        >>> import convexcls as cc
        >>> s = cc.LeastSquares([[0], [1], [2]], [0, 1, 1], coding="real").solve()
        >>> bounds = s.certify("rigorous")
        >>> bool(bounds.lower <= 1 / 12 <= bounds.upper), str(s.certify("exact").optimum)
        (True, '1/12')
        """
        return self._certified(level, tol, digits)

    @np.errstate(all="ignore")  # what overflows is refused, not warned of
    def _certified(self, level: Level, tol: float | None, digits: int, stand_in: bool = False) -> Certificate:
        """The same; with ``stand_in`` the exact solution may take the place of a point that is not proved."""
        check_level(level)
        known = self.certificate
        if level == "float" and self.fewer is not None:  # all that doubles can say is said
            return known
        if known.level != "float" or (tol is not None and tol != known.tol):
            tol = known.tol if tol is None else tol
            farkas = None if known.farkas is None else known.farkas.multipliers
            direction = None if known.direction is None else known.direction.x
            known = certify(self.problem, self.x, self.multipliers, tol, farkas=farkas, direction=direction)
        from convexcls.solve import guess

        return raise_level(known, level, digits, stand_in, guess)

    def at_level(self, level: Level, digits: int = DIGITS) -> Solution:
        """This solution with its verdict proved at a level, and, where that gives the solution itself, at the doubles
        nearest to it.

        >>> import convexcls as cc
        >>> s = cc.HardMarginSVM([[0, 0], [1, 3]], [0, 1]).solve("osqp").at_level("exact")
        >>> s.certificate.level, [str(value) for value in s.certificate.coef]
        ('exact', ['1/5', '3/5'])
        """
        proved = self._certified(level, None, digits, stand_in=True)
        if proved is self.certificate:
            return self
        multipliers = self.multipliers if proved.multipliers is None else proved.multipliers
        gone = proved.status == "infeasible"
        return replace(self, certificate=proved, x=None if gone else proved.x, multipliers={} if gone else multipliers)

    # ---- statistics -------------------------------------------------------------------------------

    def summary(self, confidence: float = 0.95) -> Summary:
        """Standard errors, tests and intervals of a logistic, softmax or least-squares fit; ``NoAnswer`` says why
        where there are none.

        ``confidence`` is the level of the intervals.

        >>> import convexcls as cc
        >>> s = cc.LeastSquares([[0], [1], [2], [3]], [1, 2, 2, 4], coding="real").solve()
        >>> slope = s.summary()["x1"]
        >>> round(slope.estimate, 6), round(slope.standard_error**2, 6)
        (0.9, 0.07)
        """
        from convexcls.studies.inference import summary

        return summary(self, confidence)

    def existence(self) -> Existence:
        """Whether the maximum of a logistic or softmax likelihood exists; where it does not, which coefficients run to
        infinity, which stay finite, and the supremum.

        >>> import convexcls as cc
        >>> cc.LogisticMLE([[0], [1], [2], [3]], [0, 0, 1, 1]).solve().existence()
        <Existence for logistic regression: complete separation: x1 to +inf, intercept to -inf>
        """
        from convexcls.studies.inference.existence import existence

        return existence(self.problem)

    # ---- keeping ----------------------------------------------------------------------------------

    def save(self, path: Any) -> SavedModel:
        """Write what predictions need, and the digest of the proof, to a file that ``cc.load_model`` reads; none of
        the training data but, of a kernel, its support points.

        >>> import convexcls as cc
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "model.json")
        >>> cc.HardMarginSVM([[0, 0], [3, 4]], ["left", "right"]).solve().save(path)
        <SavedModel: hard-margin on 2 features, labels 'left' and 'right'>
        >>> cc.load_model(path).predict([[1, 1], [2, 3]]).tolist()
        ['left', 'right']
        """
        from convexcls.saved import saved

        model = saved(self)
        model.save(path)
        return model

    # ---- telling ----------------------------------------------------------------------------------

    def report(
        self,
        path: Any = None,
        *,
        title: str | None = None,
        compare: bool | Sequence[str] = True,
        pictures: bool = True,
    ) -> Report:
        """All of it on one HTML page that needs no network: problem and dual, proof, samples, pictures, solvers
        compared (all of them, those that ``compare`` names, or none). With a ``path`` it is written there."""
        from convexcls.report import report

        return report(self, path, title, compare, pictures)

    def primal(self) -> Solution:
        """For the solution of a dual: the solution of its primal, mapped back and judged there.

        >>> import convexcls as cc
        >>> dual = cc.HardMarginSVM([[0], [4]], [0, 1]).dual().solve()
        >>> dual.values["margin"].round(6).tolist(), dual.primal().coef.round(6).tolist()
        ([0.125, 0.125], [0.5])
        """
        if not isinstance(self.problem, Dual):
            raise NoAnswer(f"the {self.problem.name} is not a dual")
        x = self._point() if self.x is None else self.x  # which says why there is none
        x, multipliers = self.problem.recover(x, self.multipliers)
        primal = self.problem.primal
        proof = certify(primal, x, multipliers, self.certificate.tol)
        found = replace(self, problem=primal, solver=f"{self.solver} on the dual", rule_report=None, chosen="")
        return replace(found, certificate=proof, x=proof.x, multipliers=proof.multipliers or {})

    def explain(self) -> str:
        """Who solved the problem and why, then the verdict in words.

        >>> import convexcls as cc
        >>> s = cc.HardMarginSVM([[0], [1], [2]], [0, 1, 0]).solve("clarabel")
        >>> print(s.explain())
        Solved by clarabel.
        INFEASIBLE. No point satisfies all constraints of this problem (hard-margin SVM). Multiplied and added up as
        below, they say that 0 is at most a negative number: the left sides cancel exactly.
          margin: row 0: 0.25, row 1: 0.5, row 2: 0.25
        With these weights, divided by their sum in each class, a point of one class's hull equals one of the
        other's: the hulls meet, and 3 samples prove it.
        """
        who = f"Solved by {self.solver}" + (f", chosen because: {self.chosen}" if self.chosen else "")
        return f"{who}.\n{self.certificate.explain()}"

    def __repr__(self) -> str:
        value = "" if self.x is None else f", objective {self.objective:.10g}, gap {self.gap:.1e}"
        return f"<Solution of {self.problem.name} by {self.solver}: {self.status}{value}>"

    def _repr_latex_(self) -> str | None:
        return self.certificate._repr_latex_()
