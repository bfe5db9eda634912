"""Limits of time: every kind of solver keeps them, the point that was reached is kept, and what is late is said.

No test asks for speed: only that a solver that would work for a minute is gone long before."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from click.testing import CliRunner
from datasets import overlapping

import convexcls as cc
from convexcls.cli import main
from convexcls.problem.values import gradient
from convexcls.solvers import Answer, Solver, Tracer
from convexcls.solvers.time_limit import TimeUp, _alarm, within

RIDGE = cc.LogisticMLE(*overlapping(40, 2, seed=3), l2=1.0)
LIMIT, LONG = 0.3, 60.0


class Sleeper(Solver):
    """It hears nothing, like code in C, and tells one point before it falls asleep."""

    name = "sleeper"

    def __init__(self, tells=True, seconds=LONG):
        self.tells, self.seconds = tells, seconds

    def refuses(self, problem):
        return ""

    def solve(self, problem, tol, callback=None):
        x, tracer = np.full(problem.size, 0.25), Tracer(callback)
        if self.tells:
            tracer.record(problem.minimised(x), 1.0, point=x, detail={"why": lambda: "cannot be sent"})
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGINT})
        try:
            time.sleep(self.seconds)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM, signal.SIGINT})
        return Answer(x, {}, "awake", trace=tuple(tracer.lines))


class Exact(Solver):
    """Newton's steps, then out by ``how``."""

    name = "exact"

    def __init__(self, how="returns"):
        self.how = how

    def refuses(self, problem):
        return ""

    def solve(self, problem, tol, callback=None):
        x = np.zeros(problem.size)
        for _ in range(20):
            x = x - np.linalg.solve(problem.hessian(x), gradient(problem, x))
        if self.how == "raises":
            raise LookupError("nothing found")
        if self.how == "dies":
            os._exit(7)
        if self.how == "raises what cannot be sent":
            raise type("Local", (Exception,), {"__reduce__": lambda self: 3 / 0})("of its own")
        return Answer(x, {}, "done", 20, report=(lambda: None) if self.how == "reports" else None)


def soon(problem, solver, limit=LIMIT, **options):
    begun = time.perf_counter()
    found = problem.solve(solver, time_limit=limit, **options)
    assert time.perf_counter() - begun < LONG / 3
    return found


# ---- solvers of other people -------------------------------------------------------------------------------------


def test_one_that_hears_nothing_is_ended_and_its_point_kept():
    s = soon(RIDGE, Sleeper())
    assert s.cut_off
    assert not s.interrupted
    assert (s.status, s.message) == ("undecided", "stopped after 0.3 seconds")
    assert s.x == pytest.approx(np.full(3, 0.25))
    assert "cut off after 0.3 seconds; this is the point" in s.certificate.reason
    told = soon(RIDGE, Sleeper(tells=False))
    assert told.cut_off
    assert told.x is None
    assert "it had told no point" in told.certificate.reason


def test_an_answer_in_time_is_the_answer():
    s = RIDGE.solve(Exact(), time_limit=LONG)
    assert (s.status, s.message, s.cut_off) == ("optimal", "done", False)
    assert np.array_equal(s.x, RIDGE.solve(Exact()).x)
    assert RIDGE.solve(Exact("reports"), time_limit=LONG).status == "optimal"


def test_errors_and_deaths_of_the_child_are_told():
    with pytest.raises(LookupError, match="nothing found"):
        RIDGE.solve(Exact("raises"), time_limit=LONG)
    with pytest.raises(RuntimeError, match="Local: of its own"):
        RIDGE.solve(Exact("raises what cannot be sent"), time_limit=LONG)
    s = RIDGE.solve(Exact("dies"), time_limit=LONG)
    assert (s.status, s.message) == ("undecided", "its process ended without an answer, exit code 7")


@pytest.mark.parametrize("name", ["clarabel", "osqp", "cvxpy:SCS", "cvxpy:HIGHS"])
def test_backends_answer_within_a_limit_as_without_one(name):
    problem = cc.SoftMarginSVM(*overlapping(30, 2, seed=4))
    s = problem.solve(name, tol=1e-4, time_limit=LONG)
    assert (s.status, s.cut_off) == ("optimal", False)


def test_a_backend_that_has_a_limit_of_its_own_tells_where_it_stood():
    X, y = overlapping(2000, 30, seed=5)
    s = soon(cc.SoftMarginSVM(X, y), "osqp", 0.05)
    assert s.cut_off
    assert "time limit" in s.message
    assert s.x is not None


