"""The report of a solution: sound HTML, the right numbers, nothing hostile, for every verdict and size."""

import time

import numpy as np
import pytest
from datasets import SEPARABLE, every_model
from html_checks import HOSTILE, Page, assert_sound, assert_sound_in_a_notebook

import convexcls as cc
from convexcls import gallery
from convexcls.describe import to_html
from convexcls.describe.html import Html, prose, tag
from convexcls.describe.problem import statement
from convexcls.describe.slackness import rows_that_matter
from convexcls.report import page as report_page

MODELS = every_model()


def bare(solution, **options):
    """The report without what takes time."""
    return solution.report(compare=False, pictures=False, **options)


@pytest.fixture(scope="module")
def twenty():
    return cc.load("twenty_points").solve()


@pytest.fixture(scope="module")
def whole(twenty):
    """One report with everything in it."""
    return assert_sound(twenty.report(compare=["clarabel", "osqp"]).html)


# ---- structure ------------------------------------------------------------------------------------------


def test_the_page_has_its_landmarks_and_sections(whole):
    assert {"header", "main", "footer", "section", "h1", "h2", "table", "caption", "math", "svg"} <= whole.names
    headings = [text for name, text in whole.texts if name == "h2"]
    assert headings == [
        "Pictures",
        "Data",
        "The problem and its dual",
        "The classifier",
        "How well it fits",
        "The proof",
        "Multipliers",
        "Complementary slackness, sample by sample",
        "More pictures",
        "Solvers compared",
        "How to make this again",
    ]
    for name, attributes in whole.tags:
        if name == "section":
            assert attributes["aria-labelledby"]
        elif name == "th":
            assert attributes["scope"] in ("row", "col")


def test_formulas_are_mathml_in_the_font_of_the_page(twenty, whole):
    html = bare(twenty).html
    assert {"mfrac", "msub", "munder", "mtable"} <= whole.names
    assert "font/woff2;base64," in html
    assert f'math {{ font-family: "{report_page.MATH_FONT}"' in html


def test_the_page_may_load_nothing_and_run_only_its_own_script(twenty):
    page = Page(bare(twenty).html)
    (policy,) = [a["content"] for n, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert policy == report_page.policy(report_page.resource("sortable.js"))
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]


def test_the_font_knows_every_sign_that_our_formulas_use():
    ttlib = pytest.importorskip("fontTools.ttLib")
    pytest.importorskip("brotli")
    from importlib.resources import files

    with files("convexcls.report").joinpath("mathematics.woff2").open("rb") as file:
        font = ttlib.TTFont(file, lazy=False)
        known = set(map(chr, font.getBestCmap()))
        assert "MATH" in font
        assert font["name"].getDebugName(1) == report_page.MATH_FONT
    for problem in MODELS.values():
        for form in (problem, problem.dual()):
            page = Page(to_html(statement(form)))
            signs = {c for name, text in page.texts if name in ("mi", "mo", "mn", "mtext") for c in text}
            assert signs - known <= {"\u0303"}


def test_pictures_have_words_and_ids_of_their_own(whole):
    drawn = [attributes for name, attributes in whole.tags if name == "svg"]
    assert len(drawn) >= 4
    for attributes in drawn:
        assert attributes["role"] == "img"
        assert len(attributes["aria-label"]) > 20
    references = {a["xlink:href"] for n, a in whole.tags if n == "use"}
    ids = {f"#{a['id']}" for _, a in whole.tags if "id" in a}
    assert references <= ids


def test_the_same_solution_gives_the_same_page(twenty):
    assert bare(twenty).html.split("made on")[0] == bare(twenty).html.split("made on")[0]


# ---- numbers --------------------------------------------------------------------------------------------


def test_kkt_table_holds_the_residuals(twenty, whole):
    measures = twenty.kkt.measures()
    rows = {name: row for row in whole.table("The KKT conditions")[1:] for name in measures if row[0].startswith(name)}
    assert set(rows) == set(measures)
    for name, relative in measures.items():
        row = rows[name]
        assert row[1] == "✓ holds"
        assert float(row[4]) == pytest.approx(relative, rel=0.06)
    assert float(rows["stationarity"][3]) == pytest.approx(twenty.kkt.stationarity.max, rel=0.06)
    assert float(rows["duality gap"][3]) == pytest.approx(abs(twenty.gap), rel=0.06)


def test_samples_stand_with_slack_and_multiplier(twenty, whole):
    _, *rows = whole.table("Rows counted from 0")
    assert [int(row[0]) for row in rows] == list(range(20))
    slack = twenty.margins - 1.0
    for row in rows:
        i = int(row[0])
        assert row[1] == str(twenty.data.given[i])
        assert float(row[3]) == pytest.approx(slack[i], rel=1e-5, abs=1e-12)
        assert float(row[4]) == pytest.approx(twenty.multipliers["margin"][i], rel=1e-5)
        assert row[6] == ("on the margin" if i in twenty.support else "beyond the margin")


