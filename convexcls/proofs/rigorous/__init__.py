"""The level ``rigorous``: weak duality in doubles, with a bound on every rounding, so that the bounds hold despite it.

It may import problem, losses, rows and rational. Read ``bounds`` first (with the upper one), then ``lower`` (the gap);
both use ``evaluation`` (the problem at a feasible point), ``multipliers`` and balls (``rounding``).
"""

from convexcls.proofs.rigorous.bounds import Bounds, bounds

__all__ = ["Bounds", "bounds"]
