"""Step sizes of learning rules, the orders in which they visit samples, and where they begin."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array

#: ``fixed`` is eta0 throughout, ``decay`` eta0/tau.
Step = Literal["fixed", "decay"]
#: ``cyclic`` visits the samples as they stand, ``random`` in a new order each pass.
Order = Literal["cyclic", "random"]
STEPS: tuple[Step, ...] = ("fixed", "decay")
ORDERS: tuple[Order, ...] = ("cyclic", "random")


def step_size(step: str, eta0: float, tau: int) -> float:
    """eta0, or eta0/tau where the step decays: the sum of all steps is infinite, that of their squares is not."""
    return eta0 / tau if step == "decay" else eta0


def orders(order: Order, n: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """The order of the samples in each pass, without end. The same seed gives the same orders."""
    if order == "cyclic":
        as_they_stand = np.arange(n, dtype=np.int64)
        for _ in count():
            yield as_they_stand
    generator = np.random.default_rng(seed)
    for _ in count():
        yield generator.permutation(n)


def random_start(size: int, seed: int) -> Array:
    """Normal deviates in multiples of 1/1024: so coarse that sums with whole numbers stay exact."""
    return np.asarray(np.round(1024.0 * np.random.default_rng(seed).normal(size=size)) / 1024.0)


def check_choice(solver: str, option: str, value: Any, choices: tuple[str, ...]) -> None:
    """That the option is one of the choices."""
    if value not in choices:
        raise ValueError(f"option {option} of solver {solver!r} is {value!r}: choose one of {', '.join(choices)}")


def check_whole(solver: str, option: str, value: Any) -> None:
    """That the option is a whole number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"option {option} of solver {solver!r} is {value!r}: it must be a whole number from 0 on")


def check_rate(solver: str, option: str, value: Any) -> None:
    """That the option is a finite number above 0, or None for the default."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < np.inf:
        raise ValueError(f"option {option} of solver {solver!r} is {value!r}: it must be a finite number above 0")
