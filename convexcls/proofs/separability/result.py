"""Separability as it is told: hyperplanes, margins, samples and hulls, in place of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexcls.in_notebooks import InNotebooks
from convexcls.proofs.separability.core import Kind, Separation
from convexcls.rows import Rows

Verdict = Literal["strictly separable", "weakly separable", "overlapping"]
VERDICTS: dict[Kind, Verdict] = {
    "strict": "strictly separable",
    "weak": "weakly separable",
    "overlapping": "overlapping",
}


@dataclass(frozen=True, eq=False)
class Plane:
    """f(x) = coef'x + intercept in rationals, above 0 for the second label; of several classes one coef and one
    intercept for each, those of the last 0. ``coef_`` and ``intercept_`` are the same as doubles."""

    coef: tuple[Any, ...]
    intercept: Any

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The coefficients, rounded."""
        return np.array(self.coef, dtype=float)

    @property
    def intercept_(self) -> Any:
        """The intercept, rounded; of several classes one a class."""
        return np.array(self.intercept, dtype=float) if isinstance(self.intercept, tuple) else float(self.intercept)


@dataclass(frozen=True, eq=False)
class Hull:
    """Weights > 0 of few samples, by label, with sum w_i x_i of the one class = sum w_i x_i of the other = ``point``.
    With an intercept those of each class add up to one: a point that both convex hulls have. Without, all of them
    together: then it says that the hull of the y_i x_i has the origin."""

    weights: Mapping[Any, Mapping[int, Fraction]]
    point: tuple[Fraction, ...]

    @property
    def samples(self) -> list[int]:
        """The samples with weights."""
        return sorted(i for weights in self.weights.values() for i in weights)


@dataclass(frozen=True, eq=False)
class Separability(InNotebooks):
    """Whether classes can be separated, with a proof that holds exactly on the data as given.

    ``verdict``: *strictly separable*: ``direction`` has every sample on the right side, at a distance of ``margin`` at
    least. *Weakly separable* (quasi-complete separation): it has no sample on the wrong side and some off it; those of
    ``rows_on_it`` lie on it, and on every other such hyperplane. *Overlapping*: there is no such hyperplane.

    ``hull`` proves that the classes are not strictly separable, on at most d + 2 samples of which none can be left out.
    ``weights`` > 0, with sum_i weights_i y_i (x_i, 1) = 0, prove that the samples in the span of theirs lie on every
    hyperplane that has none on the wrong side (Stiemke).

    Of several classes it is the margins of each sample's own class over the others (Albert and Anderson 1984) that
    are separated. Weights are then by (sample, other class), ``hull`` is None with ``circuit`` in its place, and
    ``pairs`` has the verdict on each two classes.

    >>> import convexcls as cc
    >>> s = cc.separability([[0, 0], [4, 0], [0, 4], [1, 1]], ["out", "out", "out", "in"])
    >>> s
    <Separability of 'in' and 'out': overlapping, hulls meet on samples 0, 1, 2, 3>
    >>> {label: {i: str(w) for i, w in weights.items()} for label, weights in s.hull.weights.items()}
    {'in': {3: '1'}, 'out': {0: '1/2', 1: '1/4', 2: '1/4'}}
    >>> s.verify()
    True
    """

    verdict: Verdict
    labels: tuple[Any, ...]
    intercept: bool
    direction: Plane | None
    margin: float
    rows_on_it: NDArray[np.intp]
    hull: Hull | None
    weights: Mapping[Any, Fraction]
    circuit: Mapping[Any, Fraction]
    pairs: Mapping[tuple[Any, Any], Separability]
    samples: NDArray[np.intp]
    rows: Rows
    proof: Separation
    features: tuple[str, ...] = ()

    @property
    def separable(self) -> bool:
        """Whether some hyperplane has every sample on its right side, and none on it."""
        return self.verdict == "strictly separable"

    def complaints(self) -> list[str]:
        """What is wrong with the proof, re-checked from the data in rationals; nothing where it holds."""
        from convexcls.proofs.separability.told import complaints

        return complaints(self)

    def verify(self) -> bool:
        """Whether everything that is stated here holds exactly on the data as given."""
        return not self.complaints()

    def explain(self) -> str:
        """The verdict and its proof in words."""
        from convexcls.proofs.separability.words import explain

        return explain(self)

    def __repr__(self) -> str:
        shown = " and ".join(map(repr, self.labels)) if len(self.labels) == 2 else f"{len(self.labels)} classes"
        more = f", margin {self.margin:.6g}" if self.separable else ""
        if self.verdict == "weakly separable":
            more = f", {self.rows_on_it.size} of {self.samples.size} samples on the hyperplane"
        elif self.hull is not None:
            more = f", hulls meet on samples {', '.join(map(str, self.hull.samples))}"
        return f"<Separability of {shown}: {self.verdict}{more}>"
