"""Solvers of other people, called with plain matrices; what they return is finished on its active set.

Imports ``solvers.rows`` and below.
"""
