"""What a certificate file may hold, to the last digit and the last field, for both verifiers."""

from __future__ import annotations

import json
import sys
from fractions import Fraction as F

import pytest
from certificates import BASES, altered
from stand_alone import alone, plain, stand_alone

import convexcls as cc
from convexcls.proofs.portable import CertificateError, numbers, parsing
from convexcls.proofs.portable.numbers import nearest_double, read_number, read_numbers, write_number

NINES = "9" * 4000
#: Texts and the numbers that they stand for: all that the pattern allows, to the cap on each count.
NUMBERS = {
    "0": F(0),
    "-0": F(0),
    "7": F(7),
    "007": F(7),
    "-7": F(-7),
    "10/4": F(5, 2),
    "-1/3": F(-1, 3),
    "1/10": F(1, 10),
    NINES: F(10**4000 - 1),
    "-" + NINES: F(1 - 10**4000),
    "1/" + NINES: F(1, 10**4000 - 1),
    "0.1": F(0.1),
    "+0.5": F(1, 2),
    "-.5": F(-1, 2),
    "5.": F(5),
    ".5": F(1, 2),
    "1e3": F(1000),
    "1E+3": F(1000),
    "1e-3": F(1e-3),
    "1e-400": F(0),
    "+5": F(5),
    "1e308": F(1e308),
    "5e-324": F(5e-324),
    "0" * 399 + "5.0": F(5),
    "0." + "0" * 399 + "1": F(0),
    "." + "5" * 400: F(float("." + "5" * 400)),
    "1e001": F(10),
}
NO_NUMBERS = [
    NINES + "9",
    "-" + NINES + "9",
    "1/" + NINES + "9",
    "1/01",
    "1/0",
    "1/",
    "/2",
    "0" * 400 + "5.0",
    "0." + "0" * 401,
    "." + "5" * 401,
    "1e0001",
    "1e",
    "1e309",
    "-1e309",
    "+1/2",
    "1/+2",
    "1/2e3",
    ".",
    "",
    " 1",
    "1 ",
    "1\n",
    "e3",
    "--1",
    "٣",
    "-٣",
    "1٣",
    "1/٣",
    "1/1٣",
    "٣.5",
    "0.٣",
    ".٣",
    "1e٣",
    "1e-٣",
    "²",
    "nan",
    "inf",
    "1_0",
    "0x1",
    "1.5.5",
    "+-1",
]


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_what_it_says(text):
    assert alone.numbers([text]) == [NUMBERS[text]]
    assert read_number(text, "it") == NUMBERS[text]


@pytest.mark.parametrize("text", [*NO_NUMBERS, None, True, ["1"], {"0": "1"}, 1, 1.5, ...])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(alone.Refused, match="not written as one") as refused:
        alone.numbers([text])
    assert refused.value.args[1] == 2
    with pytest.raises(CertificateError, match=r"^it is "):
        read_number(text, "it")


def test_the_caps_are_those_of_the_format():
    """verifier/README.md has them."""
    assert (alone.MAX_FILE_CHARACTERS, alone.MAX_DENOMINATOR_BITS) == (64_000_000, 20_000)
    assert (parsing.MAX_FILE_CHARACTERS, numbers.MAX_DENOMINATOR_BITS, numbers.MAX_DIGITS) == (
        64_000_000,
        20_000,
        4_000,
    )
    assert (parsing.MAX_DEPTH, parsing.MAX_SAMPLES, parsing.MAX_NOTES) == (4, 10**8, 100)
    assert F(1, 10_000) == parsing.MAX_TOLERANCE
    assert (parsing.MAX_PRECISION, parsing.MAX_TEXT_CHARACTERS) == (10_000, 2_000)


def test_a_common_denominator_has_at_most_so_many_bits():
    first, second, whole = f"1/{3**6308}", f"1/{5**4304}", 3**6308 * 5**4304
    fits, over = [first, second, "1/343"], [first, second, "1/601"]
    assert ((343 * whole).bit_length(), (601 * whole).bit_length()) == (20_000, 20_001)
    assert alone.numbers(fits) == read_numbers(fits, "it") == [F(text) for text in fits]
    assert alone.numbers([first] * 3) == [F(first)] * 3  # the least common one, not the product
    assert read_numbers([first] * 3, "it") == [F(first)] * 3
    with pytest.raises(alone.Refused, match="common denominator"):
        alone.numbers(over)
    with pytest.raises(CertificateError, match="common denominator"):
        read_numbers(over, "it")


