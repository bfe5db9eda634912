"""The commands ``report`` and ``plot``: a solution on one HTML page, or as a picture."""

from __future__ import annotations

import shlex
import sys
import warnings
from dataclasses import replace
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convexcls.cli import arguments
from convexcls.cli.screen import Working, say
from convexcls.cli.sources import Request, check_output, gallery_title, read_problem
from convexcls.cli.typed import typed
from convexcls.files import write_file
from convexcls.problem import NoAnswer
from convexcls.wording import capitalized, clean

if TYPE_CHECKING:
    from convexcls.models import Model
    from convexcls.plots import Display
    from convexcls.proofs.certificate import Level
    from convexcls.solution import Solution

PAGE_ENDINGS = (".html", ".htm")
COMPARED = "A solver to compare with; may be repeated (default: all, unless the data are large)."


PICTURE_ENDINGS = (".png", ".pdf", ".svg")
NO_PICTURE = 1
#: Of one solution; and of a comparison of solvers.
#: Those that draw the features come first.
OF_FEATURES = ("boundary", "hulls", "probability", "ellipses", "surface", "trajectory")
OF_SCORES = ("sigmoid", "roc", "calibration", "projection")
OF_LECTURES = ("hyperplane", "mistakes", "descent", "radius")
OF_A_SOLUTION = (*OF_FEATURES, *OF_SCORES, "multipliers", "slackness", "losses", "slice", "convergence", *OF_LECTURES)
OF_A_COMPARISON = ("answers",)
KIND = click.Choice([*OF_A_SOLUTION, *OF_A_COMPARISON])
#: Whose ways down are drawn where no solver is named.
DESCENDING = ("newton", "gradient", "sgd")
#: The perceptron's way is that of its rule: other solvers have none to show.
RULE = {"trajectory": "perceptron"}


@click.command()
@arguments.source_arguments
@arguments.file_option("-o", "--output", help="The page to write (default: the name of SOURCE with -report.html).")
@click.option(
    "--title", help="The page's title (default: that of the gallery problem, or the names of model and file)."
)
@arguments.solver_option
@click.option(
    "-c", "--compare", "compared", multiple=True, metavar="SOLVER", shell_complete=arguments.solver_names, help=COMPARED
)
@click.option("--no-compare", is_flag=True, help="Without a comparison of solvers.")
@click.option("--no-pictures", is_flag=True, help="Without pictures.")
@arguments.tolerance
@arguments.proof_level
def report(
    request: Request,
    output: Path | None,
    title: str | None,
    solver: str,
    compared: tuple[str, ...],
    no_compare: bool,
    no_pictures: bool,
    tol: float,
    level: Level,
    digits: int,
) -> int:
    """Write the problem, its answer and the proof to an HTML page that needs no network.

    The page has the data in brief, the problem beside its dual, the answer, the proof, the samples one by one, several
    solvers compared, and the pictures that suit.

    {SOURCE}

    Exit codes: 0 the verdict (optimal, infeasible or unattained) is proved, 1 it is not, 2 bad input.

    \b
    Examples:
      convexcls report twenty_points
      convexcls report data.csv --model logistic --target sick -o sick.html
      convexcls report data.csv --model soft-margin --param C=10 --compare osqp --compare clarabel
    """
    from convexcls.describe.solution import certified
    from convexcls.report import report as make

    target = _target(request.source, output)
    check_output(target, "--output", request)
    arguments.check_solvers(solver)
    for name in compared:
        arguments.known_solver(name)
    if compared and no_compare:
        raise click.UsageError("--compare and --no-compare: say one or the other")
    problem = read_problem(replace(request, exact=level == "exact"))
    found = arguments.solved(problem, solver, tol, {}, level, digits).unless_interrupted()
    with Working(f"writing the report of the {problem.name}") as progress:
        title = title or gallery_title(request) or f"{capitalized(problem.name)}: {Path(request.source).name}"
        others = not no_compare and (list(compared) or True)
        make(found, target, title, others, not no_pictures, command_line(), progress)
    say(f"{found.status}; report written to {clean(str(target))}")
    return 0 if certified(found) else 1


def _target(source: str, output: Path | None) -> Path:
    """Where the page goes: never over a file that is no page."""
    target = output or Path(f"{Path(source).stem}-report.html")
    if target.suffix.lower() not in PAGE_ENDINGS:
        raise click.UsageError(f"--output {target.name!r}: the name must end in {' or '.join(PAGE_ENDINGS)}")
    return target


def command_line() -> str:
    """What was typed, ready to be typed again."""
    return f"convexcls {shlex.join(sys.argv[1:])}"


# ---- pictures -------------------------------------------------------------------------------------------


