"""What all estimators share: a fit declares a model, solves it, and keeps the answer with its proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, Literal, Self
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from convexcls.arrays import Array
from convexcls.data import Named
from convexcls.estimators import UncertifiedWarning
from convexcls.estimators.pickled import left_behind, without_data
from convexcls.estimators.training import FitTasks, TrainingSamples, given, taken
from convexcls.models import Model
from convexcls.models.base import check_choice
from convexcls.problem import NoAnswer
from convexcls.proofs.certificate import Level
from convexcls.rows.scores import linear_scores
from convexcls.solution import Solution
from convexcls.solve import solve
from convexcls.solvers import Callback, solver_class

#: What is done about several classes where a program takes two.
SEVERAL = ("ovr", "ovo")


@dataclass(eq=False, repr=False, kw_only=True)
class CertifiedClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """A classifier that is fitted by solving convex programs, each with a proof.

    An estimator says in ``_declare`` which model it is; its parameters are its fields. ``solver``, ``tol`` and
    ``level`` are those of ``convexcls.solve``: ``tol`` is the relative tolerance to which the optimality conditions
    are checked. ``max_iter=None`` (or -1) leaves the limit to the solver.

    After a fit ``problem_``, ``solution_`` and ``certificate_`` are the program, its solution and the proof; with one
    program for each class they are tuples. A pickle has what predicts and the words of the proof, without the training
    data; ``keep_data=True`` pickles all of it.
    """

    solver: str = "auto"
    tol: float = 1e-8
    level: Level = "float"
    max_iter: int | None = None
    warm_start: bool = False
    verbose: int = 0
    keep_data: bool = False

    #: Whether one program takes more than two classes.
    _several: ClassVar[bool] = False
    #: Whether sparse samples are taken as they are.
    _sparse: ClassVar[bool] = True

    # ---- what an estimator adds -----------------------------------------------------------------------------------

    def _declare(self, X: Named, y: NDArray[Any], weights: Array | None) -> Model:
        """The model on these samples; ``weights`` is None where all are one."""
        raise NotImplementedError

    def _read(self, samples: TrainingSamples, solutions: tuple[Solution, ...]) -> None:
        """Keep what scikit-learn's counterpart keeps, in its shapes."""

    def _refused(self, samples: TrainingSamples, solution: Solution) -> NoAnswer:
        """The error where the program is proved to have no solution."""
        return NoAnswer(solution.certificate.explain())

    def _solver(self) -> tuple[str, dict[str, Any]]:
        """The name of the solver and its options."""
        return self.solver, {} if self.max_iter in (None, -1) else {"max_iter": self.max_iter}

    def _start(self, k: int) -> Solution | Mapping[str, Any] | None:
        """Where program k begins on a warm start: at the solution of the last fit."""
        previous = self._solutions if hasattr(self, "solution_") else ()
        found = previous[k] if k < len(previous) else None
        return found if isinstance(found, Solution) else None  # what was pickled has no point to begin at

    # ---- fit ------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Solve the program on these samples."""
        return self._fit(X, y)

    def declare(self, X: Any, y: Any) -> Model | tuple[Model, ...]:
        """The program that ``fit`` solves on these samples, as a model to be read, dualized or solved otherwise; with
        one for each class, all of them."""
        return self._declared(X, y)

    def _declared(self, X: Any, y: Any, sample_weight: Any = None) -> Model | tuple[Model, ...]:
        other = clone(self)  # what a check keeps, such as feature names, is not kept here
        samples = taken(other, X, y, sample_weight, self._sparse)
        problems = other._problems(samples, other._parts(samples))
        return problems[0] if len(problems) == 1 else problems

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        samples = taken(self, X, y, sample_weight, self._sparse)
        parts = self._parts(samples)
        problems = self._problems(samples, parts)
        if len(parts) == 1:
            parts, labels = parts * len(problems), list(samples.classes[-len(problems) :])
        else:
            labels = [" and ".join(map(str, part.classes.tolist())) for part in parts]
        with FitTasks(self, len(problems), X, y) as progress:
            both = zip(parts, problems, strict=True)
            runs = [partial(self._settled, part, problem, k) for k, (part, problem) in enumerate(both)]
            solutions = tuple(progress.solved(label, run) for label, run in zip(labels, runs, strict=True))
        self.classes_ = samples.classes
        single = len(solutions) == 1
        self.solution_: Any = solutions[0] if single else solutions
        self.certificate_: Any = solutions[0].certificate if single else tuple(s.certificate for s in solutions)
        steps = np.array([max(s.iterations, 1) for s in solutions])  # a formula is one step
        self.n_iter_ = int(steps[0]) if single else steps
        for kept in ("coef_", "intercept_"):  # of the last fit: this one may have none, as with another kernel
            self.__dict__.pop(kept, None)
        self._rows_by_pair: Any = tuple(part.rows for part in parts) if parts[0] is not samples else None
        self._read(samples, solutions)
        return self

    def _parts(self, samples: TrainingSamples) -> tuple[TrainingSamples, ...]:
        """The samples that programs are declared on: all, or of several classes, where asked for, each two of them."""
        choice, count = getattr(self, "multi_class", None), len(samples.classes)
        check_choice("multi_class", choice, (None, *SEVERAL))
        if choice != "ovo" or count == 2 or self._several:
            return (samples,)
        if get_tags(self).input_tags.pairwise:
            raise ValueError('multi_class="ovo" takes no kernel matrix: give samples, or multi_class="ovr"')
        return tuple(samples.pair(j, k) for j, k in combinations(range(count), 2))

    def _problems(self, samples: TrainingSamples, parts: tuple[TrainingSamples, ...]) -> tuple[Model, ...]:
        """The program; of several classes, where asked for, one for each class against the rest, or for each two."""
        if parts[0] is not samples:
            return tuple(self._declare(part.X, part.y, part.weights) for part in parts)
        if len(samples.classes) == 2 or self._several:
            return (self._declare(samples.X, samples.y, samples.weights),)
        if getattr(self, "multi_class", None) != "ovr":
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass. For one program for "
                'each class against the rest give multi_class="ovr", for each two classes multi_class="ovo"'
            )
        return tuple(
            self._declare(samples.X, samples.numbers == k, samples.weights) for k in range(len(samples.classes))
        )

    def _settled(self, samples: TrainingSamples, problem: Model, k: int, callback: Callback | None) -> Solution:
        """The solution of program k: raises where it has none, warns where it is not proved."""
        solution = self._solved(problem, k, callback)
        if solution.status in ("infeasible", "unattained"):
            raise self._refused(samples, solution)
        if solution.status == "undecided":
            warn(self._shortfall(solution), UncertifiedWarning, stacklevel=outside())
        return solution

    def _solved(self, problem: Model, k: int, callback: Callback | None) -> Solution:
        name, options = self._solver()
        start = self._start(k) if self.warm_start and _takes_start(name) else None
        found = solve(problem, name, self.tol, callback, start, self.level, **options)
        return found.unless_interrupted()

    def _shortfall(self, solution: Solution) -> str:
        """What is not proved: the condition that is worst, and its size."""
        certificate = solution.certificate
        message = certificate.reason
        if certificate.kkt is not None:
            name, value = max(certificate.kkt.measures().items(), key=lambda pair: pair[1])
            message = f"{name} is {value:.1e}, and should be at most {certificate.tol:.0e}" + (
                f" ({message})" if message else ""
            )
        return f"{type(self).__name__} is fitted without a proof: {message}"

    # ---- predictions ----------------------------------------------------------------------------------------------

    @property
    def _solutions(self) -> tuple[Solution, ...]:
        return self.solution_ if isinstance(self.solution_, tuple) else (self.solution_,)

    def _scores(self, X: Named) -> Array:
        """The scores of checked samples: above 0 for the second class; of several classes one column a class."""
        scores = [solution.decision_function(X) for solution in self._solutions]
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def decision_function(self, X: Any) -> Array:
        """The scores, above 0 for the second of two classes; of several classes one column a class, where each two
        have a program of their own its votes. A score within the
        bound on its own rounding is 0, and none depends on the other samples of the batch."""
        check_is_fitted(self)
        scores = self._scores(given(self, X, self._sparse))
        return scores if getattr(self, "_rows_by_pair", None) is None else votes(scores, len(self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted class of each sample: the second where the score is above 0, the first where it is 0 (on the
        plane, up to rounding) or below; of several classes the first with the largest score."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    # ---- what was solved ------------------------------------------------------------------------------------------

    @property
    def problem_(self) -> Any:
        """The program that was solved; with one for each class a tuple."""
        return self._each(lambda solution: solution.problem, "problem_")

    def _each(self, read: Callable[[Solution], Any], name: str) -> Any:
        """What is read of the solution, or of each of several; a pickle left behind the data that it takes."""
        check_is_fitted(self)
        if not all(isinstance(solution, Solution) for solution in self._solutions):
            raise left_behind(f"its {name}")
        return read(self.solution_) if isinstance(self.solution_, Solution) else tuple(map(read, self.solution_))

    # ---- pickles --------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if self.keep_data or "solution_" not in state:
            return state
        if state.get("_rows_by_pair") is not None:
            state["_rows_by_pair"] = ()  # that there were pairs, not who was in them
        return without_data({**state, **self._kept()})

    def _kept(self) -> dict[str, Any]:
        """What a pickle without the training data holds in place of what needs them."""
        return {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy in the same process keeps everything."""
        other = type(self).__new__(type(self))
        other.__dict__.update(deepcopy(vars(self), memo))
        return other

    def __copy__(self) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__.update(vars(self))
        return other

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse
        tags.classifier_tags.multi_class = self._several or getattr(self, "multi_class", None) in SEVERAL
        return tags


def votes(scores: Array, count: int) -> Array:
    """Of one program for each two classes, how many programs choose each class; those with as many votes are told apart
    by the sum of their scores, moved to less than 1/3, as in scikit-learn."""
    out, sums = np.zeros((len(scores), count)), np.zeros((len(scores), count))
    for score, (j, k) in zip(scores.T, combinations(range(count), 2), strict=True):
        out[:, k] += score > 0
        out[:, j] += score <= 0
        sums[:, k] += score
        sums[:, j] -= score
    return out + sums / (3.0 * (np.abs(sums) + 1.0))


def _takes_start(name: str) -> bool:
    return name == "auto" or (not name.startswith("dual:") and solver_class(name).warm)


def outside() -> int:
    """How many calls up the one is that is not of this package: there a warning is of use."""
    import sys

    own = ("convexcls.", "sklearn.callback")
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(own):
        level, frame = level + 1, frame.f_back
    return level


class WeightedFit:
    """``fit`` and ``declare`` with ``sample_weight``. A weight of 0 is the same as leaving the sample out, one of 2 the
    same as a sample that stands there twice."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the program on these samples."""
        return self._fit(X, y, sample_weight)  # type: ignore[attr-defined]

    def declare(self, X: Any, y: Any, sample_weight: Any = None) -> Model | tuple[Model, ...]:
        """The program that ``fit`` solves on these samples, as a model to be read, dualized or solved otherwise; with
        one for each class, all of them."""
        return self._declared(X, y, sample_weight)  # type: ignore[attr-defined]


# ---- linear classifiers, in the shapes of scikit-learn ---------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class LinearClassifier(CertifiedClassifier):
    """Keeps ``coef_`` (1 x d for two classes, else one row a class) and ``intercept_``, so that the scores are
    X coef_' + intercept_."""

    fit_intercept: bool = True

    def _read(self, samples: TrainingSamples, solutions: tuple[Solution, ...]) -> None:
        super()._read(samples, solutions)
        self.coef_ = np.vstack([solution.coef for solution in solutions])
        thresholds = [solution.problem.threshold for solution in solutions]
        self.intercept_ = np.hstack([s.intercept - t for s, t in zip(solutions, thresholds, strict=True)])


@dataclass(eq=False, repr=False, kw_only=True)
class BinaryLinearClassifier(LinearClassifier):
    """A classifier of two classes; of several on request, by one program for each class against the rest
    (``multi_class="ovr"``) or for each two of them ("ovo"). ``class_weight`` multiplies the weights of the samples,
    as in scikit-learn."""

    class_weight: dict[object, float] | Literal["balanced"] | None = None
    multi_class: Literal["ovr", "ovo"] | None = None


class CoefficientScores:
    """Scores by the coefficients that are kept, where they are not those of the solution."""

    coef_: Array
    intercept_: Array

    def _scores(self, X: Named) -> Array:
        if len(self.coef_) == 1:
            return linear_scores(X.matrix, self.coef_[0], self.intercept_[0])
        return linear_scores(X.matrix, self.coef_, self.intercept_)