def test_a_number_is_written_as_it_is_read():
    for value, text in (
        (F(1, 2), "0.5"),
        (F(3), "3"),
        (F(1, 3), "1/3"),
        (0.1, "0.1"),
        (2, "2.0"),
        (F(2**1030), str(2**1030)),
    ):
        assert write_number(value) == text
        assert read_number(text, "it") == value
    assert nearest_double(F(2**1023)) is None
    assert nearest_double(F(-(2**1023))) is None
    assert nearest_double(F(2**1023 - 2**971)) == float(2**1023 - 2**971)
    assert nearest_double(F(1, 3)) is None
    assert nearest_double(F(1, 4)) == 0.25
    longest = F(2**13_279, 3)  # 3.32 bits a digit
    assert write_number(longest) == str(longest)
    for over in (F(2**13_281, 3), F(1, 3**8_379 + 2)):
        with pytest.raises(CertificateError, match="more than 4000 digits"):
            write_number(over)


def test_words_show_the_beginning_of_a_long_text():
    for text, shown in (("x" * 40, "'" + "x" * 40 + "'"), ("x" * 41, "'" + "x" * 40 + "...'")):
        with pytest.raises(CertificateError) as refused:
            read_number(text, "it")
        assert f"it is {shown}: it must" in str(refused.value)


# ---- the fields ------------------------------------------------------------------------------------------------


def refused(base, changes, code=2):
    """The words of both refusals; the stand-alone verifier must say that the file is not readable."""
    return refused_text(json.dumps(altered(base, changes)), base, code)


def refused_text(text, base, code=2):
    problem = BASES[base][0]
    rows, labels, weights = plain(problem)
    found = stand_alone(text, rows, labels, weights)
    assert not found[0]
    assert found[2] == code
    ours = cc.verify(text, problem.data.samples, problem.data.given, weights)
    assert not ours.accepted
    return found[1], ours.reasons[0]


FIELDS = ("must have the fields", "field")
ONE_OF, TEXTS = ("must be", "must be"), ("must be a list of text", "must")
NUMBER, BY_ROW, ROW = ("not written as one", " is "), ("given by row", "must"), ("no such row", "")
TOLERANCE, SIZE = ("must lie between 0 and 1/10000", "not above 1/10000"), ("wrong size", "the point must give")

