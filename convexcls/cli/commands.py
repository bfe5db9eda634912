"""The commands. Each imports what it needs when it runs, so that help and errors come at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convexcls.cli.arguments import (
    file_option,
    known_solver,
    proof_level,
    solved,
    solver_option,
    solver_settings,
    source_arguments,
    tolerance,
)
from convexcls.cli.completion import completion
from convexcls.cli.completion import solvers as solver_names
from convexcls.cli.listing import demo, problems, solvers
from convexcls.cli.pages import plot, report
from convexcls.cli.screen import Working, emit, put, say, screen
from convexcls.cli.studies import path, summary
from convexcls.cli.verify import verify
from convexcls.describe.terminal import write
from convexcls.files import write_file
from convexcls.wording import clean

if TYPE_CHECKING:
    from convexcls.cli.sources import Request
    from convexcls.models import Model
    from convexcls.proofs.certificate import Level


def _read(request: Request) -> Model:
    from convexcls.cli.sources import read_problem

    return read_problem(request)


@click.command()
@source_arguments
@click.option("--dual", is_flag=True, help="Derive and show the Lagrange dual instead.")
@click.option("--latex", is_flag=True, help="As LaTeX.")
def show(request: Request, dual: bool, latex: bool) -> int:
    """Print the formulation: variables, constraints, multipliers, KKT conditions.

    SOURCE is a problem of the gallery (a name from 'convexcls problems', or a .toml file), or a data file
    (CSV with a header, svmlight, Parquet) together with --model.

    \b
    Examples:
      convexcls show xor_hard_margin
      convexcls show data.csv --model soft-margin --param C=10 --dual
      convexcls show data.csv --model logistic --latex > logistic.tex
    """
    problem = _read(request)
    shown = problem.dual() if dual else problem
    if latex:
        emit(clean(shown.latex(), keep="\n"))
    else:
        write(screen(), shown.explain().rstrip("\n"))
    return 0


@click.command()
@source_arguments
@solver_option
@click.option(
    "-o",
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the solver, for example max_iter=500. May be repeated.",
)
@tolerance
@proof_level
@click.option("--all", "everything", is_flag=True, help="All coefficients and support rows, however many.")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
@file_option("--certificate", help="Write the certificate to this file, for 'convexcls verify'.")
def solve(
    request: Request,
    solver: str,
    options: tuple[str, ...],
    tol: float,
    level: Level,
    digits: int,
    everything: bool,
    as_json: bool,
    certificate: Path | None,
) -> int:
    """Solve the problem and prove the answer.

    Levels of proof: 'float' measures the KKT conditions and the gap; 'rigorous' bounds the optimum despite rounding;
    'exact' solves linear and quadratic programs in rational arithmetic, numbers taken as they are written in the file,
    and encloses the optimum of likelihoods to --digits proved digits.

    SOURCE is a problem of the gallery (a name from 'convexcls problems', or a .toml file), or a data file
    (CSV with a header, svmlight, Parquet) together with --model.

    Exit codes: 0 the verdict (optimal, infeasible or unattained) is proved, 1 it is not, 2 bad input.

    \b
    Examples:
      convexcls solve xor_hard_margin
      convexcls solve data.csv --model soft-margin --target label --param C=10
      convexcls solve data.csv --model logistic --solver newton --option max_iter=50 --json
      convexcls solve data.svm --model hard-margin --level exact --certificate proof.json
    """
    from convexcls.cli.sources import check_output
    from convexcls.describe.certificate import likelihood_prose
    from convexcls.describe.solution import MOST_ROWS, answer, certified

    settings = solver_settings(solver, options)
    if certificate is not None:
        check_output(certificate, "--certificate", request)
    exact = level == "exact" or certificate is not None
    found = solved(_read(replace(request, exact=exact)), solver, tol, settings, level, digits)
    parts = answer(found, None if everything or as_json else MOST_ROWS)
    put("convexcls-solution/1", parts if as_json else [*parts, *likelihood_prose(found)], as_json)
    if certificate is not None:
        write_file(certificate, found.certificate.to_json() + "\n")
        say(f"certificate written to {clean(str(certificate))}")
    return 0 if certified(found) else 1


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
    from convexcls.cli.sources import read_samples
    from convexcls.describe.studies import separability_prose
    from convexcls.proofs.separability import separability as run

    X, y = read_samples(replace(request, exact=True))
    with Working("looking for a hyperplane, or a proof that there is none"):
        found = run(X, y, intercept=request.intercept)
    put("convexcls-separability/1", [separability_prose(found)], as_json)
    return 0


@click.command()
@source_arguments
@click.option(
    "-s",
    "--solver",
    "solvers",
    multiple=True,
    shell_complete=solver_names,
    help="A solver to compare; may be repeated (default: all that take the problem).",
)
@tolerance
@click.option("--json", "as_json", is_flag=True, help="The table as JSON.")
def compare(request: Request, solvers: tuple[str, ...], tol: float, as_json: bool) -> int:
    """Solve the problem with several solvers and judge all answers by the same check.

    SOURCE is a problem of the gallery (a name from 'convexcls problems', or a .toml file), or a data file
    (CSV with a header, svmlight, Parquet) together with --model.

    Exit codes: 0 at least one answer is proved, 1 none is, 2 bad input.

    \b
    Examples:
      convexcls compare xor_hard_margin
      convexcls compare data.csv --model soft-margin --solver osqp --solver clarabel
      convexcls compare data.csv --model logistic --param l2=1 --tol 1e-6
    """
    from convexcls.describe.studies import comparison_parts
    from convexcls.studies.compare import compare as run

    for name in solvers:
        if name != "auto":
            known_solver(name)
    problem = _read(request)
    with Working(f"comparing solvers on the {problem.name}") as report:
        comparison = run(problem, list(solvers) or None, tol=tol, callback=report)
    put("convexcls-comparison/1", comparison_parts(comparison), as_json)
    return 0 if any(row.status != "undecided" for row in comparison.rows) else 1


@click.command()
@source_arguments
@click.option(
    "--method",
    type=click.Choice(["auto", "hat", "newton", "one-step", "refit"]),
    default="auto",
    show_default=True,
    help="How: 'auto' takes an exact one; 'one-step' is quick and states its error.",
)
@tolerance
@click.option("--all", "everything", is_flag=True, help="All misclassified rows, however many.")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON, with every sample's score.")
def validate(request: Request, method: Any, tol: float, everything: bool, as_json: bool) -> int:
    """Leave out each sample in turn and predict it from the others.

    Prints the errors and, for models with probabilities, the log-likelihood of leave-one-out cross-validation: exact
    by the hat matrix for least squares, by Newton's method for logistic regression, by refitting otherwise.

    SOURCE is a problem of the gallery (a name from 'convexcls problems', or a .toml file), or a data file
    (CSV with a header, svmlight, Parquet) together with --model.

    Exit codes: 0 every sample has a prediction, 1 some have none, 2 bad input.

    \b
    Examples:
      convexcls validate spector
      convexcls validate data.csv --model logistic --basis quadratic
      convexcls validate data.csv --model soft-margin --param C=10 --json
    """
    from convexcls.describe.solution import MOST_ROWS
    from convexcls.describe.studies import leave_one_out_facts
    from convexcls.studies.leave_one_out import leave_one_out

    problem = _read(request)
    with Working(f"leaving out samples of the {problem.name}") as report:
        found = leave_one_out(problem, method=method, tol=tol, progress=None if report is None else report.count)
    put("convexcls-validation/1", [leave_one_out_facts(found, None if everything else MOST_ROWS)], as_json)
    return 1 if found.undetermined else 0


STUDIES = (separability, compare, validate, summary, path)
ALL = (show, solve, report, *STUDIES, plot, verify, solvers, problems, demo, completion)
