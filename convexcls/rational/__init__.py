"""Exact arithmetic: numbers as they were given, and linear algebra on them without rounding.

A number is a ``fractions.Fraction``. A double is the dyadic rational that it is; integers, fractions, decimals and
decimal text are what they say. Where python-flint is installed (the extra ``exact``) it does the elimination, otherwise
Python does: the results are the same, the time is not. Nothing of the package is imported here. Read ``numbers``, then
``elimination`` (linear systems) and ``lattice`` (near points of a lattice).
"""
