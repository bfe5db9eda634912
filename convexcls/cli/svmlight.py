"""svmlight files: a label, then INDEX:VALUE for every feature that is not zero."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from convexcls.cli.columns import FileContents, SourceError, missing, whole_where_possible
from convexcls.cli.delimited import check_text
from convexcls.data import GivenEntries, Named
from convexcls.files import open_input
from convexcls.wording import clean

MOST_FEATURES = 10_000_000


def read_svmlight(path: Path, exact: bool = False) -> FileContents:
    """The samples of an svmlight file; ``exact`` keeps the text of the numbers beside the doubles."""
    try:
        from sklearn.datasets import load_svmlight_file
    except ImportError:
        raise missing(path, "scikit-learn", "sklearn") from None
    with open_input(path) as raw:
        check_text(raw, path)
        text = raw.read()  # once: a pipe cannot be read again
    try:
        X, y = load_svmlight_file(BytesIO(text))
    except (ValueError, OverflowError, MemoryError) as error:
        said = clean(str(error))[:200] or type(error).__name__
        raise SourceError(f"{path}: not in svmlight format ('LABEL INDEX:VALUE ...' lines): {said}") from None
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise SourceError(f"{path}: there is no sample with a feature in it")
    if X.shape[1] > MOST_FEATURES:
        raise SourceError(f"{path}: names feature {X.shape[1]:,}; at most {MOST_FEATURES:,} are taken")
    labels = whole_where_possible(y)
    if not exact:
        return FileContents(X, labels)
    lines = list(_lines(text.decode("utf-8")))
    features = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    named = Named(X, features, given=GivenEntries(_entries(lines, path), X.shape[1]))
    return FileContents(named, labels, target_text=[line[0] for line in lines])


def _lines(text: str) -> Iterator[list[str]]:
    """The words of every line that holds a sample."""
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield [words[0], *(word for word in words[1:] if not word.startswith("qid:"))]


def _entries(lines: list[list[str]], path: Path) -> Any:
    """For every sample its numbers as text, by column. Indices are counted from 1, or from 0 where a 0 occurs: the same
    guess that the reader of the doubles makes."""
    pairs = [[word.partition(":")[::2] for word in words[1:]] for words in lines]
    first = 0 if any(int(index) == 0 for sample in pairs for index, _ in sample) else 1
    out = np.empty(len(pairs), dtype=object)
    for row, sample in enumerate(pairs):
        out[row] = {int(index) - first: value for index, value in sample}
        if len(out[row]) < len(sample):
            raise SourceError(f"{path}: row {row} names a feature twice; give each one once")
    return out
