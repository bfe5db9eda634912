"""Smooth losses: Newton's method, gradient descent, and what they evaluate. Imports ``solvers.base`` and below."""
