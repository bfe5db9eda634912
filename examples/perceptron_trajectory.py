"""
The perceptron at work, and its mistake bound
=============================================

The rule visits one sample after the other and turns the line whenever a sample is on the wrong side. On classes that
can be separated it makes at most R²/γ² updates from the start 0: R is the length of the longest sample, γ the margin
of the best hyperplane, both with a 1 appended to every sample. The bound is safe and far from tight.
"""

import convexcls as cc
from convexcls.plots import TrajectoryDisplay

run = cc.load("twenty_points_perceptron").solve("perceptron")
print(run.rule_report)

TrajectoryDisplay.from_solution(run)
