"""The digest of data: what the format says, however the samples are stored and read, and of nothing else."""

from __future__ import annotations

import hashlib
import json
import struct
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import sparse
from stand_alone import alone, stand_alone

import convexcls as cc
from convexcls.data import check_data
from convexcls.proofs.portable import data_digest
from convexcls.proofs.portable.digest import BLOCK_SAMPLES, label_text

#: Made by the version that wrote digests of text. The data: X, y, C = 2 and weights.
OLDER = """{"schema": "convexcls-certificate/2", "level": "exact", "verdict": "optimal", "model": "soft-margin",
"parameters": {"C": "2.0", "loss": "hinge", "intercept": true}, "tolerance": "1e-08",
"data": {"sha256": "5dffea6381a90817506e357d1bafc2ef2bdc46775ebdcc44e4dc1570e59b5dcc", "samples": "4",
"features": "2", "labels": ["\\"a\\"", "\\"b\\""], "weighted": true},
"claim": {"lower": "200/461", "upper": "200/461", "optimum": "200/461"}, "notes": [],
"point": {"coef": ["-380/461", "-200/461"], "intercept": ["499/461"]},
"multipliers": {"margin": {"0": "200/461", "1": "200/461"}}}"""
OLDER_DATA = [[F(1, 10), 0], [2, 1], [3, 3], [0, -1]], ["b", "a", "a", "b"], [1, 2, 1, 1]


def as_the_format_says(X, targets, weights=None, names=None):
    """The digest of lists of rationals; ``names`` are the texts of the labels, None of real targets."""
    order = sorted(names or [])
    head = f"convexcls-data/2 {len(X)} {len(X[0])} {'plain' if weights is None else 'weighted'} {len(order)}\n"
    out = head.encode() + "".join(f"{name}\n" for name in order).encode()
    for first in range(0, len(X), 1024):
        rows, some = X[first : first + 1024], slice(first, first + 1024)
        whole = b"".join(struct.pack("<I", sum(v != 0 for v in row)) for row in rows)
        whole += b"".join(struct.pack("<I", j) for row in rows if 0 in row for j, v in enumerate(row) if v != 0)
        numbers = [v for row in rows for v in row if v != 0]
        if names is None:
            numbers += targets[some]
        else:
            whole += b"".join(struct.pack("<I", order.index(label_text(label))) for label in targets[some])
        numbers += [] if weights is None else weights[some]
        inexact = [v for v in numbers if F(float(v)) != v]
        doubles = [float("nan") if v in inexact else float(v) for v in numbers]
        text = "".join(f"{F(v)}\n" for v in inexact)
        block = whole + b"".join(struct.pack("<d", v) for v in doubles) + text.encode()
        out += hashlib.sha256(block).digest()
    return hashlib.sha256(out).hexdigest()


def drawn(n, d, seed, zeros=0.3):
    rng = np.random.default_rng(seed)
    X = rng.integers(-8, 9, size=(n, d)) / 4.0 + 0.125
    return np.where(rng.random((n, d)) < zeros, 0.0, X), rng.integers(0, 3, size=n), rng.integers(1, 4, size=n) / 2.0


@pytest.mark.parametrize("n", [3, 1023, 1024, 1025, 2500])
def test_the_digest_is_what_the_format_says(n):
    X, labels, weights = drawn(n, 3, seed=n)
    y = np.array(["b", "é", "10.0"])[labels]
    y[:3] = ["b", "é", "10.0"]
    names = ['"b"', '"\\u00e9"', "10"]
    expected = as_the_format_says(X.tolist(), y.tolist(), weights.tolist(), names)
    assert data_digest(check_data(X, y, weights, several=True)) == expected
    assert alone.digest([[*map(F, row)] for row in X.tolist()], y.tolist(), weights.tolist(), False) == expected
    real = X @ [1.0, 2.0, 3.0]
    expected = as_the_format_says(X.tolist(), real.tolist())
    assert data_digest(check_data(X, real, None, real_target=True)) == expected
    assert alone.digest([[*map(F, row)] for row in X.tolist()], [*map(F, real.tolist())], [1] * n, True) == expected


