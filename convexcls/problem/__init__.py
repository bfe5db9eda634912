"""The one form in which every classifier is stated, and everything behind reads it."""

from convexcls.problem.blocks import (
    BY_SAMPLE,
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
from convexcls.problem.epigraph import Epigraph, with_lowest_slacks
from convexcls.problem.form import UNIT_SHARE, Problem

__all__ = [
    "BY_SAMPLE",
    "UNIT_SHARE",
    "Block",
    "Constraint",
    "Epigraph",
    "Kind",
    "Label",
    "NoAnswer",
    "NormBound",
    "Problem",
    "ProblemError",
    "Term",
    "Variable",
    "with_lowest_slacks",
]