@click.command()
@arguments.source_arguments
@click.option("-k", "--kind", type=KIND, help="What to draw (default: what suits the problem best).")
@arguments.file_option("-o", "--output", required=True, help="The file to write: .png, .svg or .pdf.")
@click.option("-s", "--solver", default=None, help="A name from 'convexcls solvers' (default: auto).")
@click.option("--axes", metavar="A,B", help="Two features to draw, where there are more (default: a projection).")
@arguments.tolerance
def plot(request: Request, kind: str | None, output: Path, solver: str | None, axes: str | None, tol: float) -> int:
    """Solve the problem and draw it: boundary and margins, hulls, multipliers, ...

    Kinds: 'boundary' with margins and support points; 'hulls' of the classes with their shortest distance, or the point
    where they meet; 'probability'; 'ellipses' of Gaussian classes; 'surface', the loss over the plane; the perceptron's
    'trajectory'; the 'sigmoid' with the samples; 'roc', the curve of found and mistaken; 'calibration' of
    probabilities; 'projection' on coef; 'multipliers' by sample; 'slackness'; 'losses' of the margin; the objective's
    'slice'; 'convergence' of the solver; 'hyperplane', its normal and distances; 'mistakes', why their count is not
    minimised; 'descent', the ways of solvers over the contours of the objective; 'radius', how far samples may move
    without any effect; 'answers' of all solvers.

    {SOURCE}

    Exit codes: 0 the picture is written, 1 there is no such picture of this problem, 2 bad input.

    \b
    Examples:
      convexcls plot twenty_points -o margin.png
      convexcls plot xor_hard_margin --kind hulls -o hulls.svg
      convexcls plot data.csv --model logistic --kind probability --axes age,dose -o chances.pdf
    """
    check_picture(output, "--output", request)
    arguments.check_solvers(solver)
    problem = read_problem(request)
    try:
        display = _display(problem, kind, solver, _pair(axes), tol)
    except NoAnswer as refusal:
        say(f"No picture: {typed(str(refusal))}")
        return NO_PICTURE
    write_picture(display, output)
    return 0


def _display(problem: Model, kind: str | None, solver: str | None, pair: tuple[str, str] | None, tol: float) -> Display:
    from convexcls.plots import KINDS, AnswersDisplay, DescentDisplay

    if pair is not None and kind not in (None, *OF_FEATURES):
        raise click.UsageError(f"--axes has no say in the picture {kind!r}: it does not draw features")
    if solver is not None and kind in OF_A_COMPARISON:
        raise click.UsageError(f"--solver has no say in the picture {kind!r}: it has all solvers that take the problem")
    with Working(f"solving the {problem.name}") as report:
        if kind in OF_A_COMPARISON:
            from convexcls.studies.compare import compare

            return AnswersDisplay.of(compare(problem, tol=tol, callback=report))
        if kind == "descent":
            return DescentDisplay.of_solvers(problem, [solver] if solver else _descending(problem), tol=tol)
        solution = _drawn(problem, kind, solver, tol, report)
    chosen: dict[str, Any] = {} if pair is None else {"features": pair}
    if kind is not None:
        return KINDS[kind].of(solution, **chosen)
    for display in ("boundary", "hulls"):
        try:
            return KINDS[display].of(solution, **chosen)
        except NoAnswer:
            continue
    raise NoAnswer(f"the {problem.name} is {solution.status} and has neither boundary nor hulls; choose a --kind")


def _descending(problem: Model) -> list[str]:
    """The solvers whose ways down are drawn."""
    from convexcls.solve import accepting

    able = {info.name for info in accepting(problem, rules=True)}
    if found := [name for name in DESCENDING if name in able]:
        return found
    raise NoAnswer(f"none of {', '.join(DESCENDING)} takes the {problem.name}: name a --solver that walks down it")


def _drawn(problem: Model, kind: str | None, solver: str | None, tol: float, report: Working | None) -> Solution:
    """The solution to draw. A problem that the picture's own rule does not take has no such picture."""
    from convexcls.solvers import SolverRefused

    rule = None if solver else RULE.get(kind or "")
    try:
        return problem.solve(solver or rule or "auto", tol=tol, callback=report).unless_interrupted()
    except SolverRefused as refusal:
        if rule is None:
            raise
        raise NoAnswer(f"the {problem.name} has no {kind}: {refusal}") from None


def _pair(axes: str | None) -> tuple[str, str] | None:
    if axes is None:
        return None
    names = [name.strip() for name in axes.split(",")]
    if len(names) != 2 or not all(names):
        raise click.UsageError(f"--axes {axes!r}: name two features, such as --axes age,dose")
    return names[0], names[1]


# ---- files ----------------------------------------------------------------------------------------------


def check_picture(picture: Path, flag: str, request: Request) -> None:
    """Refuse a file that could not be written, before anything is solved."""
    if picture.suffix.lower() not in PICTURE_ENDINGS:
        raise click.UsageError(f"{flag} {picture.name!r}: the name must end in {', '.join(PICTURE_ENDINGS)}")
    check_output(picture, flag, request)
    if find_spec("matplotlib") is None:
        raise click.UsageError(f"{flag} needs matplotlib; install it with: pip install 'convexcls[plot]'")


def write_picture(display: Display, picture: Path) -> None:
    """Draw into a file."""
    from convexcls.plots import Picture
    from convexcls.plots.tooltips import svg

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a letter that the font lacks is drawn as a box
        drawn, figure, form = BytesIO(), Picture.of(display).figure(), picture.suffix[1:].lower()
        if form == "svg":
            drawn.write(svg(figure).encode())
        else:
            figure.savefig(drawn, format=form, dpi=150)
    write_file(picture, drawn.getvalue())
    say(f"picture written to {clean(str(picture))}")
