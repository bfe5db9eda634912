"""Proved digits of optima that are no rational numbers: intervals with rational ends, as narrow as asked for.

It may import problem, losses, rows and rational. Read ``enclose`` first, then ``newton`` (the search) and
``krawczyk`` (the proof), which work on ``objective``, ``losses`` and ``intervals`` (with balls); then ``moments``.
"""
