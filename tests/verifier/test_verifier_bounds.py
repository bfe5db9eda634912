"""The bounds of the stand-alone verifier, from any numbers: they are those of verifier/README.md, and the optimum lies
between them."""

from __future__ import annotations

import hashlib
import json
import math
import random
from fractions import Fraction as F
from math import prod

import exact as oracle
import pytest
from certificates import BASES, altered, at_level, certificate
from stand_alone import alone, guess, plain, stand_alone, weighty

import convexcls as cc

dot = oracle.dot
TOLERANCE = F(1, 10_000)


def objective(rows, d, v, costs, power):
    """1/2 ‖coef‖^2 + sum_i costs_i max(0, 1 - m_i)^power."""
    slacks = [max(F(0), 1 - dot(r, v)) ** power for r in rows]
    return sum((x * x for x in v[:d]), F(0)) / 2 + dot(costs, slacks)


def balanced(alpha, tops, signs, intercept):
    """The multipliers in all ways in which both classes are made to weigh the same: the heavier one scaled down, and
    where there is enough room the excess shared out by the room either way, or by the room of the lighter class."""
    weight = {s: sum((a for a, sign in zip(alpha, signs, strict=True) if sign == s), F(0)) for s in (-1, 1)}
    excess, heavy = abs(weight[1] - weight[-1]), max(weight, key=weight.__getitem__)
    if not intercept or not excess:
        return [alpha]
    out = [[a * weight[-heavy] / weight[heavy] if s == heavy else a for a, s in zip(alpha, signs, strict=True)]]
    either = [min(a, top - a) for a, top in zip(alpha, tops, strict=True)]
    above = [F(0) if s == heavy else top - a for a, top, s in zip(alpha, tops, signs, strict=True)]
    for room in (either, above):
        if sum(room) >= excess:
            shares = [excess * r / sum(room) for r in room]
            out.append([a - r if s == heavy else a + r for a, r, s in zip(alpha, shares, signs, strict=True)])
    return out


@pytest.mark.parametrize("seed", range(40))
def test_bounds_of_hard_margins(seed):
    X, signs, _, v, given, rows, intercept, _ = guess(seed)
    d = len(X[0])
    if seed % 2 and (found := oracle.hard_margin(X, signs, intercept)) is not None:
        v = [x / 3 for x in [*found[1], *([found[2]] if intercept else [])]]  # a feasible direction
        v[-1] += F(seed % 3, 9) * intercept  # and an intercept that need not be in the middle
    kept = [max(a, F(0)) for a in given]
    fits = balanced(kept, [2 * a for a in kept], signs, intercept)
    pulls = [[dot(alpha, column) for column in zip(*rows, strict=True)][:d] for alpha in fits]
    m, size = [dot(r, v) for r in rows], dot(v[:d], v[:d]) / 2
    ends = [min(u for u, s in zip(m, signs, strict=True) if s == side) for side in (-1, 1)]
    reach = sum(ends) / 2 if intercept else min(ends)
    lower, upper, value, untouched = alone.margin_bounds(rows, signs, d, v, given, None, {}, TOLERANCE)
    bounds = [sum(alpha) ** 2 / (2 * dot(w, w)) if any(w) else 0 for alpha, w in zip(fits, pulls, strict=True)]
    assert lower == max(bounds)
    assert upper == (size / reach**2 if min(m) > 0 else None)
    ends = [size, size / min(m)] if min(m) > 0 else [size]
    assert value in ends
    assert upper is None or abs(value - upper) == max(abs(end - upper) for end in ends)
    assert untouched == (fits == [given] and min(m) == 1 and sum(given) == dot(pulls[0], pulls[0]))
    optimum = oracle.hard_margin(X, signs, intercept)
    if optimum is not None:
        assert lower <= optimum[0]
        assert upper is None or optimum[0] <= upper


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(30))
def test_bounds_of_soft_margins(seed, loss):
    X, signs, weights, v, given, rows, intercept, _ = guess(seed)
    d, caps, power = len(X[0]), [F(3, 4) * w for w in weights], 2 if loss == "squared_hinge" else 1
    tolerance = F(1, 4)  # so that stretching is met with
    alpha = [max(F(0), a if power == 2 and c else min(a, c)) for a, c in zip(given, caps, strict=True)]
    fits = balanced(alpha, [2 * a for a in alpha] if power == 2 else caps, signs, intercept)
    lower = []
    for fit in fits:
        w = [dot(fit, column) for column in zip(*rows, strict=True)][:d]
        squares = sum((a * a / (4 * c) for a, c in zip(fit, caps, strict=True) if c), F(0))
        lower.append(sum(fit) - dot(w, w) / 2 - squares * (power == 2))
    near = [m for m in (dot(r, v) for r in rows) if m > 1 - tolerance]
    stretched = [x / min(near) for x in v] if near else v
    values = [objective(rows, d, point, caps, power) for point in (v, stretched)]
    found = alone.margin_bounds(rows, signs, d, v, given, caps, {"loss": loss}, tolerance)
    assert found == (max(lower), min(values), min(values), fits == [given] and values[0] <= values[1])
    X, signs, weights = weighty(weights, X, signs, weights)
    optimum = oracle.soft_margin(X, signs, F(3, 4), loss, intercept, weights)[0]
    assert found[0] <= optimum <= found[1]


