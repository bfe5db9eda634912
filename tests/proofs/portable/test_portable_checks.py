"""What the package's verifier makes of a certificate: contradictions, directions, boxes, slacks, digests and words."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest
from certificates import BASES, altered, at_level, certificate
from scipy import sparse

import convexcls as cc
from convexcls.data import check_data
from convexcls.proofs.claims import direction as directions
from convexcls.proofs.claims import farkas
from convexcls.proofs.claims.direction import check_in_rationals
from convexcls.proofs.portable import certificate_dict, data_digest, parse, text_digest
from convexcls.proofs.portable import verification as verification_module
from convexcls.proofs.portable.checks import (
    all_multipliers,
    check_claim,
    flat_lines,
    kept_names,
    multiplier_arrays,
    slack_names,
    with_flat_lines,
    with_slacks,
)
from convexcls.proofs.portable.digest import label_text, label_texts
from convexcls.proofs.portable.text_digest import entry_text
from convexcls.proofs.portable.verification import Verification, speaks_of
from convexcls.rows import DiagonalRows

X, Y = [[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]


def program(linear=(0.0, 0.0), **parts):
    """A small problem over x with two entries."""
    return cc.Problem("small", [cc.Variable("x", 2, "x")], linear={"x": list(linear)}, **parts)


def below(name, rows, rhs, relation="<="):
    return cc.Constraint(name, {"x": rows}, rhs=rhs, relation=relation)


# ---- contradictions ---------------------------------------------------------------------------------------------

#: x_1 <= 0, x_2 <= 0, x_1 + x_2 = 1.
NEVER = program(constraints=[below("sign", [[1.0, 0.0], [0.0, 1.0]], 0.0), below("sum", [[1.0, 1.0]], 1.0, "==")])


@pytest.mark.parametrize(
    ("multipliers", "said"),
    [
        ({"sign": {0: F(1), 1: F(1)}, "sum": {0: F(-1)}}, ""),
        ({"sum": {0: F(-2)}, "sign": {1: F(2), 0: F(2)}}, ""),
        ({"sign": {0: F(-1), 1: F(-1)}, "sum": {0: F(1)}}, "a multiplier of 'sign' is negative"),
        ({"sign": {0: F(1), 1: F(-1)}, "sum": {0: F(-1)}}, "a multiplier of 'sign' is negative"),
        ({"sign": {0: F(1), 2: F(1)}, "sum": {0: F(-1)}}, "for a row that 'sign' does not have"),
        ({"sign": {0: F(1), -1: F(1)}, "sum": {0: F(-1)}}, "for a row that 'sign' does not have"),
        ({"other": {0: F(1)}}, "there is no constraint 'other'"),
        ({"sign": {0: F(1), 1: F(1)}, "sum": {0: F(-2)}}, "do not cancel"),
        ({"sign": {0: F(1)}, "sum": {0: F(-1)}}, "do not cancel"),
        ({"sign": {0: F(0)}}, "do not contradict each other"),
        ({}, "do not contradict each other"),
    ],
)
def test_a_contradiction_is_one_exactly(multipliers, said):
    assert said in farkas.check(NEVER, multipliers)
    assert bool(said) == bool(farkas.check(NEVER, multipliers))


def test_constraints_that_hold_contradict_nothing():
    """x_1 + x_2 = -1 is possible: what is added up is 0 <= 1, and with other right-hand sides 0 <= 0."""
    for total, said in ((-1.0, "do not contradict"), (0.0, "do not contradict"), (1.0, "")):
        problem = program(constraints=[NEVER.constraints[0], below("sum", [[1.0, 1.0]], total, "==")])
        found = farkas.check(problem, {"sign": {0: F(1), 1: F(1)}, "sum": {0: F(-1)}})
        assert said in found
        assert bool(found) == bool(said)


def test_contradictions_are_written_so_that_they_cancel_exactly():
    """Rounded multipliers are moved onto the ones that cancel; those that may be negative stay so."""
    rounded = {"sign": np.array([1 / 3, 1 / 3 + 1e-16]), "sum": np.array([-1 / 3 - 2e-16])}
    exact = farkas.nearby_exact(NEVER, rounded)
    assert farkas.check(NEVER, exact) == ""
    assert {abs(value) for rows in exact.values() for value in rows.values()} == {abs(F(float(rounded["sum"][0])))}
    # rows that are not used are left out, and so are blocks without multipliers
    tenths = cc.HardMarginSVM([[0.1], [0.3], [0.7], [9.0]], [0, 1, 0, 0])
    exact = farkas.nearby_exact(tenths, {"margin": np.array([2 / 3, 1.0, 1 / 3, 0.0])})
    assert sorted(exact["margin"]) == [0, 1, 2]
    assert farkas.check(tenths, exact) == ""
    # where only 0 cancels, or what cancels is negative, the numbers stay as they are
    apart = cc.HardMarginSVM([[0.0], [1.0], [3.0]], [0, 1, 1])
    assert farkas.nearby_exact(apart, {"margin": np.array([2.0, 3.0, 1.0])}) == {"margin": {0: 2, 1: 3, 2: 1}}
    assert farkas.nearby_exact(apart, {"margin": np.array([0.0, 3.0, 1.0])}) == {"margin": {1: 3, 2: 1}}
    assert farkas.nearby_exact(apart, {}) == {}
    # one of an equation is solved for, too, and one that has to be 0 becomes 0
    exact = farkas.nearby_exact(NEVER, {"sign": np.array([1 / 3 + 2e-16, 1 / 3]), "sum": np.array([-1 / 3])})
    assert farkas.check(NEVER, exact) == ""
    alone = program(constraints=[NEVER.constraints[0], below("sum", [[1.0, 0.0]], 1.0, "==")])
    exact = farkas.nearby_exact(alone, {"sign": np.array([1.0, 1e-20]), "sum": np.array([-1.0])})
    assert exact == {"sign": {0: 1, 1: 0}, "sum": {0: -1}}


def test_what_is_too_large_is_written_as_it_was_found(monkeypatch):
    rounded = {"sign": np.array([1 / 3, 1 / 3 + 1e-16]), "sum": np.array([-1 / 3 - 2e-16])}
    as_found = {"sign": {0: F(1 / 3), 1: F(1 / 3 + 1e-16)}, "sum": {0: F(-1 / 3 - 2e-16)}}
    assert farkas.MAX_NEARBY_ENTRIES == 40_000
    for largest, found in ((6, False), (5, True)):  # three multipliers of rows with two entries
        monkeypatch.setattr(farkas, "MAX_NEARBY_ENTRIES", largest)
        assert (farkas.nearby_exact(NEVER, rounded) == as_found) is found

    def falling(rows):
        variables = [cc.Variable("x", 3, "x")]
        return cc.Problem("p", variables, linear={"x": [-1.0, 0.0, 0.0]}, constraints=[below("cap", rows, 1.0)])

    way, row = np.array([3.0, -1.0, 0.0]), [0.1, 0.3, 0.2]
    assert F(0.1) * 3 != F(0.3)
    for largest, count, found in ((9, 1, False), (8, 1, True), (9, 300, False), (9, 301, True)):
        monkeypatch.setattr(directions, "MAX_EXACT_MATRIX_ENTRIES", largest)
        exact = directions.nearby_exact(falling([row] * count), way)["x"]
        assert exact[:2] == [3, -1]
        assert (exact[2] == 0) is found
        assert found or sum(F(a) * b for a, b in zip(row, exact, strict=True)) == 0


# ---- directions -------------------------------------------------------------------------------------------------


def falls(problem, *d):
    """Why the direction d of x, or of what the variables are, proves nothing."""
    sizes, out, start = [(v.name, v.size) for v in problem.variables], {}, 0
    for name, size in sizes:
        out[name], start = [F(value) for value in d[start : start + size]], start + size
    return check_in_rationals(problem, out)


def test_a_direction_is_one_exactly():
    slope = program((-1.0, 0.0))
    assert falls(slope, 1, 0) == falls(slope, 1, 5) == ""
    assert "does not fall" in falls(slope, 0, 1)
    assert "does not fall" in falls(slope, -1, 0)
    assert "does not fall" in falls(slope, 0, 0)
    for wrong in ({}, {"x": [F(1)]}, {"x": [F(1)] * 3}, {"y": [F(1)] * 2}, {"x": [F(1)] * 2, "y": [F(1)]}):
        assert "one number for every unknown" in check_in_rationals(slope, wrong)
    curved = program((-1.0, 0.0), quadratic={"x": [1.0, 0.0]})
    assert "curves along 'x'" in falls(curved, 1, 0)
    assert falls(program((-1.0, 0.0), quadratic={"x": [0.0, 1.0]}), 1, 0) == ""
    assert "curves along 'x'" in falls(program((-1.0, 0.0), quadratic={"x": [0.0, 1.0]}), 1, 1)
    ball = cc.NormBound("ball", {"x": np.eye(2)}, bound=1.0)
    assert "no norm bound" in falls(program((-1.0, 0.0), norm_bounds=[ball]), 1, 0)
    matrix = program((-1.0, 0.0), quadratic={"x": np.array([[1.0, -1.0], [-1.0, 1.0]])})
    assert falls(matrix, 1, 1) == ""
    assert "curves along 'x'" in falls(matrix, 1, 1 + F(1, 2**80))
    assert "curves along 'x'" in falls(matrix, 1, 0)
    held = program((-1.0, 0.0), constraints=[below("cap", [[0.0, 0.0], [1.0, -1.0]], 1.0)])
    assert "leaves the constraint 'cap' at row 1" in falls(held, 1, 0)
    assert falls(held, 1, 1) == falls(held, 1, 2) == ""
    tied = program((-1.0, 0.0), constraints=[below("tie", [[1.0, -1.0]], 1.0, "==")])
    assert "leaves the constraint 'tie' at row 0" in falls(tied, 1, 0)
    assert "leaves the constraint 'tie' at row 0" in falls(tied, 1, 2)
    assert falls(tied, 1, 1) == ""
    ties = program((-1.0, 0.0), constraints=[below("tie", [[0.0, 0.0], [-1.0, 0.0]], 1.0, "==")])
    assert "leaves the constraint 'tie' at row 1" in falls(ties, 1, 0)
    both = program((-1.0, 0.0), constraints=[held.constraints[0], tied.constraints[0]])
    assert falls(both, 1, 1) == ""
    assert "'tie'" in falls(both, 1, 2)


def test_losses_along_a_direction():
    def losses(loss, linear=(0.0, 0.0), rows=((1.0, 0.0), (1.0, 1.0)), weights=1.0, **more):
        term = cc.Term("loss", {"x": np.array(rows)}, loss=loss, weights=weights)
        return program(linear, terms=[term], **more)

    logistic = losses(cc.losses.Logistic())
    assert falls(logistic, 1, 0) == falls(logistic, 1, -1) == falls(logistic, 0, 1) == ""
    assert "a loss of 'loss' rises" in falls(logistic, -1, 0)
    assert "a loss of 'loss' rises" in falls(logistic, 1, -2)
    assert "does not fall" in falls(logistic, 0, 0)
    assert falls(losses(cc.losses.Logistic(), (-1.0, 0.0)), 1, 0) == ""
    assert "does not fall" in falls(losses(cc.losses.Logistic(), (1.0, 0.0)), 1, 0)
    assert falls(losses(cc.losses.Logistic(), (0.0, 1.0)), 1, 0) == ""
    weightless = losses(cc.losses.Logistic(), weights=[1.0, 0.0])
    assert falls(weightless, 1, -2) == ""
    assert "does not fall" in falls(weightless, 0, 1)
    squares = losses(cc.losses.HalfSquare(), (0.0, -1.0), rows=((1.0, 0.0),))
    assert falls(squares, 0, 1) == ""
    several = losses(cc.losses.HalfSquare(), (0.0, -1.0), rows=((1.0, 0.0), (0.0, 0.0)))
    for way in ((1, 1), (-1, 1)):
        assert "a loss of 'loss' rises" in falls(squares, *way)
        assert "a loss of 'loss' rises" in falls(several, *way)

    class Flat(cc.losses.Logistic):
        slopes = (0.0, 0.0)

    class Rising(cc.losses.Logistic):
        slopes = (0.0, 1.0)

    assert "does not fall" in falls(losses(Flat()), 1, 0)
    assert falls(losses(Rising()), -1, 0) == ""
    assert "a loss of 'loss' rises" in falls(losses(Rising()), 1, 0)
    two = [
        cc.Term(name, {"x": [row]}, loss=cc.losses.Logistic())
        for name, row in (("one", [1.0, 0.0]), ("two", [0.0, 1.0]))
    ]
    pair = program(terms=two)
    assert falls(pair, 1, 0) == falls(pair, 0, 1) == ""
    assert "a loss of 'two' rises" in falls(pair, 1, -1)
    assert "a loss of 'one' rises" in falls(pair, -1, 1)


def test_directions_are_written_so_that_what_stays_stays_exactly():
    rows = [[0.1, 0.3], [0.2, 0.6], [1.0, 0.0]]
    problem = program((-1.0, 0.0), constraints=[below("cap", rows[:1], 1.0)])
    exact = directions.nearby_exact(problem, np.array([3.0, -1.0]))
    assert F(0.1) * exact["x"][0] + F(0.3) * exact["x"][1] == 0
    assert exact["x"][0] == 3  # the larger entry is kept
    for scale in (1.0, 2.0**40):
        signed = program((-1.0, 0.0), constraints=[below("cap", [[0.1 * scale, -0.3 * scale]], 1.0)])
        exact = directions.nearby_exact(signed, np.array([3.0, 1.0]))
        assert F(0.1) * exact["x"][0] == F(0.3) * exact["x"][1]
    assert directions.nearby_exact(program((-1.0, 0.0)), np.array([0.1, 0.5])) == {"x": [F(0.1), F(0.5)]}
    moving = program((-1.0, 0.0), constraints=[below("cap", [[-1.0, 0.0]], 1.0)])
    assert directions.nearby_exact(moving, np.array([0.1, 0.5])) == {"x": [F(0.1), F(0.5)]}
    every = program((-1.0, 0.0), constraints=[below("cap", [[0.1, 0.3], [0.1, 0.3 + 1e-16]], 1.0)])
    assert directions.nearby_exact(every, np.array([3.0, -1.0])) == {"x": [3, -1]}  # only 0 stays: as it was


# ---- what is claimed --------------------------------------------------------------------------------------------


def verdict(problem, inner, X=X, y=Y, weights=None):
    found = cc.verify(json.dumps(inner), X, y, weights)
    return found.reasons[0] if found.reasons else ""


@pytest.fixture(scope="module")
def falling():
    """A certificate of a likelihood without a maximum."""
    problem = cc.LogisticMLE(X, Y)
    return problem, certificate_dict(problem.solve().certificate)


def test_a_likelihood_without_a_maximum(falling):
    problem, inner = falling
    inner["direction"] = {"coef": ["1"], "intercept": ["0"]}
    assert verdict(problem, inner) == ""
    inner["direction"] = {"coef": ["1"], "intercept": ["3"]}
    assert "rises along the direction" in verdict(problem, inner)
    inner["direction"] = {"coef": ["0"], "intercept": ["0"]}
    assert "does not fall" in verdict(problem, inner)
    for wrong in (
        {"coef": ["1"]},
        {"coef": ["1", "1"], "intercept": ["0"]},
        {"coef": ["1"], "intercept": ["0"], "more": []},
    ):
        assert "one number for every unknown" in verdict(problem, inner | {"direction": wrong})


def test_directions_of_other_problems():
    """Softmax and margins are checked in doubles; an attained minimum has no direction."""
    three = [0, 1, 2, 2]
    problem = cc.SoftmaxMLE(X, three)
    inner = certificate_dict(problem.solve().certificate)
    assert inner["verdict"] == "unattained"
    assert verdict(problem, inner, X, three) == ""
    flipped = {name: [str(-F(v)) for v in values] for name, values in inner["direction"].items()}
    assert "rises along" in verdict(problem, inner | {"direction": flipped}, X, three)
    for wrong in (
        {},
        {**inner["direction"], "more": ["0"]},
        {name: values[1:] for name, values in inner["direction"].items()},
    ):
        assert "one number for every unknown" in verdict(problem, inner | {"direction": wrong}, X, three)
    ridge = BASES["ridge"][0]
    changes = {("verdict",): "unattained", ("claim",): {}, ("point",): ..., ("multipliers",): ...}
    for way in (["1"], ["0"], ["-1"]):
        inner = altered("ridge", changes | {("direction",): {"coef": way, "intercept": ["1"]}})
        assert verdict(ridge, inner, ridge.data.samples, ridge.data.given, ridge.data.weights)
    kernel = cc.KernelSVM(X, Y, kernel="linear", C=1.0)
    inner = certificate_dict(kernel.solve().certificate)
    for name in ("point", "multipliers"):
        del inner[name]
    names = {v.name: ["1"] * v.size for v in kernel.variables}
    assert verdict(kernel, inner | {"verdict": "unattained", "claim": {}, "direction": names})


def test_directions_that_are_checked_in_doubles():
    """Gaussian classes on a line: the covariance shrinks across it for ever. Other problems have no such way."""
    Z, y = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], [0, 1, 0, 1]
    problem = cc.GaussianMLE(Z, y)
    inner = certificate_dict(problem.solve().certificate)
    assert inner["verdict"] == "unattained"
    way = {"precision": ["1", "-1", "1"], "natural_mean": ["0"] * 4, "corner": ["0"] * 3}
    assert verdict(problem, inner | {"direction": way}, Z, y) == ""
    for wrong in (["1", "1", "1"], ["-1", "1", "-1"], ["0", "0", "0"]):
        assert "does not fall" in verdict(problem, inner | {"direction": way | {"precision": wrong}}, Z, y)
    sizes = "one number for every unknown"
    assert sizes in verdict(problem, inner | {"direction": way | {"precision": ["1", "-1"]}}, Z, y)
    assert sizes in verdict(problem, inner | {"direction": way | {"more": []}}, Z, y)
    for other, said in (
        (cc.KernelSVM(X, Y, kernel="linear", C=1.0), "curves along 'margin'"),
        (cc.MaxMargin(X, Y), "does not fall"),
    ):
        inner = certificate_dict(other.solve().certificate)
        for name in ("point", "multipliers"):
            del inner[name]
        inner |= {"verdict": "unattained", "claim": {}}
        assert sizes in verdict(other, inner | {"direction": {"coef": []}})
        ones = {v.name: ["1"] * v.size for v in other.variables}
        assert said in verdict(other, inner | {"direction": ones})


def test_the_unit_counts_where_the_optimum_is_zero():
    rows = {"residual_above": {i: F(1, 2) for i in range(3)}, "residual_below": {i: F(1, 2) for i in range(3)}}
    Z, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
    problem = cc.LeastAbsolute(Z, y, coding="real")
    inner = certificate(problem, 0, {"coef": [2], "intercept": [1]}, rows, level="float")
    room = F(problem.unit) / 10_000
    for end in ("lower", "upper"):
        for by, accepted in ((room, True), (-room, True), (room + F(1, 10**20), False), (-room - F(1, 10**20), False)):
            claim = {"lower": "0", "upper": "0", end: str(by)}
            assert (verdict(problem, inner | {"claim": claim}, Z, y) == "") is accepted


def test_an_enclosure_is_one():
    pytest.importorskip("flint")
    Z, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    problem = cc.LogisticMLE(Z, y)
    inner = certificate_dict(problem.solve(level="exact").certificate)
    found = cc.verify(json.dumps(inner), Z, y)
    assert found.accepted, found.reasons
    assert (found.lower, found.upper) == tuple(parse(json.dumps(inner)).claim[name] for name in ("lower", "upper"))
    lower, upper = found.lower, found.upper
    box = inner["enclosure"]

    def moved(end, name, by):
        return {**box, end: {**box[end], name: [str(F(box[end][name][0]) + by)]}}

    assert "not proved to contain" in verdict(
        problem, inner | {"claim": {"lower": str(upper), "upper": str(upper)}}, Z, y
    )
    assert "not proved to contain" in verdict(
        problem, inner | {"claim": {"lower": str(lower), "upper": str(lower)}}, Z, y
    )
    for end, by in (("lower", F(1, 100)), ("upper", F(-1, 100))):
        assert verdict(problem, inner | {"enclosure": moved(end, "coef", by)}, Z, y)
    for wrong in (
        {**box, "lower": {"coef": box["lower"]["coef"]}},
        {**box, "upper": {"coef": box["upper"]["coef"]}},
        {**box, "lower": {**box["lower"], "coef": []}},
        {**box, "upper": {**box["upper"], "more": []}},
    ):
        assert "an interval for every unknown" in verdict(problem, inner | {"enclosure": wrong}, Z, y)


def test_a_model_that_is_maximised():
    """The widest margin: bounds and claim are those of the maximum."""
    problem = cc.MaxMargin(*(np.array([[0.0, 0.0], [2.0, 0.0], [3.0, 1.0]]), [0, 1, 1]))
    Z, y = problem.data.samples, problem.data.given
    inner = certificate_dict(problem.solve().certificate)
    found = cc.verify(json.dumps(inner), Z, y)
    assert found.accepted, found.reasons
    assert found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-8
    room = F(inner["tolerance"])
    for name in ("lower", "upper"):
        for by, accepted in ((room / 2, True), (-room / 2, True), (2 * room, False), (-2 * room, False)):
            claim = inner["claim"] | {name: str(F(inner["claim"][name]) + by)}
            assert bool(verdict(problem, inner | {"claim": claim}, Z, y)) != accepted
    kernel = cc.KernelSVM(X, Y, kernel="linear", C=1.0)
    inner = certificate_dict(kernel.solve().certificate)
    found = cc.verify(json.dumps(inner), X, Y)
    assert found.accepted, found.reasons
    assert found.lower <= F(1, 2) <= found.upper


def test_gaussian_classes_are_judged_by_their_moments():
    Z, y = [[0.0, 1.0], [1.0, -1.0], [2.0, 2.0], [3.0, 1.0], [1.0, 3.0], [-1.0, 0.5]], [0, 1, 0, 1, 1, 0]
    problem = cc.GaussianMLE(Z, y)
    inner = certificate_dict(problem.solve().certificate)
    found = cc.verify(json.dumps(inner), Z, y)
    assert found.accepted, found.reasons
    assert abs(found.lower - F(inner["claim"]["lower"])) < F(1, 10**6)
    size = abs(F(inner["claim"]["upper"]))
    for name in ("lower", "upper"):
        for sign in (1, -1):
            claim = inner["claim"] | {name: str(F(inner["claim"][name]) + sign * size / 1000)}
            assert not cc.verify(json.dumps(inner | {"claim": claim}), Z, y).accepted
    first = next(iter(inner["point"]))
    worse = {**inner["point"], first: [str(F(v) + F(1, 100)) for v in inner["point"][first]]}
    assert not cc.verify(json.dumps(inner | {"point": worse}), Z, y).accepted
    turned = {name: [str(-F(v)) for v in values] for name, values in inner["point"].items()}
    found = cc.verify(json.dumps(inner | {"point": turned}), Z, y)
    assert "the precision of the point is not positive definite" in found.reasons[0]


def test_a_point_that_only_looks_optimal_proves_no_minimum(falling):
    problem, _ = falling
    inner = certificate(problem, 0, {"coef": [40], "intercept": [0]}, {}, level="float")
    inner["claim"]["upper"] = "4e-18"
    assert "a minimum exists is not proved" in verdict(problem, inner)
    both = cc.LogisticMLE([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    inner = certificate_dict(both.solve().certificate)
    assert verdict(both, inner, both.data.samples, both.data.given) == ""


def test_large_problems_are_bounded_in_doubles(monkeypatch):
    """The same verdicts, with bounds a rounding apart; numbers beyond doubles are refused."""
    monkeypatch.setattr("convexcls.proofs.claims.rational_bounds.affordable", lambda problem: False)
    for base in ("hard", "soft", "squared", "absolute", "criterion"):
        problem = BASES[base][0]
        weights = problem.data.weights if problem.data.weighted else None
        arguments = (problem.data.samples, problem.data.given, weights)
        optimum = F(BASES[base][1]["claim"]["optimum"])
        found = cc.verify(json.dumps(altered(base, at_level(base, "float"))), *arguments)
        assert found.accepted, found.reasons
        assert found.lower <= optimum <= found.upper
        name = next(iter(BASES[base][1]["point"]))
        wrong = at_level(base, "float") | {("point", name): ["3"] * len(BASES[base][1]["point"][name])}
        assert not cc.verify(json.dumps(altered(base, wrong)), *arguments)
    problem = BASES["soft"][0]
    arguments = (problem.data.samples, problem.data.given, problem.data.weights)
    for place in (("point", "coef"), ("multipliers", "margin")):
        for value in (10**400, -(10**400)):
            huge = {"0": str(value)} if place[0] == "multipliers" else [str(value)]
            inner = altered("soft", at_level("soft", "float") | {place: huge})
            assert "beyond the range of doubles" in cc.verify(json.dumps(inner), *arguments).reasons[0]
    inner = altered("soft", at_level("soft", "float") | {("point", "coef"): ["1e200"]})
    assert "not finite" in cc.verify(json.dumps(inner), *arguments).reasons[0]


def test_undecided_claims_nothing():
    changes = {("verdict",): "undecided", ("claim",): {}, ("point",): ..., ("multipliers",): ...}
    found = parse(json.dumps(altered("hard", changes)))
    with pytest.raises(ValueError, match="claims nothing"):
        check_claim(found, BASES["hard"][0])


# ---- what follows -----------------------------------------------------------------------------------------------


def test_a_slack_is_what_its_lines_ask_for_and_no_mixture():
    variables = [cc.Variable("x", 2, "x"), cc.Variable("s", 2, "s")]
    x, cost = np.eye(2), {"s": [1.0, 1.0]}
    mixed = cc.Constraint("line", {"x": x, "s": [[-1.0, 0.5], [0.0, -1.0]]}, rhs=0.0)
    assert slack_names(cc.Problem("p", variables, linear=cost, constraints=[mixed])) == ()
    lines = [
        cc.Constraint(name, {"x": sign * x, "s": DiagonalRows.identity(2, -1.0)}, rhs=rhs)
        for name, sign, rhs in (("above", 1.0, 3.0), ("below", -1.0, 5.0))
    ]
    problem = cc.Problem("p", variables, linear=cost, constraints=lines)
    assert slack_names(problem) == ("s",)
    assert with_slacks(problem, {"x": [F(0), F(-4)]}).tolist() == [
        0.0,
        -4.0,
        -3.0,
        -1.0,
    ]  # below 0, where that is enough


def test_slacks_and_the_multipliers_of_their_signs_follow():
    soft, squared, absolute = (BASES[name][0] for name in ("soft", "squared", "absolute"))
    assert slack_names(soft) == ("slack",)
    assert kept_names(soft) == ("coef", "intercept")
    assert slack_names(BASES["hard"][0]) == ()
    assert {name: [c.name for c in lines] for name, lines in flat_lines(soft).items()} == {"slack_sign": ["margin"]}
    assert flat_lines(squared) == flat_lines(absolute) == {}
    point = {"coef": [F(-2, 7)], "intercept": [F(1, 7)]}
    margins = [F(-3, 7), F(-1, 7), F(1), F(1), F(0)]
    assert with_slacks(soft, point).tolist() == pytest.approx([-2 / 7, 1 / 7, *[float(1 - m) for m in margins]])
    point = {"coef": [F(0)], "intercept": [F(2)]}
    assert with_slacks(soft, point).tolist() == [0.0, 2.0, 3.0, 0.0, 0.0, 3.0, 3.0]
    assert with_slacks(squared, point).tolist() == [0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 3.0]
    assert with_slacks(absolute, {"coef": [F(0)], "intercept": [F(-2)]}).tolist()[2:] == [1.0, 3.0, 1.0, 3.0]
    given = {"margin": {0: F(1, 4), 1: F(3, 2), 2: F(1)}}
    full = with_flat_lines(soft, given)
    assert full["margin"] == given["margin"]
    assert full["slack_sign"] == {0: F(1, 2), 3: F(3, 8), 4: F(3, 4)}  # what is left of 3/4, 3/2, 3/4, 3/8, 3/4
    assert given == {"margin": {0: F(1, 4), 1: F(3, 2), 2: F(1)}}
    arrays = multiplier_arrays(soft, full)
    assert arrays["margin"].tolist() == [0.25, 1.5, 1.0, 0.0, 0.0]
    assert arrays["slack_sign"].tolist() == [0.5, 0.0, 0.0, 0.375, 0.75]
    huge = multiplier_arrays(soft, {"margin": {0: F(10**400), 1: F(-(10**400))}})
    assert huge["margin"].tolist()[:2] == [np.inf, -np.inf]
    widest = cc.MaxMargin(X, Y)
    sizes = {name: values.size for name, values in multiplier_arrays(widest, {}).items()}
    assert sizes == {c.name: c.size for c in widest.constraints} | {b.name: b.size + 1 for b in widest.norm_bounds}


def test_what_is_no_slack():
    """A variable that does more than bound lines from above has to be stated."""

    def over(*blocks, quadratic=None, norm_bounds=(), terms=(), name="s"):
        variables = [cc.Variable("x", 2, "x"), cc.Variable(name, 2, "s")]
        return cc.Problem(
            "p", variables, quadratic=quadratic or {}, constraints=blocks, norm_bounds=norm_bounds, terms=terms
        )

    eye, minus = np.eye(2), DiagonalRows(np.array([-1.0, -1.0]))
    line = cc.Constraint("line", {"x": eye, "s": minus}, rhs=0.0)
    assert slack_names(over(line)) == ("s",)
    assert slack_names(over()) == ()
    assert slack_names(over(cc.Constraint("line", {"x": eye, "s": minus}, rhs=0.0, relation="=="))) == ()
    assert (
        slack_names(over(cc.Constraint("line", {"x": eye, "s": DiagonalRows(np.array([-1.0, -2.0]))}, rhs=0.0))) == ()
    )
    assert slack_names(over(cc.Constraint("line", {"x": eye, "s": -eye + 0.5}, rhs=0.0))) == ()
    assert slack_names(over(line, cc.Constraint("cap", {"s": DiagonalRows(np.ones(2))}, rhs=1.0))) == ()
    assert slack_names(over(line, terms=[cc.Term("t", {"s": eye})])) == ()
    assert slack_names(over(line, norm_bounds=[cc.NormBound("b", {"s": eye}, bound=1.0)])) == ()
    assert slack_names(over(line, quadratic={"s": np.array([[2.0, 1.0], [1.0, 2.0]])})) == ()
    assert slack_names(over(line, quadratic={"s": [1.0, 1.0]})) == ("s",)
    coef = cc.Constraint("line", {"x": eye, "coef": minus}, rhs=0.0)
    assert slack_names(over(coef, name="coef")) == ()
    flat = cc.Constraint("flat", {"s": minus}, rhs=0.0)
    assert list(flat_lines(over(line, flat))) == ["flat"]
    assert flat_lines(over(line, flat, quadratic={"s": [1.0, 0.0]})) == {}
    assert flat_lines(over(line, flat, cc.Constraint("other", {"s": minus}, rhs=1.0))) == {}
    assert list(flat_lines(over(line, flat, quadratic={"s": [0.0, 0.0]}))) == ["flat"]
    assert with_flat_lines(over(line, flat), {"line": {0: F(1)}})["flat"] == {}  # a slack that costs nothing


def test_multipliers_that_follow_are_the_same_in_doubles():
    """Worked out in rationals only where they have to be."""
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    for C, weights in ((F(1, 10), None), (0.3, [1.0, 0.5, 0.0, F(1, 3)])):
        problem = cc.SoftMarginSVM(X, y, C=C, sample_weight=weights)
        for given in (
            {},
            {"margin": {0: F(1, 20), 1: F(9)}},
            {"margin": {2: F(-1), 3: F(1, 10**9)}, "slack_sign": {0: F(7)}},
        ):
            expected = multiplier_arrays(problem, with_flat_lines(problem, given))
            found = all_multipliers(problem, given)
            assert {name: z.tolist() for name, z in found.items()} == {n: z.tolist() for n, z in expected.items()}


# ---- the digest -------------------------------------------------------------------------------------------------


def test_the_digest_of_older_files(monkeypatch):
    """More samples than are written at a time, with zeros, dense, sparse and as rationals."""
    dense = np.array([[0.5, 0.0, -3.0], [1.0, 2.0, 4.0], [0.0, 0.0, 0.0], [1e300, 7.0, 0.1], [0.0, -1.0, 0.0]])
    y, weights = [0, 1, 1, 0, 1], [1.0, 2.0, 0.0, 1.0, 1.0]
    lines = ["convexcls-data/1 5 3 weighted"]
    for row, label, weight in zip(dense.tolist(), y, weights, strict=True):
        entries = [f"{j}:{value.hex()}" for j, value in enumerate(row) if value]
        lines.append(" ".join([str(label), weight.hex(), *entries]))
    known = hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
    doubled = sparse.coo_array((np.array([0.25, 0.25, 0.0]), (np.array([0, 0, 2]), np.array([0, 0, 1]))), shape=(5, 3))
    rest = dense.copy()
    rest[0, 0] = 0.0
    for block in (1, 2, 4096):
        monkeypatch.setattr(text_digest, "BLOCK_SAMPLES", block)
        for table in (
            dense,
            sparse.csr_array(dense),
            [[F(v) for v in row] for row in dense.tolist()],
            sparse.csr_array(doubled) + sparse.csr_array(rest),
        ):
            assert text_digest.text_digest(check_data(table, y, weights)) == known
    one_third = [[F(1, 3)], [F(-2)]]
    reals = check_data(one_third, [F(1, 10), F(3)], None, real_target=True)
    text = f"convexcls-data/1 2 1 plain\n1/10 0:1/3\n{(3.0).hex()} 0:{(-2.0).hex()}\n"
    assert text_digest.text_digest(reals) == hashlib.sha256(text.encode()).hexdigest()
    plain = check_data([[1.0], [2.0]], [-0.0, 0.5], None, real_target=True)
    text = f"convexcls-data/1 2 1 plain\n{(0.0).hex()} 0:{(1.0).hex()}\n{(0.5).hex()} 0:{(2.0).hex()}\n"
    assert text_digest.text_digest(plain) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("rows", [2, 5])
def test_the_digest_of_samples_that_are_read_by_block(rows):
    dense, y = (
        np.array([[0.5, 0.0, -3.0], [1.0, 2.0, 4.0], [0.0, 0.0, 0.0], [8.0, 7.0, 0.1], [0.0, -1.0, 0.0]]),
        [0, 1, 1, 0, 1],
    )
    by_block = check_data(*cc.read_blocks(dense, target=np.array(y), rows=rows))
    assert by_block.by_block is not None
    assert data_digest(by_block) == data_digest(check_data(dense, y))


def test_the_digest_does_not_see_how_zeros_and_sums_are_stored():
    """Entries stored in two parts, zeros that are stored, and weights of -0."""
    raw = sparse.csr_array(
        (np.array([0.25, 0.25, 0.0, 3.0]), np.array([0, 0, 1, 1]), np.array([0, 3, 4])), shape=(2, 2)
    )
    assert raw.nnz == 4
    known = data_digest(check_data([[0.5, 0.0], [0.0, 3.0]], [0, 1], [2.0, 1.0]))
    assert data_digest(check_data(raw, [0, 1], [2.0, 1.0])) == known
    three = ([[1.0], [2.0], [3.0]], [0, 1, 1])
    assert data_digest(check_data(*three, [1.0, 2.0, -0.0])) == data_digest(check_data(*three, [1.0, 2.0, 0.0]))


def test_labels_and_entries_are_written_as_the_format_says():
    assert [label_text(label) for label in (1, 1.5, " a ", "1e1", "٣", True)] == [
        "1",
        "3/2",
        '"a"',
        "10",
        '"\\u0663"',
        '"True"',
    ]
    assert [entry_text(F(1, 2)), entry_text(F(1, 3)), entry_text(F(2) ** 1023)] == [(0.5).hex(), "1/3", str(2**1023)]
    with pytest.raises(ValueError, match=r"the labels '1' and '1\.0' are the same in a file"):
        label_texts(["0", "1", "2", "1.0"])
    assert label_texts(["0", "1"]) == ("0", "1")


# ---- what is said -----------------------------------------------------------------------------------------------


def test_a_verification_says_what_was_proved():
    parsed = parse(json.dumps(altered("hard", {})))
    head = "ACCEPTED. The hard-margin problem on these data (3 samples) is solved"
    for lower, upper, said in (
        (F(1, 2), F(1, 2), f"{head}, and its optimum is exactly 1/2 = 0.5."),
        (F(3), F(3), f"{head}, and its optimum is exactly 3."),
        (F(1, 3), F(1, 2), f"{head}: its optimum lies between 1/3 = 0.33333333333333331 and 1/2 = 0.5."),
        (F(1, 3), None, f"{head}: its optimum lies between 1/3 = 0.33333333333333331 and an unknown number."),
        (F(10**400), F(10**400), f"{head}, and its optimum is exactly inf."),
        (F(-(10**400)), F(-(10**400)), f"{head}, and its optimum is exactly -inf."),
        (F(1, 10**57), F(1, 10**57), f"{head}, and its optimum is exactly 1/{10**57} = 9.9999999999999995e-58."),
        (F(1, 10**58), F(1, 10**58), f"{head}, and its optimum is exactly 1e-58."),
    ):
        assert Verification(True, (), lower, upper, parsed).explain() == said
    unknown = Verification(True, (), None, None, parsed).explain()
    assert unknown.startswith(head + " as far as doubles tell")
    meet = Verification(True, (), None, None, parse(json.dumps(BASES["meet"][1]))).explain()
    assert meet.endswith(
        "is infeasible: multiplied as the certificate says and added up, its constraints contradict each other."
    )
    refused = Verification(False, ("one", "two")).explain()
    assert refused == "REFUSED. The certificate does not prove what it claims: one; two."


def test_whether_a_certificate_speaks_of_data():
    problem = BASES["soft"][0]
    parsed = parse(json.dumps(altered("soft", {})))
    rows, labels, weights = problem.data.matrix, problem.data.given, problem.data.weights
    assert speaks_of(parsed, rows, labels, weights)
    assert not speaks_of(parsed, rows, labels)
    assert not speaks_of(parsed, rows[:-1], labels[:-1], weights[:-1])
    assert not speaks_of(parsed, rows * 2, labels, weights)
    assert not speaks_of(parsed, np.hstack([rows, rows]), labels, weights)
    assert not speaks_of(parsed, rows, np.where(labels == 0, "a", "b"), weights)
    found = cc.verify(json.dumps(altered("hard", {})), [[0, 0], [2, 0], [3, 1]], [0, 1, 1], [1, 1, 1])
    assert "takes no weights" in found.reasons[0]


def test_certificates_are_taken_as_text_path_or_object(tmp_path, monkeypatch):
    text, (rows, labels) = json.dumps(altered("hard", {})), ([[0, 0], [2, 0], [3, 1]], [0, 1, 1])
    path = tmp_path / "proof.json"
    path.write_text(text)
    for form in (text, " \n" + text, path, str(path), cc.HardMarginSVM(rows, labels).solve().certificate):
        assert cc.verify(form, rows, labels)
    for form in (7, None, text.encode(), json.loads(text)):
        with pytest.raises(TypeError, match="a certificate is a Certificate, the text of a file or a path, not"):
            cc.verify(form, rows, labels)
    monkeypatch.setattr(verification_module, "MAX_FILE_CHARACTERS", len(text))
    assert cc.verify(path, rows, labels)
    path.write_text(text + " ")
    assert "longer than" in cc.verify(path, rows, labels).reasons[0]
    path.write_bytes(b"\xff")
    assert "not UTF-8 text (byte 0)" in cc.verify(Path(path), rows, labels).reasons[0]


def test_classes_of_rounded_data_keep_their_names():
    """Samples that doubles round, with a certificate of the doubles; what is refused speaks of no rounded data."""
    X, given = [[0.1], [0.5], [0.9], [0.3]], [[F(1, 10)], [F(1, 2)], [F(9, 10)], [F(3, 10)]]
    for problem, y in (
        (cc.HardMarginSVM(X, ["b", "a", "a", "b"]), ["b", "a", "a", "b"]),
        (cc.SoftmaxMLE(X, ["c", "a", "b", "c"], l2=1.0), ["c", "a", "b", "c"]),
    ):
        text = problem.solve().certificate.to_json()
        found = cc.verify(text, given, y)
        assert (found.accepted, found.rounded) == (True, True)
        assert not cc.verify(text, given, [*y[1:], y[0]]).rounded
    assert not cc.verify(json.dumps(altered("hard", {("verdict",): "best"})), X, ["b", "a", "a", "b"]).rounded
