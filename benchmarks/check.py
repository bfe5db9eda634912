"""What the check in doubles costs, by model and size, in this tree and in another one.

    python -m benchmarks.check [--base TREE] [--sizes 200x5 20000x50 ...] [--models hard ...] [--rounds 5]

Four columns, milliseconds of processor time, each the least of several runs: ``check`` judges a known answer again,
``in solve`` is what a solve pays for its own check, ``first`` judges the answer on a problem that was just declared, so
that all that is worked out once for a problem is counted, and ``whole`` is declare + solve + certify. With ``--base``
each tree has a process of its own, and the two work in turn, so that other work on the machine falls on both alike;
then a cell is base -> this tree (ratio). Only ratios count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = ("check", "in solve", "first", "whole")
SIZES = ("200x5", "20000x50", "200000x50")
#: Work is repeated for so many seconds of a round, but at least once.
SECONDS = 0.2
#: Models whose solve takes long on many samples are left out there.
LONG = {"soft": 100_000}
Sample = tuple[np.ndarray, np.ndarray]


def _sides(n: int, d: int, noise: float = 0.0, apart: float = 0.0) -> Sample:
    """Normal samples; the label is the side of a hyperplane, seen with noise, or pushed apart."""
    rng = np.random.default_rng(3)
    normal = rng.standard_normal(d)
    normal /= np.linalg.norm(normal)
    X = rng.standard_normal((n, d))
    y = np.where(X @ normal + noise * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X + (apart * y)[:, None] * normal, y


def _models() -> dict[str, Callable[[int, int], Any]]:
    """How each model is declared, with its data made outside of the clock."""
    import convexcls as cc

    def model(declare: Callable[[Any, Any], Any], **sides: float) -> Callable[[int, int], Any]:
        def prepared(n: int, d: int) -> Any:
            sample = _sides(n, d, **sides)
            return lambda: declare(*sample)

        return prepared

    return {
        "hard": model(cc.HardMarginSVM, apart=0.1),
        "soft": model(cc.SoftMarginSVM, noise=0.3),
        "logistic": model(cc.LogisticMLE, noise=1.0),
        "ridge": model(lambda X, y: cc.LeastSquares(X, y, l2=1.0), noise=1.0),
        "squares": model(cc.LeastSquares, noise=1.0),
        "Fisher": model(cc.FisherLDA, noise=1.0),
        "Gaussian": model(cc.GaussianMLE, noise=1.0),
    }


def _worker() -> None:
    """Serve one tree: a line of JSON names a model and a size, the answer is the least time of each column."""
    from convexcls import job
    from convexcls.proofs.verdict import certify

    models, known, own = _models(), {}, []

    def timed(*given: Any, **named: Any) -> Any:
        start = time.process_time()
        found = certify(*given, **named)
        own.append(1000.0 * (time.process_time() - start))
        return found

    job.certify = timed  # type: ignore[attr-defined]
    for line in sys.stdin:
        name, n, d = json.loads(line)
        if (name, n, d) not in known:
            declare = models[name](n, d)
            known = {(name, n, d): (declare, declare().solve())}
        declare, s = known[name, n, d]

        def judged(problem: Any, s: Any = s) -> None:
            found = certify(problem, s.x, s.multipliers, s.certificate.tol)
            certificate = found[0] if isinstance(found, tuple) else found  # of an older tree, a pair
            assert certificate.status == "optimal", certificate.reason

        works = (
            lambda s=s: (s.problem, judged),
            lambda declare=declare: (declare(), judged),
            lambda declare=declare: (None, lambda _: declare().solve()),
        )
        own.clear()
        check, first, whole = (_least(work) for work in works)
        print(json.dumps([check, min(own), first, whole]), flush=True)


def _least(prepared: Callable[[], tuple[Any, Callable[[Any], Any]]]) -> float:
    """The least processor time of the work in milliseconds; its preparation is not counted."""
    best, begun = float("inf"), time.process_time()
    while best == float("inf") or time.process_time() - begun < SECONDS:
        given, work = prepared()
        start = time.process_time()
        work(given)
        best = min(best, time.process_time() - start)
    return 1000.0 * best


def _serving(tree: Path) -> subprocess.Popen[str]:
    own = {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--worker"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=os.environ | own, cwd=tree, stdin=pipe, stdout=pipe, text=True)


def _measured(workers: list[subprocess.Popen[str]], task: list[Any], rounds: int) -> list[list[float]]:
    """The least times of each worker over some rounds, in turn."""
    best = [[float("inf")] * len(COLUMNS) for _ in workers]
    for _ in range(rounds):
        for k, worker in enumerate(workers):
            assert worker.stdin is not None
            assert worker.stdout is not None
            print(json.dumps(task), file=worker.stdin, flush=True)
            best[k] = [min(pair) for pair in zip(best[k], json.loads(worker.stdout.readline()), strict=True)]
    return best


def _lines(asked: argparse.Namespace) -> Iterator[str]:
    here = Path(__file__).resolve().parent.parent
    workers = [_serving(tree) for tree in ([asked.base.resolve()] if asked.base else []) + [here]]
    yield f"{'size':<10} {'model':<9}" + "".join(f" {column:>23}" for column in COLUMNS)
    for size in asked.sizes:
        n, d = map(int, size.split("x"))
        for name in asked.models:
            if n > LONG.get(name, n):
                continue
            times = _measured(workers, [name, n, d], asked.rounds)
            cells = (" -> ".join(f"{t:.2f}" for t in column) for column in zip(*times, strict=True))
            ratios = (f" ({column[-1] / column[0]:.2f})" if asked.base else "" for column in zip(*times, strict=True))
            row = (cell + ratio for cell, ratio in zip(cells, ratios, strict=True))
            yield f"{size:<10} {name:<9}" + "".join(f" {cell:>23}" for cell in row)
    for worker in workers:
        worker.communicate()


def main() -> None:
    """Print the table, or serve one tree."""
    if sys.argv[1:] == ["--worker"]:
        _worker()
        return
    names = ("hard", "soft", "logistic", "ridge", "squares", "Fisher", "Gaussian")
    parser = argparse.ArgumentParser(description="What the check in doubles costs.")
    parser.add_argument("--base", type=Path, help="another tree of this project, to compare with")
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="NxD")
    parser.add_argument("--models", nargs="+", default=names, choices=names)
    parser.add_argument("--rounds", type=int, default=5)
    for line in _lines(parser.parse_args()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
