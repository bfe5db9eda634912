"""Every model on data in the likeness of what people bring, beside scikit-learn at its defaults and at our accuracy.

    python -m benchmarks.everyday [--only NAME ...] [--limit SECONDS] [--quick] [--defaults] [--wall] [--out FOLDER]

Each contender runs in a process of its own with a limit; times are the processor's unless ``--wall``. An answer of ours
counts only where it is certified. The accuracy of a point is its objective, as we compute it, above the best lower
bound that was proved, relative to it. The ratio of a line is that of the fastest peer that reaches the accuracy to
ours; where none does, that of the fastest at its own accuracy. ``make bench`` runs these cases among the others.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from benchmarks.everyday_cases import CASES, LIMIT
from benchmarks.race import CONTEXT, Case, Outcome, Setup, race
from benchmarks.report import Report
from benchmarks.standing import Standing

COLUMNS = (
    "case",
    "ours, s",
    "wall, s",
    "memory / X",
    "answer",
    "at our accuracy",
    "ratio",
    "at its own",
    "ratio",
    "bar",
)


def line(outcome: Outcome) -> tuple[str, ...]:
    """A case in one row: our time and answer, and both fastest peers with their time over ours."""
    standing = Standing.of(outcome.results)
    ours, cells = standing.ours, []
    for peer in (standing.exact, standing.fastest):
        ratio = standing.ratio(peer)
        cells += [standing.words(peer), "" if math.isnan(ratio) else f"{ratio:.2f}"]
    mark = {v.mark for v in outcome.verdicts}
    bar = "missed" if "missed" in mark else "met" if mark == {"met"} else "open" if mark else ""
    took = (
        (f"{ours.seconds:.3g}", f"{ours.wall:.3g}", f"{ours.memory:.2g}") if not ours.status else (ours.status, "", "")
    )
    return (outcome.case.title, *took, ours.note, *cells, bar)


def table(outcomes: Iterable[Outcome]) -> Table:
    """All cases, one row each."""
    out = Table(*COLUMNS, title="Everyday data", title_justify="left")
    for outcome in outcomes:
        row = line(outcome)
        out.add_row(*row, style="bold" if row[-1] == "missed" else "")
    return out


@click.command()
@click.option("--only", multiple=True, help="Only cases whose title contains this; may be given several times.")
@click.option("--limit", default=LIMIT, show_default=True, help="Seconds after which a fit is stopped.")
@click.option("--quick", is_flag=True, help="Small sizes and short limits.")
@click.option("--defaults", is_flag=True, help="Peers at their defaults only: sooner done.")
@click.option("--wall", is_flag=True, help="Count the time on the wall instead of the processor's.")
@click.option("--repeat", default=3, show_default=True, help="The best of so many runs counts.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results; none are kept without it.")
def main(
    only: tuple[str, ...], limit: float, quick: bool, defaults: bool, wall: bool, repeat: int, out: Path | None
) -> None:
    """Run the cases one after another and print the table."""
    from benchmarks.run import PRELOAD, THREADS, about

    os.environ.update(dict.fromkeys(THREADS, "1"))
    CONTEXT.set_forkserver_preload([m for m in PRELOAD if m.startswith(("benchmarks", "convexcls", "sklearn"))])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop the contender that is running, too
    setup, console = Setup(repeat, cpu=not wall), Console(width=None if sys.stdout.isatty() else 250)
    report = Report(about(setup), quick)
    for each in chosen(only, limit, quick, defaults):
        begun = time.monotonic()
        for outcome in race(each, setup):
            report.outcomes[each.title] = outcome
        console.print(
            "; ".join(cell for cell in line(outcome) if cell), f"[{time.monotonic() - begun:.0f} s]", markup=False
        )
        if out is not None:
            report.write(out)
    console.print(table(report.outcomes.values()))


def chosen(only: tuple[str, ...], limit: float, quick: bool = False, defaults: bool = False) -> list[Case]:
    """The cases that are asked for, with the limit and the peers."""
    named = [replace(c, cap=limit) for c in CASES if not only or any(o in c.title for o in only)]
    if defaults:
        named = [replace(c, contenders=tuple(p for p in c.contenders if p.ours or p.at_defaults)) for c in named]
    return [c.quickly() for c in named if c.quick is not None] if quick else named


if __name__ == "__main__":
    main()
