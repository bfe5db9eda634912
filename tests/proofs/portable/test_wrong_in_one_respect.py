"""Certificates that are wrong in exactly one respect, one for each check of both verifiers.

Everything else about them is right, so that no other check can notice.
"""

from __future__ import annotations

import json
from fractions import Fraction as F

import pytest
from certificates import BASES, FALSE, altered, at_level
from stand_alone import plain, stand_alone

import convexcls as cc

NOT_EXACT = ("do not prove the claimed optimum exactly", "KKT conditions exactly")
APART = ("that is all that is proved", "further apart than the tolerance")
AWAY = ("that is all that is proved", "too far from being feasible")
CLAIM = ("the claim is another", "does not imply the claim")
NOTHING = ("contradict nothing", "do not cancel")


def margin(*values):
    """Multipliers of the margins, all rows."""
    return {("multipliers", "margin"): {str(i): str(value) for i, value in enumerate(values)}}


def point(*coef, intercept=None):
    changes = {("point", "coef"): [str(v) for v in coef]}
    return changes if intercept is None else changes | {("point", "intercept"): [str(intercept)]}


def claim(**values):
    return {("claim", name): str(value) for name, value in values.items()}


def farkas(*values):
    return {("farkas", "margin"): {str(i): str(value) for i, value in enumerate(values)}}


def floating(base, *changes, level="float"):
    out = at_level(base, level)
    for change in changes:
        out |= change
    return out


def judged(base, changes):
    """What the stand-alone verifier and the package say: accepted, and the words."""
    problem = BASES[base][0]
    text = json.dumps(altered(base, changes))
    rows, labels, weights = plain(problem)
    ours = cc.verify(text, problem.data.samples, problem.data.given, weights)
    return stand_alone(text, rows, labels, weights), ours


TINY = F(1, 10**30)
ROOM = F(1, 20_000)  # of the hard margin, whose optimum is 1/2
SOFT = [F(3, 4), F(3, 2), F(121, 392), F(121, 392), F(3, 4)]
SQUARED = [F(206, 141), F(32, 47), F(104, 141), F(2, 47), F(0)]
FREE = [F(13, 32), F(25, 32), F(0), F(0), F(3, 8)]

