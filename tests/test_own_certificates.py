"""What the package claims, its own verifiers accept: problems of the hunt that they once refused, by what was amiss."""

from __future__ import annotations

from typing import Any

import pytest

import convexcls as cc
from tests.hunt.draw import draw
from verifier import verify_certificate

#: By what the verifiers could not show: problems of the seed 4242 with the solver and the level.
CASES: dict[str, list[tuple[int, str, str]]] = {
    "a margin far from zero": [(5, "auto", "float"), (528, "auto", "float"), (2845, "auto", "float")],
    "a point off its equation": [(63, "auto", "float"), (2053, "auto", "float"), (1310, "dual:highs", "float")],
    "a kernel that is singular": [(165, "auto", "float"), (748, "auto", "float"), (3597, "auto", "float")],
    "a point a little outside its box": [(202, "auto", "float"), (3196, "auto", "float")],
    "a direction of a kernel": [(466, "auto", "exact"), (1443, "auto", "exact"), (3643, "auto", "float")],
    "bounds as the level has them": [(672, "cvxpy:SCS", "rigorous"), (1918, "cvxpy:CLARABEL", "rigorous")],
    "a claim wider than the tolerance": [(999, "auto", "rigorous"), (1568, "auto", "rigorous")],
    "a minimum that is enclosed": [(3585, "cvxpy:SCS", "rigorous"), (737, "newton", "rigorous")],
    "data that doubles round": [(2007, "auto", "float"), (3486, "auto", "float"), (3705, "auto", "float")],
}


def solved(index: int, solver: str, level: str) -> tuple[Any, Any]:
    case = draw(4242, index)
    problem = getattr(cc, case.model)(case.X, case.y, **case.arguments)
    return case, problem.solve(solver).at_level(level).certificate


@pytest.mark.parametrize("amiss", CASES)
def test_what_is_claimed_is_accepted(amiss: str) -> None:
    decided = 0
    for index, solver, level in CASES[amiss]:
        case, certificate = solved(index, solver, level)
        if certificate.status == "undecided":
            continue
        decided += 1
        text = certificate.to_json()
        found = cc.verify(text, case.X, case.y, case.weights)
        assert found.accepted, (index, found.reasons)
        if certificate.problem.kind in verify_certificate.MODELS:
            labels = case.y if case.parameters.get("coding") == "real" else [str(label) for label in case.y]
            verify_certificate.verify(text, case.table, labels, case.weights)
    assert decided
