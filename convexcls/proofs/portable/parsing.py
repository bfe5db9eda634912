"""A certificate file, read strictly: every name, type and length is checked before anything is computed.

Refused are files beyond the caps on size, depth, entries and digits, fields that are unknown, missing or given twice,
wrong types, and numbers that are not written as text by the pattern of ``numbers.py``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from convexcls.proofs.certificate import LEVELS
from convexcls.proofs.portable.digest import FORM
from convexcls.proofs.portable.numbers import CertificateError, read_number, read_numbers
from convexcls.proofs.portable.text_digest import TEXT_FORM
from convexcls.tables.coding import Coding, CodingError

SCHEMA = "convexcls-certificate/2"
MAX_FILE_CHARACTERS = 64_000_000
MAX_DEPTH = 4
#: More samples or features than these are not read from a file.
MAX_SAMPLES = 10**8
MAX_NOTES = 100
#: More bits, or digits, are not computed with because a file says so.
MAX_PRECISION = 10_000
MAX_TEXT_CHARACTERS = 2_000
#: A verifier does not call bounds that are further apart than this fraction of the optimum a proof of it.
MAX_TOLERANCE = Fraction(1, 10_000)

#: What proves each verdict; of an optimum that is not rational, at the level exact, an ``enclosure``.
PROOFS = {
    "optimal": ("point", "multipliers"),
    "infeasible": ("farkas",),
    "unattained": ("direction",),
    "undecided": (),
}
_FIELDS = ("schema", "level", "verdict", "model", "parameters", "tolerance", "data", "claim", "notes")
_DATA = ("sha256", "samples", "features", "labels", "weighted")
_COUNT = re.compile(r"0|[1-9][0-9]{0,8}")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
#: A string (to its end or that of the text, so that a scan never starts over) or a bracket.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]+|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)


def parse(text: str) -> Parsed:
    """The certificate that a text holds; ``CertificateError`` where it holds none."""
    found = _load(text)
    verdict = _choice(found.get("verdict"), tuple(PROOFS), "verdict")
    enclosed = (verdict, found.get("level")) == ("optimal", "exact") and "enclosure" in found
    coded = ("coding",) if "coding" in found else ()
    _names(found, (*_FIELDS, *coded, *(("enclosure",) if enclosed else PROOFS[verdict])), "the certificate")
    level = _choice(found["level"], LEVELS, "level")
    _choice(found["schema"], (SCHEMA,), "schema")
    return Parsed(
        level=level,
        verdict=verdict,
        model=_word(found["model"], "model"),
        parameters=_parameters(found["parameters"]),
        tolerance=_tolerance(found["tolerance"]),
        **_data(found["data"]),
        claim=_claim(found["claim"], verdict, level == "exact" and not enclosed),
        notes=_texts(found["notes"], "notes", MAX_NOTES),
        point=_vectors(found.get("point", {}), "point"),
        multipliers=_blocks(found.get("multipliers", {}), "multipliers"),
        farkas=_blocks(found.get("farkas", {}), "farkas"),
        direction=_vectors(found.get("direction", {}), "direction"),
        enclosure=_box(found["enclosure"]) if enclosed else None,
        coding=_coding(found["coding"]) if coded else None,
    )


def _load(text: str) -> dict[str, Any]:
    """The JSON object, where the text is one of a bearable size and depth; numbers that JSON would read are refused."""
    if len(text) > MAX_FILE_CHARACTERS:
        raise CertificateError(f"the certificate is longer than {MAX_FILE_CHARACTERS:,} characters")
    if depth(text) > MAX_DEPTH:
        raise CertificateError(f"the certificate is nested more than {MAX_DEPTH} deep")

    def refuse(number: str) -> Any:
        raise CertificateError(f"{number[:20]} stands as a bare number: write numbers as text")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in out if names.count(name) > 1)
            raise CertificateError(f"{ascii(twice)[:40]} occurs twice in the same place")
        return out

    try:
        found = json.loads(text, object_pairs_hook=unique, parse_int=refuse, parse_float=refuse, parse_constant=refuse)
    except CertificateError:
        raise
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"the certificate is not JSON: {str(error)[:80]}") from None
    if not isinstance(found, dict):
        raise CertificateError("the certificate is not a JSON object")
    return found


def depth(text: str, most_counted: int = MAX_DEPTH) -> int:
    """How deep brackets are nested outside of strings; beyond ``most_counted`` it is not looked at."""
    deep = most = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        if (mark := found[0]) in "[{":
            deep += 1
            most = max(most, deep)
        elif mark in "]}":
            deep -= 1
        if most > most_counted:
            break
    return most


def _names(found: Any, names: tuple[str, ...], where: str) -> None:
    if not isinstance(found, dict):
        raise CertificateError(f"{where} must be an object with the fields {', '.join(names) or '(none)'}")
    if odd := sorted(set(found) - set(names)):
        raise CertificateError(f"{where} has an unknown field {ascii(odd[0])[:40]}; it has {', '.join(names)}")
    if missing := [name for name in names if name not in found]:
        raise CertificateError(f"{where} has no field {missing[0]!r}")


def _choice(value: Any, choices: tuple[str, ...], where: str) -> str:
    if not isinstance(value, str) or value not in choices:
        raise CertificateError(f"{where} must be one of {', '.join(choices)}")
    return value


def _word(value: Any, where: str) -> str:
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise CertificateError(f"{where} must be a name")
    return value


def _texts(values: Any, where: str, most: int) -> tuple[str, ...]:
    if not isinstance(values, list) or len(values) > most:
        raise CertificateError(f"{where} must be a list of at most {most:,} entries")
    if not all(isinstance(value, str) and len(value) <= MAX_TEXT_CHARACTERS for value in values):
        raise CertificateError(f"{where} must hold text of at most {MAX_TEXT_CHARACTERS:,} characters")
    return tuple(values)


def _count(value: Any, where: str) -> int:
    if not isinstance(value, str) or not _COUNT.fullmatch(value) or int(value) > MAX_SAMPLES:
        raise CertificateError(f"{where} must be a whole number, written as text, of at most {MAX_SAMPLES:,}")
    return int(value)


def _parameters(found: Any) -> dict[str, str | bool | None]:
    if not isinstance(found, dict) or len(found) > 50:
        raise CertificateError("parameters must be an object with the model's parameters by name")
    for name, value in found.items():
        _word(name, "the name of a parameter")
        if not isinstance(value, (str, bool, type(None))) or (
            isinstance(value, str) and len(value) > MAX_TEXT_CHARACTERS
        ):
            raise CertificateError(f"the parameter {name} must be text, true, false or null")
    return found


def _tolerance(value: Any) -> Fraction:
    tolerance = read_number(value, "tolerance")
    if not 0 < tolerance <= MAX_TOLERANCE:
        raise CertificateError(f"tolerance must lie above 0 and not above {MAX_TOLERANCE}")
    return tolerance


def _data(found: Any) -> dict[str, Any]:
    form = ("digest",) if isinstance(found, dict) and "digest" in found else ()
    _names(found, (*_DATA, *form), "data")
    _choice(found.get("digest", TEXT_FORM), (FORM, TEXT_FORM), "data.digest")
    if not isinstance(found["sha256"], str) or not re.fullmatch(r"[0-9a-f]{64}", found["sha256"]):
        raise CertificateError("data.sha256 must be 64 hexadecimal digits")
    if not isinstance(found["weighted"], bool):
        raise CertificateError("data.weighted must be true or false")
    labels = None if found["labels"] is None else _texts(found["labels"], "data.labels", 10_000)
    sizes = {name: _count(found[name], f"data.{name}") for name in ("samples", "features")}
    return found | sizes | {"labels": labels}


def _box(found: Any) -> Box:
    _names(found, ("lower", "upper", "digits", "precision"), "enclosure")
    digits, bits = (_count(found[name], f"enclosure.{name}") for name in ("digits", "precision"))
    if not (1 <= digits <= MAX_PRECISION and 2 <= bits <= MAX_PRECISION):
        raise CertificateError(f"enclosure: digits and precision must not be above {MAX_PRECISION}")
    return Box(_vectors(found["lower"], "enclosure.lower"), _vectors(found["upper"], "enclosure.upper"), digits, bits)


def _claim(found: Any, verdict: str, rational: bool) -> dict[str, Fraction]:
    exact = "square" if isinstance(found, dict) and "square" in found else "optimum"  # of a root, its square
    names = ("lower", "upper", *((exact,) if rational else ())) if verdict == "optimal" else ()
    _names(found, names, "claim")
    return {name: read_number(found[name], f"claim.{name}") for name in names}


def _coding(found: Any) -> Coding:
    try:
        return Coding.from_dict(found)
    except CodingError as error:
        raise CertificateError(str(error)) from None


def _vectors(found: Any, where: str) -> dict[str, list[Fraction]]:
    """Numbers by variable."""
    if not isinstance(found, dict) or len(found) > 100:
        raise CertificateError(f"{where} must be an object with a list of numbers for each variable")
    out = {}
    for name, values in found.items():
        _word(name, f"a variable of {where}")
        if not isinstance(values, list):
            raise CertificateError(f"{where}.{name} must be a list of numbers")
        out[name] = read_numbers(values, f"{where}.{name}")
    return out


def _blocks(found: Any, where: str) -> dict[str, Rows]:
    """Numbers by block and row."""
    if not isinstance(found, dict) or len(found) > 100:
        raise CertificateError(f"{where} must be an object with an object for each constraint")
    out: dict[str, Rows] = {}
    for name, rows in found.items():
        _word(name, f"a constraint of {where}")
        if not isinstance(rows, dict):
            raise CertificateError(f"{where}.{name} must be an object with a number for each row")
        places = [_count(row, f"a row of {where}.{name}") for row in rows]
        numbers = read_numbers(rows.values(), f"{where}.{name}")
        out[name] = {row: value for row, value in zip(places, numbers, strict=True) if value}
    return out


Rows = Mapping[int, Fraction]


@dataclass(frozen=True)
class Box:
    """An interval for every unknown by its ends, with the digits asked for and the bits of the proof."""

    lower: Mapping[str, list[Fraction]]
    upper: Mapping[str, list[Fraction]]
    digits: int
    precision: int


@dataclass(frozen=True)
class Parsed:
    """A certificate as its file states it: nothing of it is proved, but all of it is well formed. ``parameters`` are as
    JSON has them, numbers still as text; multipliers that are zero are left out."""

    level: str
    verdict: str
    model: str
    parameters: Mapping[str, str | bool | None]
    tolerance: Fraction
    sha256: str
    samples: int
    features: int
    labels: tuple[str, ...] | None
    weighted: bool
    claim: Mapping[str, Fraction]
    notes: tuple[str, ...]
    point: Mapping[str, list[Fraction]] = field(default_factory=dict)
    multipliers: Mapping[str, Rows] = field(default_factory=dict)
    farkas: Mapping[str, Rows] = field(default_factory=dict)
    direction: Mapping[str, list[Fraction]] = field(default_factory=dict)
    enclosure: Box | None = None
    #: How the digest of the data was made.
    digest: str = TEXT_FORM
    #: How the samples were made of a table; None where they are the caller's numbers.
    coding: Coding | None = None
