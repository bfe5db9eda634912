"""A certificate described: the KKT conditions as a table, the rows or the direction that prove that there is no answer,
the proof in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.data import Data
from convexcls.describe.parts import Chapter, Cluster, Column, Formula, Inline, Mark, Part, Prose, Table
from convexcls.problem import NoAnswer, Problem
from convexcls.problem.explain import complementarity, inequalities, multiplier_sign, stationarity
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.kkt.residuals import KKT, Residual
from convexcls.proofs.words import MEASURES, conditions, worst_at
from convexcls.rows import as_rows
from convexcls.solution import Solution
from convexcls.wording import listed, shorten

MAX_FORMULAS = 6
MAX_WITNESSES = 30
MAX_FEATURES = 6


def proof(solution: Solution) -> Chapter:
    """Why the verdict is true."""
    name = "The proof" if solution.status != "undecided" else "What was measured"
    return Chapter("proof", name, (*certificate_parts(solution.certificate), *likelihood_prose(solution)))


def certificate_parts(certificate: Certificate) -> list[Part]:
    """The verdict in words; where these list the conditions or the witnesses, a table says it instead."""
    words = certificate.explain().split("\n")
    table: Part | None = contradiction(certificate) or direction(certificate)
    said = [line for line in words if line.startswith(" ")]
    if table is None:
        said, kkt = conditions(certificate), kkt_table(certificate)
        table = None if kkt is None else Cluster((kkt,), "kkt")
    said = [line for line in said if line in words]
    if table is None or not said:
        return [Prose("\n".join(words))]
    place = min(words.index(line) for line in said)
    rest = [line for line in words[place:] if line not in said]
    return [Prose("\n".join(words[:place])), table, Prose("\n".join(rest))]


def likelihood_prose(solution: Solution) -> list[Part]:
    """Of an unattained likelihood: which coefficients run away, and what helps; nothing where there are too many."""
    if solution.status != "unattained":
        return []
    try:
        return [Prose(solution.existence().explain())]
    except NoAnswer:
        return []


# ---- the conditions -------------------------------------------------------------------------------------


def kkt_table(certificate: Certificate) -> Table | None:
    """Four conditions and the gap: formula, residual, where it is worst; nothing where there is no point."""
    kkt = certificate.kkt
    if kkt is None:
        return None
    formulas = _formulas(certificate.problem)
    features = getattr(certificate.problem.data, "features", ())
    rows: list[tuple[Any, ...]] = []
    values: dict[str, Any] = {}
    for name, relative in kkt.measures().items():
        residual: Residual | None = getattr(kkt, name.replace(" ", "_"), None)
        absolute = abs(kkt.gap) if residual is None else residual.max
        holds = relative <= certificate.tol
        mark = Mark("✓ holds", "holds") if holds else Mark("✗ fails", "fails")
        where = "" if residual is None else worst_at(residual, features)
        rows.append(
            ((name, Mark(MEASURES[name], "small")), mark, formulas[name][:MAX_FORMULAS], absolute, relative, where)
        )
        if residual is not None:
            block, row = residual.worst if residual.relative_values else (None, None)
            values[name] = {"absolute": absolute, "relative": relative, "worst_block": block, "worst_row": row}
    caption = f"The KKT conditions and the duality gap; each relative residual is to be at most {certificate.tol:.0e}"
    columns = (
        Column("KKT condition"),
        Column("verdict", pages_only=True),
        Column("formula", pages_only=True),
        Column("absolute", "small"),
        Column("relative", "small"),
        Column("worst at"),
    )
    return Table("kkt", caption, columns, tuple(rows), values={"kkt": values})


def measures_table(kkt: KKT) -> Table:
    """The conditions and the gap of a point by their relative residuals."""
    rows = tuple((name, MEASURES[name], relative) for name, relative in kkt.measures().items())
    columns = (Column("KKT condition"), Column("meaning", "words"), Column("relative", "small"))
    return Table("kkt", "The KKT conditions and the duality gap", columns, rows)


def _formulas(problem: Problem) -> dict[str, list[Inline]]:
    blocks = inequalities(problem)
    return {
        "stationarity": [Formula(stationarity(problem, v)) for v in problem.variables],
        "primal feasibility": ["the constraints"] if problem.is_constrained else [],
        "dual feasibility": [Formula(multiplier_sign(block)) for block in blocks],
        "complementary slackness": [Formula(complementarity(problem, block)) for block in blocks],
        "duality gap": ["primal − dual objective"],
    }


# ---- no answer ------------------------------------------------------------------------------------------


def contradiction(certificate: Certificate) -> Table | None:
    """The rows whose weighted sum contradicts itself, each with its weight."""
    farkas = certificate.farkas
    if certificate.status != "infeasible" or farkas is None:
        return None
    data = certificate.problem.data
    kinds = {c.name: c.kind for c in certificate.problem.constraints}
    entries = [(name, int(i), float(z[i])) for name, z in farkas.multipliers.items() for i in np.flatnonzero(z)]
    entries.sort(key=lambda entry: -abs(entry[2]))
    rows = []
    for name, i, weight in entries[:MAX_WITNESSES]:
        sampled = data is not None and kinds.get(name) == "samples" and i < data.n
        rows.append((name, i, *(_sample(data, i) if sampled and data is not None else ("", "")), weight))
    columns = (
        Column("constraint"),
        Column("row", "count"),
        Column("label"),
        Column("sample"),
        Column("weight", "digits"),
    )
    cut = f"the {len(rows)} heaviest of {len(entries)}" if len(rows) < len(entries) else ""
    return Table("contradiction", "The rows that contradict each other", columns, tuple(rows), cut)


def _sample(data: Data, i: int) -> tuple[str, str]:
    """A sample's label and its first few features."""
    label = "" if data.labels is None or data.classes is None else shorten(str(data.labels[data.classes[i]]), 30)
    row = as_rows(data.matrix[[i]]).to_dense()
    values = row.ravel()[: MAX_FEATURES + 1]
    return label, listed((f"{value:.6g}" for value in values), MAX_FEATURES, ", …")


def direction(certificate: Certificate) -> Table | None:
    """The direction without end, by feature."""
    way = certificate.direction
    if certificate.status != "unattained" or way is None:
        return None
    entries = [pair for pair in _named_entries(certificate.problem, way.x) if pair[1]]
    entries.sort(key=lambda pair: -abs(pair[1]))
    rows = tuple((shorten(name), value) for name, value in entries[:MAX_WITNESSES])
    cut = f"its {len(rows)} largest entries of {len(entries)}" if len(rows) < len(entries) else ""
    columns = (Column("unknown"), Column("entry", "digits"))
    return Table("direction", "The direction along which there is no end", columns, rows, cut)


def _named_entries(problem: Problem, x: np.ndarray) -> list[tuple[str, float]]:
    """The unknowns by name: coefficients by their feature (and class), others by variable and index."""
    data = problem.data
    return [
        (_entry_name(data, name, k, values.size), float(value))
        for name, values in problem.split(x).items()
        for k, value in enumerate(values)
    ]


def _entry_name(data: Data | None, variable: str, k: int, size: int) -> str:
    if data is not None and variable == "coef" and size == data.d:
        return f"coef of {data.features[k]}"
    if data is not None and data.labels is not None and variable == "coef" and size == data.d * len(data.labels):
        return f"coef of {data.features[k % data.d]}, {data.labels[k // data.d]!s}"
    if data is not None and data.labels is not None and variable == "intercept" and size == len(data.labels):
        return f"intercept of {data.labels[k]!s}"
    return variable if size == 1 else f"{variable}[{k}]"