def test_a_point_is_stretched_only_within_the_tolerance():
    rows, caps = [[F(1)], [F(1)]], [F(1), F(1)]
    for short, stretched in ((TOLERANCE, False), (TOLERANCE - F(1, 10**9), True)):
        lower, upper, value, untouched = alone.margin_bounds(
            rows, [-1, 1], 1, [1 - short], [F(1, 2)] * 2, caps, {"loss": "hinge"}, TOLERANCE
        )
        assert lower == F(1, 2)
        assert upper == value == (F(1, 2) if stretched else objective(rows, 1, [1 - short], caps, 1))
        assert untouched is not stretched


def test_a_point_is_not_stretched_where_that_costs_more():
    rows, caps, v = [[F(1)], [F(1)]], [F(1, 100)] * 2, [F(9, 10)]
    found = alone.margin_bounds(rows, [-1, 1], 1, v, [F(0)] * 2, caps, {"loss": "hinge"}, F(1, 4))
    value = F(81, 200) + 2 * F(1, 1000)
    assert found == (0, value, value, True)


def test_nothing_had_to_be_repaired_only_where_every_slope_is_zero():
    rows, one = [[F(1), F(0)], [F(0), F(1)]], F(1)
    for v, untouched in (([0, 1], True), ([0, 0], False), ([1, 1], False), ([1, 0], False)):
        assert alone.square_bounds(rows, [one, one], [F(0), one], 2, list(map(F, v)), F(0))[3] is untouched


@pytest.mark.parametrize("seed", range(30))
def test_bounds_of_least_squares(seed):
    X, _, weights, v, targets, _, intercept, _ = guess(seed)
    d, l2 = len(X[0]), F(seed % 3, 4)
    rows = [[*row, *[F(1)] * intercept] for row in X]
    off = [dot(r, v) - t for r, t in zip(rows, targets, strict=True)]
    value = sum(w * u * u for w, u in zip(weights, off, strict=True)) / 2 + l2 / 2 * dot(v[:d], v[:d])
    X, kept, weighing = weighty(weights, X, targets, weights)
    optimum = oracle.least_squares(X, kept, l2, intercept, weighing)[0]
    assert alone.square_bounds(rows, weights, targets, d, v, l2) == (optimum, value, value, value == optimum)


