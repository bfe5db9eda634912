"""The KKT conditions of a point in doubles: their measures with a bound on the rounding of each (``check.py``),
slacks at their lowest and the shortest of many minimisers (``settling.py``), whether a minimum exists
(``attainment.py``). It may import ``rigorous/`` for rounding and structure, problems and rows.
"""