def test_comparison_and_coefficients_hold_the_numbers(twenty, whole):
    _, *rows = whole.table("Tolerance")
    own, *others = [row[0] for row in rows]
    assert own in ("working-set", "active-set")  # where it is compiled
    assert others == ["clarabel", "osqp"]
    assert all(row[1] == "✓ optimal" and float(row[2]) == pytest.approx(4 / 9, rel=1e-9) for row in rows)
    coefficients = {row[0]: float(row[1]) for row in whole.table("Coefficients")[1:]}
    assert coefficients == pytest.approx({"x1": 2 / 3, "x2": 2 / 3}, rel=1e-9)


def test_data_in_brief(whole, twenty):
    assert [row[:2] for row in whole.table("Classes")[1:]] == [["blue", "10"], ["orange", "10"]]
    for j, row in enumerate(whole.table("Features")[1:]):
        column = twenty.data.matrix[:, j]
        assert [float(cell) for cell in row[1:]] == pytest.approx([column.min(), column.mean(), column.max()], rel=1e-5)


def test_a_wrong_answer_is_said_to_fail_in_words():
    problem = cc.LogisticMLE(*(lambda m: (m.data.matrix, m.data.given))(MODELS["logistic"]))
    page = assert_sound(bare(problem.solve("gradient", max_iter=3)).html)
    verdicts = [row[1] for row in page.table("The KKT conditions")[1:]]
    assert "✗ fails" in verdicts
    assert "? UNDECIDED" in page.text


def test_multipliers_are_paired_with_what_they_mean(whole):
    (row,) = whole.table("Constraints and losses")[1:]
    assert row[0] == "margin"
    assert row[4].startswith("3 of 20 not zero")
    assert {row[0] for row in whole.table("Constraints of the dual")[1:]} == {"intercept", "margin_sign"}


# ---- every problem, every verdict ------------------------------------------------------------------------


@pytest.mark.parametrize("name", gallery.entries())
def test_every_gallery_problem_has_a_report(name):
    solution = cc.load(name).solve()
    page = assert_sound(bare(solution).html)
    assert solution.status.upper() in page.text
    assert "math" in page.names


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_report(name):
    assert_sound(bare(MODELS[name].solve()).html)


def test_infeasible_shows_the_rows_that_contradict_each_other():
    solution = cc.load("xor_hard_margin").solve()
    page = assert_sound(solution.report(compare=False).html)
    rows = page.table("The rows that contradict each other")[1:]
    assert [(row[0], int(row[1]), float(row[4])) for row in rows] == [("margin", i, 0.25) for i in range(4)]
    assert "svg" in page.names


def test_unattained_shows_the_direction():
    solution = cc.load("logistic_quasi_separated").solve()
    page = assert_sound(solution.report(compare=False).html)
    shown = {row[0]: float(row[1]) for row in page.table("The direction")[1:]}
    features = solution.data.features
    x = solution.certificate.direction.x
    expected = {f"coef of {name}": x[j] for j, name in enumerate(features)} | {"intercept": x[-1]}
    assert shown == pytest.approx({k: v for k, v in expected.items() if v}, rel=1e-5)
    assert "THE MAXIMUM DOES NOT EXIST" in page.text


def test_a_problem_without_data_and_levels_of_proof():
    x = cc.Variable("x", 2, "x")
    near = cc.Term("distance", {"x": np.eye(2)}, "r", "vector", offset=[-2.0, -1.0])
    inside = cc.Constraint("budget", {"x": [[1.0, 1.0]]}, r"\lambda", "scalar", rhs=1.0)
    solution = cc.Problem("projection", [x], terms=[near], constraints=[inside]).solve()
    assert_sound(solution.report(compare=False).html)
    exact = assert_sound(bare(cc.HardMarginSVM(*SEPARABLE).solve(level="exact")).html)
    assert "10/9" in exact.text
    assert "in exact arithmetic" in exact.text
    assert "despite rounding" in assert_sound(bare(cc.HardMarginSVM(*SEPARABLE).solve(level="rigorous")).html).text


# ---- hostile names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("model", [cc.SoftMarginSVM, cc.SoftmaxMLE, cc.GaussianMLE, cc.LogisticMLE])
def test_hostile_names_stay_text(name, model):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    labels = np.array([name, f"{name}!"], dtype=object)[(X[:, 0] + rng.normal(size=30) > 0).astype(int)]
    solution = model(pd.DataFrame(X, columns=[name, f"other {name}"]), labels).solve()
    html = solution.report(title=f"{name} title", compare=False, pictures=model is cc.SoftMarginSVM).html
    page = assert_sound(html, written=name)
    assert [n for n, _ in page.tags].count("script") == 1  # ours
    assert "img" not in page.names
    shown = name.replace("\u202e", "\\u202e")
    assert f"{shown} title" in page.text
    assert f"other {shown}" in page.text
    for notebook in (solution._repr_html_(), solution.problem._repr_html_(), solution.certificate._repr_html_()):
        assert "script" not in assert_sound_in_a_notebook(notebook, written=name).names


