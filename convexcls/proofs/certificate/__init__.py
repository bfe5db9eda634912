"""Proofs of answers: KKT residuals and duality gap, Farkas vectors, directions without end."""

from convexcls.proofs.certificate.attainment import attainment, needs_attainment_proof
from convexcls.proofs.certificate.certificate import LEVELS, Certificate, Level, Status
from convexcls.proofs.certificate.infeasibility import Farkas, check_farkas
from convexcls.proofs.certificate.kkt import check_kkt
from convexcls.proofs.certificate.measures import KKT, Residual
from convexcls.proofs.certificate.recession import Direction, check_direction
from convexcls.proofs.certificate.verdict import certify, interrupted

__all__ = [
    "KKT",
    "LEVELS",
    "Certificate",
    "Direction",
    "Farkas",
    "Level",
    "Residual",
    "Status",
    "attainment",
    "certify",
    "check_direction",
    "check_farkas",
    "check_kkt",
    "interrupted",
    "needs_attainment_proof",
]
