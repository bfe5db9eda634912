"""The command ``separability``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from convexcls.cli.arguments import source_arguments
from convexcls.cli.screen import Working, clean, emit, screen, write

if TYPE_CHECKING:
    from convexcls.cli.sources import Request
    from convexcls.separability import Separability


@click.command()
@source_arguments
@click.option("--json", "as_json", is_flag=True, help="The verdict and its proof as JSON, numbers as p/q.")
def separability(request: Request, as_json: bool) -> int:
    """Say whether hyperplanes separate the classes, and prove it.

    Strictly separable: a hyperplane has every sample on its side. Weakly separable: none is on the wrong side, but some
    lie on it whatever hyperplane is taken. Overlapping: neither. Numbers are taken as they are written in the file, and
    the proof is in exact arithmetic.

    SOURCE is a problem of the gallery (a name from 'convexcls problems', or a .toml file), or a data file (CSV with a
    header, svmlight, Parquet). It needs no --model.

    \b
    Examples:
      convexcls separability xor_hard_margin
      convexcls separability data.csv --target label
      convexcls separability data.csv --basis quadratic --json
    """
    from convexcls.cli.plain import strict_json
    from convexcls.cli.sources import read_samples
    from convexcls.separability import separability as run

    X, y = read_samples(replace(request, exact=True))
    with Working("looking for a hyperplane, or a proof that there is none"):
        found = run(X, y, intercept=request.intercept)
    if as_json:
        emit(strict_json(separability_dict(found)))
    else:
        write(screen(), clean(found.explain(), keep="\n"))
    return 0


def separability_dict(found: Separability) -> dict[str, Any]:
    """The verdict and its proof as plain values; rationals are text."""
    hull = found.hull
    return {
        "schema": "convexcls-separability/1",
        "verdict": found.verdict,
        "labels": found.labels,
        "direction": None if found.direction is None else {
            "coef": _texts(found.direction.coef), "intercept": _texts(found.direction.intercept)
        },
        "margin": found.margin,
        "rows_on_it": found.rows_on_it,
        "hull": None if hull is None else {
            "point": _texts(hull.point),
            "weights": {str(label): {i: str(v) for i, v in rows.items()} for label, rows in hull.weights.items()},
        },
        "weights": {str(row): str(value) for row, value in found.weights.items()},
        "pairs": [{"labels": pair, "verdict": one.verdict} for pair, one in found.pairs.items()],
    }  # fmt: skip


def _texts(values: Any) -> Any:
    return [_texts(value) for value in values] if isinstance(values, (tuple, list)) else str(values)
