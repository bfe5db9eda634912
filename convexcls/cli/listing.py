"""Tables of solvers, of gallery problems, and of several solvers' answers to one problem."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction

from rich.console import Console

from convexcls.cli.columns import SourceError
from convexcls.cli.screen import clean, say, write
from convexcls.cli.tables import Column, number, seconds, show_table, small
from convexcls.cli.typed import describe, solver_options
from convexcls.compare import Comparison, Row
from convexcls.gallery import Number

LONGEST_OPTIMUM = 12
MEANING = (
    "The last five columns are relative: duality gap, stationarity, primal and dual feasibility,\n"
    "complementary slackness."
)


def show_comparison(console: Console, comparison: Comparison) -> None:
    """One line a solver, then what fell short of a proof."""
    columns = [
        Column("solver"), Column("verdict"), Column("objective", number=True), Column("support", number=True),
        Column("steps", number=True), Column("seconds", number=True), Column("gap", number=True, begins=True),
        *(Column(title, number=True) for title in ("stationarity", "primal", "dual", "slackness")),
    ]  # fmt: skip
    show_table(console, columns, [_cells(row) for row in comparison.rows])
    console.print()
    write(console, f"{MEANING} An optimum is proved where all are at most {comparison.tol:.0e}.")
    if any(row.status in ("infeasible", "unattained") for row in comparison.rows):
        write(console, "Infeasible and unattained are proved by other means, which 'convexcls solve' shows.")
    for row in comparison.rows:
        if row.status == "undecided":
            reason = row.solution.certificate.reason or row.message
            write(console, f"  {row.solver} is not proved: {reason}")


def _cells(row: Row) -> list[str]:
    kkt = row.solution.certificate.kkt if row.solution.x is not None else None
    gap = math.nan if kkt is None else kkt.relative_gap
    speaks = row.status in ("optimal", "undecided")
    measures = (gap, row.stationarity, row.primal_feasibility, row.dual_feasibility, row.complementary_slackness)
    return [
        row.solver, row.status, number(row.objective), "-" if row.support is None else str(row.support),
        str(row.iterations), seconds(row.seconds), *(small(value if speaks else math.nan) for value in measures),
    ]  # fmt: skip


def show_solvers(console: Console) -> None:
    """All solvers, what they take, what they promise."""
    from convexcls.solve import solvers

    rows = [[info.name, info.accepts, f"{info.promise:.0e}"] for info in solvers()]
    show_table(console, [Column("solver"), Column("takes", words=True), Column("promises", number=True)], rows)
    console.print()
    write(
        console,
        "A promise is a relative accuracy on problems of ordinary scale. Whatever a solver says, its answer is\n"
        "checked on the data as given. Options of one: convexcls solvers NAME. On the dual: dual:NAME, as dual:osqp.\n"
        "A learning rule is shown for what it does: it is compared with others only where it is named.",
    )


def show_solver(console: Console, cls: type) -> None:
    """One solver with its options."""
    write(console, f"{cls.name}: {cls.accepts}; promises {cls.promise:.0e}")  # type: ignore[attr-defined]
    write(console, inspect.cleandoc(cls.__doc__ or ""))
    options = solver_options(cls)
    if not options:
        write(console, "It has no options.")
        return
    rows = [[o.name, str(o.default), describe(o.hint)] for o in options.values()]
    console.print()
    show_table(console, [Column("option"), Column("default"), Column("value", words=True)], rows)


def show_problems(console: Console) -> None:
    """The gallery; an entry that cannot be read is named on stderr."""
    from convexcls import gallery

    rows, broken = [], 0
    for name in gallery.entries():
        try:
            e = gallery.entry(name)
        except gallery.GalleryError as error:
            say(f"{name}: {clean(str(error))}")
            broken += 1
            continue
        data, optimum = e.problem.data, _optimum(e.known.optimum)
        rows.append([name, e.problem.kind, str(data.n), str(data.d), e.known.verdict, optimum, e.title])
    columns = [
        Column("name"), Column("model"), Column("n", number=True), Column("d", number=True), Column("verdict"),
        Column("optimum"), Column("title", words=True, begins=True),
    ]  # fmt: skip
    show_table(console, columns, rows)
    if broken:
        raise SourceError(f"{broken} of the gallery's problems cannot be read")


def _optimum(known: Number | None) -> str:
    """The optimum as the gallery writes it, or its first digits where that is long."""
    if known is None:
        return "-"
    text = str(known)
    if len(text) <= LONGEST_OPTIMUM:
        return text
    digits = f"{float(known):.6g}"
    return digits if known.exact and Fraction(digits) == known.value else digits + "…"
