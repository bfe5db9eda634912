"""Exact proofs of quadratic and linear programs: the solution itself, in rationals."""

from convexcls.exact.check import check
from convexcls.exact.proof import ExactProof, NoProof
from convexcls.exact.prove import prove

__all__ = ["ExactProof", "NoProof", "check", "prove"]