def repaired(rows, weights, low, z, nu, total):
    """z clipped to its box, moved by -W R s onto sum_i (z_i - nu w_i) r_i = 0 where that can be, W the room in the box
    or the weights or, with a normalization, the room and the inverse of all weights, by which nu moves: each with the
    part of the middle it needs, and nu."""
    clipped = [max(b, min(a, w)) for a, b, w in zip(z, low, weights, strict=True)]
    columns = list(zip(*rows, strict=True))
    drift = [dot(c, weights) for c in columns]
    excess = [dot(c, clipped) - nu * g for c, g in zip(columns, drift, strict=True)]
    room = [min(a - b, w - a) for a, b, w in zip(clipped, low, weights, strict=True)]
    out = []
    for give, loose in [(room, F(0)), (weights, F(0))] + [(room, 1 / sum(weights))] * bool(total):
        each = [*zip(columns, drift, strict=True)]
        gram = [[sum(map(prod, zip(give, c, e, strict=True))) + loose * g * h for e, h in each] for c, g in each]
        step = oracle.solve_linear(gram, excess)
        if step is None:
            continue
        fit = [a - g * dot(r, step) for a, g, r in zip(clipped, give, rows, strict=True)]
        part = F(0)
        for a, w, b in zip(fit, weights, low, strict=True):
            beyond, half = max(a - w, b - a), (w - b) / 2
            if beyond > 0:
                part = max(part, beyond / (beyond + half))
        out.append((fit, part, nu + loose * dot(drift, step)))
    return out


@pytest.mark.parametrize("seed", range(30))
def test_bounds_of_least_absolute(seed):
    X, signs, weights, v, z, _, intercept, _ = guess(seed)
    rows, targets, low = [[*row, *[F(1)] * intercept] for row in X], [F(s) for s in signs], [-w for w in weights]
    fits = repaired(rows, weights, low, z, F(0), F(0))
    lower = max(F(0), *(-(1 - part) * dot(fit, targets) for fit, part, _ in fits))
    value = sum(w * abs(dot(r, v) - t) for w, r, t in zip(weights, rows, targets, strict=True))
    found = alone.kink_bounds(rows, weights, targets, v, low, z, F(0), F(0))
    assert found == (lower, value, value, all(fit == z for fit, _, _ in fits))
    X, signs, weights = weighty(weights, X, signs, weights)
    optimum = oracle.least_absolute(X, signs, intercept, weights)
    assert found[0] <= optimum <= found[1]


@pytest.mark.parametrize("seed", [*range(40), 143, 607])  # the last ones move nu and z in proportion
def test_bounds_of_the_perceptron(seed):
    X, signs, weights, v, z, margins, intercept, nu = guess(seed)
    rows, nothing, total = [[-u for u in r] for r in margins], [F(0)] * len(X), sum(weights)
    if seed % 2:
        v = [-x for x in v]
    fits = repaired(rows, weights, nothing, z, nu, total)
    hinge = sum(w * max(F(0), -dot(r, v)) for w, r in zip(weights, margins, strict=True))
    reach = sum(w * dot(r, v) for w, r in zip(weights, margins, strict=True))
    found = alone.kink_bounds(rows, weights, nothing, v, nothing, z, nu, total)
    assert found[0] == max(F(0), *(-total * ((1 - part) * moved + part / 2) for _, part, moved in fits))
    assert found[1] == (hinge * total / reach if reach > 0 else None)
    assert found[2:] == (hinge, all(fit == z for fit, _, _ in fits) and reach == total)
    assert alone.kink_bounds(rows, weights, nothing, v, nothing, z, F(0), F(0))[1:3] == (hinge, hinge)
    X, signs, weights = weighty(weights, X, signs, weights)
    optimum = oracle.perceptron(X, signs, intercept, weights)
    if optimum is not None:
        assert found[0] <= optimum
        assert found[1] is None or optimum <= found[1]


def test_multipliers_are_untouched_only_where_every_equation_holds():
    rows, one, nothing = [[F(1), F(0)], [F(0), F(1)]], [F(1)] * 2, [F(0)] * 2
    for z, untouched in (([0, 0], True), ([0, F(1, 2)], False), ([F(1, 2), 0], False), ([F(1, 2)] * 2, False)):
        found = alone.kink_bounds(rows, one, nothing, nothing, [F(-1)] * 2, list(map(F, z)), F(0), F(0))
        assert found == (0, 0, 0, untouched)


