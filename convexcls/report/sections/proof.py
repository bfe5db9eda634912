"""The certificate in prose, with the table of the conditions where the text speaks of them, and with the samples or
the direction that prove that there is no answer."""

from __future__ import annotations

import numpy as np

from convexcls.certificate import Certificate
from convexcls.certificate.words import conditions
from convexcls.data import Data
from convexcls.problem import NoAnswer, Problem
from convexcls.report.markup import Column, Content, Html, prose, section, table
from convexcls.report.sections.kkt import kkt_table
from convexcls.report.text import shorten
from convexcls.solution import Solution

MOST = 30


def proof_section(solution: Solution) -> Html:
    """Why the verdict is true."""
    name = "The proof" if solution.status != "undecided" else "What was measured"
    return section("proof", name, certificate_prose(solution.certificate), _where_likelihoods_go(solution))


def certificate_prose(certificate: Certificate) -> Html:
    """The verdict in words, its conditions as a table, its witnesses as another."""
    words = certificate.explain()
    if witness := contradiction(certificate) or direction(certificate):
        return prose(words, instead=[line for line in words.split("\n") if line.startswith(" ")], of=witness)
    return prose(words, instead=conditions(certificate), of=kkt_table(certificate))


def _where_likelihoods_go(solution: Solution) -> Html:
    if solution.status != "unattained":
        return Html("")
    try:
        return prose(solution.existence().explain())
    except NoAnswer:
        return Html("")


def contradiction(certificate: Certificate) -> Html:
    """The rows whose weighted sum contradicts itself, each with its weight."""
    farkas = certificate.farkas
    if certificate.status != "infeasible" or farkas is None:
        return Html("")
    data: Data | None = getattr(certificate.problem, "data", None)
    kinds = {c.name: c.kind for c in certificate.problem.constraints}
    entries = [(name, int(i), float(z[i])) for name, z in farkas.multipliers.items() for i in np.flatnonzero(z)]
    entries.sort(key=lambda entry: -abs(entry[2]))
    columns = [Column("constraint", head=True), Column("row", number=True), Column("label"), Column("sample")]
    rows: list[list[Content]] = []
    for name, i, weight in entries[:MOST]:
        sampled = data is not None and kinds.get(name) == "samples" and i < data.n
        rows.append([name, str(i), *(_sample(data, i) if sampled and data is not None else ("", "")), f"{weight:.6g}"])
    shown = "" if len(rows) == len(entries) else f", the {len(rows)} heaviest of {len(entries)}"
    return table(f"The rows that contradict each other{shown}", [*columns, Column("weight", number=True)], rows)


def _sample(data: Data, i: int) -> tuple[str, str]:
    """A sample's label and its first few features."""
    label = "" if data.labels is None or data.classes is None else shorten(str(data.labels[data.classes[i]]), 30)
    row = data.matrix[[i], :6]
    values = (row.toarray() if data.sparse else np.asarray(row)).ravel()
    return label, ", ".join(f"{value:.6g}" for value in values) + (", …" if data.d > 6 else "")


def direction(certificate: Certificate) -> Html:
    """The direction without end, by feature."""
    way = certificate.direction
    if certificate.status != "unattained" or way is None:
        return Html("")
    entries = [pair for pair in named_entries(certificate.problem, way.x) if pair[1]]
    entries.sort(key=lambda pair: -abs(pair[1]))
    rows: list[list[Content]] = [[shorten(name), f"{value:.6g}"] for name, value in entries[:MOST]]
    shown = "" if len(rows) == len(entries) else f", its {len(rows)} largest entries of {len(entries)}"
    columns = [Column("unknown", head=True), Column("entry", number=True)]
    return table(f"The direction along which there is no end{shown}", columns, rows)


def named_entries(problem: Problem, x: np.ndarray) -> list[tuple[str, float]]:
    """The unknowns by name: coefficients by their feature (and class), others by variable and index."""
    data: Data | None = getattr(problem, "data", None)
    out = []
    for name, values in problem.split(x).items():
        for k, value in enumerate(values):
            out.append((_entry_name(data, name, k, values.size), float(value)))
    return out


def _entry_name(data: Data | None, variable: str, k: int, size: int) -> str:
    if data is not None and variable == "coef" and size == data.d:
        return f"coef of {data.features[k]}"
    if data is not None and data.labels is not None and variable == "coef" and size == data.d * len(data.labels):
        return f"coef of {data.features[k % data.d]}, {data.labels[k // data.d]!s}"
    if data is not None and data.labels is not None and variable == "intercept" and size == len(data.labels):
        return f"intercept of {data.labels[k]!s}"
    return variable if size == 1 else f"{variable}[{k}]"
