"""Logistic regression on samples that are read by block, beside dask-ml and scikit-learn on the same files.

    python -m benchmarks.blocks [--rows N] [--features D] [--blocks B] [--workers W] [--epochs E]

Every contender runs in a process of its own on the same .npy blocks, and minimises the same likelihood without a
penalty (dask-ml's newton knows none). The accuracy is the largest entry of its gradient at the answer, over the number
of samples, as we compute it; CPU seconds and peak memory are those of the process and of all that it started. How often
dask-ml reads the blocks is told as "readings": its newton and lbfgs keep them in memory. Contenders that are not
installed are left out.

The last lines are the trip through the engine: the CPU of a pass by ``read_blocks`` over that of a loop which reads the
same files and does the same arithmetic, side by side.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

#: A pass is timed so many times; the best counts.
TIMES = 5


def make(folder: Path, n: int, d: int, count: int) -> None:
    """Overlapping classes in so many blocks."""
    rng, w = np.random.default_rng(0), np.random.default_rng(1).normal(size=d) / np.sqrt(d)
    for k in range(count):
        X = rng.normal(size=(n // count, d))
        np.save(folder / f"X-{k:04d}.npy", X)
        np.save(folder / f"y-{k:04d}.npy", np.where(X @ w + rng.logistic(size=len(X)) > 0, 1.0, -1.0))


def blocks_of(folder: Path) -> list[tuple[Any, Any]]:
    """The blocks as memory maps, with their labels."""
    pairs = zip(sorted(folder.glob("X-*.npy")), sorted(folder.glob("y-*.npy")), strict=True)
    return [(np.load(x, mmap_mode="r"), np.load(y)) for x, y in pairs]


def ours(folder: Path, arguments: argparse.Namespace) -> tuple[Any, float, str]:
    """Newton's method by block, with its certificate."""
    import convexcls as cc

    y = np.concatenate([y for _, y in blocks_of(folder)])
    engine = arguments.workers if arguments.workers > 1 else None
    samples = cc.read_blocks(f"{folder}/X-*.npy", target=y, engine=engine, hold=arguments.hold)
    s = samples.declare(cc.LogisticMLE).solve()
    samples.close()
    return s.coef, float(s.intercept), f"{samples.rows.passes} passes with the proof, {s.status}"


def partial_fit(folder: Path, arguments: argparse.Namespace) -> tuple[Any, float, str]:
    """Stochastic gradient descent, block after block."""
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="log_loss", penalty=None, random_state=0)
    for _ in range(arguments.epochs):
        for X, y in blocks_of(folder):
            model.partial_fit(np.asarray(X), y, classes=[-1.0, 1.0])
    return model.coef_[0], float(model.intercept_[0]), f"{arguments.epochs} passes"


def dask_ml(solver: str) -> Callable[..., tuple[Any, float, str]]:
    """A solver of dask-ml, on its defaults but for the penalty, which is as good as none; in one thread, so that its
    readings can be counted."""

    def run(folder: Path, _: argparse.Namespace) -> tuple[Any, float, str]:
        import dask
        import dask.array as da
        from dask_ml.linear_model import LogisticRegression

        reader, pairs = Counted(), blocks_of(folder)
        parts = [
            da.from_delayed(dask.delayed(reader.load, pure=False)(str(path)), X.shape, X.dtype)
            for path, (X, _) in zip(sorted(folder.glob("X-*.npy")), pairs, strict=True)
        ]
        y = da.concatenate([da.from_array(y > 0, chunks=y.shape) for _, y in pairs])
        with dask.config.set(scheduler="synchronous"):
            model = LogisticRegression(solver=solver, C=1e15).fit(da.concatenate(parts), y)
        told = f"{reader.readings / len(pairs):.0f} readings"
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]), told

    return run


class Counted:
    """Reads blocks and counts how many."""

    def __init__(self) -> None:
        self.readings = 0

    def load(self, path: str) -> Any:
        """The block of a file."""
        self.readings += 1
        return np.load(path)


CONTENDERS: dict[str, Callable[..., tuple[Any, float, str]]] = {
    "convexcls": ours,
    "scikit-learn partial_fit": partial_fit,
    "dask-ml newton": dask_ml("newton"),
    "dask-ml lbfgs": dask_ml("lbfgs"),
    "dask-ml admm": dask_ml("admm"),
}


def gradient(folder: Path, coef: Any, intercept: float) -> float:
    """The largest entry of the gradient of the likelihood, over the number of samples."""
    total, n = np.zeros(coef.size + 1), 0
    for X, y in blocks_of(folder):
        pull = -y / (1.0 + np.exp(y * (X @ coef + intercept)))
        total += np.append(X.T @ pull, pull.sum())
        n += len(y)
    return float(np.abs(total).max() / n)


def trip(folder: Path) -> list[str]:
    """What the engine adds to a pass: a product, a sum over the rows, a Gram matrix."""
    import convexcls as cc
    from convexcls.rows import DenseRows

    files = sorted(folder.glob("X-*.npy"))
    rows = cc.read_blocks(f"{folder}/X-*.npy", hold=0).rows
    n, d = rows.shape
    v, u = np.ones(d), np.random.default_rng(0).uniform(size=n)
    asked: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]] = {
        "product": (lambda: rows @ another(), lambda R, _: R @ v),
        "sum": (lambda: rows.T @ u, lambda R, part: R.T @ part),
        "gram": (lambda: rows.gram(u), lambda R, part: R.gram(part)),
    }

    def another() -> Any:
        v[0] += 1.0  # the last product is remembered
        return v.copy()

    def raw(work: Callable[[Any, Any], Any]) -> None:
        start, found = 0, []
        for path in files:
            block = np.load(path)
            found.append(work(DenseRows(block), u[start : start + len(block)]))
            start += len(block)

    out = []
    for name, (ours, plain) in asked.items():
        pairs = [(_cpu(ours), _cpu(partial(raw, plain))) for _ in range(TIMES)]
        best = [min(times) for times in zip(*pairs, strict=True)]
        out.append(f"{name:8s} {best[0]:.3f} s by the engine, {best[1]:.3f} s in a loop: {best[0] / best[1]:.2f}")
    return out


def _cpu(work: Callable[[], Any]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _timed(name: str, folder: Path, arguments: argparse.Namespace, found: Any) -> None:
    begun = time.perf_counter()
    try:
        coef, intercept, said = CONTENDERS[name](folder, arguments)
    except ImportError as error:
        found.put(f"{name:26s} not installed ({error.name})")
        return
    wall = time.perf_counter() - begun
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu, memory = sum(u.ru_utime + u.ru_stime for u in used), [u.ru_maxrss // 1024 for u in used]
    error = gradient(folder, coef, intercept)
    found.put(
        f"{name:26s} {cpu:7.2f} s CPU {wall:7.2f} s wall  {memory[0]:5d} MB here {memory[1]:5d} MB a worker  "
        f"gradient {error:.1e}  {said}"
    )


def main() -> None:
    """Run all contenders and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, default in (("rows", 200_000), ("features", 50), ("blocks", 10), ("workers", 1), ("epochs", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--hold", default="2GB")
    parser.add_argument("--only", nargs="*", choices=CONTENDERS, default=list(CONTENDERS))
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), arguments.rows, arguments.features, arguments.blocks)
        for contender in arguments.only:
            found = context.Queue()
            child = context.Process(target=_timed, args=(contender, Path(name), arguments, found))
            child.start()
            print(found.get(), flush=True)
            child.join()
        print(*trip(Path(name)), sep="\n")


if __name__ == "__main__":
    main()
