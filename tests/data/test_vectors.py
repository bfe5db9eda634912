"""Vectors that take less memory: as the arrays that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from convexcls.data import Coded, Counting, Recalled, Sparse, copied, nonzero_places, same_vector

RNG = np.random.default_rng(3)
ARRAYS = {
    "signs": np.where(RNG.random(500) < 0.3, -1.0, 1.0),
    "weights": RNG.integers(0, 4, size=500) / 4.0,
    "alike": np.full(500, 0.1),
}


FEW = np.where(RNG.random(500) < 0.02, RNG.normal(size=500), 0.0)
STAND_INS = {name: (Coded.of(array), array) for name, array in ARRAYS.items()} | {
    "multipliers": (Sparse(500, np.flatnonzero(FEW), FEW[FEW != 0]), FEW),
    "other than one": (1.0 - Sparse(500, np.flatnonzero(FEW), FEW[FEW != 0]), 1.0 - FEW),
    "none": (Sparse(500, np.arange(0), np.zeros(0)), np.zeros(500)),
    "recalled": (Recalled(500, lambda: FEW.copy()), FEW),
    "numbers": (Counting(500), np.arange(500)),
}


@pytest.mark.parametrize("name", STAND_INS)
def test_they_are_the_array(name):
    (stand_in, array), u = STAND_INS[name], RNG.normal(size=500)
    np.testing.assert_array_equal(np.asarray(stand_in), array)
    for index in (slice(3, 90), slice(None, None, 7), np.array([4, -1, 4, 0]), array > 0, 7, -2, (slice(None), None)):
        np.testing.assert_array_equal(np.asarray(stand_in[index]), array[index])
    for ask in (
        lambda a: -a,
        lambda a: 2.0 * a - 1.0,
        lambda a: a * a,
        lambda a: a * u,
        lambda a: u - a,
        lambda a: a > 0,
        lambda a: np.ldexp(np.asarray(a, dtype=float) if a.dtype.kind == "i" else a, 3),
        lambda a: np.where(a > 0, u, 0.0),
        lambda a: np.repeat(a, 2),
        lambda a: np.flatnonzero(a > 0),
        lambda a: np.maximum.reduce(np.abs(a), initial=0.0, axis=None),
        lambda a: [np.any(a != 1.0), np.all(a > 0), a.max(initial=0.0), np.min(a), len(a), float(a[0])],
        lambda a: a.tolist(),
        lambda a: nonzero_places(a),
        lambda a: copied(a),
    ):
        np.testing.assert_array_equal(np.asarray(ask(stand_in)), np.asarray(ask(array)))
    mine, theirs = [(a.sum(), np.sum(a), a @ a, a @ u, u @ a) for a in (stand_in, array)]
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_what_is_worked_out_by_value_stays_coded():
    signs, alike = Coded.of(ARRAYS["signs"]), Coded.alike(0.5, 500)
    for made in (-signs, np.abs(signs), signs * signs, signs * alike, alike * alike, alike + 1.0, signs.astype(int)):
        assert isinstance(made, Coded)
    few = STAND_INS["multipliers"][0]
    for made in (-few, np.abs(few), np.maximum(-few, 0.0), few * alike, np.ldexp(few, 2), few[10:400]):
        assert isinstance(made, Sparse)
        assert made.places.size <= few.places.size
    assert same_vector(signs, -1.0 * (-signs))
    assert not same_vector(signs, -signs)
    assert same_vector(signs, ARRAYS["signs"])


def test_many_values_have_no_codes():
    assert Coded.of(np.arange(1000.0)) is None
    assert Coded.of(np.append(np.zeros(1000), np.nan)) is None
    assert Coded.of(np.empty(0)) is None
    assert Coded.of(np.append(np.zeros(2_000_000), np.arange(300.0))) is None


def test_a_vector_that_would_be_written_to_becomes_an_array():
    signs = Coded(np.array([0, 1, 1], dtype=np.uint8), np.array([-1.0, 1.0]))
    moved = signs
    moved += np.array([0.5, 0.0, 1.0])
    assert isinstance(moved, np.ndarray)
    assert moved.tolist() == [-0.5, 1.0, 2.0]
    assert np.asarray(signs).tolist() == [-1.0, 1.0, 1.0]
    assert np.add(np.ones(3), 1.0, out=np.zeros(3), where=signs > 0).tolist() == [0.0, 2.0, 2.0]
