"""
Fisher's discriminant as a projection
=====================================

Project the samples onto a line and look at the histograms of the two classes. On the first feature, and on the line
between the class means, they overlap more than they need to, because the classes are long and slanted. Fisher's
direction, on the right, makes the means as far apart as possible compared with the spread within the classes: the
ratio J below each picture. The dashed threshold is the one with the fewest errors, found by trying all.
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
figure, axes = plt.subplots(1, 3, figsize=(17, 4.2), layout="constrained")
for ax, direction in zip(axes, ([1.0, 0.0], "means", 0), strict=True):
    display = ProjectionDisplay.from_solution(fisher, direction=direction, ax=ax)
    print(f"{display.title:<45} J = {display.ratio:.4f}, {display.errors} errors")
