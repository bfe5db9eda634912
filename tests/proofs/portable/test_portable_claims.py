"""What bounds have to show for a claim to be accepted, one condition at a time, and by which ways they are had."""

from __future__ import annotations

import json
from fractions import Fraction as F
from types import SimpleNamespace as Plain
from typing import Any

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs import verdict
from convexcls.proofs.claims import direction as falling
from convexcls.proofs.claims.direction import check as falls
from convexcls.proofs.portable import certificate_dict, checks, parse
from convexcls.proofs.portable.checks import ClaimedBounds, bounds_of

X, Y = [[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]
MIXED = [0, 1, 0, 1]
TINY = F(1, 10**20)


def missing(
    found: ClaimedBounds, low: Any, high: Any, level: str = "float", sense: str = "min", unit: float = 0.0
) -> str:
    parsed: Any = Plain(tolerance=F(1, 10), claim={"lower": F(low), "upper": F(high)}, level=level)
    problem: Any = Plain(sense=sense, unit=unit)
    reason, interval = checks._implied(parsed, problem, found)
    ends = None if found.lower is None or found.upper is None else (found.lower, found.upper)
    turned = ends if ends is None or sense == "min" else (-ends[1], -ends[0])
    assert interval == (turned if turned and found.attained else (None, None))
    return reason


def shown(lower: Any, upper: Any, value: Any = None, attained: bool = True) -> ClaimedBounds:
    return ClaimedBounds(F(lower), F(upper), F(upper if value is None else value), attained)


# ---- what is asked of bounds --------------------------------------------------------------------------------------


def test_bounds_imply_a_claim() -> None:
    assert missing(shown(10, 11), 10, 11) == ""
    assert "a minimum exists" in missing(shown(10, 10, attained=False), 10, 10)
    for sense in ("min", "max"):
        assert "no bound of the optimum from below" in missing(ClaimedBounds(None, F(1), F(1)), 1, 1, sense=sense)
        assert "no bound of the optimum from above" in missing(ClaimedBounds(F(1), None, F(1)), 1, 1, sense=sense)


def test_bounds_are_near_each_other() -> None:
    """Within a tenth of the larger of both, or of the unit."""
    assert missing(shown(9, 10), 9, 10) == ""
    assert "further apart" in missing(shown(9 - TINY, 10), 9, 10)
    assert missing(shown(-10, -9), -10, -9) == ""
    assert "further apart" in missing(shown(-10, -9 + TINY), -10, -9)
    assert missing(shown(0, 3), 0, 3, unit=30.0) == ""
    assert "further apart" in missing(shown(0, 3 + TINY), 0, 3, unit=30.0)
    assert missing(shown(-10, -9), 9, 10, sense="max") == ""
    assert "further apart" in missing(shown(-10, -9 + TINY), 9, 10, sense="max")


def test_the_point_is_near_the_one_that_reaches_the_bound() -> None:
    for sense, low, high in (("min", 10, 11), ("max", -11, -10)):
        for value, well in ((11, True), (F(121, 10), True), (F(99, 10), True), (F(121, 10) + TINY, False)):
            assert (missing(shown(10, 11, value), low, high, sense=sense) == "") is well
        assert "too far from being feasible" in missing(shown(10, 11, F(99, 10) - TINY), low, high, sense=sense)


def test_a_claim_is_near_what_is_proved_and_at_a_higher_level_around_it() -> None:
    for low, high, near in (
        (9, 11, True),
        (9 - TINY, 10, False),
        (11 + TINY, 11, False),
        (10, 9, True),
        (11, 11, True),
        (10, 9 - TINY, False),
        (10, 11 + TINY, False),
    ):
        assert (missing(shown(10, 10), low, high) == "") is (near and abs(F(low) - 10) <= 1 and abs(F(high) - 10) <= 1)
    for low, high, around in (
        (10, 11, True),
        (F(99, 10), 11, True),
        (10, F(111, 10), True),
        (10 + TINY, 11, False),
        (10, 11 - TINY, False),
    ):
        assert (missing(shown(10, 11), low, high, "rigorous") == "") is around
        assert missing(shown(10, 11), low, high) == ""
        assert (missing(shown(-11, -10), low, high, "rigorous", sense="max") == "") is around
    assert "does not imply" in missing(shown(10, 11), 10, 11 - TINY, "rigorous")


def test_the_words_say_what_is_proved() -> None:
    assert missing(shown(1, 2), 1, 2).startswith(
        "the optimum is proved to lie between 1 and 2, which are further apart"
    )
    assert missing(shown(-2, -1), 1, 2, sense="max").startswith("the optimum is proved to lie between 1 and 2, which")


# ---- which ways there are -----------------------------------------------------------------------------------------


def test_two_ways_show_what_either_shows() -> None:
    one, other = ClaimedBounds(F(1), F(5), F(5), False, True), ClaimedBounds(F(2), F(6), F(7), True)
    assert one.with_others(other) == ClaimedBounds(F(2), F(5), F(7), True)
    assert other.with_others(one) == ClaimedBounds(F(2), F(5), F(7), True)
    assert one.with_others(one) == one
    nothing = ClaimedBounds(None, None, F(0), False, True)
    assert nothing.with_others(one) == one
    assert one.with_others(nothing) == ClaimedBounds(F(1), F(5), F(0), False, True)
    assert nothing.with_others(nothing) == nothing


def read(problem: Any, **solved: Any) -> Any:
    return parse(json.dumps(certificate_dict(problem.solve(**solved).certificate)))


def test_rationals_come_first_and_doubles_add_to_them() -> None:
    problem = cc.SoftMarginSVM(X, MIXED, C=1.0)
    found = list(bounds_of(read(problem), problem))
    assert [b.rounded for b in found] == [False, False]
    assert found[0].value == found[1].value
    margin = cc.MaxMargin(X, Y)
    found = list(bounds_of(read(margin), margin))
    assert [b.rounded for b in found] == [False, False]
    assert found[0].lower is not None
    assert abs(found[0].lower + 1) < F(1, 10**9)


def test_balls_come_after_doubles_and_show_that_a_minimum_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = cc.LogisticMLE(X, MIXED)
    parsed = read(problem)
    found = list(bounds_of(parsed, problem))
    assert [b.rounded for b in found] == [True, False]
    assert [b.attained for b in found] == [True, True]
    monkeypatch.setattr(checks, "attainment", lambda *_: checks.PROOF)
    assert next(bounds_of(parsed, problem)).attained
    monkeypatch.setattr(checks, "attainment", lambda *_: checks.PROOF - 1e-9)
    assert [b.attained for b in bounds_of(parsed, problem)] == [False, True]
    monkeypatch.setattr(checks, "finer_bounds", lambda *_: None)
    assert [b.attained for b in bounds_of(parsed, problem)] == [False]
    program = cc.SoftMarginSVM(X, MIXED, C=1.0)  # has a minimum in any case
    assert [b.attained for b in bounds_of(read(program), program)] == [True]


def test_a_widest_margin_of_zero_is_proved_by_any_multipliers_of_its_rows() -> None:
    """Those of the norm are not asked for."""
    Z, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    problem = cc.MaxMargin(Z, y)
    inner = certificate_dict(problem.solve().certificate)
    for more in ({}, {"unit": {"0": "1/3", "1": "5"}}):
        parsed = parse(json.dumps(inner | {"multipliers": inner["multipliers"] | more}))
        assert list(bounds_of(parsed, problem)) == [ClaimedBounds(F(0), F(0), F(0))]
    other = parse(json.dumps(inner | {"multipliers": {"margin": {"0": "1"}}}))
    assert all(found.lower != 0 for found in bounds_of(other, problem))


def test_gaussian_classes_have_one_way() -> None:
    Z, y = [[0.0, 1.0], [1.0, -1.0], [2.0, 2.0], [3.0, 1.0], [1.0, 3.0], [-1.0, 0.5]], [0, 1, 0, 1, 1, 0]
    problem = cc.GaussianMLE(Z, y)
    (found,) = bounds_of(read(problem), problem)
    assert found.attained
    assert found.upper == found.value


def test_bounds_that_are_missing_are_replaced_by_residuals_at_the_level_float(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = cc.SoftMarginSVM(X, MIXED, C=1.0)
    parsed, value = read(problem), F(problem.solve().objective)
    for found, side in ((ClaimedBounds(None, value, value), "below"), (ClaimedBounds(value, None, value), "above")):
        monkeypatch.setattr(checks, "bounds_of", lambda *_, found=found: iter([found]))
        assert checks.check_claim(parsed, problem) == (None, None)
        rigorous: Any = Plain(**{**vars(parsed), "level": "rigorous"})
        with pytest.raises(ValueError, match=f"no bound of the optimum from {side} can be shown$"):
            checks.check_claim(rigorous, problem)
    monkeypatch.setattr(checks, "bounds_of", lambda *_: iter([ClaimedBounds(None, value, value, attained=False)]))
    with pytest.raises(ValueError, match="a minimum exists"):
        checks.check_claim(parsed, problem)
    # x = 0 that only rounding makes optimal is none
    monkeypatch.setattr(checks, "bounds_of", lambda *_: iter([ClaimedBounds(None, value, value)]))
    monkeypatch.setattr(verdict, "doubtful_at_origin", lambda *_: True)
    with pytest.raises(ValueError, match="do not hold in doubles"):
        checks.check_claim(parsed, problem)


def test_residuals_are_compared_with_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the scale 2 is the room on either side."""
    problem, parsed = cc.SoftMarginSVM(X, MIXED, C=1.0), read(cc.SoftMarginSVM(X, MIXED, C=1.0))
    kkt = Plain(objective=4.0, dual_objective=4.0, scale=2.0)
    monkeypatch.setattr(checks, "certify", lambda *_, **__: Plain(status="optimal", kkt=kkt))
    monkeypatch.setattr(checks, "bounds_of", lambda *_: iter([ClaimedBounds(None, F(4), F(4))]))
    for low, high, near in (
        (4, 4, True),
        (F(7, 2), F(9, 2), True),
        (F(9, 2), F(7, 2), True),
        (4, F(19, 4), False),
        (F(19, 4), 4, False),
        (F(13, 4), 4, False),
        (4, F(13, 4), False),
    ):
        stated: Any = Plain(**{**vars(parsed), "tolerance": F(1, 4), "claim": {"lower": F(low), "upper": F(high)}})
        if near:
            assert checks.check_claim(stated, problem) == (None, None)
        else:
            with pytest.raises(ValueError, match="not the claimed ones"):
                checks.check_claim(stated, problem)


def test_bounds_too_far_apart_are_replaced_by_residuals_at_the_level_float(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = cc.SoftMarginSVM(X, MIXED, C=1.0)
    parsed, value = read(problem), F(problem.solve().objective)
    monkeypatch.setattr(checks, "bounds_of", lambda *_: iter([ClaimedBounds(F(0), value, value)]))
    assert checks.check_claim(parsed, problem) == (None, None)
    rigorous: Any = Plain(**{**vars(parsed), "level": "rigorous"})
    with pytest.raises(ValueError, match=r"further apart than the tolerance allows$"):
        checks.check_claim(rigorous, problem)
    off: Any = Plain(**{**vars(parsed), "point": {v: [2 * a for a in part] for v, part in parsed.point.items()}})
    with pytest.raises(ValueError, match="do not hold in doubles"):
        checks.check_claim(off, problem)
    # true bounds that contradict the claim are not made up for
    monkeypatch.setattr(checks, "bounds_of", lambda *_: iter([ClaimedBounds(2 * value, 2 * value, 2 * value)]))
    with pytest.raises(ValueError, match="does not imply the claim"):
        checks.check_claim(parsed, problem)


# ---- optima that are maxima, roots, or enclosed ---------------------------------------------------------------------


def refusal(problem: Any, inner: Any) -> str:
    found = cc.verify(json.dumps(inner), problem.data.samples, problem.data.given)
    return found.reasons[0] if found.reasons else ""


def test_a_maximum_is_exact_with_its_own_sign() -> None:
    problem = cc.KernelSVM(X, Y, kernel="linear", C=1.0)
    inner = certificate_dict(problem.solve(level="exact").certificate)
    optimum = F(inner["claim"]["optimum"])
    assert optimum > 0
    assert refusal(problem, inner) == ""
    for wrong in (-optimum, optimum + TINY):
        assert "exactly" in refusal(problem, inner | {"claim": dict.fromkeys(inner["claim"], str(wrong))})


def test_the_square_of_a_widest_margin() -> None:
    problem = cc.MaxMargin([[0, 0], [1, 2], [3, 3]], [0, 1, 1])
    inner = certificate_dict(problem.solve(level="exact").certificate)
    assert refusal(problem, inner) == ""
    assert "square" in refusal(problem, inner | {"claim": inner["claim"] | {"square": "5/3"}})


@pytest.mark.parametrize(
    ("low", "high", "tolerance", "said"),
    [
        (F(5, 2), F(5, 2), F(1, 10), ""),
        (F(9, 4), F(5, 2), F(1, 10), ""),
        (F(0), F(5, 2), F(1), ""),
        (F(0), F(5, 2), F(9, 10), "not next to the root"),
        (F(-1), F(5, 2), F(2), "not next to the root"),
        (F(3), F(31, 10), F(1, 10), "not next to the root"),
        (F(2), F(21, 10), F(1, 10), "not next to the root"),
        (F(1), F(5, 2), F(1, 10), "not next to the root"),
    ],
)
def test_the_ends_of_a_root_are_next_to_it(low: F, high: F, tolerance: F, said: str) -> None:
    """The margin of (0, 0) and (3, 4) is 5/2, at the multiples of ((3, 4), -25/2, 25/2)."""
    problem = cc.MaxMargin([[0, 0], [3, 4]], [0, 1])
    point = {"coef": [F(3), F(4)], "intercept": [F(-25, 2)], "distance": [F(25, 2)]}
    stated = {"point": point, "multipliers": {"margin": {0: F(1, 2), 1: F(1, 2)}}, "tolerance": tolerance}
    parsed: Any = Plain(claim={"lower": low, "upper": high, "square": F(25, 4)}, **stated)
    if said:
        with pytest.raises(ValueError, match=said):
            checks._root(parsed, problem)
    else:
        assert checks._root(parsed, problem) == (low, high)
    parsed.multipliers = {"margin": {0: F(1, 2), 1: F(1, 3)}}
    for other in (problem, cc.HardMarginSVM(X, Y)):
        with pytest.raises(ValueError, match="do not prove the claimed square"):
            checks._root(parsed, other)


def test_multipliers_of_a_norm_have_one_row_more_than_it() -> None:
    problem = cc.MaxMargin(X, Y)
    inner = certificate_dict(problem.solve().certificate)
    for row, there in (("1", True), ("2", False)):
        found = refusal(problem, inner | {"multipliers": inner["multipliers"] | {"unit": {row: "1/2"}}})
        assert ("does not exist" in found) is not there


def test_an_enclosure_of_a_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = cc.LogisticMLE(X, MIXED)
    parsed = read(problem, level="exact")
    assert parsed.enclosure is not None
    low, high = parsed.claim["lower"], parsed.claim["upper"]
    assert checks.check_claim(parsed, problem) == (low, high)
    monkeypatch.setitem(vars(problem), "sense", "max")
    turned: Any = Plain(**{**vars(parsed), "claim": {"lower": -high, "upper": -low}})
    assert checks.check_claim(turned, problem) == (-high, -low)
    turned.claim = {"lower": -high - 1, "upper": -high - F(1, 100)}
    for wrong in (parsed, turned):
        with pytest.raises(ValueError, match="not proved to contain"):
            checks.check_claim(wrong, problem)


def test_an_interval_that_ends_in_zero_is_one() -> None:
    """An intercept of some 1e-7 between 0 and twice itself: only what is 0 at both ends is left out."""
    problem = cc.LogisticMLE([[-2.0], [-1.0], [1.0], [2.0 + 2.0**-20]], MIXED)
    inner = certificate_dict(problem.solve(level="exact").certificate)
    box = inner["enclosure"]
    b = F(box["lower"]["intercept"][0])
    ends = sorted((F(0), 2 * b))
    for end, value in zip(("lower", "upper"), ends, strict=True):
        coef = [str(F(v) + (-1 if end == "lower" else 1) * abs(b)) for v in box[end]["coef"]]
        box = box | {end: {"coef": coef, "intercept": [str(value)]}}
    claim = {"lower": str(F(inner["claim"]["lower"]) - 1), "upper": str(F(inner["claim"]["upper"]) + 1)}
    assert refusal(problem, inner | {"enclosure": box, "claim": claim}) == ""


def test_an_enclosure_need_not_settle_any_digit() -> None:
    """Features of 1e-12: coefficients of 1e12, known to a million."""
    Z = [[v * 1e-12 for v in row] for row in X]
    problem = cc.LogisticMLE(Z, MIXED)
    inner = certificate_dict(problem.solve(level="exact").certificate)
    box = inner["enclosure"]
    for end, sign in (("lower", -1), ("upper", 1)):
        wider = {"coef": [F(v) + sign * 10**6 for v in box[end]["coef"]]}
        wider["intercept"] = [F(v) + F(sign, 10**6) for v in box[end]["intercept"]]
        box = box | {end: {name: [str(v) for v in values] for name, values in wider.items()}}
    claim = {"lower": str(F(inner["claim"]["lower"]) - 1), "upper": str(F(inner["claim"]["upper"]) + 1)}
    assert refusal(problem, inner | {"enclosure": box, "claim": claim}) == ""


def test_unknowns_that_are_pinned_are_zero_at_both_ends() -> None:
    """Of two equal columns one is left out; an interval that ends in 0 is not left out for that."""
    problem = cc.LogisticMLE([[*row, *row] for row in X], MIXED)
    inner = certificate_dict(problem.solve(level="exact").certificate)
    assert refusal(problem, inner) == ""
    box = inner["enclosure"]
    (pinned,) = [j for j, v in enumerate(box["lower"]["coef"]) if F(v) == 0 == F(box["upper"]["coef"][j])]
    wider = [str(F(1, 10**40)) if j == pinned else v for j, v in enumerate(box["upper"]["coef"])]
    assert refusal(problem, inner | {"enclosure": box | {"upper": box["upper"] | {"coef": wider}}})


def test_gaussian_classes_are_enclosed_by_their_moments() -> None:
    Z, y = [[0.0, 1.0], [1.0, -1.0], [2.0, 2.0], [3.0, 1.0], [1.0, 3.0], [-1.0, 0.5]], [0, 1, 0, 1, 1, 0]
    problem = cc.GaussianMLE(Z, y)
    inner = certificate_dict(problem.solve(level="exact").certificate)
    assert refusal(problem, inner) == ""
    assert refusal(problem, inner | {"claim": inner["claim"] | {"upper": inner["claim"]["lower"]}})


# ---- directions ---------------------------------------------------------------------------------------------------


def test_a_direction_of_a_kernel_is_checked_in_rationals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The classes meet at 0: samples 0, 1 and 2 cancel each other. A direction off by 2^-80 does not."""
    problem = cc.KernelSVM([[-1.0], [0.0], [1.0]], [0, 1, 0], kernel="linear", C=None)
    way = {"margin": [F(1), F(2), F(1)]}
    assert falls(problem, way) == ""
    assert "curves" in falls(problem, {"margin": [F(1), F(2), 1 + F(1, 2**80)]})
    assert "one number" in falls(problem, {"margin": [F(1)] * 2})
    assert "leaves the constraint" in falls(problem, {"margin": [F(-1), F(-2), F(-1)]})
    # one that is too large is checked in doubles, which do not see that
    monkeypatch.setattr(falling, "MAX_EXACT_MATRIX_ENTRIES", 8)
    assert falls(problem, way) == ""
    assert "does not fall" in falls(problem, {"margin": [F(1), F(2), F(2)]})
    assert "one number" in falls(problem, {"margin": [F(1)] * 2})
    assert "no large matrix" in falling.check_in_rationals(problem, way)
    monkeypatch.setattr(falling, "MAX_EXACT_MATRIX_ENTRIES", 9)
    assert falling.check_in_rationals(problem, way) == ""


def test_a_kernel_is_that_of_the_samples_as_given() -> None:
    """3/3 and 5/5 cancel as fractions; what they round to does not."""
    problem = cc.KernelSVM([[F(-1, 3)], [F(0)], [F(1, 5)]], [0, 1, 0], kernel="linear", C=None)
    way = {"margin": [F(3), F(8), F(5)]}
    assert falls(problem, way) == ""
    assert "curves" in falls(problem, {"margin": [F(3) + TINY, F(8) + TINY, F(5)]})
    doubles = cc.KernelSVM([[-1 / 3], [0.0], [1 / 5]], [0, 1, 0], kernel="linear", C=None)
    assert "curves" in falls(doubles, way)


def test_matrices_of_some_unknowns() -> None:
    """(x - y)^2 / 2 of the first two unknowns of four: the others may move."""
    variables = [cc.Variable("a", 1, "a"), cc.Variable("x", 2, "x"), cc.Variable("b", 1, "b")]
    quadratic = {"x": np.array([[1.0, -1.0], [-1.0, 1.0]]), "a": [0.0]}
    problem = cc.Problem("p", variables, linear={"a": [-1.0]}, quadratic=quadratic)
    assert falls(problem, {"a": [F(1)], "x": [F(2), F(2)], "b": [F(-3)]}) == ""
    assert "curves along 'x'" in falls(problem, {"a": [F(1)], "x": [F(2), F(1)], "b": [F(0)]})


def test_what_has_no_matrix_is_never_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(falling, "MAX_EXACT_MATRIX_ENTRIES", 1)
    tie = cc.Constraint("tie", {"x": [[1.0, -1.0, 0.0]]}, rhs=0.0, relation="==")
    for quadratic in ({}, {"x": [0.0, 0.0, 1.0]}):
        problem = cc.Problem(
            "p", [cc.Variable("x", 3, "x")], linear={"x": [-1.0, 0.0, 0.0]}, constraints=[tie], quadratic=quadratic
        )
        assert falls(problem, {"x": [F(1), F(1), F(0)]}) == ""
        assert "leaves" in falls(problem, {"x": [F(1), 1 + F(1, 2**80), F(0)]})


def test_squares_along_a_direction_are_checked_in_rationals() -> None:
    square = cc.Term("square", {"x": [[1.0, -1.0]]}, loss=cc.losses.HalfSquare())
    problem = cc.Problem("p", [cc.Variable("x", 2, "x")], linear={"x": [0.0, -1.0]}, terms=[square])
    assert falls(problem, {"x": [F(1), F(1)]}) == ""
    assert "rises" in falls(problem, {"x": [F(1), 1 + F(1, 2**80)]})


def test_a_log_determinant_along_a_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes on a line: by their moments in rationals, of many samples in doubles, never row by row."""
    Z, y = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], [0, 1, 0, 1]
    problem = cc.GaussianMLE(Z, y)
    way = {"precision": [F(1), F(-1), F(1)], "natural_mean": [F(0)] * 4, "corner": [F(0)] * 3}
    off = way | {"precision": [F(1), F(-1), 1 + F(1, 2**80)]}
    assert falls(problem, way) == ""
    assert "does not fall" in falls(problem, off)
    monkeypatch.setattr(falling, "has_few_moments", lambda problem: False)
    assert falls(problem, way) == falls(problem, off) == ""
    assert "does not fall" in falls(problem, way | {"precision": [F(1), F(1), F(1)]})


# ---- data that doubles round --------------------------------------------------------------------------------------

THIRDS = [[F(-2, 3)], [F(-1, 3)], [F(1, 3)], [F(2, 3)]]


def test_the_values_of_a_kernel_are_judged_as_given() -> None:
    """Checks know how far the doubles of a kernel are from its values: the file has the digest of the data as given."""
    doubles = [[float(v) for v in row] for row in THIRDS]
    for level in ("float", "rigorous", "exact"):
        text = cc.KernelSVM(THIRDS, MIXED, kernel="linear", C=1.0).solve(level=level).certificate.to_json()
        found = cc.verify(text, THIRDS, MIXED)
        assert found.accepted, found.reasons
        assert not found.rounded
        assert "digests differ" in cc.verify(text, doubles, MIXED).reasons[0]


def test_a_certificate_of_rounded_data_is_one_of_rounded_data() -> None:
    """The values of an rbf kernel are not rational: at the level exact the file speaks of doubles, by their digest."""
    problem = cc.KernelSVM(THIRDS, MIXED, kernel="rbf", C=1.0)
    text = problem.solve(level="exact").certificate.to_json()
    doubles = [[float(v) for v in row] for row in THIRDS]
    for data, rounded in ((THIRDS, True), (doubles, False)):
        found = cc.verify(text, data, MIXED)
        assert found.accepted, found.reasons
        assert found.rounded is rounded
        assert ("on these data rounded to doubles (4 samples)" in found.explain()) is rounded
    plain = problem.solve().certificate.to_json()
    found = cc.verify(plain, THIRDS, MIXED)
    assert found.accepted, found.reasons
    assert not found.rounded
    assert "digests differ" in cc.verify(plain, doubles, MIXED).reasons[0]
    names = ["no", "yes"] * 2
    named = cc.KernelSVM(THIRDS, names, kernel="rbf", C=1.0).solve(level="exact").certificate.to_json()
    assert cc.verify(named, THIRDS, names).rounded
    other = [[F(-2, 3)], [F(-1, 3)], [F(1, 3)], [F(4, 3)]]
    assert "digests differ" in cc.verify(text, other, MIXED).reasons[0]
    assert "digests differ" in cc.verify(text, [[-1.0], [0.0], [1.0], [2.0]], MIXED).reasons[0]


def test_real_targets_are_rounded_with_the_rest() -> None:
    t = [F(1, 3), F(2, 3), F(5, 3)]
    Z, doubles = [[0.0], [1.0], [3.0]], [float(v) for v in t]
    text = cc.LeastSquares(Z, doubles, coding="real").solve(level="exact").certificate.to_json()
    found = cc.verify(text, Z, t)
    assert found.accepted, found.reasons
    assert found.rounded
    assert not cc.verify(cc.LeastSquares(Z, t, coding="real").solve().certificate.to_json(), Z, t).rounded


def test_how_large_a_matrix_is_worked_out() -> None:
    assert falling.MAX_EXACT_MATRIX_ENTRIES == 40_000
