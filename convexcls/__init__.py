"""convexcls: linear classifiers as explicit convex programs, solved by any solver, with a proof.

>>> import convexcls as cc
>>> problem = cc.HardMarginSVM([[0.0, 0.0], [2.0, 0.0]], ["left", "right"])
>>> solution = problem.solve()
>>> solution.status, round(solution.objective, 6)
('optimal', 0.5)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from convexcls import losses, solvers
from convexcls.basis import Basis, Functions, Polynomial, Quadratic, Radial
from convexcls.data import DataError, as_decimals
from convexcls.live import live
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
from convexcls.problem import Constraint, Label, NoAnswer, NormBound, Problem, ProblemError, Term, Variable
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.kkt.residuals import KKT, Residual
from convexcls.proofs.separability import Separability, separability
from convexcls.rows import MatrixTooLarge
from convexcls.solution import Solution
from convexcls.solve import list_solvers, solve
from convexcls.solvers import SolverRefused
from convexcls.solvers.functions import solver
from convexcls.studies.compare import Comparison, compare
from convexcls.studies.conic import Conic, conic

if TYPE_CHECKING:
    from convexcls import estimators, plots, testing
    from convexcls.bench import Judgement, Standing, Trial, referee
    from convexcls.blocks import BlockSamples, Conversion, SamplesByBlock, convert_blocks, read_blocks
    from convexcls.engines import BlocksChanged, EngineError
    from convexcls.estimators import NoMaximumError, NoMaximumWarning, NotSeparableError, UncertifiedWarning
    from convexcls.fits import Appraisal, Appraisals, certify
    from convexcls.problem import cvxpy_form, duality, explain, latex
    from convexcls.proofs.portable import Verification, verify
    from convexcls.report import Report
    from convexcls.saved import ModelFileError, SavedModel, load_model
    from convexcls.studies import inference
    from convexcls.studies.conflict import Conflict
    from convexcls.studies.eigen import eigenproblem
    from convexcls.studies.evaluation import Evaluation, evaluate
    from convexcls.studies.exact_path import ExactPath, Segment
    from convexcls.studies.inference import Existence, Summary
    from convexcls.studies.inference.existence import existence
    from convexcls.studies.leave_one_out import LeaveOneOut, leave_one_out
    from convexcls.studies.paths import Path, path
    from convexcls.studies.sampling import draw_labels, draw_samples
    from convexcls.studies.sensitivity import Change, Influence, OneSided, Sensitivity
    from convexcls.tables import Coding, Samples, Table, TableError, TableWarning, read_table

__version__ = "0.1.0"

#: What is loaded when it is asked for, by module: a solve needs none of it.
_LATER = {
    "blocks": ("BlockSamples", "Conversion", "SamplesByBlock", "convert_blocks", "read_blocks"),
    "engines": ("BlocksChanged", "EngineError"),
    "estimators": ("NoMaximumError", "NoMaximumWarning", "NotSeparableError", "UncertifiedWarning"),
    "proofs.portable": ("Verification", "verify"),
    "bench": ("Judgement", "Standing", "Trial", "referee"),
    "fits": ("Appraisal", "Appraisals", "certify"),
    "report": ("Report",),
    "saved": ("ModelFileError", "SavedModel", "load_model"),
    "studies.conflict": ("Conflict",),
    "studies.evaluation": ("Evaluation", "evaluate"),
    "studies.inference": ("Existence", "Summary", "existence"),
    "studies.leave_one_out": ("LeaveOneOut", "leave_one_out"),
    "studies.exact_path": ("ExactPath", "Segment"),
    "studies.paths": ("Path", "path"),
    "studies.eigen": ("eigenproblem",),
    "studies.sensitivity": ("Change", "Influence", "OneSided", "Sensitivity"),
    "studies.sampling": ("draw_labels", "draw_samples"),
    "tables": ("Coding", "Samples", "Table", "TableError", "TableWarning", "read_table"),
}
#: Modules that users name, by the place where they live.
_MODULES = {
    "cvxpy_form": "problem.cvxpy_form",
    "duality": "problem.duality",
    "estimators": "estimators",
    "explain": "problem.explain",
    "inference": "studies.inference",
    "latex": "problem.latex",
    "plots": "plots",
    "testing": "testing",
}


def __getattr__(name: str) -> Any:
    """What is loaded when it is asked for, estimators among it. A classifier that was added as a file of its own is
    here by its class name, too."""
    if name in _MODULES:
        return import_module(f"convexcls.{_MODULES[name]}")
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f"convexcls.{module}"), name)
    if name in (estimators := import_module("convexcls.estimators")).ESTIMATORS:
        return getattr(estimators, name)
    for cls in import_module("convexcls.models").by_kind().values():
        if cls.__name__ == name:
            return cls
    meant = "" if name.startswith("_") else import_module("convexcls.wording").did_you_mean(name, __all__)
    raise AttributeError(f"module 'convexcls' has no attribute {name!r}{meant}")


def load(name_or_path: Any) -> Problem:
    """A problem of the gallery, by its name or by the path of its TOML file.

    >>> import convexcls as cc
    >>> problem = cc.load("kernel_xor")
    >>> problem.data.n, problem.solve().status
    (4, 'optimal')
    """
    from convexcls import gallery

    return gallery.load(name_or_path)


__all__ = [
    "KKT",
    "Appraisal",
    "Appraisals",
    "Basis",
    "BlockSamples",
    "BlocksChanged",
    "Certificate",
    "Change",
    "Coding",
    "Comparison",
    "Conflict",
    "Conic",
    "Constraint",
    "Conversion",
    "DataError",
    "EmpiricalRisk",
    "EngineError",
    "Evaluation",
    "ExactPath",
    "Existence",
    "FisherClassifier",
    "FisherLDA",
    "Functions",
    "GaussianClassifier",
    "GaussianMLE",
    "HardMarginSVC",
    "HardMarginSVM",
    "Influence",
    "Judgement",
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
    "ModelFileError",
    "NoAnswer",
    "NoMaximumError",
    "NoMaximumWarning",
    "NormBound",
    "NotSeparableError",
    "OneSided",
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
    "Samples",
    "SamplesByBlock",
    "SavedModel",
    "Segment",
    "Sensitivity",
    "Separability",
    "SoftMarginSVC",
    "SoftMarginSVM",
    "SoftmaxClassifier",
    "SoftmaxMLE",
    "Solution",
    "SolverRefused",
    "Standing",
    "Summary",
    "Table",
    "TableError",
    "TableWarning",
    "Term",
    "Trial",
    "UncertifiedWarning",
    "Variable",
    "Verification",
    "as_decimals",
    "certify",
    "compare",
    "conic",
    "convert_blocks",
    "cvxpy_form",
    "draw_labels",
    "draw_samples",
    "duality",
    "eigenproblem",
    "estimators",
    "evaluate",
    "existence",
    "explain",
    "inference",
    "latex",
    "leave_one_out",
    "list_solvers",
    "live",
    "load",
    "load_model",
    "losses",
    "path",
    "plots",
    "read_blocks",
    "read_table",
    "referee",
    "separability",
    "solve",
    "solver",
    "solvers",
    "testing",
    "verify",
]


def __dir__() -> list[str]:
    return sorted(["__version__", *__all__])
