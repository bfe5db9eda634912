"""
Gaussian classes: means and density ellipses
============================================

Each large mark is the mean of a class, each ellipse a line of equal density that holds half, or nine tenths, of the
class. On the left all classes share one covariance, so their ellipses have one shape, and the black boundary, where the
posterior probabilities are equal, is a straight line (LDA). On the right each class has its own covariance, and the
boundary is a conic (QDA). Crosses are samples on the wrong side.
"""

import matplotlib.pyplot as plt
import numpy as np

import convexcls as cc
from convexcls.plots import EllipsesDisplay

random = np.random.default_rng(1)
X = np.vstack([random.normal(0, [1.0, 0.5], (60, 2)), random.normal([2.0, 1.5], [0.5, 1.2], (60, 2))])
y = ["first"] * 60 + ["second"] * 60

figure, axes = plt.subplots(1, 2, figsize=(13, 4.6), layout="constrained")
for ax, covariance in zip(axes, ("shared", "by-class"), strict=True):
    solution = cc.GaussianMLE(X, y, covariance=covariance).solve()
    EllipsesDisplay.from_solution(solution, ax=ax)
    print(covariance, "means", solution.estimates.means.round(2).tolist())
    print("covariance", solution.estimates.covariance.round(3).tolist(), "\n")
