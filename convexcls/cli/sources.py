"""SOURCE on the command line: a problem of the gallery, or a data file together with a model."""

from __future__ import annotations

import csv
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from convexcls import gallery
from convexcls.basis import Basis, read_basis
from convexcls.cli.screen import Working, quoted, say
from convexcls.cli.settings import model_parameters, read_settings, takes
from convexcls.data import GivenEntries, Named
from convexcls.files import same_file
from convexcls.models import Model, by_kind, model_class
from convexcls.outside import is_address
from convexcls.rational.numbers import read_exactly
from convexcls.tables import Coding, Samples, Table, TableError, TableWarning, coded_samples
from convexcls.tables.delimited import Dialect, check_text
from convexcls.tables.files import ENDINGS, STDIN, Opened, check_there, format_of, missing, opened, paths_of, table_of
from convexcls.wording import clean, did_you_mean, listed

if TYPE_CHECKING:
    from convexcls.blocks import BlockSamples

MAX_FEATURES = 10_000_000
#: The parameter of every model that takes weights, though none has it by that name.
CLASS_WEIGHT = "class_weight="
#: What begins a message of a table on an argument that is a flag here.
ARGUMENTS = ("target", "features", "drop", "reference", "weights")


class SourceError(click.ClickException):
    """A data file that cannot be read; the message names the file and the place."""

    exit_code = 2


@dataclass(frozen=True)
class ColumnNames:
    """What the command line says of the columns; None where it does not."""

    target: str | None = None
    features: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()
    missing: str | None = None
    reference: tuple[str, ...] = ()
    positive: str | None = None
    formula: str | None = None

    @property
    def given(self) -> list[str]:
        """The flags of those that are said."""
        return [f"--{name}" for name, value in vars(self).items() if value]


@dataclass(frozen=True)
class Blocks:
    """Who works on the blocks, and how many bytes of them are held."""

    engine: int | str | None = None
    hold: str = "2GB"


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
    dialect: Dialect = field(default_factory=Dialect)
    #: How the samples are read by block; None where they are read as a whole.
    blocks: Blocks | None = None

    @property
    def speaks_of_data(self) -> list[str]:
        """The flags given that only a data file needs."""
        given = {
            "--model": self.model,
            "--format": self.format,
            **dict.fromkeys(self.columns.given, True),
            "--param": self.settings,
            "--no-intercept": not self.intercept,
            "--basis": self.basis,
            "--no-header": not self.dialect.header,
            **{f"--{name}": value for name, value in vars(self.dialect).items() if name != "header"},
        }
        return [flag for flag, value in given.items() if value]

    @property
    def class_weight(self) -> str | None:
        """What --param says of the weights of classes."""
        found = [text.removeprefix(CLASS_WEIGHT).strip() for text in self.settings if text.startswith(CLASS_WEIGHT)]
        if found and found != ["balanced"]:
            raise click.UsageError(f"--param class_weight is {found[-1]!r}: it must be balanced, once")
        return found[0] if found else None


@dataclass(frozen=True, eq=False)
class FileContents:
    """What a file holds: features (with names where they have any), target, weights; the target also as text, where
    numbers are to be taken as they are written; the coding of a table."""

    X: Any
    y: Any
    weights: Any = None
    target_text: Sequence[str] | None = None
    coding: Coding | None = None


def read_samples(request: Request) -> tuple[Any, Any]:
    """The samples and labels that SOURCE names, for what needs no model."""
    path = Path(request.source)
    if request.model is not None or request.settings or request.columns.weight is not None:
        raise click.UsageError("--model, --param and --weight have no say here: only samples and labels count")
    if _is_gallery_problem(request):
        data = _from_gallery(replace(request, intercept=True), path).data
        return data.samples, data.given
    basis, samples = _basis(request.basis), read_file(request)
    return (samples.X if basis is None else basis(samples.X)), samples.y


def _check_file(source: str, path: Path) -> None:
    if not path.exists():
        raise SourceError(f"there is no file {source!r}")
    if path.is_dir():
        raise SourceError(f"{source!r} is a directory: name a file in it")


