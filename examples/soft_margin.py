"""
A soft margin for several prices of slack
=========================================

C is the price of a unit of slack. Where it is low, the slab is wide and many samples hold it, those with slack by the
largest multiplier that is allowed. Where it is high, slack is avoided, and on classes that can be separated the slab
becomes that of the hard margin. Lines lead from the samples with slack to the edge that they should have kept.
"""

import matplotlib.pyplot as plt

import convexcls as cc
from convexcls.plots import BoundaryDisplay

data = cc.load("twenty_points").data
figure, axes = plt.subplots(1, 3, figsize=(16, 4.2), layout="constrained")
for ax, C in zip(axes, (1.0, 0.1, 0.01), strict=True):
    solution = cc.SoftMarginSVM(data.matrix, data.given, C=C).solve()
    BoundaryDisplay.of(solution).plot(ax, legend=ax is axes[-1])
    ax.set_title(f"C = {C:g}: half width {1 / (solution.coef @ solution.coef) ** 0.5:.2f}")
    print(f"C = {C:<5} {solution.status}, objective {solution.objective:.6f}, support {solution.support}")
