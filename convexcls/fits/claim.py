"""A fitted estimator with the data that it is said to have been fitted on, and what it claims: that a point solves a
convex program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.arrays import Array
from convexcls.data import DataError, as_vector, check_matrix, finite_doubles
from convexcls.models import Model
from convexcls.problem import Problem, with_lowest_slacks
from convexcls.solution import Solution
from convexcls.wording import listed


@dataclass(frozen=True, eq=False)
class Claim:
    """One convex program and the answer that an estimator gave to it.

    ``point`` is x in the layout of the problem. ``multipliers`` are the estimator's own, where it keeps any; else they
    are rebuilt from the point. ``source`` says where they come from. ``by_dual`` marks a problem that is stated by its
    dual (a kernel machine): there the multipliers carry the classifier, and its objective is the bound they give.
    ``usual`` is the relative distance from the optimum that the estimator's own stopping rule explains, and ``allowed``
    the absolute one; one that ends where no slope of the objective exceeds ``slope`` allows for that times the way to
    the minimiser. A learning ``rule`` has none that speaks of the optimum. ``remarks`` go into the verdict,
    ``findings`` beside it, with what ``tell`` makes of the toolkit's own solution.
    """

    problem: Problem
    named: str
    point: Array
    multipliers: Mapping[str, Array] | None = None
    source: str = ""
    subject: str = ""
    by_dual: bool = False
    usual: float = 1e-2
    allowed: float = 0.0
    slope: float = 0.0
    rule: bool = False
    remarks: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    tell: Callable[[Solution | None], list[str]] | None = None


def completed(problem: Problem, values: Mapping[str, Array]) -> Array:
    """The point with these values, its slacks as low as their pieces allow: at the loss, or at the absolute value."""
    x = np.zeros(problem.size)
    for name, where in problem.layout.items():
        if name in values:
            x[where] = np.asarray(values[name], dtype=float).ravel()
    return with_lowest_slacks(problem, x)


def fitted_point(problem: Problem, coef: Array, intercept: Any) -> Array:
    """The point of these coefficients, with the intercept where the problem has one."""
    return completed(problem, {"coef": coef, "intercept": np.atleast_1d(intercept)})


def altered(base: Model, name: str, **blocks: Any) -> Problem:
    """The program of a model with some of its blocks changed."""
    kept = ("variables", "quadratic", "linear", "terms", "constraints", "constant", "unit")
    given = {"attributes": {"data": base.data}, **{block: getattr(base, block) for block in kept}, **blocks}
    return Problem(name, **given)


def stated(problem: Problem) -> str:
    """The name of a problem with its parameters."""
    words = ", ".join(f"{name} = {value}" for name, value in problem.parameters.items())
    return problem.name + (f" ({words})" if words else "")


# ---- what all fitted estimators are asked ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted estimator with the data that it is said to have been fitted on, in double precision."""

    estimator: Any
    given: Any
    target: Any
    sample_weight: Any = None

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self.estimator).__name__

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """The parameters that it was made with."""
        return dict(self.estimator.get_params(deep=False))

    def value(self, attribute: str) -> Any:
        """A fitted attribute; an error where there is none."""
        try:
            return getattr(self.estimator, attribute)
        except AttributeError:
            raise ValueError(f"this {self.name} has no {attribute}: fit it before it is certified") from None

    def array(self, attribute: str) -> Array:
        """A fitted attribute as finite doubles, dense."""
        value = self.value(attribute)
        dense = value.toarray() if sparse.issparse(value) else np.asarray(value)
        return finite_doubles(np.atleast_1d(dense), attribute)

    # ---- the data as the estimator saw them ---------------------------------------------------------------------

    @cached_property
    def X(self) -> Any:
        """The samples as doubles, dense or sparse."""
        matrix = check_matrix(self.given)
        expected = getattr(self.estimator, "n_features_in_", matrix.shape[1])
        if matrix.shape[1] != expected:
            raise DataError(f"X has {matrix.shape[1]} columns, but this {self.name} was fitted on {expected}")
        return matrix

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.X.shape[0])

    @cached_property
    def y(self) -> NDArray[Any]:
        """The labels, one a sample."""
        return as_vector(self.target, "y", self.n)

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The labels that the estimator knows, in its order; y must have the same."""
        classes = np.asarray(self.value("classes_"))
        found = np.unique(self.y)
        if found.shape != classes.shape or not np.all(found == classes):
            raise DataError(f"y has the labels {_shown(found)}, but this {self.name} was fitted on {_shown(classes)}")
        return classes

    @cached_property
    def weights(self) -> Array:
        """The sample weights, one where none were given."""
        if self.sample_weight is None:
            return np.ones(self.n)
        return finite_doubles(as_vector(self.sample_weight, "sample_weight", self.n), "sample_weight")

    @property
    def tolerance(self) -> float:
        """The tolerance of its stopping rule."""
        return float(self.options.get("tol") or 0.0)

    def class_weights(self, weighted: bool) -> Array:
        """The weight of each class; ``weighted`` says whether "balanced" counts samples by their weights."""
        spec = self.options.get("class_weight")
        if spec is None:
            return np.ones(self.classes.size)
        from sklearn.utils.class_weight import compute_class_weight

        counted = self.weights if weighted else None
        return np.asarray(
            compute_class_weight(spec, classes=self.classes, y=self.y, sample_weight=counted), dtype=float
        )

    def all_weights(self, weighted: bool = False) -> Array:
        """The weight of each sample times that of its class."""
        return self.weights * self.class_weights(weighted)[np.searchsorted(self.classes, self.y)]

    # ---- one program for each class -----------------------------------------------------------------------------

    def against_rest(self) -> list[tuple[str, NDArray[Any], Array, int]]:
        """The two-class problems of one class against the rest: who, the labels, the weights, and the row of coef_.
        The weight of a class counts for the class alone, not for the rest, as liblinear and the SGD rules have it. Two
        classes are one problem, with both weights."""
        if self.classes.size == 2:
            return [("", self.y, self.all_weights(), 0)]
        own = self.class_weights(weighted=False)
        out = []
        for k, label in enumerate(self.classes):
            mine = self.y == label
            out.append((f"{label} against the rest", mine, np.where(mine, own[k], 1.0) * self.weights, k))
        return out

    @cached_property
    def coef(self) -> Array:
        """The coefficients of each score, one row for two classes, else one a class."""
        coef = np.atleast_2d(self.array("coef_"))
        expected = (1 if self.classes.size == 2 else self.classes.size, self.X.shape[1])
        if coef.shape != expected:
            raise ValueError(f"coef_ of this {self.name} is {coef.shape}: it should be {expected}")
        return coef

    def plane(self, k: int) -> tuple[Array, float]:
        """The coefficients and the intercept of the k-th score."""
        return self.coef[k], float(np.broadcast_to(self.array("intercept_"), (len(self.coef),))[k])

    # ---- what may be off ----------------------------------------------------------------------------------------

    def precision(self) -> list[str]:
        """Whether the estimator worked in single precision."""
        kind = getattr(getattr(self.estimator, "coef_", None), "dtype", None)
        if getattr(self.given, "dtype", None) == np.float32:
            return [
                "X is single precision (float32): it is taken exactly as it is, but the fit may have been rounded "
                "to seven digits"
            ]
        if kind == np.float32:
            return ["coef_ is single precision (float32) and X is not: the fit saw a rounded copy of X"]
        return []

    def stopped(self) -> list[str]:
        """Whether the solver ended because it had no iterations left."""
        limit = self.options.get("max_iter")
        count = getattr(self.estimator, "n_iter_", None)
        if limit is None or count is None or limit < 0 or int(np.max(count)) < limit:
            return []
        return [f"the solver stopped at max_iter = {limit}, not at its tolerance: raise max_iter"]


def _shown(labels: NDArray[Any]) -> str:
    return listed(labels.tolist(), 6)
