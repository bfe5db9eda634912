"""What is proved to have no solution shows no numbers: Python, the command line, JSON and estimators agree."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import convexcls as cc
from convexcls.cli import main

SEPARATED = ([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
MIXED = ([[0.0], [1.0], [2.0]], [0, 1, 0])
NONE = {
    "logistic": (cc.LogisticMLE(*SEPARATED), "unattained", "try l2="),
    "softmax": (cc.SoftmaxMLE([[0.0], [1.0], [2.0]], ["a", "b", "c"]), "unattained", "try l2="),
    "hard margin": (cc.HardMarginSVM(*MIXED), "infeasible", "soft margin"),
    "singular classes": (cc.GaussianMLE([[0, 1], [1, 1], [2, 2], [3, 2]], [0, 0, 1, 1]), "unattained", "eave"),
}


@pytest.mark.parametrize("name", NONE)
def test_nothing_is_shown_and_the_remedy_is_named(name):
    problem, status, remedy = NONE[name]
    s = problem.solve()
    assert s.status == status
    X = problem.data.matrix
    for ask in (
        lambda: s.coef,
        lambda: s.intercept,
        lambda: s.values,
        lambda: s.predict(X),
        lambda: s.predict_proba(X),
        lambda: s.decision_function(X),
        lambda: s.signed_distance(X),
    ):
        with pytest.raises(cc.NoAnswer, match=f"{status} .proved: .*{remedy}"):
            ask()
    with pytest.raises(cc.NoAnswer):
        s.summary()


def test_the_remedy_helps():
    with pytest.raises(cc.NoAnswer) as refusal:
        _ = cc.LogisticMLE(*SEPARATED).solve().coef
    l2 = float(str(refusal.value).rpartition("l2=")[2])
    assert cc.LogisticMLE(*SEPARATED, l2=l2).solve().coef[0] > 0


def test_the_last_point_is_kept_for_those_who_look():
    s = cc.LogisticMLE(*SEPARATED).solve("newton")
    point = s.last_point
    assert point is not None
    assert np.concatenate([point["coef"], point["intercept"]]) == pytest.approx(s.x)


def test_the_command_line_says_the_same(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n0,0\n1,0\n2,1\n3,1\n")
    done = CliRunner().invoke(main, ["solve", str(tmp_path / "a.csv"), "-m", "logistic", "--json"])
    found = json.loads(done.stdout)
    assert (found["status"], found["coef"], found["objective"]) == ("unattained", None, None)
    with pytest.raises(cc.NoMaximumError):
        cc.LogisticClassifier(C=np.inf).fit(*SEPARATED)
