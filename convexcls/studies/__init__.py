"""Several solves, one result: comparisons of solvers, paths, leave-one-out, inference, and conics in the plane.

A study may import ``solve`` and everything below it; faces show what it finds.
"""
