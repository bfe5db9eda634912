"""Blocks one after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from convexcls.engines.base import Engine, Own, Piece
from convexcls.engines.holding import Holder, one_thread

T = TypeVar("T")


class SerialEngine(Engine):
    """No other process: what the others are compared with, and what is used where none is named.

    >>> from convexcls.engines import SerialEngine
    >>> SerialEngine(hold=1e9).workers
    1
    """

    def __init__(self, hold: float = float("inf")) -> None:
        self.hold, self._holder = hold, Holder()

    def map(
        self, task: Callable[..., T], pieces: Sequence[Piece], common: tuple[Any, ...] = (), own: Own | None = None
    ) -> Iterator[T]:
        for k, piece in enumerate(pieces):
            block = self._holder.get(piece, self.hold)
            arguments = () if own is None else own(k)
            with one_thread():
                found = task(block, *common, *arguments)
            del block
            yield found

    def __reduce__(self) -> tuple[Any, ...]:
        return SerialEngine, (self.hold,)  # what is held is read again

    def close(self) -> None:
        self._holder = Holder()
