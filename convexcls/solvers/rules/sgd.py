"""Stochastic gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from convexcls.solvers.base import check_whole
from convexcls.solvers.rules.sequential import SequentialRule
from convexcls.solvers.rules.visits import Order


@dataclass(frozen=True)
class SGDSolver(SequentialRule):
    """Stochastic gradient descent on a sum of smooth losses. For the logistic loss, with y_i in {0, 1} and p_i the
    probability of 1 at x_i, and for the softmax loss, with p_ik the probability of class k, a step is

        w <- w + eta (y_i - p_i) x_i,      w_k <- w_k + eta ([y_i = k] - p_ik) x_i,      eta = eta0/tau.

    Samples come in a new random order each pass, by ``seed`` (``order="cyclic"``: as they stand). ``batch`` samples
    at a time take one step along their average gradient (which allows a larger eta0). tau counts passes, or single
    steps (``count="visit"``). By default eta0 is one over the largest curvature of a single sample's loss. A ridge
    penalty takes its n-th part at every step.
    """

    name: ClassVar[str] = "sgd"
    accepts: ClassVar[str] = "one sum of smooth losses, with or without ridge penalty (a learning rule)"
    promise: ClassVar[float] = 2e-2

    order: Order = "random"
    batch: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "batch", self.batch)

    @property
    def samples_at_a_time(self) -> int:
        return self.batch
