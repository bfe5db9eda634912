"""Certificate files from anywhere: whatever they hold, no verifier crashes, hangs, or accepts what is not true."""

from __future__ import annotations

import json
import random
import time
from fractions import Fraction

import numpy as np
import pytest
from stand_alone import alone, at, is_true, mutated_problems, paths, plain, stand_alone, texts

import convexcls as cc
from convexcls.proofs.portable import CertificateError, Verification, parse

#: Mutations for each seed: 8 x 2600 = 20,800 files, each given to both verifiers.
MUTATIONS = 2600


def certificate():
    return json.loads(cc.HardMarginSVM([[0.0, 0.0], [2.0, 0.0]], [0, 1]).solve().certificate.to_json())


# ---- what is refused before anything is computed -----------------------------------------------------------


HUGE = "9" * 100_000
BAD_NUMBERS = [
    "NaN",
    "nan",
    "inf",
    "-inf",
    "Infinity",
    "1e400",
    "1e3000000",
    "-1e999999999",
    "1/0",
    "1/00",
    "0/0",
    "1/-2",
    "",
    " ",
    "1 ",
    " 1",
    "+1/2",
    "1//2",
    "1/2/3",
    "1.5/2",
    "0x10",
    "1_000",
    "١",
    "1e",
    "e5",
    ".",
    "--1",
    "1,5",
    "None",
    HUGE,
    f"1/{HUGE}",
    f"0.{HUGE}",
    "1e+-5",
    "1\n",
    "½",
    "1/2 ",
    "1d5",
    "\u00001",
    "1e5000",
]
BAD_VALUES = [None, True, False, [], {}, ["1"], {"0": "1"}, [[]]]


@pytest.mark.parametrize(
    "where", [("claim", "lower"), ("point", "coef", 0), ("multipliers", "margin", "0"), ("tolerance",)]
)
def test_numbers_are_read_by_a_strict_pattern(where):
    for bad in [*BAD_NUMBERS, *BAD_VALUES]:
        inner = certificate()
        at(inner, where[:-1])[where[-1]] = bad
        text = json.dumps(inner)
        start = time.process_time()
        with pytest.raises(CertificateError):
            parse(text)
        assert not stand_alone(text, [[0.0, 0.0], [2.0, 0.0]], [0, 1])[0]
        assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ("7", "bare number"),
        ('"x"', "not a JSON object"),
        ("[" * 100_000, "deep"),
        ('{"a":' * 50_000, "deep"),
        ("NaN", "bare number"),
        ('{"a": 1e3000000}', "bare number"),
        ('{"a": "b", "a": "c"}', "twice"),
        ("\ufeff{}", "not JSON"),
        ('{"a": ' + "9" * 100_000 + "}", "bare number"),
        ('{"\\ud800": "x"}', "verdict"),
        ("{}\x00", "not JSON"),
        ('{"verdict": "optimal"}', "no field"),
        ('"' + '\\"' * 200_000, "not JSON"),
    ],
)
def test_texts_that_are_no_certificates(text, said):
    start = time.process_time()
    with pytest.raises(CertificateError, match=said):
        parse(text)
    assert stand_alone(text, [[0.0], [1.0]], [0, 1])[-1] == 2
    assert not cc.verify("{" + text, [[0.0], [1.0]], [0, 1])
    assert time.process_time() - start < 1.0


def test_long_files_are_refused_unread(tmp_path, monkeypatch):
    for module in ("parsing", "verification"):
        monkeypatch.setattr(f"convexcls.proofs.portable.{module}.MAX_FILE_CHARACTERS", 1000)
    monkeypatch.setattr(alone, "MAX_FILE_CHARACTERS", 1000)
    text = json.dumps(certificate() | {"notes": ["x" * 1000]})
    with pytest.raises(CertificateError, match="longer than"):
        parse(text)
    assert stand_alone(text, [[0.0, 0.0], [2.0, 0.0]], [0, 1]) == (False, "the certificate is too long", 2)
    path = tmp_path / "long.json"
    path.write_text(text)
    assert "longer than" in cc.verify(path, [[0.0, 0.0], [2.0, 0.0]], [0, 1]).reasons[0]
    path.write_bytes(b'{"\xff": 1}')
    assert "UTF-8" in cc.verify(path, [[0.0, 0.0], [2.0, 0.0]], [0, 1]).reasons[0]


