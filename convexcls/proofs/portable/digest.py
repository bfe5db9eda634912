"""The digest of data: the SHA-256 of their values, by blocks of 1024 samples.

    convexcls-data/2 <samples> <features> <plain or weighted> <labels, or 0 of real targets>
    <label>                                                          one line a label, in the order of these texts
    <SHA-256 of a block, 32 bytes> <SHA-256 of a block> ...          all blocks have 1024 samples but the last

The SHA-256 of a block is that of its numbers in this order, lowest byte first:

    whole numbers of 32 bits   how many entries of each sample are not 0; the columns of these entries, from 0, of the
                               samples that have others; the place of each sample's label among the labels, from 0
    doubles                    the entries that are not 0, sample by sample; real targets; weights, if weighted
    text                       what is no double, as p/q in lowest terms, one line each, in the order of the doubles,
                               among which it is a NaN

A label is its text as JSON writes it, one that reads as a number that number in lowest terms. Dense and sparse, double
and Decimal, array and CSV file, in one piece and read by block have the same digest where they have the same values.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Indices
from convexcls.data import Data
from convexcls.proofs.portable.numbers import DECIMAL, CertificateError
from convexcls.rational.numbers import to_double

#: What a file says of a digest that was made so. (One of ``text_digest`` has no such field.)
FORM = "convexcls-data/2"
#: So many samples are a block of the digest.
BLOCK_SAMPLES = 1024

#: Of some samples: counts, columns, labels; entries, targets, weights; and the text of what is no double in these.
#: Samples that follow each other are joined part by part.
Parts = tuple[bytes, ...]


def data_digest(data: Data) -> str:
    """The digest of checked data, as 64 hexadecimal digits."""
    labels = [] if data.labels is None else sorted(label_texts(data.labels))
    weighted = "weighted" if data.weighted else "plain"
    head = [f"{FORM} {data.n} {data.d} {weighted} {len(labels)}", *labels, ""]
    seen = hashlib.sha256("\n".join(head).encode())
    for block in _joined(_pieces(data)):
        seen.update(block)
    return seen.hexdigest()


def label_text(label: Any) -> str:
    """A label as the digest and the file write it."""
    text = str(label).strip()
    return str(Fraction(text)) if DECIMAL.fullmatch(text) else json.dumps(text)


def label_texts(labels: Sequence[Any]) -> tuple[str, ...]:
    """All labels; ``CertificateError`` where two of them are written alike."""
    texts = tuple(label_text(label) for label in labels)
    if len(set(texts)) < len(texts):
        alike = [label for label, text in zip(labels, texts, strict=True) if texts.count(text) > 1]
        raise CertificateError(f"the labels {alike[0]!r} and {alike[1]!r} are the same in a file: rename one of them")
    return texts


# ---- blocks of the digest, wherever the samples are ----------------------------------------------------------------


def _pieces(data: Data) -> Iterator[bytes | Parts]:
    """The samples in their order: the SHA-256 of a whole block, or the parts of some samples."""
    targets, weights, places = _vectors(data)
    if data.by_block is not None:
        for pieces in data.by_block.each_from(_of_samples, targets, weights, common=(places,)):
            yield from pieces
        return
    matrix = sparse.csr_array(data.matrix) if data.sparse else data.matrix  # of which rows are taken fast
    for start in range(0, data.n, BLOCK_SAMPLES):
        rows = slice(start, min(start + BLOCK_SAMPLES, data.n))
        if data.exact_matrix is None:
            yield _parts(matrix[rows], targets[rows], weights[rows], places)
        else:
            exact = np.array([data.exact_matrix.row(i) for i in range(rows.start, rows.stop)], dtype=object)
            yield _parts(exact, targets[rows], weights[rows], places)


def _vectors(data: Data) -> tuple[Any, Any, Indices | None]:
    """The class numbers or the real targets, the weights (no columns of them where all are 1), and the places of the
    labels in the order of their texts (None of real targets)."""
    weights = data.given_weights if data.weighted else np.empty((data.n, 0))
    if data.classes is None:
        targets = data.target if data.exact_reals is None else np.array(data.exact_reals, dtype=object)
        return targets, weights, None
    texts = label_texts(data.grouping[1])
    place = {text: k for k, text in enumerate(sorted(texts))}
    return data.classes, weights, np.array([place[text] for text in texts])


def _of_samples(rows: Any, places: Indices | None, start: int, targets: Any, weights: Any) -> list[bytes | Parts]:
    """The pieces of samples that are read together, from sample ``start`` on: carried out where they are."""
    matrix, n = rows.to_matrix(), rows.shape[0]
    cuts = [0, *range(-start % BLOCK_SAMPLES or BLOCK_SAMPLES, n, BLOCK_SAMPLES), n]
    out: list[bytes | Parts] = []
    for first, last in pairwise(cuts):
        parts = _parts(matrix[first:last], targets[first:last], weights[first:last], places)
        out.append(_sha256(parts) if last - first == BLOCK_SAMPLES else parts)
    return out


def _joined(pieces: Iterator[bytes | Parts]) -> Iterator[bytes]:
    """The SHA-256 of every block."""
    waiting: list[Parts] = []
    samples = 0
    for piece in pieces:
        if isinstance(piece, bytes):
            yield piece
            continue
        waiting.append(piece)
        samples += len(piece[0]) // 4
        if samples == BLOCK_SAMPLES:
            yield _sha256(*waiting)
            waiting, samples = [], 0
    if waiting:
        yield _sha256(*waiting)


def _sha256(*pieces: Parts) -> bytes:
    """That of samples, whose parts come in several pieces."""
    seen = hashlib.sha256()
    for part in zip(*pieces, strict=True):
        for some in part:
            seen.update(some)
    return seen.digest()


# ---- the parts of some samples ---------------------------------------------------------------------------------------


def _parts(block: Any, targets: Any, weights: Any, places: Indices | None) -> Parts:
    counts, columns, values = _entries(block)
    entries, odd_entries = _doubles(values)
    reals, odd_reals = (b"", b"") if places is not None else _doubles(targets)
    masses, odd_masses = _doubles(weights)
    labels = b"" if places is None else _whole(places[targets])
    return (_whole(counts), _whole(columns), labels, entries, reals, masses, odd_entries, odd_reals, odd_masses)


def _entries(block: Any) -> tuple[Any, Any, Any]:
    """How many entries of each sample are not zero, the columns of samples that have zeros, and the values."""
    if sparse.issparse(block):
        block = sparse.csr_array(block, copy=True)
        block.sum_duplicates()
        block.eliminate_zeros()
        counts, columns, values = np.diff(block.indptr), block.indices, block.data
    else:
        there = np.asarray(block) != 0
        counts = there.sum(axis=1)
        if counts.min() == block.shape[1]:
            return counts, counts[:0], block
        columns, values = np.nonzero(there)[1], block[there]
    return counts, columns[np.repeat(counts < block.shape[1], counts)], values


def _whole(numbers: Any) -> bytes:
    return np.asarray(numbers).astype("<u4").tobytes()


def _doubles(values: Any) -> tuple[bytes, bytes]:
    """Numbers as doubles, and the text of those that are none."""
    if values.dtype != object:
        return (values + 0.0).astype("<f8").tobytes(), b""  # no -0
    exact = [Fraction(value) for value in values.ravel().tolist()]
    near = [to_double(value) for value in exact]
    there = [math.isfinite(b) and b == a for a, b in zip(exact, near, strict=True)]
    doubles = np.array([b if same else math.nan for b, same in zip(near, there, strict=True)])
    text = "".join(f"{a}\n" for a, same in zip(exact, there, strict=True) if not same)
    return doubles.astype("<f8").tobytes(), text.encode()
