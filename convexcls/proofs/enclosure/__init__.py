"""Proved digits of optima that are no rational numbers: intervals with rational ends, as narrow as asked for.

``enclose`` traps the minimiser of logistic and softmax regression in ball arithmetic, and ``check_enclosure`` proves it
again from the problem alone. ``enclose_moments`` works out the formula of Gaussian classes, ``enclose_root`` the root
that a widest margin is.
"""

from convexcls.proofs.enclosure.enclose import bounds_at, check_enclosure, enclose, proof_words
from convexcls.proofs.enclosure.moments import (
    Moments,
    check_moments,
    enclose_moments,
    falling_direction,
    falls_for_ever,
    identity,
    least_value,
    matched,
    value_at,
)
from convexcls.proofs.enclosure.result import Enclosure
from convexcls.proofs.enclosure.root import enclose_root, root_interval

__all__ = [
    "Enclosure",
    "Moments",
    "bounds_at",
    "check_enclosure",
    "check_moments",
    "enclose",
    "enclose_moments",
    "enclose_root",
    "falling_direction",
    "falls_for_ever",
    "identity",
    "least_value",
    "matched",
    "proof_words",
    "root_interval",
    "value_at",
]
