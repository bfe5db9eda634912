"""The gallery as a public test set: each problem in a format that solvers read, its answer beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from convexcls import gallery
from convexcls.bench.formats import FORMATS, Format, takes, written
from convexcls.files import write_file

ANSWER_SCHEMA = "convexcls-answer/1"
ANSWER_ENDING = ".answer.json"


def export_gallery(folder: Any, form: Format = "npz", names: Sequence[str] | None = None) -> list[str]:
    """Write the problems of the gallery into a folder that is there, in a format of solvers: "mps" (linear programs),
    "qps" (quadratic ones, too), "npz" or "json" (all). Beside each stands ``NAME.answer.json`` with the exact optimum
    and the verdict. Returns the names of those that the format can state.

    >>> import tempfile
    >>> from convexcls.bench.export import export_gallery
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_gallery(folder, "qps", ["two_points", "logistic_table"])
    ...
    ['two_points']
    """
    if form not in FORMATS:
        raise ValueError(f"format is {form!r}: choose one of {', '.join(FORMATS)}")
    out = []
    for name in gallery.entries() if names is None else names:
        entry = gallery.entry(name)
        if takes(entry.problem, form):
            write_file(Path(folder) / f"{name}.{form}", written(entry.problem, form))
            write_file(Path(folder) / f"{name}{ANSWER_ENDING}", json.dumps(known_answer(entry), indent=1) + "\n")
            out.append(name)
    return out


def known_answer(entry: gallery.GalleryEntry) -> dict[str, Any]:
    """The answer as plain values: numbers as text, p/q where they are rational, and the optimum as a double besides."""
    known = entry.known
    optimum = known.optimum
    return {
        "schema": ANSWER_SCHEMA,
        "name": entry.name,
        "title": entry.title,
        "model": entry.problem.kind,
        "verdict": known.verdict,
        "optimum": None if optimum is None else str(optimum),
        "optimum_is_exact": optimum is not None and optimum.exact,
        "optimum_as_double": None if optimum is None else float(optimum),
        "reported": "maximum" if entry.problem.sense == "max" else "minimum",
        "coef": _texts(known.coef),
        "intercept": None if known.intercept is None else str(known.intercept),
        "values": {name: _texts(numbers) for name, numbers in known.values.items()},
        "multipliers": {name: _texts(numbers) for name, numbers in known.multipliers.items()},
        "direction": _texts(known.direction),
        "unique": list(known.unique),
        "derivation": entry.derivation,
        "source": entry.source,
    }


def _texts(numbers: Any) -> list[str] | None:
    return None if numbers is None else [str(number) for number in numbers]
