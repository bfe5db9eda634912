"""
Gaussian classes: linear and quadratic discriminants
====================================================

If each class is Gaussian and all share one covariance, the log-odds are linear and the boundary is a line (LDA). With
a covariance for each class the boundary is a conic (QDA). Both are maximum-likelihood estimates, solved here as
log-determinant programs in the natural parameters, whose KKT condition is that fitted and observed moments match.
"""

import matplotlib.pyplot as plt
import numpy as np

import convexcls as cc
from convexcls.plots import ProbabilityDisplay

random = np.random.default_rng(1)
X = np.vstack([random.normal(0, [1.0, 0.5], (60, 2)), random.normal([2.0, 1.5], [0.5, 1.2], (60, 2))])
y = ["first"] * 60 + ["second"] * 60

figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
for ax, covariance in zip(axes, ("shared", "by-class"), strict=True):
    solution = cc.GaussianMLE(X, y, covariance=covariance).solve()
    ProbabilityDisplay.of(solution).plot(ax, legend=ax is axes[-1], title=False)
    ax.set_title({"shared": "LDA: one covariance", "by-class": "QDA: a covariance for each class"}[covariance])
    print(covariance, solution.status, "wrong", int((solution.predict(X) != np.array(y)).sum()), "of", len(y))