#: name: (certificate, what is altered, words of both refusals)
UNREADABLE = {
    "an unknown field": ("hard", {("more",): "1"}, FIELDS),
    "a missing field": ("hard", {("notes",): ...}, FIELDS),
    "a list with the names of the fields": (
        "hard",
        {("data",): ["sha256", "samples", "features", "labels", "weighted"]},
        FIELDS,
    ),
    "data that are text": ("hard", {("data",): "x"}, FIELDS),
    "an unknown field of the data": ("hard", {("data", "more"): "1"}, FIELDS),
    "a missing field of the data": ("hard", {("data", "weighted"): ...}, FIELDS),
    "no data": ("hard", {("data",): {}}, FIELDS),
    "a claim too many": ("hard", {("claim", "more"): "1"}, FIELDS),
    "no optimum at the level exact": ("hard", {("claim", "optimum"): ...}, FIELDS),
    "an optimum at the level float": ("hard", {("level",): "float"}, FIELDS),
    "no lower end": ("hard", {("claim", "lower"): ...}, FIELDS),
    "a claim of a contradiction": ("meet", {("claim", "lower"): "0"}, FIELDS),
    "a point of a contradiction": ("meet", {("point",): {"coef": ["0"], "intercept": ["0"]}}, FIELDS),
    "a contradiction without multipliers": ("meet", {("farkas",): ...}, FIELDS),
    "an optimum without a point": ("hard", {("point",): ...}, FIELDS),
    "an optimum with a contradiction": ("hard", {("farkas",): {}}, FIELDS),
    "notes that are text": ("hard", {("notes",): "abc"}, TEXTS),
    "a note that is a list": ("hard", {("notes",): ["a", ["b"]]}, TEXTS),
    "a note that is nothing": ("hard", {("notes",): ["a", None]}, TEXTS),
    "labels that are text": ("hard", {("data", "labels"): "01"}, TEXTS),
    "labels that are no text": ("hard", {("data", "labels"): ["0", None]}, TEXTS),
    "real targets with labels": ("real", {("data", "labels"): ["0", "1"]}, ("must be", "other labels")),
    "another schema": ("hard", {("schema",): "convexcls-certificate/1"}, ONE_OF),
    "a schema that is a list": ("hard", {("schema",): ["convexcls-certificate/2"]}, ONE_OF),
    "another level": ("hard", {("level",): "Exact"}, ("must", "must be one of")),
    "a level that is a list": ("hard", {("level",): ["exact"]}, ("must", "must be one of")),
    "another verdict": ("hard", {("verdict",): "Optimal"}, ("must", "must be one of")),
    "a verdict that is an object": ("hard", {("verdict",): {}}, ("must", "must be one of")),
    "another model": ("hard", {("model",): "hard margin"}, ("must", "must be a name")),
    "an unknown model": ("hard", {("model",): "harder-margin"}, ("must", "there is no model")),
    "a model that is a list": ("hard", {("model",): ["hard-margin"]}, ("must", "must be a name")),
    "a model that is nothing": ("hard", {("model",): None}, ("must", "must be a name")),
    "parameters that are a list": ("hard", {("parameters",): ["intercept"]}, ("must have", "parameters must be")),
    "parameters that are text": ("hard", {("parameters",): "intercept"}, ("must have", "parameters must be")),
    "a parameter too many": ("hard", {("parameters", "C"): "1.0"}, ("must have", "no parameter 'C'")),
    "a parameter too few": ("soft", {("parameters", "loss"): ...}, ("must have", "does not state")),
    "an intercept that is text": ("hard", {("parameters", "intercept"): "True"}, ("must be", "")),
    "an intercept that is nothing": ("hard", {("parameters", "intercept"): None}, ("must", "")),
    "a loss that is true": ("soft", {("parameters", "loss"): True}, ("must be", "")),
    "C that is true": ("soft", {("parameters", "C"): True}, ("must be", "")),
    "C of 0": ("soft", {("parameters", "C"): "0.0"}, ("C is out of range", "")),
    "C below 0": ("soft", {("parameters", "C"): "-0.75"}, ("C is out of range", "")),
    "C that is no number": ("soft", {("parameters", "C"): "1/0"}, NUMBER),
    "l2 below 0": ("ridge", {("parameters", "l2"): "-0.5"}, ("l2 is out of range", "")),
    "weights that are text": ("hard", {("data", "weighted"): "False"}, ("must be", "must be true or false")),
    "samples that are a list": ("hard", {("data", "samples"): ["3"]}, ("must be", "must be a whole number")),
    "features that are nothing": ("hard", {("data", "features"): None}, ("must be", "must be a whole number")),
    "a digest that is nothing": ("hard", {("data", "sha256"): None}, ("must be", "hexadecimal")),
    "a tolerance of 0": ("hard", {("tolerance",): "0"}, TOLERANCE),
    "a tolerance below 0": ("hard", {("tolerance",): "-1/10000"}, TOLERANCE),
    "a tolerance of 1/10": ("hard", {("tolerance",): "1/10"}, TOLERANCE),
    "a tolerance above 1/10000": ("hard", {("tolerance",): "1/9999"}, TOLERANCE),
    "a tolerance that is a list": ("hard", {("tolerance",): ["1/10000"]}, ("must be", "is not text")),
    "a tolerance that is no number": ("hard", {("tolerance",): "small"}, NUMBER),
    "a claim that is no number": ("hard", {("claim", "upper"): "1,5"}, NUMBER),
    "a claim that is nothing": ("hard", {("claim", "upper"): None}, ("must be", "is not text")),
    "a coefficient too many": ("hard", {("point", "coef"): ["1", "0", "0"]}, SIZE),
    "a coefficient too few": ("hard", {("point", "coef"): ["1"]}, SIZE),
    "two intercepts": ("hard", {("point", "intercept"): ["-1", "0"]}, SIZE),
    "no intercept": ("hard", {("point", "intercept"): ...}, ("must have the fields", "the point must give")),
    "an intercept where there is none": (
        "through",
        {("point", "intercept"): ["0"]},
        ("must have the fields", "the point must give"),
    ),
    "a coefficient that is a list": ("hard", {("point", "coef"): [["1"], "0"]}, ("list of text", "is not text")),
    "a coefficient that is nothing": ("hard", {("point", "coef"): ["1", None]}, ("list of text", "is not text")),
    "coefficients that are text": ("hard", {("point", "coef"): "10"}, TEXTS),
    "coefficients that are an object": ("hard", {("point", "coef"): {"0": "1", "1": "0"}}, TEXTS),
    "a coefficient that is no number": ("hard", {("point", "coef"): ["1", "zero"]}, NUMBER),
    "an intercept that is no number": ("hard", {("point", "intercept"): ["one"]}, NUMBER),
    "multipliers that are a list": ("hard", {("multipliers",): []}, ("must be", "must be an object")),
    "multipliers that are text": ("hard", {("multipliers",): ""}, ("must be", "must be an object")),
    "a contradiction that is a list": ("meet", {("farkas",): []}, ("must be", "must be an object")),
    "rows that are a list": ("hard", {("multipliers", "margin"): ["1/2"]}, BY_ROW),
    "rows that are text": ("hard", {("multipliers", "margin"): ""}, BY_ROW),
    "an empty list of rows": ("hard", {("multipliers", "margin"): []}, BY_ROW),
    "an unknown block": ("hard", {("multipliers", "slack"): {}}, ("given by row, of margin", "does not exist")),
    "a block where there is none": ("ridge", {("multipliers", "margin"): {}}, ("of none", "does not exist")),
    "an unknown block of a contradiction": ("meet", {("farkas", "slack"): {}}, ("given by row", "no constraint")),
    "a row behind the last": ("hard", {("multipliers", "margin", "3"): "0"}, ROW),
    "a row that counts": ("hard", {("multipliers", "margin", "3"): "1"}, ("no such row", "does not exist")),
    "a row before the first": ("hard", {("multipliers", "margin", "-1"): "0"}, ("no such row", "whole number")),
    "a row with a leading zero": ("hard", {("multipliers", "margin", "01"): "0"}, ("no such row", "whole number")),
    "a row with a blank": ("hard", {("multipliers", "margin", " 1"): "0"}, ("no such row", "whole number")),
    "a row in other digits": ("hard", {("multipliers", "margin", "٢"): "0"}, ("no such row", "whole number")),
    "a row that is a word": ("hard", {("multipliers", "margin", "x"): "0"}, ("no such row", "whole number")),
    "a second normalization": (
        "criterion",
        {("multipliers", "normalization", "1"): "1"},
        ("normalization has no such row", "does not exist"),
    ),
    "a row of a contradiction": ("meet", {("farkas", "margin", "4"): "1"}, ("no such row", "does not have")),
    "a multiplier that is no number": ("hard", {("multipliers", "margin", "0"): "half"}, NUMBER),
    "a multiplier that is nothing": ("hard", {("multipliers", "margin", "0"): None}, NUMBER),
    "a multiplier that is a list": ("hard", {("multipliers", "margin", "0"): ["1/2"]}, NUMBER),
}
#: Rows that do not exist and whose multiplier is 0 are no error of the package, which leaves zeros out.
TAKEN = ("a row behind the last",)


