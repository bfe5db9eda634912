"""``python -m tests.mutants``: print the mutants that no test notices; the exit code is 1 where there is one."""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from tests.mutants.operators import Mutant, mutants
from tests.mutants.session import Session, collected

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def main() -> int:
    """Mutate the chosen files, leave out the equivalent mutants, run the others."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--files", nargs="*", default=["*"], help="patterns of paths, such as '*/parsing.py'")
    parser.add_argument("--jobs", type=int, default=1, help="children at a time")
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--list", action="store_true", help="name the mutants and run nothing")
    given = parser.parse_args()
    chosen_files = {name: t for name, t in _read("targets.toml").items() if _matches(name, given.files)}
    targets = {name: t["tests"] for name, t in chosen_files.items()}
    every = [m for name, t in chosen_files.items() for m in _mutants_of(name, t.get("functions"))]
    equivalent = {name: why for group in _read("equivalent.toml").values() for name, why in group.items()}
    files = {Path(name).name for name in targets}
    stale = [n for n in equivalent if n.split()[0] in files and n not in {m.name for m in every}]
    chosen = [m for m in every if given.only in m.name and m.name not in equivalent]
    if given.list:
        print(*(f"{m.path}:{m.line}: {m.name}" for m in chosen), sep="\n")
        return 0
    return _report(Session(ROOT, targets, chosen, given.jobs, _told), stale, len(every) - len(chosen))


def _mutants_of(name: str, functions: list[str] | None) -> list[Mutant]:
    """The mutants of a file, or of some of its functions."""
    every = mutants(name, (ROOT / name).read_text(encoding="utf-8"))
    return every if functions is None else [m for m in every if m.function in functions]


def _read(name: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


SURVIVORS: list[Mutant] = []


def _told(mutant: Mutant, failed: str) -> None:
    print("." if failed else "!", end="", file=sys.stderr, flush=True)
    if not failed:
        SURVIVORS.append(mutant)
        print(f"SURVIVES {mutant.path}:{mutant.line}: {mutant.name}", flush=True)


def _report(session: Session, stale: list[str], left_out: int) -> int:
    start = time.monotonic()
    collected(sorted({test.split("::")[0] for tests in session.chosen.values() for test in tests}), session)
    if session.broken:
        print(f"without any mutant {session.broken} fails: nothing can be told")
        return 2
    for name in stale:
        print(f"STALE in equivalent.toml, there is no such mutant: {name}")
    print(
        f"{len(session.mutants)} mutants, {len(SURVIVORS)} survive, {left_out} left out; "
        f"{time.monotonic() - start:.0f} s; the tests themselves {sum(session.seconds.values()):.0f} s"
    )
    return 1 if SURVIVORS or stale else 0


if __name__ == "__main__":
    sys.exit(main())
