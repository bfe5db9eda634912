"""
The perceptron that never ends
==============================

On XOR no line is right about all four points, so the rule goes on for ever. Its weights are sums of samples, here
whole numbers, and do not grow without bound, so they come back: a cycle. The counts of updates in one cycle add up to
zero, sum_i counts_i y_i (x_i, 1) = 0, and that is a proof that no hyperplane separates the classes.
"""

import numpy as np

import convexcls as cc
from convexcls.plots import TrajectoryDisplay

problem = cc.load("xor_perceptron_raw")
run = problem.solve("perceptron")
cycle = run.rule_report.cycle
print(run.rule_report)

samples = np.column_stack([problem.data.matrix, np.ones(problem.data.n)])
print("updates in one cycle", cycle.counts, "add up to", (cycle.counts * problem.data.signs) @ samples)

TrajectoryDisplay.from_solution(run, space="weights")