def test_linear_systems_are_solved_also_where_they_are_singular():
    rng = random.Random(3)
    for _ in range(60):
        d, n = rng.randint(1, 4), rng.randint(1, 4)
        rows = [[F(rng.randint(-2, 2)) for _ in range(d)] for _ in range(n)]
        weights, ridge = [F(rng.randint(0, 2)) for _ in rows], [F(rng.choice((0, 0, 1))) for _ in range(d)]
        matrix = [
            [sum(w * r[j] * r[k] for w, r in zip(weights, rows, strict=True)) + ridge[j] * (j == k) for k in range(d)]
            for j in range(d)
        ]
        known = [F(rng.randint(-3, 3)) for _ in range(d)]
        target = [dot(row, known) for row in matrix]
        solution = alone.solve(rows, weights, ridge, target)
        assert [dot(row, solution) for row in matrix] == target


# ---- what counts as one, and what is refused -----------------------------------------------------------------


def judged(problem, inner):
    return stand_alone(json.dumps(inner), *plain(problem))


def test_the_unit_is_what_the_objective_is_at_nothing():
    """A claim of 0 may be off by the tolerance times the unit, and not by more."""
    X, y, weights = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0], [1.0, 2.0, 1.0]
    fits = cc.LeastSquares(X, y, coding="real", sample_weight=weights)
    absolute = cc.LeastAbsolute(X, y, coding="real", sample_weight=weights)
    plane = cc.PerceptronCriterion([[-1.0], [1.0], [2.0]], [0, 1, 1], sample_weight=weights)
    rows = {"residual_above": {0: F(1, 2), 1: 1, 2: F(1, 2)}, "residual_below": {0: F(1, 2), 1: 1, 2: F(1, 2)}}
    for problem, unit, point, multipliers in (
        (fits, F(1 + 2 * 9 + 25, 20_000), {"coef": [2], "intercept": [1]}, {}),
        (absolute, F(1 + 2 * 3 + 5), {"coef": [2], "intercept": [1]}, rows),
        (plane, F(4), {"coef": [F(4, 5)], "intercept": [0]}, {"margin": {}, "normalization": {}}),
    ):
        inner = certificate(problem, 0, point, multipliers, level="float")
        for room, accepted in ((F(1, 10_000), True), (F(1, 10_000) + F(1, 10**20), False)):
            for end in ("lower", "upper"):
                for sign in (1, -1):
                    inner["claim"] = {"lower": "0", "upper": "0", end: str(sign * unit * room)}
                    assert judged(problem, inner)[0] == accepted, (problem.kind, end, sign, accepted)


@pytest.mark.parametrize("target", [1.0, -1.0])
def test_multipliers_of_light_samples_may_be_lost_beside_those_of_heavy_ones(target):
    """above + below is the weight of a sample: where both are rounded to 0, either end of its range is tried."""
    light, half = 2.0**-40, {0: F(1, 2), 1: F(1, 2)}
    problem = cc.LeastAbsolute(
        [[1.0], [1.0], [2.0]], [0.0, 0.0, target], coding="real", intercept=False, sample_weight=[1.0, 1.0, light]
    )
    rows = {"residual_above": half, "residual_below": half}
    found = judged(problem, certificate(problem, F(light), {"coef": [0]}, rows, level="float"))
    assert found[0], found
    assert found[2:] == (F(light), F(light))


#: name: (residual_above, residual_below); z = (2, 1, -4) of the weights 3, 1 and 4 is what proves the optimum.
WAYS = {
    "above is right": ([F(5, 2), 1, 0], [-2, 0, 4]),
    "below is right": ([5, 1, 0], [F(1, 2), 0, 4]),
    "their difference is right": ([F(5, 2) + 5, 1, 0], [F(1, 2) + 5, 0, 4]),
}


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("name", WAYS)
def test_the_best_of_three_ways_of_reading_residuals_is_taken(name, mirrored):
    """above + below should be the weight, and is not: then z is 2 above - weight, weight - 2 below or above - below.
    The others are so far beyond the weight that they cannot be brought back without loss."""
    above, below = ({i: F(v) for i, v in enumerate(side)} for side in WAYS[name])
    targets = [0.0, -1.0, 2.0]
    if mirrored:
        above, below, targets = below, above, [-t for t in targets]
    problem = cc.LeastAbsolute(
        [[1.0], [2.0], [1.0]], targets, coding="real", intercept=False, sample_weight=[3.0, 1.0, 4.0]
    )
    rows = {"residual_above": above, "residual_below": below}
    found = judged(problem, certificate(problem, 9, {"coef": [0]}, rows, level="float"))
    assert found[0], found
    assert found[2:] == (9, 9)