#: Fields that older files do not have.
OLDER = (("data", "digest"),)


def test_every_field_is_needed_and_no_other_is_taken():
    whole = certificate()
    assert parse(json.dumps(whole)).model == "hard-margin"
    for path in paths(whole):
        inner = json.loads(json.dumps(whole))
        parent = at(inner, path[:-1])
        if isinstance(parent, dict) and path[0] not in ("multipliers", "point", "parameters") and path not in OLDER:
            del parent[path[-1]]
            with pytest.raises(CertificateError):
                parse(json.dumps(inner))
        inner = json.loads(json.dumps(whole))
        parent = at(inner, path[:-1])
        if isinstance(parent, dict):
            parent["unknown field"] = "1"
            with pytest.raises(CertificateError):
                parse(json.dumps(inner))


def test_numbers_without_a_common_denominator_are_refused_at_once():
    """Each is short enough, but their sum would have more digits than anybody can wait for."""
    primes = [n for n in range(10**4, 2 * 10**4) if all(n % k for k in range(2, 142))][:400]
    n = len(primes)
    X, y = np.arange(2.0 * n).reshape(n, 2), np.arange(n) % 2
    inner = json.loads(cc.SoftMarginSVM(X, y).solve().certificate.to_json())
    inner["multipliers"]["margin"] = {str(i): f"1/{p**20}" for i, p in enumerate(primes)}
    start = time.process_time()
    assert "common denominator" in cc.verify(json.dumps(inner), X, y).reasons[0]
    assert "common denominator" in stand_alone(json.dumps(inner), X.tolist(), y.tolist())[1]
    assert time.process_time() - start < 1.0


def test_rows_beyond_the_data_are_refused():
    for row in ("2", "-1", "00", "1.0", "99999999", "1e3", "٣", "18446744073709551616"):
        inner = certificate()
        inner["multipliers"]["margin"][row] = "1"
        text = json.dumps(inner)
        assert not cc.verify(text, [[0.0, 0.0], [2.0, 0.0]], [0, 1])
        assert not stand_alone(text, [[0.0, 0.0], [2.0, 0.0]], [0, 1])[0]


def test_parameters_are_those_of_the_model_and_doubles():
    X, y = [[0.0, 0.0], [2.0, 0.0]], [0, 1]
    whole = json.loads(cc.SoftMarginSVM(X, y).solve().certificate.to_json())
    for name, value in (
        ("C", "0"),
        ("C", "-1.0"),
        ("C", "1/3"),
        ("C", "1e308999"),
        ("C", "9" * 3000),
        ("C", None),
        ("C", True),
        ("loss", "x"),
        ("loss", None),
        ("loss", "1.0"),
        ("intercept", "true"),
        ("intercept", None),
        ("sample_weight", "1"),
        ("X", "1"),
        ("memory_limit", "1.0"),
        ("constraints", "x"),
        ("C", "nan"),
        ("C", ["1"]),
    ):
        inner = json.loads(json.dumps(whole))
        inner["parameters"][name] = value
        text = json.dumps(inner)
        assert not cc.verify(text, X, y), (name, value)
        assert not stand_alone(text, X, y)[0], (name, value)
    for name in whole["parameters"]:
        inner = json.loads(json.dumps(whole))
        del inner["parameters"][name]
        assert not cc.verify(json.dumps(inner), X, y)
    assert cc.verify(json.dumps(whole), X, y)


# ---- fuzz -------------------------------------------------------------------------------------------------------


def bases():
    """Certificates of every kind at both levels, with their data as rationals."""
    for problem in mutated_problems(4):
        X, y, _ = plain(problem)
        signs = [int(s) for s in problem.data.signs]
        for text in texts(problem):
            yield text, problem.data.matrix, y, X, signs


