"""Columns of a data file by name: which are features, which the target, which the weights."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.cli.screen import quoted, say
from convexcls.cli.settings import did_you_mean
from convexcls.data import Given
from convexcls.wording import clean, listed


class SourceError(click.ClickException):
    """A data file that cannot be read; the message names the file and the place."""

    exit_code = 2


def missing(path: Path, what: str, extra: str) -> SourceError:
    """The error for a file that only an extra can read."""
    return SourceError(f"{path}: reading it needs {what}; install it with: pip install 'convexcls[{extra}]'")


@dataclass(frozen=True)
class ColumnNames:
    """The columns asked for; None where the command line does not say."""

    target: str | None = None
    features: str | None = None
    weight: str | None = None


@dataclass(frozen=True)
class Used:
    """The columns taken, by position."""

    features: list[int]
    target: int
    weight: int | None


@dataclass(frozen=True, eq=False)
class FileContents:
    """What a file holds: features (with names where they have any), target, weights; the target also as text, where
    numbers are to be taken as they are written."""

    X: Any
    y: Any
    weights: Any = None
    target_text: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class Frame:
    """Numbers with column names, in the shape in which the toolkit takes data frames, and their text where that is to
    be taken exactly."""

    columns: Sequence[str]
    matrix: Array
    given: Given | None = None

    def __len__(self) -> int:
        return len(self.matrix)

    def __getitem__(self, place: Any) -> Array:
        return np.asarray(self.matrix[place])

    def to_numpy(self) -> Array:
        """All numbers."""
        return self.matrix


def whole_where_possible(numbers: Array) -> NDArray[Any]:
    """Numbers as integers where all of them are, so that a label 1 is not shown as 1.0."""
    whole = np.all(numbers == np.round(numbers)) and np.all(np.abs(numbers) <= 2**53)
    return numbers.astype(np.int64) if whole else numbers


def choose(names: Sequence[str], choice: ColumnNames, path: Path) -> Used:
    """The columns to use. Without a target the last column is it, which is said on stderr; without features
    all other columns are."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise SourceError(f"{path}: the column name {quoted(repeated[0])} occurs more than once; rename one")
    weight = None if choice.weight is None else _find(names, choice.weight, "--weight", path)
    wanted = None if choice.features is None else _split(choice.features)
    features = None if wanted is None else [_find(names, name, "--features", path) for name in wanted]
    if choice.target is not None:
        target = _find(names, choice.target, "--target", path)
    else:
        taken = {*(features or []), weight}
        left = [k for k in range(len(names)) if k not in taken]
        if not left:
            raise click.UsageError("no column is left for the target: name it with --target")
        target = left[-1]
        say(f"target: column {quoted(names[target])}, the last one (another: --target COLUMN)")
    if features is None:
        features = [k for k in range(len(names)) if k not in (target, weight)]
        if not features:
            raise SourceError(f"{path}: no column is left for the features; the file has {_listed(names)}")
    for column, role in ((target, "the target"), (weight, "the weights")):
        if column in features:
            raise click.UsageError(f"column {quoted(names[column])} cannot be a feature and {role}")
    if target == weight:
        raise click.UsageError(f"column {quoted(names[target])} cannot be the target and the weights")
    return Used(features, target, weight)


def _split(text: str) -> list[str]:
    """``a,b,c`` or, for names with commas, ``a,"b,c"``."""
    wanted = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not wanted or "" in wanted:
        raise click.UsageError(f"--features {text!r}: write the names as a,b,c")
    if repeated := sorted(name for name, times in Counter(wanted).items() if times > 1):
        raise click.UsageError(f"--features names {repeated[0]!r} twice")
    return wanted


def _find(names: Sequence[str], name: str, flag: str, path: Path) -> int:
    if name in names:
        return list(names).index(name)
    raise click.UsageError(
        f"{flag}: {path.name} has no column {name!r}{did_you_mean(name, names)}; it has {_listed(names)}"
    )


def _listed(names: Sequence[str]) -> str:
    return listed(map(clean, names), 20, " and {} more")
