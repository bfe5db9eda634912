"""Basis functions: f(x) = sum_j coef_j phi_j(x) + intercept (ESL 5.1), one basis a file.

A basis is a small frozen object; called on samples it gives the functions' values, which remember the basis. Any model
takes them in place of X, and its solution then takes plain samples:

>>> import convexcls as cc
>>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], ["even", "even", "odd", "odd"]
>>> solution = cc.HardMarginSVM(cc.Quadratic()(X), y).solve()
>>> solution.status, solution.predict([[0.1, 0.9]]).tolist()
('optimal', ['odd'])
"""

from convexcls.basis.base import Basis
from convexcls.basis.functions import Functions
from convexcls.basis.polynomial import Polynomial, Quadratic, exponents_of
from convexcls.basis.radial import Radial
from convexcls.basis.reading import BASES, read_basis

__all__ = ["BASES", "Basis", "Functions", "Polynomial", "Quadratic", "Radial", "exponents_of", "read_basis"]
