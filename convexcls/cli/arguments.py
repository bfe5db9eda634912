"""The arguments that several commands share: SOURCE with what says how to read it, the tolerance, the solver."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from convexcls.basis import BASES
from convexcls.cli import completion
from convexcls.models import by_kind

Command = Callable[..., Any]
MODELS = ", ".join(by_kind())


def source_arguments(command: Command) -> Command:
    """The argument SOURCE with the options that say how to read a data file, gathered into a ``Request``."""

    @wraps(command)
    def gathered(
        source: str, model: str | None, file_format: str | None, target: str | None, features: str | None,
        weight: str | None, settings: tuple[str, ...], no_intercept: bool, basis: str | None, **rest: Any,
    ) -> Any:  # fmt: skip
        from convexcls.cli.columns import Choice
        from convexcls.cli.sources import Request

        columns = Choice(target, features, weight)
        return command(Request(source, model, file_format, columns, settings, not no_intercept, basis), **rest)

    options = [
        click.argument("source", shell_complete=completion.sources),
        click.option("-m", "--model", metavar="KIND", shell_complete=completion.models,
                     help=f"The classifier, for a data file: {MODELS}."),
        click.option("-t", "--target", metavar="COLUMN", help="The column with the labels (default: the last)."),
        click.option("-f", "--features", metavar="A,B,C", help="The columns to use (default: all others)."),
        click.option("-w", "--weight", metavar="COLUMN", help="The column with the weights of the samples."),
        click.option("-p", "--param", "settings", metavar="NAME=VALUE", multiple=True,
                     shell_complete=completion.parameters,
                     help="A parameter of the model, for example C=10. May be repeated."),
        click.option("--no-intercept", is_flag=True, help="A hyperplane through the origin."),
        click.option("-b", "--basis", metavar="BASIS",
                     help=f"Functions of the features to classify by: {', '.join(BASES)}."),
        click.option("--format", "file_format", type=click.Choice(["csv", "svmlight", "parquet"]),
                     help="The format of the data file, where its name does not tell."),
    ]  # fmt: skip
    wrapped: Command = gathered
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def solver_option(command: Command) -> Command:
    """The option --solver."""
    return click.option("-s", "--solver", default="auto", show_default=True, shell_complete=completion.solvers,
                        help="A name from 'convexcls solvers'.")(command)  # fmt: skip


def tolerance(command: Command) -> Command:
    """The option --tol."""

    def check(ctx: click.Context, parameter: click.Parameter, value: float) -> float:
        if not 0 < value < 1:
            raise click.BadParameter(f"{value} is not a number between 0 and 1", ctx, parameter)
        return value

    help_text = "The relative tolerance of the proof."
    return click.option("--tol", type=float, default=1e-8, show_default=True, callback=check, help=help_text)(command)


def proof_level(command: Command) -> Command:
    """The options --level and --digits."""
    levels = click.Choice(["float", "rigorous", "exact"])
    for option in (
        click.option("--digits", type=click.IntRange(1, 1000), default=30, show_default=True,
                     help="Digits to prove of a likelihood, for --level exact."),
        click.option("--level", type=levels, default="float", show_default=True, help="How much the proof shows."),
    ):  # fmt: skip
        command = option(command)
    return command


def solver_settings(solver: str, options: tuple[str, ...]) -> dict[str, Any]:
    """The options by name, in the types of the solver's fields."""
    from convexcls.cli.typed import read_settings, solver_options

    if solver == "auto":
        if options:
            raise click.UsageError("--option needs --solver: 'auto' chooses the solver itself and has no options")
        return {}
    known = solver_options(known_solver(solver))
    return read_settings(options, known, "--option", f"the solver {solver!r}")


def known_solver(name: str) -> type:
    """The class of a solver; an unknown name is a usage error that lists the names."""
    from convexcls.cli.typed import did_you_mean
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
