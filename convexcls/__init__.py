"""convexcls: linear classifiers as explicit convex programs, solved by any solver, with a proof."""

from __future__ import annotations

from convexcls import cvxpy_form, duality
from convexcls.certificate import KKT, Certificate, Residual
from convexcls.data import DataError
from convexcls.losses import Loss
from convexcls.models import (
    EmpiricalRisk,
    FisherLDA,
    HardMarginSVM,
    LeastAbsolute,
    LeastSquares,
    LogisticMLE,
    MaxMargin,
    PerceptronCriterion,
    SoftMarginSVM,
)
from convexcls.problem import Constraint, NormBound, Problem, ProblemError, Term, Variable
from convexcls.solution import NoAnswer, Solution
from convexcls.solve import solve, solvers
from convexcls.solvers import SolverRefused

__version__ = "0.1.0"
