"""The command ``plot``, and what pictures need to become files."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convexcls.cli.arguments import file_option, known_solver, source_arguments, tolerance
from convexcls.cli.screen import Working, say
from convexcls.files import write_file
from convexcls.wording import clean

if TYPE_CHECKING:
    from convexcls.cli.sources import Request
    from convexcls.models import Model
    from convexcls.plots import Display

ENDINGS = (".png", ".pdf", ".svg")
NO_PICTURE = 1
#: Of one solution; and of a comparison of solvers.
#: Those that draw the features come first.
OF_FEATURES = ("boundary", "hulls", "probability", "trajectory")
OF_A_SOLUTION = (*OF_FEATURES, "projection", "multipliers", "slackness", "losses", "slice", "convergence")
OF_A_COMPARISON = ("answers",)
KIND = click.Choice([*OF_A_SOLUTION, *OF_A_COMPARISON])
#: The perceptron's way is that of its rule: other solvers have none to show.
RULE = {"trajectory": "perceptron"}


@click.command()
@source_arguments
@click.option("-k", "--kind", type=KIND, help="What to draw (default: what suits the problem best).")
@file_option("-o", "--output", required=True, help="The file to write: .png, .svg or .pdf.")
@click.option("-s", "--solver", default=None, help="A name from 'convexcls solvers' (default: auto).")
@click.option("--axes", metavar="A,B", help="Two features to draw, where there are more (default: a projection).")
@tolerance
def plot(request: Request, kind: str | None, output: Path, solver: str | None, axes: str | None, tol: float) -> int:
    """Solve the problem and draw it: boundary and margins, hulls, multipliers, ...

    Kinds: 'boundary' with margins and support points; 'hulls' of the classes with their shortest distance, or the point
    where they meet; 'probability'; the perceptron's 'trajectory'; 'projection' on coef; 'multipliers' by sample;
    'slackness'; 'losses' of the margin; the objective's 'slice'; 'convergence' of the solver; 'answers' of all solvers.

    SOURCE is a problem of the gallery (a name from 'convexcls problems', or a .toml file), or a data file
    (CSV with a header, svmlight, Parquet) together with --model.

    Exit codes: 0 the picture is written, 1 there is no such picture of this problem, 2 bad input.

    \b
    Examples:
      convexcls plot twenty_points -o margin.png
      convexcls plot xor_hard_margin --kind hulls -o hulls.svg
      convexcls plot data.csv --model logistic --kind probability --axes age,dose -o chances.pdf
    """
    from convexcls.cli.sources import read_problem
    from convexcls.problem import NoAnswer

    check_picture(output, "--output", request)
    if solver not in (None, "auto"):
        known_solver(solver)
    problem = read_problem(request)
    try:
        display = _display(problem, kind, solver, _pair(axes), tol)
    except NoAnswer as refusal:
        say(f"No picture: {clean(str(refusal))}")
        return NO_PICTURE
    write_picture(display, output)
    return 0


def _display(problem: Model, kind: str | None, solver: str | None, pair: tuple[str, str] | None, tol: float) -> Display:
    from convexcls.plots import KINDS, AnswersDisplay
    from convexcls.problem import NoAnswer

    if pair is not None and kind not in (None, *OF_FEATURES):
        raise click.UsageError(f"--axes has no say in the picture {kind!r}: it does not draw features")
    if solver is not None and kind in OF_A_COMPARISON:
        raise click.UsageError(f"--solver has no say in the picture {kind!r}: it has all solvers that take the problem")
    with Working(f"solving the {problem.name}") as report:
        if kind in OF_A_COMPARISON:
            from convexcls.studies.compare import compare

            return AnswersDisplay.of(compare(problem, tol=tol, callback=report))
        solution = problem.solve(solver or RULE.get(kind or "", "auto"), tol=tol, callback=report).unless_interrupted()
    chosen: dict[str, Any] = {} if pair is None else {"features": pair}
    if kind is not None:
        return KINDS[kind].of(solution, **chosen)
    for display in ("boundary", "hulls"):
        try:
            return KINDS[display].of(solution, **chosen)
        except NoAnswer:
            continue
    raise NoAnswer(f"the {problem.name} is {solution.status} and has neither boundary nor hulls; choose a --kind")


def _pair(axes: str | None) -> tuple[str, str] | None:
    if axes is None:
        return None
    names = [name.strip() for name in axes.split(",")]
    if len(names) != 2 or not all(names):
        raise click.UsageError(f"--axes {axes!r}: name two features, such as --axes age,dose")
    return names[0], names[1]


# ---- files --------------------------------------------------------------------------------------------------------


def check_picture(picture: Path, flag: str, request: Request) -> None:
    """Refuse a file that could not be written, before anything is solved."""
    from convexcls.cli.sources import check_output

    if picture.suffix.lower() not in ENDINGS:
        raise click.UsageError(f"{flag} {picture.name!r}: the name must end in {', '.join(ENDINGS)}")
    check_output(picture, flag, request)
    if find_spec("matplotlib") is None:
        raise click.UsageError(f"{flag} needs matplotlib; install it with: pip install 'convexcls[plot]'")


def write_picture(display: Display, picture: Path) -> None:
    """Draw into a file."""
    import warnings

    from convexcls.plots import Picture

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a letter that the font lacks is drawn as a box
        Picture.of(display).figure().savefig(drawn := BytesIO(), format=picture.suffix[1:].lower(), dpi=150)
    write_file(picture, drawn.getvalue())
    say(f"picture written to {clean(str(picture))}")
