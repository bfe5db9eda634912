"""Basis functions: f(x) = sum_j coef_j phi_j(x) + intercept (ESL 5.1), one basis a file.

A basis is a small frozen object; called on samples it gives the functions' values, which remember the basis. Any model
takes them in place of X, and its solution then takes plain samples:

>>> import convexcls as cc
>>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], ["even", "even", "odd", "odd"]
>>> solution = cc.HardMarginSVM(cc.Quadratic()(X), y).solve()
>>> solution.status, solution.predict([[0.1, 0.9]]).tolist()
('optimal', ['odd'])
"""

from __future__ import annotations

import re

from convexcls.basis.base import Basis
from convexcls.basis.functions import Functions
from convexcls.basis.polynomial import Polynomial, Quadratic, exponents_of
from convexcls.basis.radial import Radial

__all__ = ["BASES", "Basis", "Functions", "Polynomial", "Quadratic", "Radial", "exponents_of", "read_basis"]

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
