"""Exact arithmetic: numbers as they were given, and linear algebra on them without rounding.

A number is a ``fractions.Fraction``. A double is the dyadic rational that it is; integers, fractions, decimals and
decimal text are what they say. Where python-flint is installed (the extra ``exact``) it does the elimination, otherwise
Python does: the results are the same, the time is not. Nothing of the package is imported here. Read ``numbers``, then
``elimination`` (linear systems) and ``lattice`` (near points of a lattice).
"""

from convexcls.rational.elimination import (
    determinant,
    dot,
    independent_rows,
    inverse,
    is_semidefinite,
    null_space,
    null_vector_near,
    rank,
    rank_modulo_prime,
    reduced,
    solve,
)
from convexcls.rational.numbers import LONGEST_TEXT, exactly, has_flint, read_exactly, to_double

__all__ = [
    "LONGEST_TEXT",
    "determinant",
    "dot",
    "exactly",
    "has_flint",
    "independent_rows",
    "inverse",
    "is_semidefinite",
    "null_space",
    "null_vector_near",
    "rank",
    "rank_modulo_prime",
    "read_exactly",
    "reduced",
    "solve",
    "to_double",
]
