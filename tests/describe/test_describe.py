"""One description, many faces: what people see on a screen, on a page and as text, and what programs read."""

import io
import json
from fractions import Fraction

import pytest
from datasets import SEPARABLE, overlapping
from html_checks import HOSTILE, assert_sound
from rich.console import Console

import convexcls as cc
from convexcls import wording
from convexcls.describe import Chapter, Cluster, Column, Fact, Facts, Mark, Prose, Table, to_html, to_json, to_text
from convexcls.describe.certificate import kkt_table
from convexcls.describe.parts import Formula, Listing, data_of
from convexcls.describe.problem import formulation, statement
from convexcls.describe.slackness import slackness
from convexcls.describe.solution import answer, facts, numbers
from convexcls.describe.studies import comparison_table, leave_one_out_facts, separability_prose, summary_parts
from convexcls.describe.terminal import to_rich

TABLE = Table(
    "fits",
    "Fits",
    (
        Column("model"),
        Column("verdict"),
        Column("loss", "number"),
        Column("residual", "small", key="relative_residual"),
        Column("size", "bar", pages_only=True),
    ),
    (
        ("ridge", Mark("optimal", "word"), 0.25, 1.23e-12, 1.0),
        ("hard <margin>", Mark("infeasible", "word"), None, float("nan"), 0.5),
    ),
    cut="the first 2 of 3",
    remarks=("Nothing is believed.",),
)


def on_screen(*parts, width=80, hint=""):
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    to_rich(console, *parts, hint=hint)
    return console.file.getvalue()


# ---- one table, four ways -------------------------------------------------------------------------------


def test_a_table_as_text():
    assert to_text(TABLE).splitlines() == [
        "model          verdict     loss  residual",
        "-------------  ----------  ----  --------",
        "ridge          optimal     0.25   1.2e-12",
        "hard <margin>  infeasible     -         -",
        "the first 2 of 3",
        "Nothing is believed.",
    ]


def test_a_table_on_a_screen_has_the_same_cells_and_says_how_to_see_the_rest():
    lines = on_screen(TABLE, hint=" (--all lists them)").splitlines()
    assert lines[0].split() == ["model", "verdict", "loss", "residual"]
    assert lines[2].split() == ["ridge", "optimal", "0.25", "1.2e-12"]
    assert lines[3].split() == ["hard", "<margin>", "infeasible", "-", "-"]
    assert lines[4:] == ["the first 2 of 3 (--all lists them)", "Nothing is believed."]


def test_a_table_on_a_narrow_screen_continues_below_with_its_first_column():
    lines = on_screen(TABLE, width=30).splitlines()
    assert max(map(len, lines)) <= 30
    assert [line.split() for line in lines if line.startswith("ridge")] == [
        ["ridge", "optimal"],
        ["ridge", "0.25", "1.2e-12"],
    ]


def test_a_table_as_html():
    page = assert_sound(to_html(TABLE))
    (caption,) = page.tables
    assert caption == "Fits, the first 2 of 3"
    head, ridge, hard = page.tables[caption]
    assert head == ["model", "verdict", "loss", "residual", "size"]
    assert ridge[:4] == ["ridge", "✓ optimal", "0.25", "1.2e-12"]
    assert hard[:4] == ["hard <margin>", "∅ infeasible", "-", "-"]
    assert [a.get("class") for n, a in page.tags if n == "td"][:4] == [None, "number", "number", None]
    assert "Nothing is believed." in page.text
    assert [a.get("scope") for n, a in page.tags if n == "th"] == ["col"] * 5 + ["row"] * 2


def test_a_table_as_json_has_the_values_not_their_words():
    found = json.loads(to_json("fits/1", TABLE))
    assert found == {
        "schema": "fits/1",
        "fits": [
            {"model": "ridge", "verdict": "optimal", "loss": 0.25, "relative_residual": 1.23e-12, "size": 1.0},
            {"model": "hard <margin>", "verdict": "infeasible", "loss": None, "relative_residual": None, "size": 0.5},
        ],
    }


# ---- the other parts ------------------------------------------------------------------------------------


def test_facts_without_words_are_for_programs_alone():
    parts = Facts(
        (Fact("gap", "0", {"gap": 0.0}), Fact("optimum", data={"optimum": None}), Fact("rows", "1, 2", cut=True))
    )
    assert to_text(parts) == "  gap             0\n  rows            1, 2"
    assert on_screen(parts, hint=" (more)").splitlines() == ["gap   0", "rows  1, 2 (more)"]
    assert "optimum" not in to_html(parts)
    assert data_of([parts]) == {"gap": 0.0, "optimum": None}
    assert [fact.label for fact in parts.without("gap").items] == ["optimum", "rows"]


def test_what_is_empty_leaves_no_trace():
    nothing = [Prose(""), Facts(()), Chapter("s", "Title", (Prose(""),)), Cluster((), "beside"), None]
    assert to_html(*nothing) == to_text(*nothing) == on_screen(*nothing) == ""
    assert to_text(Prose("one"), *nothing, Prose("two")) == "one\n\ntwo"


def test_formulas_are_mathematics_on_pages_and_letters_elsewhere():
    line = Prose(("where ", Formula(r"\alpha_i \ge 0"), Mark("a remark", "small")))
    assert to_text(line) == "where αᵢ ≥ 0"
    assert on_screen(line) == "where αᵢ ≥ 0\n"
    assert {"math", "small"} <= assert_sound(to_html(line)).names
    shown = to_text(statement(cc.HardMarginSVM(*SEPARABLE)), Listing((Formula(r"\beta"),)))
    assert "yᵢ (xᵢᵀ β + β₀) ≥ 1" in shown
    assert shown.endswith("  β")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text_on_every_face(name):
    part = Table("t", name, (Column(name), Column("n", "count")), ((name, 1),), remarks=(name,))
    parts = (part, Facts((Fact(name, name),)), Prose(name), Chapter("s", name, (Prose((name, Mark(name, "badge"))),)))
    assert not assert_sound(to_html(*parts), written=name).names & {"script", "img"}
    for shown in (to_text(*parts), on_screen(*parts, width=200)):
        assert "\u202e" not in shown
        assert name.replace("\u202e", "\\u202e") in shown


