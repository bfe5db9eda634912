"""``read_blocks``: samples that are checked once, block by block, and then read again at every pass."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Array
from convexcls.blocks.arrays import dask_pieces, is_dask, mapped_pieces, memory_pieces, opened_npy
from convexcls.blocks.columnar import ArrowPiece, CsvPiece, ParquetPiece
from convexcls.blocks.pieces import Columns, WholeContents, digest_of, there
from convexcls.blocks.sparse import svmlight_pieces
from convexcls.data import DataError, Named, finite_doubles
from convexcls.engines import Engine, as_engine
from convexcls.rows.by_block import Extent, RowsByBlock
from convexcls.rows.summation import row_blocks
from convexcls.tables.files import check_there, format_of, paths_of
from convexcls.wording import did_you_mean, listed

#: What a size may end in.
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
#: In the text of a fault, where the number of the row belongs.
ROW = "\0"


@dataclass(frozen=True, eq=False, repr=False)
class SamplesByBlock(Named):
    """Checked samples that are read by block; any model takes them in place of X. ``digests`` has one a block.

    >>> import convexcls as cc
    >>> X, y = cc.read_blocks([[1.0, 2.0], [3.0, 4.0]], target=[0, 1], rows=1)
    >>> X, len(X), len(X.digests)
    (<2 samples of x1, x2>, 2, 2)
    """

    digests: tuple[str, ...] = field(default=(), kw_only=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.matrix.__array__(dtype, copy)


@dataclass(frozen=True, eq=False)
class BlockSamples:
    """What blocks give a model: ``X``, the labels ``y`` and the ``weights`` (None where there are none).

    >>> import convexcls as cc
    >>> import numpy as np
    >>> samples = cc.read_blocks(np.array([[1.0], [2.0], [4.0], [5.0]]), target=[0, 0, 1, 1], rows=3)
    >>> samples
    <4 samples of 1 feature in 2 blocks>
    >>> samples.declare(cc.HardMarginSVM).solve().coef.tolist()
    [1.0]
    """

    X: SamplesByBlock
    y: Any
    weights: Array | None = None

    @property
    def rows(self) -> RowsByBlock:
        """The samples as rows, which count the passes that are made over them."""
        rows: RowsByBlock = self.X.matrix
        return rows

    @property
    def digests(self) -> tuple[str, ...]:
        """The digest of each block."""
        return self.X.digests

    def declare(self, model: Any, **parameters: Any) -> Any:
        """The model on these samples, with their weights.

        >>> import convexcls as cc
        >>> samples = cc.read_blocks([[1.0], [2.0], [4.0]], target=[1, 2, 4])
        >>> samples.declare(cc.LeastSquares, coding="real").solve().coef.round(9).tolist()
        [1.0]
        """
        if self.weights is not None:
            parameters = {"sample_weight": self.weights, **parameters}
        return model(self.X, self.y, **parameters)

    def close(self) -> None:
        """Give back the memory and the processes of the engine.

        >>> import convexcls as cc
        >>> cc.read_blocks([[1.0], [2.0]]).close()
        """
        self.rows.engine.close()

    def __iter__(self) -> Iterator[Any]:
        """``X, y = read_blocks(...)``"""
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        n, d = self.X.shape
        blocks = len(self.rows.pieces)
        return f"<{n} sample{'s' * (n != 1)} of {d} feature{'s' * (d != 1)} in {blocks} block{'s' * (blocks != 1)}>"


def read_blocks(
    source: Any,
    *,
    target: Any = None,
    features: Sequence[str] | None = None,
    weights: Any = None,
    hold: str | float = "2GB",
    engine: Any = None,
    rows: int | None = None,
    format: str | None = None,
) -> BlockSamples:
    """Samples that need not fit in memory, which every model but kernels takes like X and y.

    ``source`` is a file, a folder or a pattern with ``*`` (Parquet, Arrow or Feather, CSV, .npy, svmlight), several of
    them in a list, a memory map, a matrix, or an array or DataFrame of Dask. ``target`` is the column of the labels, or
    the labels themselves, ``features`` the columns that are taken (all others where none are named), ``weights`` a
    column or an array. Up to ``hold`` bytes of blocks stay in memory; what is beyond is read again at every pass.
    ``rows`` is how many make a block, where the format leaves that open.

    ``engine`` says who works on the blocks: None or "serial" this process, a number as many processes, a Dask client or
    the address of a scheduler the workers of that cluster, which have to see the files under the same names. All give
    the same answer to the last bit.

    Every block is checked once: what cannot be used is a ``DataError`` that names the file and the row, counted over
    all files from 0. A file that vanishes or changes later is a ``BlocksChanged``.

    >>> import convexcls as cc
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for k in range(2):
    ...     _ = (folder / f"part-{k}.csv").write_text(f"dose,sick\\n{k},no\\n{k + 3},yes\\n")
    ...
    >>> samples = cc.read_blocks(f"{folder}/part-*.csv", target="sick")
    >>> s = cc.HardMarginSVM(*samples).solve()
    >>> s.status, s.coef.round(9).tolist(), samples.X.features
    ('optimal', [1.0], ('dose',))
    """
    workers = as_engine(engine, bytes_meant(hold))
    plan = _planned(source, target, features, weights, rows, format)
    return _checked(plan, workers)


def bytes_meant(size: str | float) -> float:
    """A number of bytes, such as 2e9 or "2GB"."""
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([KMGT]?B?)\s*", str(size).upper().replace("IB", "B"), re.I)
    unit = "" if found is None else found[2] if found[2].endswith("B") or not found[2] else found[2] + "B"
    try:
        value = float(size) if found is None else float(found[1]) * UNITS[unit]
    except (ValueError, TypeError):
        value = -1.0
    if not value >= 0:
        raise ValueError(f"hold is {size!r}: give a number of bytes, such as 2e9 or '2GB'")
    return value


# ---- what is read ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plan:
    """The pieces, the names of the features (None where they are only numbered), and labels and weights that were given
    beside the files."""

    pieces: list[Any]
    features: tuple[str, ...] | None
    y: Any = None
    weights: Any = None


def _planned(source: Any, target: Any, features: Any, weights: Any, rows: int | None, form: str | None) -> Plan:
    if rows is not None and (not isinstance(rows, int) or rows < 1):
        raise ValueError(f"rows is {rows!r}: it must be a whole number above 0")
    for name, given in (("target", target), ("weights", weights)):
        if isinstance(given, (bool, int, float)):
            raise DataError(
                f"{name} is {given!r}: give the name of a column, a file of one number a row, or an array (columns of "
                ".npy files have no names: keep this one in a file of its own)"
            )
    y = None if isinstance(target, str) and not _is_file(target) else target
    y = _vector(y) if isinstance(y, str) else y
    own_weights = None if isinstance(weights, str) else weights
    names = target if y is None else None, weights if own_weights is None else None
    if is_dask(source):
        return _of_dask(source, names, features, y, own_weights)
    if isinstance(source, np.memmap) and source.filename is not None:
        mapped = list(mapped_pieces(str(source.filename), source, rows, {}))
        return Plan(mapped, _only_numbered(source.shape[1], features, names), y, own_weights)
    if hasattr(source, "shape") or (isinstance(source, list) and source and not isinstance(source[0], (str, Path))):
        matrix = source if sparse.issparse(source) else np.asarray(source)
        if matrix.ndim != 2:
            raise DataError(f"X has {matrix.ndim} dimension(s), it needs 2: one row per sample, one column per feature")
        matrix = sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix
        pieces = list(memory_pieces(matrix, rows))
        return Plan(pieces, _only_numbered(matrix.shape[1], features, names), y, own_weights)
    files = _files(source)
    kinds = {form or format_of(path) for path in files}
    if len(kinds) > 1:
        raise DataError(f"the files are of different formats ({listed(sorted(map(str, kinds)))}): name those of one")
    (kind,) = kinds
    if kind == "svmlight":
        _only_numbered(0, features, (None, names[1]))
        return Plan([p for path in files for p in svmlight_pieces(there(path))], None, y, own_weights)
    if kind == "npy":
        return _of_npy(files, rows, names, features, y, own_weights)
    readers: dict[Any, Any] = {"parquet": ParquetPiece, "feather": ArrowPiece, "csv": CsvPiece}
    if kind not in readers:
        raise DataError(f"{files[0]}: blocks are read from {', '.join([*readers, 'npy', 'svmlight'])} files")
    return _of_tables(files, readers[kind], names, features, y, own_weights)


def _is_file(name: str) -> bool:
    return name.endswith(".npy")


def _vector(path: str) -> Any:
    """The labels in a .npy file of their own."""
    check_there(path)
    return np.load(path, allow_pickle=False)


def _files(source: Any) -> list[Path]:
    out: list[Path] = []
    for name in [source] if isinstance(source, (str, Path)) else source:
        check_there(str(name))
        out += paths_of(str(name))
    if not out:
        raise DataError("no files are named: give at least one")
    return out


def _only_numbered(d: int, features: Any, names: tuple[Any, Any]) -> tuple[str, ...]:
    if features is not None or any(names):
        raise DataError(
            "an array has no named columns: give target and weights as arrays, and X with its features only"
        )
    return tuple(f"x{j + 1}" for j in range(d))


def _of_npy(files: list[Path], rows: int | None, names: Any, features: Any, y: Any, weights: Any) -> Plan:
    """Arrays, whose columns are x1, x2, ..."""
    arrays = {there(path): opened_npy(there(path)) for path in files}
    widths = {path: array.shape[1] for path, array in arrays.items()}
    first = next(iter(widths.values()))
    if odd := next((path for path, d in widths.items() if d != first), ""):
        raise DataError(f"{odd} has {widths[odd]} columns, and {next(iter(widths))} has {first}: all need the same")
    every = tuple(f"x{j + 1}" for j in range(first))
    columns = _columns(every, names, features, str(files[0]))
    place = {name: j for j, name in enumerate(every)}
    chosen = None if columns.features == every else tuple(place[name] for name in columns.features)
    others = {"target": columns.target, "weights": columns.weights}
    told = {"chosen": chosen, **{key: None if name is None else place[name] for key, name in others.items()}}
    pieces = [piece for path, array in arrays.items() for piece in mapped_pieces(path, array, rows, told)]
    return Plan(pieces, columns.features, y, weights)


def _of_tables(files: list[Path], reader: Any, names: Any, features: Any, y: Any, weights: Any) -> Plan:
    found = [(path, *reader.all_of(there(path))) for path in files]
    first = found[0][1]
    for path, own, _ in found:
        if set(own) != set(first):
            raise DataError(
                f"{path} has the columns {listed(own, 8)}, and {files[0]} has {listed(first, 8)}: files that are read "
                "together have the same"
            )
    columns = _columns(first, names, features, str(files[0]))
    return Plan([make(columns) for _, _, makes in found for make in makes], columns.features, y, weights)


def _of_dask(source: Any, names: Any, features: Any, y: Any, weights: Any) -> Plan:
    y, weights = (v.compute() if is_dask(v) else v for v in (y, weights))
    if hasattr(source, "rechunk"):
        return Plan(dask_pieces(source), _only_numbered(int(source.shape[1]), features, names), y, weights)
    columns = _columns(tuple(map(str, source.columns)), names, features, "the DataFrame")
    told = {"features": columns.features, "target": columns.target, "weights": columns.weights}
    return Plan(dask_pieces(source, **told), columns.features, y, weights)


def _columns(every: tuple[str, ...], names: tuple[Any, Any], features: Any, place: str) -> Columns:
    """What each column is for."""
    if isinstance(features, str):
        raise ValueError(f"features is {features!r}: give a list of names")
    for name in [*(features or ()), *(n for n in names if n is not None)]:
        if name not in every:
            raise DataError(
                f"{place} has no column {name!r}{did_you_mean(str(name), every)}: it has {listed(every, 8)}"
            )
    for name in names:
        if name is not None and features is not None and name in features:
            raise DataError(f"column {name!r} cannot be a feature and the target or the weights")
    chosen = tuple(features) if features is not None else tuple(n for n in every if n not in names)
    if not chosen:
        raise DataError(f"{place} has no feature besides the target")
    return Columns(chosen, *names)


# ---- the check ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Found:
    """What the check finds of a block; of one that cannot be used the row and the text of the ``fault``."""

    size: int = 0
    width: int = 0
    low: Array = field(default_factory=lambda: np.empty(0))
    high: Array = field(default_factory=lambda: np.empty(0))
    mean: Array = field(default_factory=lambda: np.empty(0))
    squares: Array = field(default_factory=lambda: np.empty(0))
    entries: int | None = None
    y: Any = None
    weights: Any = None
    digest: str = ""
    fault: tuple[int, str] | None = None


def _checked(plan: Plan, engine: Engine) -> BlockSamples:
    """All blocks checked, in one reading."""
    wholes = [WholeContents(piece) for piece in plan.pieces]
    found: list[Found] = []
    start = 0
    for piece, block in zip(plan.pieces, engine.map(_look, wholes, (plan.features,)), strict=True):
        if block.fault is not None:
            raise DataError(f"{piece}: {block.fault[1].replace(ROW, f'row {start + block.fault[0]}')}")
        found.append(block)
        start += block.size
    if not start:
        raise DataError("the blocks hold no sample: give at least one of each class")
    pieces, found, features = _alike(plan, found)
    pieces = [replace(p, digest=b.digest) if hasattr(p, "digest") else p for p, b in zip(pieces, found, strict=True)]
    kept = [(piece, block) for piece, block in zip(pieces, found, strict=True) if block.size]
    extent = _extent([b for _, b in kept])
    sparse_entries = None if kept[0][1].entries is None else sum(b.entries or 0 for _, b in kept)
    matrix = RowsByBlock(
        [piece for piece, _ in kept],
        [b.size for _, b in kept],
        len(features),
        engine,
        entries=sparse_entries,
        extent=extent,
    )
    y, weights = (_joined([getattr(b, name) for _, b in kept]) for name in ("y", "weights"))
    X = SamplesByBlock(matrix, features, digests=tuple(b.digest for _, b in kept))
    return BlockSamples(X, plan.y if y is None else y, plan.weights if weights is None else weights)


@np.errstate(over="ignore", invalid="ignore")
def _extent(found: list[Found]) -> Extent:
    """What the blocks say of the columns together: means from means, squares about means from squares about means."""
    n, mean, squares = 0, np.zeros(found[0].low.size), np.zeros(found[0].low.size)
    for block in found:
        both, apart = n + block.size, block.mean - mean
        squares += block.squares + apart * apart * (n * block.size / both)
        n, mean = both, mean + apart * (block.size / both)
    low, high = np.min([b.low for b in found], axis=0), np.max([b.high for b in found], axis=0)
    return Extent(low, high, mean, np.sqrt(squares / n))


def _alike(plan: Plan, found: list[Found]) -> tuple[list[Any], list[Found], tuple[str, ...]]:
    """Blocks of one width. Features of svmlight files are numbered from 1, unless one is numbered 0; a block may not
    have the last of them."""
    if plan.features is not None:
        return plan.pieces, found, plan.features
    width = max(block.width for block in found)
    zero_is_used = any(block.width and (block.low[0] or block.high[0]) for block in found)
    first = int(width > 1 and not zero_is_used)
    pieces = [replace(piece, first=first, width=width - first) for piece in plan.pieces]
    alike = [_widened(block, first, width) for block in found]
    return pieces, alike, tuple(f"x{j + 1}" for j in range(width - first))


def _widened(block: Found, first: int, width: int) -> Found:
    """What is found of a block of the width of all; its digest was that of the narrower one."""
    low, high, mean, squares = (
        np.pad(values, (0, width - block.width))[first:]
        for values in (block.low, block.high, block.mean, block.squares)
    )
    return replace(block, low=low, high=high, mean=mean, squares=squares, digest="")


def _look(contents: Any, names: tuple[str, ...] | None) -> Found:
    """The check of one block, where it is."""
    matrix, y, weights = contents
    place: list[int] = []

    def where(entry: Sequence[int]) -> str:
        row, column = (int(axis[entry[0]]) for axis in matrix.tocoo().coords) if len(entry) == 1 else entry
        place.append(int(row))
        return f"{ROW}, column {column if names is None else repr(names[int(column)])}"

    try:
        finite_doubles(matrix.data if sparse.issparse(matrix) else matrix, "", where)
        _refuse_gaps(y, "label", place)
        _refuse_gaps(weights, "weight", place)
    except DataError as error:
        return Found(fault=(place[-1], str(error).strip()))
    n, d = matrix.shape
    entries = int(matrix.nnz) if sparse.issparse(matrix) else None
    return Found(n, d, *_of_columns(matrix), entries, y, weights, digest_of(matrix))


def _of_columns(matrix: Any) -> tuple[Array, Array, Array, Array]:
    """Lowest and highest values, means, and sums of squares about these."""
    n, d = matrix.shape
    if not n:
        return np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(matrix):
            columns = matrix.tocsc()
            low, high = (np.asarray(f(axis=0).toarray()).ravel() for f in (columns.min, columns.max))
            mean = np.asarray(columns.mean(axis=0)).ravel()
            return low, high, mean, np.asarray(columns.multiply(columns).sum(axis=0)).ravel() - n * mean * mean
        mean = matrix.mean(axis=0)
        squares = sum(((matrix[rows] - mean) ** 2).sum(axis=0) for rows in row_blocks(n))
        return matrix.min(axis=0), matrix.max(axis=0), mean, np.asarray(squares)


def _refuse_gaps(values: Any, what: str, place: list[int]) -> None:
    if values is None:
        return
    array = np.asarray(values)
    if array.dtype.kind == "f":
        bad = ~np.isfinite(array)
    elif array.dtype.kind == "O":
        bad = np.array([v is None or v != v for v in array], dtype=bool)
    else:
        return
    if bad.any():
        place.append(int(np.flatnonzero(bad)[0]))
        raise DataError(f"{ROW}: its {what} is missing or infinite: fill it in or drop the row")


def _joined(parts: list[Any]) -> Any:
    if all(part is None for part in parts):
        return None
    return np.concatenate(parts)