def read_problem(request: Request) -> Model:
    """The problem that SOURCE names."""
    if _is_gallery_problem(request):
        return _from_gallery(request, Path(request.source))
    with told_as_flags():
        check_there(request.source)
    cls = _model(request)
    settings = tuple(text for text in request.settings if not text.startswith(CLASS_WEIGHT))
    arguments = read_settings(settings, model_parameters(cls), "--param", f"the model {cls.kind!r}")
    if not request.intercept:
        if not takes(cls, "intercept"):
            raise click.UsageError(f"the model {cls.kind!r} has no intercept to leave out")
        arguments["intercept"] = False
    weighted = request.columns.weight is not None or request.class_weight is not None
    if weighted and not takes(cls, "sample_weight"):
        raise click.UsageError(f"the model {cls.kind!r} takes no weights: it is not a sum of losses")
    basis, samples = _basis(request.basis), read_file(request, arguments.get("coding") == "real")
    if samples.weights is not None:
        arguments["sample_weight"] = samples.weights
    if samples.coding is not None and not samples.coding.intercept and takes(cls, "intercept"):
        arguments["intercept"] = False
    y = samples.y
    if arguments.get("coding") == "real" and samples.target_text is not None and y.dtype.kind in "if":
        y = np.array([read_exactly(text) for text in samples.target_text], dtype=object)
    return cls(samples.X if basis is None else basis(samples.X), y, **arguments)


def input_files(request: Request) -> tuple[Path, ...]:
    """The files that SOURCE names, whether they are there or not."""
    if _is_gallery_problem(request):
        return gallery.files(request.source)
    try:
        return tuple(paths_of(request.source))
    except TableError:
        return ()


def check_output(target: Path, flag: str, request: Request) -> None:
    """Refuse a file in no directory, and one that the command reads: nobody's data are written over."""
    refuse_output(target, flag, input_files(request))


def refuse_output(target: Path, flag: str, inputs: Sequence[Path]) -> None:
    """The same for any files that are read."""
    if not target.absolute().parent.is_dir():
        raise click.UsageError(f"{flag}: there is no directory {str(target.parent)!r}")
    read = same_file(target, inputs)
    if read is not None:
        also = "" if target == read else f", the same file as {clean(str(read))}"
        raise click.UsageError(f"{flag}: {clean(str(target))} is an input of this command{also}; name another file")


def gallery_title(request: Request) -> str | None:
    """The title of the gallery problem that SOURCE names; None for a data file."""
    if not _is_gallery_problem(request):
        return None
    return gallery.entry(request.source).title


def read_file(request: Request, real_target: bool = False) -> FileContents:
    """What the data file SOURCE holds, weights too, as it is written there."""
    if request.blocks is not None:
        found = read_blocks_of(request)
        return FileContents(found.X, found.y, found.weights)
    with Working(f"reading {Path(request.source).name}"), told_as_flags():
        files = opened_files(request)
        if files[0].form == "svmlight":
            if len(files) > 1 or request.columns.given:
                flag = request.columns.given[0] if request.columns.given else "a pattern"
                raise click.UsageError(f"{flag} is for tables, but an svmlight file has no column names")
            return read_svmlight(files[0], request.exact)
        table = table_of(files, request.dialect, request.exact)
        samples = samples_of(table, request, real_target)
    return FileContents(samples.X, samples.y, samples.weights, coding=samples.coding)


def read_blocks_of(request: Request) -> BlockSamples:
    """The samples of SOURCE by block."""
    from convexcls.blocks import read_blocks

    said, how = request.columns, request.blocks or Blocks()
    taken = ("target", "features", "weight")
    flags = [f"--{name}" for name, value in vars(said).items() if value and name not in taken]
    if request.basis is not None or flags or request.class_weight is not None:
        flag = [*flags, "--basis" if request.basis is not None else "--param class_weight"][0]
        raise click.UsageError(f"{flag} is for data that are read as a whole: no --workers, --cluster or --hold")
    with Working(f"checking {Path(request.source).name}"), told_as_flags():
        return read_blocks(
            request.source,
            target=said.target,
            features=None if said.features is None else _split(said.features, "--features"),
            weights=said.weight,
            hold=how.hold,
            engine=how.engine,
            format=request.format,
        )


def read_coded(request: Request, coding: Coding, real_target: bool = False) -> FileContents:
    """What the file holds, by a coding that is fixed."""
    with Working(f"reading {Path(request.source).name}"), told_as_flags():
        samples = coded_samples(read_plain_table(request), coding, real_target)
    return FileContents(samples.X, samples.y, samples.weights, coding=samples.coding)


def read_plain_table(request: Request) -> Table:
    """The table of a file, with its columns as they are."""
    files = opened_files(request)
    if files[0].form == "svmlight":
        raise click.UsageError("an svmlight file has no column names: give a table")
    return table_of(files, request.dialect, request.exact)


def opened_files(request: Request) -> list[Opened]:
    """The files of SOURCE, in memory."""
    return [opened(path, request.format) for path in paths_of(request.source)]


class told_as_flags:
    """Errors and warnings of tables in the words of the command line."""

    def __enter__(self) -> None:
        self.warned = warnings.catch_warnings(record=True)
        self.notes = self.warned.__enter__()
        warnings.simplefilter("always", TableWarning)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.warned.__exit__(None, None, None)
        for note in self.notes:
            if issubclass(note.category, TableWarning):
                say(f"note: {clean(str(note.message))}")
            else:
                warnings.warn_explicit(note.message, note.category, note.filename, note.lineno)
        if isinstance(error, TableError):
            text = error.for_command_line()
            argument = text.partition(":")[0]
            raise SourceError(f"--{text}" if argument in ARGUMENTS else text) from None


