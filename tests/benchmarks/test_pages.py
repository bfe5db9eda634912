"""The tables of the pages say what the results say: losses as losses, and nothing that was typed by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

pytest.importorskip("threadpoolctl")  # comes with scikit-learn

from benchmarks import pages
from benchmarks.bars import OURS
from benchmarks.everyday import chosen
from benchmarks.race import Case, Outcome, Result
from benchmarks.report import Report
from benchmarks.standing import Standing

OWN = Result(OURS, ours=True, seconds=2.0, runs=1, accuracy=1e-9, reached=True)
EXACT = Result("exact", seconds=3.0, runs=1, accuracy=1e-9, reached=True, cap=8.0)
ROUGH = Result("rough", seconds=1.0, runs=1, accuracy=1e-3, cap=8.0)
STOPPED = Result("slow", status="> 8 s", cap=8.0)
ABOUT = {"machine": "a machine", "threads": "1", "time": "best of 3"}


@pytest.fixture
def case() -> Case:
    return chosen(("wine",), 75.0)[0]


def written(case: Case, *races: tuple[Result, ...]) -> pages.Results:
    """Results that went through JSON, as those of a run do."""
    report = Report(ABOUT)
    for number, results in enumerate(races):
        report.outcomes[str(number)] = Outcome(replace(case, name=f"case {number}"), results)
    return pages.Results.of(json.loads(json.dumps(report.to_dict())))


@pytest.mark.parametrize(
    ("results", "decisive", "lost"),
    [
        ((OWN, EXACT, ROUGH), 1.5, False),  # who is less accurate does not count beside one that is not
        ((OWN, ROUGH, STOPPED), 0.5, True),
        ((OWN, STOPPED), 4.0, False),
        ((replace(OWN, status="> 75 s"), EXACT), 0.0, True),
        ((replace(OWN, reached=False), EXACT), 0.0, True),
        ((OWN,), math.nan, False),
    ],
)
def test_a_case_is_lost_where_a_peer_is_faster_or_we_have_no_answer(
    case: Case, results: tuple[Result, ...], decisive: float, lost: bool
) -> None:
    assert Standing.of(results).decisive == pytest.approx(decisive, nan_ok=True)
    (line,) = written(case, results).lines
    assert line.lost is lost


def test_losses_and_wins_are_all_cases_and_stand_in_their_tables(case: Case) -> None:
    results = written(case, (OWN, EXACT, ROUGH), (OWN, ROUGH), (replace(OWN, status="> 75 s"), EXACT), (OWN, STOPPED))
    assert [line.title for line in results.lost] == ["case 2", "case 1"]
    assert [line.title for line in results.others] == ["case 3", "case 0"]
    marks = "a\n<!-- results: losses -->\nold\n<!-- end -->\nb\n<!-- results: wins -->\n<!-- end -->"
    page = pages.renewed(marks, results)
    assert page.startswith("a\n<!-- results: losses -->\n| case |")
    assert "old" not in page
    assert "| case 2 | > 75 s | exact 3 s |  |" in page
    assert "| case 1 | 2 s | none | rough 1 s (1e-03): 0.5× |" in page
    assert "| case 3 | 2 s | none; stopped after 8 s: > 4.0× |  |" in page
    assert "| case 0 | 2 s | exact 3 s: 1.5× | rough 1 s (1e-03): 0.5× |" in page
    assert pages.renewed(page, results) == page
    assert "Of 4 cases with a peer, 2 are not slower than the fastest peer and 2 are slower." in pages.score(results)


def test_the_pages_have_the_tables_of_the_results() -> None:
    assert pages.write(check=True) == []
    text = "".join(page.read_text(encoding="utf-8") for page in pages.PAGES)
    assert {name for _, name, *_ in pages.SECTION.findall(text)} == set(pages.TABLES)


def test_a_peer_is_stopped_soon_after_we_were_done(case: Case) -> None:
    patient = replace(case, patience=4.0)
    assert patient.beside([OWN]).cap == 8.0
    assert patient.beside([replace(OWN, seconds=1e-3)]).cap == 1.0
    assert patient.beside([replace(OWN, status="> 75 s")]) is patient
    assert replace(case, patience=None).beside([OWN]).cap == case.cap
