"""Smooth losses at arguments that are known as balls.

The multiplier of a smooth loss is taken to be its true slope at the true argument, which no computer holds, but which
is known as a ball. Then Fenchel's inequality loss(u) + conjugate(z) >= z u is an equality, without any rounding. Where
z has to be moved by D m, with |m| at most ``reach``, it is lost by at most ``price`` D m^2:

    half-square          D = 1                    m^2 / 2, for any m
    logistic, softmax    D = p_k p_own            the Kullback-Leibler divergence of moved and true probabilities is at
                                                  most sum (moved - true)^2 / true <= D m^2, by Cauchy and Schwarz
    exponential          D = e^-u                 e^-u ((1 + m) log(1 + m) - m) <= D m^2

Assumed of NumPy: exp, log1p and expm1 are right to 4 units in the last place (test_rigorous.py measures it).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array
from convexcls.losses import Exponential, HalfSquare, Logistic, Loss, SoftmaxMargins
from convexcls.proofs.rigorous.rounding import Ball, raised

#: The relative error of exp, log1p and expm1: 4 units in the last place.
LIBRARY = 8 * UNIT_ROUNDOFF
#: Slopes at arguments known less well than this are not moved: the price would be another.
MAX_RADIUS = 0.01
#: A smaller D is none: it may be a rounded number of few bits.
MIN_D = 1e-290


class LossAt(NamedTuple):
    """The values, one a group of arguments, and the slopes and D, one an argument."""

    value: Ball
    slope: Ball
    D: Array
    price: float = 1.05
    reach: float = 0.9


def is_known(loss: Loss) -> bool:
    """Whether the rounding of a loss is known here."""
    return isinstance(loss, (HalfSquare, Logistic, Exponential, SoftmaxMargins))


def loss_at(loss: Loss, u: Ball) -> LossAt:
    """A known loss at arguments u."""
    if isinstance(loss, HalfSquare):
        return LossAt(u.squared().half(), u, np.ones(u.mid.shape), 0.5, np.inf)
    if isinstance(loss, Exponential):
        return _exponential(u)
    assert isinstance(loss, (Logistic, SoftmaxMargins))
    return _softmax(u, loss.width)


def _exponential(u: Ball) -> LossAt:
    value = np.exp(-u.mid)
    off = value * (LIBRARY + _growth(u.rad)) + 8 * ETA
    ball = Ball(value, raised(np.where(np.isfinite(value), off, np.inf)))
    return LossAt(ball, -ball, _where_known(value, u.rad))


def _softmax(u: Ball, width: int) -> LossAt:
    """log(1 + sum_k e^-u_k) and minus its probabilities p_k; the own class has p = 1 / (1 + sum e^-u)."""
    lower = np.reshape(-u.mid, (-1, width))
    spread = np.reshape(u.rad, (-1, width)).max(axis=1, initial=0.0)
    scores = np.hstack([np.zeros((lower.shape[0], 1)), lower])
    top = scores.max(axis=1, keepdims=True)
    behind = scores - top
    powers = np.exp(behind)
    first = np.argmax(scores, axis=1)[:, None]
    others = powers.copy()
    np.put_along_axis(others, first, 0.0, axis=1)
    rest = others.sum(axis=1)
    p = powers / (1.0 + rest)[:, None]
    value = top[:, 0] + np.log1p(rest)
    # a probability changes by a factor of at most e^(2 spread), the value by at most the other classes' share of it
    share = np.minimum(1.0, p[:, 1:].sum(axis=1) * (1.0 + _growth(2.0 * spread)) * 1.01)
    off = value * (4.0 * (width + 12) * UNIT_ROUNDOFF) + share * spread + 8 * ETA
    relative = (np.abs(behind) + 2.0 * (width + 24)) * UNIT_ROUNDOFF + _growth(2.0 * spread)[:, None]
    slopes = np.minimum(p[:, 1:] * relative[:, 1:] + 8 * ETA, 1.0).ravel()
    D = _where_known((p[:, 1:] * p[:, :1]).ravel(), np.repeat(2.0 * spread, width))
    known = np.isfinite(value)
    return LossAt(
        Ball(value, raised(np.where(known, off, np.inf))),
        Ball(-p[:, 1:].ravel(), raised(np.where(np.repeat(known, width), slopes, 1.0))),
        D,
    )


def _growth(rad: Array) -> Array:
    """At least e^rad - 1."""
    return np.asarray(raised(np.expm1(rad) * (1.0 + LIBRARY)))


def _where_known(D: Array, rad: Array) -> Array:
    return np.where((rad <= MAX_RADIUS) & (D >= MIN_D) & np.isfinite(D), D, 0.0)