def test_multipliers_that_contradict_each_other_bound_no_optimum():
    """They would prove that there is none; as multipliers of an optimum they are refused."""
    problem = cc.HardMarginSVM([[0.0], [0.0]], [0, 1])
    inner = certificate(problem, F(1, 2), {"coef": [1], "intercept": [0]}, {"margin": {0: F(1), 1: F(1)}})
    assert judged(problem, inner) == (False, "the point is not feasible, and no multiple of it is", 1)


def test_multipliers_of_an_intercept_are_balanced_by_those_with_room():
    """Of a capped sample and a lighter class with room, the lighter class is raised: the capped one stays."""
    caps, rows, signs = [F(1), F(5), F(5)], [[F(-1), F(-1)], [F(2), F(1)], [F(3), F(1)]], [-1, 1, 1]
    v, hinge = [F(0), F(0)], {"loss": "hinge"}
    for alpha, best in (
        ([F(1), F(1, 2), F(0)], [F(1), F(1), F(0)]),  # by the one inside its range
        ([F(1), F(5), F(0)], [F(1), F(1), F(0)]),  # by the heavier class
        ([F(1), F(0), F(0)], [F(1), F(1, 2), F(1, 2)]),  # by the lighter class at the end of its range
    ):
        w = [dot(best, column) for column in zip(*rows, strict=True)][:1]
        lower, *_, untouched = alone.margin_bounds(rows, signs, 1, v, alpha, caps, hinge, TOLERANCE)
        assert lower == sum(best) - dot(w, w) / 2
        assert not untouched


def test_the_multiplier_of_the_normalization_is_repaired_with_the_others():
    """Heavy samples on the plane and light ones at the end of their range leave only nu to be moved."""
    rows, weights, nothing = [[F(-1)], [F(2)]], [F(1000), F(1)], [F(0)] * 2
    z, total = [F(0), F(1)], F(1001)  # 2 - nu (2 - 1000) = 0
    for nu in (F(-2, 998), F(-2, 998) * (1 + F(1, 10**6))):
        lower = alone.kink_bounds(rows, weights, nothing, [F(1)], nothing, z, nu, total)[0]
        assert lower == F(2, 998) * total


@pytest.mark.parametrize(
    ("off", "accepted"), [(F(9, 100_000), True), (F(11, 100_000), False), (F(-11, 100_000), False)]
)
def test_an_intercept_may_be_off_the_middle_by_the_tolerance(off, accepted):
    """The bounds are those of the intercept in the middle; margins of the point itself may fall short by 1e-4."""
    problem = cc.HardMarginSVM([[0.0], [2.0]], [0, 1])
    inner = certificate(
        problem, F(1, 2), {"coef": [1], "intercept": [off - 1]}, {"margin": {0: F(1, 2), 1: F(1, 2)}}, level="float"
    )
    assert judged(problem, inner)[0] is accepted
    found = cc.verify(json.dumps(inner), [[0.0], [2.0]], [0, 1])
    assert found.accepted is accepted
    assert accepted or found.reasons == ("the point is too far from being feasible",)


def test_targets_of_zero_and_one():
    X, y = [[0.0], [1.0], [3.0]], [0, 1, 1]
    squares = cc.LeastSquares(X, y, coding="01", intercept=False)
    assert judged(squares, certificate(squares, F(1, 5), {"coef": [F(2, 5)]}, {}))[0]
    absolute = cc.LeastAbsolute(X, y, coding="01", intercept=False)
    rows = {"residual_above": {0: F(1, 2), 1: 0, 2: F(2, 3)}, "residual_below": {0: F(1, 2), 1: 1, 2: F(1, 3)}}
    found = judged(absolute, certificate(absolute, F(2, 3), {"coef": [F(1, 3)]}, rows))
    assert found[0], found


