"""The arguments that several commands share, with what completes them in a shell: SOURCE with what says how to read it,
the tolerance, the solver."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from convexcls import gallery
from convexcls.basis import BASES
from convexcls.cli.screen import Working
from convexcls.cli.settings import model_parameters, read_settings, solver_options
from convexcls.cli.sources import ColumnNames, Request, look_here_for
from convexcls.models import by_kind, of_this_process
from convexcls.tables.delimited import Dialect
from convexcls.tables.files import ENDINGS
from convexcls.wording import did_you_mean

if TYPE_CHECKING:
    from convexcls.models import Model
    from convexcls.proofs.certificate import Level
    from convexcls.solution import Solution

Command = Callable[..., Any]


# ---- what completes them --------------------------------------------------------------------------------


def completer(names: Callable[[click.Context], Iterable[str]], files: bool = False) -> Command:
    """What completes an argument to one of the names, which may depend on what was typed before, or to a file."""

    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in names(ctx) if name.startswith(incomplete)]
        return [*found, CompletionItem(incomplete, type="file")] if files else found

    return complete


def _solvers(_: click.Context) -> Iterable[str]:
    """Those of cvxpy only as they begin: to list them takes a second."""
    from convexcls.job import DUAL
    from convexcls.outside import brought
    from convexcls.solvers import CVXPY, REGISTRY
    from convexcls.solvers.outside import GROUP

    names = [*REGISTRY, *brought(GROUP), CVXPY]
    return ["auto", *names, *(DUAL + name for name in names)]


def _parameters(ctx: click.Context) -> Iterable[str]:
    """Those of the model that was named, each as ``NAME=``."""
    cls = by_kind().get(ctx.params.get("model") or "")
    return [] if cls is None else [f"{name}=" for name in model_parameters(cls)]


solver_names = completer(_solvers)


# ---- options --------------------------------------------------------------------------------------------


def all_of(*options: Command) -> Command:
    """Several options as one decorator, listed by the help in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def file_option(*names: str, **more: Any) -> Command:
    """An option that names a file to write."""
    writable = click.Path(dir_okay=False, writable=True, path_type=Path)
    return click.option(*names, metavar="FILE", type=writable, **more)


def json_option(what: str) -> Command:
    """The option for programs."""
    return click.option("--json", "as_json", is_flag=True, help=what)


_FOUND = "(default: found out)"
_MISSING = "Rows with missing cells: an error, left out, or marked by an indicator (default: fail)."
_REFERENCE = "The level that the others of a column are measured against (default: the most frequent). May be repeated."
_FORMULA = 'The features as a formula, such as "chd ~ sbp + tobacco * famhist".'
_POSITIVE = "The label that counts as +1; of more than two, against all others."
column_options = all_of(
    click.option("-t", "--target", metavar="COLUMN", help="The column with the labels (default: the last)."),
    click.option("-f", "--features", metavar="A,B,C", help="The columns to use (default: all others)."),
    click.option("--drop", metavar="A,B,C", multiple=True, help="Columns to leave out. May be repeated."),
    click.option("-w", "--weight", "--weights", metavar="COLUMN", help="The column with the weights of the samples."),
    click.option("--formula", metavar="FORMULA", help=_FORMULA),
    click.option("--missing", type=click.Choice(["fail", "drop", "indicator"]), help=_MISSING),
    click.option("--reference", metavar="COLUMN=LEVEL", multiple=True, help=_REFERENCE),
    click.option("--positive", metavar="LABEL", help=_POSITIVE),
)
_SOURCE = (
    "SOURCE is a problem of the gallery (a name from 'convexcls problems', or a .toml file), or a data file "
    "(CSV and the like, Parquet, Feather, .npy, .npz, .xlsx, svmlight; packed or not; a folder, a pattern, or - for "
    "the standard input) together with --model. Text columns become indicators."
)
_MODEL = f"The classifier, for a data file: {', '.join(of_this_process())}; or package.module:Class."
_PARAM = "A parameter of the model, for example C=10; or class_weight=balanced. May be repeated."
_PAIRS: dict[str, Any] = {"metavar": "NAME=VALUE", "multiple": True, "shell_complete": completer(_parameters)}
_BASIS = f"Functions of the features to classify by: {', '.join(BASES)}."
format_option = all_of(
    click.option(
        "--format",
        "file_format",
        type=click.Choice(list(ENDINGS)),
        help="The format of the data file, where its name does not tell.",
    ),
    click.option(
        "--sep", metavar="MARK", callback=lambda _c, _p, mark: _mark(mark), help=f"What separates cells {_FOUND}."
    ),
    click.option("--decimal", metavar="MARK", help=f"The decimal mark {_FOUND}."),
    click.option("--quote", metavar="MARK", help=f"The quote {_FOUND}."),
    click.option("--encoding", metavar="NAME", help=f"The encoding of text {_FOUND}."),
    click.option("--no-header", is_flag=True, help="The first line is data, not the names of the columns."),
)
_source = all_of(
    click.argument("source", shell_complete=completer(lambda _: gallery.entries(), files=True)),
    click.option("-m", "--model", metavar="KIND", shell_complete=completer(lambda _: by_kind()), help=_MODEL),
    column_options,
    click.option("-p", "--param", "settings", help=_PARAM, **_PAIRS),
    click.option("--no-intercept", is_flag=True, help="A hyperplane through the origin."),
    click.option("-b", "--basis", metavar="BASIS", help=_BASIS),
    format_option,
)


