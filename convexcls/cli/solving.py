"""The commands ``show``, ``solve``, ``prove``, ``check`` and ``verify``: state the problem, prove an answer (without
rounding, for others), judge a point that is given, check a proof again.

Each command imports what it needs when it runs, so that help and errors come at once.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from convexcls.basis import BASES, read_basis
from convexcls.cli import arguments
from convexcls.cli.blocks import block_arguments, block_options
from convexcls.cli.screen import emit, put, say, screen
from convexcls.cli.sources import (
    Blocks,
    FileContents,
    Request,
    SourceError,
    check_output,
    read_coded,
    read_file,
    read_problem,
)
from convexcls.data import Named
from convexcls.describe.terminal import write
from convexcls.files import write_file
from convexcls.problem import NoAnswer
from convexcls.rational.numbers import read_exactly
from convexcls.wording import clean

if TYPE_CHECKING:
    from convexcls.proofs.certificate import Level
    from convexcls.proofs.portable import Parsed

POINT = 'The point to judge, a file of JSON: {"coef": [...], "intercept": ..., "margin": [...]}.'
OPTION = "An option of the solver, for example max_iter=500. May be repeated."
BASIS = f"The functions of the features that the certificate speaks of: {', '.join(BASES)}."


@click.command()
@arguments.source_arguments
@click.option("--dual", is_flag=True, help="Derive and show the Lagrange dual instead.")
@click.option("--latex", is_flag=True, help="As LaTeX, a piece for a document that has amsmath and graphicx.")
@click.option("--standalone", is_flag=True, help="With --latex: a document that compiles.")
@click.option("--markdown", is_flag=True, help="As Markdown, for slides and notes.")
def show(request: Request, dual: bool, latex: bool, standalone: bool, markdown: bool) -> int:
    """Print the formulation: variables, constraints, multipliers, KKT conditions; of a dual, how it is derived.

    {SOURCE}

    \b
    Examples:
      convexcls show xor_hard_margin
      convexcls show data.csv --model soft-margin --param C=10 --dual
      convexcls show data.csv --model logistic --dual --latex --standalone > logistic.tex
      convexcls show data.csv --model logistic --markdown > logistic.md
    """
    if latex and markdown:
        raise click.UsageError("--latex and --markdown: say one or the other")
    if standalone and not latex:
        raise click.UsageError("--standalone goes with --latex")
    problem = read_problem(request)
    shown = problem.dual() if dual else problem
    if latex or markdown:
        form: Any = "document" if standalone else "latex" if latex else "markdown"
        emit(clean(shown.explain(form).rstrip("\n"), keep="\n"))
    else:
        write(screen(), shown.explain().rstrip("\n"))
    return 0


@click.command()
@arguments.source_arguments
@block_options
@arguments.solver_option
@click.option("--option", "options", metavar="NAME=VALUE", multiple=True, help=OPTION)
@arguments.tolerance
@arguments.time_limit
@arguments.proof_level
@click.option("--all", "everything", is_flag=True, help="All coefficients and support rows, however many.")
@arguments.json_option("The result as JSON.")
@arguments.file_option("--certificate", help="Write the certificate to this file, for 'convexcls verify'.")
def solve(
    request: Request,
    solver: str,
    options: tuple[str, ...],
    tol: float,
    time_limit: float | None,
    level: Level,
    digits: int,
    everything: bool,
    as_json: bool,
    certificate: Path | None,
) -> int:
    """Solve the problem and prove the answer.

    Levels of proof: 'float' measures the KKT conditions and the gap; 'rigorous' bounds the optimum despite rounding;
    'exact' solves linear and quadratic programs in rational arithmetic, numbers taken as they are written in the file,
    and encloses the optimum of likelihoods to --digits proved digits.

    {SOURCE}

    Exit codes: 0 the verdict (optimal, infeasible or unattained) is proved, 1 it is not, 2 bad input.

    \b
    Examples:
      convexcls solve xor_hard_margin
      convexcls solve data.csv --model soft-margin --target label --param C=10
      convexcls solve data.csv --model logistic --solver newton --option max_iter=50 --json
      convexcls solve data.svm --model hard-margin --level exact --certificate proof.json
      convexcls solve "part-*.parquet" --model logistic --target sick --workers 4 --hold 8GB
    """
    from convexcls.describe.certificate import likelihood_prose
    from convexcls.describe.solution import MAX_ROWS_LISTED, answer, certified

    settings = arguments.solver_settings(solver, options)
    if certificate is not None:
        check_output(certificate, "--certificate", request)
    exact = level == "exact" or certificate is not None
    problem = read_problem(replace(request, exact=exact))
    found = arguments.solved(problem, solver, tol, settings, level, digits, time_limit)
    parts = answer(found, None if everything or as_json else MAX_ROWS_LISTED)
    put("convexcls-solution/1", parts if as_json else [*parts, *likelihood_prose(found)], as_json)
    if certificate is not None:
        write_file(certificate, found.certificate.to_json() + "\n")
        say(f"certificate written to {clean(str(certificate))}")
    return 0 if certified(found) else 1


@click.command()
@arguments.source_arguments
@arguments.file_option("--coq", help="Write the theorem and its proof for the proof assistant Coq to this file.")
@arguments.file_option("--certificate", help="Write the certificate to this file, for 'convexcls verify'.")
def prove(request: Request, coq: Path | None, certificate: Path | None) -> int:
    """Prove the answer without any rounding, and write the proof down for others.

    What is printed is the certificate of the level exact, in words. With --coq the optimum, the contradiction or the
    missing minimum is stated as a theorem, with the data as integers; 'coqc FILE' (Coq 8.16 or later) checks it.

    {SOURCE}

    Exit codes: 0 the verdict (optimal, infeasible or unattained) is proved, 1 it is not, 2 bad input.

    \b
    Examples:
      convexcls prove twenty_points --coq proof.v
      convexcls prove data.csv --model soft-margin --param C=0.1 --coq proof.v --certificate proof.json
    """
    from convexcls.describe.solution import certified

    outputs = {"--coq": coq, "--certificate": certificate}
    for flag, target in outputs.items():
        if target is not None:
            check_output(target, flag, request)
    found = arguments.solved(read_problem(replace(request, exact=True)), "auto", 1e-8, {}, "exact", 30)
    write(screen(), found.certificate.explain())
    if certificate is not None:
        write_file(certificate, found.certificate.to_json() + "\n")
        say(f"certificate written to {clean(str(certificate))}")
    if coq is not None:
        try:
            text = found.certificate.to_coq()
        except NoAnswer as refusal:
            say(f"No theorem: {clean(str(refusal))}")
            return 1
        write_file(coq, text)
        say(f"theorem written to {clean(str(coq))}; check it with: coqc {clean(coq.name)}")
    return 0 if certified(found) else 1


@click.command()
@click.argument("certificate", type=click.Path(path_type=Path))
@click.argument("data")
@arguments.column_options
@click.option("-b", "--basis", metavar="BASIS", help=BASIS)
@arguments.format_option
@block_arguments
@arguments.json_option("The outcome as JSON.")
def verify(certificate: Path, data: str, basis: str | None, blocks: Blocks | None, as_json: bool, **how: Any) -> int:
    """Check a certificate from nothing but the file and the data.

    CERTIFICATE is a file that 'convexcls solve --certificate' or certificate.to_json() wrote, DATA the file with the
    samples (CSV with a header, svmlight, Parquet). Nothing is solved, and nothing that the certificate says is
    believed: the data must have its digest, and its numbers must prove its claim on them. Numbers of the data are
    taken as they are written or, where the certificate speaks of those, as the nearest doubles; data that are read by
    block always as these.

    Exit codes: 0 accepted, 1 refused, 2 a file cannot be read.

    \b
    Examples:
      convexcls solve data.csv --model soft-margin --param C=10 --certificate proof.json
      convexcls verify proof.json data.csv
      convexcls verify proof.json data.csv --target label --weight count
      convexcls verify proof.json "part-*.parquet" --target sick --workers 4 --hold 8GB
    """
    from convexcls.describe.studies import verification_prose
    from convexcls.proofs.portable.verification import verify_parsed

    parsed = _parsed(certificate)
    request = Request(data, "", exact=True, basis=basis, blocks=blocks, **arguments.table_options(how))
    if parsed.coding is None or request.columns.given or blocks is not None:
        samples = read_file(request, parsed.labels is None)
    else:  # the certificate says itself how the table is coded
        samples = read_coded(request, parsed.coding, parsed.labels is None)
    X, y = _spoken_of(parsed, samples, basis)
    found = verify_parsed(parsed, X, y, samples.weights)
    if as_json:
        put("convexcls-verification/1", [verification_prose(found)], as_json)
    else:
        write(screen(), found.explain())
    return 0 if found.accepted else 1


@click.command()
@arguments.source_arguments
@click.option("--point", required=True, metavar="FILE", type=click.Path(path_type=Path), help=POINT)
@arguments.level_option
@arguments.json_option("The appraisal as JSON.")
def check(request: Request, point: Path, level: Level, as_json: bool) -> int:
    """Judge a point that somebody worked out: is it the solution?

    The file of the point is JSON: the unknowns and, where they are known, the multipliers by name, such as
    {"coef": ["6/25", "8/25"], "intercept": -1, "margin": ["2/25", "2/25"]}. 'convexcls show' names them. Slacks and
    multipliers that are missing are worked out. Prints the KKT conditions in a table and how far the objective is from
    the optimum; --level exact checks the conditions of linear and quadratic programs in rationals.

    {SOURCE}

    Exit codes: 0 the point is proved optimal, 1 it is not, 2 bad input.

    \b
    Examples:
      convexcls check data.csv --model hard-margin --point point.json
      convexcls check twenty_points --point point.json --level exact
    """
    from convexcls.describe.studies import appraisal_prose
    from convexcls.fits.by_hand import check_by_hand

    problem = read_problem(replace(request, exact=level == "exact"))
    found = check_by_hand(problem, read_point(point), level)
    put("convexcls-appraisal/1", [appraisal_prose(found)], as_json)
    return 0 if found.certificate.status == "optimal" else 1


def read_point(path: Path) -> dict[str, Any]:
    """The values by name of a file of JSON, numbers as they are written."""
    from json import JSONDecodeError, loads

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(names := [name for name, _ in pairs]) > len(set(names)):
            raise SourceError(f"{clean(str(path))}: a name stands there twice")
        return dict(pairs)

    try:  # numbers stay text, so that nothing of them is rounded
        found = loads(path.read_text(), object_pairs_hook=unique, parse_int=str, parse_float=str, parse_constant=str)
    except (JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"{clean(str(path))} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise SourceError(f'{clean(str(path))} has to name the values: {{"coef": [...], "intercept": ...}}')
    return found


def _parsed(path: Path) -> Parsed:
    from convexcls.proofs.portable import CertificateError, parse
    from convexcls.proofs.portable.verification import read_text

    try:
        return parse(read_text(path))
    except (CertificateError, OSError) as error:
        raise SourceError(f"{clean(str(path))}: {getattr(error, 'strerror', '') or error}") from None


def _spoken_of(parsed: Parsed, samples: FileContents, basis: str | None) -> tuple[Any, Any]:
    """The samples as they are written or as doubles, whichever the certificate speaks of."""
    from convexcls.proofs.portable.verification import speaks_of

    lift = (lambda X: X) if basis is None else read_basis(basis)
    X, y = samples.X, samples.y
    if getattr(getattr(X, "matrix", None), "by_block", None) is not None:  # these are doubles
        return X, y
    if parsed.labels is None and samples.target_text is not None and np.asarray(y).dtype.kind in "if":
        y = np.array([read_exactly(text) for text in samples.target_text], dtype=object)
    if speaks_of(parsed, lift(X), y, samples.weights):
        return lift(X), y
    rounded = replace(X, given=None) if isinstance(X, Named) else X
    if speaks_of(parsed, lift(rounded), samples.y, samples.weights):
        say("the certificate speaks of the data rounded to doubles")
        return lift(rounded), samples.y
    return lift(X), y