def test_an_optimum_beyond_what_doubles_can_show_is_refused():
    for power, accepted in ((511, True), (512, False)):
        a = 2.0**-power
        problem = cc.HardMarginSVM([[0.0, 0.0], [a, a]], [0, 1])
        w, optimum = F(2) ** power, F(2) ** (2 * power)
        inner = certificate(problem, optimum, {"coef": [w, w], "intercept": [-1]}, {"margin": {0: optimum, 1: optimum}})
        found = judged(problem, inner)
        assert found[0] is accepted
        assert accepted or found[1:] == ("the point is not feasible, and no multiple of it is", 1)

    a, optimum = 2.0**-499, F(2) ** 999
    problem = cc.HardMarginSVM([[0.0], [a]], [0, 1])
    inner = certificate(problem, optimum, {"coef": [2 / F(a)], "intercept": [-1]}, {"margin": {0: optimum, 1: optimum}})
    assert judged(problem, inner)[0]


def test_what_does_not_enter_the_bounds_is_not_looked_at():
    """At the level float only above - below counts; without a normalization its multiplier does not."""
    more = {("multipliers", "residual_above", "0"): "2", ("multipliers", "residual_below", "0"): "1"}
    assert judged(BASES["absolute"][0], altered("absolute", at_level("absolute", "float") | more))[0]
    free = cc.PerceptronCriterion([[0.0], [1.0], [3.0]], [0, 1, 1], normalization=None)
    rows = {"margin": {}, "normalization": {0: 1}}
    assert judged(free, certificate(free, 0, {"coef": [0], "intercept": [0]}, rows))[0]


def test_costs_are_the_products_of_what_is_stated():
    """Of the double 0.1: C w_i is no double."""
    problem = cc.SoftMarginSVM([[-1.0], [1.0]], [0, 1], C=0.1, intercept=False, sample_weight=[3.0, 1.0])
    cost = [F(0.1) * 3, F(0.1)]
    coef = sum(cost)
    optimum = sum(cost) - coef * coef / 2
    assert judged(problem, certificate(problem, optimum, {"coef": [coef]}, {"margin": dict(enumerate(cost))}))[0]


def test_the_normalization_is_the_sum_of_the_weights():
    weights = [0.1, 0.2, 0.3]
    assert F(math.fsum(weights)) != sum(map(F, weights))
    problem = cc.PerceptronCriterion([[-1.0], [1.0], [2.0]], [0, 1, 1], intercept=False, sample_weight=weights)
    coef = sum(map(F, weights)) / dot(list(map(F, weights)), [F(1), F(1), F(2)])
    inner = certificate(problem, 0, {"coef": [coef]}, {"margin": {}, "normalization": {}})
    assert judged(problem, inner)[0]


def test_rows_labels_and_weights_have_to_fit():
    problem = BASES["soft"][0]
    text = json.dumps(BASES["soft"][1])
    rows, labels, weights = plain(problem)
    ragged = [*rows[:-1], [*rows[-1], F(1)]]
    for arguments in (
        (ragged, labels, weights),
        (rows, labels[:-1], weights),
        (rows, [*labels, 0], weights),
        (rows, labels, weights[:-1]),
        (rows, labels, [*weights[:-1], -1.0]),
        (rows, labels, [0.0] * 5),
        (rows, labels, [*weights, 1.0]),
    ):
        assert stand_alone(text, *arguments) == (False, "a ragged table, a negative weight, or all weights 0", 2)
    assert stand_alone(text, rows, labels, weights)[0]
    assert stand_alone(text, rows, labels, [str(w) for w in weights])[0]
    assert stand_alone(text, rows, labels)[2] == 1
    for cell, words in (
        ("x", "'x' is not a finite number"),
        ("1e999", "'1e999' is not"),
        ("٣", "is not"),
        ("y" * 50, "'" + "y" * 40 + "' is not"),
    ):
        found = stand_alone(text, [[cell], *rows[1:]], labels, weights)
        assert words in found[1]
        assert found[2] == 2


