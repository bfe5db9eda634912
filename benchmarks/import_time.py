"""How long ``import convexcls`` takes, beside ``import scipy.linalg, scipy.sparse``, in the same run.

Run: python benchmarks/import_time.py [rounds]

Each statement runs in a fresh interpreter, the two in turn; the time of an empty interpreter is subtracted and the best
of all rounds counts. Machines are noisy: look at the ratio.
"""

import subprocess
import sys
import time

STATEMENTS = {"convexcls": "import convexcls", "scipy": "import scipy.linalg, scipy.sparse", "nothing": "pass"}


def seconds(statement: str) -> float:
    """The time of one fresh interpreter that runs the statement."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    best = dict.fromkeys(STATEMENTS, float("inf"))
    for _ in range(rounds):
        for name, statement in STATEMENTS.items():
            best[name] = min(best[name], seconds(statement))
    ours, theirs = best["convexcls"] - best["nothing"], best["scipy"] - best["nothing"]
    print(f"import convexcls                  {1e3 * ours:7.1f} ms")
    print(f"import scipy.linalg, scipy.sparse {1e3 * theirs:7.1f} ms")
    print(f"ratio                             {ours / theirs:7.2f}")


if __name__ == "__main__":
    main()
