"""
Why mistakes are counted, and not minimised
===========================================

The black steps count the mistakes of the classifiers on a line through a soft-margin SVM. They are flat between the
steps, so no slope says where to go. And they are not convex: the dashed chord joins two classifiers, and one between
them makes more mistakes than the chord allows. The hinge loss, the blue curve, is convex with one valley. So a model
with the zero-one loss is refused, with this reason.
"""

import numpy as np

import convexcls as cc
from convexcls.plots import MistakesDisplay

random = np.random.default_rng(1)
X = np.vstack([random.normal(size=(40, 2)), random.normal((2, 1), size=(40, 2))])
y = ["a"] * 40 + ["b"] * 40

try:
    cc.EmpiricalRisk(X, y, loss="zero-one")
except cc.ProblemError as refusal:
    print(refusal)

MistakesDisplay.from_solution(cc.SoftMarginSVM(X, y).solve())
