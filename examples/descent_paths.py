"""
Ways down the same objective
============================

Each grey ring joins coefficients with the same logistic likelihood; the star is its maximum, the minimum of minus its
logarithm. Gradient descent leaves every ring at a right angle, so in a long valley it turns and creeps along the floor.
Newton's method takes the curvature into account: from this start it goes nearly straight. A stochastic gradient follows
one sample at a time; its points, one after each pass, come near and then jitter about the star.
"""

import numpy as np

import convexcls as cc
from convexcls.plots import DescentDisplay

random = np.random.default_rng(4)
X = random.normal(size=(60, 2)) @ np.array([[1.6, 1.0], [0.0, 0.5]])
y = random.random(60) < 1 / (1 + np.exp(-(X @ [1.0, -1.0])))
problem = cc.LogisticMLE(X, y, intercept=False)

ways = {
    "Newton": "newton",
    "gradient, fixed step": ("gradient", {"step": "fixed", "max_iter": 60}),
    "SGD, by pass": ("sgd", {"step": "fixed", "max_passes": 15, "seed": 1}),
}
display = DescentDisplay.from_solvers(problem, ways, start={"coef": [-0.4, 1.2]})
for name, points in display.paths.items():
    away = np.linalg.norm(points[-1] - display.end)
    print(f"{name:<21} {len(points):>3} points, the last {points[-1].round(4)}, {away:.2g} from the star")
