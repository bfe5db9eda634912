"""What the referee found of solvers, described: the standings, the worst cases, how to read them."""

from __future__ import annotations

import math
from typing import Any

from convexcls.bench.judgement import COLUMNS, SHIFT_SECONDS, Judgement
from convexcls.bench.trial import MIN_CLAIMED_DIGITS, Trial
from convexcls.describe.parts import Chapter, Column, Fact, Facts, Part, Prose, Table
from convexcls.wording import count

#: What the columns of the standings count.
WORDS = {
    "taken": "problems that the solver took",
    "solved": "the right verdict; an optimum proved to the tolerance",
    "wrong": f"another verdict, or a point said to be optimal of fewer than {MIN_CLAIMED_DIGITS:g} right digits",
    "short": "the right verdict, a point that is not proved",
    "silent": "no claim",
    "failed": "an exception",
    "late": "the time was up",
    "digits": "right digits of the optimum, the median",
    "seconds": f"the geometric mean, shifted by {SHIFT_SECONDS:g} s; what is not solved counts as the limit",
}


def standings_table(found: Judgement) -> Table:
    """A row a solver."""
    columns = tuple(Column(name, "text" if name == "solver" else "number", begins=name == "silent") for name in COLUMNS)
    limit = "" if found.time_limit is None else f", {found.time_limit:g} seconds a problem"
    title = f"{count(len({trial.case for trial in found.trials}), 'problem')}, tolerance {found.tol:.0e}{limit}"
    rows = tuple(map(tuple, found.table()))
    return Table("standings", title, columns, rows, sortable=len(rows) > 1, values=found.to_dict())


def how_to_read() -> Facts:
    """What the columns say."""
    return Facts(tuple(Fact(name, words) for name, words in WORDS.items()))


def worst_table(found: Judgement, solver: str) -> Table:
    """The worst cases of one solver, each with the command that shows it again."""
    columns = (
        Column("problem"),
        Column("outcome"),
        Column("claimed"),
        Column("known"),
        Column("digits", "number"),
        Column("why", "words"),
        Column("to see it again", "words", pages_only=True),
    )
    rows = tuple((*_cells(trial), found.command(trial)) for trial in found.worst(solver))
    return Table("worst", f"The worst of {solver}", columns, rows, values={})


def _cells(trial: Trial) -> tuple[Any, ...]:
    digits = "-" if math.isnan(trial.digits) else f"{trial.digits:.1f}"
    return (trial.case, trial.outcome, trial.claimed or "-", trial.known, digits, trial.reason or trial.message)


def judgement_parts(found: Judgement) -> list[Part]:
    """The standings, how to read them, then the worst of each solver that has any."""
    parts: list[Part] = [standings_table(found), how_to_read()]
    for solver in found.solvers:
        if (table := worst_table(found, solver)).rows:
            again = found.command(found.worst(solver)[0])
            parts += [
                Prose(f"{table.title}, the first to be seen again by {again}" if again else str(table.title)),
                table,
            ]
    return parts


def families_table(found: Judgement) -> Table:
    """Of each family, how many problems each solver solved of those that it took, and its wrong claims."""
    families = list(dict.fromkeys(trial.family for trial in found.trials))
    rows = []
    for family in families:
        row: list[Any] = [family]
        for solver in found.solvers:
            own = [trial for trial in found.of(solver) if trial.family == family]
            solved, wrong = (sum(t.outcome == word for t in own) for word in ("solved", "wrong"))
            row.append(f"{solved} of {len(own)}" + (f", {wrong} wrong" if wrong else "") if own else "-")
        rows.append(tuple(row))
    columns = (Column("family"), *(Column(solver) for solver in found.solvers))
    return Table("families", "Solved, by family", columns, tuple(rows), values={})


def judgement_chapters(found: Judgement) -> list[Chapter]:
    """The chapters of a page, besides its pictures."""
    worst = tuple(table for solver in found.solvers if (table := worst_table(found, solver)).rows)
    chapters = [
        Chapter("standings", "Standings", (standings_table(found), how_to_read())),
        Chapter("families", "By family", (families_table(found),)),
    ]
    return [*chapters, Chapter("worst", "Worst cases", worst)] if worst else chapters