def test_hostile_names_of_blocks_and_symbols_stay_text():
    bad = "<script>alert(1)</script>"
    x = cc.Variable(bad, 1, rf"\text{{{bad}}}", "scalar")
    inside = cc.Constraint(f"{bad}c", {bad: [[1.0]]}, bad, "scalar", rhs=1.0)
    problem = cc.Problem(bad, [x], quadratic={bad: 1.0}, constraints=[inside])
    page = assert_sound(problem.solve().report(compare=["clarabel"], pictures=False).html)
    assert [n for n, _ in page.tags].count("script") == 1


def test_what_is_not_html_is_escaped_wherever_it_goes():
    assert tag("p", "<b>", title='"<') == '<p title="&quot;&lt;">&lt;b&gt;</p>'
    assert tag("p", Html("<b></b>")) == "<p><b></b></p>"
    assert "<b>" not in prose("<b>\n  <b>\n\n<b>:")


# ---- size -----------------------------------------------------------------------------------------------


def test_a_hundred_thousand_rows_stay_small_and_quick(capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 4))
    y = (X @ rng.normal(size=4) + rng.normal(size=100_000) > 0).astype(int)
    solution = cc.LogisticMLE(X, y).solve()
    begun = time.process_time()
    html = solution.report(pictures=False).html  # compares nothing unasked: the problem is large
    took = time.process_time() - begun
    page = assert_sound(html)
    assert len(html) < 300_000
    assert took < 20
    assert len(page.table("Rows counted from 0; 60 of 100000 samples")) == 61
    assert len(page.table("Tolerance")) == 2
    assert "other solvers are compared only where they are named" in page.text


def test_the_samples_shown_are_those_that_matter():
    problem = MODELS["soft-margin"]
    solution = problem.solve()
    rows = rows_that_matter(solution, solution.data, most=12)
    wrong = set(np.flatnonzero(solution.margins < 0).tolist())
    assert len(rows) == 12
    assert rows == sorted(set(rows))
    assert set(rows) >= wrong or len(wrong & set(rows)) >= 6
    assert set(rows) <= set(solution.support.tolist()) | wrong


# ---- use ------------------------------------------------------------------------------------------------


def test_save_path_and_frame(twenty, tmp_path):
    made = bare(twenty, path=tmp_path / "report.html", title="A title")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == made.html
    assert made.save(tmp_path / "again.html") == tmp_path / "again.html"
    frame = Page(made._repr_html_())
    assert frame.complaints == []
    assert [name for name, _ in frame.tags] == ["p", "code", "iframe"]
    assert "report.save(" in frame.text  # all that is left where the notebook is not trusted
    assert frame.tags[-1][1]["srcdoc"] == made.html
    assert frame.tags[-1][1]["sandbox"] == "allow-scripts"


def test_compare_takes_no_single_name(twenty):
    with pytest.raises(TypeError, match="give a list of solvers"):
        twenty.report(compare="osqp")


def test_the_lines_of_python_make_it_again(twenty):
    from convexcls.report.page import python_command

    lines = python_command(twenty).replace(".report('report.html')", "")
    names = {"X": twenty.data.matrix, "y": twenty.data.given}
    exec(lines, names)
    assert names["solution"].objective == pytest.approx(twenty.objective, rel=1e-9)


@pytest.mark.parametrize("size", [1e308, 1e-310])
@pytest.mark.parametrize("model", [cc.SoftMarginSVM, cc.LogisticMLE, cc.KernelSVM, cc.LeastSquares])
def test_samples_beyond_what_can_be_drawn_are_left_out_with_a_word(model, size):
    """Differences and squares of such numbers are beyond doubles; the data are right all the same."""
    X = size * np.array([[1.0, -1.0], [-1.0, 0.5], [1.0, 0.1], [-1.0, -1.0], [0.1, 1.0]])
    page = model(X, [0, 1, 0, 1, 0]).solve().report(compare=False)
    assert_sound(page.html)
    assert f"Samples with entries up to {size:.1e} are not drawn: state the features in other units." in page.html


@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_of_samples_at_the_end_of_the_range_no_picture_is_tried(C):
    X = [[1e308, -1e308], [-1e308, 1e308], [3.0, 1.0]]
    page = cc.SoftMarginSVM(X, ["no", "yes", "no"], C=C).solve().report().html
    assert "are not drawn" in page
    assert page.count("<figure>") == 2  # the formulas of the problem and of its dual
