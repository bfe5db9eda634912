"""Linear and quadratic programs with many rows and few unknowns besides slacks: interior points and working sets.

Both solve a ``RowProgram`` (``row_program.py``), made from the problem by ``reduction.py``, and both end with
``finish.py``. The predictor-corrector step is in ``interior_point_step.py``. Imports ``solvers.base`` and below.
"""
