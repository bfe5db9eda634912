"""The command ``live``: a page on which points are dragged."""

from __future__ import annotations

import re
import webbrowser
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from convexcls import gallery
from convexcls.cli import arguments
from convexcls.cli.screen import emit, quoted, say
from convexcls.cli.sources import Request, read_problem
from convexcls.models import by_kind

NEEDED = ("starlette", "uvicorn", "websockets", "contourpy")
LOOPBACK = "127.0.0.1"
_SOURCE = arguments.completer(lambda _: gallery.entries(), files=True)
_MODEL = "The classifier, for a data file (default: soft-margin)."
_KINDS = arguments.completer(lambda _: by_kind())
#: A token has at least so many letters: nobody guesses it.
MIN_TOKEN_LETTERS = 16


def _checked(ctx: click.Context, parameter: click.Parameter, token: str | None) -> str | None:
    """A token that can stand in an address."""
    if token is None or (len(token) >= MIN_TOKEN_LETTERS and re.fullmatch(r"[A-Za-z0-9_-]+", token)):
        return token
    wanted = f"give {MIN_TOKEN_LETTERS} letters or more, of A-Z, a-z, 0-9, _ and -"
    raise click.BadParameter(f"{quoted(token)} can be guessed, or cannot stand in an address: {wanted}", ctx, parameter)


@click.command()
@click.argument("source", required=False, shell_complete=_SOURCE)
@click.option("-m", "--model", metavar="KIND", shell_complete=_KINDS, help=_MODEL)
@click.option("-p", "--param", "settings", metavar="NAME=VALUE", multiple=True, help="A parameter of the model.")
@arguments.column_options
@arguments.format_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port (default: one that is free).")
@click.option(
    "--host", default=LOOPBACK, show_default=True, metavar="ADDRESS", help="Another address lets other machines in."
)
@click.option("--token", callback=_checked, help="The token of an address that was open before, to serve it again.")
@click.option("--no-browser", is_flag=True, help="Only print the address of the page.")
def live(source: str | None, port: int, host: str, token: str | None, no_browser: bool, **given: Any) -> int:
    """Open a page on which points are dragged, and margins, multipliers and the proof follow.

    SOURCE is a problem of the gallery with two features (a name from 'convexcls problems'), or a data file of which two
    columns are shown (--features A,B); without it the page begins with two classes of its own. The page is on this
    machine only, and its address holds a token. Ctrl-C ends it.

    Needs the extra live: pip install 'convexcls[live]'.

    \b
    Examples:
      convexcls live
      convexcls live twenty_points
      convexcls live data.csv --features age,dose --target sick --model logistic
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise click.UsageError(f"the page needs {', '.join(missing)}; install it with: pip install 'convexcls[live]'")
    model, settings = given.pop("model"), given.pop("settings")
    how = arguments.table_options(given)
    if source is None and (model or settings or how["columns"].given):
        raise click.UsageError("--model, --param and columns are for a data file: name one")
    state = _first(None if source is None else Request(source, model, settings=settings, **how))
    if host != LOOPBACK:
        say(f"note: the page is open to everyone who reaches {host} and has its address")
    from convexcls.live.server import serve

    def ready(url: str) -> None:
        emit(url)
        say("The page is open; Ctrl-C ends it.")
        if not no_browser:
            webbrowser.open(url)

    say("Starting; this takes a few seconds.")
    try:
        serve(state, host, port, ready, token)
    except OSError as error:
        raise click.UsageError(f"--host {host} --port {port}: {error.strerror or error}") from None
    return 0


def _first(request: Request | None) -> dict[str, Any]:
    """The state to begin with. Of a data file with more features the first two are shown."""
    from convexcls.live.loading import first_state, state_of

    if request is None:
        return first_state()
    is_file = Path(request.source).suffix.lower() != ".toml" and request.source not in gallery.entries()
    problem = read_problem(replace(request, model=request.model or "soft-margin") if is_file else request)
    names = tuple(problem.data.features)
    if len(names) <= 2 or not is_file:
        return state_of(problem)
    say(f"features: {quoted(names[0])} and {quoted(names[1])}, the first two (others: --features A,B)")
    return state_of(problem, (names[0], names[1]))
