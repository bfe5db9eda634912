"""convexcls: linear classifiers as explicit convex programs, solved by any solver, with a proof.

>>> import convexcls as cc
>>> problem = cc.HardMarginSVM([[0.0, 0.0], [2.0, 0.0]], ["left", "right"])
>>> solution = problem.solve()
>>> solution.status, round(solution.objective, 6)
('optimal', 0.5)
"""

from __future__ import annotations

from typing import Any

from convexcls import cvxpy_form, duality, estimators, explain, inference, latex, losses, plots, testing
from convexcls.basis import Basis, Functions, Polynomial, Quadratic, Radial
from convexcls.certificate import KKT, Certificate, Residual
from convexcls.compare import Comparison, compare
from convexcls.conic import Conic, conic
from convexcls.data import DataError
from convexcls.estimators import NoMaximumError, NoMaximumWarning, NotSeparableError, UncertifiedWarning
from convexcls.inference import Existence, Summary, existence
from convexcls.models import (
    EmpiricalRisk,
    FisherLDA,
    GaussianMLE,
    HardMarginSVM,
    KernelSVM,
    LeastAbsolute,
    LeastSquares,
    LogisticMLE,
    MaxMargin,
    PerceptronCriterion,
    SoftMarginSVM,
    SoftmaxMLE,
)
from convexcls.paths import Path, path
from convexcls.portable import Verification, verify
from convexcls.problem import Constraint, Label, NoAnswer, NormBound, Problem, ProblemError, Term, Variable
from convexcls.referee import Appraisal, Appraisals, certify
from convexcls.report import Report
from convexcls.rows import MatrixTooLarge
from convexcls.separability import Separability, separability
from convexcls.solution import Solution
from convexcls.solve import solve, solvers
from convexcls.solvers import SolverRefused
from convexcls.validation import LeaveOneOut, leave_one_out

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Estimators, which need scikit-learn, are loaded when they are asked for. A classifier that was added as a file of
    its own is here by its class name, too."""
    from convexcls.models import by_kind

    if name in estimators.ESTIMATORS:
        return getattr(estimators, name)

    for cls in by_kind().values():
        if cls.__name__ == name:
            return cls
    raise AttributeError(f"module 'convexcls' has no attribute {name!r}")


def load(name_or_path: Any) -> Problem:
    """A problem of the gallery, by its name or by the path of its TOML file."""
    from convexcls import gallery

    return gallery.load(name_or_path)


__all__ = [
    "KKT",
    "Appraisal",
    "Appraisals",
    "Basis",
    "Certificate",
    "Comparison",
    "Conic",
    "Constraint",
    "DataError",
    "EmpiricalRisk",
    "Existence",
    "FisherClassifier",
    "FisherLDA",
    "Functions",
    "GaussianClassifier",
    "GaussianMLE",
    "HardMarginSVC",
    "HardMarginSVM",
    "KernelSVC",
    "KernelSVM",
    "Label",
    "LeastAbsolute",
    "LeastAbsoluteClassifier",
    "LeastSquares",
    "LeastSquaresClassifier",
    "LeaveOneOut",
    "LogisticClassifier",
    "LogisticMLE",
    "MatrixTooLarge",
    "MaxMargin",
    "NoAnswer",
    "NoMaximumError",
    "NoMaximumWarning",
    "NormBound",
    "NotSeparableError",
    "Path",
    "PerceptronClassifier",
    "PerceptronCriterion",
    "Polynomial",
    "Problem",
    "ProblemError",
    "Quadratic",
    "Radial",
    "Report",
    "Residual",
    "Separability",
    "SoftMarginSVC",
    "SoftMarginSVM",
    "SoftmaxClassifier",
    "SoftmaxMLE",
    "Solution",
    "SolverRefused",
    "Summary",
    "Term",
    "UncertifiedWarning",
    "Variable",
    "Verification",
    "certify",
    "compare",
    "conic",
    "cvxpy_form",
    "duality",
    "estimators",
    "existence",
    "explain",
    "inference",
    "latex",
    "leave_one_out",
    "load",
    "losses",
    "path",
    "plots",
    "separability",
    "solve",
    "solvers",
    "testing",
    "verify",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