def test_a_part_of_no_kind_is_refused():
    for render in (to_html, to_text):
        with pytest.raises(TypeError, match="str is no part"):
            render("words")


# ---- results --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solution():
    return cc.HardMarginSVM(*SEPARABLE).solve()


def test_an_answer_tells_all_faces_the_same(solution):
    parts = answer(solution)
    text, shown, data = to_text(*parts), on_screen(*parts, width=500), data_of(parts)
    page = assert_sound(to_html(*parts))
    for words in (
        f"{solution.objective:.10g}",
        "3 of 6 rows, counted from 0: 0, 1, 2",
        solution.solver,
        "stationarity",
    ):
        assert words in text
        assert words in shown
        assert words in page.text
    assert data["objective"] == solution.objective
    assert data["support"] == solution.support.tolist()
    assert set(data["coef"]) == set(solution.data.features)
    assert data["kkt"]["stationarity"]["relative"] == solution.kkt.stationarity.relative


def test_without_an_answer_programs_find_the_same_keys(solution):
    none = data_of(answer(cc.load("xor_hard_margin").solve()))
    assert set(none) == set(data_of(answer(solution)))
    assert all(none[key] is None for key in ("objective", "gap", "coef", "kkt", "support", "intercept", "boundary"))


def test_of_many_rows_some_are_named_and_programs_get_all():
    solution = cc.load("heart_scale").solve()
    (support,) = [fact for fact in facts(solution, most=3).items if fact.label == "support"]
    assert support.cut
    assert support.value.endswith(f"and {solution.support.size - 3} more")
    assert support.data["support"] == solution.support.tolist()
    assert not [fact for fact in facts(solution, most=None).items if fact.cut]
    assert "counted from 0" not in to_text(numbers(solution))


def test_conditions_and_slackness_are_for_screens_too(solution):
    table = kkt_table(solution.certificate)
    assert [row[0] for row in table.narrow.cells] == list(solution.kkt.measures())
    assert "formula" not in to_text(table)
    lines = to_text(slackness(solution)).splitlines()
    assert lines[0] == "Complementary slackness, sample by sample"
    assert sum("on the margin" in line for line in lines) == 3


def test_studies_are_described_with_their_values():
    X, y = overlapping()
    likelihood = cc.LogisticMLE(X, y).solve()
    comparison = cc.compare(likelihood.problem, ["newton", "gradient"])
    assert data_of([comparison_table(comparison)]) == comparison.to_dict()
    assert to_text(comparison_table(comparison)) == comparison.to_text()
    summary = likelihood.summary()
    assert data_of(summary_parts(summary)) == summary.to_dict()
    assert "Log-Likelihood" in to_text(*summary_parts(summary))
    found = cc.leave_one_out(likelihood.problem)
    described = leave_one_out_facts(found)
    assert described.data["errors"] == found.error_count
    assert f"{found.error_count} of {len(y)}" in to_text(described)
    separability = cc.separability(X, y)
    prose = separability_prose(separability)
    assert to_text(prose) == separability.explain()
    assert prose.data["verdict"] == separability.verdict


def test_the_dual_stands_beside_the_problem(solution):
    text = to_text(formulation(solution.problem))
    assert "Primal" in text
    assert "Dual" in text


# ---- wording --------------------------------------------------------------------------------------------


def test_lists_say_how_many_are_left():
    assert wording.listed([], 3) == ""
    assert wording.listed([1, 2, 3], 3) == "1, 2, 3"
    assert wording.listed(range(5), 3) == "0, 1, 2, ..."
    assert wording.listed(iter("abcde"), 3, " and {} more") == "a, b, c and 2 more"


def test_numbers_counts_and_names():
    assert [wording.number(v) for v in (1 / 3, -0.0, float("nan"))] == ["0.3333333333", "0", "-"]
    assert [wording.small(v) for v in (0.0, 1.26e-9, float("nan"))] == ["0", "1.3e-09", "-"]
    assert [wording.count(n, "class", "es") for n in (0, 1, 2)] == ["0 classes", "1 class", "2 classes"]
    assert wording.shorten("a" * 9, 5) == "aaaa…"
    assert wording.capitalized("hard-margin SVM") == "Hard-margin SVM"
    assert wording.capitalized("") == ""


def test_long_rationals_are_folded_also_beyond_doubles():
    assert wording.rational_text(Fraction(10, 9)) == "10/9"
    assert wording.rational_text(Fraction(10**60, 3**70), 30).startswith("3.99495755659295e+26... (61 digits over 34)")
    assert wording.rational_text(Fraction(10**9000, 3)).startswith("3.33333333333333e+8999... (9001 digits over 1)")
    assert wording.short_rational(Fraction(-1, 10**5000)) == ""
    assert wording.short_rational(Fraction(0)) == "0"
    assert wording.rational_text(Fraction(10**700 + 1, 3), 30).endswith("e+699... (701 digits over 1)")


def test_columns_of_text_end_or_begin_together():
    lines = wording.columns(["a", "number"], [["long name", "1"], ["b", "1000000"]], right=[1])
    assert lines == ["a           number", "---------  -------", "long name        1", "b          1000000"]
