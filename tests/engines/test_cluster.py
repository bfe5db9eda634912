"""Dask: real workers in processes, one of them killed, and a scheduler that goes away.

The answer is the same to the last bit, whoever works on the blocks."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass

import numpy as np
import pytest

import convexcls as cc
from convexcls.engines import EngineError, SerialEngine, as_engine
from convexcls.engines.processes import ProcessEngine

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

#: What Dask and its server say of themselves when workers come and go.
pytestmark = pytest.mark.filterwarnings("ignore")

N, D = 20_000, 5


@dataclass(frozen=True)
class Numbers:
    """A block that is made of its number."""

    number: int

    def read(self):
        return np.full(100, float(self.number))


def more_than_there_is(block):
    return np.empty(2**50)


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(processes=True, **options) as found:
        yield found


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    rng = np.random.default_rng(11)
    X = rng.normal(size=(N, D))
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", np.where(X @ np.arange(D) + 0.1 * rng.logistic(size=N) > 0, 1, 0))
    np.save(folder / "apart.npy", X @ np.arange(D) > 0)
    return folder


def answers(folder, engine):
    """All bits of some answers and of their proofs."""
    read = cc.read_blocks(folder / "X.npy", target=str(folder / "y.npy"), rows=2500, engine=engine)
    out = []
    apart = np.load(folder / "apart.npy")
    for model in (cc.LogisticMLE(*read, l2=1.0), cc.HardMarginSVM(read.X, apart), cc.LeastSquares(*read)):
        s = model.solve(level="rigorous")
        parts = [s.coef, np.array([s.objective, s.gap]), *s.multipliers.values(), s.decision_function(read.X)]
        out.append((s.status, *(part.tobytes() for part in parts)))
    return out


@pytest.fixture(scope="module")
def expected(files):
    return answers(files, SerialEngine())


def test_processes_give_the_same_bits(files, expected):
    for workers in (2, 3):
        engine = ProcessEngine(workers, hold=300_000.0)  # some blocks are held, others read again
        assert answers(files, engine) == expected
        engine.close()


def test_a_cluster_gives_the_same_bits(cluster, files, expected):
    with distributed.Client(cluster, set_as_default=False) as client:
        assert answers(files, client) == expected


def test_a_worker_that_is_killed_changes_nothing(cluster, files, expected):
    engine = as_engine(cluster.scheduler_address)
    pids = list(engine.client.run(os.getpid).values())
    killed = threading.Timer(0.2, os.kill, (pids[0], signal.SIGKILL))
    killed.start()
    assert answers(files, engine) == expected
    killed.join()
    engine.close()


def test_a_file_that_is_gone_is_told_from_a_cluster(cluster, files, tmp_path):
    np.save(tmp_path / "X.npy", np.ones((10, 2)))
    with distributed.Client(cluster, set_as_default=False) as client:
        read = cc.read_blocks(tmp_path / "X.npy", engine=client, hold=0)
        (tmp_path / "X.npy").unlink()
        with pytest.raises(cc.BlocksChanged, match="the file is gone"):
            _ = read.rows @ np.ones(2)


def test_a_task_without_memory_and_an_interrupt(cluster):
    """An error that says what helps; tasks that nobody waits for are taken back, and the cluster goes on."""
    pieces = [Numbers(k) for k in range(7)]
    with distributed.Client(cluster, set_as_default=False) as client:
        engine = as_engine(client)
        with pytest.raises(EngineError, match="a worker ran out of memory: hold less"):
            list(engine.map(more_than_there_is, pieces))

        def interrupted(k):
            if k == 4:
                raise KeyboardInterrupt
            return ()

        with pytest.raises(KeyboardInterrupt):
            list(engine.map(len, pieces, own=interrupted))
        assert list(engine.map(len, pieces)) == [100] * 7


def test_a_scheduler_that_goes_away_between_two_passes(files):
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    found = distributed.LocalCluster(processes=False, **options)
    engine = as_engine(found.scheduler_address)
    read = cc.read_blocks(files / "X.npy", target=str(files / "y.npy"), rows=2500, engine=engine)
    seen = []

    def close(event):
        seen.append(event)
        if len(seen) == 2:
            found.close()

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), pytest.raises(EngineError, match="Dask"):
        cc.LogisticMLE(*read).solve(callback=close)


def test_a_scheduler_that_goes_away(files, monkeypatch):
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(processes=False, **options) as found:
        engine = as_engine(found.scheduler_address)
        read = cc.read_blocks(files / "X.npy", target=str(files / "y.npy"), engine=engine)
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), pytest.raises(EngineError, match="Dask"):
        cc.LogisticMLE(*read).solve()
    monkeypatch.setattr("convexcls.engines.cluster.SECONDS_TO_CONNECT", 1)
    with pytest.raises(EngineError, match=r"there is no Dask scheduler at tcp://127\.0\.0\.1:1"):
        as_engine("tcp://127.0.0.1:1")
