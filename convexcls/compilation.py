"""Compiling a loop where numba is installed (the extra ``fast``); without it the same source runs as plain Python.

Importing this module does not load numba, decorating a function does: decorate in modules that are imported when a loop
is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
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
    """Whether a loop of so many steps is compiled: it is worth loading numba, which is there. Nothing else counts, so
    that the same data get the same sums in every process."""
    return work > MIN_STEPS_TO_LOAD and has_numba()


#: So often a loop that takes seconds to compile is done without, where it is not on the disk yet.
TIMES_WITHOUT = 10
_times: Counter[str] = Counter()


def is_worth_compiling(function: Any) -> bool:
    """Whether to use a loop that takes seconds to compile, where there is another way. Yes where its code is at hand,
    in the process or on the disk. Else a process that asks for it often compiles it, once for all that come after it;
    one that asks a few times does not pay for it. No where there is no numba, or no place to keep the code."""
    if not hasattr(function, "py_func"):
        return False
    if function.signatures or _is_on_disk(function):
        return True
    if function.stats.cache_path is None:
        return False
    name = f"{function.__module__}.{function.__name__}"
    _times[name] += 1
    return _times[name] > TIMES_WITHOUT


def _is_on_disk(function: Any) -> bool:
    """Whether compiled code that is not older than its source is kept."""
    if function.stats.cache_path is None:
        return False
    source = Path(function.py_func.__code__.co_filename)
    kept = Path(function.stats.cache_path).glob(f"{source.stem}.{function.__name__}-*.nbi")
    return source.exists() and any(index.stat().st_mtime >= source.stat().st_mtime for index in kept)


def compiled(function: F) -> F:
    """The function, compiled with the arithmetic that Python has. Where nothing can be written to, neither beside the
    file nor in the user's cache, the compiled code is not kept."""
    return _compiled(function)


def compiled_fused(function: F) -> F:
    """The same, but a product may be added without rounding in between (fused multiply-add), and a division by zero is
    no error: for loops that need not come out the same to the last bit."""
    return _compiled(function, fastmath={"contract"}, error_model="numpy")


def compiled_reordered(function: F) -> F:
    """The same, and sums may be added up in any order, so that a processor works on several terms at a time."""
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
