"""
The perceptron on images of digits
==================================

Rosenblatt's learning rule visits the samples one by one and adds a misclassified one to the weights. If some hyperplane
separates the classes, it ends, and Novikoff's theorem says after how many updates at most: :math:`R^2/\\gamma^2`, where
:math:`R` is the length of the longest sample and :math:`\\gamma` the margin of the best hyperplane through the origin.

Here it learns to tell images of two digits apart, in a pipeline of scikit-learn. The bound is worked out beside it: the
margin comes from the hard-margin problem, rounded down, so that the bound is one for certain.
"""

# %%
# Two digits
# ----------
# The images have 8 x 8 pixels with values from 0 to 16. Of all 45 pairs, ones and eights have the narrowest margin.

import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

import convexcls as cc

images, digits = load_digits(return_X_y=True)
chosen = (digits == 1) | (digits == 8)
X, y = images[chosen], digits[chosen]
print(f"{len(y)} images of 1 and 8")

# %%
# The rule, with its bound
# ------------------------
# Scaling changes both the longest sample and the margin, so it changes the bound, and how long the rule takes. The
# number of updates never exceeds it.

pipelines = {
    "pixels as they are": make_pipeline(cc.PerceptronClassifier()),
    "StandardScaler": make_pipeline(StandardScaler(), cc.PerceptronClassifier()),
    "QuantileTransformer": make_pipeline(QuantileTransformer(n_quantiles=100), cc.PerceptronClassifier()),
}
for name, pipeline in pipelines.items():
    perceptron = pipeline.fit(X, y)[-1]
    bound = perceptron.solution_.rule_report.mistake_bound()
    print(
        f"{name:<20} {bound.updates:4d} updates in {perceptron.n_iter_:3d} passes; "
        f"R²/γ² = {bound.radius:.3g}²/{bound.margin:.3g}² = {bound.bound:,.0f}; "
        f"errors: {np.sum(pipeline.predict(X) != y)}"
    )

# %%
# What the run has to tell
# ------------------------
# The last pass made no mistake. That proves the answer: the perceptron criterion is 0, and it cannot be less.

perceptron = pipelines["StandardScaler"][-1]
print(perceptron.solution_.rule_report)
print(perceptron.certificate_.explain())

# %%
# The weights as an image
# -----------------------
# Red pixels speak for an eight, blue ones for a one: the weights are the scaled images that were misclassified, added
# up for the eights and subtracted for the ones.

import matplotlib.pyplot as plt  # noqa: E402

figure, axes = plt.subplots(1, 3, figsize=(8, 3), layout="constrained")
panels = {"mean of the ones": X[y == 1].mean(axis=0), "mean of the eights": X[y == 8].mean(axis=0)}
for axis, (title, picture) in zip(axes, panels.items(), strict=False):
    axis.imshow(picture.reshape(8, 8), cmap="gray")
    axis.set_title(title)
weights = perceptron.coef_.reshape(8, 8)
shown = axes[2].imshow(weights, cmap="RdBu_r", vmin=-np.abs(weights).max(), vmax=np.abs(weights).max())
axes[2].set_title("weights: red for 8, blue for 1")
figure.colorbar(shown, ax=axes[2], shrink=0.8)
for axis in axes:
    axis.set_axis_off()
plt.show()

# %%
# Where no hyperplane is
# ----------------------
# The rule would go on for ever; it stops with a proof that no hyperplane separates the classes, and says so.

import warnings  # noqa: E402

noisy = y.copy()
noisy[0] = 9 - noisy[0]  # one image with the wrong label, and its twin with the right one
doubled, labels = np.vstack([X, X[:1]]), np.append(noisy, y[0])
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    stuck = cc.PerceptronClassifier().fit(doubled, labels)
print(told[0].message)
print("the proof holds:", stuck.solution_.rule_report.proof_verifies())
