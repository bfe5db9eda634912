"""The same problem with features measured from near their middle: a shift of a feature is a change of the intercept.

    w'x + b  =  w'(x - s) + b~,        b~ = b + w's

A feature far from zero, such as a time in seconds since 1970, nearly repeats the intercept's column, and what is said
of it is lost in the digits that all samples share. Where the largest value is at most twice the smallest, every
difference x - s is exact for any double s between them (Sterbenz 1974), so the problem in w and b~ is the same problem,
not one near it: whatever holds at (w, b~) holds at (w, b), to the last digit that b has room for.

``scores.py`` does it for problems in w and b, ``kernel.py`` for the linear kernel, whose intercept is a multiplier;
``intercept.py`` finds doubles for b, ``balance.py`` multipliers whose sum is zero.
"""

from __future__ import annotations

from collections.abc import Mapping

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.problem.centring.kernel import CentredKernel, centred_kernel
from convexcls.problem.centring.scores import CentredScores, centred_scores

__all__ = ["Centred", "CentredKernel", "centre", "in_centred_form"]

Centred = CentredScores | CentredKernel


def centre(problem: Problem) -> Centred | None:
    """The problem with its features measured from near their middle; None where none is far from zero, or where a shift
    would not be a change of the intercept alone."""
    return centred_scores(problem) or centred_kernel(problem)


def in_centred_form(
    problem: Problem, x: Array, multipliers: Mapping[str, Array]
) -> tuple[Problem, Array, Mapping[str, Array]]:
    """The problem, a point of it and its multipliers with centred features, where these are far from zero."""
    centred = problem.remembered(centre)
    if centred is None or (isinstance(centred, CentredKernel) and not centred.fits(x)):
        return problem, x, multipliers
    return centred.problem, *centred.centre(x, multipliers)
