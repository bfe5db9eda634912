"""A name that is nearly one is answered by the one that was meant, in Python as on the command line."""

from __future__ import annotations

import pytest

import convexcls as cc

X, Y = [[0], [1], [2], [3]], [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("call", "error", "meant"),
    [
        (lambda p: p.solve("newtn"), ValueError, "'newton'"),
        (lambda p: p.solve("Newton"), ValueError, "'newton'"),
        (lambda p: p.solve("autto"), ValueError, "'auto'"),
        (lambda p: p.solve("newton", maxiter=5), TypeError, "'max_iter'"),
        (lambda p: cc.load("xor_hard_margn"), ValueError, "'xor_hard_margin'"),
        (lambda p: cc.EmpiricalRisk(X, Y, loss="logistc"), ValueError, "'logistic'"),
        (lambda p: cc.KernelSVM(X, Y, kernel="rfb"), ValueError, "'rbf'"),
        (lambda p: cc.HardMarginSVN, AttributeError, "'HardMarginSVM'"),
    ],
)
def test_the_name_that_was_meant_is_suggested(call, error, meant):
    with pytest.raises(error) as found:
        call(cc.LogisticMLE(X, Y))
    assert f"(did you mean {meant}?)" in str(found.value)


def test_nothing_is_suggested_for_what_is_like_nothing():
    with pytest.raises(ValueError) as found:
        cc.LogisticMLE(X, Y).solve("simplex")
    assert "did you mean" not in str(found.value)
