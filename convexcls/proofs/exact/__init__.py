"""Exact proofs of quadratic and linear programs, and of widest margins: the solution itself, in rationals."""

from convexcls.proofs.exact.check import check
from convexcls.proofs.exact.kernel_matrix import exact_kernel
from convexcls.proofs.exact.proof import ExactProof, NoProof
from convexcls.proofs.exact.prove import Solve, prove
from convexcls.proofs.exact.true_bounds import affordable, true_bounds
from convexcls.proofs.exact.widest import RootProof, Widest, prove_widest, proved_square, widest

__all__ = [
    "ExactProof",
    "NoProof",
    "RootProof",
    "Solve",
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
