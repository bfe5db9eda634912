"""Contenders for the tests of the benchmarks' harness: they run in processes of their own, which import this module."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.race import Answer, Data, Measure, NotThere


def tiny(n: int, d: int) -> Data:
    """Ones."""
    return {"X": np.ones((n, d)), "y": np.ones(n)}


def distance(data: Data, answer: Answer, bound: float) -> Measure:
    return Measure(abs(answer.coef))


def gap(data: Data, answer: Answer, bound: float) -> Measure:
    own = -np.inf if answer.multipliers is None else answer.multipliers
    best = max(own, bound)
    return Measure((answer.coef - best) / answer.coef, answer.coef, own)


def as_good_as_asked(data: Data, tol: float) -> Answer:
    """Its answer is off by ten times its tolerance."""
    return Answer(10 * tol, seconds=0.5)


def sleeps(data: Data, tol: float) -> Answer:
    """It does not come back where more than 1e-3 is asked for."""
    if data["X"].shape[0] > 4 and tol < 1e-3:
        time.sleep(30)
    return Answer(1e-2)


def spins(data: Data, tol: float) -> Answer:
    """It takes the processor for longer than it may, unless the data are few."""
    until = time.process_time() + (20.0 if data["X"].shape[0] > 4 else 0.0)
    while time.process_time() < until:
        pass
    return Answer(1e-9)


def takes(data: Data, tol: float, *, memory: int) -> Answer:
    """It fills so many bytes."""
    return Answer(float(np.zeros(memory // 8 + 1).fill(1) is not None), seconds=1e-3 * data["X"].shape[0] ** 1.5)


def breaks(data: Data, tol: float) -> Answer:
    raise ArithmeticError("no pivot")


def absent(data: Data, tol: float) -> Answer:
    raise NotThere("no solver 'x' yet")


def bounded(data: Data, tol: float, *, objective: float, bound: float | None = None) -> Answer:
    return Answer(objective, multipliers=bound, seconds=1.0)
