"""The package's reader of certificates: every cap and every type, on either side."""

from __future__ import annotations

import json
from fractions import Fraction as F
from types import SimpleNamespace as Plain

import numpy as np
import pytest
from certificates import BASES, altered

import convexcls as cc
from convexcls.proofs.portable import CertificateError, parse, parsing
from convexcls.proofs.portable import verification as rebuilding
from convexcls.proofs.portable.parsing import Box
from convexcls.proofs.portable.verification import model_class, rebuilt

BOX = {"lower": {"coef": ["0", "-1/2"]}, "upper": {"coef": ["1", "1/2"]}, "digits": "15", "precision": "128"}
#: An enclosure and a direction, where the others have a point with multipliers or a Farkas vector.
ENCLOSED = {("claim", "optimum"): ..., ("point",): ..., ("multipliers",): ..., ("enclosure",): BOX}
FALLING = {
    ("verdict",): "unattained",
    ("claim",): {},
    ("point",): ...,
    ("multipliers",): ...,
    ("direction",): {"coef": ["1", "0"]},
}
UNDECIDED = {("verdict",): "undecided", ("claim",): {}, ("point",): ..., ("multipliers",): ...}


def read(changes):
    return parse(json.dumps(altered("hard", changes)))


def test_all_that_a_file_states_is_read():
    found = read({("notes",): ["one", "two"], ("multipliers", "margin", "2"): "0"})
    assert (found.level, found.verdict, found.model, found.parameters) == (
        "exact",
        "optimal",
        "hard-margin",
        {"intercept": True},
    )
    assert (found.samples, found.features, found.labels, found.weighted) == (3, 2, ("0", "1"), False)
    assert found.tolerance == F(1, 10_000)
    assert found.claim == {"lower": F(1, 2), "upper": F(1, 2), "optimum": F(1, 2)}
    assert found.notes == ("one", "two")
    assert found.sha256 == BASES["hard"][1]["data"]["sha256"]
    assert found.point == {"coef": [1, 0], "intercept": [-1]}
    assert found.multipliers == {"margin": {0: F(1, 2), 1: F(1, 2)}}  # what is 0 is left out
    assert (found.farkas, found.direction, found.enclosure) == ({}, {}, None)
    assert parse(json.dumps(BASES["meet"][1])).farkas == {"margin": {0: 1, 1: 2, 2: 1}}
    assert parse(json.dumps(BASES["real"][1])).labels is None
    assert read(FALLING).direction == {"coef": [1, 0]}
    assert read(UNDECIDED).verdict == "undecided"
    half = F(1, 2)
    assert read(ENCLOSED).enclosure == Box({"coef": [0, -half]}, {"coef": [1, half]}, 15, 128)
    assert read(ENCLOSED).claim == {"lower": half, "upper": half}
    root = read({("claim", "optimum"): ..., ("claim", "square"): "1/4"})
    assert root.claim == {"lower": half, "upper": half, "square": F(1, 4)}


def many(count, value):
    return {f"p{k}": value for k in range(count)}


WORD = "a" + "b" * 63
#: name: what is at the cap, what is beyond it, words of the refusal
CAPS = {
    "notes": ({("notes",): ["x"] * 100}, {("notes",): ["x"] * 101}, "at most 100 entries"),
    "a note": ({("notes",): ["x" * 2000]}, {("notes",): ["x" * 2001]}, "at most 2,000 characters"),
    "labels": ({("data", "labels"): ["x"] * 10_000}, {("data", "labels"): ["x"] * 10_001}, "at most 10,000 entries"),
    "a label": ({("data", "labels"): ["x" * 2000]}, {("data", "labels"): ["x" * 2001]}, "at most 2,000 characters"),
    "samples": ({("data", "samples"): "100000000"}, {("data", "samples"): "100000001"}, "data.samples must be"),
    "features": ({("data", "features"): "100000000"}, {("data", "features"): "100000001"}, "data.features must be"),
    "digits of a count": ({("data", "samples"): "0"}, {("data", "samples"): "0000000000"}, "data.samples must be"),
    "the name of a model": ({("model",): WORD}, {("model",): WORD + "b"}, "model must be a name"),
    "parameters": ({("parameters",): many(50, "1")}, {("parameters",): many(51, "1")}, "parameters must be"),
    "the text of a parameter": (
        {("parameters", "C"): "1" * 2000},
        {("parameters", "C"): "1" * 2001},
        "the parameter C must be text",
    ),
    "the name of a parameter": (
        {("parameters", WORD): None},
        {("parameters", WORD + "b"): None},
        "the name of a parameter must be",
    ),
    "variables": ({("point",): many(100, ["1"])}, {("point",): many(101, ["1"])}, "point must be an object"),
    "the name of a variable": ({("point", WORD): []}, {("point", WORD + "b"): []}, "a variable of point must be"),
    "constraints": (
        {("multipliers",): many(100, {})},
        {("multipliers",): many(101, {})},
        "multipliers must be an object",
    ),
    "the name of a constraint": (
        {("multipliers", WORD): {}},
        {("multipliers", WORD + "b"): {}},
        "a constraint of multipliers must be",
    ),
    "a row": (
        {("multipliers", "margin", "100000000"): "1"},
        {("multipliers", "margin", "100000001"): "1"},
        "a row of mult",
    ),
    "few digits": (
        ENCLOSED | {("enclosure",): BOX | {"digits": "1"}},
        ENCLOSED | {("enclosure",): BOX | {"digits": "0"}},
        "must not be above 10000",
    ),
    "many digits": (
        ENCLOSED | {("enclosure",): BOX | {"digits": "10000"}},
        ENCLOSED | {("enclosure",): BOX | {"digits": "10001"}},
        "must not be above 10000",
    ),
    "few bits": (
        ENCLOSED | {("enclosure",): BOX | {"precision": "2"}},
        ENCLOSED | {("enclosure",): BOX | {"precision": "1"}},
        "must not be above 10000",
    ),
    "many bits": (
        ENCLOSED | {("enclosure",): BOX | {"precision": "10000"}},
        ENCLOSED | {("enclosure",): BOX | {"precision": "10001"}},
        "must not be above 10000",
    ),
    "the digest": ({("data", "sha256"): "0f" * 32}, {("data", "sha256"): "0f" * 32 + "0"}, "64 hexadecimal digits"),
    "the tolerance": ({("tolerance",): "1/10000"}, {("tolerance",): "10001/100000000"}, "not above 1/10000"),
}


