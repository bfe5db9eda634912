"""
Fisher's discriminant as a projection
=====================================

Project the samples onto a line and look at the histograms. On the line between the class means they overlap more than
they need to, because the classes are long and slanted. Fisher's direction makes the means far apart compared with the
spread within the classes. The threshold is the one with the fewest errors, found by trying all.
"""

import matplotlib.pyplot as plt
import numpy as np

import convexcls as cc
from convexcls.plots import ProjectionDisplay

random = np.random.default_rng(2)
spread = np.array([[1.6, 1.2], [0.0, 0.5]])
X = np.vstack([random.normal(size=(80, 2)) @ spread, random.normal(size=(80, 2)) @ spread + [2.2, 0.4]])
y = ["first"] * 80 + ["second"] * 80

fisher = cc.FisherLDA(X, y).solve()
print("direction", fisher.coef, "ratio", 1 / (2 * fisher.objective))
between = X[80:].mean(axis=0) - X[:80].mean(axis=0)

figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
axes[0].hist([X[:80] @ between, X[80:] @ between], bins=24, label=["first", "second"], histtype="stepfilled", alpha=0.5)
axes[0].set(title="Projected onto the line between the means", xlabel="(mean₂ - mean₁)'x", ylabel="samples")
ProjectionDisplay.from_solution(fisher, ax=axes[1])
