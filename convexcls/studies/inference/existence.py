"""Whether a maximum of the likelihood exists, and what happens where it does not.

Logistic and softmax regression without a penalty have a maximum iff the classes overlap (Albert and Anderson 1984). If
they do not, the likelihood grows along a cone of directions towards a supremum that no coefficients reach. What is left
of it far out along the cone is the likelihood of the margins F that stay where they are: those of the others are gained
in full. Its maximum, on the face F, exists; it fixes the coefficients that stay finite, and the supremum.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.in_notebooks import InNotebooks
from convexcls.losses import Logistic, Loss, SoftmaxMargins
from convexcls.models.base import suggested_l2
from convexcls.problem import UNIT_SHARE, NoAnswer, Problem, Term, Variable
from convexcls.proofs.claims.separation import complaints
from convexcls.proofs.separability import Separation, separate
from convexcls.proofs.separability.core import Behaviour, Cone
from convexcls.rows import Rows, as_rows
from convexcls.solution import Solution
from convexcls.wording import indented, listed, paragraph

#: Of more coefficients it is not told one by one what becomes of them: each is a system of rationals.
MAX_COEFFICIENTS = 1000


MAX_NAMED = 12
WAYS = {
    "+inf": "runs to +infinity",
    "-inf": "runs to -infinity",
    "either": "runs to infinity, with either sign: directions with both raise the likelihood",
}


@dataclass(frozen=True, eq=False)
class Tendency:
    """A coefficient by its name, and what becomes of it as the likelihood grows. ``functional`` says which linear
    function of the unknowns of the rows it is, times ``scale``."""

    name: str
    behaviour: Behaviour
    functional: tuple[Fraction, ...]
    scale: int


@dataclass(frozen=True, eq=False)
class Existence(InNotebooks):
    """Whether the maximum of a likelihood exists, with its proof; see ``explain()``.

    ``coefficients`` says of each coefficient what becomes of it; ``separation`` is the proof.

    >>> import convexcls as cc
    >>> likelihood = cc.LogisticMLE([[0, 0], [0, 1], [0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1, 1, 1])
    >>> e = cc.existence(likelihood)
    >>> e.verdict, e.infinite
    ('quasi-complete separation', {'x1': '+inf'})
    >>> bool(abs(e.finite["x2"]) < 1e-9), e.verify()
    (True, True)
    """

    problem: Problem
    rows: Rows
    separation: Separation
    coefficients: tuple[Tendency, ...]
    columns: tuple[int, ...]

    @property
    def exists(self) -> bool:
        """Whether the maximum exists."""
        return self.separation.kind == "overlapping"

    @property
    def verdict(self) -> str:
        """In a few words: the maximum exists, complete separation, or quasi-complete separation."""
        return {
            "overlapping": "the maximum exists",
            "strict": "complete separation",
            "weak": "quasi-complete separation",
        }[self.separation.kind]

    @property
    def infinite(self) -> dict[str, str]:
        """The coefficients that run to infinity, each with +inf, -inf or either."""
        return {c.name: c.behaviour for c in self.coefficients if c.behaviour in ("+inf", "-inf", "either")}

    @property
    def unidentified(self) -> list[str]:
        """The coefficients that no data fix: their columns depend on others."""
        return [c.name for c in self.coefficients if c.behaviour == "unidentified"]

    @cached_property
    def limit(self) -> Solution | None:
        """The maximum on the face; None where there is no face: complete separation."""
        if not self.separation.still.size or not self.columns:
            return None
        return face(self.problem, self.rows, self.separation.still, self.columns).solve()

    @property
    def finite(self) -> dict[str, float]:
        """The coefficients that stay finite, with the values that they tend to (NaN where these were not found)."""
        return {c.name: self._value(c) for c in self.coefficients if c.behaviour == "finite"}

    def _value(self, coefficient: Tendency) -> float:
        if not any(coefficient.functional):
            return 0.0
        if self.limit is None or self.limit.status != "optimal" or self.limit.x is None:
            return float("nan")
        at = [float(coefficient.functional[j]) for j in self.columns]
        return float(np.array(at) @ self.limit.x) / coefficient.scale

    @property
    def supremum(self) -> float:
        """The supremum of the log-likelihood: 0 where the classes are completely separated."""
        if self.limit is None:
            return 0.0 - self._sure_losses()
        return -self.limit.objective if self.limit.status == "optimal" else float("nan")

    def _sure_losses(self) -> float:
        """The losses of samples whose rows are all zeros: they are the same whatever the coefficients."""
        if self.columns or not self.separation.still.size:
            return 0.0
        parts = face_parts(self.problem, self.separation.still)
        return float(sum(np.sum(weights) * np.log(width + 1.0) for width, _, weights in parts))

    @property
    def ridge(self) -> float:
        """A penalty l2 to try: that of a normal prior with which a coefficient moves the log-odds by 2.5, at one
        standard deviation, over one standard deviation of a feature (of the middle one of all features)."""
        data = self.problem.data
        assert data is not None
        return suggested_l2(data)

    def complaints(self) -> list[str]:
        """What is wrong with the proof, re-checked from the data in rationals; nothing where it holds."""
        found = complaints(self.rows, self.separation)
        if not found:
            cone = Cone(self.rows, self.separation)
            found += [
                f"{c.name} is said to be {c.behaviour}"
                for c in self.coefficients
                if cone.behaviour(list(c.functional)) != c.behaviour
            ]
        return found

    def verify(self) -> bool:
        """Whether everything stated here, but for the finite values, holds exactly on the data as given."""
        return not self.complaints()

    def explain(self) -> str:
        """In words: whether the maximum exists, which coefficients run where, and what to do."""
        lines = _existing(self) if self.exists else _missing(self)
        if self.unidentified:
            lines += paragraph(
                f"No data fix {listed(self.unidentified)}: these columns depend on others. Leave one of them out to "
                "make the rest unique."
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        runs = ", ".join(f"{name} to {way}" for name, way in list(self.infinite.items())[:6])
        return f"<Existence for {self.problem.name}: {self.verdict}{': ' + runs if runs else ''}>"


def existence(problem: Problem) -> Existence:
    """Whether the maximum of the likelihood of logistic or softmax regression (l2=0) exists; where it does not, which
    coefficients run to infinity, which stay finite, and what the likelihood tends to.

    >>> import convexcls as cc
    >>> cc.existence(cc.LogisticMLE([[0], [1], [2]], [0, 1, 0])).exists
    True
    >>> cc.existence(cc.LogisticMLE([[0], [1], [2]], [0, 1, 1])).infinite
    {'x1': '+inf', 'intercept': '-inf'}
    """
    if problem.kind not in ("logistic", "softmax"):
        raise NoAnswer(
            f"the {problem.name} has no likelihood that may be without a maximum: use LogisticMLE or SoftmaxMLE"
        )
    rows = problem.separation_rows()
    if rows is None:
        raise NoAnswer(
            f"the {problem.name} has a penalty, so that the maximum exists: ask for it of the same model with l2=0"
        )
    if rows.shape[1] > MAX_COEFFICIENTS:
        raise NoAnswer(
            f"what becomes of each of {rows.shape[1]} coefficients would take too long to prove: ask for it of at most "
            f"{MAX_COEFFICIENTS}; whether the maximum exists is what solve() and cc.separability tell"
        )
    verdict = separate(rows)
    cone = Cone(rows, verdict)
    coefficients = tuple(
        Tendency(name, cone.behaviour(list(functional)), functional, scale)
        for name, functional, scale in functionals(problem, rows.shape[1])
    )
    return Existence(problem, rows, verdict, coefficients, tuple(cone.columns))


def functionals(problem: Problem, width: int) -> list[tuple[str, tuple[Fraction, ...], int]]:
    """Every coefficient as a linear function of the unknowns of the rows, times a whole number. Those of softmax are
    given with sum zero over the classes, the rows are over those of all classes but the last, less the last."""
    data = problem.data
    assert data is not None
    names = [*data.features, *(["intercept"] if problem.parameters["intercept"] else [])]
    unit = [tuple(Fraction(int(i == j)) for j in range(width)) for i in range(width)]
    if problem.kind == "logistic":
        return [(name, unit[j], 1) for j, name in enumerate(names)]
    labels, out = data.labels or (), []
    count, d = len(labels), data.d
    for k, label in enumerate(labels):
        for j, name in enumerate(names):
            row = [Fraction(0)] * width
            for other in range(count - 1):
                place = other * d + j if j < d else (count - 1) * d + other
                row[place] = Fraction((count if other == k else 0) - 1)
            out.append((f"{name} of {label!r}", tuple(row), count))
    return out


def face_parts(problem: Problem, still: Indices) -> list[tuple[int, Indices, Array]]:
    """The margins that stay, put together by how many of them a sample has: that number, the margins, and the weights
    of the samples."""
    term = problem.terms[0]
    counted = np.flatnonzero(term.weights > 0)
    samples = still // term.loss.width
    left = np.bincount(samples, minlength=counted.size)
    return [
        (width, still[left[samples] == width], term.weights[counted[left == width]])
        for width in range(1, term.loss.width + 1)
        if np.any(left == width)
    ]


def face(problem: Problem, rows: Rows, still: Indices, columns: tuple[int, ...]) -> Problem:
    """What is left of the likelihood where the other margins have run to infinity, over unknowns that it fixes."""
    terms, unit = [], 0.0
    for width, margins, weights in face_parts(problem, still):
        loss: Loss = Logistic() if width == 1 else SoftmaxMargins(width)
        kept = as_rows(rows[margins].to_matrix()[:, list(columns)])
        terms.append(
            Term(f"likelihood_{width}", {"free": kept}, rf"\lambda^{{({width})}}", "margins", {}, loss, weights=weights)
        )
        unit += UNIT_SHARE * float(np.sum(weights)) * np.log(width + 1.0)
    return Problem(f"{problem.name} on the face", [Variable("free", len(columns), r"\beta")], terms=terms, unit=unit)


# ---- in words -------------------------------------------------------------------------------------------


def _existing(found: Existence) -> list[str]:
    return paragraph(
        f"THE MAXIMUM EXISTS. The classes overlap: multipliers above 0 on {len(found.separation.weights)} margins add "
        "up to 0 exactly, and every other margin depends on these, so that no direction of the coefficients raises "
        "the likelihood for ever."
    )


def _first_of(items: list[str], what: str) -> list[str]:
    """The first items, a line each, and how many more there are."""
    more = len(items) - MAX_NAMED
    return indented([*items[:MAX_NAMED], *([f"and {more} more {what}"] if more > 0 else [])])


def _missing(found: Existence) -> list[str]:
    whole = found.separation.kind == "strict"
    n, still = found.rows.shape[0], found.separation.still.size
    separation = (
        "The classes are completely separated: along some direction every margin grows."
        if whole
        else f"Quasi-complete separation: along some direction no margin shrinks, and all grow but {still} of {n}, "
        "which stay."
    )
    lines = [
        *paragraph(f"THE MAXIMUM DOES NOT EXIST. {separation}"),
        f"The log-likelihood rises towards {found.supremum:.10g}, which no coefficients reach.",
    ]
    lines += _first_of([f"{name} {WAYS[way]}" for name, way in found.infinite.items()], "run to infinity")
    lines += _first_of([f"{name} tends to {value:.10g}" for name, value in found.finite.items()], "stay finite")
    lines += paragraph(
        f"With a ridge penalty the maximum exists: try l2={found.ridge:g} (a coefficient that moves the log-odds by "
        "2.5 over one standard deviation of a feature is then not unusual), and see how the answer depends on it."
    )
    return lines