def byte_mutation(rng: random.Random, text: str, other: str) -> str:
    """A few bytes flipped, deleted, inserted, doubled, or taken from another certificate."""
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        place, stop = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        short = min(stop, place + rng.randrange(1, 8))
        kind = rng.randrange(7)
        if kind == 0:
            text = text[:place] + chr(rng.randrange(256)) + text[place + 1 :]
        elif kind == 1:
            text = text[:place] + text[short:]
        elif kind == 2:
            text = text[:place] + rng.choice('0123456789-/.e"{}[],:') + text[place:]
        elif kind == 3:
            text = text[:short] + text[place:]
        elif kind == 4:
            digits = [k for k, c in enumerate(text) if c.isdigit()]
            place = rng.choice(digits) if digits else 0
            text = text[:place] + rng.choice("0123456789") + text[place + 1 :]
        elif kind == 5:
            text = text[:place] + other[place:short] + text[short:]
        else:
            text = text[:stop] if rng.random() < 0.1 else text[:place] + text[place:short] * 2 + text[short:]
        if not text:
            return "{"
    return text


def structure_mutation(rng: random.Random, text: str, other: str) -> str:
    """A value replaced, removed, renamed, nudged, swapped with another, or taken from another certificate."""
    tree, theirs = json.loads(text), json.loads(other)
    for _ in range(rng.choice((1, 1, 2, 3))):
        path = rng.choice(list(paths(tree)) or [("schema",)])
        parent, key = at(tree, path[:-1]), path[-1]
        if isinstance(parent, dict) and key not in parent:
            continue
        kind, value = rng.randrange(8), parent[key]
        if kind == 0:
            parent[key] = rng.choice([*BAD_NUMBERS[:-9], *BAD_VALUES, "0", "1", "1/3", "-1e-9", "true", "optimal"])
        elif kind == 1:
            del parent[key]
        elif kind == 2 and isinstance(parent, dict):
            parent[rng.choice([key + "x", str(rng.randrange(8)), "margin", "coef", key.upper()])] = parent.pop(key)
        elif kind in (3, 4) and isinstance(value, str):
            parent[key] = nudged(rng, value)
        elif kind == 5:
            swap = rng.choice(list(paths(tree)))
            box = at(tree, swap[:-1])
            parent[key], box[swap[-1]] = box[swap[-1]], value
        elif kind == 6:
            parent[key] = at(theirs, rng.choice(list(paths(theirs))))
        elif path[0] in theirs:
            tree[path[0]] = theirs[path[0]]
        try:
            json.dumps(tree)
        except ValueError:  # a swap with one of its own parents
            return text
        tree = json.loads(json.dumps(tree))
    return json.dumps(tree)


def nudged(rng: random.Random, text: str) -> str:
    """A number near the one given, or far from it."""
    try:
        value = alone.numbers([text])[0]
    except alone.Refused:
        return text[::-1]
    step = rng.choice([Fraction(1), Fraction(1, 10**6), Fraction(1, 10**12), Fraction(1, 10**17), value, -2 * value])
    return str(value + step * rng.choice((1, -1)))


def judged(text, X, y, rows, signs) -> bool:
    """Whether either verifier accepts; neither may take a second, or end in anything but a verdict."""
    start = time.process_time()
    for_us = text if text.lstrip().startswith("{") else "{" + text  # otherwise it would be the name of a file
    ours = cc.verify(for_us, X, y)
    assert isinstance(ours, Verification)
    middle = time.process_time()
    theirs = stand_alone(text, rows, y)
    assert middle - start < 1.0, text
    assert time.process_time() - middle < 1.0, text
    assert ours.explain()
    for accepted, read in ((ours.accepted, for_us), (theirs[0], text)):
        assert not accepted or is_true(json.loads(read), rows, signs), read
    return ours.accepted or theirs[0]


@pytest.mark.parametrize(
    ("mutation", "seed"), [(byte_mutation, k) for k in range(5)] + [(structure_mutation, k) for k in range(3)]
)
def test_fuzz(mutation, seed):
    """Mutated files, by both verifiers: no crash, no hang, and nothing accepted that is not true."""
    rng = random.Random(1000 + seed)
    known = list(bases())
    accepted = 0
    for k in range(MUTATIONS):
        text, X, y, rows, signs = known[k % len(known)]
        accepted += judged(mutation(rng, text, rng.choice(known)[0]), X, y, rows, signs)
    assert accepted < MUTATIONS / 2  # most mutations are noticed
