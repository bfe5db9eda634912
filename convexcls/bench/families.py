"""Generated problems whose answers are known, by the trouble that they make.

Each begins with a design whose answer can be written down, and changes it in a way that changes the answer in a known
way, or not at all:

    scaled             features times s: coefficients are divided by s
    offset             features plus c: only the intercept changes
    nearly-dependent   a column that repeats another but for eps, where that does not matter
    close              classes a gap g apart: the margin is g/2 on either side
    degenerate         many points on the margin, repeated points, opposite duplicates
    infeasible         classes that meet, by much or by a hair
    unattained         likelihoods of separated or touching classes

All numbers are doubles as they stand, so that the answers are exact for the data as given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.models import HardMarginSVM, LeastAbsolute, LeastSquares, LogisticMLE, SoftMarginSVM, SoftmaxMLE
from convexcls.problem import Problem
from convexcls.proofs.certificate import Status

FAMILIES = ("scaled", "offset", "nearly-dependent", "close", "degenerate", "infeasible", "unattained")
#: By which products are exact, by name.
SCALES = {"2^-40": 2.0**-40, "2^-20": 2.0**-20, "2^-10": 2.0**-10, "1e3": 1e3, "1e6": 1e6, "2^40": 2.0**40}
OFFSETS = {"1e3": 1e3, "1e6": 1e6, "1.7e9": 1.7e9}
EPSILONS = {"2^-10": 2.0**-10, "2^-20": 2.0**-20, "2^-30": 2.0**-30}
GAPS = (1e-3, 1e-6, 1e-9)
#: The digits of a likelihood.
DIGITS = 40


@dataclass(frozen=True, eq=False)
class Generated:
    """A member of a family: the model that is asked, what is varied, the known answer."""

    family: str
    model: str
    member: str
    problem: Problem
    verdict: Status
    optimum: Fraction | None


def generated() -> Iterator[Generated]:
    """All members of all families."""
    for family in (_scaled, _offset, _nearly_dependent, _close, _degenerate, _infeasible, _unattained):
        yield from family()


# ---- designs with an answer that can be written down ------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """Samples, labels and a model; ``optimum(s)`` is the optimum where the features are multiplied by s."""

    name: str
    X: Array
    y: list[Any]
    model: Callable[..., Problem]
    optimum: Callable[[Fraction], Fraction]

    def moved(self, family: str, member: str, scale: float = 1.0, offset: float = 0.0) -> Generated:
        """The design with other features."""
        X = self.X * scale + offset
        return Generated(family, self.name, member, self.model(X, self.y), "optimal", self.optimum(Fraction(scale)))


def _margin() -> Design:
    """The nearest points of two classes are (-1, 0) and (1, 0); no other is nearer to the line between. The optimum is
    2 / distance^2."""
    X = np.array([[-1.0, 0], [-3, 2], [-5, -1], [1, 0], [4, 3], [6, -2]])
    return Design("hard-margin", X, [0, 0, 0, 1, 1, 1], HardMarginSVM, lambda s: 1 / (2 * s * s))


def _soft() -> Design:
    """Points at -1 and 1, and opposite labels at 0. For C s^2 >= 1/2 the slope is 1/s: 1/(2 s^2) + 2 C; else it is
    2 C s, and the points at -1 and 1 pay 1 - 2 C s^2 each."""
    X, C = np.array([[-1.0], [0], [0], [1]]), Fraction(1)

    def optimum(s: Fraction) -> Fraction:
        if 2 * C * s * s >= 1:
            return 1 / (2 * s * s) + 2 * C
        return (2 * C * s) ** 2 / 2 + 2 * C * (1 - 2 * C * s * s) + 2 * C

    return Design("soft-margin", X, [0, 0, 1, 1], lambda X, y: SoftMarginSVM(X, y, C=float(C)), optimum)


def _line() -> Design:
    """Targets x + r with residuals r = (1, -1, -1, 1) that are orthogonal to 1 and to x: half their squares, 2."""
    X = np.array([[-3.0], [-1], [1], [3]])
    y = [-2.0, -2.0, 0.0, 4.0]
    return Design("least-squares", X, y, lambda X, y: LeastSquares(X, y, coding="real"), lambda _: Fraction(2))


def _absolute() -> Design:
    """Three targets on either value of the feature: each fitted value is their median, and the others are 1 off."""
    X = np.array([[0.0], [0], [0], [1], [1], [1]])
    y = [0.0, 0.0, 1.0, 2.0, 3.0, 3.0]
    return Design("least-absolute", X, y, lambda X, y: LeastAbsolute(X, y, coding="real"), lambda _: Fraction(2))


def _table() -> Design:
    """Shares 1/4 and 4/5 of the second label on the two values of the feature: the log-likelihood of these."""
    counts = ((3, 1), (1, 4))
    X = np.array([[float(k)] for k, pair in enumerate(counts) for _ in range(sum(pair))])
    y = [label for pair in counts for label, times in enumerate(pair) for _ in range(times)]
    return Design("logistic", X, y, LogisticMLE, lambda _: _entropy(counts))


def _entropy(counts: tuple[tuple[int, ...], ...]) -> Fraction:
    """- sum n_kl log(n_kl / n_k), to many digits."""
    with localcontext(prec=DIGITS):
        shares = ((n, Decimal(n) / sum(pair)) for pair in counts for n in pair if n)
        return Fraction(-sum((n * share.ln() for n, share in shares), Decimal(0)))


def _designs() -> tuple[Design, ...]:
    return (_margin(), _soft(), _line(), _absolute(), _table())


# ---- families ------------------------------------------------------------------------------------------------------


def _scaled() -> Iterator[Generated]:
    for design, (name, scale) in product(_designs(), SCALES.items()):
        yield design.moved("scaled", name, scale=scale)


def _offset() -> Iterator[Generated]:
    for design, (name, offset) in product(_designs(), OFFSETS.items()):
        yield design.moved("offset", name, offset=offset)


def _nearly_dependent() -> Iterator[Generated]:
    """Of margins: a column that differs from the first where no support point is, so that both share the slope. Of
    least squares: columns h1, h1 + eps h2, and residuals that are orthogonal to both."""
    margin = _margin()
    off = np.array([0.0, 1, -1, 0, -1, 1])
    h = np.array([[1.0, 1, 1, 1, -1, -1, -1, -1], [1, 1, -1, -1, 1, 1, -1, -1], [1, -1, 1, -1, 1, -1, 1, -1]]).T
    for name, eps in EPSILONS.items():
        X = np.column_stack([margin.X[:, 0], margin.X[:, 0] + eps * off])
        problem: Problem = HardMarginSVM(X, margin.y)
        yield Generated("nearly-dependent", "hard-margin", name, problem, "optimal", Fraction(1, 4))
        X, target = np.column_stack([h[:, 0], h[:, 0] + eps * h[:, 1]]), h[:, 0] + h[:, 2]
        problem = LeastSquares(X, target.tolist(), coding="real")
        yield Generated("nearly-dependent", "least-squares", name, problem, "optimal", Fraction(4))


def _close() -> Iterator[Generated]:
    for gap in GAPS:
        half = gap / 2
        X, y = np.array([[-1.0], [-half], [half], [1.0]]), [0, 0, 1, 1]
        width = 2 * Fraction(half)
        yield Generated("close", "hard-margin", f"{gap:.0e}", HardMarginSVM(X, y), "optimal", 2 / width**2)
        plane = np.array([[-1.0, 3], [-half, 0], [half, 0], [1.0, -3], [0.5, 0.0], [-0.5, 0]])
        signs = [0, 0, 1, 1, 1, 0]
        flat: Problem = HardMarginSVM(plane, signs)  # the normal is (1/half, 0) all the same
        yield Generated("close", "hard-margin-plane", f"{gap:.0e}", flat, "optimal", 2 / width**2)


def _degenerate() -> Iterator[Generated]:
    ladder = np.array([[side, k] for side in (-1.0, 1.0) for k in range(-3, 4)])
    labels = [0] * 7 + [1] * 7
    yield Generated("degenerate", "hard-margin", "ladder", HardMarginSVM(ladder, labels), "optimal", Fraction(1, 2))
    repeated, often = np.repeat(_margin().X, 9, axis=0), np.repeat(_margin().y, 9).tolist()
    yield Generated("degenerate", "hard-margin", "repeated", HardMarginSVM(repeated, often), "optimal", Fraction(1, 2))
    soft = _soft()
    twins = SoftMarginSVM(np.zeros((4, 1)), [0, 1, 0, 1], C=1.0)
    yield Generated("degenerate", "soft-margin", "twins", twins, "optimal", Fraction(4))
    yield soft.moved("degenerate", "at-the-bound", scale=1.0)
    constant = np.column_stack([_line().X, np.ones(4)])
    repeats: Problem = LeastSquares(constant, _line().y, coding="real")
    yield Generated("degenerate", "least-squares", "constant-column", repeats, "optimal", Fraction(2))
    table = _table()
    trap = np.column_stack([table.X, 1 - table.X])  # the dummy trap: the columns add up to the intercept's
    yield Generated(
        "degenerate", "logistic", "dummy-trap", LogisticMLE(trap, table.y), "optimal", table.optimum(Fraction(1))
    )
    flat = LeastAbsolute(np.array([[0.0], [0], [1], [1]]), [0.0, 1.0, 0.0, 1.0], coding="real")
    yield Generated("degenerate", "least-absolute", "not-unique", flat, "optimal", Fraction(2))


def _infeasible() -> Iterator[Generated]:
    square, xor = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), [0, 0, 1, 1]
    for name, scale in {"1": 1.0, **SCALES}.items():
        crossed = HardMarginSVM(square * scale, xor)
        yield Generated("infeasible", "hard-margin", f"xor-{name}", crossed, "infeasible", None)
    for overlap in (0.0, *GAPS):
        X = np.array([[-1.0, 0], [overlap / 2, 0], [-overlap / 2, 0], [1.0, 0]])
        met = HardMarginSVM(X, [0, 0, 1, 1])
        yield Generated("infeasible", "hard-margin", f"overlap-{overlap:.0e}", met, "infeasible", None)


def _unattained() -> Iterator[Generated]:
    def member(name: str, X: list[list[float]], y: list[int], infimum: Fraction) -> Generated:
        kind, declare = ("softmax", SoftmaxMLE) if len(set(y)) > 2 else ("logistic", LogisticMLE)
        return Generated("unattained", kind, name, declare(np.array(X), y), "unattained", infimum)

    halves = _entropy(((1, 1),))
    for gap in (1.0, *GAPS):
        yield member(f"separated-{gap:.0e}", [[-1.0], [-gap / 2], [gap / 2], [1.0]], [0, 0, 1, 1], Fraction(0))
    for name, scale in {"1": 1.0, **SCALES}.items():
        yield member(f"touching-{name}", [[-scale], [0.0], [0.0], [scale]], [0, 0, 1, 1], halves)
    yield member("separated", [[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0, 1, 2], Fraction(0))
    # none of the second group has the first label: its share is 0
    yield member("empty-cell", [[0.0], [0.0], [1.0], [1.0]], [0, 1, 1, 1], halves)
