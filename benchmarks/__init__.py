"""Races of convexcls against its peers: ``python -m benchmarks.run``, or ``make bench``; see docs/benchmarks.md."""
