"""Proofs of answers: KKT residuals and duality gap, Farkas vectors, directions without end."""

from convexcls.certificate.attainment import attainment, needs_attainment_proof
from convexcls.certificate.certificate import LEVELS, Certificate, Level, Status
from convexcls.certificate.infeasibility import Farkas, check_farkas
from convexcls.certificate.kkt import check_kkt
from convexcls.certificate.measures import KKT, Residual
from convexcls.certificate.recession import Direction, check_direction
from convexcls.certificate.verdict import certify, interrupted

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
