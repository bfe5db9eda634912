"""The data in brief: rows, features with their ranges, classes with their counts, weights."""

from __future__ import annotations

import numpy as np

from convexcls.data import Data
from convexcls.problem import Problem
from convexcls.report.markup import Column, Content, Html, facts, join, section, table, tag
from convexcls.report.text import count, number, shorten

MOST_FEATURES = 30
MOST_CLASSES = 30


def data_section(problem: Problem) -> Html:
    """What the problem was declared on; nothing for one without data."""
    data: Data | None = getattr(problem, "data", None)
    if data is None:
        return Html("")
    return section("data", "Data", _size(data), tag("div", _classes(data), _features(data), class_="beside"))


def _size(data: Data) -> Html:
    pairs: list[tuple[str, Content]] = [("samples", str(data.n)), ("features", str(data.d))]
    if data.basis is not None:
        inputs = data.expanded.inputs if data.expanded is not None else ()
        shown = ", ".join(shorten(name, 30) for name in inputs[:6]) + (", …" if len(inputs) > 6 else "")
        pairs.append(("made by", f"{data.basis!r} of {shown}"))
    if data.sparse:
        share = data.matrix.nnz / max(data.n * data.d, 1)
        pairs.append(("entries that are not zero", f"{data.matrix.nnz} ({100 * share:.2g} %)"))
    if data.labels is None:
        pairs.append(("target", f"real, from {number(data.target.min())} to {number(data.target.max())}"))
    if data.weighted:
        low, high = data.weights.min(), data.weights.max()
        pairs.append(("weights", f"from {number(low)} to {number(high)}, sum {number(data.weights.sum())}"))
    return facts(pairs)


def _classes(data: Data) -> Html:
    """Each label with its count and, of two, its sign."""
    if data.labels is None or data.classes is None:
        return Html("")
    counts = np.bincount(data.classes, minlength=len(data.labels))
    total = np.bincount(data.classes, data.weights, minlength=len(data.labels))
    columns = [Column("label", head=True), Column("samples", number=True), Column("share", number=True)]
    if data.signs is not None:
        columns.append(Column("y", number=True))
    if data.weighted:
        columns.append(Column("weight", number=True))
    rows = []
    for k, label in enumerate(data.labels[:MOST_CLASSES]):
        row: list[Content] = [shorten(str(label)), str(counts[k]), f"{100 * counts[k] / data.n:.1f} %"]
        row += [("-1", "+1")[k]] if data.signs is not None else []
        row += [number(total[k])] if data.weighted else []
        rows.append(row)
    more = len(data.labels) - len(rows)
    caption = "Classes" if not more else f"Classes, the first {len(rows)} of {len(data.labels)}"
    return table(caption, columns, rows)


def _features(data: Data) -> Html:
    """Each feature with its range; the first of many."""
    shown = min(data.d, MOST_FEATURES)
    part = data.matrix[:, :shown]
    if data.sparse:
        low, high = (np.asarray(m.toarray()).ravel() for m in (part.min(axis=0), part.max(axis=0)))
        mean = np.asarray(part.mean(axis=0)).ravel()
    else:
        values = np.asarray(part, dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):
            low, high, mean = values.min(axis=0), values.max(axis=0), values.mean(axis=0)
    columns = [Column("feature", head=True), *(Column(name, number=True) for name in ("least", "mean", "largest"))]
    rows = [
        [shorten(data.features[j]), *(f"{value + 0.0:.6g}" for value in (low[j], mean[j], high[j]))]
        for j in range(shown)
    ]
    caption: Content = "Features"
    if shown < data.d:
        caption = join(["Features, the first ", str(shown), " of ", count(data.d, "feature")])
    return table(caption, columns, rows)
