"""
Least squares and two perceptrons (ESL figure 4.14)
===================================================

Twenty points that a line can separate. Least squares weighs all of them, also those far on the right side, and ends
with one point on the wrong side. The perceptron rule stops at any line that separates, so two random starts give two
lines. None of the three is the widest slab: for that, see the next example.
"""

import numpy as np

import convexcls as cc
from convexcls.plots import BoundaryDisplay

data = cc.load("twenty_points").data
squares = cc.LeastSquares(data.matrix, data.given).solve()

criterion = cc.PerceptronCriterion(data.matrix, data.given)
starts = [np.random.default_rng(seed).normal(size=3) * [1, 1, 10] for seed in (2, 6)]
rules = [criterion.solve("perceptron", start={"coef": w[:2], "intercept": w[2:]}) for w in starts]

print("wrong by least squares:", np.flatnonzero(squares.margins <= 0))
for rule in rules:
    print("perceptron:", rule.status, "after", rule.rule_report.updates, "updates")

BoundaryDisplay.from_solutions([squares, *rules], ["least squares", "perceptron", "perceptron, other start"])
