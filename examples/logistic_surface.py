"""
Probabilities of logistic regression
====================================

Logistic regression models the log-odds as a linear function, so lines of equal probability are parallel, and the
boundary is the line of 1/2. Here are two features of the heart data, of patients with and without a heart disease.
Fitted probabilities are right on average: their sum is the number of patients with the disease, which is the KKT
condition of the intercept.
"""

import convexcls as cc
from convexcls.plots import ProbabilityDisplay

data = cc.load("heart_scale").data
solution = cc.LogisticMLE(data.matrix[:, [3, 7]], data.given).solve()
chance = solution.predict_proba(data.matrix[:, [3, 7]])[:, 1]
print(solution)
print("sum of probabilities", chance.sum(), "positive samples", int((data.signs > 0).sum()))

ProbabilityDisplay.from_solution(solution)
