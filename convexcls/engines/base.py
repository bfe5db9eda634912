"""The contract of an engine: ``map`` a pure function over blocks, with results in the order of the blocks."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

T = TypeVar("T")

#: What of the arguments belongs to one block, by its number.
Own = Callable[[int], tuple[Any, ...]]


class EngineError(RuntimeError):
    """An engine that cannot go on; the message says what helps.

    >>> import convexcls as cc
    >>> from convexcls.engines import as_engine
    >>> as_engine("many")
    Traceback (most recent call last):
        ...
    convexcls.engines.base.EngineError: engine 'many' is not known: give "serial", a number of processes, a Dask \
client, or the address of a Dask scheduler such as "tcp://host:8786"
    """


class BlocksChanged(EngineError):
    """Data that are not what they were when they were checked.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "X.npy")
    >>> np.save(path, np.ones((2, 1)))
    >>> samples = cc.read_blocks(path, hold=0)
    >>> path.unlink()
    >>> try:
    ...     samples.rows @ np.ones(1)
    ... except cc.BlocksChanged as error:
    ...     print(str(error).partition(": ")[2])
    ...
    the file is gone since it was checked (No such file or directory)
    """


class Piece(Protocol):
    """Where a block comes from: small, picklable, and equal to another only if it reads the same. A piece that is
    ``chosen`` from a ``whole`` one is taken from that where it is held, and not held itself."""

    def read(self) -> Any:
        """The block, the same at every reading; ``BlocksChanged`` where it no longer is."""

    def __hash__(self) -> int: ...


class Engine(ABC):
    """Carries out a function for every block.

    ``hold`` is how many bytes of blocks are kept in memory in all; what is beyond is read again at every pass.
    """

    hold: float
    #: How many blocks are worked on at a time.
    workers: int = 1

    @abstractmethod
    def map(
        self, task: Callable[..., T], pieces: Sequence[Piece], common: tuple[Any, ...] = (), own: Own | None = None
    ) -> Iterator[T]:
        """``task(block, *common, *own(k))`` of every block, in their order.

        The task is pure and, with its arguments and results, picklable: it may run in another process, on another
        machine, and again where a worker is lost. It must not write to the block.
        """

    def close(self) -> None:  # noqa: B027
        """Give back what the engine holds. An engine that is closed begins anew when it is used again."""

    @property
    def share(self) -> float:
        """How many bytes each worker may hold."""
        return self.hold / self.workers


def tree_sum(parts: Iterable[T]) -> T | None:
    """The sum in a fixed tree over the numbers of the parts: always the same bits, with few additions one after the
    other and few sums in memory. None of no parts. What overflows is infinite, without a warning, as in a product.

    >>> from convexcls.engines import tree_sum
    >>> tree_sum(iter([1.0, 2.0, 3.0]))
    6.0
    """
    waiting: list[tuple[int, Any]] = []
    for part in parts:
        level, total = 0, part
        while waiting and waiting[-1][0] == level:
            total = _sum(waiting.pop()[1], total)
            level += 1
        waiting.append((level, total))
    if not waiting:
        return None
    total = waiting.pop()[1]
    while waiting:
        total = _sum(waiting.pop()[1], total)
    return total


def _sum(first: Any, second: Any) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):
        return first + second


def tree_depth(count: int) -> int:
    """So many additions at most, one after the other, are in such a sum of so many parts."""
    return 2 * max(count, 1).bit_length()


def as_engine(engine: Any = None, hold: float = float("inf")) -> Engine:
    """The engine that is meant: an ``Engine`` itself, None or "serial", a number of processes, a Dask client, or the
    address of a Dask scheduler.

    >>> from convexcls.engines import as_engine
    >>> list(as_engine("serial").map(len, []))
    []
    """
    from convexcls.engines.serial import SerialEngine

    if isinstance(engine, Engine):
        return engine
    if engine is None or engine == "serial":
        return SerialEngine(hold)
    if isinstance(engine, int) and not isinstance(engine, bool) and engine >= 1:
        from convexcls.engines.processes import ProcessEngine

        return ProcessEngine(engine, hold)
    if hasattr(engine, "submit") and hasattr(engine, "scheduler_info"):
        from convexcls.engines.cluster import DaskEngine

        return DaskEngine(engine, hold)
    if isinstance(engine, str) and "://" in engine:
        from convexcls.engines.cluster import DaskEngine

        return DaskEngine.at(engine, hold)
    raise EngineError(
        f'engine {engine!r} is not known: give "serial", a number of processes, a Dask client, or the address of a '
        'Dask scheduler such as "tcp://host:8786"'
    )


def pickled(what: Any, module: Any = pickle) -> bytes:
    """What travels to workers."""
    try:
        return bytes(module.dumps(what, protocol=pickle.HIGHEST_PROTOCOL))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise EngineError(
            f"what is worked out on other processes has to be picklable, and this is not: {error}. Define a loss of "
            "your own in a module, not in a function or a notebook cell, or take engine='serial'"
        ) from None
