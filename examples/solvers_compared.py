"""
Solvers compared
================

One problem, several solvers, one judge. Interior-point methods need few steps, first-order methods many cheap ones.
Their answers lie in a small ball around the certified one; how small is what the certificate measures. What a solver
says of itself plays no part.
"""

import matplotlib.pyplot as plt

import convexcls as cc
from convexcls.plots import AnswersDisplay, ConvergenceDisplay

comparison = cc.compare(cc.load("heart_scale"), ["interior-point", "clarabel", "osqp", "cvxpy:SCS"])
print(comparison)

figure, axes = plt.subplots(1, 2, figsize=(13, 4.2), layout="constrained")
ConvergenceDisplay.from_comparison(comparison, ax=axes[0])
AnswersDisplay.from_comparison(comparison, ax=axes[1])
