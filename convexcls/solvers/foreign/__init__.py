"""Solvers of other people, called with plain matrices; what they return is finished on its active set.

Some are libraries in C that print what they have to say of numbers at the ends of the range, asked or not: there they
are kept ``quiet``. Of all other numbers they are silent when told to be, and then the streams are left alone: somebody
may be writing of progress. Imports ``solvers.rows`` and below.
"""

from __future__ import annotations

import ctypes
import io
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any

import numpy as np

#: Beyond these sizes libraries speak unasked.
SMALLEST_SILENT_SIZE, LARGEST_SILENT_SIZE = 1e-50, 1e50
_LOCK = threading.Lock()
_RESTORE = ExitStack()
_USERS = 0


def beyond_range(*parts: Any) -> bool:
    """Whether some number that is not 0 is beyond the sizes of which libraries are silent."""
    sizes = np.abs(np.concatenate([np.zeros(0), *(np.ravel(part) for part in parts)]))
    sizes = sizes[(sizes > 0) & np.isfinite(sizes)]
    return bool(sizes.size) and bool(sizes.max() > LARGEST_SILENT_SIZE or sizes.min() < SMALLEST_SILENT_SIZE)


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing that is written to the two standard streams gets out, neither by Python nor by C. The streams belong to
    the process: of several threads the first to come silences them, and the last to go gives them back."""
    global _USERS
    with _LOCK:
        _USERS += 1
        if _USERS == 1:
            _RESTORE.enter_context(redirect_stdout(io.StringIO()))
            _RESTORE.enter_context(redirect_stderr(io.StringIO()))
            _RESTORE.enter_context(_without_descriptors())
    try:
        yield
    finally:
        with _LOCK:
            _USERS -= 1
            if not _USERS:
                _RESTORE.close()


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
