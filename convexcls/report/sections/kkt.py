"""The KKT conditions as a table: formula, residual, verdict in words and colour."""

from __future__ import annotations

from convexcls.certificate import KKT, Certificate, Residual
from convexcls.certificate.words import MEANING
from convexcls.explain import complementarity, inequalities, multiplier_sign, stationarity
from convexcls.problem import Problem
from convexcls.report.formulas import formula
from convexcls.report.markup import Column, Content, Html, join, table, tag
from convexcls.report.reading import CONDITIONS, where
from convexcls.report.text import small

COLUMNS = [
    Column("condition", head=True), Column("verdict"), Column("formula"), Column("residual", number=True),
    Column("relative", number=True), Column("worst at"),
]  # fmt: skip
MOST_FORMULAS = 6


def kkt_table(certificate: Certificate) -> Html:
    """Four conditions and the gap; nothing where there is no point."""
    kkt = certificate.kkt
    if kkt is None:
        return Html("")
    formulas = _formulas(certificate.problem)
    features = getattr(getattr(certificate.problem, "data", None), "features", ())
    rows: list[list[Content]] = []
    for name, relative in kkt.measures().items():
        residual: Residual | None = getattr(kkt, CONDITIONS[name]) if name in CONDITIONS else None
        rows.append([
            join([name, tag("small", MEANING[name])]), _verdict(relative <= certificate.tol),
            join(tag("div", one) for one in formulas[name][:MOST_FORMULAS]), small(_absolute(kkt, residual)),
            small(relative), "" if residual is None else where(residual, features),
        ])  # fmt: skip
    caption = f"The KKT conditions and the duality gap; each relative residual is to be at most {certificate.tol:.0e}"
    return tag("div", table(caption, COLUMNS, rows), class_="kkt")


def _absolute(kkt: KKT, residual: Residual | None) -> float:
    return abs(kkt.gap) if residual is None else residual.max


def _verdict(holds: bool) -> Html:
    return tag("span", "✓ holds" if holds else "✗ fails", class_="holds" if holds else "fails")


def _formulas(problem: Problem) -> dict[str, list[Html]]:
    blocks = inequalities(problem)
    return {
        "stationarity": [formula(stationarity(problem, v)) for v in problem.variables],
        "primal feasibility": [Html("the constraints")] if problem.is_constrained else [],
        "dual feasibility": [formula(multiplier_sign(block)) for block in blocks],
        "complementary slackness": [formula(complementarity(problem, block)) for block in blocks],
        "duality gap": [Html("primal − dual objective")],
    }
