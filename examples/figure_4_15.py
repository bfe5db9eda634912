"""
The geometry of a hyperplane (ESL figure 4.15)
==============================================

The hyperplane f(x) = β'x + β₀ = 0 is the black line. Its unit normal β* = β/‖β‖, the arrow, points to where f grows.
From a foot x₀ on the hyperplane the green segment leads at a right angle to a sample x; its length, with a sign, is
β*'(x − x₀) = f(x)/‖β‖. So f is proportional to the distance: dashed lines of equal f are parallel, and f grows by one
every 1/‖β‖. Two samples are measured here, one on each side.
"""

import numpy as np

import convexcls as cc
from convexcls.plots import HyperplaneDisplay

X = np.array([[1.0, 3.5], [2.0, 0.5], [0.5, 1.5], [5.0, 0.5], [7.0, 2.5], [6.0, 4.5], [4.0, 5.0]])
y = ["left", "left", "left", "right", "right", "right", "right"]
solution = cc.HardMarginSVM(X, y).solve()

beta, beta_0 = solution.coef, solution.intercept
unit = beta / np.linalg.norm(beta)
for row in (2, 4):
    distance = (X[row] @ beta + beta_0) / np.linalg.norm(beta)
    foot = X[row] - distance * unit
    print(f"row {row}: f = {X[row] @ beta + beta_0:+.3f}, distance {distance:+.3f}, foot {foot}, f there", end=" ")
    print(f"{abs(foot @ beta + beta_0):.0e}")

HyperplaneDisplay.from_solution(solution, rows=[2, 4])
