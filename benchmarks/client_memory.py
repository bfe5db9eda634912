"""How much memory the process that solves takes for each sample that is read by block.

    python -m benchmarks.client_memory [--rows 1000000 4000000] [--features D] [--only MODEL ...] [--level LEVEL]

Every model is solved on the same .npy blocks of a small and a large number of samples, each in its own process that
holds no block. Peaks are of resident memory (RSS) and, with --traced, of what NumPy and Python allocated; a line gives
both peaks, and bytes a sample: what the large number took more, by the samples that it has more.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

#: The models, how their labels are made, and what they are declared with.
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "least squares": ("LeastSquares", "overlapping", {}),
    "ridge": ("LeastSquares", "overlapping", {"l2": 1.0}),
    "real targets": ("LeastSquares", "real", {"coding": "real"}),
    "logistic": ("LogisticMLE", "overlapping", {}),
    "softmax": ("SoftmaxMLE", "several", {}),
    "hard margin": ("HardMarginSVM", "separable", {}),
    "soft margin": ("SoftMarginSVM", "overlapping", {"C": 1.0}),
}
ROWS_OF_A_FILE = 500_000


def make(folder: Path, kind: str, n: int, d: int) -> None:
    """Samples in files of half a million, with their labels in one file."""
    w, labels = np.random.default_rng(1).normal(size=d), []
    w /= np.linalg.norm(w)
    for k, start in enumerate(range(0, n, ROWS_OF_A_FILE)):
        rng = np.random.default_rng([2, k])
        X = rng.normal(size=(min(ROWS_OF_A_FILE, n - start), d))
        score = X @ w
        if kind == "separable":
            y = (score > 0).astype(np.int8)
            X += 0.5 * np.where(y, 1.0, -1.0)[:, None] * w
        elif kind == "several":
            y = np.digitize(score + 0.5 * rng.logistic(size=score.size), [-0.7, 0.7]).astype(np.int8)
        elif kind == "real":
            y = score + rng.normal(size=score.size)
        else:
            y = (score + 0.5 * rng.logistic(size=score.size) > 0).astype(np.int8)
        np.save(folder / f"X-{k:04d}.npy", X)
        labels.append(y)
    np.save(folder / "labels.npy", np.concatenate(labels))


def peak() -> int:
    """The most memory that this process has had at a time: in Linux as the kernel counts it for this program alone."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(1024 * int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measured(folder: str, model: str, level: str, engine: str, traced: bool) -> dict[str, Any]:
    """One solve in this process, and what it took."""
    import convexcls as cc

    before = peak()
    if traced:
        tracemalloc.start()
    name, _, arguments = MODELS[model]
    begun = time.process_time()
    samples = cc.read_blocks(
        f"{folder}/X-*.npy", target=f"{folder}/labels.npy", hold=0, engine=int(engine) if engine else None
    )
    checked = peak()
    s = samples.declare(getattr(cc, name), **arguments).solve(level=level)
    passes = samples.rows.passes
    return {
        "import": before,
        "read": checked,
        "peak": peak(),
        "traced": tracemalloc.get_traced_memory()[1] if traced else 0,
        "status": s.status,
        "passes": passes,
        "solver": s.solver,
        "seconds": time.process_time() - begun,
        "coef": float(np.abs(s.coef).sum()).hex() if s.status == "optimal" else "",
    }


def main() -> None:
    """Measure all models and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", nargs=2, type=int, default=[1_000_000, 4_000_000])
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--only", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--level", default="float")
    parser.add_argument("--workers", default="")
    parser.add_argument("--keep", default="", help="a folder in which the files stay for another run")
    parser.add_argument("--traced", action="store_true")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.child:
        print(json.dumps(measured(*a.child, a.level, a.workers, a.traced)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        for model in a.only:
            found = []
            for n in a.rows:
                folder = Path(a.keep or temporary, f"{MODELS[model][1]}-{n}-{a.features}")
                if not (folder / "labels.npy").exists():
                    folder.mkdir(parents=True, exist_ok=True)
                    make(folder, MODELS[model][1], n, a.features)
                command = [sys.executable, "-m", "benchmarks.client_memory", "--child", str(folder), model]
                command += ["--level", a.level, "--workers", a.workers] + ["--traced"] * a.traced
                run = subprocess.run(command, capture_output=True, text=True, check=True)
                found.append(json.loads(run.stdout.splitlines()[-1]))
            print(_line(model, a.rows, found), flush=True)


def _line(model: str, rows: list[int], found: list[dict[str, Any]]) -> str:
    small, large = found
    more = rows[1] - rows[0]
    sizes = {
        word: (large[key] - small[key]) / more for key, word in (("peak", "RSS"), ("traced", "traced")) if large[key]
    }
    said = "  ".join(f"{size:6.1f} B/sample {word}" for word, size in sizes.items())
    before = f"import {large['import'] / 1e6:.0f}, read {large['read'] / 1e6:.0f}"
    return (
        f"{model:14s} {small['peak'] / 1e6:5.0f} and {large['peak'] / 1e6:5.0f} MB ({before})  {said}  "
        f"{large['solver']}, {large['passes']} passes, {large['seconds']:.1f} s CPU, "
        f"{small['status']}/{large['status']} {large['coef']}"
    )


if __name__ == "__main__":
    main()
