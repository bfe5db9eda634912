"""Checks of the numbers and choices that a model is declared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def check_positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    number = _number(name, value)
    if not number > 0:
        raise ValueError(f"{name} is {value!r}: it must be a number above 0")
    return number


def check_nonnegative(name: str, value: Any) -> float:
    """A finite number, zero or more."""
    number = _number(name, value)
    if number < 0:
        raise ValueError(f"{name} is {value!r}: it must be a number, 0 or more")
    return number


def is_infinite(value: Any) -> bool:
    """Whether the value is the number infinity, for parameters that may be without bound."""
    return isinstance(value, (int, float)) and float(value) == math.inf


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """One of a few words."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}: choose one of {', '.join(map(repr, choices))}")


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}: it must be a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is {value!r}: it must be finite")
    return number
