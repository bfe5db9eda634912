"""Separability in the words of classifiers: hyperplanes, margins, samples and hulls, in place of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Indices
from convexcls.in_notebooks import InNotebooks
from convexcls.proofs.claims.separation import Kind, Separation
from convexcls.rows import Rows
from convexcls.wording import listed, paragraph, rounded_text, short_rational

Verdict = Literal["strictly separable", "weakly separable", "overlapping"]
VERDICTS: dict[Kind, Verdict] = {
    "strict": "strictly separable",
    "weak": "weakly separable",
    "overlapping": "overlapping",
}
#: Longer lists are cut.
MAX_NAMED = 12
#: Longer fractions are shown rounded.
MAX_RATIONAL_CHARACTERS = 24


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
    rows_on_it: Indices
    hull: Hull | None
    weights: Mapping[Any, Fraction]
    circuit: Mapping[Any, Fraction]
    pairs: Mapping[tuple[Any, Any], Separability]
    samples: Indices
    rows: Rows
    proof: Separation
    features: tuple[str, ...] = ()

    @property
    def separable(self) -> bool:
        """Whether some hyperplane has every sample on its right side, and none on it."""
        return self.verdict == "strictly separable"

    def complaints(self) -> list[str]:
        """What is wrong with the proof, re-checked from the data in rationals; nothing where it holds."""
        from convexcls.proofs.separability.classes import complaints

        return complaints(self)

    def verify(self) -> bool:
        """Whether everything that is stated here holds exactly on the data as given."""
        return not self.complaints()

    def explain(self) -> str:
        """The verdict and its proof in words."""
        return explain(self)

    def to_coq(self, library: bool = True) -> str:
        """The verdict as a theorem of the proof assistant Coq, with its proof: see ``Certificate.to_coq``."""
        from convexcls.proofs.coq import separability_coq

        return separability_coq(self, library)

    def __repr__(self) -> str:
        shown = " and ".join(map(repr, self.labels)) if len(self.labels) == 2 else f"{len(self.labels)} classes"
        more = f", margin {self.margin:.6g}" if self.separable else ""
        if self.verdict == "weakly separable":
            more = f", {self.rows_on_it.size} of {self.samples.size} samples on the hyperplane"
        elif self.hull is not None:
            more = f", hulls meet on samples {', '.join(map(str, self.hull.samples))}"
        return f"<Separability of {shown}: {self.verdict}{more}>"


def explain(s: Separability) -> str:
    """The verdict and its proof."""
    if s.pairs:
        return "\n".join(_several(s))
    return "\n".join(_two(s))


def _two(s: Separability) -> list[str]:
    first, second = map(repr, s.labels)
    if s.verdict == "strictly separable":
        return paragraph(
            f"STRICTLY SEPARABLE. The hyperplane f(x) = 0 with f(x) = {_formula(s)} has every sample of {second} "
            f"above and every sample of {first} below it, none nearer than {s.margin:.6g}. All signs are worked out "
            "without rounding, on the data as given.",
            "A hard margin exists; the likelihood of logistic regression has no maximum; the perceptron finds a "
            "solution.",
        )
    if s.verdict == "weakly separable":
        lines = paragraph(
            f"WEAKLY SEPARABLE (quasi-complete separation). With f(x) = {_formula(s)} no sample of {second} is "
            f"below and none of {first} above 0, but these are at 0 exactly, as along every such hyperplane: samples "
            f"{listed(s.rows_on_it)} ({s.rows_on_it.size} of {s.samples.size}). The proof that they cannot "
            f"be moved off it: weights > 0 on samples {listed(s.weights)} add up to 0.",
            "No hard margin exists, and neither does the maximum of the likelihood; the perceptron criterion is 0.",
        )
    else:
        lines = paragraph(
            "OVERLAPPING. No hyperplane has all samples on their sides, not even with some on it. The proof: weights > "
            f"0 on samples {listed(s.weights)} add up to 0, and every other sample depends on these; so a "
            "hyperplane that has no sample on the wrong side has all of them on it.",
            "No hard margin exists; the maximum of the likelihood does; the perceptron criterion is above 0.",
        )
    return [*lines, *_hull_lines(s)]


def _hull_lines(s: Separability) -> list[str]:
    hull = s.hull
    if hull is None:
        return []
    lines = [
        "That the classes are not strictly separable is proved by a point of both convex hulls:"
        if s.intercept
        else "That the classes are not strictly separable through the origin is proved by weights with the same sums:"
    ]
    for label in s.labels:
        terms = [f"{_number(w)} x_{i}" for i, w in list(hull.weights[label].items())[:MAX_NAMED]]
        more = " + ..." if len(hull.weights[label]) > MAX_NAMED else ""
        lines.append(f"  {label!r}: {' + '.join(terms) or '0'}{more}")
    lines.append(f"  both are ({_numbers(hull.point)}).")
    lines.append("Without any one of these samples the others are separable.")
    return lines


def _several(s: Separability) -> list[str]:
    scores = f"Linear scores of the {len(s.labels)} classes"
    meaning = {
        "strictly separable": f"STRICTLY SEPARABLE. {scores} give every sample its own class.",
        "weakly separable": f"WEAKLY SEPARABLE. {scores} never prefer another class to a sample's own, and tie for "
        f"some margins of {s.rows_on_it.size} of {s.samples.size} samples, as all such scores do.",
        "overlapping": "OVERLAPPING. No linear scores give every sample at least a tie for its own class, unless they "
        "tie for all samples and classes. The maximum of the likelihood of softmax regression exists.",
    }[s.verdict]
    lines = paragraph(meaning)
    if s.verdict != "overlapping":
        lines.append("The likelihood of softmax regression has no maximum.")
    if s.weights:
        on = f"{len(s.weights)} margins (sample, other class)"
        lines += paragraph(f"Weights > 0 on {on} add up to 0: {listed(s.weights)}.")
    lines.append("Two classes at a time:")
    lines += [f"  {a!r} and {b!r}: {verdict.verdict}" for (a, b), verdict in s.pairs.items()]
    return lines


def _formula(s: Separability) -> str:
    assert s.direction is not None
    terms = [f"{_number(v)} {name}" for v, name in zip(s.direction.coef, s.features, strict=True) if v]
    if s.intercept:
        terms.append(_number(s.direction.intercept))
    shown = terms if len(terms) <= MAX_NAMED else [*terms[:MAX_NAMED], "..."]
    return " + ".join(shown).replace("+ -", "- ")


def _numbers(values: Iterable[Fraction]) -> str:
    return listed(map(_number, values), MAX_NAMED)


def _number(value: Fraction) -> str:
    return short_rational(value, MAX_RATIONAL_CHARACTERS) or rounded_text(value, 10)
