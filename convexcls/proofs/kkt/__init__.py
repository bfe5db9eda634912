"""The KKT conditions of a point in doubles: their measures with a bound on the rounding of each (``check.py``),
slacks at their lowest (``lowest_slacks.py``), whether a minimum exists (``attainment.py``), the shortest of many
minimisers (``shortest.py``). It may import ``rigorous/`` for rounding and structure, problems and rows.
"""

from convexcls.proofs.kkt.attainment import PROOF, attainment, needs_attainment_proof
from convexcls.proofs.kkt.check import check_kkt, check_kkt_with_gradient
from convexcls.proofs.kkt.residuals import KKT, Residual

__all__ = [
    "KKT",
    "PROOF",
    "Residual",
    "attainment",
    "check_kkt",
    "check_kkt_with_gradient",
    "needs_attainment_proof",
]
