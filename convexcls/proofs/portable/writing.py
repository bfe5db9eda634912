"""Certificates written as files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.losses import BY_NAME
from convexcls.models import EmpiricalRisk, KernelSVM, Model, by_kind
from convexcls.problem import NoAnswer
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.claims import direction as directions
from convexcls.proofs.claims import farkas as contradictions
from convexcls.proofs.claims.farkas import Multipliers
from convexcls.proofs.claims.optimum import ExactProof, widest
from convexcls.proofs.claims.statement import NoProof
from convexcls.proofs.enclosure.intervals import Enclosure
from convexcls.proofs.enclosure.moments import falling_direction, has_few_moments, moments
from convexcls.proofs.exact.prove import prove, prove_widest
from convexcls.proofs.levels import raise_level, small
from convexcls.proofs.levels.raising import bounded_here
from convexcls.proofs.portable.checks import flat_lines, kept_names
from convexcls.proofs.portable.digest import FORM, data_digest, label_texts
from convexcls.proofs.portable.numbers import CertificateError, read_number, write_number
from convexcls.proofs.portable.parsing import MAX_NOTES, MAX_TEXT_CHARACTERS, SCHEMA, parse
from convexcls.proofs.portable.verification import written_parameter
from convexcls.proofs.verdict import certify
from convexcls.proofs.words import speaks_of_doubles
from convexcls.solve import guess

#: The share of the tolerance by which bounds are stated wider than they were shown.
WIDENED = 0.01
#: No more of the tolerance lies between them, so that whoever finds other bounds between these is near both.
MAX_SHARE_OF_TOLERANCE = 0.999
#: Residuals repaired in another way cost about so many times what they measure.
REPAIRED = 4.0
MOVED = "point and multipliers of the answer do not prove as much by themselves: these are others, near them"
Numbers = Mapping[str, Mapping[int, Fraction | float]]


@np.errstate(all="ignore")  # what overflows is refused, not warned of
def certificate_json(certificate: Certificate) -> str:
    """The certificate as the text of a file; ``NoAnswer`` where there can be none."""
    try:
        text = json.dumps(certificate_dict(certificate), indent=1, allow_nan=False)
        parse(text)  # what nobody would read is not written
    except CertificateError as error:
        raise NoAnswer(f"this certificate cannot be written as a file: {error}") from None
    return text


def certificate_dict(certificate: Certificate) -> dict[str, Any]:
    """The certificate as plain values: numbers are text, and what follows from others is left out."""
    problem = _model(certificate.problem)
    certificate = _provable(settled(certificate))
    notes = [*certificate.notes, *([certificate.reason] if certificate.reason else [])]
    proof = _proof(certificate)
    data = problem.data.rounded if _of_doubles(certificate, proof) else problem.data
    out: dict[str, Any] = {
        "schema": SCHEMA,
        "level": certificate.level,
        "verdict": certificate.status,
        "model": problem.kind,
        "parameters": {name: written_parameter(value) for name, value in problem.parameters.items()},
        "tolerance": write_number(_tolerance(certificate)),
        "data": {
            "digest": FORM,
            "sha256": data_digest(data),
            "samples": str(data.n),
            "features": str(data.d),
            "labels": None if data.labels is None else list(label_texts(data.labels)),
            "weighted": data.weighted,
        },
        **({} if data.coding is None or data.coding.needless else {"coding": data.coding.to_dict()}),
        "claim": _claim(certificate),
        "notes": [note[:MAX_TEXT_CHARACTERS] for note in notes[:MAX_NOTES]],
    }
    return out | proof


def _provable(certificate: Certificate) -> Certificate:
    """A certificate whose numbers do not show so much by themselves, as one of a higher level if the problem is small.
    Of the level float, where their bounds are not within the tolerance: a violation within it may cost twice as much,
    and so may the rounding of a kernel. Of the level rigorous, where residuals are above it: bounds then hang on how
    these are repaired, which others do otherwise. Any other as it is."""
    level, kkt = certificate.level, certificate.kkt
    if certificate.status != "optimal" or level == "exact" or certificate.exact is not None:
        return certificate
    if speaks_of_doubles(certificate) or not small(certificate.problem):
        return certificate
    shown = (
        bounded_here(certificate).status == "optimal" if level == "float" else kkt is None or kkt.holds(certificate.tol)
    )
    if shown:
        return certificate
    measured = replace(certificate, level="float", bounds=None)
    found = raise_level(measured, "rigorous" if level == "float" else "exact", stand_in=True, solve=guess)
    if found.status != "optimal":  # a nearly singular kernel matrix is no basis for rationals: another answer may do
        found = bounded_here(certify(certificate.problem, *guess(certificate.problem), certificate.tol))
    return replace(found, notes=(*found.notes, MOVED)) if found.status == "optimal" else certificate


def _of_doubles(certificate: Certificate, proof: Mapping[str, Any]) -> bool:
    """Whether a file has to speak of the data rounded to doubles: a direction may hold of them as given, too."""
    if not speaks_of_doubles(certificate) or "direction" not in proof:
        return speaks_of_doubles(certificate)
    way = {name: [read_number(v, name) for v in values] for name, values in proof["direction"].items()}
    return bool(directions.check(certificate.problem, way))


def _model(problem: Any) -> Model:
    """The problem, where a file can state it by its kind and parameters."""
    if isinstance(problem, Model) and by_kind().get(problem.kind) is not type(problem):
        raise NoAnswer(
            f"{type(problem).__name__} has no kind of its own, by which a file could name it: write kind = '...' in "
            f"its class (what it would inherit, {problem.kind!r}, states another model)"
        )
    if not isinstance(problem, Model):
        raise NoAnswer(
            f"the {problem.name} is not a model on data that a file could name: certify the model itself "
            "(of a dual: .primal())"
        )
    if isinstance(problem, EmpiricalRisk) and (
        problem.own_constraints or BY_NAME.get(problem.loss.name) != problem.loss
    ):
        raise NoAnswer(f"the {problem.name} has a loss or constraints of your own, which a file cannot name")
    if isinstance(problem, KernelSVM) and not isinstance(problem.kernel.kind, str):
        raise NoAnswer(f"the {problem.name} has a kernel of your own, which a file cannot name")
    return problem


def _tolerance(certificate: Certificate) -> float:
    """No wider one is written."""
    return min(certificate.tol, 1e-4)


def _claim(certificate: Certificate) -> dict[str, str]:
    """What is claimed of the optimum, in the sense in which the model reports its objective."""
    if certificate.status != "optimal":
        return {}
    lower, upper = certificate.lower, certificate.upper
    if certificate.level == "exact" and certificate.optimum is not None:
        return dict.fromkeys(("lower", "upper", "optimum"), write_number(certificate.optimum))
    if certificate.enclosure is not None:
        ends = {"lower": write_number(lower), "upper": write_number(upper)}
        root = certificate.enclosure.root
        return ends if root is None else ends | {"square": write_number(root.square)}
    if not (math.isfinite(lower) and math.isfinite(upper)):
        raise NoAnswer("this certificate has no finite bounds to state")
    low, high = float(lower), float(upper)
    if certificate.level == "rigorous":  # room for others, who add up in another order or repair the numbers otherwise
        problem, kkt = certificate.problem, certificate.kkt
        worst = 0.0 if kkt is None else max(kkt.measures().values())
        allowed = _tolerance(certificate) * max(abs(low), abs(high), problem.unit)
        repair = REPAIRED * worst / certificate.tol
        widening = min(
            max(high - low, max(WIDENED, repair) * allowed), (MAX_SHARE_OF_TOLERANCE * allowed - (high - low)) / 2
        )
        widening = max(widening, 0.0)
        below = min(widening, low) if problem.sense == "min" and low >= 0 else widening  # 0 is a bound for everyone
        low, high = low - below, high + (2 * widening - below)
    return {"lower": write_number(float(low)), "upper": write_number(float(high))}


def _proof(certificate: Certificate) -> dict[str, Any]:
    """The numbers that prove the verdict."""
    problem = certificate.problem
    if certificate.status == "infeasible":
        return {"farkas": _rows(farkas_of(certificate))}
    if certificate.status == "unattained":
        return {"direction": {name: [write_number(v) for v in way] for name, way in direction_of(certificate).items()}}
    if certificate.status != "optimal":
        return {}
    if certificate.enclosure is not None and certificate.enclosure.root is None:
        return {"enclosure": _box(certificate.enclosure)}
    point, given = _point(certificate)
    follows = flat_lines(problem)
    return {
        "point": {name: [write_number(v) for v in point[name]] for name in kept_names(problem)},
        "multipliers": _rows({name: rows for name, rows in given.items() if name not in follows}),
    }


def _point(certificate: Certificate) -> tuple[Mapping[str, Any], Numbers]:
    """The point and the multipliers; of a root, the rationals that it is a multiple of."""
    if certificate.enclosure is not None:
        return certificate.enclosure.root.ray, certificate.enclosure.root.multipliers
    if certificate.exact is not None:
        return certificate.exact_point, certificate.exact_multipliers
    if certificate.x is None or certificate.multipliers is None:
        raise NoAnswer("this certificate does not hold the point and the multipliers that it speaks of")
    point = {name: part.tolist() for name, part in certificate.problem.split(certificate.x).items()}
    return point, {name: _not_zero(z) for name, z in certificate.multipliers.items()}


def _not_zero(z: Array) -> dict[int, Fraction | float]:
    rows = np.flatnonzero(z)
    return dict(zip(rows.tolist(), z[rows].tolist(), strict=True))


def _box(enclosure: Enclosure) -> dict[str, Any]:
    """The ends of the intervals by variable."""
    ends = [
        {name: [write_number(interval[k]) for interval in box] for name, box in enclosure.coefficients.items()}
        for k in (0, 1)
    ]
    digits, bits = str(enclosure.digits), str(enclosure.precision)
    return {"lower": ends[0], "upper": ends[1], "digits": digits, "precision": bits}


def _rows(blocks: Numbers) -> dict[str, dict[str, str]]:
    """The numbers that are not zero by block and row."""
    return {
        name: {str(i): write_number(value) for i, value in sorted(rows.items()) if value}
        for name, rows in blocks.items()
    }


# ---- proofs moved so that they hold in rationals: what is written is checked, not believed ------------------------


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


def farkas_of(certificate: Certificate) -> Multipliers:
    """The multipliers of a contradiction, exact ones where they are known or can be found."""
    problem, farkas = certificate.problem, certificate.farkas
    if certificate.exact is not None:
        return dict(certificate.exact.multipliers)
    assert farkas is not None
    if farkas.exactly is not None:
        return farkas.exactly
    found = contradictions.nearby_exact(problem, farkas.multipliers)
    if contradictions.check(problem, found):
        with suppress(NoProof):
            proof = prove(problem, None, farkas.multipliers, guess)
            return proof.multipliers if proof.verdict == "infeasible" else found
    return found


def direction_of(certificate: Certificate) -> Mapping[str, Sequence[Fraction]]:
    """A direction without a minimum, an exact one where it is known or can be found."""
    problem, known = certificate.problem, certificate.direction
    if certificate.exact is not None and set(certificate.exact.direction) == set(problem.layout):
        return dict(certificate.exact.direction)
    if has_few_moments(problem) and (way := falling_direction(problem.remembered(moments))) is not None:
        return way
    assert known is not None
    if known.exactly is not None:
        return {name: known.exactly[where] for name, where in problem.layout.items()}
    found = directions.nearby_exact(problem, known.x)
    if problem.is_quadratic_program and directions.check_in_rationals(problem, found):
        with suppress(NoProof):
            proof = prove(problem, solve=guess)
            return proof.direction if proof.verdict == "unattained" else found
    return found
