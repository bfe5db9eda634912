"""A standing hunt for false certificates: ``python -m tests.hunt`` or ``make hunt``.

Small problems are drawn over families (``families``, ``draw``), solved by the package at all levels (``run``), and
every claim is compared (``judge``) with an oracle that imports nothing of the package (``oracle``, ``margins``,
``linear``, ``densities``, on top of ``pivoting`` and ``likelihood``): rational arithmetic for quadratic and linear
programs, ball arithmetic for likelihoods.
"""
