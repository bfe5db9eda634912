"""Libraries in C that print what they have to say of numbers at the ends of the range, asked or not."""

from __future__ import annotations

import ctypes
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing that is written to the two standard streams gets out, neither by Python nor by C."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), _without_descriptors():
        yield


@contextmanager
def _without_descriptors() -> Iterator[None]:
    _flush()
    kept: dict[int, int] = {}
    with suppress(OSError), open(os.devnull, "wb") as nowhere:  # a process may have no such streams
        for number in (1, 2):
            kept[number] = os.dup(number)
            os.dup2(nowhere.fileno(), number)
    try:
        yield
    finally:
        _flush()
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)


def _flush() -> None:
    """What C has written and not yet passed on."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)
