"""Proved digits of optima that are no rational numbers: intervals with rational ends, as narrow as asked for.

It may import problem, losses, rows and rational. Read ``enclose`` first, then ``newton`` (the search) and
``krawczyk`` (the proof), which work on ``objective``, ``losses`` and ``balls``; then ``moments`` and ``intervals``.
"""

from convexcls.proofs.enclosure.enclose import bounds_at, check_enclosure, enclose, proof_words
from convexcls.proofs.enclosure.intervals import Enclosure, enclose_root, root_interval
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