@pytest.mark.parametrize("name", CAPS)
def test_caps_on_either_side(name):
    most, beyond, said = CAPS[name]
    read(most)
    with pytest.raises(CertificateError, match=said):
        read(beyond)


#: name: what is altered, words of the refusal
REFUSED = {
    "a short digest": ({("data", "sha256"): "0" * 63}, "64 hexadecimal digits"),
    "a digest in capitals": ({("data", "sha256"): "F" * 64}, "64 hexadecimal digits"),
    "a digest with more behind": ({("data", "sha256"): "0" * 64 + "\n"}, "64 hexadecimal digits"),
    "a digest that is a list": ({("data", "sha256"): ["0"] * 64}, "64 hexadecimal digits"),
    "weights that are text": ({("data", "weighted"): "true"}, "data.weighted must be"),
    "data that are a list": ({("data",): []}, "data must be an object with the fields sha256"),
    "samples that are nothing": ({("data", "samples"): None}, "data.samples must be"),
    "samples in other digits": ({("data", "samples"): "1٣"}, "data.samples must be"),
    "samples with a sign": ({("data", "samples"): "+3"}, "data.samples must be"),
    "features with a leading zero": ({("data", "features"): "02"}, "data.features must be"),
    "notes that are an object": ({("notes",): {}}, "notes must be a list"),
    "a note that is nothing": ({("notes",): [None]}, "notes must hold text"),
    "one of the notes": ({("notes",): ["x", []]}, "notes must hold text"),
    "a model that is nothing": ({("model",): None}, "model must be a name"),
    "a model that begins with a digit": ({("model",): "3d"}, "model must be a name"),
    "a model with a blank": ({("model",): "hard margin"}, "model must be a name"),
    "a model in other letters": ({("model",): "härte"}, "model must be a name"),
    "parameters that are a list": ({("parameters",): []}, "parameters must be"),
    "a parameter that is a list": ({("parameters", "C"): ["1"]}, "the parameter C must be text"),
    "a parameter that is an object": ({("parameters", "C"): {}}, "the parameter C must be text"),
    "a parameter without a name": ({("parameters", ""): "1"}, "the name of a parameter"),
    "a point that is a list": ({("point",): []}, "point must be an object"),
    "a variable that is text": ({("point", "coef"): "10"}, "point.coef must be a list"),
    "a variable without a name": ({("point", ""): []}, "a variable of point"),
    "multipliers that are a list": ({("multipliers",): []}, "multipliers must be an object"),
    "rows that are a list": ({("multipliers", "margin"): []}, "multipliers.margin must be an object"),
    "a constraint without a name": ({("multipliers", ""): {}}, "a constraint of multipliers"),
    "a direction that is a list": (FALLING | {("direction",): []}, "direction must be an object"),
    "an undecided direction": (UNDECIDED | {("direction",): {}}, "unknown field 'direction'"),
    "a falling point": (FALLING | {("point",): {}}, "unknown field 'point'"),
    "no direction": (UNDECIDED | {("verdict",): "unattained"}, "no field 'direction'"),
    "an undecided claim": (UNDECIDED | {("claim",): {"lower": "0"}}, "claim has an unknown field 'lower'"),
    "a claim that is a list": ({("claim",): []}, "claim must be an object with the fields lower, upper, optimum"),
    "a claim that is null": ({("claim",): None}, "claim must be an object with the fields lower, upper, optimum"),
    "a claim of nothing": (UNDECIDED | {("claim",): []}, r"with the fields \(none\)"),
    "no claim": (UNDECIDED | {("claim",): ...}, "no field 'claim'"),
    "an enclosure with a point": (ENCLOSED | {("point",): {}}, "unknown field 'point'"),
    "an enclosure and a point of the level exact": (
        {("enclosure",): BOX, ("claim", "optimum"): ...},
        "unknown field 'multipliers'",
    ),
    "an enclosure of the level float": (ENCLOSED | {("level",): "float"}, "unknown field 'enclosure'"),
    "an enclosure of the level rigorous": (ENCLOSED | {("level",): "rigorous"}, "unknown field 'enclosure'"),
    "an undecided enclosure": (UNDECIDED | {("enclosure",): BOX}, "unknown field 'enclosure'"),
    "an enclosure with an optimum": (ENCLOSED | {("claim", "optimum"): "1/2"}, "unknown field 'optimum'"),
    "an enclosure that is a list": (ENCLOSED | {("enclosure",): []}, "enclosure must be an object"),
    "an enclosure without digits": (
        ENCLOSED | {("enclosure",): {k: v for k, v in BOX.items() if k != "digits"}},
        "no field 'digits'",
    ),
    "digits that are no number": (ENCLOSED | {("enclosure",): BOX | {"digits": "many"}}, "enclosure.digits must be"),
    "bits that are no number": (ENCLOSED | {("enclosure",): BOX | {"precision": "x"}}, "enclosure.precision must be"),
    "ends that are a list": (ENCLOSED | {("enclosure",): BOX | {"lower": []}}, "enclosure.lower must be an object"),
    "an upper end that is a list": (ENCLOSED | {("enclosure",): BOX | {"upper": []}}, "enclosure.upper must be"),
    "an end that is no number": (
        ENCLOSED | {("enclosure",): BOX | {"lower": {"coef": ["x"]}}},
        "enclosure.lower.coef is 'x'",
    ),
    "an exact float": ({("level",): "exactly"}, "level must be one of float, rigorous, exact"),
    "an unknown verdict": ({("verdict",): "perhaps"}, "verdict must be one of optimal, infeasible"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    changes, said = REFUSED[name]
    with pytest.raises(CertificateError, match=said):
        read(changes)


def test_the_depth_is_that_of_brackets_outside_of_strings():
    for text in (
        '{"a": [[["b"]]]}',
        '{"a": {"b": {"c": ["d"]}}}',
        '{"[[[[[": "[{", "a": ["]]", "\\"[[[["]}',
        '{"a": [], "b": [], "c": [], "d": []}',
    ):
        with pytest.raises(CertificateError, match="verdict must be"):
            parse(text)
    for text in (
        '{"a": [[[["b"]]]]}',
        '{"a": {"b": {"c": {"d": {}}}}}',
        '{"a": "\\\\", "b": [[[[]]]]}',
        '{"a": [], "b": [[[[]]]]}',
        '{"a": [{"b": [{}]}]}',
    ):
        with pytest.raises(CertificateError, match="nested more than 4 deep"):
            parse(text)


def test_the_length_of_a_text(monkeypatch):
    text = json.dumps(altered("hard", {}))
    monkeypatch.setattr(parsing, "MAX_FILE_CHARACTERS", len(text))
    assert parse(text).model == "hard-margin"
    with pytest.raises(CertificateError, match="longer than"):
        parse(text + " ")


def test_refusals_name_the_field():
    for text, said in (
        ('{"' + "x" * 60 + '": "1", "' + "x" * 60 + '": "2"}', "'" + "x" * 39 + " occurs twice in the same place"),
        ('{"a": "1", "b": "1", "b": "2"}', "'b' occurs twice in the same place"),
        ('{"a": ' + "1" * 30 + "}", "1" * 20 + " stands as a bare number: write numbers as text"),
        ("[]", "the certificate is not a JSON object"),
    ):
        with pytest.raises(CertificateError) as refused:
            parse(text)
        assert str(refused.value) == said
    with pytest.raises(CertificateError, match="the certificate is not JSON: Expecting") as refused:
        parse("{" + "x" * 500)
    assert len(str(refused.value)) <= len("the certificate is not JSON: ") + 80
    with pytest.raises(CertificateError) as refused:
        read({("b" * 60,): "1", ("a" * 60,): "2"})
    assert str(refused.value).startswith("the certificate has an unknown field '" + "a" * 39 + "; it has schema, level")


# ---- the model that a certificate names ---------------------------------------------------------------------


def declared(base, changes):
    problem = BASES[base][0]
    weights = problem.data.weights if problem.data.weighted else None
    return rebuilt(parse(json.dumps(altered(base, changes))), problem.data.samples, problem.data.given, weights)


def test_the_model_is_declared_with_the_parameters_of_the_certificate():
    for base in ("soft", "ridge", "criterion", "loose", "absolute", "through"):
        problem = BASES[base][0]
        assert declared(base, {}).parameters == problem.parameters
        assert type(declared(base, {})) is type(problem)
    assert declared("soft", {("parameters", "C"): "3/4"}).parameters["C"] == 0.75
    assert declared("soft", {("parameters", "C"): "7.5e-1"}).parameters["C"] == 0.75


def test_a_parameter_that_may_be_a_number_or_nothing():
    for C in (None, 0.75):
        problem = cc.KernelSVM([[0.0], [1.0]], [0, 1], kernel="linear", C=C)
        parsed = parse(problem.solve().certificate.to_json())
        assert rebuilt(parsed, [[0.0], [1.0]], [0, 1], None).parameters["C"] == C
    text = problem.solve().certificate.to_json().replace('"C": "0.75"', '"C": "7.5e-1"')
    assert "7.5e-1" in text
    assert rebuilt(parse(text), [[0.0], [1.0]], [0, 1], None).parameters["C"] == 0.75


def test_what_a_model_makes_of_its_parameters_is_what_the_certificate_states(monkeypatch):
    def declared_as(parameters, text="7.5e-1", given=0.75):
        monkeypatch.setattr(rebuilding, "parameters_of", lambda parsed: {"C": given})
        monkeypatch.setattr(rebuilding, "model_class", lambda parsed: lambda X, y, C: Plain(parameters=parameters))
        return rebuilt(parse(json.dumps(altered("hard", {("parameters",): {"C": text}}))), [], [], None)

    assert declared_as({"C": 0.75}).parameters == {"C": 0.75}
    assert declared_as({"C": 0.75}, text="0.75", given="0.75").parameters == {"C": 0.75}
    assert [rebuilding.written_parameter(value) for value in (np.True_, None, "x", 2)] == [True, None, "x", "2.0"]
    for other in ({"C": 0.5}, {"C": None}, {"C": "0.75"}):
        with pytest.raises(CertificateError, match="states the parameter 'C' in a wrong way"):
            declared_as(other)
    with pytest.raises(CertificateError, match="does not state the parameter 'l2'"):
        declared_as({"C": 0.75, "l2": 0.0})


@pytest.mark.parametrize("error", [ValueError, TypeError, OverflowError, MemoryError])
def test_a_model_that_cannot_be_declared_is_refused(monkeypatch, error):
    def refuse(*_, **__):
        raise error("too much")

    monkeypatch.setattr(rebuilding, "parameters_of", lambda parsed: {})
    monkeypatch.setattr(rebuilding, "model_class", lambda parsed: refuse)
    with pytest.raises(CertificateError, match="the model 'hard-margin' cannot be declared so: too much"):
        rebuilt(parse(json.dumps(altered("hard", {}))), [], [], None)


@pytest.mark.parametrize(
    ("base", "changes", "said"),
    [
        ("soft", {("parameters", "C"): "much"}, "the parameter C is 'much'"),
        ("soft", {("parameters", "C"): ...}, "does not state the parameter 'C'"),
        ("soft", {("parameters", "C"): "-1.0"}, "cannot be declared so"),
        ("soft", {("parameters", "C"): True}, "C"),
        ("soft", {("parameters", "loss"): ...}, "does not state the parameter 'loss'"),
        ("soft", {("parameters", "loss"): "absolute"}, "cannot be declared so"),
        ("soft", {("parameters", "intercept"): "1.0"}, "intercept"),
        ("soft", {("parameters", "sample_weight"): "1"}, "has no parameter 'sample_weight'"),
        ("soft", {("parameters", "memory_limit"): "1"}, "has no parameter 'memory_limit'"),
        ("soft", {("parameters", "constraints"): "1"}, "has no parameter 'constraints'"),
        ("soft", {("parameters", "X"): "1"}, "has no parameter 'X'"),
        ("loose", {("parameters", "normalization"): "none"}, "cannot be declared so"),
        ("soft", {("model",): "softer-margin"}, "there is no model 'softer-margin'; there are"),
        ("soft", {("model",): "hard-margin", ("parameters",): {"intercept": True}}, "cannot be declared"),
    ],
)
def test_no_other_model_is_declared(base, changes, said):
    with pytest.raises(CertificateError, match=said):
        declared(base, changes)
    if "no model" not in said:
        assert model_class(parse(json.dumps(altered(base, changes)))).kind == altered(base, changes)["model"]
