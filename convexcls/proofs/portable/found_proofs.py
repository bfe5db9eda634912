"""Proofs that there is no optimum, moved so that they hold in rationals. Nothing here is believed: what is written is
checked by ``exact_proofs.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.certificate.linear_program import POSITIVE
from convexcls.proofs.enclosure import falling_direction
from convexcls.proofs.exact import ExactProof, NoProof, prove, prove_widest, widest
from convexcls.proofs.exact.falling import matrices_of, proves_unattained
from convexcls.proofs.portable.exact_proofs import proves_infeasible
from convexcls.proofs.portable.gaussian import has_moments, moments
from convexcls.proofs.portable.slacks import Blocks
from convexcls.rational import null_space
from convexcls.rows import Rows
from convexcls.solve import guess

Array = NDArray[np.float64]

#: Systems with more entries are not solved in rationals: the numbers are written as they were found.
LARGEST = 40_000


def settled(certificate: Certificate) -> Certificate:
    """A certificate that the widest margin is 0, with the multipliers that prove it: rounded ones prove a little less.
    Others as they are."""
    x, parts = certificate.x, widest(certificate.problem)
    if parts is None or certificate.exact is not None or certificate.status != "optimal" or x is None or x.any():
        return certificate
    with suppress(NoProof):
        proof = prove_widest(parts, x, certificate.multipliers, guess)
        if isinstance(proof, ExactProof) and proof.optimum == 0:
            return replace(certificate, exact=proof)
    return certificate


def farkas_of(certificate: Certificate) -> Blocks:
    """The multipliers of a contradiction, exact ones where they are known or can be found."""
    problem, farkas = certificate.problem, certificate.farkas
    if certificate.exact is not None:
        return dict(certificate.exact.multipliers)
    assert farkas is not None
    if farkas.exactly is not None:
        return farkas.exactly
    found = exact_farkas(problem, farkas.multipliers)
    if proves_infeasible(problem, found):
        with suppress(NoProof):
            proof = prove(problem, None, farkas.multipliers, guess)
            return proof.multipliers if proof.verdict == "infeasible" else found
    return found


def direction_of(certificate: Certificate) -> Mapping[str, Sequence[Fraction]]:
    """A direction without a minimum, an exact one where it is known or can be found."""
    problem, known = certificate.problem, certificate.direction
    if certificate.exact is not None and set(certificate.exact.direction) == set(problem.layout):
        return dict(certificate.exact.direction)
    if has_moments(problem) and (way := falling_direction(problem.remembered(moments))) is not None:
        return way
    assert known is not None
    if known.exactly is not None:
        return {name: known.exactly[where] for name, where in problem.layout.items()}
    found = exact_direction(problem, known.x)
    if problem.is_quadratic_program and proves_unattained(problem, found):
        with suppress(NoProof):
            proof = prove(problem, solve=guess)
            return proof.direction if proof.verdict == "unattained" else found
    return found


def exact_farkas(problem: Problem, multipliers: Mapping[str, Array]) -> dict[str, dict[int, Fraction]]:
    """Multipliers that cancel exactly, near those given; those given where none were found."""
    used = [(c, i) for c in problem.constraints for i in np.flatnonzero(multipliers.get(c.name, [])).tolist()]
    given = [Fraction(float(multipliers[c.name][i])) for c, i in used]
    z = None
    if len(used) * problem.size <= LARGEST:
        rows = [problem.rows(c).rational(np.array([i]))[0] for c, i in used]
        columns = [list(column) for column in zip(*rows, strict=True) if any(column)]
        z = _nearby(columns, given)
    out: dict[str, dict[int, Fraction]] = {}
    for (c, i), value, exact in zip(used, given, z or given, strict=True):
        fits = z is not None and (exact >= 0 or c.relation == "==")
        out.setdefault(c.name, {})[i] = exact if fits else value
    return out


def exact_direction(problem: Problem, direction: Array) -> dict[str, list[Fraction]]:
    """A direction along which what should not move stays exactly, near the one given; the one given where none was
    found."""
    given = [Fraction(value) for value in direction.tolist()]
    exact = None
    if problem.size**2 <= LARGEST:
        still = [row for matrix in matrices_of(problem).values() for row in matrix]
        for block in (*problem.terms, *problem.constraints):
            rows: Rows = problem.rows(block)
            moved, size = rows @ direction, abs(rows) @ np.abs(direction)
            flat = np.flatnonzero(np.abs(moved) <= POSITIVE * size)
            if flat.size * problem.size > 100 * LARGEST:
                still = []
                break
            still += rows.rational(flat)
        exact = _nearby(still, given) if still else given
    return {name: (exact or given)[where] for name, where in problem.layout.items()}


def _nearby(rows: Sequence[Sequence[Fraction]], given: Sequence[Fraction]) -> list[Fraction] | None:
    """A vector that every row annihilates: its free entries as given, the others solved for. Those with the largest
    entries are kept free, so that what is solved for stays small. None where there is only 0."""
    distinct = [list(row) for row in dict.fromkeys(tuple(row) for row in rows) if any(row)]
    if not distinct:
        return list(given)
    order = sorted(range(len(given)), key=lambda j: abs(given[j]))
    basis = null_space([[row[j] for j in order] for row in distinct])
    out = [Fraction(0)] * len(given)
    for vector in basis:
        free = max(k for k, value in enumerate(vector) if value)  # a one, where the others have a zero
        for k, value in enumerate(vector):
            out[order[k]] += given[order[free]] * value
    return out if any(out) else None