def test_a_single_sample():
    problem = cc.LeastSquares([[2.0]], [1.0], coding="real", intercept=False)
    assert judged(problem, certificate(problem, 0, {"coef": [F(1, 2)]}, {}))[0]
    assert not judged(problem, certificate(problem, 0, {"coef": [F(1, 3)]}, {}))[0]


def test_words_name_what_is_proved():
    problem = BASES["hard"][0]
    exactly = judged(problem, altered("hard", {}))
    assert exactly == (True, "optimal, and the optimum is exactly 1/2", F(1, 2), F(1, 2))
    floating = judged(problem, altered("hard", at_level("hard", "float")))
    words = "optimal to the relative tolerance 0.0001, and the optimum lies between 0.5 and 0.5"
    assert floating == (True, words, F(1, 2), F(1, 2))
    nothing = {("point", "coef"): ["1", "1/10"], ("multipliers",): {}}
    worse = judged(problem, altered("hard", at_level("hard", "float") | nothing))
    assert worse == (
        False,
        "the optimum lies between 0 and 0.505: that is all that is proved",
        1,
    )
    assert judged(BASES["meet"][0], BASES["meet"][1])[2:] == (None, None)


# ---- data -------------------------------------------------------------------------------------------------------


def test_cells_and_labels_are_written_as_the_format_says():
    for value, text in (
        (F(1, 2), "0x1.0000000000000p-1"),
        (F(1, 3), "1/3"),
        (F(2) ** 1023, str(2**1023)),
        (-(F(2) ** 1023), str(-(2**1023))),
        (F(2**1023 - 2**970), float(2**1023 - 2**970).hex()),
        (F(-2), "-0x1.0000000000000p+1"),
        (" 1.50 ", "3/2"),
        ("a b", '"a b"'),
        (" ü", '"\\u00fc"'),
        (2, "2"),
        (True, '"True"'),
        ("1e1", "10"),
        ("٣", '"\\u0663"'),
    ):
        assert alone.canonical(value) == text
    assert alone.exactly("0.1") == F(1, 10)
    assert alone.exactly(" 0.1 ") == F(1, 10)
    assert alone.exactly("0.1", rounded=True) == F(0.1)
    assert alone.exactly(0.1) == F(0.1)
    assert alone.exactly(F(1, 3), rounded=True) == F(1 / 3)


def test_the_digest_of_older_files_is_what_the_format_says():
    rows, one = [[F(1, 3), F(1, 2)], [F(0), F(2)]], "0x1.0000000000000p"
    weighted = f'convexcls-data/1 2 2 weighted\n"no" {one}+0 0:1/3 1:{one}-1\n"yes" 0x1.8000000000000p+1 1:{one}+1\n'
    assert alone.text_digest(rows, ["no", "yes"], [1.0, 3.0]) == hashlib.sha256(weighted.encode()).hexdigest()
    simple = f'convexcls-data/1 2 2 plain\n"no" 0:1/3 1:{one}-1\n"yes" 1:{one}+1\n'
    assert alone.text_digest(rows, ["no", "yes"], [1.0, 1.0]) == hashlib.sha256(simple.encode()).hexdigest()


def test_cells_are_taken_as_written_or_as_doubles_whichever_have_the_digest():
    for cell in (F(1, 10), F(0.1)):
        problem = cc.HardMarginSVM([[cell], [F(1, 2)]], ["a", "b"])
        w = 2 / (F(1, 2) - cell)
        alpha = w / (F(1, 2) - cell)
        inner = certificate(
            problem, w * w / 2, {"coef": [w], "intercept": [1 - w / 2]}, {"margin": {0: alpha, 1: alpha}}
        )
        assert stand_alone(json.dumps(inner), [["0.1"], ["0.5"]], ["a", "b"])[2:] == (w * w / 2,) * 2
    for cell in (F(1, 10), F(0.1)):
        problem = cc.LeastSquares([[0], [1], [1]], [0, cell, cell], coding="real", intercept=False)
        inner = certificate(problem, 0, {"coef": [cell]}, {})
        assert stand_alone(json.dumps(inner), [["0"], ["1"], ["1"]], ["0", "0.1", "0.1"])[2:] == (0, 0)


