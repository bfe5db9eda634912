"""The one form in which every classifier is stated, and everything behind reads it."""

from convexcls.problem.blocks import Block, Constraint, Kind, Label, NormBound, Term, Variable
from convexcls.problem.form import Problem, ProblemError, provides

__all__ = [
    "Block",
    "Constraint",
    "Kind",
    "Label",
    "NormBound",
    "Problem",
    "ProblemError",
    "Term",
    "Variable",
    "provides",
]
