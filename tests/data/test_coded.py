"""Vectors of few different numbers: as the arrays that they stand for, in a byte an entry."""

from __future__ import annotations

import numpy as np
import pytest

from convexcls.data import Coded, same_vector

RNG = np.random.default_rng(3)
ARRAYS = {
    "signs": np.where(RNG.random(500) < 0.3, -1.0, 1.0),
    "weights": RNG.integers(0, 4, size=500) / 4.0,
    "alike": np.full(500, 0.1),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_they_are_the_array(name):
    array, u = ARRAYS[name], RNG.normal(size=500)
    coded = Coded.of(array)
    np.testing.assert_array_equal(np.asarray(coded), array)
    for index in (slice(3, 90), np.array([4, 4, 0]), array > 0, 7, (slice(None), None)):
        np.testing.assert_array_equal(coded[index], array[index])
    for ask in (
        lambda a: -a,
        lambda a: 2.0 * a - 1.0,
        lambda a: a * a,
        lambda a: a * u,
        lambda a: u - a,
        lambda a: a > 0,
        lambda a: np.ldexp(a, 3),
        lambda a: np.where(a > 0, u, 0.0),
        lambda a: np.repeat(a, 2),
        lambda a: a @ u,
        lambda a: np.flatnonzero(a > 0),
        lambda a: np.maximum.reduce(a, initial=0.0, axis=None),
        lambda a: [np.any(a != 1.0), np.all(a > 0), a.max(initial=0.0), np.min(a), len(a), float(a[0])],
        lambda a: a.tolist(),
    ):
        np.testing.assert_array_equal(np.asarray(ask(coded)), np.asarray(ask(array)))
    np.testing.assert_allclose([coded.sum(), np.sum(coded), coded @ coded], [array.sum(), array.sum(), array @ array])


def test_what_is_worked_out_by_value_stays_coded():
    signs, alike = Coded.of(ARRAYS["signs"]), Coded.alike(0.5, 500)
    for made in (-signs, np.abs(signs), signs * signs, signs * alike, alike * alike, alike + 1.0, signs.astype(int)):
        assert isinstance(made, Coded)
    assert same_vector(signs, -1.0 * (-signs))
    assert not same_vector(signs, -signs)
    assert same_vector(signs, ARRAYS["signs"])


def test_many_values_have_no_codes():
    assert Coded.of(np.arange(1000.0)) is None
    assert Coded.of(np.append(np.zeros(1000), np.nan)) is None
    assert Coded.of(np.empty(0)) is None
    assert Coded.of(np.append(np.zeros(2_000_000), np.arange(300.0))) is None