# ---- the program ------------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path, capsys):
    """The program on a table, with the certificate of a hard margin: its exit code and what it prints."""
    proof = tmp_path / "proof.json"
    proof.write_text(json.dumps(altered("hard", {})), encoding="utf-8")

    def run(table, *flags, name=None):
        data = tmp_path / "data.csv"
        data.write_bytes(table if isinstance(table, bytes) else table.encode("utf-8"))
        code = alone.main([str(name or proof), str(data), *flags])
        return code, capsys.readouterr().out

    return run


GOOD = "a,b,y\n0,0,0\n2,0,1\n3,1,1\n"
READ = {
    "plain": (GOOD, ()),
    "a mark at the beginning": ("\ufeff" + GOOD, ()),
    "blanks": (GOOD.replace(",", " , "), ()),
    "empty lines": (GOOD.replace("\n", "\n\n,,\n"), ()),
    "the target named": (GOOD, ("--target", "y")),
    "the target first": ("y,a,b\n0,0,0\n1,2,0\n1,3,1\n", ("--target", "y")),
    "features named": ("b,a,more,y\n0,0,7,0\n0,2,8,1\n1,3,9,1\n", ("--features", "a,b")),
    "weights of one": ("a,b,w,y\n0,0,1,0\n2,0,1,1\n3,1,1.0,1\n", ("--weight", "w")),
    "weights first": ("w,a,b,y\n1,0,0,0\n1,2,0,1\n1,3,1,1\n", ("--weight", "w")),
}
NOT_READ = {
    "ragged": ("a,b,y\n0,0,0\n2,0\n3,1,1\n", ()),
    "names too few": ("a,y\n0,0,0\n2,0,1\n3,1,1\n", ()),
    "a name twice": ("a,a,y\n0,0,0\n2,0,1\n3,1,1\n", ("--features", "a")),
    "no such target": (GOOD, ("--target", "z")),
    "no such feature": (GOOD, ("--features", "a,c")),
    "no such weight": (GOOD, ("--weight", "w")),
    "nothing": ("", ()),
    "no row": ("a,b,y\n", ()),
    "no feature": ("y\n0\n1\n1\n", ()),
    "a quotation without end": (GOOD + '"', ()),
    "no text": (b"\xff\xfe", ()),
}


@pytest.mark.parametrize("name", READ)
def test_tables_are_read(run, name):
    assert run(READ[name][0], *READ[name][1]) == (0, "ACCEPTED: optimal, and the optimum is exactly 1/2\n")


@pytest.mark.parametrize("name", NOT_READ)
def test_tables_that_are_none(run, name):
    code, said = run(NOT_READ[name][0], *NOT_READ[name][1])
    assert code == 2
    assert said.startswith("NOT READABLE: ")
    if name not in ("a quotation without end", "no text"):
        assert said == "NOT READABLE: a ragged table, or no such column\n"


def test_weights_are_those_of_their_column(run, tmp_path):
    proof = tmp_path / "soft.json"
    proof.write_text(json.dumps(altered("soft", {})))
    table = "x,w,y\n-1,1,0\n1,2,1\n-3,1,1\n4,0.5,0\n0.5,1,0\n"
    assert run(table, "--weight", "w", name=proof) == (0, "ACCEPTED: optimal, and the optimum is exactly 701/196\n")
    assert run(table, "--features", "x", name=proof)[0] == 1


def test_exit_codes(run, tmp_path, monkeypatch):
    assert run(GOOD.replace("3", "4"))[1].startswith("REFUSED: the data are not those")
    assert run(GOOD, name=tmp_path / "none.json")[0] == 2
    proof = tmp_path / "other.json"
    proof.write_bytes(b'{"\xff": 1}')
    assert run(GOOD, name=proof)[0] == 2
    text = json.dumps(altered("hard", {}))
    monkeypatch.setattr(alone, "MAX_FILE_CHARACTERS", len(text))
    proof.write_text(text)
    assert run(GOOD, name=proof)[0] == 0
    proof.write_text(text + " ")
    assert run(GOOD, name=proof) == (2, "NOT READABLE: the certificate is too long\n")
