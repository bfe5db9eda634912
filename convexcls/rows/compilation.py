"""Compiling a loop where numba is installed (the extra ``fast``); without it the same source runs as plain Python.

Importing this module does not load numba, decorating a function does: decorate in modules that are imported when a loop
is run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def has_numba() -> bool:
    """Whether loops are compiled."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


def compiled(function: F) -> F:
    """The function, compiled; a product may be added without rounding in between (fused multiply-add), and nothing else
    of the arithmetic is changed. Where nothing can be written to, the compiled code is not kept."""
    try:
        from numba import njit
    except ImportError:
        return function
    try:
        return njit(cache=True, fastmath={"contract"}, error_model="numpy")(function)
    except RuntimeError:  # numba found no place for its cache
        return njit(fastmath={"contract"}, error_model="numpy")(function)
