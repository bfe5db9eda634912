"""A problem described: its name and data, its formula beside the dual's."""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Indices
from convexcls.data import Data
from convexcls.describe.markdown import to_markdown
from convexcls.describe.parts import (
    Chapter,
    Cluster,
    Column,
    Fact,
    Facts,
    Formula,
    Formulation,
    Inline,
    Listing,
    Mark,
    Part,
    Prose,
    Table,
)
from convexcls.describe.tex import document, to_tex
from convexcls.problem import Problem, explain
from convexcls.problem.duality import Dual
from convexcls.problem.explain import convexity
from convexcls.problem.latex import Line
from convexcls.wording import capitalized, count, listed, number, shorten

MAX_FEATURES = 30
MAX_CLASSES = 30
MAX_LABELS_NAMED = 7


def title(problem: Problem) -> str:
    """The problem's name with its parameters and its data."""
    data = problem.data
    parameters = problem.parameters
    settings = [f"{k}={v}" for k, v in parameters.items() if k != "intercept"]
    settings += ["no intercept"] if parameters.get("intercept") is False else []
    name = problem.name + (f" ({', '.join(settings)})" if settings else "")
    if data is None:
        return name
    counts = f"{count(data.n, 'sample')}, {count(data.d, 'feature')}"
    if data.basis is not None and data.expanded is not None:
        counts += f" made by {data.basis!r} of {len(data.expanded.inputs)}"
    names = [shorten(repr(label), 30) for label in data.labels or ()]
    if len(names) > MAX_LABELS_NAMED:
        names = [*names[: MAX_LABELS_NAMED - 1], f"{len(names) - MAX_LABELS_NAMED + 1} more"]
    labels = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""
    return f"{name}: {counts}" + (f"; labels {labels}" if labels else "")


# ---- the formula ----------------------------------------------------------------------------------------


def statement(problem: Problem, heading: str = "") -> Formulation:
    """A problem as it is written."""
    name = capitalized(problem.name)
    return Formulation(heading or name, name, problem.latex())


def explained(problem: Problem) -> list[Part]:
    """All that there is to say of a problem: the statement; of a dual, how it is derived; variables, multipliers,
    Lagrangian, KKT conditions."""
    return [
        statement(problem),
        *([Chapter("derivation", "Derivation", (derivation(problem),))] if isinstance(problem, Dual) else []),
        Chapter("variables", f"Variables ({problem.size} in all)", (_variables(problem),)),
        *([Chapter("multipliers", "Multipliers", (_multipliers(problem),))] if problem.blocks else []),
        Chapter("convexity", "Convexity", (Prose(convexity(problem)),)),
        *([Chapter("lagrangian", "Lagrangian", (_lagrangian(problem),))] if problem.is_constrained else []),
        Chapter("kkt", "KKT conditions", (kkt_system(problem),)),
        *([Chapter("notes", "Notes", (Prose(_notes(problem)),))] if problem.notes else []),
    ]


def written(problem: Problem, form: str) -> str:
    """All that there is to say of a problem, as ``latex``, as a LaTeX ``document`` or as ``markdown``."""
    title, parts = capitalized(problem.name), explained(problem)
    if form == "document":
        return f"{document(title, *parts)}\n"
    if form in ("latex", "markdown"):
        return f"{to_tex(*parts) if form == 'latex' else to_markdown(Prose(Mark(title, 'strong')), *parts)}\n"
    raise ValueError(f"form={form!r}: say 'text', 'latex', 'document' or 'markdown'")


def derivation(dual: Dual) -> Listing:
    """The way from a problem to its dual, step by step."""
    return Listing(tuple([title, *map(_alone, steps)] for title, steps in explain.derivation(dual)), numbered=True)


def _alone(line: Line) -> Inline:
    """A formula that is the whole line stands alone."""
    return line[0] if len(line) == 1 else line


def kkt_system(problem: Problem) -> Table:
    """The KKT conditions by name."""
    columns = (Column("condition"), Column("formula", "words"))
    return Table("kkt", "What a solution has to satisfy", columns, tuple(explain.conditions(problem)))


def _variables(problem: Problem) -> Table:
    columns = (Column("variable"), Column("symbol"), Column("size", "words"))
    return Table("variables", "Variables", columns, tuple(explain.unknowns(problem)))


def _multipliers(problem: Problem) -> Table:
    columns = (Column("constraint or loss"), Column("multiplier", "words"))
    return Table(
        "multipliers", "Constraints and losses, with their multipliers", columns, tuple(explain.multipliers(problem))
    )


def _lagrangian(problem: Problem) -> Prose:
    word = "" if problem.sense == "min" else "Of the equivalent minimisation: "
    return Prose((word, Formula(f"L = {explain.lagrangian(problem)}")))


def _notes(problem: Problem) -> str:
    return " ".join(f"{capitalized(str(note).rstrip('.'))}." for note in problem.notes)


