"""From the classes of samples to rows, from a verdict on rows back to samples, and a check that both agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from math import isqrt
from types import MappingProxyType
from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.data import Data, check_data
from convexcls.proofs.claims.separation import Separation
from convexcls.proofs.claims.separation import complaints as complaints_of_rows
from convexcls.proofs.separability.core import separate
from convexcls.proofs.separability.result import VERDICTS, Hull, Plane, Separability
from convexcls.rows import ClassMarginRows, ColumnRows, ConstantRows, JoinedRows, Rows, as_rows
from convexcls.rows.signs import exact_values

#: So many of the smallest margins are worked out without rounding to find the smallest.
CANDIDATES = 100


def separability(X: Any, y: Any, *, intercept: bool = True) -> Separability:
    """Whether hyperplanes separate the classes, strictly or weakly, or the classes overlap; with a proof that holds
    exactly on the data as given. Of more than two classes also each two.

    ``X`` has one sample a row, ``y`` their labels. With ``intercept=False`` the hyperplanes go through the origin.

    >>> import convexcls as cc
    >>> cc.separability([[0], [1], [3]], [0, 0, 1])
    <Separability of 0 and 1: strictly separable, margin 1>
    >>> cc.separability([[0], [1], [1], [2]], [0, 0, 1, 1]).verdict  # two samples on the hyperplane x = 1
    'weakly separable'
    >>> cc.separability([[0], [1], [2]], [0, 1, 0]).verdict
    'overlapping'
    """
    if not isinstance(intercept, (bool, np.bool_)):
        raise ValueError(f"intercept is {intercept!r}: it must be True or False")
    data = check_data(X, y, several=True)
    classes, labels = data.grouping
    if len(labels) == 2:
        return of_two(data, 0, 1, bool(intercept))
    pairs = {
        (labels[k], labels[m]): of_two(data, k, m, bool(intercept)) for k, m in combinations(range(len(labels)), 2)
    }
    rows = several_class_rows(data, None, bool(intercept))
    proof = separate(rows)
    count = len(labels) - 1
    others = np.arange(count) + (np.arange(count) >= classes[:, None])
    named = {i: (i // count, labels[others[i // count, i % count]]) for i in (*proof.weights, *proof.circuit)}
    return Separability(
        verdict=VERDICTS[proof.kind],
        labels=labels,
        intercept=bool(intercept),
        direction=_scores(proof, data.d, count, bool(intercept)),
        margin=_margin_of_several(rows, proof, data.d, others, classes),
        rows_on_it=np.unique(proof.still // count),
        hull=None,
        weights=MappingProxyType({named[i]: v for i, v in proof.weights.items()}),
        circuit=MappingProxyType({named[i]: v for i, v in proof.circuit.items()}),
        pairs=MappingProxyType(pairs),
        samples=np.arange(data.n),
        rows=rows,
        proof=proof,
        features=data.features,
    )


def of_two(data: Data, first: int, second: int, intercept: bool) -> Separability:
    """The verdict on two of the classes."""
    classes, labels = data.grouping
    samples = np.flatnonzero((classes == first) | (classes == second))
    signs = np.where(classes[samples] == second, 1.0, -1.0)
    rows = two_class_rows(data, signs, None if samples.size == data.n else samples, intercept)
    proof = separate(rows)
    plane = None if proof.direction is None else _plane(proof.direction, intercept)
    pair = (labels[first], labels[second])
    return Separability(
        verdict=VERDICTS[proof.kind],
        labels=pair,
        intercept=intercept,
        direction=plane,
        margin=0.0 if plane is None else _smallest(rows, list(proof.direction or ()), plane.coef),
        rows_on_it=samples[proof.still],
        hull=_hull(rows, proof.circuit, pair, signs, samples, intercept),
        weights=MappingProxyType({int(samples[i]): v for i, v in proof.weights.items()}),
        circuit=MappingProxyType({int(samples[i]): v for i, v in proof.circuit.items()}),
        pairs=MappingProxyType({}),
        samples=samples,
        rows=rows,
        proof=proof,
        features=data.features,
    )


def _plane(direction: tuple[Fraction, ...], intercept: bool) -> Plane:
    return Plane(direction[:-1], direction[-1]) if intercept else Plane(direction, Fraction(0))


def _scores(proof: Separation, d: int, count: int, intercept: bool) -> Plane | None:
    """One coef and one intercept for each class, those of the last 0."""
    if proof.direction is None:
        return None
    v, zero = proof.direction, Fraction(0)
    coef = (*(v[k * d : (k + 1) * d] for k in range(count)), (zero,) * d)
    return Plane(coef, (*(v[count * d :] if intercept else (zero,) * count), zero))


def _hull(
    rows: Rows, circuit: Mapping[int, Fraction], pair: tuple[Any, Any], signs: Any, samples: Any, intercept: bool
) -> Hull | None:
    if not circuit:
        return None
    places = np.array(sorted(circuit), dtype=np.intp)
    whole = sum(v for i, v in circuit.items() if signs[i] > 0) if intercept else sum(circuit.values())
    weights = {
        label: MappingProxyType({int(samples[i]): circuit[i] / whole for i in places.tolist() if signs[i] == side})
        for label, side in zip(pair, (-1.0, 1.0), strict=True)
    }
    d = rows.shape[1] - intercept
    exactly = zip(places.tolist(), rows.rational(places), strict=True)
    upper = [[circuit[i] / whole * v for v in row[:d]] for i, row in exactly if signs[i] > 0]
    point = tuple(sum(column, Fraction(0)) for column in zip(*upper, strict=True)) if upper else (Fraction(0),) * d
    return Hull(MappingProxyType(weights), point)


# ---- margins ------------------------------------------------------------------------------------------------------


def _smallest(rows: Rows, direction: list[Fraction], coef: tuple[Fraction, ...]) -> float:
    """The smallest margin along a direction, divided by the length of coef."""
    margin = min(exact_values(rows, direction, _candidates(rows, direction)))
    length = sum((v * v for v in coef), Fraction(0))
    return root(margin * margin / length) if length else 0.0


def _candidates(rows: Rows, direction: list[Fraction]) -> Indices:
    """The rows with the smallest margins: rounding may mix up which of them is the smallest."""
    largest = max((abs(v) for v in direction), default=Fraction(1)) or Fraction(1)
    scaled = np.array([float(v / largest) for v in direction])
    return np.sort(np.argpartition(rows @ scaled, min(CANDIDATES, rows.shape[0]) - 1)[:CANDIDATES])


def _margin_of_several(rows: Rows, proof: Separation, d: int, others: Any, classes: Any) -> float:
    """The smallest distance of a sample to the boundary between its own class and another."""
    if proof.kind != "strict" or proof.direction is None:
        return 0.0
    count = others.shape[1]
    plane = _scores(proof, d, count, rows.shape[1] > count * d)
    assert plane is not None
    pairs = np.stack([np.repeat(classes, count), others.ravel()], axis=1)
    smallest = float("inf")
    for k, m in np.unique(pairs, axis=0).tolist():
        coef = tuple(a - b for a, b in zip(plane.coef[k], plane.coef[m], strict=True))
        if any(coef):  # two classes that differ by their intercepts alone have no boundary
            own = rows[np.flatnonzero((pairs == [k, m]).all(axis=1))]
            smallest = min(smallest, _smallest(own, list(proof.direction), coef))
    return smallest


def root(value: Fraction) -> float:
    """The square root of a rational, rounded once or twice."""
    if not value:
        return 0.0
    shift = 2 * ((value.denominator.bit_length() - value.numerator.bit_length()) // 2 + 64)
    scaled = value.numerator << shift if shift >= 0 else value.numerator >> -shift
    top = isqrt(scaled // value.denominator)
    return float(Fraction(top) * (Fraction(1, 1 << (shift // 2)) if shift >= 0 else Fraction(1 << (-shift // 2))))


# ---- the check ----------------------------------------------------------------------------------------------------


def complaints(result: Separability) -> list[str]:
    """What is wrong with what is result."""
    found = list(_complaints(result))
    for pair, verdict in result.pairs.items():
        found += [f"{pair[0]!r} and {pair[1]!r}: {text}" for text in complaints(verdict)]
    return found


def _complaints(result: Separability) -> Iterator[str]:
    proof, rows = result.proof, result.rows
    wrong = complaints_of_rows(rows, proof)
    yield from wrong
    if wrong:  # the rest reads the proof
        return
    if result.verdict != VERDICTS.get(proof.kind):
        yield f"the proof is of {proof.kind}, the verdict {result.verdict}"
    count = len(result.labels) - 1 if result.pairs else 1
    samples = np.repeat(result.samples, count)
    if not np.array_equal(np.unique(samples[proof.still]), result.rows_on_it):
        yield "rows_on_it are not the samples that the proof names"
    if (result.direction is None) != (proof.direction is None) or _flat(result) != proof.direction:
        yield "the direction is not that of the proof"
    for name, named, weights in (
        ("weights", result.weights, proof.weights),
        ("circuit", result.circuit, proof.circuit),
    ):
        if sorted(named.values()) != sorted(weights.values()) or len(named) != len(weights):
            yield f"the {name} are not those of the proof"
    if not result.pairs:
        yield from _about_two(result)


def _flat(result: Separability) -> tuple[Fraction, ...] | None:
    plane = result.direction
    if plane is None:
        return None
    if not result.pairs:
        return (*plane.coef, plane.intercept) if result.intercept else tuple(plane.coef)
    flat = tuple(v for coef in plane.coef[:-1] for v in coef)
    return (*flat, *plane.intercept[:-1]) if result.intercept else flat


def _about_two(result: Separability) -> Iterator[str]:
    """The margin, and the hull, of two classes."""
    if result.direction is not None and result.proof.direction is not None:
        margin = _smallest(result.rows, list(result.proof.direction), result.direction.coef)
        if not np.isclose(margin, result.margin, rtol=1e-12, atol=0.0):
            yield f"the margin is {margin!r}, not {result.margin!r}"
    if (result.hull is None) != (not result.proof.circuit):
        yield "there is a hull where there is nothing to prove by it, or none where there is"
    elif result.hull is not None:
        yield from _about_hull(result, result.hull)


def _about_hull(result: Separability, hull: Hull) -> Iterator[str]:
    place = {int(sample): i for i, sample in enumerate(result.samples)}
    if set(hull.weights) != set(result.labels) or any(i not in place for i in hull.samples):
        yield "the hull names other labels or samples"
        return
    d = result.rows.shape[1] - result.intercept
    for label, side in zip(result.labels, (-1, 1), strict=True):
        yield from _about_side(result, hull, place, label, side)
    if not result.intercept and sum(sum(weights.values()) for weights in hull.weights.values()) != 1:
        yield "the weights do not add up to one"
    if len(hull.samples) > d + 1 + result.intercept or set(hull.samples) != {
        int(result.samples[i]) for i in result.proof.circuit
    }:
        yield "the hull is on more samples than it takes, or on others than its proof"


def _about_side(result: Separability, hull: Hull, place: dict[int, int], label: Any, side: int) -> Iterator[str]:
    """What is wrong with the weights of one class; ``place`` has the rows by sample."""
    d = result.rows.shape[1] - result.intercept
    samples = sorted(hull.weights[label])
    share = [hull.weights[label][i] for i in samples]
    where = np.array([place[i] for i in samples], dtype=np.intp)
    exactly = result.rows.rational(where) if where.size else []
    if any(w <= 0 for w in share):
        yield "the hull has weights that are not above 0"
    if result.intercept and any(row[d] != side for row in exactly):
        yield f"the hull has samples of another class under {label!r}"
    point = tuple(
        sum((side * w * row[j] for w, row in zip(share, exactly, strict=True)), Fraction(0)) for j in range(d)
    )
    if point != tuple(hull.point):
        yield f"the weights of {label!r} do not add up to the common point"
    if result.intercept and sum(share) != 1:
        yield f"the weights of {label!r} do not add up to one"


def two_class_rows(data: Data, signs: Array, samples: Indices | None, intercept: bool) -> Rows:
    """y_i (x_i, 1), or y_i x_i, for some of the samples (all where None); ``signs`` is one for each of these."""
    x = as_rows(data.matrix, data.exact_matrix)
    x = (x if samples is None else x[samples]).scaled(signs)
    n, d = x.shape
    if not intercept:
        return x
    return JoinedRows(n, d + 1, [(slice(0, d), x), (slice(d, d + 1), ConstantRows(n).scaled(signs))])


def several_class_rows(data: Data, samples: Indices | None, intercept: bool) -> Rows:
    """The margins of each sample's own class over each other class, over (coef_0, ..., coef_{K-2}) and as many
    intercepts: as all scores may be shifted together, those of the last class are 0."""
    classes, labels = data.grouping
    x = as_rows(data.matrix, data.exact_matrix)
    if samples is not None:
        x, classes = x[samples], classes[samples]
    count, (n, d) = len(labels), x.shape
    coef = ColumnRows(ClassMarginRows(x, classes, count), np.arange((count - 1) * d))
    if not intercept:
        return coef
    ones = ColumnRows(ClassMarginRows(ConstantRows(n), classes, count), np.arange(count - 1))
    width = (count - 1) * d
    parts: list[tuple[slice, Rows]] = [(slice(0, width), coef), (slice(width, width + count - 1), ones)]
    return JoinedRows(n * (count - 1), width + count - 1, parts)


def separation_rows(data: Data, intercept: bool, several: bool = False) -> Rows:
    """The rows of all samples that count (with a weight above 0)."""
    samples = None if np.all(data.weights > 0) else np.flatnonzero(data.weights > 0)
    if several:
        return several_class_rows(data, samples, intercept)
    assert data.signs is not None
    return two_class_rows(data, data.signs if samples is None else data.signs[samples], samples, intercept)
