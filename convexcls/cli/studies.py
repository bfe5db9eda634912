"""The commands ``separability``, ``compare``, ``validate``, ``summary`` and ``path``: several solves, one result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convexcls.cli.arguments import file_option, source_arguments, tolerance
from convexcls.cli.pages import check_picture, write_picture
from convexcls.cli.screen import Working, emit, put, say
from convexcls.wording import clean

if TYPE_CHECKING:
    from convexcls.cli.sources import Request

NOT_PROVED = 1


@click.command()
@source_arguments
@click.option("--confidence", type=float, default=0.95, show_default=True, help="That of the intervals.")
@tolerance
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON, with the covariance matrix.")
def summary(request: Request, confidence: float, tol: float, as_json: bool) -> int:
    """Print standard errors, tests, confidence intervals, deviance, AIC and BIC.

    For logistic, softmax and least-squares models without penalty. Where there are no standard errors, because the
    maximum likelihood estimate does not exist or the coefficients are not unique, the reason is said instead.

    SOURCE is a problem of the gallery (a name from 'convexcls problems', or a .toml file), or a data file
    (CSV with a header, svmlight, Parquet) together with --model.

    Exit codes: 0 there is a summary, 1 there is none, 2 bad input.

    \b
    Examples:
      convexcls summary spector
      convexcls summary data.csv --model logistic --target sick --confidence 0.99
      convexcls summary data.csv --model least-squares --param coding=real --json
    """
    from convexcls.cli.sources import read_problem
    from convexcls.describe import strict_json
    from convexcls.problem import NoAnswer

    if not 0 < confidence < 1:
        raise click.UsageError(f"--confidence {confidence}: give a number between 0 and 1, such as 0.95")
    problem = read_problem(request)
    with Working(f"solving the {problem.name}") as report:
        solution = problem.solve(tol=tol, callback=report).unless_interrupted()
    try:
        found = solution.summary(confidence)
    except NoAnswer as refusal:
        say(f"No summary: {clean(str(refusal))}")
        return NOT_PROVED
    emit(strict_json(found.to_dict()) if as_json else clean(str(found), keep="\n"))
    return 0


@click.command()
@source_arguments
@click.option(
    "--over",
    required=True,
    metavar="NAME=VALUES",
    help="What varies: C=0.01..100 (evenly on a logarithmic scale) or l2=0,0.1,1 (listed).",
)
@click.option("--points", type=click.IntRange(2, 10_000), default=13, show_default=True, help="How many, of a range.")
@tolerance
@file_option("--plot", "picture", help="Draw the coefficients into this file (.png, .pdf or .svg).")
@click.option("--json", "as_json", is_flag=True, help="The path as JSON, with all coefficients.")
def path(request: Request, over: str, points: int, tol: float, picture: Path | None, as_json: bool) -> int:
    """Solve the problem for each value of C, l2 or l1, and prove every answer.

    Each point is found from the one before. A point that is not proved, or has no solution, is listed as such.

    SOURCE is a problem of the gallery (a name from 'convexcls problems', or a .toml file), or a data file
    (CSV with a header, svmlight, Parquet) together with --model.

    Exit codes: 0 every point has a proved verdict, 1 some have not, 2 bad input.

    \b
    Examples:
      convexcls path heart_scale --over C=0.01..100 --points 9
      convexcls path data.csv --model logistic --over l2=0,0.1,1,10
      convexcls path data.csv --model soft-margin --over C=1e-3..1e3 --plot path.png
    """
    from convexcls.cli.sources import read_problem
    from convexcls.describe.studies import path_table
    from convexcls.plots import PathDisplay
    from convexcls.studies.paths import path as follow

    name, values = read_values(over, points)
    if picture is not None:
        check_picture(picture, "--plot", request)
    problem = read_problem(request)
    settings = problem.declared_with()
    if name not in settings:
        raise click.UsageError(f"--over: the {problem.name} has no parameter {name!r}")
    if problem.data.weighted:
        settings["sample_weight"] = problem.data.weights
    with Working(f"following the {problem.name}") as report:
        settings[name] = values
        found = follow(type(problem), problem.data.samples, problem.data.given, tol=tol, progress=report, **settings)
    put("convexcls-path/1", [path_table(found)], as_json)
    if picture is not None:
        write_picture(PathDisplay.of(found), picture)
    return 0 if found.proved else NOT_PROVED


def read_values(over: str, points: int) -> tuple[str, list[float]]:
    """``C=0.01..100`` as that many values, evenly on a logarithmic scale; ``l2=0,0.1,1`` as these."""
    from convexcls.cli.settings import NUMBER
    from convexcls.studies.paths import VARIED

    name, _, text = over.partition("=")
    name, low_to_high = name.strip(), text.split("..")
    listed = low_to_high if len(low_to_high) == 2 else text.split(",")
    if name not in VARIED or not all(NUMBER.fullmatch(part.strip()) for part in listed):
        raise click.UsageError(
            f"--over {over!r}: write NAME=LOW..HIGH or NAME=VALUE,VALUE,..., with one of {', '.join(VARIED)}, "
            "for example C=0.01..100"
        )
    values = [float(part) for part in listed]
    if len(low_to_high) != 2:
        return name, values
    low, high = values
    if not 0 < low < high < float("inf"):
        raise click.UsageError(
            f"--over {over!r}: a range goes from a number above 0 to a larger one; or list the values"
        )
    import numpy as np

    return name, np.geomspace(low, high, points).tolist()
