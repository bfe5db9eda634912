"""
The score, the margin and the losses over the plane
===================================================

The score f(x) of a soft-margin SVM rises evenly across its boundary. Times y it is the margin of a sample of one class,
here of class "b": positive on its own side. The other panels show what a sample of that class would pay at each place,
white for nothing, darker for more. The zero-one loss has one step, at the boundary. Hinge and logistic loss rise on the
wrong side; the squared loss rises on both, so that samples far on the right side pay, too.
"""

import matplotlib.pyplot as plt
import numpy as np

import convexcls as cc
from convexcls.plots import SurfaceDisplay

random = np.random.default_rng(1)
X = np.vstack([random.normal(size=(40, 2)), random.normal((2, 1), size=(40, 2))])
y = ["a"] * 40 + ["b"] * 40
solution = cc.SoftMarginSVM(X, y).solve()

panels = [{"show": "score"}, {"show": "margin"}]
panels += [{"loss": name} for name in ("zero-one", "perceptron", "hinge", "squared_hinge", "logistic", "exponential")]
panels += [{"loss": "absolute"}, {"loss": "squared"}]
figure, axes = plt.subplots(5, 2, figsize=(11, 20), layout="constrained")
for ax, options in zip(axes.ravel(), panels, strict=True):
    display = SurfaceDisplay.of(solution, **options).plot(ax, legend=False)
    print(f"{display.title:<55} paid by the samples of b: {display.paid:.4g}")
