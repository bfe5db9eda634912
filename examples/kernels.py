"""
Kernels: XOR and a circle
=========================

No line separates XOR or a disc from a ring. A kernel is an inner product in a space of more features, where a
hyperplane does. The polynomial kernel (1 + x'z)^2 has an exact answer on XOR: every multiplier is 1/8 and f(x) = -x1
x2. The radial kernel needs no such luck: it separates any two sets of different points.
"""

import matplotlib.pyplot as plt
import numpy as np

import convexcls as cc
from convexcls.plots import BoundaryDisplay

xor = cc.load("kernel_xor").solve()
print("XOR:", xor.objective, xor.dual_coef)

turn = np.linspace(0, 2 * np.pi, 13)[:-1]
circle = np.column_stack([np.cos(turn), np.sin(turn)])
X = np.vstack([0.6 * circle[::2], 1.6 * circle])
y = ["inside"] * 6 + ["outside"] * 12
radial = cc.KernelSVM(X, y, kernel="rbf", gamma=1.0).solve()
print("circle:", radial.status, "support", radial.support)

figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
BoundaryDisplay.of(xor).plot(axes[0], legend=False)
axes[0].set_title("XOR by the kernel (1 + x'z)²")
BoundaryDisplay.of(radial).plot(axes[1])
axes[1].set_title("A disc in a ring by exp(-‖x - z‖²)")