@pytest.mark.parametrize("name", [name for name in UNREADABLE if name not in TAKEN])
def test_fields_of_a_wrong_kind_are_refused(name):
    base, changes, (said, we_said) = UNREADABLE[name]
    words, ours = refused(base, changes)
    assert said in words
    assert we_said in ours


@pytest.mark.parametrize(("base", "name", "text"), [("soft", "C", "3/4"), ("ridge", "l2", "1/2")])
def test_parameters_may_be_written_as_fractions(base, name, text):
    rows, labels, weights = plain(BASES[base][0])
    assert stand_alone(json.dumps(altered(base, {("parameters", name): text})), rows, labels, weights)[0]


def test_a_row_behind_the_last_is_refused_by_the_stand_alone_verifier_whatever_it_holds():
    rows, labels, weights = plain(BASES["hard"][0])
    found = stand_alone(json.dumps(altered("hard", {("multipliers", "margin", "3"): "0"})), rows, labels, weights)
    assert found == (False, "margin has no such row", 2)


#: What the data are said to be, wrongly: name, changes, words.
DESCRIBED = {
    "other samples": ({("data", "samples"): "4"}, ("another number of samples", "speaks of 4 samples")),
    "other features": ({("data", "features"): "3", ("point", "coef"): ["1", "0", "0"]}, ("describes", "3 features")),
    "weights": ({("data", "weighted"): True}, ("describes the data wrongly", "with weights")),
    "labels the other way round": ({("data", "labels"): ["1", "0"]}, ("not feasible", "other labels")),
    "another label": ({("data", "labels"): ["0", "2"]}, ("describes the data wrongly", "other labels")),
    "a label more": ({("data", "labels"): ["0", "1", "2"]}, ("describes the data wrongly", "other labels")),
    "a label twice": ({("data", "labels"): ["0", "0"]}, ("describes the data wrongly", "other labels")),
    "two labels twice": ({("data", "labels"): ["0", "1", "0", "1"]}, ("describes the data wrongly", "other labels")),
    "one label": ({("data", "labels"): ["1"]}, ("describes the data wrongly", "other labels")),
    "no label": ({("data", "labels"): []}, ("describes the data wrongly", "other labels")),
    "another digest": ({("data", "sha256"): "0" * 64}, ("their digests differ", "their digests differ")),
}


