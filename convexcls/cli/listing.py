"""The commands ``solvers``, ``problems``, ``demo`` and ``completion``: what there is, and what it looks like."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any

import click
from click.shell_completion import get_completion_class

from convexcls import gallery
from convexcls.cli.arguments import json_option, known_solver, solver_names
from convexcls.cli.screen import emit, put, say, screen
from convexcls.cli.settings import describe, solver_options
from convexcls.cli.sources import SourceError
from convexcls.describe import Column, Mark, Prose, Table
from convexcls.describe.terminal import to_rich, write
from convexcls.wording import clean, plain_values

PROGRAM = "convexcls"
SHELLS = ("bash", "zsh", "fish")
MAX_OPTIMUM_CHARACTERS = 12
SHOWN = ("working-set", "interior-point", "clarabel", "osqp", "cvxpy:CLARABEL", "cvxpy:SCS")
PROMISE = """\
A promise is a relative accuracy on problems of ordinary scale. Whatever a solver says, its answer is
checked on the data as given. Options of one: convexcls solvers NAME. On the dual: dual:NAME, as dual:osqp.
A learning rule is shown for what it does: it is compared with others only where it is named."""


@click.command()
@click.argument("name", required=False, shell_complete=solver_names)
@json_option("The list as JSON, with the options of each.")
def solvers(name: str | None, as_json: bool) -> int:
    """List the solvers: what each takes and the relative accuracy it promises.

    With a NAME, that solver and its options.

    \b
    Examples:
      convexcls solvers
      convexcls solvers osqp
    """
    from convexcls.solve import list_solvers as known

    if name is not None and not as_json:
        _show_solver(known_solver(name))
        return 0
    rows = tuple((info.name, info.accepts, f"{info.promise:.0e}") for info in known())
    columns = (Column("solver"), Column("takes", "words"), Column("promises", "number"))
    chosen = [known_solver(name)] if name is not None else [known_solver(info.name) for info in known()]
    values = {"solvers": list(map(_solver_values, chosen))}
    put("convexcls-solvers/1", [Table("solvers", "Solvers", columns, rows, values=values), Prose(PROMISE)], as_json)
    return 0


def _solver_values(cls: type) -> dict[str, Any]:
    """A solver for programs."""
    options = {o.name: plain_values(o.default) for o in solver_options(cls).values()}
    return {**{name: getattr(cls, name) for name in ("name", "accepts", "promise", "rule")}, "options": options}


def _show_solver(cls: type) -> None:
    """One solver with its options."""
    text = f"{cls.name}: {cls.accepts}; promises {cls.promise:.0e}"  # type: ignore[attr-defined]
    words = f"{text}\n{inspect.cleandoc(cls.__doc__ or '')}"
    rows = tuple((o.name, str(o.default), describe(o.hint)) for o in solver_options(cls).values())
    if not rows:
        words += "\nIt has no options."
    columns = (Column("option"), Column("default"), Column("value", "words"))
    to_rich(screen(), Prose(words), Table("options", "Options", columns, rows))


@click.command()
@json_option("The list as JSON.")
def problems(as_json: bool) -> int:
    """List the gallery: problems with known answers.

    \b
    Examples:
      convexcls problems
      convexcls solve two_points
    """
    rows, values, broken = [], [], 0
    for name in gallery.entries():
        try:
            e = gallery.entry(name)
        except gallery.GalleryError as error:
            say(f"{name}: {clean(str(error))}")
            broken += 1
            continue
        data, optimum = e.problem.data, _optimum(e.known.optimum)
        rows.append((name, e.problem.kind, data.n, data.d, Mark(e.known.verdict, "word"), optimum, e.title))
        about = {"name": name, "title": e.title, "model": e.problem.kind, "samples": data.n, "features": data.d}
        exact = None if e.known.optimum is None else str(e.known.optimum)
        values.append({**about, "verdict": e.known.verdict, "optimum": exact})
    titles = (
        Column(title, "count" if title in ("n", "d") else "text")
        for title in ["name", "model", "n", "d", "verdict", "optimum"]
    )
    columns = (*titles, Column("title", "words", begins=True))
    listed = Table("problems", "The gallery", columns, tuple(rows), values={"problems": values})
    put("convexcls-problems/1", [listed], as_json)
    if broken:
        raise SourceError(f"{broken} of the gallery's problems cannot be read")
    return 0


def _optimum(known: gallery.Number | None) -> str:
    """The optimum as the gallery writes it, or its first digits where that is long."""
    if known is None:
        return "-"
    text = str(known)
    if len(text) <= MAX_OPTIMUM_CHARACTERS:
        return text
    digits = f"{float(known):.6g}"
    return digits if known.exact and Fraction(digits) == known.value else digits + "…"


@click.command()
def demo() -> int:
    """Show on two small problems what convexcls does: state, solve, compare, prove.

    \b
    Example:
      convexcls demo
    """
    from convexcls.describe.solution import certified
    from convexcls.describe.studies import comparison_parts
    from convexcls.studies.compare import compare

    console = screen()
    first = gallery.entry("twenty_points")
    write(console, f"1. {first.title}\n", "bold")
    write(console, "A classifier is declared as a convex program. This one:\n")
    write(console, first.problem.explain().rstrip("\n"))
    write(console, "\nSeveral solvers work on it. None is believed: every answer is measured on the data as given.\n")
    comparison = compare(first.problem, list(SHOWN))
    to_rich(console, *comparison_parts(comparison))
    best = next((row.solution for row in comparison.rows if certified(row.solution)), comparison.rows[0].solution)
    if first.known.optimum is not None:
        write(console, f"The optimum is known exactly: {first.known.optimum} = {float(first.known.optimum):.10g}.")
    write(console, f"\nThe proof of the answer of {best.solver}, in words:\n")
    write(console, best.certificate.explain())

    second = gallery.entry("xor_hard_margin")
    write(console, f"\n2. {second.title}\n", "bold")
    write(console, "Where there is no answer, that is proved as well, by numbers that anyone can add up:\n")
    answer = second.problem.solve()
    write(console, answer.certificate.explain())
    write(console, "\nNext: convexcls problems, convexcls solve NAME, convexcls show NAME --dual")
    return 0 if certified(best) and certified(answer) else 1


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the script that completes commands, options, problems, models and solvers in a shell.

    \b
    Examples:
      convexcls completion bash > ~/.local/share/bash-completion/completions/convexcls
      convexcls completion zsh > "${fpath[1]}/_convexcls"
      convexcls completion fish > ~/.config/fish/completions/convexcls.fish
    """
    found = get_completion_class(shell)
    assert found is not None, f"click knows {shell}"
    script = found(ctx.find_root().command, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE")
    emit(script.source_template % script.source_vars())
    return 0
