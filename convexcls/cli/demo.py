"""``convexcls demo``: a problem stated, solved by several solvers and proved; then one that has no solution."""

from __future__ import annotations

from rich.console import Console

from convexcls.cli.columns import SourceError
from convexcls.cli.listing import show_comparison
from convexcls.cli.screen import write
from convexcls.report.reading import certified

SOLVERS = ("working-set", "interior-point", "clarabel", "osqp", "cvxpy:CLARABEL", "cvxpy:SCS")


def run(console: Console) -> int:
    """Print the demonstration; 0 where everything that it shows is proved."""
    from convexcls import gallery
    from convexcls.compare import compare

    first = gallery.entry(_pick("twenty_points", "two_points"))
    write(console, f"1. {first.title}\n", "bold")
    write(console, "A classifier is declared as a convex program. This one:\n")
    write(console, first.problem.explain().rstrip("\n"))
    write(console, "\nSeveral solvers work on it. None is believed: every answer is measured on the data as given.\n")
    comparison = compare(first.problem, list(SOLVERS))
    show_comparison(console, comparison)
    best = next((row.solution for row in comparison.rows if certified(row.solution)), comparison.rows[0].solution)
    if first.known.optimum is not None:
        write(console, f"The optimum is known exactly: {first.known.optimum} = {float(first.known.optimum):.10g}.")
    write(console, f"\nThe proof of the answer of {best.solver}, in words:\n")
    write(console, best.certificate.explain())

    second = gallery.entry(_pick("xor_hard_margin"))
    write(console, f"\n2. {second.title}\n", "bold")
    write(console, "Where there is no answer, that is proved as well, by numbers that anyone can add up:\n")
    answer = second.problem.solve()
    write(console, answer.certificate.explain())
    write(console, "\nNext: convexcls problems, convexcls solve NAME, convexcls show NAME --dual")
    return 0 if certified(best) and certified(answer) else 1


def _pick(*names: str) -> str:
    """The first of these that the gallery has."""
    from convexcls import gallery

    known = gallery.entries()
    for name in names:
        if name in known:
            return name
    raise SourceError(f"the gallery has no problem {' or '.join(names)}")
