"""What is claimed, one module a claim with its checker: ``farkas``, ``direction``, ``optimum`` (``bounds`` where it is
between two numbers), ``separation``. Each has ``check(problem, claim)``: why the claim is not proved, empty where it
is. All levels, portable files and separability accept by these alone. It may import ``enclosure/``, rationals.
"""
