"""Blocks in memory, up to a number of bytes; BLAS with one thread."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from convexcls.engines.base import Piece


class Holder:
    """The blocks that one process keeps. A pass goes through all blocks in turn, so that the block used last is needed
    last: the first blocks stay, the others are read again."""

    def __init__(self) -> None:
        self._held: dict[Piece, Any] = {}
        self._bytes = 0.0
        self._lock = threading.Lock()

    def get(self, piece: Piece, most: float) -> Any:
        """A block, held where that many bytes are not yet taken."""
        whole = getattr(piece, "whole", piece)
        with self._lock:
            held = self._held.get(whole)
        if held is not None:
            return held if whole is piece else piece.chosen(held)  # type: ignore[attr-defined]
        block = piece.read()
        if whole is not piece:
            return block
        size = bytes_of(block)
        with self._lock:
            if piece not in self._held and self._bytes + size <= most:
                self._held[piece] = block
                self._bytes += size
        return block


def bytes_of(block: Any) -> float:
    """How much memory a block of numbers takes; what is no block of numbers is never held."""
    if hasattr(block, "indptr"):
        return float(block.data.nbytes + block.indices.nbytes + block.indptr.nbytes)
    return float(getattr(block, "nbytes", float("inf")))


@lru_cache(maxsize=1)
def _controller() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """BLAS with one thread, so that sums are rounded alike everywhere; of several blocks each has a process."""
    controller = _controller()
    return nullcontext() if controller is None else controller.limit(limits=1)
