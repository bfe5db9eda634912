"""The claim that rows a_i can, or cannot, be moved to one side, checked from the rows alone: in rationals, by other
code than that which found it. That weights of rows add up to 0 is a Farkas vector of the constraints a_i'v >= 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from convexcls.arrays import Indices
from convexcls.problem import Constraint, Problem, Variable
from convexcls.proofs.claims import farkas
from convexcls.rational.elimination import null_space, rank
from convexcls.rows import Rows
from convexcls.rows.signs import exact_signs
from convexcls.rows.spanning import spanning_columns

Kind = Literal["strict", "weak", "overlapping"]
Weights = Mapping[int, Fraction]


@dataclass(frozen=True, eq=False)
class Separation:
    """The verdict on rows and its proof, all by number of the row.

    ``direction``: v with every row >= 0, and as many above 0 as any v has; None where the rows overlap.
    ``still``: the rows at 0 along it, and along every such v.
    ``weights``: > 0, with sum_i weights_i a_i = 0, on rows that span all of ``still``.
    ``circuit``: > 0, with sum_i circuit_i a_i = 0, on as many rows as their rank and one; empty where v is strict.
    """

    kind: Kind
    direction: tuple[Fraction, ...] | None
    still: Indices
    weights: Weights
    circuit: Weights


def check(rows: Rows, proof: Separation) -> str:
    """Why a proof does not hold; empty where it does."""
    return next(_complaints(rows, proof), "")


def complaints(rows: Rows, proof: Separation) -> list[str]:
    """What is wrong with a proof; nothing where it holds."""
    return list(_complaints(rows, proof))


def _complaints(rows: Rows, proof: Separation) -> Iterator[str]:
    n = rows.shape[0]
    if proof.kind not in ("strict", "weak", "overlapping"):
        yield f"{proof.kind!r} is no verdict"
        return
    still = np.asarray(proof.still)
    if proof.kind == "overlapping":
        if proof.direction is not None:
            yield "rows that overlap have no direction"
        if not np.array_equal(still, np.arange(n)):
            yield "rows that overlap all stay at 0"
            return
    else:
        yield from _about_direction(rows, proof.direction, still)
    if proof.kind == "strict":
        if still.size or proof.weights or proof.circuit:
            yield "where every row moves there is nothing else to prove"
        return
    wide = spanning_columns(rows)
    few = rows if wide is None else wide.rows  # with the same relations among the rows
    yield from _about_circuit(few, proof.circuit)
    yield from _about_weights(few, proof.weights, still)


def _about_direction(rows: Rows, direction: tuple[Fraction, ...] | None, still: Indices) -> Iterator[str]:
    if direction is None or len(direction) != rows.shape[1]:
        yield f"the direction has not {rows.shape[1]} entries"
        return
    signs = exact_signs(rows, list(direction))
    if np.any(signs < 0):
        yield f"row {int(np.flatnonzero(signs < 0)[0])} is below 0 along the direction"
    if not np.any(signs > 0):
        yield "no row is above 0 along the direction"
    if not np.array_equal(np.flatnonzero(signs == 0), still):
        yield "the rows at 0 along the direction are not those that are named"


def _about_circuit(rows: Rows, circuit: Weights) -> Iterator[str]:
    yield from _cancels(rows, circuit, "circuit")
    places = _places(rows, circuit)
    if places is not None and rank(rows.rational(places)) != places.size - 1:
        yield "some row of the circuit can be left out"


def _about_weights(rows: Rows, weights: Weights, still: Indices) -> Iterator[str]:
    """The weights cancel, on rows that stay still, and the others of these are in their span."""
    if weights:
        yield from _cancels(rows, weights, "weights")
    if not set(weights) <= set(still.tolist()):
        yield "the weights are on rows that move"
    places = _places(rows, weights)
    if places is None:
        if weights:
            return
        basis = [[Fraction(int(i == j)) for j in range(rows.shape[1])] for i in range(rows.shape[1])]
    else:
        basis = null_space(rows.rational(places))
        if places.size > 2 * (rows.shape[1] - len(basis)):
            yield "the weights are on more rows than twice their rank"
    for vector in basis:
        signs = exact_signs(rows[still], vector)
        if np.any(signs):
            yield f"row {int(still[np.flatnonzero(signs)[0]])} is not in the span of the rows with weights"
            return


def _cancels(rows: Rows, weights: Weights, name: str) -> Iterator[str]:
    places = _places(rows, weights)
    if places is None:
        yield f"the {name} has no rows, or rows that there are not"
        return
    if any(weights[i] <= 0 for i in places.tolist()):
        yield f"the {name} has weights that are not above 0"
    elif farkas.check(_one_sided(rows), {"rows": weights}):
        yield f"the {name} does not cancel"


def _one_sided(rows: Rows) -> Problem:
    """The constraints a_i'v >= 1."""
    n, width = rows.shape
    v = Variable("v", width, "v", "vector")
    return Problem("rows on one side", [v], constraints=[Constraint("rows", {"v": -rows}, rhs=-np.ones(n))])


def _places(rows: Rows, weights: Mapping[int, Fraction]) -> Indices | None:
    places = np.array(sorted(weights), dtype=np.intp)
    return places if places.size and places[0] >= 0 and places[-1] < rows.shape[0] else None
