"""Files that commands write: checked before anything is computed."""

from __future__ import annotations

from pathlib import Path

import click

from convexcls.cli.screen import clean
from convexcls.cli.sources import Request, input_files
from convexcls.files import same_file


def check_output(target: Path, flag: str, request: Request) -> None:
    """Refuse a file in no directory, and one that the command reads: nobody's data are written over."""
    if not target.absolute().parent.is_dir():
        raise click.UsageError(f"{flag}: there is no directory {str(target.parent)!r}")
    read = same_file(target, input_files(request))
    if read is not None:
        also = "" if target == read else f", the same file as {clean(str(read))}"
        raise click.UsageError(f"{flag}: {clean(str(target))} is an input of this command{also}; name another file")