def formulation(problem: Problem) -> Chapter:
    """The primal beside the dual, with what the letters stand for; how the one follows from the other."""
    names = ("Primal", "Dual") if problem.sense == "min" else ("The problem as stated", "Its dual")
    dual = problem.dual()
    both = Cluster((statement(problem, names[0]), statement(dual, names[1])), "formulas")
    letters = Listing(tuple((Formula(v.symbol), f" {v.name}, {count(v.size, 'unknown')}") for v in problem.variables))
    notes = [Prose(_notes(problem), "note")] if problem.notes else []
    way = Cluster((derivation(dual),), "folded", "How the dual is derived")
    kkt = Cluster((kkt_system(problem),), "folded", "The KKT conditions")
    return Chapter("formulation", "The problem and its dual", (both, letters, *notes, way, kkt))


# ---- the data -------------------------------------------------------------------------------------------


def data_in_brief(problem: Problem) -> Chapter | None:
    """Rows, features with their ranges, classes with their counts, weights; nothing for a problem without data."""
    data = problem.data
    if data is None:
        return None
    tables = [table for table in (_classes(data), _features(data)) if table is not None]
    coding = [] if data.coding is None or data.coding.plain else [_coding(data.coding.lines())]
    return Chapter("data", "Data", (_size(data), *coding, Cluster(tuple(tables), "beside")))


def _coding(lines: list[str]) -> Listing:
    """How the samples were made of a table."""
    return Listing(tuple((line,) for line in lines))


def _size(data: Data) -> Facts:
    pairs = [Fact("samples", str(data.n)), Fact("features", str(data.d))]
    if data.basis is not None:
        inputs = data.expanded.inputs if data.expanded is not None else ()
        shown = listed((shorten(name, 30) for name in inputs), 6, ", …")
        pairs.append(Fact("made by", f"{data.basis!r} of {shown}"))
    if data.by_block is not None:
        pairs.append(Fact("read", count(len(data.by_block.pieces), "block") + " at a time"))
    if data.sparse:
        share = data.matrix.nnz / max(data.n * data.d, 1)
        pairs.append(Fact("entries that are not zero", f"{data.matrix.nnz} ({100 * share:.2g} %)"))
    if data.labels is None:
        pairs.append(Fact("target", f"real, from {number(data.target.min())} to {number(data.target.max())}"))
    if data.weighted:
        low, high = data.weights.min(), data.weights.max()
        pairs.append(Fact("weights", f"from {number(low)} to {number(high)}, sum {number(data.weights.sum())}"))
    return Facts(tuple(pairs))


def _classes(data: Data) -> Table | None:
    """Each label with its count and, of two, its sign."""
    if data.labels is None or data.classes is None:
        return None
    counts = np.bincount(data.classes, minlength=len(data.labels))
    total = np.bincount(data.classes, data.weights, minlength=len(data.labels))
    series: dict[Column, list[Any]] = {
        Column("label"): [shorten(str(label)) for label in data.labels],
        Column("samples", "count"): counts.tolist(),
        Column("share", "number"): [f"{100 * own / data.n:.1f} %" for own in counts],
    }
    if data.signs is not None:
        series[Column("y", "count")] = ["-1", "+1"]
    if data.weighted:
        series[Column("weight", "number")] = total.tolist()
    rows = tuple(zip(*series.values(), strict=True))[:MAX_CLASSES]
    return Table("classes", "Classes", tuple(series), rows, cut_to_first(len(rows), len(data.labels)))


def _features(data: Data) -> Table:
    """Each feature with its range; the first of many."""
    shown = min(data.d, MAX_FEATURES)
    if data.by_block is not None:
        low, high, mean, _ = data.by_block.extent
    elif data.sparse:
        part = data.matrix[:, :shown]
        low, high = (np.asarray(m.toarray()).ravel() for m in (part.min(axis=0), part.max(axis=0)))
        mean = np.asarray(part.mean(axis=0)).ravel()
    else:
        values = np.asarray(data.matrix[:, :shown], dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):
            low, high, mean = values.min(axis=0), values.max(axis=0), values.mean(axis=0)
    columns = (Column("feature"), *(Column(name, "digits") for name in ("least", "mean", "largest")))
    rows = tuple(
        (shorten(data.features[j]), *(float(value) for value in (low[j], mean[j], high[j]))) for j in range(shown)
    )
    return Table("features", "Features", columns, rows, cut_to_first(shown, data.d))


def some_of(rows: Indices, most: int | None) -> tuple[str, bool]:
    """Some rows by their numbers (all for ``most`` None), and whether there are others."""
    shown = rows.size if most is None else most
    return f"counted from 0: {listed(rows, shown, ' and {} more')}", rows.size > shown


def cut_to_first(shown: int, total: int) -> str:
    """That only the first are shown, where that is so."""
    return f"the first {shown} of {total}" if shown < total else ""
