"""
Convex hulls that are apart, and hulls that meet
================================================

The dual of the hard margin looks for the nearest points of two convex hulls. Where the hulls are apart, the
hyperplane cuts the segment between these points in half. Where they meet, no hyperplane separates the classes, and
the proof is a point that both share, as a combination of few samples: at most d + 2 of them.
"""

import matplotlib.pyplot as plt

import convexcls as cc
from convexcls.plots import HullsDisplay

X = [[0, 0], [2, 0], [0, 2], [1, 1], [4, 4], [5, 2], [3, 5]]
labels = ["left"] * 4 + ["right"] * 3
apart = cc.HardMarginSVM(X, labels).solve()

X[4] = [0.5, 0.5]
meeting = cc.HardMarginSVM(X, labels).solve()

figure, axes = plt.subplots(1, 2, figsize=(13, 4.2), layout="constrained")
for ax, solution in zip(axes, (apart, meeting), strict=True):
    HullsDisplay.from_solution(solution, ax=ax)
    print(solution.certificate.explain(), "\n")
