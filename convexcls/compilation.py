"""Compiling a loop where numba is installed (the extra ``fast``); without it the same source runs as plain Python.

Importing this module does not load numba, decorating a function does: decorate in modules that are imported when a loop
is run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

#: To load numba takes as long as SciPy does for some tens of loops of so many steps, which is what a solver makes.
MIN_STEPS_TO_LOAD = 2_000_000

F = TypeVar("F", bound=Callable[..., Any])


def has_numba() -> bool:
    """Whether loops are compiled."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


def compiles(work: int) -> bool:
    """Whether a loop of so many steps is compiled: numba is there, and loaded or worth loading."""
    return "numba" in sys.modules or (work > MIN_STEPS_TO_LOAD and has_numba())


def compiled(function: F) -> F:
    """The function, compiled with the arithmetic that Python has. Where nothing can be written to, neither beside the
    file nor in the user's cache, the compiled code is not kept."""
    return _compiled(function)


def compiled_fused(function: F) -> F:
    """The same, but a product may be added without rounding in between (fused multiply-add), and a division by zero is
    no error: for loops that need not come out the same to the last bit."""
    return _compiled(function, fastmath={"contract"}, error_model="numpy")


def compiled_reordered(function: F) -> F:
    """The same, and sums may be added up in another order, several terms at a time."""
    return _compiled(function, fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")


def _compiled(function: F, **options: Any) -> F:
    try:
        from numba import njit
    except ImportError:
        return function
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no place for its cache
        return njit(**options)(function)
