"""The digest of data in older certificates: the SHA-256 of a text that says nothing but their values.

    convexcls-data/1 <samples> <features> <plain or weighted>
    <target> [<weight>] <column>:<entry> <column>:<entry> ...        one line a sample, columns from 0, without zeros

An entry or a weight is written by ``float.hex`` where it is exactly a double, else as p/q in lowest terms; so is a real
target. A label is its text as JSON writes it, one that reads as a number that number in lowest terms. Dense and sparse,
double and Decimal, array and CSV file have the same digest where they have the same values. Files are still verified by
it; new ones are written with that of ``digest``, which goes through the entries some fifty times as fast.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.data import Data
from convexcls.proofs.portable.digest import label_texts
from convexcls.rational.numbers import nearest_double

#: What is understood where a file does not say how its digest was made.
TEXT_FORM = "convexcls-data/1"
#: So many samples are written at a time.
BLOCK_SAMPLES = 4096


def text_digest(data: Data) -> str:
    """The digest of checked data, as 64 hexadecimal digits."""
    seen = hashlib.sha256()
    seen.update(f"{TEXT_FORM} {data.n} {data.d} {'weighted' if data.weighted else 'plain'}\n".encode())
    for start, stop, block in _blocks(data):
        heads = _heads(data, start, stop)
        tails = _entries(data, start, stop, block)
        lines = [f"{head} {tail}\n" if tail else f"{head}\n" for head, tail in zip(heads, tails, strict=True)]
        seen.update("".join(lines).encode())
    return seen.hexdigest()


def _blocks(data: Data) -> Iterator[tuple[int, int, Any]]:
    """The samples, a block at a time, with where they begin and end."""
    if data.by_block is not None:
        yield from ((rows.start, rows.stop, block) for rows, block in data.by_block.in_blocks())
        return
    for start in range(0, data.n, BLOCK_SAMPLES):
        stop = min(start + BLOCK_SAMPLES, data.n)
        yield start, stop, data.matrix[start:stop]


def entry_text(value: Fraction) -> str:
    """A rational entry as the digest writes it."""
    double = nearest_double(value)
    return str(value) if double is None else double.hex()


def _heads(data: Data, start: int, stop: int) -> list[str]:
    """The target and, where there are any, the weight of each sample."""
    if data.labels is not None:
        assert data.classes is not None
        names = label_texts(data.labels)
        targets = [names[k] for k in data.classes[start:stop].tolist()]
    elif data.exact_reals is not None:
        targets = [entry_text(value) for value in data.exact_reals[start:stop]]
    else:
        targets = [(value + 0.0).hex() for value in data.target[start:stop].tolist()]
    if not data.weighted:
        return targets
    if data.exact_weights is not None:
        weights = [entry_text(value) for value in data.exact_weights[start:stop]]
    else:
        weights = [weight.hex() for weight in (data.weights[start:stop] + 0.0).tolist()]
    return [f"{target} {weight}" for target, weight in zip(targets, weights, strict=True)]


def _entries(data: Data, start: int, stop: int, block: Any) -> Iterator[str]:
    """The entries of each sample that are not zero."""
    if data.exact_matrix is not None:
        for i in range(start, stop):
            row = data.exact_matrix.row(i)
            yield " ".join(f"{j}:{entry_text(value)}" for j, value in enumerate(row) if value)
        return
    if sparse.issparse(block):
        yield from _sparse_entries(sparse.csr_array(block))
        return
    d = data.d
    whole = " ".join(f"{j}:%s" for j in range(d))  # most rows have no zero: one pattern for all of them
    full = np.all(block != 0, axis=1).tolist()
    texts = list(map(float.hex, np.asarray(block).ravel().tolist()))
    for i, plain in enumerate(full):
        written = texts[i * d : (i + 1) * d]
        if plain:
            yield whole % tuple(written)
        else:
            yield " ".join(f"{j}:{written[j]}" for j in np.flatnonzero(block[i]).tolist())


def _sparse_entries(block: Any) -> Iterator[str]:
    block = block.copy()
    block.sum_duplicates()
    columns, values, places = block.indices.tolist(), block.data.tolist(), block.indptr.tolist()
    for first, last in pairwise(places):
        pairs = zip(columns[first:last], values[first:last], strict=True)
        yield " ".join(f"{j}:{value.hex()}" for j, value in pairs if value)
