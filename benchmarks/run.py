"""Race convexcls against its peers: python -m benchmarks.run [--quick] [--only NAME] ..."""

from __future__ import annotations

import os
import platform
import signal
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks import pages
from benchmarks.race import CONTEXT, Setup
from benchmarks.report import Report, growth_table, screen_table

FAMILIES = (
    "small",
    "hard_margin",
    "soft_margin",
    "logistic",
    "softmax",
    "kernel",
    "least_squares",
    "everyday",
    "growth",
)
PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "cvxpy",
    "clarabel",
    "osqp",
    "highspy",
    "qpsolvers",
    "quadprog",
    "daqp",
    "piqp",
    "proxsuite",
    "ecos",
    "qoco",
    "scs",
    "glum",
    "statsmodels",
    "skglm",
)
#: Read by the libraries when a contender's process loads them.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")
#: Imported once by the process from which those of the contenders are forked.
PRELOAD = (
    "benchmarks.child",
    "benchmarks.report",
    "benchmarks.growth",
    "rich.progress",
    "click",
    "convexcls",
    "sklearn.svm",
    "sklearn.linear_model",
    "sklearn.discriminant_analysis",
    "cvxpy",
    "qpsolvers",
    "glum",
    "skglm",
    "statsmodels.api",
    "scipy.optimize",
)
RESULTS = pages.RESULTS


@click.command()
@click.option("--quick", is_flag=True, help="Small sizes and short caps: under a minute.")
@click.option("--only", multiple=True, type=click.Choice(FAMILIES), help="A family; may be given several times.")
@click.option("--contender", "names", multiple=True, help="Only contenders whose name contains this; and our own.")
@click.option("--threads", default=1, show_default=True, help="Threads of BLAS and all else, for everybody alike.")
@click.option("--cpu", is_flag=True, help="Count processor time, for a machine with other work; one thread only.")
@click.option("--repeat", default=3, show_default=True, help="The best of so many runs counts.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results; benchmarks/results by default.")
def main(
    quick: bool, only: tuple[str, ...], names: tuple[str, ...], threads: int, cpu: bool, repeat: int, out: Path | None
) -> None:
    """Run the races and write results.md, results.json, times.svg and growth.svg, anew after every contender; after a
    whole run also the tables in README.md and docs/benchmarks.md."""
    if cpu and threads > 1:
        raise click.UsageError("--cpu adds up the time of all threads: it goes with --threads 1 only")
    setup = Setup(repeat, threads, cpu)
    os.environ.update(dict.fromkeys(THREADS, str(threads)))
    folder = out or (RESULTS / "quick" if quick else RESULTS)
    console = Console(width=None if sys.stdout.isatty() else 150)
    CONTEXT.set_forkserver_preload(list(PRELOAD))
    report = Report(about(setup), quick)
    for key, value in report.about.items():
        console.print(f"{key}: {value}", highlight=False, soft_wrap=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop the contender that is running, too
    begun = time.monotonic()
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    try:
        with Progress(*columns, console=console, transient=True) as progress:
            for _ in run_all(report, quick, only or FAMILIES, names, setup, progress):
                report.about["took"] = f"{time.monotonic() - begun:.0f} s"
                report.write(folder)
    except KeyboardInterrupt:
        console.print("interrupted: the results are those of the contenders that had finished")
    else:
        if folder == RESULTS and not only and not names:
            pages.write()
    draw(report, folder)
    met = sum(v.mark == "met" for _, v in report.verdicts())
    console.print(f"{met} of {len(report.verdicts())} bars met; see {folder / 'results.md'}", soft_wrap=True)


def run_all(
    report: Report,
    quick: bool,
    families: tuple[str, ...],
    names: tuple[str, ...],
    setup: Setup,
    progress: Progress,
) -> Iterator[None]:
    """Run the families in turn, add what they find to the report, and yield after each contender."""
    from dataclasses import replace

    from benchmarks.growth import GROWTHS, grow
    from benchmarks.race import race

    for family in (f for f in FAMILIES if f in families and f != "growth"):
        for case in import_module(f"benchmarks.{family}").CASES:
            if quick and case.quick is None:
                continue
            sized = case.quickly() if quick else case
            chosen = tuple(c for c in sized.contenders if not names or c.ours or any(n in c.name for n in names))
            sized = replace(sized, contenders=chosen)
            task = progress.add_task(sized.title)
            begins = _describer(progress, task, sized.title)
            for outcome in race(sized, setup, begins):
                report.outcomes[outcome.case.title] = outcome
                yield
            progress.remove_task(task)
            progress.console.print(screen_table(report.outcomes[sized.title]))
    if "growth" not in families:
        return
    for growth in (g for g in GROWTHS if g.quick or not quick):
        sized_growth = growth.quickly() if quick else growth
        task = progress.add_task(sized_growth.name)
        for grown in grow(sized_growth, setup, _describer(progress, task, sized_growth.name)):
            report.growths[grown.name] = grown
            yield
        progress.remove_task(task)
    progress.console.print(growth_table(list(report.growths.values())))


def _describer(progress: Progress, task: object, title: str):  # type: ignore[no-untyped-def]
    def begins(name: str) -> None:
        progress.update(task, description=f"{title}: {name}")  # type: ignore[arg-type]

    return begins


def draw(report: Report, folder: Path) -> None:
    """The pictures; without matplotlib there are none."""
    try:
        from benchmarks.plot import plot_growth, plot_times

        plot_times(list(report.outcomes.values()), folder / "times.svg")
        plot_growth(list(report.growths.values()), folder / "growth.svg")
    except ImportError:
        return


def about(setup: Setup) -> dict[str, str]:
    """What the numbers depend on besides the code."""
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} not installed")
    kind = "processor time, " if setup.cpu else ""
    load = f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else "unknown"
    return {
        "machine": f"{processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}",
        "threads": f"{setup.threads}, for every contender alike",
        "time": f"{kind}best of {setup.repeat} (of more where a fit is short, of fewer where it takes over 5 s)",
        "load at the start": load,
        "packages": ", ".join(versions),
    }


def processor() -> str:
    """The processor's name."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
