"""The kinds of models: who has one, who does not, and that nobody takes another's."""

from __future__ import annotations

import gc

import pytest

import convexcls as cc
from convexcls.models import KindError, by_kind
from convexcls.models.base import _KINDS

X, Y = [[0.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [0, 1, 1]


@pytest.fixture
def kinds(monkeypatch):
    """Kinds that a test adds are gone after it."""
    before = dict(_KINDS)
    yield
    _KINDS.clear()
    _KINDS.update(before)


def test_a_subclass_does_not_stand_in_for_its_parent():
    class Mine(cc.HardMarginSVM):
        pass

    assert by_kind()["hard-margin"] is cc.HardMarginSVM
    text = cc.HardMarginSVM(X, Y).solve().certificate.to_json()
    assert cc.verify(text, X, Y)
    solution = Mine(X, Y).solve()
    assert solution.status == "optimal"
    with pytest.raises(cc.NoAnswer, match="Mine has no kind of its own"):
        solution.certificate.to_json()


def test_a_model_of_ones_own_is_written_and_read_back(kinds):
    class Half(cc.SoftMarginSVM):
        kind = "half-margin"

        def __init__(self, X, y, *, loss: str = "hinge", C: float = 0.5, intercept: bool = True) -> None:
            super().__init__(X, y, C=C, loss=loss, intercept=intercept)

    assert by_kind()["half-margin"] is Half
    assert list(by_kind()) == sorted(by_kind())
    text = Half(X, Y).solve().certificate.to_json()
    assert '"model": "half-margin"' in text
    assert cc.verify(text, X, Y)


def test_a_kind_that_is_taken_is_refused(kinds):
    with pytest.raises(KindError, match=r"'hard-margin' of Other is that of convexcls\.models\.hard_margin"):
        type("Other", (cc.LogisticMLE,), {"kind": "hard-margin"})
    gc.collect()
    assert by_kind()["hard-margin"] is cc.HardMarginSVM


def test_a_class_that_is_defined_again_takes_its_own_place(kinds):
    """As when a cell of a notebook is run twice."""
    first, second = (type("Again", (cc.HardMarginSVM,), {"kind": "again"}) for _ in range(2))
    assert by_kind()["again"] is second is not first