def source_arguments(command: Command) -> Command:
    """The argument SOURCE with the options that say how to read a data file, gathered into a ``Request``; the help of
    the command says what SOURCE is where it has {SOURCE}."""
    command.__doc__ = (command.__doc__ or "").replace("{SOURCE}", _SOURCE)

    @wraps(command)
    def gathered(**given: Any) -> Any:
        source, model, settings = map(given.pop, ("source", "model", "settings"))
        bare, basis = map(given.pop, ("no_intercept", "basis"))
        how = table_options(given)
        return command(Request(source, model, settings=settings, intercept=not bare, basis=basis, **how), **given)

    return _source(gathered)


def table_options(given: dict[str, Any]) -> dict[str, Any]:
    """What the options of columns and formats say, taken out of what was given."""
    columns = ColumnNames(**{f.name: given.pop(f.name) for f in fields(ColumnNames) if f.name in given})
    marks = {name: given.pop(name) for name in ("sep", "decimal", "quote", "encoding")}
    dialect = Dialect(**marks, header=not given.pop("no_header"))
    return {"format": given.pop("file_format"), "columns": columns, "dialect": dialect}


def _mark(text: str | None) -> str | None:
    """A separator, which a shell may spell by a word."""
    return {None: None, "tab": "\t", "\\t": "\t", "blank": " ", "space": " "}.get(text, text)


def _between_0_and_1(ctx: click.Context, parameter: click.Parameter, value: float) -> float:
    if not 0 < value < 1:
        raise click.BadParameter(f"{value} is not a number between 0 and 1", ctx, parameter)
    return value


_NAME = "A name from 'convexcls solvers', or package.module:Name for one of yours."
_TOL = "The relative tolerance of the proof."
_DIGITS = "Digits to prove of a likelihood, for --level exact."
_LEVELS = click.Choice(["float", "rigorous", "exact"])
solver_option = click.option(
    "-s", "--solver", default="auto", show_default=True, shell_complete=solver_names, help=_NAME
)
tolerance = click.option("--tol", type=float, default=1e-8, show_default=True, callback=_between_0_and_1, help=_TOL)
time_limit = click.option(
    "--time-limit", metavar="SECONDS", type=click.FloatRange(0, min_open=True), help="Stop each solver after so long."
)
level_option = click.option(
    "--level", type=_LEVELS, default="float", show_default=True, help="How much the proof shows."
)
proof_level = all_of(
    level_option,
    click.option("--digits", type=click.IntRange(1, 1000), default=30, show_default=True, help=_DIGITS),
)


# ---- solvers --------------------------------------------------------------------------------------------


def solver_settings(solver: str, options: tuple[str, ...]) -> dict[str, Any]:
    """The options by name, in the types of the solver's fields."""
    if solver == "auto":
        if options:
            raise click.UsageError("--option needs --solver: 'auto' chooses the solver itself and has no options")
        return {}
    return read_settings(options, solver_options(known_solver(solver)), "--option", f"the solver {solver!r}")


def check_solvers(*names: str | None) -> None:
    """Refuse a name that no solver has."""
    for name in names:
        if name not in (None, "auto"):
            known_solver(name)


def known_solver(name: str) -> type:
    """The class of a solver; an unknown name is a usage error that lists the names."""
    from convexcls.job import DUAL
    from convexcls.outside import brought, is_address
    from convexcls.solvers import CVXPY, REGISTRY, solver_class
    from convexcls.solvers.outside import GROUP

    given, names, more = name.removeprefix(DUAL), [*REGISTRY, *brought(GROUP)], [f"{CVXPY}<BACKEND>"]
    if given.lower().startswith(CVXPY):
        from convexcls.solvers.foreign.cvxpy import backends

        given = CVXPY + given[len(CVXPY) :].upper()
        names, more = [*names, *(CVXPY + backend for backend in backends())], []
    elif is_address(given):
        look_here_for(given)
        names = [*names, given]
    if given not in names:
        raise click.UsageError(
            f"there is no solver {name!r}{did_you_mean(given, names)}; there are {', '.join([*names, *more])}, "
            f"each also on the dual (as {DUAL}clarabel), package.module:Name for one of yours, and auto"
        )
    try:
        return solver_class(given)
    except (ValueError, TypeError) as error:
        raise click.UsageError(str(error)) from None


def solved(
    problem: Model,
    solver: str,
    tol: float,
    settings: dict[str, Any],
    level: Level,
    digits: int,
    limit: float | None = None,
) -> Solution:
    """The answer at the level asked for; of an interrupted solver, where it stopped."""
    from convexcls.solvers import SolverRefused

    with Working(f"solving the {problem.name}", goal=tol) as report:
        if problem.data is not None and problem.data.by_block is not None:
            problem.data.by_block.watch = report
        try:
            found = problem.solve(solver, tol=tol, callback=report, **{"time_limit": limit, **settings})
        except Exception as error:  # with options of the user's, each solver fails in a way of its own
            if not settings or isinstance(error, SolverRefused):
                raise
            given = ", ".join(f"{name}={value}" for name, value in settings.items())
            raise click.UsageError(
                f"the solver {solver!r} does not take {given} ({type(error).__name__}: {error})"
            ) from error
    if level == "float" or found.interrupted or found.cut_off:
        return found
    with Working(f"proving the answer, level {level}"):
        return found.at_level(level, digits)
