"""A point that somebody worked out, judged as the answer to a problem.

Unknowns and multipliers are given by name. Slacks that are missing are as low as the others allow; multipliers that are
missing are those that satisfy the optimality conditions at the point best. Where everything is given as numbers that
are exact (integers, Fractions, Decimals, decimal text, doubles as they are), the level ``exact`` checks the KKT
conditions of a quadratic program in rationals, at the very numbers given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.data import finite_doubles
from convexcls.fits.appraisal import Appraisal
from convexcls.fits.claim import Claim, completed, stated
from convexcls.fits.judging import judge
from convexcls.fits.rebuilding import rebuilt
from convexcls.problem import Problem, ProblemError
from convexcls.proofs.claims.farkas import Multipliers
from convexcls.proofs.claims.optimum import ExactProof, check
from convexcls.proofs.claims.rational_bounds import objective_at
from convexcls.proofs.claims.statement import NoProof, Statement, state
from convexcls.proofs.exact.prove import prove
from convexcls.proofs.levels.raising import proved
from convexcls.rational.numbers import exactly, to_double
from convexcls.wording import listed

#: How the point is called in words.
NAME = "the point given"
#: Unknowns or multipliers by name.
Given = Mapping[str, list[Fraction]]


def check_by_hand(problem: Problem, given: Mapping[str, Any], level: str = "float") -> Appraisal:
    """The appraisal of the values given, by the names of the problem's unknowns and multipliers."""
    values = _read(problem, given)
    point, shares = ({k: v for k, v in values.items() if k in part} for part in (problem.layout, _sizes(problem)))
    doubles = {name: finite_doubles(np.array([float(v) for v in part]), name) for name, part in values.items()}
    x = completed(problem, {name: doubles[name] for name in point})
    multipliers, source = _completed_multipliers(problem, x, {name: doubles[name] for name in shares})
    claim = Claim(problem, f"It is said to solve the {stated(problem)}", x, multipliers, source, usual=np.inf)
    found = judge(claim, NAME, level)
    return _exactly(found, point, shares) if level == "exact" and problem.is_quadratic_program else found


def _sizes(problem: Problem) -> dict[str, int]:
    """The multipliers that can be given: those of a name that no unknown has."""
    return {name: size for name, size in problem.multiplier_sizes.items() if name not in problem.layout}


def _read(problem: Problem, given: Mapping[str, Any]) -> dict[str, list[Fraction]]:
    """The values as rationals; an error names what is unknown, missing or of another size."""
    slacks = {e.variable for e in problem.epigraphs}
    unknowns, multipliers = {v.name: v.size for v in problem.variables}, _sizes(problem)
    if unknown := [repr(name) for name in given if name not in unknowns and name not in multipliers]:
        known = f"its unknowns are {listed(unknowns)}"
        known += f", its multipliers {listed(multipliers)}" if multipliers else ""
        raise ProblemError(f"the {problem.name} has no {listed(unknown)}; {known}")
    if missing := [name for name in unknowns if name not in given and name not in slacks]:
        raise ProblemError(f"give {listed(missing)}, too: only slacks and multipliers follow from the rest")
    return {name: _rationals(name, value, (unknowns | multipliers)[name]) for name, value in given.items()}


def _rationals(name: str, value: Any, size: int) -> list[Fraction]:
    numbers = [value] if isinstance(value, str) else np.ravel(np.asarray(value, dtype=object)).tolist()
    if len(numbers) != size:
        raise ProblemError(f"{name} has {len(numbers)} entries, it needs {size}")
    try:
        return [_rational(v) for v in numbers]
    except (ValueError, TypeError, OverflowError, AttributeError, ZeroDivisionError) as error:
        raise ProblemError(f"{name} holds something that is not a finite number: {error}") from None


def _rational(value: Any) -> Fraction:
    """A number, decimal text, or a fraction written as p/q."""
    if isinstance(value, str) and "/" in value:
        above, below = value.split("/", 1)
        return exactly(above) / exactly(below)
    return exactly(value)


def _completed_multipliers(problem: Problem, x: Array, given: dict[str, Array]) -> tuple[dict[str, Array], str]:
    """All multipliers, and where they come from."""
    missing = [name for name in problem.multiplier_sizes if name not in given]
    if not missing:
        return given, "given"
    found = {name: values for name, values in rebuilt(problem, x).items() if name in missing}
    if not given:
        return found, "worked out from the point"
    return {**found, **given}, f"given, those of {listed(missing)} worked out from the point"


def _exactly(found: Appraisal, point: Given, shares: Given) -> Appraisal:
    """The appraisal with the KKT conditions checked in rationals; what fails is told where they do not hold."""
    problem = found.problem
    try:
        statement = state(problem)
        proof = _claimed(statement, found, point, shares)
    except NoProof as error:
        return replace(found, findings=(*found.findings, f"nothing is checked in rationals: {error}"))
    if reason := check(problem, proof) or _other_slacks(proof, point):
        return replace(found, findings=(*found.findings, f"in rationals: {reason}"))
    optimum = to_double(proof.optimum or Fraction(0))
    return replace(
        found,
        certificate=proved(found.certificate, proof),
        verdict="optimal, exactly",
        objective=optimum,
        lower=optimum,
        upper=optimum,
        bound_by="multipliers in rationals",
        level="exact",
    )


def _claimed(statement: Statement, found: Appraisal, point: Given, shares: Given) -> ExactProof:
    """The point with its objective as the claimed optimum. Any optimal multipliers prove any optimal point: those that
    are missing are taken from the toolkit's own exact proof."""
    problem = statement.problem
    kept = {name: point[name] for name in statement.kept}
    value = objective_at(statement, statement.joined(kept))
    multipliers: Multipliers = {name: {i: v for i, v in enumerate(values) if v} for name, values in shares.items()}
    if set(problem.multiplier_sizes) - set(shares):
        own = prove(problem, found.point, found.multipliers)
        multipliers = {**own.multipliers, **multipliers}
    return ExactProof("optimal", problem, value, kept, multipliers, Fraction(0))


def _other_slacks(proof: ExactProof, point: Given) -> str:
    """That slacks were given which are not the lowest; empty where they are."""
    lowest = {name: values for name, values in proof.slacks().items() if name in point}
    for name, values in lowest.items():
        for i, (given, least) in enumerate(zip(point[name], values, strict=True)):
            if given != least:
                return f"{name}[{i}] is {given}, the other unknowns ask for {least}"
    return ""
