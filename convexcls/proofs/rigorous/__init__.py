"""The level ``rigorous``: bounds on the optimum that hold despite all rounding."""

from convexcls.proofs.rigorous.bounds import Bounds, bounds

__all__ = ["Bounds", "bounds"]
