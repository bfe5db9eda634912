"""Sums of smooth losses over samples, with gradient and Hessian, in ball arithmetic.

A loss of width w takes w arguments u at a time. Its slopes are w balls, its curvature is the matrix

    diag(curvature) - tilt tilt'

with ``tilt`` of softmax the probabilities of the other classes, and none for losses of one argument. The formulas are
those without cancellation: what is small comes out with as many digits as what is large.

Softmax regression needs one row a sample, where rows of margins would be one for each other class. With scores
s_k = w_k'x_i + b_k, probabilities p_k = e^s_k / sum_l e^s_l and own class c, a sample adds

    value      log sum_k e^s_k - s_c
    gradient   (p_k - [k = c]) x_i          for class k
    Hessian    -p_k p_l x_i x_i'            for classes k != l; that of k = l is minus the sum of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from convexcls.losses import Exponential, HalfSquare, Logistic, Loss, SoftmaxMargins
from convexcls.proofs.enclosure.intervals import all_exact, column

if TYPE_CHECKING:
    from flint import arb, arb_mat


@dataclass(frozen=True)
class Local:
    """A loss at some arguments: its value, its slopes and its curvature diag(curvature) - tilt tilt'."""

    value: arb
    slopes: Sequence[arb]
    curvature: Sequence[arb]
    tilt: Sequence[arb] = ()


def softmax(scores: Sequence[arb], own: int) -> tuple[arb, list[arb]]:
    """-log p_own and all p, with the largest score taken out of the sum."""
    from flint import arb

    top = max(range(len(scores)), key=lambda k: scores[k].mid())
    parts = [arb(1) if k == top else (s - scores[top]).exp() for k, s in enumerate(scores)]
    rest = sum((part for k, part in enumerate(parts) if k != top), arb(0))
    value = rest.log1p() if top == own else rest.log1p() + (scores[top] - scores[own])
    share = 1 / (1 + rest)
    return value, [part * share for part in parts]


def _margins(u: Sequence[arb]) -> Local:
    """log(1 + sum_k e^-u_k): the own class has the score 0, the others -u_k."""
    from flint import arb

    value, (own, *others) = softmax([arb(0), *(-margin for margin in u)], 0)
    slopes = [-p for p in others]
    if len(u) == 1:  # p - p^2 would cancel
        return Local(value, slopes, [own * others[0]])
    return Local(value, slopes, others, others)


def _half_square(u: Sequence[arb]) -> Local:
    from flint import arb

    (residual,) = u
    return Local(residual * residual / 2, [residual], [arb(1)])


def _exponential(u: Sequence[arb]) -> Local:
    value = (-u[0]).exp()
    return Local(value, [-value], [value])


#: The losses that can be enclosed.
BY_TYPE: dict[type[Loss], Callable[[Sequence[arb]], Local]] = {
    Logistic: _margins,
    SoftmaxMargins: _margins,
    HalfSquare: _half_square,
    Exponential: _exponential,
}
#: Those that fall for ever as their arguments grow.
FALLING = (Logistic, SoftmaxMargins, Exponential)


@dataclass(frozen=True)
class Derivatives:
    """The objective over a box: its value, its gradient (one column) and its Hessian. ``pull`` bounds the sum of
    the weighted slopes: the size of what cancels in the gradient."""

    value: arb
    gradient: arb_mat
    hessian: arb_mat
    pull: arb


