"""The commands ``separability``, ``compare``, ``validate``, ``summary`` and ``path``: several solves, one result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from convexcls.cli.arguments import check_solvers, file_option, json_option, solver_names, source_arguments, tolerance
from convexcls.cli.arguments import time_limit as time_limit_option
from convexcls.cli.pages import check_picture, write_picture
from convexcls.cli.screen import Told, Working, emit, put, say
from convexcls.cli.settings import NUMBER
from convexcls.cli.sources import Request, read_problem, read_samples
from convexcls.cli.typed import typed
from convexcls.problem import NoAnswer
from convexcls.wording import clean

NOT_PROVED = 1
COMPARED = "A solver to compare; may be repeated (default: all that take the problem)."
METHODS = click.Choice(["auto", "hat", "newton", "one-step", "refit"])
METHOD = "How: 'auto' takes an exact one; 'one-step' is quick and states its error."
OVER = "What varies: C=0.01..100 (evenly on a logarithmic scale) or l2=0,0.1,1 (listed)."


@click.command()
@source_arguments
@json_option("The verdict and its proof as JSON, numbers as p/q.")
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
    from convexcls.describe.studies import separability_prose
    from convexcls.proofs.separability import separability as run

    X, y = read_samples(replace(request, exact=True))
    with Working("looking for a hyperplane, or a proof that there is none"):
        found = run(X, y, intercept=request.intercept)
    put("convexcls-separability/1", [separability_prose(found)], as_json)
    return 0


@click.command()
@source_arguments
@click.option("-s", "--solver", "solvers", multiple=True, shell_complete=solver_names, help=COMPARED)
@tolerance
@time_limit_option
@json_option("The table as JSON.")
def compare(request: Request, solvers: tuple[str, ...], tol: float, time_limit: float | None, as_json: bool) -> int:
    """Solve the problem with several solvers and judge all answers by the same check.

    Solvers of this package run first. Rows are told on stderr as they are there, where it takes longer than a moment;
    Ctrl-C ends the table, which then says who did not run.

    {SOURCE}

    Exit codes: 0 at least one answer is proved, 1 none is, 2 bad input.

    \b
    Examples:
      convexcls compare xor_hard_margin
      convexcls compare data.csv --model soft-margin --solver osqp --solver clarabel
      convexcls compare data.csv --model logistic --param l2=1 --tol 1e-6
      convexcls compare large.csv --model soft-margin --time-limit 60
    """
    from convexcls.describe.studies import comparison_parts
    from convexcls.studies.compare import compare as run

    check_solvers(*solvers)
    problem = read_problem(request)
    with Working(f"comparing solvers on the {problem.name}") as report, Told(report) as told:
        comparison = run(problem, list(solvers) or None, tol, report, time_limit, told.begins, told.finished)
    put("convexcls-comparison/2", comparison_parts(comparison), as_json)
    return 0 if any(row.status != "undecided" for row in comparison.rows) else 1


@click.command()
@source_arguments
@click.option("--method", type=METHODS, default="auto", show_default=True, help=METHOD)
@tolerance
@click.option("--all", "everything", is_flag=True, help="All misclassified rows, however many.")
@json_option("The result as JSON, with every sample's score.")
def validate(request: Request, method: Any, tol: float, everything: bool, as_json: bool) -> int:
    """Leave out each sample in turn and predict it from the others.

    Prints the errors and, for models with probabilities, the log-likelihood of leave-one-out cross-validation: exact
    by the hat matrix for least squares, by Newton's method for logistic regression, by refitting otherwise.

    {SOURCE}

    Exit codes: 0 every sample has a prediction, 1 some have none, 2 bad input.

    \b
    Examples:
      convexcls validate spector
      convexcls validate data.csv --model logistic --basis quadratic
      convexcls validate data.csv --model soft-margin --param C=10 --json
    """
    from convexcls.describe.solution import MAX_ROWS_LISTED
    from convexcls.describe.studies import leave_one_out_facts
    from convexcls.studies.leave_one_out import leave_one_out

    problem = read_problem(request)
    with Working(f"leaving out samples of the {problem.name}") as report:
        found = leave_one_out(problem, method=method, tol=tol, progress=None if report is None else report.count)
    put("convexcls-validation/1", [leave_one_out_facts(found, None if everything else MAX_ROWS_LISTED)], as_json)
    return 1 if found.undetermined else 0


@click.command()
@source_arguments
@click.option("--confidence", type=float, default=0.95, show_default=True, help="That of the intervals.")
@tolerance
@json_option("The summary as JSON, with the covariance matrix.")
def summary(request: Request, confidence: float, tol: float, as_json: bool) -> int:
    """Print standard errors, tests, confidence intervals, deviance, AIC and BIC.

    For logistic, softmax and least-squares models without penalty. Where there are no standard errors, because the
    maximum likelihood estimate does not exist or the coefficients are not unique, the reason is said instead.

    {SOURCE}

    Exit codes: 0 there is a summary, 1 there is none, 2 bad input.

    \b
    Examples:
      convexcls summary spector
      convexcls summary data.csv --model logistic --target sick --confidence 0.99
      convexcls summary data.csv --model least-squares --param coding=real --json
    """
    from convexcls.describe import strict_json

    if not 0 < confidence < 1:
        raise click.UsageError(f"--confidence {confidence}: give a number between 0 and 1, such as 0.95")
    problem = read_problem(request)
    with Working(f"solving the {problem.name}") as report:
        solution = problem.solve(tol=tol, callback=report).unless_interrupted()
    try:
        found = solution.summary(confidence)
    except NoAnswer as refusal:
        say(f"No summary: {typed(str(refusal))}")
        return NOT_PROVED
    emit(strict_json(found.to_dict()) if as_json else clean(str(found), keep="\n"))
    return 0


@click.command()
@source_arguments
@click.option("--over", required=True, metavar="NAME=VALUES", help=OVER)
@click.option("--points", type=click.IntRange(2, 10_000), default=13, show_default=True, help="How many, of a range.")
@tolerance
@file_option("--plot", "picture", help="Draw the coefficients into this file (.png, .pdf or .svg).")
@json_option("The path as JSON, with all coefficients.")
def path(request: Request, over: str, points: int, tol: float, picture: Path | None, as_json: bool) -> int:
    """Solve the problem for each value of C, l2 or l1, and prove every answer.

    Each point is found from the one before. A point that is not proved, or has no solution, is listed as such.

    {SOURCE}

    Exit codes: 0 every point has a proved verdict, 1 some have not, 2 bad input.

    \b
    Examples:
      convexcls path heart_scale --over C=0.01..100 --points 9
      convexcls path data.csv --model logistic --over l2=0,0.1,1,10
      convexcls path data.csv --model soft-margin --over C=1e-3..1e3 --plot path.png
    """
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
    put("convexcls-path/2", [path_table(found)], as_json)
    if picture is not None:
        write_picture(PathDisplay.of(found), picture)
    return 0 if found.proved else NOT_PROVED


def read_values(over: str, points: int) -> tuple[str, list[float]]:
    """``C=0.01..100`` as that many values, evenly on a logarithmic scale; ``l2=0,0.1,1`` as these."""
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
    return name, np.geomspace(low, high, points).tolist()
