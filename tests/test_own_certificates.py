"""What the package claims, its own verifiers accept: problems of the hunt that they once refused, by what was amiss."""

from __future__ import annotations

from typing import Any

import pytest

import convexcls as cc
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
