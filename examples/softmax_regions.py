"""
Softmax regression: a region for each class
===========================================

Three species of iris by two measures of the petal. Each class has a linear score, and a flower belongs to the class
whose score is largest, so the regions are bounded by straight lines. Setosa can be split off from the others: without
a penalty the likelihood has no maximum, and the solver's answer is refused with the direction that proves it.
"""

from sklearn.datasets import load_iris

import convexcls as cc
from convexcls.plots import BoundaryDisplay

iris = load_iris()
petals, species = iris.data[:, 2:], iris.target_names[iris.target]

print("without a penalty:", cc.SoftmaxMLE(petals, species).solve().status)
solution = cc.SoftmaxMLE(petals, species, l2=0.1).solve()
print("with l2 = 0.1:", solution.status, "wrong", int((solution.predict(petals) != species).sum()), "of", len(species))

BoundaryDisplay.from_solution(solution)
