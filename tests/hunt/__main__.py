"""The hunt on the command line: one line for each falsehood, crash, warning, refusal and hang, and a table."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from multiprocessing import Pool
from typing import Any

from tests.hunt.draw import MODELS, chosen, draw
from tests.hunt.families import EXTREME, FAMILIES
from tests.hunt.run import BAD, LEVELS, Record, hunt

OUTCOMES = ("right", "undecided", "unjudged", "error", "wrong")


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.only:
        return reproduce(options)
    tally: Counter[tuple[str, ...]] = Counter()
    begun, problems = time.perf_counter(), 0
    for records in results(options):
        problems += 1
        for record in records:
            if record.kind in OUTCOMES:
                solver = "auto" if record.solver == "auto" else "others"
                tally[solver, record.level, record.case.family, record.kind] += 1
            tally["all", record.kind] += 1
            if record.bad or record.kind in options.show:
                print(record.line(), flush=True)
        if options.seconds and time.perf_counter() - begun > options.seconds:
            break
    for solver in ("auto", "others"):
        print(table(tally, solver))
    spent = time.perf_counter() - begun
    print(f"{problems} problems in {spent:.0f} s: " + ", ".join(f"{tally['all', k]} {k}" for k in (*BAD, "error")))
    return 1 if any(tally["all", kind] for kind in BAD) else 0


def parse(arguments: list[str] | None) -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.hunt", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many problems")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="the number of the first problem")
    parser.add_argument(
        "--families", type=named(FAMILIES), default=list(FAMILIES), help="some of: " + ", ".join(FAMILIES)
    )
    parser.add_argument("--models", type=named(MODELS), default=list(MODELS), help="some of the models")
    parser.add_argument("--solvers", choices=("auto", "some", "all"), default="some", help="some: auto and one other")
    parser.add_argument("--levels", type=named(LEVELS), default=list(LEVELS))
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so many")
    parser.add_argument("--limit", type=float, default=20.0, help="what takes longer, in seconds, is a hang")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--show", type=named(OUTCOMES), default=[], help="list these, too: undecided, unjudged, error")
    parser.add_argument(
        "--only", metavar="SEED:INDEX", help="one problem, by all solvers at all levels, told at length"
    )
    return parser.parse_args(arguments)


def named(known: Any) -> Any:
    def read(text: str) -> list[str]:
        names = text.split(",")
        if unknown := set(names) - set(known):
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: choose from {', '.join(dict.fromkeys(known))}")
        return names

    return read


def results(options: Any) -> Iterator[list[Record]]:
    """The records of problem after problem."""
    tasks = ((options.seed, i, options.solvers, options.levels, options.limit) for i in wanted(options))
    if options.jobs == 1:
        yield from (hunt(*task) for task in tasks)
        return
    with Pool(options.jobs) as pool:
        yield from pool.imap(_hunt, tasks, chunksize=8)


def _hunt(task: tuple[Any, ...]) -> list[Record]:
    return hunt(*task)


def wanted(options: Any) -> Iterator[int]:
    """The numbers of the first problems of the families and models asked for."""
    found = 0
    for index in count(options.start):
        if found == options.count:
            return
        family, model, _ = chosen(options.seed, index)
        if family in options.families and model in options.models:
            found += 1
            yield index


def reproduce(options: Any) -> int:
    seed, index = map(int, options.only.split(":"))
    case = draw(seed, index)
    print(f"{case.family}\n{case.code()}")
    solvers = "auto" if options.solvers == "auto" else "all"
    records = [r for level in options.levels for r in hunt(seed, index, solvers, [level], options.limit)]
    for record in records:
        print(f"  {record.solver:20} {record.level:9} {record.kind:10} {record.words}")
    return 1 if any(record.bad for record in records) else 0


def table(tally: Counter[tuple[str, ...]], solver: str) -> str:
    """Right, undecided and wrong by family and level."""
    head = f"{solver:20}" + "".join(f"{level:>34}" for level in LEVELS)
    lines = [head, " " * 20 + "   right undecided unjudged  wrong" * len(LEVELS)]
    for name in [*FAMILIES, "all but extreme"]:
        names = [f for f in FAMILIES if f not in EXTREME] if name not in FAMILIES else [name]
        cells = []
        for level in LEVELS:
            c = {kind: sum(tally[solver, level, f, kind] for f in names) for kind in OUTCOMES}
            share = 100.0 * c["undecided"] / max(c["right"] + c["undecided"] + c["unjudged"] + c["wrong"], 1)
            cells.append(f"{c['right']:8d} {share:8.1f}% {c['unjudged']:8d} {c['wrong']:6d}")
        lines.append(f"{name:20}" + "".join(cells))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
