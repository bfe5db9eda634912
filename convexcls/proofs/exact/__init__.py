"""The level exact: solutions of quadratic programs and widest margins in rationals, found from a guess in doubles by an
active-set method without rounding. What it finds is checked by ``claims/optimum.py``. It may import ``claims/``.
"""
