"""Engines: the same function of the same blocks, in their order, whoever carries it out, whatever happens to them."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from convexcls.engines import EngineError, SerialEngine, as_engine, tree_sum
from convexcls.engines.processes import ProcessEngine


@dataclass(frozen=True)
class Numbers:
    """A block that is made of its number; ``trace`` is a file that every reading adds a line to."""

    number: int
    trace: str = ""

    def read(self):
        if self.trace:
            with open(self.trace, "a") as file:
                file.write(f"{self.number}\n")
        return np.full(100, float(self.number))


def weighed(block, factor, own):
    return float(factor * block.sum() + own)


def lethal(block, marker):
    """Ends its process the first time that it sees block 2."""
    if block[0] == 2.0 and not Path(marker).exists():
        Path(marker).write_text("seen")
        os.kill(os.getpid(), signal.SIGKILL)
    return float(block.sum())


def always_lethal(block):
    os.kill(os.getpid(), signal.SIGKILL)


def refused(block):
    raise ValueError(f"block {block[0]:.0f} is not liked")


def too_much(block):
    raise MemoryError


BLOCKS = [Numbers(k) for k in range(7)]
EXPECTED = [2.0 * 100 * k + 10 * k for k in range(7)]


@pytest.fixture(scope="module")
def processes():
    engine = ProcessEngine(2)
    yield engine
    engine.close()


def test_every_engine_gives_results_in_the_order_of_the_blocks(processes):
    for engine in (SerialEngine(), processes):
        assert list(engine.map(weighed, BLOCKS, (2.0,), lambda k: (10 * k,))) == EXPECTED


def test_a_map_may_begin_while_another_is_under_way(processes):
    inner = []
    outer = []
    for value in processes.map(weighed, BLOCKS, (2.0,), lambda k: (10 * k,)):
        outer.append(value)
        inner.append(list(processes.map(weighed, BLOCKS[:3], (1.0,), lambda k: (0.0,))))
    assert outer == EXPECTED
    assert inner == [[0.0, 100.0, 200.0]] * 7


def test_a_map_that_nobody_reads_to_the_end_does_no_harm(processes):
    begun = processes.map(weighed, BLOCKS, (2.0,), lambda k: (10 * k,))
    assert next(begun) == 0.0
    begun.close()
    assert list(processes.map(weighed, BLOCKS, (2.0,), lambda k: (10 * k,))) == EXPECTED


def test_a_worker_that_is_lost_is_replaced(processes, tmp_path):
    assert list(processes.map(lethal, BLOCKS, (str(tmp_path / "marker"),))) == [100.0 * k for k in range(7)]


def test_a_block_that_takes_every_worker_with_it_is_an_error(processes):
    with pytest.raises(EngineError, match=r"lost 3 times on the same block.*out of memory"):
        list(processes.map(always_lethal, BLOCKS[:1]))
    assert list(processes.map(weighed, BLOCKS, (2.0,), lambda k: (10 * k,))) == EXPECTED


def test_what_a_task_raises_is_raised_here(processes):
    for engine in (SerialEngine(), processes):
        with pytest.raises(ValueError, match="block 0 is not liked"):
            list(engine.map(refused, BLOCKS))
    with pytest.raises(EngineError, match="ran out of memory: hold less"):
        list(processes.map(too_much, BLOCKS))


def test_what_does_not_pickle_is_said_so(processes):
    with pytest.raises(EngineError, match=r"has to be picklable.*in a module"):
        list(processes.map(lambda block: 0, BLOCKS))


def test_an_interrupt_ends_the_workers(processes):
    """A message may have been read in part: the next map begins with new ones."""

    def interrupted(k):
        if k == 4:
            raise KeyboardInterrupt
        return (0.0,)

    with pytest.raises(KeyboardInterrupt):
        list(processes.map(weighed, BLOCKS, (2.0,), interrupted))
    assert not processes._running
    assert list(processes.map(weighed, BLOCKS, (2.0,), lambda k: (10 * k,))) == EXPECTED


def test_blocks_are_held_up_to_their_share(tmp_path):
    """Of seven blocks of 800 bytes, 2000 bytes hold two, which are read once; the others at every pass."""
    trace = tmp_path / "trace"
    engine, pieces = SerialEngine(hold=2000.0), [Numbers(k, str(trace)) for k in range(7)]
    for _ in range(3):
        list(engine.map(len, pieces))
    read = trace.read_text().split()
    assert [read.count(str(k)) for k in range(7)] == [1, 1, 3, 3, 3, 3, 3]


def test_sums_are_made_in_a_tree_that_the_number_of_parts_decides():
    values = np.random.default_rng(0).normal(size=13).tolist()
    a = [values[k] + values[k + 1] for k in range(0, 12, 2)]
    b = [a[0] + a[1], a[2] + a[3], a[4] + a[5]]
    assert tree_sum(values) == (b[0] + b[1]) + (b[2] + values[12])
    assert tree_sum([]) is None


def test_engines_are_pickled_without_what_they_hold(processes):
    copy = pickle.loads(pickle.dumps(processes))
    assert (copy.workers, copy.hold) == (2, float("inf"))
    assert not copy._running


def test_an_engine_that_is_not_known():
    for wrong in ("many", 0, -1, True, 1.5):
        with pytest.raises(EngineError, match="is not known"):
            as_engine(wrong)


def test_no_process_is_left_when_this_one_is_killed(tmp_path):
    """Workers end with the process that started them, however that ended."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import os, sys, time
        sys.path.insert(0, sys.argv[1])
        from convexcls.engines.processes import ProcessEngine
        from tests.engines.test_engines import BLOCKS, weighed
        if __name__ == "__main__":
            engine = ProcessEngine(2)
            list(engine.map(weighed, BLOCKS, (2.0,), lambda k: (0.0,)))
            print(*(worker.process.pid for worker in engine._running), flush=True)
            time.sleep(60)
        """)
    )
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    child = subprocess.Popen([sys.executable, script, root], stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout is not None
    workers = [int(pid) for pid in child.stdout.readline().split()]
    assert len(workers) == 2
    child.kill()
    child.wait()
    child.stdout.close()
    deadline = time.monotonic() + 20.0
    while any(_is_running(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in workers if _is_running(pid)]


def test_ctrl_c_ends_this_process_alone_and_quietly(tmp_path):
    """It goes to all processes of a terminal: workers that are only just starting leave it to this one, which ends
    them."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import sys, time
        from convexcls.engines.processes import ProcessEngine
        if __name__ == "__main__":
            engine = ProcessEngine(2)
            engine._start()
            try:
                print(*(worker.process.pid for worker in engine._running), flush=True)
                time.sleep(60)
            except KeyboardInterrupt:
                sys.exit(7)
        """)
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    child = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert child.stdout is not None
    workers = [int(pid) for pid in child.stdout.readline().split()]
    os.killpg(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert (child.returncode, errors) == (7, "")
    assert len(workers) == 2
    assert not [pid for pid in workers if _is_running(pid)]


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
