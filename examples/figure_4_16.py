"""
The optimal separating hyperplane (ESL figure 4.16)
===================================================

The same twenty points. The widest slab between the classes is held by three of them, the support points; all others
could be left out. Logistic regression is not defined here, because its likelihood has no maximum on classes that can
be separated. With a vanishing penalty its boundary exists, and it comes close to that of the slab.
"""

import convexcls as cc
from convexcls.plots import BoundaryDisplay

data = cc.load("twenty_points").data
slab = cc.HardMarginSVM(data.matrix, data.given).solve()
logistic = cc.LogisticMLE(data.matrix, data.given, l2=1e-3).solve()

print("margin", 1 / (slab.coef @ slab.coef) ** 0.5, "held by rows", slab.support)
print("logistic without a penalty:", cc.LogisticMLE(data.matrix, data.given).solve().status)

BoundaryDisplay.from_solutions([slab, logistic], ["optimal hyperplane", "logistic, l2 = 0.001"])