def test_what_is_no_double_is_text():
    big = F(2) ** 1024 - F(2) ** 971  # the largest double
    X = [[F(1, 3), F(1, 2)], [F(0), big], [F(1, 10), F(-7)]]
    y, weights = [F(1, 7), F(2), F(-1, 3)], [F(1, 5), F(1), F(2)]
    expected = as_the_format_says(X, y, weights)
    assert data_digest(check_data(X, y, weights, real_target=True)) == expected
    assert alone.digest(X, y, weights, True) == expected
    rounded = [[float(v) for v in row] for row in X]
    assert data_digest(check_data(rounded, y, weights, real_target=True)) != expected


@pytest.mark.parametrize("rows", [1, 7, 1000, 1024, 1500, 3000])
def test_it_does_not_tell_how_the_samples_are_read(rows):
    """In one piece, by block of any size, sparse, as decimals: the same digest."""
    n = 60 if rows < 10 else 2600
    X, labels, weights = drawn(n, 3, seed=8)
    known = data_digest(check_data(X, labels, weights, several=True))
    for source in (X, sparse.csr_array(X)):
        read = cc.read_blocks(source, target=labels, weights=weights, rows=rows)
        assert data_digest(check_data(read.X, read.y, read.weights, several=True)) == known
    for other in (sparse.csc_array(X), np.asfortranarray(X), [[Decimal(v) for v in row] for row in X.tolist()]):
        assert data_digest(check_data(other, labels, weights, several=True)) == known
    full = drawn(n, 3, seed=9, zeros=0.0)[0]
    read = cc.read_blocks(full, target=labels, rows=rows)
    assert data_digest(check_data(read.X, labels, several=True)) == data_digest(check_data(full, labels, several=True))


