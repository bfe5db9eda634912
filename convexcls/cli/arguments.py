"""The arguments that several commands share: SOURCE with what says how to read it, the tolerance, the solver."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convexcls.basis import BASES
from convexcls.cli import completion
from convexcls.cli.screen import Working
from convexcls.models import by_kind

if TYPE_CHECKING:
    from convexcls.models import Model
    from convexcls.proofs.certificate import Level
    from convexcls.solution import Solution

Command = Callable[..., Any]


def _all_of(*options: Command) -> Command:
    """Several options as one decorator, listed by the help in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def file_option(*names: str, **more: Any) -> Command:
    """An option that names a file to write."""
    writable = click.Path(dir_okay=False, writable=True, path_type=Path)
    return click.option(*names, metavar="FILE", type=writable, **more)


column_options = _all_of(
    click.option("-t", "--target", metavar="COLUMN", help="The column with the labels (default: the last)."),
    click.option("-f", "--features", metavar="A,B,C", help="The columns to use (default: all others)."),
    click.option("-w", "--weight", metavar="COLUMN", help="The column with the weights of the samples."),
)
_MODEL = f"The classifier, for a data file: {', '.join(by_kind())}."
_PARAM = "A parameter of the model, for example C=10. May be repeated."
_PAIRS: dict[str, Any] = {"metavar": "NAME=VALUE", "multiple": True, "shell_complete": completion.parameters}
_FORMATS = click.Choice(["csv", "svmlight", "parquet"])
_BASIS = f"Functions of the features to classify by: {', '.join(BASES)}."
format_option = click.option(
    "--format", "file_format", type=_FORMATS, help="The format of the data file, where its name does not tell."
)
_source = _all_of(
    click.argument("source", shell_complete=completion.sources),
    click.option("-m", "--model", metavar="KIND", shell_complete=completion.models, help=_MODEL),
    column_options,
    click.option("-p", "--param", "settings", help=_PARAM, **_PAIRS),
    click.option("--no-intercept", is_flag=True, help="A hyperplane through the origin."),
    click.option("-b", "--basis", metavar="BASIS", help=_BASIS),
    format_option,
)


def source_arguments(command: Command) -> Command:
    """The argument SOURCE with the options that say how to read a data file, gathered into a ``Request``."""

    @wraps(command)
    def gathered(**given: Any) -> Any:
        from convexcls.cli.columns import ColumnNames
        from convexcls.cli.sources import Request

        columns = ColumnNames(*map(given.pop, ("target", "features", "weight")))
        source, model, file_format, settings = map(given.pop, ("source", "model", "file_format", "settings"))
        bare, basis = map(given.pop, ("no_intercept", "basis"))
        return command(Request(source, model, file_format, columns, settings, not bare, basis), **given)

    return _source(gathered)


def _between_0_and_1(ctx: click.Context, parameter: click.Parameter, value: float) -> float:
    if not 0 < value < 1:
        raise click.BadParameter(f"{value} is not a number between 0 and 1", ctx, parameter)
    return value


_NAME = "A name from 'convexcls solvers'."
_TOL = "The relative tolerance of the proof."
_DIGITS = "Digits to prove of a likelihood, for --level exact."
_LEVELS = click.Choice(["float", "rigorous", "exact"])
solver_option = click.option(
    "-s", "--solver", default="auto", show_default=True, shell_complete=completion.solvers, help=_NAME
)
tolerance = click.option("--tol", type=float, default=1e-8, show_default=True, callback=_between_0_and_1, help=_TOL)
proof_level = _all_of(
    click.option("--level", type=_LEVELS, default="float", show_default=True, help="How much the proof shows."),
    click.option("--digits", type=click.IntRange(1, 1000), default=30, show_default=True, help=_DIGITS),
)


def solver_settings(solver: str, options: tuple[str, ...]) -> dict[str, Any]:
    """The options by name, in the types of the solver's fields."""
    from convexcls.cli.settings import read_settings, solver_options

    if solver == "auto":
        if options:
            raise click.UsageError("--option needs --solver: 'auto' chooses the solver itself and has no options")
        return {}
    known = solver_options(known_solver(solver))
    return read_settings(options, known, "--option", f"the solver {solver!r}")


def known_solver(name: str) -> type:
    """The class of a solver; an unknown name is a usage error that lists the names."""
    from convexcls.cli.settings import did_you_mean
    from convexcls.job import DUAL
    from convexcls.solvers import CVXPY, REGISTRY, solver_class

    given, names, more = name.removeprefix(DUAL), list(REGISTRY), [f"{CVXPY}<BACKEND>"]
    if given.lower().startswith(CVXPY):
        from convexcls.solvers.foreign.cvxpy import backends

        given = CVXPY + given[len(CVXPY) :].upper()
        names, more = [*names, *(CVXPY + backend for backend in backends())], []
    if given not in names:
        raise click.UsageError(
            f"there is no solver {name!r}{did_you_mean(given, names)}; there are {', '.join([*names, *more])}, "
            f"each also on the dual (as {DUAL}clarabel), and auto"
        )
    return solver_class(given)


def solved(problem: Model, solver: str, tol: float, settings: dict[str, Any], level: Level, digits: int) -> Solution:
    """The answer at the level asked for; of an interrupted solver, where it stopped."""
    from convexcls.solvers import SolverRefused

    with Working(f"solving the {problem.name}", goal=tol) as report:
        try:
            found = problem.solve(solver, tol=tol, callback=report, **settings)
        except Exception as error:  # with options of the user's, each solver fails in a way of its own
            if not settings or isinstance(error, SolverRefused):
                raise
            given = ", ".join(f"{name}={value}" for name, value in settings.items())
            raise click.UsageError(
                f"the solver {solver!r} does not take {given} ({type(error).__name__}: {error})"
            ) from error
    if level == "float" or found.interrupted:
        return found
    with Working(f"proving the answer, level {level}"):
        return found.at_level(level, digits)
