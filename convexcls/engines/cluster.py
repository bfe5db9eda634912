"""Blocks on the workers of a Dask cluster; no collection of Dask is in between.

A block goes to the same worker as long as that one lives, and is held there; where a worker is lost the scheduler gives
its blocks to another, and the answer is the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from convexcls.engines.base import Engine, EngineError, Own, Piece, pickled
from convexcls.engines.holding import Holder, one_thread

T = TypeVar("T")

#: Blocks that are asked for beyond the one that is waited for, by worker.
AHEAD = 2
#: How long to wait for a scheduler, in seconds.
SECONDS_TO_CONNECT = 10

#: What a worker of the cluster holds, for all that use it.
_HOLDER = Holder()


class DaskEngine(Engine):
    """The workers of a Dask client."""

    def __init__(self, client: Any, hold: float = float("inf"), owned: bool = False) -> None:
        self.client, self.hold, self._owned = client, hold, owned

    @classmethod
    def at(cls, address: str, hold: float = float("inf")) -> DaskEngine:
        """The cluster of the scheduler at an address."""
        try:
            from distributed import Client
        except ImportError:
            raise EngineError("a Dask cluster needs dask and distributed: pip install 'convexcls[cluster]'") from None
        try:
            return cls(Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False), hold, owned=True)
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineError(f"there is no Dask scheduler at {address}: {error}") from None

    @property
    def _addresses(self) -> list[str]:
        try:
            return sorted(self.client.scheduler_info(n_workers=-1)["workers"])
        except TypeError:  # of older clients, which tell of all workers anyway
            return sorted(self.client.scheduler_info()["workers"])

    @property
    def workers(self) -> int:  # type: ignore[override]
        """How many there are now."""
        return max(len(self._addresses), 1)

    def map(
        self, task: Callable[..., T], pieces: Sequence[Piece], common: tuple[Any, ...] = (), own: Own | None = None
    ) -> Iterator[T]:
        import cloudpickle

        what, addresses = pickled((task, common), cloudpickle), self._addresses
        share = self.hold / max(len(addresses), 1)
        waiting: deque[Any] = deque()
        try:
            for k, piece in enumerate(pieces):
                arguments = () if own is None else own(k)
                home = [addresses[k % len(addresses)]] if addresses else None
                waiting.append(self._submitted(what, piece, share, arguments, home))
                if len(waiting) > AHEAD * max(len(addresses), 1):
                    yield self._result(waiting.popleft(), piece)
            while waiting:
                yield self._result(waiting.popleft(), pieces[-1])
        finally:
            for future in waiting:
                future.cancel()

    def __reduce__(self) -> tuple[Any, ...]:
        return DaskEngine.at, (self.client.scheduler.address, self.hold)

    def _submitted(self, what: bytes, piece: Piece, share: float, arguments: tuple[Any, ...], home: Any) -> Any:
        try:
            return self.client.submit(
                _carried_out,
                what,
                piece,
                share,
                arguments,
                workers=home,
                allow_other_workers=home is not None,
                pure=False,
            )
        except Exception as error:
            raise EngineError(f"the Dask client does not take tasks any more: {error}") from error

    def _result(self, future: Any, piece: Piece) -> Any:
        from concurrent.futures import CancelledError

        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            return future.result()
        except KilledWorker as error:
            raise EngineError(
                f"workers of the cluster were lost again and again on one block: they may have run out of memory. Hold "
                f"less, or take smaller blocks ({error})"
            ) from None
        except MemoryError:
            raise EngineError("a worker ran out of memory: hold less, or take smaller blocks") from None
        except (CancelledError, CommClosedError, OSError, TimeoutError) as error:
            if isinstance(error, FileNotFoundError | PermissionError):
                raise
            raise EngineError(f"the Dask cluster is gone: start it again ({type(error).__name__}: {error})") from None

    def close(self) -> None:
        if self._owned:
            self.client.close()


def _carried_out(what: bytes, piece: Piece, share: float, arguments: tuple[Any, ...]) -> Any:
    import cloudpickle

    task, common = cloudpickle.loads(what)
    block = _HOLDER.get(piece, share)
    with one_thread():
        return task(block, *common, *arguments)