#: name: (certificate, what is altered, words of the refusals of the stand-alone verifier and of the package)
WRONG = {
    # the level exact: the bounds agree after a repair, but what is written is not what proves them
    "a negative multiplier": ("hard", margin(F(1, 2), F(1, 2), -1), NOT_EXACT),
    "a class too heavy": ("hard", margin(F(1, 2), 1, 0), NOT_EXACT),
    "the other class too heavy": ("hard", margin(1, F(1, 2), 0), NOT_EXACT),
    "a multiple of the multipliers": ("hard", margin(1, 1, 0), NOT_EXACT),
    "a multiple of the point": ("hard", point(2, 0, intercept=-2), NOT_EXACT),
    "half the point": ("hard", point(F(1, 2), 0, intercept=F(-1, 2)), NOT_EXACT),
    "a feasible point that is not the solution": ("hard", point(1, 1, intercept=-1), NOT_EXACT),
    "the same, and its objective as claim": (
        "hard",
        point(1, 1, intercept=-1) | claim(lower=1, upper=1, optimum=1),
        NOT_EXACT,
    ),
    "another lower end": ("hard", claim(lower=F(1, 2) - TINY), NOT_EXACT),
    "another upper end": ("hard", claim(upper=F(1, 2) + TINY), NOT_EXACT),
    "another optimum": ("hard", claim(optimum=F(1, 2) + TINY), NOT_EXACT),
    "another claim altogether": ("hard", claim(lower=1, upper=1, optimum=1), NOT_EXACT),
    "no intercept: a negative multiplier": ("through", margin(1, -1), NOT_EXACT),
    "no intercept: multipliers of the other row": ("through", margin(0, F(1, 2)), NOT_EXACT),
    "a multiplier above its cap": ("soft", margin(SOFT[0], 2, *SOFT[2:]), NOT_EXACT),
    "a negative multiplier beside caps": ("free", margin(*FREE[:2], -1, *FREE[3:]), NOT_EXACT),
    "caps: a class too heavy": ("soft", margin(*SOFT[:3], F(3, 8), SOFT[4]), NOT_EXACT),
    "caps: another intercept": ("soft", point(F(-2, 7), intercept=F(1, 6)), NOT_EXACT),
    "a point that is its solution when stretched": ("pair", point(1 - F(1, 10**6)), NOT_EXACT),
    "a multiplier of a sample that weighs nothing": ("squared", margin(*SQUARED[:4], 1), NOT_EXACT),
    "squares: a negative multiplier": ("squared", margin(*SQUARED[:4], -1), NOT_EXACT),
    "squares: another point": ("squared", point(F(14, 141), intercept=F(80, 141)), NOT_EXACT),
    "squares: other multipliers": ("squared", margin(F(207, 141), F(33, 47), *SQUARED[2:]), NOT_EXACT),
    "ridge: another point": ("ridge", point(F(10, 21), intercept=F(-1, 21)), NOT_EXACT),
    "ridge: another point, its objective as claim": (
        "ridge",
        point(F(10, 21), intercept=F(1, 21))
        | claim(lower=F(19, 21) + F(2, 49), upper=F(19, 21) + F(2, 49), optimum=F(19, 21) + F(2, 49)),
        NOT_EXACT,
    ),
    "above and below do not add up": (
        "absolute",
        {("multipliers", "residual_above", "0"): "2", ("multipliers", "residual_below", "0"): "1"},
        ("above + below != weight", "KKT conditions exactly"),
    ),
    "above and below beyond their ranges": (
        "absolute",
        {("multipliers", "residual_above", "0"): "2", ("multipliers", "residual_below", "0"): "-1"},
        NOT_EXACT,
    ),
    "above and below beyond their ranges on the other side": (
        "absolute",
        {
            ("multipliers", "residual_above", "1"): "1/6",
            ("multipliers", "residual_above", "0"): "1",
            ("multipliers", "residual_above", "2"): "3",
            ("multipliers", "residual_below", "2"): "-2",
        },
        NOT_EXACT,
    ),
    "above and below that do not cancel": (
        "absolute",
        {("multipliers", "residual_above", "3"): "1/4", ("multipliers", "residual_below", "3"): "3/4"},
        NOT_EXACT,
    ),
    "absolute: another point": ("absolute", point(0, intercept=F(9, 10)), NOT_EXACT),
    "perceptron: a multiplier above its weight": ("criterion", {("multipliers", "margin", "2"): "2"}, NOT_EXACT),
    "perceptron: a negative multiplier": ("criterion", {("multipliers", "margin", "0"): "-1"}, NOT_EXACT),
    "perceptron: a multiple of the point": ("criterion", point(F(10, 3), intercept=0), NOT_EXACT),
    "perceptron: another multiplier of the normalization": (
        "criterion",
        {("multipliers", "normalization", "0"): "-9/10"},
        NOT_EXACT,
    ),
    "perceptron: another point": ("criterion", point(0, intercept=5), NOT_EXACT),
    "no normalization: a point on the wrong side": ("loose", point(1, intercept=-1), NOT_EXACT),
    "no normalization: a multiplier above its weight": ("loose", margin(2, 0, 0, 0), NOT_EXACT),
    # the levels float and rigorous: each condition alone
    "bounds too far apart": (
        "hard",
        floating("hard", point(1, F(1, 10), intercept=-1), claim(upper=F(101, 200))),
        APART,
    ),
    "a point twice as far": ("hard", floating("hard", point(2, 0, intercept=-2)), AWAY),
    "a point half as far": ("hard", floating("hard", point(F(1, 2), 0, intercept=F(-1, 2))), AWAY),
    "a perceptron twice as far": ("criterion", floating("criterion", point(F(10, 3), intercept=0)), AWAY),
    "a lower end too low": ("hard", floating("hard", claim(lower=F(1, 2) - ROOM - TINY)), CLAIM),
    "a lower end too high": ("hard", floating("hard", claim(lower=F(1, 2) + ROOM + TINY)), CLAIM),
    "an upper end too low": ("hard", floating("hard", claim(upper=F(1, 2) - ROOM - TINY)), CLAIM),
    "an upper end too high": ("hard", floating("hard", claim(upper=F(1, 2) + ROOM + TINY)), CLAIM),
    "a rigorous lower end too high": ("hard", floating("hard", claim(lower=F(1, 2) + TINY), level="rigorous"), CLAIM),
    "a rigorous upper end too low": ("hard", floating("hard", claim(upper=F(1, 2) - TINY), level="rigorous"), CLAIM),
    "a rigorous lower end too low": (
        "hard",
        floating("hard", claim(lower=F(1, 2) - ROOM - TINY), level="rigorous"),
        CLAIM,
    ),
    "a rigorous upper end too high": (
        "hard",
        floating("hard", claim(upper=F(1, 2) + ROOM + TINY), level="rigorous"),
        CLAIM,
    ),
    "a point on the wrong side": (
        "hard",
        floating("hard", point(-1, 0, intercept=1)),
        ("not feasible", "no bound of the optimum from above"),
    ),
    "a point that is nothing": (
        "hard",
        floating("hard", point(0, 0, intercept=0)),
        ("not feasible", "no bound of the optimum from above"),
    ),
    "a perceptron on the wrong side": (
        "criterion",
        floating("criterion", point(F(-5, 3), intercept=0)),
        ("not feasible", ""),
    ),
    "a perceptron that is nothing": ("criterion", floating("criterion", point(0, intercept=0)), ("not feasible", "")),
    "no multipliers": ("hard", floating("hard", {("multipliers",): {}}, claim(lower=0)), APART),
    # contradictions
    "a negative multiplier of a contradiction": ("apart", {}, ("contradict nothing", "is negative")),
    "a contradiction of nothing": ("meet", {("farkas",): {"margin": {}}}, ("contradict nothing", "do not contradict")),
    "a contradiction of no block": ("meet", {("farkas",): {}}, ("contradict nothing", "do not contradict")),
    "features that do not cancel": ("meet", farkas(2, 3, 1, 0), NOTHING),
    "an intercept that does not cancel": ("meet", farkas(0, 2, 1, 0), NOTHING),
    "weights that are no contradiction": (
        "criterion",
        {
            ("verdict",): "infeasible",
            ("claim",): {},
            ("point",): ...,
            ("multipliers",): ...,
            ("farkas",): {"normalization": {"0": "-1"}},
        },
        NOTHING,
    ),
    "nothing is normalized": (
        "loose",
        {
            ("verdict",): "infeasible",
            ("claim",): {},
            ("point",): ...,
            ("multipliers",): ...,
            ("farkas",): {"margin": {}},
        },
        ("contradict nothing", "do not contradict"),
    ),
    "nothing is infeasible with slacks": (
        "soft",
        {
            ("verdict",): "infeasible",
            ("claim",): {},
            ("point",): ...,
            ("multipliers",): ...,
            ("farkas",): {"margin": {"0": "1"}},
        },
        NOTHING,
    ),
}

