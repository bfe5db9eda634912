"""The command line: ``convexcls show | solve | check | report | compare | validate | summary | path | plot``, ...

Results go to stdout, everything else to stderr. Exit codes: 0 proved, 1 not proved, 2 bad input or usage, 3 a
bug of ours, 130 interrupted.
"""

from __future__ import annotations

import errno
import opcode
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import click

from convexcls import __version__
from convexcls.cli.bench import gallery, referee
from convexcls.cli.blocks import blocks
from convexcls.cli.listing import completion, demo, problems, solvers
from convexcls.cli.live import live
from convexcls.cli.pages import plot, report
from convexcls.cli.predictions import evaluate, fit, models, predict
from convexcls.cli.screen import BROKEN_PIPE, drop_stdout, say
from convexcls.cli.solving import check, prove, show, solve, verify
from convexcls.cli.studies import compare, path, separability, summary, validate
from convexcls.cli.typed import typed
from convexcls.engines import EngineError
from convexcls.wording import clean

BAD_INPUT, BUG, INTERRUPTED = 2, 3, 130
WELCOME = """\
convexcls: linear classifiers as convex programs, solved by any solver, with a proof of the answer.

Three things to try:

  convexcls demo                      a hard margin from formulation to proof, then XOR, proved infeasible
  convexcls report twenty_points      a problem of the gallery as a page: formulas, proof, pictures
  convexcls report data.csv --model soft-margin --target label      the same for a table of yours

convexcls problems lists the gallery, convexcls --help all commands.
"""


class App(click.Group):
    """A group of commands that turns every outcome into an exit code and every error into one message."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run; with ``standalone_mode`` leave by ``sys.exit`` with the command's exit code."""
        run: Callable[..., Any] = super().main
        if not standalone_mode:
            return run(*args, standalone_mode=False, **extra)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a letter that the terminal lacks is no reason to fail
                stream.reconfigure(errors="backslashreplace")
        with warnings.catch_warnings():
            if not sys.warnoptions:  # overflow on the way is for the certificate to judge
                warnings.simplefilter("ignore", RuntimeWarning)
            sys.exit(exit_code(lambda: run(*args, standalone_mode=False, **extra)))


def exit_code(run: Callable[[], Any]) -> int:
    """The exit code of a run. Messages go to stderr; a traceback only with CONVEXCLS_DEBUG=1."""
    try:
        outcome = run()
        sys.stdout.flush()
    except click.ClickException as error:
        _tell(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("Interrupted.")
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("CONVEXCLS_DEBUG") == "1":
            traceback.print_exc()
        return _judge(error)
    return outcome if isinstance(outcome, int) else 0


def _tell(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    if context is not None:
        say(context.get_usage())
        say(f"Try '{context.command_path} --help' for help.\n")
    say(f"Error: {clean(error.format_message(), keep=chr(10))}")


def _judge(error: Exception) -> int:
    """What the toolkit refused is told in its own words; what is left is a bug."""
    if isinstance(error, OSError) and error.errno in (errno.EPIPE, errno.ENOSPC) and not error.filename:
        drop_stdout()
        if error.errno == errno.EPIPE:
            return BROKEN_PIPE
    text = clean(str(error), keep="\n") or type(error).__name__
    if isinstance(error, MemoryError):
        say("Error: there is not enough memory for this problem")
    elif isinstance(error, OSError):
        name = f"{clean(str(error.filename))}: " if error.filename else ""
        say(f"Error: {name}{error.strerror or text}")
    elif isinstance(error, EngineError) or (isinstance(error, ValueError) and is_refusal(error)):
        say(f"Error: {typed(str(error))}")
    else:
        first = text.splitlines()[0][:300]
        say(f"Internal error ({type(error).__name__}: {first}); please report it, with CONVEXCLS_DEBUG=1 set")
        return BUG
    return BAD_INPUT


def is_refusal(error: ValueError) -> bool:
    """Whether the toolkit meant to raise it: an error class of its own, or a ``raise`` in its own code. A
    ValueError that came out of NumPy or of a list is a bug, not a message for the user."""
    if type(error).__module__.startswith("convexcls."):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not trace.tb_frame.f_globals.get("__name__", "").startswith("convexcls."):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == opcode.opmap["RAISE_VARARGS"]


@click.group(cls=App, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="convexcls %(version)s")
@click.pass_context
def main(ctx: click.Context) -> int:
    """Linear classifiers as explicit convex programs, solved by any solver, with a proof of the answer.

    Exit codes: 0 the verdict is proved, 1 it is not (undecided), 2 bad input or usage.

    \b
    Examples:
      convexcls demo
      convexcls show xor_hard_margin --dual
      convexcls solve data.csv --model logistic --target sick --param l2=0.1
      convexcls compare data.csv --model soft-margin --param C=10
    """
    if ctx.invoked_subcommand is None:
        click.echo(WELCOME, nl=False)
    return 0


STUDIES = (separability, compare, referee, validate, summary, path)
PREDICTIONS = (fit, predict, evaluate)
for command in (
    *(show, solve, prove, report, live, *PREDICTIONS, *STUDIES, plot, check, verify, blocks),
    *(models, solvers, problems, gallery, demo, completion),
):
    main.add_command(command)

__all__ = ["App", "exit_code", "main"]
