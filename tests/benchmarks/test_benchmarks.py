"""The harness of the benchmarks, on made-up contenders: its arithmetic, its caps, and its measures on known answers."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from made_up_contenders import absent, as_good_as_asked, bounded, breaks, distance, gap, sleeps, spins, takes, tiny
from scipy import sparse

pytest.importorskip("threadpoolctl")  # comes with scikit-learn

from benchmarks import accuracy, everyday, hard_margin, kernel, least_squares, logistic, small, soft_margin, softmax
from benchmarks.bars import OURS, Bar, judge
from benchmarks.child import timed
from benchmarks.growth import GROWTHS, Grown, Growth, exponent, grow
from benchmarks.race import CONTEXT, Answer, Case, Contender, Outcome, Result, Setup, race
from benchmarks.report import Report, markdown_table, outcome_rows, screen_table
from benchmarks.store import load, save

CONTEXT.set_forkserver_preload(["__main__", "benchmarks.child", "made_up_contenders", "threadpoolctl"])
FAMILIES = (everyday, hard_margin, kernel, least_squares, logistic, small, soft_margin, softmax)


def case(*contenders: Contender, **changes: object) -> Case:
    made = Case("made up", tiny, {"n": 8, "d": 2}, {"n": 4, "d": 2}, 1e-6, "distance", distance, contenders, cap=0.4)
    return replace(made, warm={"n": 2}, **changes)


# ---- the race -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    contenders = (
        Contender(OURS, as_good_as_asked, (1e-5, 1e-7, 1e-9), ours=True),
        Contender("loose", as_good_as_asked, (1e-5, 1e-6)),
        Contender("sleeper", sleeps, (1e-2, 1e-4)),
        Contender("broken", breaks),
        Contender("absent", absent),
        Contender("hungry", partial(takes, memory=30_000_000)),
    )
    return list(race(case(*contenders), Setup()))[-1]


def by_name(outcome: Outcome) -> dict[str, Result]:
    return {r.name: r for r in outcome.results}


def test_the_loosest_tolerance_that_reaches_the_accuracy_counts(outcome: Outcome) -> None:
    ours, loose = by_name(outcome)[OURS], by_name(outcome)["loose"]
    assert ours.reached
    assert ours.tol == 1e-7
    assert ours.accuracy == pytest.approx(1e-6)
    assert ours.seconds == 0.5
    assert ours.runs >= 3
    assert not loose.reached
    assert loose.accuracy == pytest.approx(1e-5)  # its best is shown
    assert loose.runs == 1


def test_a_contender_is_stopped_at_its_cap_and_keeps_what_it_reached(outcome: Outcome) -> None:
    sleeper = by_name(outcome)["sleeper"]
    assert sleeper.status == "> 0.4 s"
    assert math.isnan(sleeper.seconds)
    assert sleeper.accuracy == 1e-2
    assert "tol 0.01" in sleeper.note


def test_failures_are_shown_and_do_not_end_the_race(outcome: Outcome) -> None:
    assert by_name(outcome)["broken"].status == "failed: ArithmeticError: no pivot"
    assert by_name(outcome)["absent"].status == "not there: no solver 'x' yet"


def test_memory_is_what_the_fit_adds_at_its_peak(outcome: Outcome) -> None:
    added = by_name(outcome)["hungry"].memory * 8 * 2 * 8
    assert 29e6 < added < 40e6


def test_gaps_are_taken_to_the_best_bound_of_all() -> None:
    contenders = (
        Contender("first", partial(bounded, objective=2.0, bound=1.0)),
        Contender("second", partial(bounded, objective=4.0)),
        Contender("third", partial(bounded, objective=2.5, bound=2.0)),
    )
    final = list(race(case(*contenders, measure=gap), Setup(cpu=True)))[-1]
    assert [r.accuracy for r in final.results] == [0.0, 0.5, pytest.approx(0.2)]
    assert [r.reached for r in final.results] == [True, False, False]


def test_gaps_are_taken_to_the_least_objective_where_nothing_is_proved() -> None:
    contenders = (
        Contender("first", partial(bounded, objective=4.0)),
        Contender("second", partial(bounded, objective=2.0)),
    )
    final = list(race(case(*contenders, measure=gap), Setup()))[-1]
    assert [r.accuracy for r in final.results] == [0.5, 0.0]


def test_a_contender_is_stopped_where_it_has_had_its_processor_time() -> None:
    ((spinner,),) = (outcome.results for outcome in race(case(Contender("spinner", spins)), Setup(cpu=True)))
    assert spinner.status == "> 0.4 s"


def test_growth_is_fitted_over_the_sizes() -> None:
    contender = Contender(OURS, partial(takes, memory=8), ours=True)
    growth = Growth(case(contender, target=2.0), "n", (10, 40), {"d": 2}, (4, 8), bar=1.1)
    grown = list(grow(growth, Setup()))[-1]
    assert grown.exponent == pytest.approx(1.5)
    assert grown.verdict is not None
    assert grown.verdict.mark == "missed"


# ---- arithmetic -----------------------------------------------------------------------------------------------------


def test_exponents() -> None:
    assert exponent([1e3, 1e4, 1e5], [0.02, 0.2, 2.0]) == pytest.approx(1.0)
    assert exponent([10, 20], [1.0, 4.0]) == pytest.approx(2.0)
    assert math.isnan(exponent([10], [1.0]))
    assert math.isnan(exponent([10, 20], [1.0, math.nan]))
    assert Grown("x", "n", (10,), (math.nan,), (math.nan,), 1.1, "failed").verdict.mark == "missed"


def line(name: str, seconds: float, reached: bool = True, status: str = "", **more: object) -> Result:
    return Result(
        name, ours=name.startswith(OURS), seconds=seconds, reached=reached, status=status, runs=3, accuracy=1e-9, **more
    )


@pytest.mark.parametrize(
    ("bar", "mark", "found"),
    [
        (Bar("ratio", 4.0), "missed", "2x quick"),
        (Bar("ratio", 2.0), "met", "2x quick"),
        (Bar("ratio", 4.0, ("slow",)), "met", "5x slow"),
        (Bar("ratio", 4.0, ("sloppy",)), "open", "no peer reaches the accuracy"),
        (Bar("ratio", 4.0, ("sloppy",), at_own_accuracy=True), "missed", "0.1x sloppy, which reaches 1e-09"),
        (Bar("ratio", 4.0, ("sloppy",), or_own_accuracy=True), "missed", "0.1x sloppy, which reaches 1e-09"),
        (Bar("ratio", 1.5, ("sloppy", "quick"), or_own_accuracy=True), "met", "2x quick"),
        (Bar("ratio", 4.0, ("stopped", "sloppy")), "met", "> 40x: those that ran were stopped at the cap"),
        (Bar("ratio", 50.0, ("stopped",)), "open", "> 40x: those that ran were stopped at the cap"),
        (Bar("ratio", 4.0, ("nobody",)), "open", "no such peer was run"),
        (Bar("passes", 40.0), "met", "20"),
        (Bar("memory", 0.5), "missed", "0.7"),
        (Bar("milliseconds", 2.0), "missed", "1e+03"),
        (Bar("rows", 52.0), "met", "52"),
        (Bar("unheard", 1.0), "open", "not measured"),
    ],
)
def test_bars(bar: Bar, mark: str, found: str) -> None:
    results = [
        line(OURS, 1.0, one_pass=0.05, memory=0.7, extra={"rows": 52.0}),
        line(f"{OURS}:newton alone", 0.01),
        line("quick", 2.0),
        line("slow", 5.0),
        line("sloppy", 0.1, reached=False),
        line("stopped", math.nan, reached=False, status="> 40 s", cap=40.0),
    ]
    verdict = judge(bar, results)
    assert (verdict.mark, verdict.found) == (mark, found)


def test_a_bar_is_missed_where_we_miss_the_accuracy() -> None:
    bar = Bar("ratio", 1.0)
    assert judge(bar, [line(OURS, 1.0, reached=False), line("x", 9.0)]).mark == "missed"
    assert judge(bar, [line(OURS, 1.0, status="> 40 s"), line("x", 9.0)]).mark == "missed"
    assert judge(bar, [line("x", 9.0)]).mark == "open"


# ---- reports --------------------------------------------------------------------------------------------------------


def test_markdown_keeps_its_cells() -> None:
    assert markdown_table(("a", "b"), [("1|2", "3\n4")]) == "| a | b |\n| --- | --- |\n| 1\\|2 | 3 4 |"


def test_the_report_is_written_whole(outcome: Outcome, tmp_path: Path) -> None:
    grown = Grown("made up in n (d = 2)", "n", (10, 20), (1.0, 2.0), (5.0, 5.0), 1.1)
    outcome = replace(outcome, case=replace(outcome.case, bars=(Bar("ratio", 2.0), Bar("passes", 1e-9))))
    report = Report({"machine": "any"}, True, {"made up": outcome}, {"g": grown})
    report.write(tmp_path)
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert "## Bars: 1 of 3 met at quick sizes" in text
    assert "| sleeper | > 0.4 s |" in text
    assert "1.0e-05 > 1e-06" in text
    assert "**convexcls, loose**: Its answer is off by ten times its tolerance." in text
    kept = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert [r["name"] for r in kept["cases"][0]["results"]] == [r.name for r in outcome.results]
    assert kept["growth"][0]["exponent"] == pytest.approx(1.0)
    assert len(outcome_rows(outcome)) == screen_table(outcome).row_count


def test_data_come_back_as_they_were(tmp_path: Path) -> None:
    data = {"X": sparse.csr_matrix(np.eye(3)), "y": np.arange(3.0), "C": 1.0, "intercept": False}
    save(data, tmp_path / "data")
    found = load(tmp_path / "data")
    assert found["C"] == 1.0
    assert found["intercept"] is False
    assert np.array_equal(found["y"], data["y"])
    assert np.array_equal(found["X"].toarray(), np.eye(3))


# ---- measures: 0 at a known answer, not at another ------------------------------------------------------------------


def test_hard_margin_measure() -> None:
    data = {"X": np.array([[0.0, 0.0], [2.0, 0.0], [3.0, 1.0]]), "y": np.array([-1.0, 1.0, 1.0])}
    right = Answer(np.array([1.0, 0.0]), -1.0, np.array([0.5, 0.5, 0.0]))
    assert accuracy.hard_margin(data, right, -np.inf).accuracy == 0.0
    for wrong in (
        replace(right, intercept=-0.99),
        replace(right, coef=np.array([1.0, 0.01])),
        replace(right, multipliers=np.array([0.5, 0.51, -0.01])),
        replace(right, multipliers=np.array([0.5, 0.4, 0.1])),
    ):
        assert accuracy.hard_margin(data, wrong, -np.inf).accuracy > 5e-3


def test_not_separable_measure() -> None:
    data = {"X": np.array([[0.0], [2.0], [1.0], [9.0]]), "y": np.array([1.0, 1.0, -1.0, 1.0])}
    found = accuracy.not_separable(data, Answer(None, multipliers=np.array([1.0, 1.0, 2.0, 0.0])), -np.inf)
    assert (found.accuracy, found.extra["rows"]) == (0.0, 3.0)
    assert (
        accuracy.not_separable(data, Answer(None, multipliers=np.array([1.0, 1.0, 2.0, 0.1])), -np.inf).accuracy > 0.01
    )
    assert accuracy.not_separable(data, Answer(None, multipliers=np.zeros(4)), -np.inf).accuracy == np.inf


def test_soft_margin_measure() -> None:
    data = {"X": np.array([[0.0], [2.0]]), "y": np.array([-1.0, 1.0]), "C": 1.0}
    right = Answer(np.array([1.0]), -1.0, np.array([0.5, 0.5]))
    found = accuracy.soft_margin(data, right, -np.inf)
    assert (found.accuracy, found.objective, found.bound) == (0.0, 0.5, 0.5)
    assert accuracy.soft_margin(data, replace(right, multipliers=None), 0.25).accuracy == 0.5
    assert accuracy.soft_margin(data, replace(right, multipliers=None), -np.inf).accuracy == np.inf
    lopsided = accuracy.soft_margin(data, replace(right, multipliers=np.array([0.5, 9.0])), -np.inf)
    assert lopsided.bound <= 0.5  # still a lower bound, whatever the multipliers


def test_likelihood_measures_agree_with_differences() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.where(rng.random(30) < 0.5, 1.0, -1.0)
    data = {"X": X, "y": y, "l2": 0.7, "intercept": True}
    w = np.array([0.3, -0.2])

    def loss(w: np.ndarray, b: float) -> float:
        return float(np.logaddexp(0.0, -y * (X @ w + b)).sum() + 0.35 * w @ w)

    h = 1e-6
    slopes = [(loss(w + h * e, 0.1) - loss(w - h * e, 0.1)) / (2 * h) for e in np.eye(2)]
    slopes.append((loss(w, 0.1 + h) - loss(w, 0.1 - h)) / (2 * h))
    found = accuracy.logistic(data, Answer(w, 0.1), -np.inf).accuracy
    assert found == pytest.approx(np.abs(slopes).max() / 30, rel=1e-6)
    # softmax of two classes at (-w/2, w/2) is the same likelihood, the penalty of each half
    both = {**data, "y": (y > 0).astype(float), "l2": 1.4}
    split = Answer(np.array([-w / 2, w / 2]), np.array([-0.05, 0.05]))
    assert accuracy.softmax_gradient(both, split, -np.inf).accuracy == pytest.approx(found, rel=1e-6)


def test_kernel_measure_agrees_with_libsvm() -> None:
    data = kernel.shells(60, 3)
    loose, tight = (accuracy.kernel(data, kernel.libsvm(data, tol), -np.inf).accuracy for tol in (1e-1, 1e-7))
    assert tight < 1e-6 < loose <= 1e-1 * (1 + 1e-6)


def test_least_squares_measure() -> None:
    data = least_squares.with_ones(least_squares.targets(40, 3))
    right = least_squares.by_numpy(data, 0.0)
    assert accuracy.least_squares(data, right, -np.inf).accuracy < 1e-13
    assert accuracy.least_squares(data, replace(right, intercept=right.intercept + 1), -np.inf).accuracy > 0.1


# ---- the suite ------------------------------------------------------------------------------------------------------


def test_every_case_is_complete() -> None:
    for family in FAMILIES:
        for made in family.CASES:
            names = [c.name for c in made.contenders]
            assert names[0] == OURS
            assert len(set(names)) == len(names)
            assert all(c.settings for c in made.contenders), f"{made.name}: settings are not documented"
            assert made.bars
            for bar in made.bars:  # a bar that names a peer has it in the race
                for pattern in bar.against if bar.kind == "ratio" else ():
                    assert any(c.name.startswith(pattern.rstrip("*")) for c in made.contenders if not c.ours)
            assert set(made.make(**{**made.sizes, **made.warm})) >= {"X", "y"}
    assert {g.varied for g in GROWTHS} == {"n", "d"}


def test_our_side_reaches_the_accuracy() -> None:
    for made in small.CASES:
        data = made.make(**made.sizes)
        answer = made.contenders[0].fit(data, 1e-8)
        assert made.measure(data, answer, -np.inf).accuracy <= made.target


def test_short_fits_are_timed_by_their_own_thread_and_those_of_several_threads_by_all() -> None:
    def burn() -> None:
        end = time.thread_time() + 0.06
        while time.thread_time() < end:
            pass

    def alone(_data: object, _tol: float) -> Answer:
        burn()
        return Answer(None)

    def with_another(_data: object, _tol: float) -> Answer:
        other = Thread(target=burn)
        other.start()
        other.join()
        return Answer(None)

    for fit in (alone, with_another):
        took, _ = timed(Contender("made up", fit), None, 0.0, time.process_time)
        assert took["cpu"] >= 0.05
        assert took["seconds"] == took["cpu"]