#: What is as far off as it may be, and accepted: a check that were stricter would be noticed here.
RIGHT = {
    "the lowest lower end": ("hard", floating("hard", claim(lower=F(1, 2) - ROOM))),
    "the highest lower end": ("hard", floating("hard", claim(lower=F(1, 2) + ROOM))),
    "the lowest upper end": ("hard", floating("hard", claim(upper=F(1, 2) - ROOM))),
    "the highest upper end": ("hard", floating("hard", claim(upper=F(1, 2) + ROOM))),
    "rigorous ends": ("hard", floating("hard", claim(lower=F(1, 2) - ROOM, upper=F(1, 2) + ROOM), level="rigorous")),
    "bounds as far apart as the tolerance": (
        "hard",
        floating("hard", point(1, F(1, 200), intercept=-1), {("tolerance",): "1/40001"}, claim(upper=F(40001, 80000))),
    ),
    "a point as far as the tolerance": (
        "hard",
        floating("hard", point(F(30001, 30000), 0, intercept=F(-30001, 30000)), {("tolerance",): "60001/900000000"}),
    ),
    "a point as near as the tolerance": (
        "hard",
        floating("hard", point(F(29999, 30000), 0, intercept=F(-29999, 30000)), {("tolerance",): "59999/900000000"}),
    ),
    "a contradiction with zeros": ("meet", farkas(1, 2, 1, 0)),
}
#: The same a little further off.
FURTHER = {
    "bounds as far apart as the tolerance": ({("tolerance",): "1/40002"}, APART),
    "a point as far as the tolerance": ({("tolerance",): "60000/900000000"}, AWAY),
    "a point as near as the tolerance": ({("tolerance",): "59998/900000000"}, AWAY),
}