def test_zeros_that_are_stored_are_left_alone():
    """They are not in the digest, and stay in the data."""
    X = sparse.csr_array((np.array([0.0, 3.0, 2.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    data = check_data(X, [0, 1])
    assert data_digest(data) == data_digest(check_data(X.toarray(), [0, 1]))
    assert data.matrix.toarray().tolist() == [[0.0, 3.0], [2.0, 0.0]]
    assert data.matrix.nnz == check_data(X, [0, 1]).matrix.nnz


def test_every_value_and_every_place_counts():
    """Over the edge of a block, too."""
    X, labels, weights = drawn(BLOCK_SAMPLES + 2, 2, seed=4)
    labels[:3] = range(3)

    def digest(X=X, y=labels, w=weights):
        return data_digest(check_data(X, y, w, several=True))

    seen = {digest(), digest(w=None), digest(X=X[:, ::-1]), digest(y=(labels + 1) % 3)}
    for i in (0, BLOCK_SAMPLES - 1, BLOCK_SAMPLES, BLOCK_SAMPLES + 1):
        more, other, heavier, swapped = X.copy(), labels.copy(), weights.copy(), X.copy()
        more[i, 1] = np.nextafter(more[i, 1], 9.0)
        other[i] = (other[i] + 1) % 3
        heavier[i] += 0.5
        swapped[[i, i - 1]] = X[[i - 1, i]]
        seen |= {digest(X=more), digest(y=other), digest(w=heavier), digest(X=swapped)}
    assert len(seen) == 4 + 16


def test_older_files_are_verified_by_their_digest():
    X, y, weights = OLDER_DATA
    assert cc.verify(OLDER, X, y, weights), cc.verify(OLDER, X, y, weights).reasons
    assert stand_alone(OLDER, X, y, weights)[0]
    blocks = cc.read_blocks(np.array(X, dtype=float), target=y, weights=weights, rows=3)
    assert "digests differ" in cc.verify(OLDER, *blocks, weights).reasons[0]  # 0.1 is not 1/10
    other = [[F(1, 10), 1], *X[1:]]
    assert "digests differ" in cc.verify(OLDER, other, y, weights).reasons[0]
    assert "digests differ" in stand_alone(OLDER, other, y, weights)[1]


@pytest.mark.parametrize("form", [None, "convexcls-data/1", "convexcls-data/3", ["convexcls-data/2"], ..., 2])
def test_a_digest_of_another_form_is_refused(form):
    X, y, weights = OLDER_DATA
    inner = json.loads(cc.SoftMarginSVM(X, y, C=2, sample_weight=weights).solve(level="exact").certificate.to_json())
    assert inner["data"]["digest"] == "convexcls-data/2"
    assert cc.verify(json.dumps(inner), X, y, weights)
    assert stand_alone(json.dumps(inner), X, y, weights)[0]
    if form is ...:
        del inner["data"]["digest"]
    else:
        inner["data"]["digest"] = form
    assert not cc.verify(json.dumps(inner), X, y, weights)
    assert not stand_alone(json.dumps(inner), X, y, weights)[0]


@pytest.mark.parametrize("kind", ["hard", "soft", "logistic", "squares"])
def test_certificates_by_block_and_in_one_piece(kind):
    """The same digest in the file either way, which is accepted on either, and refused where one entry differs."""
    rng = np.random.default_rng(2)
    n = 120 if kind == "hard" else 1400  # which is proved in rationals
    X = np.round(rng.normal(size=(n, 2)), 2)
    y = np.where(X @ [1.0, -2.0] + (0.0 if kind == "hard" else 1.0) * rng.normal(size=n) > 0, "up", "down")
    X += 0.1 * np.outer(y == "up", [1.0, -2.0]) if kind == "hard" else 0.0
    make = {
        "hard": cc.HardMarginSVM,
        "soft": cc.SoftMarginSVM,
        "logistic": cc.LogisticMLE,
        "squares": cc.LeastSquares,
    }[kind]
    read = cc.read_blocks(X, target=y, rows=n // 4)
    texts = [make(*pair).solve().certificate.to_json() for pair in (tuple(read), (X, y))]
    assert len({json.loads(text)["data"]["sha256"] for text in texts}) == 1
    other = X.copy()
    other[n - 1, 1] += 2.0**-40
    for text in texts:
        for pair in (tuple(read), (X, y), tuple(cc.read_blocks(X, target=y, rows=1024))):
            assert cc.verify(text, *pair), cc.verify(text, *pair).reasons
        for wrong in ((other, y), tuple(cc.read_blocks(other, target=y, rows=n // 4))):
            assert "digests differ" in cc.verify(text, *wrong).reasons[0]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("excess", [-1, 0, 1])
def test_the_stand_alone_verifier_writes_what_no_double_can_hold_as_text(sign, excess):
    """Around the number from which on doubles are infinite."""
    value = sign * F(2**1024 - 2**970 + excess)
    block = struct.pack("<IId", 1, 0, float("nan")) + f"{value}\n".encode()
    head = b"convexcls-data/2 1 1 plain 1\n0\n"
    expected = hashlib.sha256(head + hashlib.sha256(block).digest()).hexdigest()
    assert alone.digest([[value]], ["0"], [F(1)], False) == expected


@pytest.mark.parametrize("form", ["convexcls-data/2", None])
@pytest.mark.parametrize("rounded", [(False, False, False), (False, False, True), (True, True, True)])
def test_the_stand_alone_verifier_takes_cells_as_written_or_as_doubles(rounded, form):
    """Of older files with weights as doubles beside samples as written; no other mixture."""
    cells = [["0.1", "2"], ["3", "0.7"]], ["0.3", "1.1"], ["0.1", "0.9"]
    way = tuple(_taken(part, as_double) for part, as_double in zip(cells, rounded, strict=True))
    made = alone.digest if form else alone.text_digest
    data = {"labels": None, "features": "2", "weighted": True, "sha256": made(*way, True)}
    assert alone.same_data(data | ({"digest": form} if form else {}), *cells) == way


def _taken(cells, as_double):
    if isinstance(cells, str):
        return F(float(cells)) if as_double else F(cells)
    return [_taken(cell, as_double) for cell in cells]
