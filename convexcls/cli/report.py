"""The command ``report``: a solution on one HTML page."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convexcls.cli.arguments import (
    file_option,
    known_solver,
    proof_level,
    solved,
    solver_option,
    source_arguments,
    tolerance,
)
from convexcls.cli.completion import solvers
from convexcls.cli.screen import Working, say
from convexcls.wording import clean

if TYPE_CHECKING:
    from convexcls.cli.sources import Request
    from convexcls.proofs.certificate import Level

ENDINGS = (".html", ".htm")
COMPARED = "A solver to compare with; may be repeated (default: all, unless the data are large)."


@click.command()
@source_arguments
@file_option("-o", "--output", help="The page to write (default: the name of SOURCE with -report.html).")
@click.option("--title", help="The page's title (default: that of the gallery problem, or the name of the model).")
@solver_option
@click.option("-c", "--compare", "compared", multiple=True, metavar="SOLVER", shell_complete=solvers, help=COMPARED)
@click.option("--no-compare", is_flag=True, help="Without a comparison of solvers.")
@click.option("--no-pictures", is_flag=True, help="Without pictures.")
@tolerance
@proof_level
def report(
    request: Request,
    output: Path | None,
    title: str | None,
    solver: str,
    compared: tuple[str, ...],
    no_compare: bool,
    no_pictures: bool,
    tol: float,
    level: Level,
    digits: int,
) -> int:
    """Write the problem, its answer and the proof to an HTML page that needs no network.

    The page has the data in brief, the problem beside its dual, the answer, the proof, the samples one by one, several
    solvers compared, and the pictures that suit.

    SOURCE is a problem of the gallery (a name from 'convexcls problems', or a .toml file), or a data file
    (CSV with a header, svmlight, Parquet) together with --model.

    Exit codes: 0 the verdict (optimal, infeasible or unattained) is proved, 1 it is not, 2 bad input.

    \b
    Examples:
      convexcls report twenty_points
      convexcls report data.csv --model logistic --target sick -o sick.html
      convexcls report data.csv --model soft-margin --param C=10 --compare osqp --compare clarabel
    """
    from convexcls.cli.sources import check_output, gallery_title, read_problem
    from convexcls.describe.solution import certified
    from convexcls.report import report as make

    target = _target(request.source, output)
    check_output(target, "--output", request)
    for name in (*compared, *(() if solver == "auto" else (solver,))):
        known_solver(name)
    if compared and no_compare:
        raise click.UsageError("--compare and --no-compare: say one or the other")
    problem = read_problem(replace(request, exact=level == "exact"))
    found = solved(problem, solver, tol, {}, level, digits).unless_interrupted()
    with Working(f"writing the report of the {problem.name}") as progress:
        title, others = title or gallery_title(request), not no_compare and (list(compared) or True)
        make(found, target, title, others, not no_pictures, command_line(), progress)
    say(f"{found.status}; report written to {clean(str(target))}")
    return 0 if certified(found) else 1


def _target(source: str, output: Path | None) -> Path:
    """Where the page goes: never over a file that is no page."""
    target = output or Path(f"{Path(source).stem}-report.html")
    if target.suffix.lower() not in ENDINGS:
        raise click.UsageError(f"--output {target.name!r}: the name must end in {' or '.join(ENDINGS)}")
    return target


def command_line() -> str:
    """What was typed, ready to be typed again."""
    return f"convexcls {shlex.join(sys.argv[1:])}"
