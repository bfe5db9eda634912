"""Exact proofs of quadratic and linear programs, and of widest margins: the solution itself, in rationals."""

from convexcls.exact.check import check
from convexcls.exact.kernel_matrix import exact_kernel
from convexcls.exact.proof import ExactProof, NoProof
from convexcls.exact.prove import prove
from convexcls.exact.true_bounds import affordable, true_bounds
from convexcls.exact.widest import RootProof, Widest, prove_widest, proved_square, widest

__all__ = [
    "ExactProof",
    "NoProof",
    "RootProof",
    "Widest",
    "affordable",
    "check",
    "exact_kernel",
    "prove",
    "prove_widest",
    "proved_square",
    "true_bounds",
    "widest",
]
