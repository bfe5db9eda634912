"""
Functional and geometric margins
================================

Both pictures show the same line, for β and for 2β with 2β₀. The functional margin y f(x) of a sample doubles, though
nothing has moved: it can be made as large as one likes. The geometric margin y f(x)/‖β‖ is the length of the green
segment, and it stays. The lines f = −1 and f = 1 lie 1/‖β‖ from the hyperplane and come nearer. So "functional margin
at least 1, ‖β‖ as small as possible" asks for the widest slab.
"""

import matplotlib.pyplot as plt
import numpy as np

from convexcls.plots import HyperplaneDisplay

X = np.array([[0.5, 3.5], [1.2, 0.9], [2.2, 2.9], [5.4, 0.6], [7.0, 3.0], [4.5, 4.5]])
y = ["first", "first", "first", "second", "second", "second"]
beta, beta_0 = np.array([0.4, 0.3]), -2.2

figure, axes = plt.subplots(1, 2, figsize=(13, 4.2), layout="constrained")
for ax, factor in zip(axes, (1.0, 2.0), strict=True):
    display = HyperplaneDisplay.from_plane(factor * beta, factor * beta_0, X, y, rows=[1, 4], ax=ax)
    ax.set_title(f"β = {factor * beta}: ‖β‖ = {factor * 0.5:g}, slab ±{1 / (factor * 0.5):g}")
    print(f"‖β‖ = {factor * 0.5:g}: functional {display.functional.round(3)}, geometric {display.geometric.round(3)}")
