"""SOURCE on the command line: a problem of the gallery, or a data file together with a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import click
import numpy as np

from convexcls import gallery
from convexcls.basis import Basis, read_basis
from convexcls.cli.csv_tables import (
    ColumnNames,
    FileContents,
    SourceError,
    check_text,
    choose,
    missing,
    read_csv,
    whole_where_possible,
)
from convexcls.cli.screen import Working, quoted
from convexcls.cli.settings import did_you_mean, model_parameters, read_settings, takes
from convexcls.data import GivenEntries, Named
from convexcls.files import open_input, same_file
from convexcls.models import Model, by_kind
from convexcls.rational.numbers import read_exactly
from convexcls.wording import clean

ENDINGS = {"csv": (".csv",), "svmlight": (".svm", ".svmlight", ".libsvm", ".txt"), "parquet": (".parquet", ".pq")}
FORMATS = {ending: name for name, endings in ENDINGS.items() for ending in endings}


MAX_FEATURES = 10_000_000


@dataclass(frozen=True)
class Request:
    """SOURCE with everything that says how to read it."""

    source: str
    model: str | None = None
    format: str | None = None
    columns: ColumnNames = field(default_factory=ColumnNames)
    settings: tuple[str, ...] = ()
    intercept: bool = True
    basis: str | None = None
    #: Whether numbers are taken as they are written, not only as the nearest doubles.
    exact: bool = False

    @property
    def speaks_of_data(self) -> list[str]:
        """The flags given that only a data file needs."""
        given = {
            "--model": self.model,
            "--format": self.format,
            **{f"--{name}": column for name, column in vars(self.columns).items()},
            "--param": self.settings,
            "--no-intercept": not self.intercept,
            "--basis": self.basis,
        }
        return [flag for flag, value in given.items() if value]


def read_samples(request: Request) -> tuple[Any, Any]:
    """The samples and labels that SOURCE names, for what needs no model."""
    path = Path(request.source)
    if request.model is not None or request.settings or request.columns.weight is not None:
        raise click.UsageError("--model, --param and --weight have no say here: only samples and labels count")
    if _is_gallery_problem(request.source, path):
        data = _from_gallery(replace(request, intercept=True), path).data
        return data.samples, data.given
    _check_file(request.source, path)
    basis, samples = _basis(request.basis), read_file(request)
    return (samples.X if basis is None else basis(samples.X)), samples.y


def _check_file(source: str, path: Path) -> None:
    if not path.exists():
        raise SourceError(f"there is no file {source!r}")
    if path.is_dir():
        raise SourceError(f"{source!r} is a directory: name a file in it")


def read_problem(request: Request) -> Model:
    """The problem that SOURCE names."""
    path = Path(request.source)
    if _is_gallery_problem(request.source, path):
        return _from_gallery(request, path)
    _check_file(request.source, path)
    cls = _model(request)
    arguments = read_settings(request.settings, model_parameters(cls), "--param", f"the model {cls.kind!r}")
    if not request.intercept:
        if not takes(cls, "intercept"):
            raise click.UsageError(f"the model {cls.kind!r} has no intercept to leave out")
        arguments["intercept"] = False
    if request.columns.weight is not None and not takes(cls, "sample_weight"):
        raise click.UsageError(f"the model {cls.kind!r} takes no weights: it is not a sum of losses")
    basis, samples = _basis(request.basis), read_file(request)
    if samples.weights is not None:
        arguments["sample_weight"] = samples.weights
    y = samples.y
    if arguments.get("coding") == "real" and samples.target_text is not None and y.dtype.kind in "if":
        y = np.array([read_exactly(text) for text in samples.target_text], dtype=object)
    return cls(samples.X if basis is None else basis(samples.X), y, **arguments)


def input_files(request: Request) -> tuple[Path, ...]:
    """The files that SOURCE names, whether they are there or not."""
    path = Path(request.source)
    return gallery.files(request.source) if _is_gallery_problem(request.source, path) else (path,)


def check_output(target: Path, flag: str, request: Request) -> None:
    """Refuse a file in no directory, and one that the command reads: nobody's data are written over."""
    if not target.absolute().parent.is_dir():
        raise click.UsageError(f"{flag}: there is no directory {str(target.parent)!r}")
    read = same_file(target, input_files(request))
    if read is not None:
        also = "" if target == read else f", the same file as {clean(str(read))}"
        raise click.UsageError(f"{flag}: {clean(str(target))} is an input of this command{also}; name another file")


def gallery_title(request: Request) -> str | None:
    """The title of the gallery problem that SOURCE names; None for a data file."""
    if not _is_gallery_problem(request.source, Path(request.source)):
        return None
    return gallery.entry(request.source).title


