"""The command ``convexcls verify``: a certificate file against the data that it speaks of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convexcls.basis import BASES
from convexcls.cli.arguments import column_options, format_option
from convexcls.cli.screen import say, screen
from convexcls.describe.terminal import write
from convexcls.wording import clean

if TYPE_CHECKING:
    from convexcls.cli.columns import FileContents
    from convexcls.proofs.portable import Parsed


BASIS = f"The functions of the features that the certificate speaks of: {', '.join(BASES)}."


@click.command()
@click.argument("certificate", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@column_options
@click.option("-b", "--basis", metavar="BASIS", help=BASIS)
@format_option
def verify(certificate: Path, data: Path, basis: str | None, file_format: str | None, **columns: str | None) -> int:
    """Check a certificate from nothing but the file and the data.

    CERTIFICATE is a file that 'convexcls solve --certificate' or certificate.to_json() wrote, DATA the file with the
    samples (CSV with a header, svmlight, Parquet). Nothing is solved, and nothing that the certificate says is
    believed: the data must have its digest, and its numbers must prove its claim on them. Numbers of the data are
    taken as they are written or, where the certificate speaks of those, as the nearest doubles.

    Exit codes: 0 accepted, 1 refused, 2 a file cannot be read.

    \b
    Examples:
      convexcls solve data.csv --model soft-margin --param C=10 --certificate proof.json
      convexcls verify proof.json data.csv
      convexcls verify proof.json data.csv --target label --weight count
    """
    from convexcls.cli.columns import ColumnNames
    from convexcls.cli.sources import Request, read_file
    from convexcls.proofs.portable.verification import verify_parsed

    parsed = _parsed(certificate)
    request = Request(str(data), "", file_format, ColumnNames(**columns), exact=True, basis=basis)
    samples = read_file(request)
    X, y = _spoken_of(parsed, samples, basis)
    found = verify_parsed(parsed, X, y, samples.weights)
    write(screen(), found.explain())
    return 0 if found.accepted else 1


def _parsed(path: Path) -> Parsed:
    from convexcls.cli.columns import SourceError
    from convexcls.proofs.portable import CertificateError, parse
    from convexcls.proofs.portable.verification import read_text

    try:
        return parse(read_text(path))
    except CertificateError as error:
        raise SourceError(f"{clean(str(path))}: {error}") from None
    except OSError as error:
        raise SourceError(f"{clean(str(path))}: {error.strerror or error}") from None


def _spoken_of(parsed: Parsed, samples: FileContents, basis: str | None) -> tuple[Any, Any]:
    """The samples as they are written or as doubles, whichever the certificate speaks of."""
    from dataclasses import replace

    import numpy as np

    from convexcls.basis import read_basis
    from convexcls.cli.columns import Frame
    from convexcls.proofs.portable.verification import speaks_of
    from convexcls.rational import read_exactly

    lift = (lambda X: X) if basis is None else read_basis(basis)
    X, y = samples.X, samples.y
    if parsed.labels is None and samples.target_text is not None and np.asarray(y).dtype.kind in "if":
        y = np.array([read_exactly(text) for text in samples.target_text], dtype=object)
    if speaks_of(parsed, lift(X), y, samples.weights):
        return lift(X), y
    rounded = replace(X, given=None) if isinstance(X, Frame) else getattr(X, "matrix", X)
    if speaks_of(parsed, lift(rounded), samples.y, samples.weights):
        say("the certificate speaks of the data rounded to doubles")
        return lift(rounded), samples.y
    return lift(X), y
