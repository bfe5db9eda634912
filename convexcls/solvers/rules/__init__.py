"""Learning rules, shown for what they do: the perceptron and stochastic gradients.

Imports ``solvers.smooth`` and below.
"""
