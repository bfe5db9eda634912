"""Engines: a pure function, carried out for every block of data, here or elsewhere.

``base`` is the contract, ``serial``, ``processes`` and ``cluster`` (Dask) are the three that there are, ``holding`` is
how blocks stay in memory up to a number of bytes. All of them give the same bits: a function sees one block, BLAS has
one thread, and results come in the order of the blocks. Imports nothing but ``arrays`` and ``wording``.
"""

from convexcls.engines.base import BlocksChanged, Engine, EngineError, Piece, as_engine, tree_sum
from convexcls.engines.serial import SerialEngine

__all__ = ["BlocksChanged", "Engine", "EngineError", "Piece", "SerialEngine", "as_engine", "tree_sum"]