@pytest.mark.parametrize("name", DESCRIBED)
def test_data_that_are_described_wrongly_are_refused(name):
    changes, (said, we_said) = DESCRIBED[name]
    words, ours = refused("hard", changes, code=1)
    assert said in words
    assert we_said in ours


def test_weights_that_are_not_told_are_refused():
    words, ours = refused("soft", {("data", "weighted"): False}, code=1)
    assert "describes the data wrongly" in words
    assert "no weights" in ours


def test_text_that_is_no_certificate_is_refused():
    whole = json.dumps(altered("hard", {}))
    for text, said in (
        (whole.replace('{"lower": "1/2"', '{"lower": "1/2", "lower": "1/2"'), ("must have", "occurs twice")),
        (whole.replace('{"schema"', '{"notes": [], "schema"'), ("no field occurs twice", "occurs twice")),
        (whole.replace('"margin": {', '"margin": {"0": "1/2", '), ("given by row", "occurs twice")),
        (whole.replace('"notes": []', '"notes": [1]'), ("list of text", "bare number")),
        (whole.replace('"notes": []', '"notes": [1.5]'), ("list of text", "bare number")),
        (whole.replace('"notes": []', '"notes": [NaN]'), ("list of text", "bare number")),
        (whole.replace('"notes": []', '"notes": [-Infinity]'), ("list of text", "bare number")),
        (whole.replace('"1/10000"', "1e-4"), ("must be", "bare number")),
        (whole + "}", ("not JSON", "not JSON")),
        (whole[:-1], ("not JSON", "not JSON")),
        ("{" + whole, ("not JSON", "not JSON")),
        ('{"a":' * sys.getrecursionlimit(), ("not JSON", "deep")),
    ):
        words, ours = refused_text(text, "hard")
        assert said[0] in words
        assert said[1] in ours
    rows, labels, _ = plain(BASES["hard"][0])
    for text in ("[]", "null", '"x"', "7", "[" + whole + "]"):
        assert stand_alone(text, rows, labels)[1:] == (
            "a certificate is a JSON object in which no field occurs twice",
            2,
        )


def test_what_may_stand_in_a_certificate_is_read():
    """The other side of every cap and choice: notes, zeros, weights of one, a parameter of 0, the loosest tolerance."""
    for base, changes in (
        ("hard", {("notes",): ["a note", ""]}),
        ("hard", {("tolerance",): "1e-300"}),
        ("hard", {("multipliers", "margin", "2"): "0"}),
        ("hard", {("multipliers", "margin", "0"): "0.5"}),
        ("real", {}),
        ("soft", {("parameters", "C"): "7.5e-1"}),
        ("soft", {("parameters", "C"): "+0.75"}),
        ("meet", {("level",): "exact"}),
        ("meet", {("level",): "rigorous"}),
        ("even", {("farkas",): {"normalization": {"0": "-3"}}}),
    ):
        problem = BASES[base][0]
        rows, labels, weights = plain(problem)
        text = json.dumps(altered(base, changes))
        assert stand_alone(text, rows, labels, weights)[0], changes
        assert cc.verify(text, problem.data.samples, problem.data.given, weights).accepted, changes
