"""Logistic regression on samples that are read by block, beside dask-ml and scikit-learn on the same files.

    python -m benchmarks.blocks [--rows N] [--features D] [--blocks B] [--workers W] [--epochs E]

Every contender runs in a process of its own on the same .npy blocks. The accuracy is the largest entry of the gradient
of the objective at its answer, over the number of samples, as we compute it; CPU seconds and peak memory are those of
the process and of all that it started. Contenders that are not installed are left out.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

L2 = 1.0


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
    s = samples.declare(cc.LogisticMLE, l2=L2).solve()
    samples.close()
    return s.coef, float(s.intercept), f"{samples.rows.passes} passes, {s.status}"


def partial_fit(folder: Path, arguments: argparse.Namespace) -> tuple[Any, float, str]:
    """Stochastic gradient descent, block after block."""
    from sklearn.linear_model import SGDClassifier

    n = sum(len(y) for _, y in blocks_of(folder))
    model = SGDClassifier(loss="log_loss", alpha=L2 / n, random_state=0)
    for _ in range(arguments.epochs):
        for X, y in blocks_of(folder):
            model.partial_fit(np.asarray(X), y, classes=[-1.0, 1.0])
    return model.coef_[0], float(model.intercept_[0]), f"{arguments.epochs} passes"


def dask_ml(solver: str) -> Callable[..., tuple[Any, float, str]]:
    """A solver of dask-ml, on its defaults but for the penalty."""

    def run(folder: Path, _: argparse.Namespace) -> tuple[Any, float, str]:
        import dask.array as da
        from dask_ml.linear_model import LogisticRegression

        pairs = blocks_of(folder)
        X = da.concatenate([da.from_array(np.asarray(X), chunks=X.shape) for X, _ in pairs])
        y = da.concatenate([da.from_array(y > 0, chunks=y.shape) for _, y in pairs])
        model = LogisticRegression(solver=solver, C=1.0 / L2).fit(X, y)
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]), ""

    return run


CONTENDERS: dict[str, Callable[..., tuple[Any, float, str]]] = {
    "convexcls": ours,
    "scikit-learn partial_fit": partial_fit,
    "dask-ml newton": dask_ml("newton"),
    "dask-ml lbfgs": dask_ml("lbfgs"),
    "dask-ml admm": dask_ml("admm"),
}


def gradient(folder: Path, coef: Any, intercept: float) -> float:
    """The largest entry of the gradient of the penalised likelihood, over the number of samples."""
    total, n = L2 * np.append(coef, 0.0), 0
    for X, y in blocks_of(folder):
        pull = -y / (1.0 + np.exp(y * (X @ coef + intercept)))
        total += np.append(X.T @ pull, pull.sum())
        n += len(y)
    return float(np.abs(total).max() / n)


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


if __name__ == "__main__":
    main()
