"""Blocks that are read fast, written once: reading 50 columns of Parquet costs several times what .npy costs."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from convexcls.blocks.reading import BlockSamples
from convexcls.data import DataError
from convexcls.files import new_file


@dataclass(frozen=True)
class Conversion:
    """The files that were written, and how long a pass takes before and after, in seconds.

    >>> import convexcls as cc
    >>> cc.Conversion(files=(), before=4.0, after=1.0).faster
    4.0
    """

    files: tuple[Path, ...]
    before: float
    after: float

    @property
    def faster(self) -> float:
        """How many times faster a pass has become."""
        return self.before / max(self.after, 1e-9)


def convert_blocks(samples: BlockSamples, folder: Any) -> Conversion:
    """Write each block as a .npy file in ``folder``, beside them the labels and the weights, where there are any, in
    ``labels.npy`` and ``weights.npy``. A folder that holds any of these files already is refused. Where one of them
    cannot be written, as on a full disk, none is left.

    >>> import convexcls as cc
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> done = cc.convert_blocks(cc.read_blocks([[1.0], [2.0]], target=[0, 1], rows=1), folder)
    >>> [file.name for file in done.files]
    ['X-00000.npy', 'X-00001.npy', 'labels.npy']
    >>> cc.read_blocks(f"{folder}/X-*.npy", target=f"{folder}/labels.npy")
    <2 samples of 1 feature in 2 blocks>
    """
    folder = Path(folder)
    rows, files = samples.rows, list[Path]()
    if rows.is_sparse:
        raise DataError("the blocks are sparse: .npy files would hold all zeros")
    folder.mkdir(parents=True, exist_ok=True)
    beside = {"labels.npy": samples.y, "weights.npy": samples.weights}
    names = [f"X-{k:05d}.npy" for k in range(len(rows.pieces))] + [n for n, v in beside.items() if v is not None]
    if there := next((name for name in names if (folder / name).exists()), ""):
        raise DataError(f"{folder / there} is there already: name an empty folder")
    begun = time.perf_counter()
    for _ in rows.each(_nothing):
        pass
    before = time.perf_counter() - begun
    with _all_or_none(files):
        for name, piece in zip(names, rows.pieces, strict=False):
            _write(folder / name, piece.read(), files)
        for name, values in beside.items():
            if values is not None:
                array = np.asarray(values)
                _write(folder / name, array.astype(str) if array.dtype.kind == "O" else array, files)
    begun = time.perf_counter()
    for name in names[: len(rows.pieces)]:
        np.load(folder / name)
    return Conversion(tuple(files), before, time.perf_counter() - begun)


@contextmanager
def _all_or_none(files: list[Path]) -> Iterator[None]:
    """What was written is removed where it does not come to an end: the command can be given again."""
    try:
        yield
    except BaseException:
        for path in files:
            path.unlink(missing_ok=True)
        raise


def _write(path: Path, array: Any, files: list[Path]) -> None:
    try:
        with new_file(path) as file:
            np.save(file, array)
    except OSError as error:  # NumPy says in words only that not all bytes were written
        why = error.strerror or f"the disk may be full: {error}"
        raise OSError(error.errno or errno.ENOSPC, f"{why} (nothing is left of this conversion)", str(path)) from None
    files.append(path)


def _nothing(rows: Any) -> None:
    """What a pass costs that does nothing but read."""
