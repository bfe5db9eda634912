"""The level ``rigorous``: weak duality in doubles, with a bound on every rounding, so that the bounds hold despite it.

It may import problem, losses, rows and rational. Read ``bounds`` first, then ``upper`` and ``lower`` (the gap), which
work on ``evaluation`` (the problem at a feasible point), ``multipliers``, ``stationarity`` and balls (``rounding``).
"""

from convexcls.proofs.rigorous.bounds import Bounds, bounds

__all__ = ["Bounds", "bounds"]
