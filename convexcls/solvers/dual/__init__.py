"""Many unknowns or sparse rows: the dual, a multiplier at a time and then a face at a time, in passes over the nonzero
entries. Imports ``solvers.base``, ``solvers.rows`` for the reduction, and below."""
