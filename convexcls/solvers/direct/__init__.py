"""Answers without iteration: formulas, matched moments, and rationals. Imports ``solvers.smooth`` and below."""