@pytest.mark.parametrize("base", [name for name in BASES if name not in FALSE])
def test_what_is_right_is_accepted(base):
    alone, ours = judged(base, {})
    assert alone[0], alone
    assert ours.accepted, ours.reasons
    if altered(base, {})["verdict"] == "optimal":
        optimum = F(altered(base, {})["claim"]["optimum"])
        assert alone[2:] == (ours.lower, ours.upper) == (optimum, optimum)
        for level in ("float", "rigorous"):
            alone, ours = judged(base, at_level(base, level))
            assert alone[0], alone
            assert ours.accepted, ours.reasons
            assert alone[2:] == (ours.lower, ours.upper) == (optimum, optimum)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_one_respect_is_refused(name):
    base, changes, (said, we_said) = WRONG[name]
    alone, ours = judged(base, changes)
    assert not alone[0]
    assert said in alone[1]
    assert alone[2] == 1
    assert not ours.accepted
    assert we_said in ours.reasons[0]


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_as_far_off_as_it_may_be_is_accepted(name):
    base, changes = RIGHT[name]
    alone, ours = judged(base, changes)
    assert alone[0], alone
    assert ours.accepted, ours.reasons
    if name in FURTHER:
        further, (said, we_said) = FURTHER[name]
        alone, ours = judged(base, changes | further)
        assert said in alone[1]
        assert we_said in ours.reasons[0]


# ---- what the stand-alone verifier asks of the parts of a file ----------------------------------------------------


def read_alone(base, **parts):
    """What it says of a certificate with other parts: accepted, reason, exit code."""
    problem = BASES[base][0]
    text = json.dumps(altered(base, {}) | parts)
    rows, labels, weights = plain(problem)
    return stand_alone(text, rows, labels, weights)


@pytest.mark.parametrize("data", [[], "data", None, 1])
def test_data_that_are_no_object_are_refused(data):
    accepted, reason, code = read_alone("hard", data=data)
    assert (accepted, code) == (False, 2)
    assert "data" in reason


@pytest.mark.parametrize("columns", [{"x1": ["number"], "x2": ["levels", "a", "b"]}, {"x1": ["levels", "a"]}, [], "x1"])
def test_a_coding_of_anything_but_numbers_is_refused(columns):
    accepted, reason, code = read_alone("hard", coding={"columns": columns})
    assert (accepted, code) == (False, 2)
    assert "the columns of the table are coded" in reason


def test_a_coding_of_numbers_is_taken():
    assert read_alone("hard", coding={"columns": {"x1": ["number"], "x2": ["number"]}})[0]
    assert read_alone("hard", coding={})[0]


@pytest.mark.parametrize(("C", "in_range"), [(2**1023, False), (2**1023 - 1, True), (2**1022, True), (0, False)])
def test_parameters_beyond_doubles_are_refused(C, in_range):
    """One in range is refused for another reason: the claim is that of another C."""
    changed = altered("soft", {})["parameters"] | {"C": str(C)}
    accepted, reason, _ = read_alone("soft", parameters=changed)
    assert not accepted
    assert ("out of range" in reason) is not in_range