# ---- our own -----------------------------------------------------------------------------------------------------


def test_our_own_stop_between_two_steps(monkeypatch):
    seen = []

    def slowly(line):
        seen.append(line.iteration)
        time.sleep(0.05)

    X, y = overlapping(60, 3, seed=5)
    s = soon(cc.LogisticMLE(X, y), "gradient", callback=slowly)
    assert s.cut_off
    assert s.x is not None
    assert len(seen) < 50


def test_the_clock_stops_what_tells_nothing():
    def work(worker, tell):
        while True:
            pass

    if threading.current_thread() is threading.main_thread():
        before = signal.getsignal(signal.SIGALRM)
        with pytest.raises(TimeUp):
            within(LIMIT, cc.solvers.made("closed-form"), work, lambda line: None)
        assert signal.getsignal(signal.SIGALRM) is before
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_somebody_elses_alarm_is_left_alone():
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, LONG)
        with _alarm(0.01):
            assert signal.getitimer(signal.ITIMER_REAL)[0] > 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_auto_has_one_limit_for_all_that_it_tries():
    whole = RIDGE.solve(time_limit=LONG)
    assert (whole.status, whole.cut_off) == ("optimal", False)
    s = soon(RIDGE, "auto", callback=lambda line: time.sleep(0.2))
    assert s.cut_off
    assert s.solver == "newton"


@pytest.mark.parametrize("limit", [0, -1, "5", True, float("nan")])
def test_a_limit_is_a_number_of_seconds(limit):
    with pytest.raises(ValueError, match=r"time_limit is .*: it must be a number of seconds above 0"):
        RIDGE.solve(time_limit=limit)
    with pytest.raises(ValueError, match="time_limit is"):
        cc.compare(RIDGE, time_limit=limit)


# ---- comparisons -------------------------------------------------------------------------------------------------


def test_a_comparison_goes_on_after_one_that_is_cut_off_and_one_that_fails():
    begun, rows = [], []
    given = [Sleeper(), Exact("raises"), Exact()]
    table = cc.compare(RIDGE, given, time_limit=LIMIT * 3, on_start=begun.append, on_row=rows.append)
    assert begun == ["sleeper", "exact", "exact"]
    assert tuple(rows) == table.rows
    assert [row.status for row in table.rows] == ["undecided", "undecided", "optimal"]
    assert table.rows[1].message == "LookupError: nothing found"
    assert table.to_dict()["cut_off"] == ["sleeper"]
    assert "sleeper was cut off after" in str(table)
    assert "the row is the point that it had reached" in str(table)


def test_ctrl_c_says_who_did_not_run():
    def interrupt(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # there is nothing to show
        cc.compare(RIDGE, ["newton", "gradient"], on_start=interrupt)
    calls = []

    def stops(line):
        calls.append(line)
        if len(calls) > 8:
            raise KeyboardInterrupt

    table = cc.compare(RIDGE, ["newton", "newton", "gradient", "irls"], callback=stops)
    assert table.not_run
    assert [row.solver for row in table.rows] + list(table.not_run) == ["newton", "newton", "gradient", "irls"]
    assert f"Did not run: {', '.join(table.not_run)}." in str(table)


def test_our_own_solvers_run_first():
    names = [row.solver for row in cc.compare(cc.HardMarginSVM([[0.0], [2.0]], [0, 1])).rows]
    infos = {info.name: info.foreign for info in cc.list_solvers()}
    kinds = [infos[name] for name in names]
    assert kinds == sorted(kinds)
    assert {True, False} == set(kinds)


def test_the_command_line_tells_rows_as_they_are_there(monkeypatch):
    from convexcls.cli import screen, studies

    monkeypatch.setattr(studies, "Told", lambda working: screen.Told(working, patience=0.0))
    run = CliRunner().invoke(main, ["compare", "two_points", "-s", "working-set", "-s", "osqp", "--time-limit", "60"])
    assert run.exit_code == 0, run.output
    assert "working-set: optimal, objective 0.5, " in run.stderr
    assert "solver" in run.stdout
    bad = CliRunner().invoke(main, ["compare", "two_points", "--time-limit", "0"])
    assert bad.exit_code == 2
    solved = CliRunner().invoke(main, ["solve", "two_points", "--time-limit", "60"])
    assert solved.exit_code == 0, solved.output
