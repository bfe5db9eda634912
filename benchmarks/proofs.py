"""What a proof costs: each level of certificate beside the solve that it proves, in one run.

    python -m benchmarks.proofs [--quick] [level ...]

Every problem is declared and solved at the default tolerance (the check in doubles included), then the same answer is
certified at each level. Times are processor times, the least of a few runs, so that other work on the machine is
counted little; a ratio is to the solve with its own check. The higher levels start from the check in doubles, so their
times include it. The exact level of a likelihood is an enclosure in ball arithmetic, to 30 digits. ``width`` is upper
minus lower bound of the optimum, relative to it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import convexcls as cc
from benchmarks.hard_margin import overlapping, separable
from benchmarks.least_squares import targets
from benchmarks.logistic import correlated
from benchmarks.race import Data
from benchmarks.soft_margin import noisy
from convexcls.problem import NoAnswer

LEVELS = ("float", "rigorous", "exact")
#: Work that takes longer is not repeated.
LONG = 2.0


@dataclass(frozen=True)
class Proved:
    """A problem to be solved and proved, of full size and in a quick run; ``most`` bounds a level's ratio."""

    name: str
    declare: Callable[[Data], cc.Problem]
    data: Callable[[int, int], Data]
    size: tuple[int, int]
    quick: tuple[int, int]
    most: Mapping[str, float] = field(default_factory=dict)


def _hard(data: Data) -> cc.Problem:
    return cc.HardMarginSVM(data["X"], data["y"])


def _soft(data: Data) -> cc.Problem:
    return cc.SoftMarginSVM(data["X"], data["y"], C=data["C"])


def _squares(data: Data) -> cc.Problem:
    return cc.LeastSquares(data["X"], data["y"], coding="real")


def _logistic(data: Data) -> cc.Problem:
    return cc.LogisticMLE(data["X"], data["y"])


CASES = (
    Proved("hard margin", _hard, separable, (100_000, 20), (2000, 5), {"exact": 10.0}),
    Proved("hard margin, none", _hard, overlapping, (100_000, 20), (2000, 5)),
    Proved("soft margin", _soft, noisy, (10_000, 20), (500, 5)),
    Proved("least squares", _squares, targets, (100_000, 20), (2000, 5)),
    Proved("logistic", _logistic, correlated, (1000, 10), (200, 4)),
)


def timed(work: Callable[[], Any], repeat: int = 3) -> tuple[Any, float]:
    """What the work gives, and the least processor time that it took."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
        if best > LONG:
            break
    return found, best


def certify(solution: cc.Solution, level: str) -> Any:
    """The certificate, worked out now: that of the level ``float`` is known from the solve, but not for this
    tolerance."""
    return solution.certify(level=level, tol=2 * solution.certificate.tol)


def run(case: Proved, levels: tuple[str, ...], quick: bool) -> bool:
    """Print the lines of one problem; whether all ratios are within their bounds."""
    n, d = case.quick if quick else case.size
    data = case.data(n, d)
    solution, base = timed(lambda: case.declare(data).solve())
    print(f"{case.name}, {n} x {d}: solved in {base:.3f} s, {solution.status}")
    within = True
    for level in levels:
        try:
            certificate, seconds = timed(lambda level=level: certify(solution, level))
        except NoAnswer as error:
            print(f"  {level:<9} no answer: {error}")
            continue
        ratio, most = seconds / base, case.most.get(level)
        late = most is not None and ratio > most and not quick
        within = within and not late
        bound = "" if most is None else f" (at most {most:g}){' TOO SLOW' if late else ''}"
        words = certificate.verdict + (f", width {certificate.width:.1e}" if certificate.width < float("inf") else "")
        print(f"  {level:<9} {seconds:8.3f} s  ratio {ratio:7.2f}{bound}  {words}")
    return within


def main() -> None:
    """Run all problems; the exit code says whether all bounds were kept."""
    parser = argparse.ArgumentParser(description="What a proof costs, level by level.")
    parser.add_argument("levels", nargs="*", default=list(LEVELS), help=f"some of {', '.join(LEVELS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, without bounds on the ratios")
    asked = parser.parse_args()
    if unknown := set(asked.levels) - set(LEVELS):
        parser.error(f"there is no level {', '.join(sorted(unknown))}; there are {', '.join(LEVELS)}")
    for case in CASES:  # imports and compiled loops are not part of the times
        solution = case.declare(case.data(*case.quick)).solve()
        for level in asked.levels:
            try:
                certify(solution, level)
            except NoAnswer:
                continue
    kept = [run(case, tuple(asked.levels), asked.quick) for case in CASES]
    raise SystemExit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()
