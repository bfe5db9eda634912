"""
The true boundary and the estimated one
=======================================

A hundred points, their labels drawn from a logistic model whose coefficients are known. Maximum likelihood finds a
boundary close to the true one, but not on it: a hundred labels are not enough to tell. The estimates are off by about
as much as their standard errors say.
"""

import numpy as np

import convexcls as cc
from convexcls.plots import BoundaryDisplay

coef, intercept = np.array([1.5, -1.0]), 0.5
X = np.random.default_rng(0).normal(size=(100, 2))
y = cc.draw_labels(X, coef, intercept, labels=["no", "yes"], seed=1)
s = cc.LogisticMLE(X, y).solve()

print("true      ", coef, intercept)
print("estimated ", s.coef.round(2), round(s.intercept, 2))
print(s.summary())

display = BoundaryDisplay.from_solution(s)
across = np.array(display.ax_.get_xlim())
display.ax_.plot(across, -(intercept + coef[0] * across) / coef[1], "k:", label="true boundary", scaley=False)
display.ax_.legend()
