"""The one form in which every classifier is stated, and everything behind reads it."""

from convexcls.problem.blocks import (
    Block,
    Constraint,
    Kind,
    Label,
    NoAnswer,
    NormBound,
    ProblemError,
    Term,
    Variable,
)
from convexcls.problem.form import ROUNDING_ROOM, Problem, provides

__all__ = [
    "ROUNDING_ROOM",
    "Block",
    "Constraint",
    "Kind",
    "Label",
    "NoAnswer",
    "NormBound",
    "Problem",
    "ProblemError",
    "Term",
    "Variable",
    "provides",
]
