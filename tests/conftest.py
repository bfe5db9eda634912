"""Tests are deterministic: hypothesis draws the same examples every time. The longest come first, so that the workers
end together. ``--shuffle SEED`` takes them in another order, files and tests within them: none may lean on what ran
before it."""

import random

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("deterministic")
#: Child processes that run a hundred tests each, and slices of the hunt.
LONGEST = ("test_machines.py", "test_hunt.py")


def pytest_addoption(parser):
    parser.addoption("--shuffle", metavar="SEED", default=None, help="run the tests in an order drawn by this seed")


def pytest_configure(config):
    config.addinivalue_line("markers", "by_block: run a second time with samples that are read by block")


def pytest_generate_tests(metafunc):
    """Tests marked ``by_block`` twice."""
    if metafunc.definition.get_closest_marker("by_block") is not None:
        metafunc.parametrize("how_read", ["in one piece", "by block"], indirect=True)


@pytest.fixture(autouse=True)
def how_read(request, monkeypatch):
    """How models get their samples."""
    from by_block import read_by_block

    if getattr(request, "param", None) == "by block":
        read_by_block(monkeypatch)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test that samples by block are refused in is skipped with them."""
    try:
        return (yield)
    except Exception as error:
        from by_block import is_refusal

        if "by block" in item.name and is_refusal(error):
            pytest.skip(f"in memory only: {error}")
        raise


def pytest_collection_modifyitems(config, items):
    """Files in another order, and the tests within each: fixtures of a file are still made once."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    if (seed := config.getoption("--shuffle")) is not None:
        drawn = random.Random(seed)
        place = {path: drawn.random() for path in sorted({str(item.path) for item in items})}
        items.sort(key=lambda item: (place[str(item.path)], drawn.random()))


def pytest_terminal_summary(terminalreporter):
    """The matrix of the gallery: every problem against every solver that accepts it."""
    mark = "::test_solver_finds_the_known_answer["
    cells = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            if mark in report.nodeid and report.when == "call":
                entry, solver = report.nodeid.split(mark)[1].rstrip("]").split("-", 1)
                cells[entry, solver] = outcome == "passed"
    if not cells:
        return
    from convexcls import gallery

    solvers = sorted({solver for _, solver in cells})
    names = sorted({entry for entry, _ in cells})
    terminalreporter.section("gallery: the known verdict, by solver (blank: not accepted, !: wrong)")
    widths = [max(len(s), 10) for s in solvers]
    terminalreporter.line(" " * 30 + "  ".join(s.ljust(w) for s, w in zip(solvers, widths, strict=True)).rstrip())
    for name in names:
        verdict = gallery.entry(name).known.verdict
        row = [{True: verdict, False: "!", None: ""}[cells.get((name, s))] for s in solvers]
        terminalreporter.line(
            (f"{name:<30}" + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True))).rstrip()
        )
    terminalreporter.line(f"{len(cells)} cells, {sum(not ok for ok in cells.values())} wrong")
