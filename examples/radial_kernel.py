"""
How narrow should a radial kernel be?
=====================================

The kernel exp(-gamma ‖x - z‖²) compares samples within a distance of about 1/sqrt(gamma). Wide, it draws nearly
straight lines and gives up some samples. Narrow, it draws an island around every sample of one class: no training
errors, and nothing learned. All three problems are solved and proved alike; which of them predicts is a question for
validation.
"""

import matplotlib.pyplot as plt
import numpy as np

import convexcls as cc
from convexcls.plots import BoundaryDisplay

random = np.random.default_rng(4)
X = np.vstack([random.normal(0.0, 1.0, (25, 2)), random.normal([1.6, 1.0], 1.0, (25, 2))])
y = ["first"] * 25 + ["second"] * 25

figure, axes = plt.subplots(1, 3, figsize=(16, 4.2), layout="constrained")
for ax, gamma in zip(axes, (20.0, 0.5, 0.05), strict=True):
    solution = cc.KernelSVM(X, y, kernel="rbf", gamma=gamma, C=10.0).solve()
    BoundaryDisplay.of(solution).plot(ax, legend=ax is axes[-1])
    ax.set_title(f"gamma = {gamma:g}: {len(solution.support)} support points")
    print(f"gamma = {gamma:<5} {solution.status}, wrong {int((solution.margins < 0).sum())} of {len(y)}")
