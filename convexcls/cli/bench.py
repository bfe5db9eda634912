"""The commands ``referee`` and ``gallery``: solvers judged on problems whose answers are known, and these as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from convexcls.bench.formats import FORMATS
from convexcls.cli import arguments
from convexcls.cli.pages import PAGE_ENDINGS, command_line
from convexcls.cli.screen import Working, put, say
from convexcls.wording import clean, count

WRONG = 1
FORMAT = "mps: linear programs; qps: quadratic ones, too; npz and json: all."
PROBLEMS = "'gallery' (all of it and the generated families), 'families', a family, or a name. May be repeated."


@click.command()
@click.argument("solvers", nargs=-1, required=True, shell_complete=arguments.solver_names)
@click.option("-p", "--problems", multiple=True, metavar="NAME", default=("gallery",), show_default=True, help=PROBLEMS)
@click.option(
    "--tol", type=click.FloatRange(0, 1, True, True), default=1e-6, show_default=True, help="What counts as solved."
)
@click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    help="Stop each solver after so long on each problem.",
)
@arguments.file_option("-o", "--output", help="Write a page with tables and profiles (.html).")
@arguments.json_option("Every trial as JSON.")
def referee(
    solvers: tuple[str, ...],
    problems: tuple[str, ...],
    tol: float,
    time_limit: float,
    output: Path | None,
    as_json: bool,
) -> int:
    """Judge solvers on problems whose answers are known: what each claims against what is proved.

    SOLVERS are names from 'convexcls solvers' or package.module:Name for your own, several side by side. Each is asked
    for every problem of the gallery that it takes and for generated families (scaled, offset, nearly-dependent, close,
    degenerate, infeasible, unattained). Every answer is judged at the level rigorous. Solvers of other people get each
    problem as it is stated.

    Exit codes: 0 no claim is wrong, 1 some are, 2 bad input.

    \b
    Examples:
      convexcls referee auto
      convexcls referee osqp clarabel cvxpy:SCS -o referee.html
      convexcls referee package.module:MySolver --problems close --problems scaled/hard-margin/1e6
      convexcls referee package.module:MySolver auto --json > referee.json
    """
    from convexcls.bench import referee as judge
    from convexcls.describe.bench import judgement_parts

    if output is not None and output.suffix.lower() not in PAGE_ENDINGS:
        raise click.UsageError(f"--output {output.name!r}: the name must end in {' or '.join(PAGE_ENDINGS)}")
    arguments.check_solvers(*solvers)
    with Working("refereeing") as report:
        progress = None if report is None else lambda _, done, total: report.count(done, total)
        found = judge(solvers, problems, tol, time_limit, progress)
    put("convexcls-referee/1", judgement_parts(found), as_json)
    if output is not None:
        found.report(output, command=command_line())
        say(f"page written to {clean(str(output))}")
    return WRONG if found.wrong else 0


@click.group()
def gallery() -> None:
    """The gallery as a test set for solvers: problems whose answers are known exactly.

    \b
    Examples:
      convexcls problems
      convexcls gallery export problems --format qps
    """


@gallery.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("-f", "--format", "form", type=click.Choice(FORMATS), default="npz", show_default=True, help=FORMAT)
@click.option("-p", "--problem", "names", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
def export(folder: Path, form: Any, names: tuple[str, ...]) -> int:
    """Write the problems into DIR, each with its exact optimum and verdict beside it (NAME.answer.json).

    \b
    Examples:
      convexcls gallery export problems --format qps
      convexcls gallery export problems --format json --problem two_points
    """
    from convexcls.bench.export import export_gallery

    folder.mkdir(parents=True, exist_ok=True)
    found = export_gallery(folder, form, list(names) or None)
    say(f"{count(len(found), 'problem')} written to {clean(str(folder))} as {form}, each with its answer beside it")
    return 0
