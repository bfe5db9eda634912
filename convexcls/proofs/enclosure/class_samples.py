"""The samples of softmax regression by class: one row a sample where plain rows would have one for each other class.

With scores s_k = w_k'x_i + b_k, probabilities p_k = e^s_k / sum_l e^s_l and own class c, a sample adds

    value      log sum_k e^s_k - s_c
    gradient   (p_k - [k = c]) x_i          for class k
    Hessian    -p_k p_l x_i x_i'            for classes k != l; that of k = l is minus the sum of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from convexcls.losses import SoftmaxMargins
from convexcls.problem import Term
from convexcls.proofs.enclosure.balls import all_exact
from convexcls.proofs.enclosure.samples import At
from convexcls.rows import ClassMarginRows

if TYPE_CHECKING:
    from flint import arb, arb_mat


def class_rows(term: Term) -> dict[str, ClassMarginRows] | None:
    """The entries of a softmax term where all of them are margins of the same classes, else None."""
    found = ((v, rows.as_class_margins) for v, rows in term.entries.items())
    rows = {v: margins for v, margins in found if margins is not None and margins.other == -1.0}
    if len(rows) < len(term.entries) or not isinstance(term.loss, SoftmaxMargins) or term.offset.any():
        return None
    first = next(iter(rows.values()))
    same = all(r.count == first.count and (r.classes == first.classes).all() for r in rows.values())
    return rows if same and first.count == term.loss.width + 1 else None


class ClassSamples:
    """Rows x_i with their classes and weights; ``places[k]`` are the unknowns of class k, one a column."""

    def __init__(
        self, rows: arb_mat, classes: Sequence[int], weights: Sequence[arb], places: Sequence[Sequence[int]]
    ) -> None:
        self.rows, self.classes, self.weights, self.places = rows, classes, weights, places
        self.exact = all_exact(rows)

    def _scores(self, z: arb_mat) -> list[list[arb]]:
        from flint import arb_mat

        width = self.rows.ncols()
        by_class = [z[place, 0] for j in range(width) for place in (own[j] for own in self.places)]
        return (self.rows * arb_mat(width, len(self.places), by_class)).tolist()

    def moved(self, z: arb_mat) -> Sequence[arb]:
        scores = zip(self._scores(z), self.classes, strict=True)
        return [s[c] - other for s, c in scores for k, other in enumerate(s) if k != c]

    def add_to(self, z: arb_mat, out: At) -> At:
        from flint import arb, arb_mat

        value, shares, slopes, pull = out.value, [], [], out.pull
        for scores, own, weight in zip(self._scores(z), self.classes, self.weights, strict=True):
            height, p = _softmax(scores, own)
            value += weight * height
            shares.append(p)
            others = sum((q for k, q in enumerate(p) if k != own), arb(0))
            slopes += [weight * (-others if k == own else q) for k, q in enumerate(p)]
            pull += weight * others
        gradient = self.rows.transpose() * arb_mat(len(shares), len(self.places), slopes)
        return At(value, out.gradient + self._spread(gradient, z.nrows()), out.hessian + self._hessian(shares, z), pull)

    def _spread(self, gradient: arb_mat, size: int) -> arb_mat:
        from flint import arb_mat

        out = arb_mat(size, 1)
        for k, own in enumerate(self.places):
            for j, place in enumerate(own):
                out[place, 0] = gradient[j, k]
        return out

    def _hessian(self, shares: Sequence[Sequence[arb]], z: arb_mat) -> arb_mat:
        from flint import arb_mat

        count, width, classes = self.rows.nrows(), self.rows.ncols(), len(self.places)
        entries, across = self.rows.entries(), self.rows.transpose()
        out = arb_mat(z.nrows(), z.nrows())
        diagonal = [arb_mat(width, width) for _ in range(classes)]
        for k in range(classes):
            weighed = [w * p[k] for w, p in zip(self.weights, shares, strict=True)]
            for other in range(k):
                both = [w * p[other] for w, p in zip(weighed, shares, strict=True)]
                block = across * arb_mat(count, width, [both[i // width] * entry for i, entry in enumerate(entries)])
                diagonal[k] += block
                diagonal[other] += block
                self._put(out, k, other, -block)
                self._put(out, other, k, -block)
        for k in range(classes):
            self._put(out, k, k, diagonal[k])
        return out

    def _put(self, out: arb_mat, k: int, other: int, block: arb_mat) -> None:
        for i, row in enumerate(self.places[k]):
            for j, place in enumerate(self.places[other]):
                out[row, place] = block[i, j]


def _softmax(scores: Sequence[arb], own: int) -> tuple[arb, list[arb]]:
    """-log p_own and all p, with the largest score taken out of the sum."""
    from flint import arb

    top = max(range(len(scores)), key=lambda k: scores[k].mid())
    parts = [arb(1) if k == top else (s - scores[top]).exp() for k, s in enumerate(scores)]
    rest = sum((part for k, part in enumerate(parts) if k != top), arb(0))
    height = rest.log1p() if top == own else rest.log1p() + scores[top] - scores[own]
    share = 1 / (1 + rest)
    return height, [part * share for part in parts]