class LossSum:
    """sum_i w_i loss(M_i z + t_i) with any rows: the Hessian is M' diag(c) M - V'diag(w) V, with c the weighted
    curvatures and V the rows tilt_i'M_i."""

    def __init__(self, loss: Loss, rows: arb_mat, offset: Sequence[arb], weights: Sequence[arb]) -> None:
        self.width, self.loss, self.residual = loss.width, BY_TYPE[type(loss)], isinstance(loss, HalfSquare)
        self.rows, self.offset, self.weights = rows, column(offset), weights
        self.exact = all_exact(rows) and all_exact(self.offset)

    def margins(self, z: arb_mat) -> Sequence[arb]:
        """M z: how far each argument of a loss moves along z."""
        return (self.rows * z).entries()

    def add_to(self, out: Derivatives, z: arb_mat) -> Derivatives:
        """``out`` with what the samples add over the box z."""
        moved = self.rows * z
        u = (moved + self.offset).entries()
        local = [self.loss(u[start : start + self.width]) for start in range(0, len(u), self.width)]
        weighted = list(zip(self.weights, local, strict=True))
        slopes = [w * s for w, at in weighted for s in at.slopes]
        if self.residual:  # a slope that is a residual may itself be what is left of larger numbers
            pairs = zip(self.weights, moved.entries(), self.offset.entries(), strict=True)
            pull = sum((w * (abs(m) + abs(t)) for w, m, t in pairs), out.pull)
        else:
            pull = sum((abs(s) for s in slopes), out.pull)
        across = self.rows.transpose()
        hessian = out.hessian + across * _weighed([w * c for w, at in weighted for c in at.curvature], self.rows)
        if local[0].tilt:
            means = self._means([at.tilt for at in local])
            hessian -= means.transpose() * _weighed(self.weights, means)
        value = sum((w * at.value for w, at in weighted), out.value)
        return Derivatives(value, out.gradient + across * column(slopes), hessian, pull)

    def _means(self, tilts: Sequence[Sequence[arb]]) -> arb_mat:
        """tilt_i'M_i, one a sample."""
        from flint import arb, arb_mat

        rows, size = self.rows.tolist(), self.rows.ncols()
        own = [rows[start : start + self.width] for start in range(0, len(rows), self.width)]
        pairs = [list(zip(tilt, samples, strict=True)) for tilt, samples in zip(tilts, own, strict=True)]
        means = [sum((p * row[j] for p, row in pair), arb(0)) for pair in pairs for j in range(size)]
        return arb_mat(len(tilts), size, means)


class SoftmaxSum:
    """Rows x_i with their classes and weights; ``places[k]`` are the unknowns of class k, one a column."""

    def __init__(
        self, rows: arb_mat, classes: Sequence[int], weights: Sequence[arb], places: Sequence[Sequence[int]]
    ) -> None:
        self.rows, self.classes, self.weights, self.places = rows, classes, weights, places
        self.exact = all_exact(rows)

    def _scores(self, z: arb_mat) -> list[list[arb]]:
        from flint import arb_mat

        width = self.rows.ncols()
        by_class = [z[own[j], 0] for j in range(width) for own in self.places]
        return (self.rows * arb_mat(width, len(self.places), by_class)).tolist()

    def margins(self, z: arb_mat) -> Sequence[arb]:
        """How far each margin of the own class over another moves along z."""
        scores = zip(self._scores(z), self.classes, strict=True)
        return [s[c] - other for s, c in scores for k, other in enumerate(s) if k != c]

    def add_to(self, out: Derivatives, z: arb_mat) -> Derivatives:
        """``out`` with what the samples add over the box z."""
        from flint import arb, arb_mat

        value, probabilities, slopes, pull = out.value, [], [], out.pull
        for scores, own, weight in zip(self._scores(z), self.classes, self.weights, strict=True):
            loss, p = softmax(scores, own)
            others = sum((q for k, q in enumerate(p) if k != own), arb(0))
            value += weight * loss
            slopes += [weight * (-others if k == own else q) for k, q in enumerate(p)]
            pull += weight * others
            probabilities.append(p)
        by_class = self.rows.transpose() * arb_mat(len(probabilities), len(self.places), slopes)
        gradient, hessian = arb_mat(z.nrows(), 1), arb_mat(z.nrows(), z.nrows())
        for k, own_places in enumerate(self.places):
            for j, place in enumerate(own_places):
                gradient[place, 0] = by_class[j, k]
        for (k, other), block in self._blocks(probabilities).items():
            for i, row in enumerate(self.places[k]):
                for j, place in enumerate(self.places[other]):
                    hessian[row, place] = block[i, j]
        return Derivatives(value, out.gradient + gradient, out.hessian + hessian, pull)

    def _blocks(self, probabilities: Sequence[Sequence[arb]]) -> dict[tuple[int, int], arb_mat]:
        """The Hessian by pairs of classes."""
        from flint import arb_mat

        width, across = self.rows.ncols(), self.rows.transpose()
        out = {(k, k): arb_mat(width, width) for k in range(len(self.places))}
        for k in range(len(self.places)):
            for other in range(k):
                both = [w * p[k] * p[other] for w, p in zip(self.weights, probabilities, strict=True)]
                block = across * _weighed(both, self.rows)
                out[k, k] += block
                out[other, other] += block
                out[k, other] = out[other, k] = -block
        return out


def _weighed(weights: Sequence[arb], rows: arb_mat) -> arb_mat:
    """diag(weights) rows."""
    from flint import arb_mat

    count, width = rows.nrows(), rows.ncols()
    return arb_mat(count, width, [weights[k // width] * entry for k, entry in enumerate(rows.entries())])