def samples_of(table: Table, request: Request, real_target: bool = False) -> Samples:
    """The samples of a table as the flags say. Without a target the last column is it, which is said on stderr."""
    said = request.columns
    features = None if said.features is None else _split(said.features, "--features")
    drop = [name for text in said.drop for name in _split(text, "--drop")]
    target = said.target
    if target is None and said.formula is None:
        left = [name for name in table.names if name not in (*(features or ()), *drop, said.weight)]
        if not left:
            raise click.UsageError("no column is left for the target: name it with --target")
        target = left[-1]
        say(f"target: column {quoted(target)}, the last one (another: --target COLUMN)")
    return table.samples(
        target,
        features=features,
        drop=drop,
        missing=said.missing or "fail",  # type: ignore[arg-type]
        reference=_pairs(said.reference),
        positive=said.positive,
        weights=said.weight,
        class_weight=request.class_weight,  # type: ignore[arg-type]
        formula=said.formula,
        real_target=real_target,
    )


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    out = {}
    for text in texts:
        name, equals, level = text.rpartition("=")
        if not equals or not name:
            raise click.UsageError(f"--reference {text!r}: write COLUMN=LEVEL")
        out[name.strip()] = level.strip()
    return out


def _split(text: str, flag: str) -> list[str]:
    """``a,b,c`` or, for names with commas, ``a,"b,c"``."""
    wanted = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not wanted or "" in wanted:
        raise click.UsageError(f"{flag} {text!r}: write the names as a,b,c")
    if repeated := sorted({name for name in wanted if wanted.count(name) > 1}):
        raise click.UsageError(f"{flag} names {repeated[0]!r} twice")
    return wanted


def _basis(text: str | None) -> Basis | None:
    try:
        return None if text is None else read_basis(text)
    except ValueError as error:
        raise click.UsageError(f"--basis: {error}") from None


def _is_gallery_problem(request: Request) -> bool:
    """Whether SOURCE is one: a .toml file, or a bare name, unless a file of that name comes with a --format."""
    source, path = request.source, Path(request.source)
    if path.suffix.lower() == ".toml":
        return True
    if source == STDIN or format_of(path) is not None or (request.format and path.exists()):
        return False
    return path.name == source and not path.suffix and (not path.exists() or source in gallery.entries())


def _from_gallery(request: Request, path: Path) -> Model:
    if path.suffix.lower() == ".toml":
        _check_file(request.source, path)
    elif request.source not in (known := gallery.entries()):
        raise SourceError(
            f"there is no file and no gallery problem {request.source!r}{did_you_mean(request.source, known)}; "
            "'convexcls problems' lists the gallery"
        )
    if request.speaks_of_data:
        also = f"; for the file of that name say --format {next(iter(ENDINGS))}" if path.exists() else ""
        raise click.UsageError(
            f"{', '.join(request.speaks_of_data)} is for data files; a gallery problem like {request.source!r} "
            f"says all that itself{also}"
        )
    return gallery.load(request.source)


def _model(request: Request) -> type[Any]:
    if request.model is None:
        kinds = by_kind()
        raise click.UsageError(f"a data file needs --model: one of {listed(kinds, len(kinds))}")
    look_here_for(request.model)
    try:
        return model_class(request.model)
    except (ValueError, TypeError) as error:
        raise click.UsageError(f"--model: {error}") from None


def look_here_for(name: str) -> None:
    """Modules of the working directory can be imported, after all others, where ``package.module:Name`` is named."""
    here = os.getcwd()
    if is_address(name.removeprefix("dual:")) and not {here, ""} & set(sys.path):
        sys.path.append(here)


def whole_where_possible(numbers: Any) -> Any:
    """Numbers as integers where all of them are, so that a label 1 is not shown as 1.0."""
    whole = np.all(numbers == np.round(numbers)) and np.all(np.abs(numbers) <= 2**53)
    return numbers.astype(np.int64) if whole else numbers


# ---- svmlight: a label, then INDEX:VALUE for every feature that is not zero -----------------------------


def read_svmlight(file: Opened, exact: bool = False) -> FileContents:
    """The samples of an svmlight file; ``exact`` keeps the text of the numbers beside the doubles."""
    path, text = file.name, file.data
    try:
        from sklearn.datasets import load_svmlight_file
    except ImportError:
        raise missing(path, "scikit-learn", "sklearn") from None
    check_text(text, path)
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


def _texts_by_column(lines: list[list[str]], path: str) -> Any:
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
