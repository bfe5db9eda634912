"""What the samples of one term add to the objective, in ball arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from convexcls.losses import HalfSquare, Loss
from convexcls.proofs.enclosure.balls import all_exact, column
from convexcls.proofs.enclosure.losses import BY_TYPE

if TYPE_CHECKING:
    from flint import arb, arb_mat


@dataclass(frozen=True)
class At:
    """The objective over a box: its value, its gradient (one column) and its Hessian. ``pull`` bounds the sum of
    the weighted slopes: the size of what cancels in the gradient."""

    value: arb
    gradient: arb_mat
    hessian: arb_mat
    pull: arb


class Samples(Protocol):
    """Some samples of a term over the unknowns z."""

    exact: bool

    def add_to(self, z: arb_mat, out: At) -> At:
        """``out`` with what the samples add over the box z."""

    def moved(self, z: arb_mat) -> Sequence[arb]:
        """M z: how far each argument of a loss moves along z."""


class PlainSamples:
    """sum_i w_i loss(M_i z + t_i) with any rows: the Hessian is M' diag(c) M - V'diag(w) V, with c the weighted
    curvatures and V the rows tilt_i'M_i."""

    def __init__(self, loss: Loss, rows: arb_mat, offset: Sequence[arb], weights: Sequence[arb]) -> None:
        self.width, self.loss, self.residual = loss.width, BY_TYPE[type(loss)], isinstance(loss, HalfSquare)
        self.rows, self.offset, self.weights = rows, column(offset), weights
        self.exact = all_exact(rows) and all_exact(self.offset)

    def moved(self, z: arb_mat) -> Sequence[arb]:
        return (self.rows * z).entries()

    def add_to(self, z: arb_mat, out: At) -> At:
        from flint import arb_mat

        moved = self.rows * z
        u = (moved + self.offset).entries()
        value, slopes, curvature, tilts = out.value, [], [], []
        for place, weight in enumerate(self.weights):
            local = self.loss(u[place * self.width : (place + 1) * self.width])
            value += weight * local.value
            slopes += [weight * s for s in local.slopes]
            curvature += [weight * c for c in local.curvature]
            tilts.append(local.tilt)
        count, size = self.rows.nrows(), self.rows.ncols()
        weighed = [curvature[k // size] * entry for k, entry in enumerate(self.rows.entries())]
        across = self.rows.transpose()
        hessian = out.hessian + across * arb_mat(count, size, weighed)
        if tilts[0]:
            hessian -= self._tilted(tilts)
        if self.residual:  # a slope that is a residual may itself be what is left of larger numbers
            pairs = zip(self.weights, moved.entries(), self.offset.entries(), strict=True)
            pull = sum((weight * (abs(m) + abs(t)) for weight, m, t in pairs), out.pull)
        else:
            pull = sum((abs(s) for s in slopes), out.pull)
        return At(value, out.gradient + across * column(slopes), hessian, pull)

    def _tilted(self, tilts: Sequence[Sequence[arb]]) -> arb_mat:
        from flint import arb, arb_mat

        size, entries = self.rows.ncols(), self.rows.entries()
        left, right = [], []
        for place, (weight, tilt) in enumerate(zip(self.weights, tilts, strict=True)):
            rows = [entries[(place * self.width + k) * size :][:size] for k in range(self.width)]
            mean = [sum((p * row[j] for p, row in zip(tilt, rows, strict=True)), arb(0)) for j in range(size)]
            left += mean
            right += [weight * m for m in mean]
        groups = len(self.weights)
        return arb_mat(groups, size, left).transpose() * arb_mat(groups, size, right)
