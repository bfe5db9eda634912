"""
Newton, gradient descent and stochastic gradient
================================================

Three ways down the same logistic likelihood. Newton's method doubles its digits with every step. Gradient descent,
with steps that Armijo's rule accepts, gains a constant factor. Stochastic gradient moves after every sample: it is
quick to the first digits and slow to the next, so its last point proves nothing, and its verdict is "undecided".
"""

import convexcls as cc
from convexcls.plots import ConvergenceDisplay

data = cc.load("heart_scale").data
problem = cc.LogisticMLE(data.matrix, data.given, l2=1.0)
solutions = [
    problem.solve("newton"),
    problem.solve("gradient", step="armijo", max_iter=300),
    problem.solve("sgd", max_passes=60),
]
for s in solutions:
    print(f"{s.solver:<9} {s.status:<10} {s.iterations} steps, objective {s.objective:.9f}")

ConvergenceDisplay.from_solutions(solutions)
