"""Data that do not fit: ``--workers``, ``--cluster`` and ``--hold``, and the command ``blocks convert``."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from convexcls.cli import arguments
from convexcls.cli.screen import Working, emit, say
from convexcls.cli.sources import Blocks, ColumnNames, Request, read_blocks_of
from convexcls.wording import clean, count


@click.group(name="blocks")
def blocks() -> None:
    """Data that do not fit in memory: blocks that are read fast."""


@blocks.command()
@click.argument("source")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("-t", "--target", metavar="COLUMN", help="The column with the labels.")
@click.option("-f", "--features", metavar="A,B,C", help="The columns to use (default: all others).")
@click.option("-w", "--weight", metavar="COLUMN", help="The column with the weights of the samples.")
def convert(source: str, folder: Path, target: str | None, features: str | None, weight: str | None) -> int:
    """Write the samples of SOURCE into FOLDER as .npy files, one a block, which are read several times faster than
    Parquet or CSV at every pass. Labels and weights come beside them, in labels.npy and weights.npy.

    SOURCE is a data file, a folder, or a pattern in quotes (Parquet, Arrow, CSV, .npy).

    \b
    Examples:
      convexcls blocks convert "part-*.parquet" fast --target sick
      convexcls solve "fast/X-*.npy" --model logistic --target fast/labels.npy --workers 2
    """
    from convexcls.blocks import convert_blocks

    columns = ColumnNames(target=target, features=features, weight=weight)
    samples = read_blocks_of(Request(source, columns=columns, blocks=Blocks(hold="0")))
    with Working("writing blocks"):
        done = convert_blocks(samples, folder)
    emit(f"{count(len(samples.rows.pieces), 'block')} written to {clean(str(folder))}")
    say(f"a pass took {done.before:.3g} s and now takes {done.after:.3g} s: {done.faster:.1f} times faster")
    return 0


_OPTIONS = arguments.all_of(
    click.option("--workers", type=click.IntRange(1), metavar="N", help="Read the data by block, in N processes."),
    click.option("--cluster", metavar="ADDRESS", help="Read them by block on a Dask cluster: tcp://host:8786."),
    click.option("--hold", metavar="SIZE", help="Read them by block, of which so much stays in memory (2GB)."),
)


def block_arguments(command: Any) -> Any:
    """The options that say that data are read by block, gathered into ``blocks`` (None where they are not)."""

    @wraps(command)
    def gathered(*rest: Any, workers: int | None, cluster: str | None, hold: str | None, **given: Any) -> Any:
        if workers is not None and cluster is not None:
            raise click.UsageError("--workers and --cluster: say one or the other")
        said = workers is not None or cluster is not None or hold is not None
        chosen = Blocks(workers if workers is not None else cluster, hold or "2GB") if said else None
        return command(*rest, blocks=chosen, **given)

    return _OPTIONS(gathered)


def block_options(command: Any) -> Any:
    """The same in the request of a command."""

    @wraps(command)
    def gathered(request: Request, blocks: Blocks | None, **given: Any) -> Any:
        return command(replace(request, blocks=blocks), **given)

    return block_arguments(gathered)
