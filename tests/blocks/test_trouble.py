"""Trouble while blocks are worked on: the same answer as without it, or an error that says what happened."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

import convexcls as cc
from convexcls.engines.processes import ProcessEngine

N = 4000


@pytest.fixture(scope="module")
def processes():
    engine = ProcessEngine(2, hold=0.0)
    yield engine
    engine.close()


@pytest.fixture
def samples():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 3))
    return X, X[:, 0] + rng.logistic(size=N) > 0


def in_the_middle(step):
    """A callback of a solver that does something at its second iteration."""
    seen = []

    def told(event):
        seen.append(event)
        if len(seen) == 2:
            step()

    return told


@pytest.mark.parametrize("engine", ["serial", "processes"])
@pytest.mark.parametrize("how", ["gone", "changed", "touched"])
def test_a_file_that_is_gone_or_changes_between_two_passes(samples, processes, tmp_path, engine, how):
    X, y = samples
    path = tmp_path / "X.npy"
    np.save(path, X)
    engine = processes if engine == "processes" else None
    problem = cc.LogisticMLE(*cc.read_blocks(path, target=y, rows=1000, engine=engine, hold=0))

    def change():
        if how == "gone":
            path.unlink()
        elif how == "changed":
            other = X.copy()
            other[-1, 0] += 1.0
            np.save(path, other)
        else:
            os.utime(path, (1.0, 1.0))

    if how == "touched":
        found = problem.solve(callback=in_the_middle(change))
        assert found.status == "optimal"
        assert found.coef.tobytes() == cc.LogisticMLE(*cc.read_blocks(X, target=y, rows=1000)).solve().coef.tobytes()
        return
    said = r"X\.npy, block 0: the file is gone" if how == "gone" else r"X\.npy, block 3: the data were changed"
    with pytest.raises(cc.BlocksChanged, match=said):
        problem.solve(callback=in_the_middle(change))


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_an_interrupted_solver_leaves_its_last_point(samples, processes, engine):
    """And the engine goes on: the next answer is the same as ever."""
    X, y = samples
    engine = processes if engine == "processes" else None
    problem = cc.LogisticMLE(*cc.read_blocks(X, target=y, rows=1000, engine=engine))

    def interrupt():
        raise KeyboardInterrupt

    stopped = problem.solve(callback=in_the_middle(interrupt))
    assert stopped.interrupted
    expected = cc.LogisticMLE(*cc.read_blocks(X, target=y, rows=1000)).solve()
    assert problem.solve().coef.tobytes() == expected.coef.tobytes()


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), OSError("9 requested and 4 written")]
)
def test_a_disk_that_is_full_leaves_nothing(samples, tmp_path, monkeypatch, error):
    X, y = samples
    read, save, written = cc.read_blocks(X, target=y, rows=1000), np.save, []

    def full(file, array):
        if len(written) == 2:
            file.write(b"half of it")
            raise error
        written.append(array)
        save(file, array)

    with monkeypatch.context() as patched:
        patched.setattr(np, "save", full)
        with pytest.raises(OSError, match=r"(No space|full).*nothing is left.*X-00002\.npy") as told:
            cc.convert_blocks(read, tmp_path / "fast")
    assert told.value.errno == errno.ENOSPC
    assert not list((tmp_path / "fast").iterdir())
    assert len(cc.convert_blocks(read, tmp_path / "fast").files) == 5
