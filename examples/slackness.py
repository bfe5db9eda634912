"""
Complementary slackness in a picture
====================================

For every constraint either the multiplier or the room to spare is zero. Plotted against each other, all samples lie
on the two axes: support points on the one, the rest on the other. A point off the axes would be a point where the
answer is not optimal. The bars show the multipliers; with a soft margin none exceeds C.
"""

import matplotlib.pyplot as plt

import convexcls as cc
from convexcls.plots import MultipliersDisplay, SlacknessDisplay

data = cc.load("twenty_points").data
solution = cc.SoftMarginSVM(data.matrix, data.given, C=0.1).solve()
print("largest product of multiplier and slack:", solution.kkt.complementary_slackness.max)

figure, axes = plt.subplots(1, 2, figsize=(13, 4.2), layout="constrained")
SlacknessDisplay.from_solution(solution, ax=axes[0])
MultipliersDisplay.from_solution(solution, ax=axes[1])
