"""A basis in one word, as the command line and the gallery write it."""

from __future__ import annotations

import re

from convexcls.basis.base import Basis
from convexcls.basis.polynomial import Polynomial, Quadratic
from convexcls.basis.radial import Radial

#: How each is written.
BASES = ("quadratic", "polynomial:DEGREE", "radial:GAMMA", "radial:GAMMA:CENTRES")
_WHOLE = re.compile(r"[0-9]{1,4}")
_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?")


def read_basis(text: str) -> Basis:
    """``quadratic``, ``polynomial:3``, ``radial:0.5`` (every sample a centre) or ``radial:0.5:20`` (20 of them)."""
    kind, *numbers = text.strip().split(":")
    if kind == "quadratic" and not numbers:
        return Quadratic()
    if kind == "polynomial" and len(numbers) == 1 and _WHOLE.fullmatch(numbers[0]) and int(numbers[0]) > 0:
        return Polynomial(int(numbers[0]))
    if kind == "radial" and len(numbers) in (1, 2) and _NUMBER.fullmatch(numbers[0]) and float(numbers[0]) > 0:
        if len(numbers) == 1:
            return Radial(gamma=float(numbers[0]))
        if _WHOLE.fullmatch(numbers[1]) and int(numbers[1]) > 0:
            return Radial(int(numbers[1]), gamma=float(numbers[0]))
    raise ValueError(f"there is no basis {text[:60]!r}: write one of {', '.join(BASES)}, for example polynomial:3")