def read_file(request: Request) -> FileContents:
    """What the data file SOURCE holds, weights too, as it is written there."""
    path = Path(request.source)
    _check_file(request.source, path)
    with Working(f"reading {path.name}"):
        return _read(request, path)


def _basis(text: str | None) -> Basis | None:
    try:
        return None if text is None else read_basis(text)
    except ValueError as error:
        raise click.UsageError(f"--basis: {error}") from None


def _is_gallery_problem(source: str, path: Path) -> bool:
    if path.suffix.lower() == ".toml":
        return True
    if path.suffix.lower() in FORMATS:
        return False
    bare = path.name == source
    return bare and (not path.exists() or source in gallery.entries())


def _from_gallery(request: Request, path: Path) -> Model:
    if request.speaks_of_data:
        raise click.UsageError(
            f"{', '.join(request.speaks_of_data)} is for data files; a gallery problem like {request.source!r} "
            "says all that itself"
        )
    if path.suffix.lower() == ".toml":
        _check_file(request.source, path)
    elif request.source not in (known := gallery.entries()):
        raise SourceError(
            f"there is no file and no gallery problem {request.source!r}{did_you_mean(request.source, known)}; "
            "'convexcls problems' lists the gallery"
        )
    return gallery.load(request.source)


def _model(request: Request) -> type[Any]:
    kinds = by_kind()
    listed = ", ".join(kinds)
    if request.model is None:
        raise click.UsageError(f"a data file needs --model: one of {listed}")
    if request.model not in kinds:
        raise click.UsageError(
            f"--model: there is no model {request.model!r}{did_you_mean(request.model, kinds)}; the models are {listed}"
        )
    return kinds[request.model]


# ---- files ----------------------------------------------------------------------------------------------


def _read(request: Request, path: Path) -> FileContents:
    form = request.format or FORMATS.get(path.suffix.lower())
    if form is None:
        raise click.UsageError(f"{path.name}: cannot tell its format; give --format csv, svmlight or parquet")
    if form == "csv":
        return read_csv(path, request.columns, request.exact)
    if form == "parquet":
        return _read_parquet(path, request.columns)
    for name, value in vars(request.columns).items():
        if value is not None:
            raise click.UsageError(f"--{name} names a column, but an svmlight file has no column names")
    return read_svmlight(path, request.exact)


def _read_parquet(path: Path, choice: ColumnNames) -> FileContents:
    try:
        import pandas as pd
        import pyarrow  # noqa: F401
    except ImportError:
        raise missing(path, "pandas and pyarrow", "tables") from None
    if not path.is_file():
        raise SourceError(f"{path}: a Parquet file cannot be read from a pipe or device; save it first")
    if path.stat().st_size == 0:
        raise SourceError(f"{path}: the file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = pd.read_parquet(path, engine="pyarrow")
    except (ValueError, OSError, NotImplementedError, TypeError) as error:
        raise SourceError(f"{path}: not a readable Parquet file: {clean(str(error))[:200]}") from None
    names = [str(name) for name in frame.columns]
    if not names or not len(frame):
        raise SourceError(f"{path}: the table is empty")
    used = choose(names, choice, path)
    for k in (*used.features, used.target, *(() if used.weight is None else (used.weight,))):
        empty = frame.iloc[:, k].isna().to_numpy()
        if empty.any():
            raise SourceError(
                f"{path}, row {int(empty.argmax())}, column {quoted(names[k])} is empty: fill it in or drop the row"
            )
    weights = None if used.weight is None else frame.iloc[:, used.weight]
    return FileContents(frame.iloc[:, used.features], frame.iloc[:, used.target], weights)


# ---- svmlight: a label, then INDEX:VALUE for every feature that is not zero -----------------------------


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
    if X.shape[1] > MAX_FEATURES:
        raise SourceError(f"{path}: names feature {X.shape[1]:,}; at most {MAX_FEATURES:,} are taken")
    labels = whole_where_possible(y)
    if not exact:
        return FileContents(X, labels)
    lines = list(_lines(text.decode("utf-8")))
    features = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    named = Named(X, features, given=GivenEntries(_texts_by_column(lines, path), X.shape[1]))
    return FileContents(named, labels, target_text=[line[0] for line in lines])


def _lines(text: str) -> Iterator[list[str]]:
    """The words of every line that holds a sample."""
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield [words[0], *(word for word in words[1:] if not word.startswith("qid:"))]


def _texts_by_column(lines: list[list[str]], path: Path) -> Any:
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
