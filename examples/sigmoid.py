"""
The sigmoid and its threshold
=============================

Logistic regression turns a score, the log-odds f(x), into a probability by p = 1/(1 + exp(−f)): the S-shaped curve.
Samples stand at their scores, those with the disease at the top, the others at the bottom. A threshold T on the
probability is one on the score, f > log(T/(1 − T)), the dashed line. With T = 1/2 on the left both kinds of mistakes
count the same; with T = 0.2 on the right fewer of the sick are missed, and more of the healthy are called.
"""

import matplotlib.pyplot as plt

import convexcls as cc
from convexcls.plots import SigmoidDisplay

data = cc.load("heart_scale").data
sick = ["sick" if sign > 0 else "healthy" for sign in data.signs]
solution = cc.LogisticMLE(data.matrix, sick).solve()

figure, axes = plt.subplots(1, 2, figsize=(13, 4.2), layout="constrained")
for ax, threshold in zip(axes, (0.5, 0.2), strict=True):
    display = SigmoidDisplay.from_solution(solution, threshold=threshold, ax=ax)
    ax.set_title(f"T = {threshold}: {display.wrong.size} misclassified")
    print(display.describe(), "\n")
