"""The two output streams: results on stdout, messages and progress on stderr."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, NoReturn, Self

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from convexcls.describe import Part, to_json
from convexcls.describe.terminal import PIPE_WIDTH, to_rich
from convexcls.wording import clean, shorten

BROKEN_PIPE = 141


def quoted(text: str) -> str:
    """A name from a file, for a sentence."""
    return f"'{shorten(text)}'"


def say(message: str) -> None:
    """A message on stderr."""
    click.echo(message, err=True)


def drop_stdout() -> None:
    """Nobody takes our output any more: let what is left of it go nowhere, also at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def emit(text: str) -> None:
    """A result on stdout that is for programs: as it is, without wrapping."""
    try:
        click.echo(text)
    except BrokenPipeError:
        drop_stdout()
        raise SystemExit(BROKEN_PIPE) from None


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        drop_stdout()
        raise SystemExit(BROKEN_PIPE)


def screen(stderr: bool = False) -> Console:
    """The terminal at its own width; a pipe (unless COLUMNS says otherwise) without any limit."""
    console = _Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def put(schema: str, parts: Sequence[Part], as_json: bool) -> None:
    """A described result on stdout: for programs as JSON of that schema, else for people."""
    if as_json:
        emit(to_json(schema, *parts))
    else:
        to_rich(screen(), *parts, hint=" (--all lists them)")


class Working:
    """A line on stderr while something takes long: only on a terminal, and only after ``patience`` seconds.

    Used as ``with Working("solving") as report:`` where ``report`` goes in as the callback of a solver; it
    is None where nobody would see it, so that nothing is computed for it. With a ``goal``, the residual at which a
    solver is done, there is a bar: how many of the digits from its first residual to the goal it has gained.
    """

    def __init__(
        self, what: str, patience: float = 2.0, console: Console | None = None, goal: float | None = None
    ) -> None:
        self.goal, self.first, self.reached = goal, 0.0, ""
        self.console = console or screen(stderr=True)
        columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
        self.bar = Progress(*columns, console=self.console, transient=True)
        self.whole = self.what = clean(what)
        self.task = self.bar.add_task(self.what)
        self.lock, self.shown, self.over = threading.Lock(), False, False
        self.timer = threading.Timer(patience, self._show)
        self.timer.daemon = True

    def _show(self) -> None:
        with self.lock:
            if not self.over:
                self.shown = True
                self.bar.start()

    def __enter__(self) -> Self | None:
        if not self.console.is_terminal:
            return None
        self.timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        with self.lock:
            self.over = True
            if self.shown:
                self.bar.stop()

    def __call__(self, event: Any) -> None:
        """Tell of an iteration of a solver, of a finished row of a comparison, or of a word."""
        if hasattr(event, "iteration"):
            text = f"iteration {event.iteration}, objective {event.objective:.6g}, residual {event.residual:.1e}"
            self.reached = f"{text}; "
            self._gained(event.iteration, event.residual)
        elif hasattr(event, "solver"):
            text = f"{event.solver} is done"
        else:
            text = f"{self.reached}{event}"  # of a pass over blocks, beside how near the solver is
        self.bar.update(self.task, description=f"{self.what}: {clean(text)}")

    def _gained(self, iteration: int, residual: float) -> None:
        if self.goal is None or not math.isfinite(residual):
            return
        if iteration == 0 or not self.first:
            self.first = residual
        if self.first > self.goal:
            digits = math.log(self.first / max(residual, self.goal)) / math.log(self.first / self.goal)
            self._with_bar()
            self.bar.update(self.task, completed=max(digits, 0.0), total=1.0)

    def now(self, name: str) -> None:
        """Tell what runs now; its time begins anew."""
        self.what = f"{self.whole}: {clean(name)}"
        self.bar.reset(self.task, description=self.what)

    def count(self, done: int, total: int) -> None:
        """Tell how much of something countable is done, with a bar."""
        self._with_bar()
        self.bar.update(self.task, completed=done, total=total, description=f"{self.what}: {done} of {total}")

    def _with_bar(self) -> None:
        if not any(isinstance(column, BarColumn) for column in self.bar.columns):
            self.bar.columns = (*self.bar.columns[:2], BarColumn(), *self.bar.columns[2:])


class Told:
    """What is finished, one line each on stderr, from the moment on when the whole has taken longer than ``patience``
    seconds; on a terminal ``working`` says what runs now, and for how long."""

    def __init__(self, working: Working | None, patience: float = 2.0) -> None:
        self.working, self.waiting, self.lock = working, list[str](), threading.Lock()
        self.patient, self.over = True, False
        self.timer = threading.Timer(patience, self._tell)
        self.timer.daemon = True

    def __enter__(self) -> Self:
        self.timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        with self.lock:
            self.over = True

    def begins(self, name: str) -> None:
        """Something begins."""
        if self.working is not None:
            self.working.now(name)

    def finished(self, what: object) -> None:
        """Something is done."""
        with self.lock:
            self.waiting.append(clean(str(what)))
        if not self.patient:
            self._tell()

    def _tell(self) -> None:
        with self.lock:
            self.patient = False
            lines, self.waiting = self.waiting, []
            if self.over:
                return
            for line in lines:
                if self.working is not None:
                    self.working.console.print(line)
                else:
                    say(line)
