"""
Curves from a quadratic basis
=============================

Add squares and products of the features, and a hyperplane among them is a conic in the plane. The classifier does not
know: it is the same hard margin on five features instead of two. ``conic`` reads off what the curve is.
"""

import matplotlib.pyplot as plt

import convexcls as cc
from convexcls.plots import BoundaryDisplay

figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
for ax, name in zip(axes, ("circle", "xor_quadratic"), strict=True):
    solution = cc.load(name).solve()
    BoundaryDisplay.of(solution).plot(ax, legend=ax is axes[-1])
    curve = cc.conic(solution)
    ax.set_title(f"{name}: {curve.kind}")
    print(f"{name}: {solution.status}, {curve}")
