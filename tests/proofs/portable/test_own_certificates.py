"""What the package claims, its own verifiers accept: problems of the hunt that they once refused, by what was amiss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.levels import raise_level
from convexcls.proofs.verdict import certify
from tests.hunt.draw import draw
from verifier import verify_certificate

#: By what the verifiers could not show: problems (seed and number) with the solver and the level.
CASES: dict[str, list[tuple[str, str, str]]] = {
    "a margin far from zero": [
        ("4242:5", "auto", "float"),
        ("4242:528", "auto", "float"),
        ("4242:2845", "auto", "float"),
    ],
    "a point off its equation": [
        ("4242:63", "auto", "float"),
        ("4242:2053", "auto", "float"),
        ("4242:1310", "dual:highs", "float"),
    ],
    "a kernel that is singular": [
        ("4242:165", "auto", "float"),
        ("4242:748", "auto", "float"),
        ("4242:3597", "auto", "float"),
    ],
    "a point a little outside its box": [("4242:202", "auto", "float"), ("4242:3196", "auto", "float")],
    "a direction of a kernel": [
        ("4242:466", "auto", "exact"),
        ("4242:1443", "auto", "exact"),
        ("4242:3643", "auto", "float"),
    ],
    "bounds as the level has them": [
        ("4242:672", "cvxpy:SCS", "rigorous"),
        ("4242:1918", "cvxpy:CLARABEL", "rigorous"),
    ],
    "an optimum of ten times the least double": [("31337002:3179", "auto", "rigorous")],
    "an optimum near the largest double": [("777000111:16346", "auto", "float")],
    "an optimum of 0, which is known from below": [("20261120:21716", "auto", "rigorous")],
    "a claim wider than the tolerance": [("4242:999", "auto", "rigorous"), ("4242:1568", "auto", "rigorous")],
    "a minimum that is enclosed": [("4242:3585", "cvxpy:SCS", "rigorous"), ("4242:737", "newton", "rigorous")],
    "multipliers of light samples": [
        ("60601:314", "interior-point", "float"),
        ("60601:497", "interior-point", "float"),
    ],
    "multipliers at the end of their range": [("31337:1970", "interior-point", "float")],
    "an equation that only its own multiplier repairs": [
        ("60601:342", "clarabel", "float"),
        ("60601:342", "osqp", "rigorous"),
    ],
    "an intercept off the middle": [
        ("771:962", "dual:clarabel", "float"),
        ("31337:1983", "dual:interior-point", "float"),
    ],
    "multipliers lost beside heavy samples": [("51717:6173", "highs", "float"), ("51717:13176", "dual:highs", "float")],
    "data that doubles round": [
        ("4242:2007", "auto", "float"),
        ("4242:3486", "auto", "float"),
        ("4242:3705", "auto", "float"),
    ],
}


def solved(drawn: str, solver: str, level: str) -> tuple[Any, Any]:
    case = draw(*map(int, drawn.split(":")))
    problem = getattr(cc, case.model)(case.X, case.y, **case.arguments)
    return case, problem.solve(solver).at_level(level).certificate


@pytest.mark.parametrize("amiss", CASES)
def test_what_is_claimed_is_accepted(amiss: str) -> None:
    decided = 0
    for drawn, solver, level in CASES[amiss]:
        case, certificate = solved(drawn, solver, level)
        if certificate.status == "undecided":
            continue
        decided += 1
        text = certificate.to_json()
        found = cc.verify(text, case.X, case.y, case.weights)
        assert found.accepted, (drawn, found.reasons)
        if certificate.problem.kind in verify_certificate.MODELS:
            labels = case.y if case.parameters.get("coding") == "real" else [str(label) for label in case.y]
            verify_certificate.verify(text, case.table, labels, case.weights)
    assert decided


def test_a_violation_within_the_tolerance_costs_twice_as_much() -> None:
    """A margin of 1 - 7e-9 holds to 1e-8, but a multiple of the point without a violation is 1.4e-8 above the lower
    bound: other numbers are written."""
    near = 2.0 - 7e-9
    X, y = [[0.0], [2.0], [near]], [0, 1, 1]
    certificate = certify(cc.HardMarginSVM(X, y), np.array([1.0, -1.0]), {"margin": np.array([0.5, 0.5, 0.0])})
    assert (certificate.status, certificate.level) == ("optimal", "float")
    text = certificate.to_json()
    assert cc.verify(text, X, y).accepted
    verify_certificate.verify(text, [["0"], ["2"], [repr(near)]], ["0", "1", "1"])


def test_a_kernel_of_large_numbers() -> None:
    """Products of 1e10 in doubles leave multipliers that prove the optimum of a linear kernel to 1e-7 only."""
    X = [[1.0, -0.2], [601.0, 0.6], [1660.0, 0.5], [284411.0, 0.9], [89567.0, 0.8], [2489.0, -0.9], [131558.0, 0.2]]
    X, y = [[a, b, a + b] for a, b in X], [0, 0, 0, 1, 0, 1, 1]
    s = cc.KernelSVM(X, y, kernel="linear").solve()
    assert s.status == "optimal"
    assert cc.verify(s.certificate.to_json(), X, y).accepted


def test_bounds_leave_room_for_other_repairs() -> None:
    """The multipliers of two classes differ by 2e-10: the stand-alone verifier scales one class down, which costs as
    much; the package moves the one with room, which costs nothing."""
    X, y, w, C = [[0.75, -0.75, -1.5], [-0.625, 0.375, -1.0]], [0, 1], [0.5, 1.0], 1e-6
    problem = cc.SoftMarginSVM(X, y, C=C, sample_weight=w)
    solved = problem.solve(level="exact").certificate
    x, z = solved.x, {name: value.copy() for name, value in solved.multipliers.items()}
    z["margin"][1] *= 1 - 2e-10
    z["slack_sign"][1] = C - z["margin"][1]
    certificate = raise_level(certify(problem, x, z), "rigorous")
    assert (certificate.status, certificate.level) == ("optimal", "rigorous")
    text = certificate.to_json()
    assert cc.verify(text, X, y, w).accepted
    verify_certificate.verify(text, [[str(v) for v in row] for row in X], ["0", "1"], ["0.5", "1"])


def test_bounds_that_hang_on_how_residuals_are_repaired() -> None:
    """Features of 1e14 beside others of 1: rounded multipliers leave a gap of 1e-7, which each verifier closes in its
    own way."""
    X = [
        [-48597415994500.0, 5.68207825341709e-07, -0.8089837605217887],
        [200161227578501.78, 1.704623476025127e-06, -0.165214789149258],
        [-94060186680225.52, -5.68207825341709e-07, 0.09539065804039043],
        [-94395057310791.39, 1.136415650683418e-06, -0.21443031192871287],
        [39763989354540.72, 1.704623476025127e-06, 0.19336062142524799],
        [122687035347814.55, 0.0, -0.2851019381872655],
        [24968419869377.695, -1.704623476025127e-06, -0.356954392926943],
        [70064114698985.17, 5.68207825341709e-07, -0.3783794376499193],
    ]
    y = [1, 0, 0, 0, 0, 1, 1, 0]
    for level in ("float", "rigorous", "exact"):
        s = cc.SoftMarginSVM(X, y, C=0.01).solve(level=level)
        assert s.status == "optimal"
        text = s.certificate.to_json()
        assert cc.verify(text, X, y).accepted
        verify_certificate.verify(text, [[repr(v) for v in row] for row in X], [str(v) for v in y])


def test_a_nearly_singular_kernel_is_certified_by_another_answer():
    """As doubles the matrix is not semidefinite, so that no rationals help: residuals that are within the tolerance,
    but not by enough for bounds, are not what is written."""
    rng = np.random.default_rng(7)
    X = np.round(np.array([48.2, 16.37]) + rng.uniform(-0.01, 0.01, (14, 2)), 6)
    problem = cc.KernelSVM(X, [0, 1] * 7, kernel="rbf", gamma=1.0, C=1e4)
    certificate = problem.solve().certificate
    assert "not positive semidefinite" in problem.solve(level="exact").certificate.reason
    text = replace(certificate, x=certificate.x * (1.0 - 1e-3)).to_json()
    assert "these are others, near them" in text
    assert cc.verify(text, X, problem.data.given).accepted


@pytest.mark.parametrize("level", ["float", "rigorous", "exact"])
def test_what_overflows_on_the_way_is_not_warned_of(level):
    X = [[-2e-322, 3e-310], [0.0, -3e-310], [-2e-322, -1e-310], [0.0, -1e-310]]
    X += [[-2e-322, 4e-310], [3.95e-322, 3e-310], [0.0, 0.0], [2e-322, 0.0]]
    y = [0, 1, 1, 1, 0, 0, 1, 0]
    s = cc.MaxMargin(X, y).solve()
    s.certify(level)  # warnings are errors here
    assert cc.verify(s.certificate.to_json(), X, y).accepted
