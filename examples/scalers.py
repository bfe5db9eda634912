"""
Two scalers, two boundaries
===========================

The widest slab is widest in the units it is measured in, so a scaler before it changes the answer. Both pictures show
the same people on the original axes, with the boundary of the whole pipeline. One income is very large. It squeezes all
others together for the scaler that maps the range to [0, 1], on the right, but less for the one that divides by
the standard deviation. So income counts for less on the right, and the line is steeper.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import convexcls as cc
from convexcls.plots import BoundaryDisplay

random = np.random.default_rng(3)
X = np.column_stack([random.uniform(20, 70, 40), random.normal(40, 9, 40)])
X[0] = [45, 220]
y = np.where(X[:, 0] / 12 + X[:, 1] / 6 > 10.4, "yes", "no")

figure, axes = plt.subplots(1, 2, figsize=(13, 4.4), layout="constrained")
for ax, scaler in zip(axes, (StandardScaler(), MinMaxScaler()), strict=True):
    fitted = make_pipeline(scaler, cc.SoftMarginSVC(C=10.0)).fit(X, y)
    display = BoundaryDisplay.from_estimator(fitted, X, y=y, ax=ax)
    ax.set(xlabel="age", ylabel="income, in thousands", ylim=(15, 70), title=type(scaler).__name__)
    (ends,) = display.boundaries[0]
    slope = (ends[-1, 1] - ends[0, 1]) / (ends[-1, 0] - ends[0, 0])
    print(f"{type(scaler).__name__:<15} boundary falls by {-slope:.3f} thousand a year of age")
