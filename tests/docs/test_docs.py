"""The documentation: every page's code runs, formulas are those of the program, nothing is missing and no link leads
nowhere. ``make docs`` builds the site itself, with warnings as errors; test_docs_browser.py opens three pages."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import convexcls as cc
from convexcls.models import by_kind

plt = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("sphinx")
math_core = pytest.importorskip("math_core")

import executed  # noqa: E402
import known_problems  # noqa: E402
import mathml  # noqa: E402
import offline  # noqa: E402
import plain_docstrings  # noqa: E402
import repository_links  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if not {"_build", "examples"} & set(p.relative_to(DOCS).parts))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
EXAMPLE_LINK = re.compile(r"\.\./examples/\w+\.py$")  # leads to the page that shows the example
X, Y, THREE = [[0.0, 1], [1, 0.5], [2, 0], [3, 2], [0.5, 0.2], [2.5, 1]], [0, 1, 0, 1, 0, 1], [0, 1, 2, 1, 0, 2]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(autouse=True)
def no_window():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


# ---- code ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [p for p in PAGES if executed.is_executed(p) and executed.python_blocks(p)], ids=named)
def test_the_code_of_a_page_runs(page):
    names = {"__name__": "__page__"}
    shown = [executed.run(block, names) for block in executed.python_blocks(page)]
    assert any(output.text or output.pictures for output in shown)


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_an_example_runs_and_draws(example, capsys):
    title, line, *words = example.read_text(encoding="utf-8").removeprefix('"""\n').split('"""')[0].splitlines()
    assert line == "=" * len(title)
    assert 3 <= len(re.findall(r"[.:?](?=\s|$)", "\n".join(words))) <= 8, "a few sentences that teach"
    assert len(example.read_text(encoding="utf-8").splitlines()) <= 100
    runpy.run_path(str(example))
    assert capsys.readouterr().out
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    panels = [axes for figure in figures for axes in figure.axes if axes.get_label() != "<colorbar>"]
    assert all(axes.get_title() for axes in panels)
    assert all(axes.get_xlabel() or not axes.axison for axes in panels)


def test_output_is_what_the_code_prints_returns_and_draws():
    names = {}
    assert executed.run("print(1)\nx = 2\nx + 1", names).text == "1\n3"
    assert executed.run("x = 4", names).text == ""
    drawn = executed.run("import matplotlib.pyplot as plt\nplt.plot([x, 2])\nplt.title('two points')", names)
    assert drawn.text == ""
    assert [picture.words for picture in drawn.pictures] == ["two points"]
    assert drawn.pictures == executed.run("plt.plot([x, 2])\nplt.title('two points')", names).pictures
    with pytest.raises(UserWarning):
        executed.run("import warnings\nwarnings.warn('careful')", names)


# ---- formulas --------------------------------------------------------------------------------------------


def formulas(page: Path) -> list[tuple[str, bool]]:
    """The formulas of a page, and whether they stand on lines of their own; code is left out."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "", text)
    blocks = re.findall(r"\$\$(.*?)\$\$", text, flags=re.DOTALL)
    inline = re.findall(r"\$([^$]+)\$", re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL))
    return [(f.strip(), True) for f in blocks] + [(f.strip(), False) for f in inline]


@pytest.mark.parametrize("page", [p for p in PAGES if formulas(p)], ids=named)
def test_formulas_become_mathml(page):
    for formula, display in formulas(page):
        assert mathml.mathml(formula, display=display).startswith("<math")


def test_a_wrong_formula_is_refused():
    with pytest.raises(math_core.LatexError):
        mathml.mathml(r"\nosuchcommand{x}", display=False)


#: The page of each problem, the problem, and how the page writes its numbers.
STATED = [
    ("hard_margin", cc.HardMarginSVM(X, Y), {}),
    ("hard_margin", cc.HardMarginSVM(X, Y).dual(), {}),
    ("hard_margin", cc.MaxMargin(X, Y), {}),
    ("soft_margin", cc.SoftMarginSVM(X, Y, C=7.0), {"7": "C"}),
    ("soft_margin", cc.SoftMarginSVM(X, Y, C=7.0).dual(), {"7": "C"}),
    ("kernels", cc.KernelSVM(X, Y, kernel="linear", C=7.0), {"7": "C"}),
    ("kernels", cc.KernelSVM(X, Y, kernel="linear", C=7.0).dual(), {"7": "C"}),
    ("logistic", cc.LogisticMLE(X, Y), {}),
    ("logistic", cc.LogisticMLE(X, Y).dual(), {}),
    ("softmax", cc.SoftmaxMLE(X, THREE), {}),
    ("softmax", cc.SoftmaxMLE(X, THREE).dual(), {}),
    ("least_squares", cc.LeastSquares(X, Y), {}),
    ("least_squares", cc.LeastSquares(X, Y).dual(), {}),
    ("least_absolute", cc.LeastAbsolute(X, Y), {}),
    ("least_absolute", cc.LeastAbsolute(X, Y).dual(), {}),
    ("perceptron", cc.PerceptronCriterion(X, Y), {"6": "n"}),
    ("perceptron", cc.PerceptronCriterion(X, Y).dual(), {"6": "n"}),
    ("fisher", cc.FisherLDA(X, Y), {}),
    ("fisher", cc.FisherLDA(X, Y).dual(), {}),
]


@pytest.mark.parametrize(("page", "problem", "symbols"), STATED, ids=lambda v: getattr(v, "name", None))
def test_a_page_states_the_problem_as_the_program_does(page, problem, symbols):
    formula = problem.latex()
    for number, symbol in symbols.items():
        formula = re.sub(rf"(?<![\d.]){number}(?![\d.])", symbol, formula)
    assert formula in (DOCS / "classifiers" / f"{page}.md").read_text(encoding="utf-8")


def test_every_call_in_the_index_of_the_lectures_computes():
    page = DOCS / "lectures.md"
    names = {}
    executed.run(executed.python_blocks(page)[0], names)
    index = page.read_text(encoding="utf-8").split("## ESL by number")[1]
    rows = "\n".join(re.findall(r"^\| .* \|$", index, flags=re.MULTILINE))
    calls = re.findall(r"`([^`]+)`", rows)
    assert len(calls) >= 40
    for call in calls:
        assert eval(call, dict(names)) is not None, call


# ---- nothing is missing ----------------------------------------------------------------------------------


def test_every_model_has_a_page_with_its_known_problems():
    listed = "\n".join(p.read_text(encoding="utf-8") for p in (DOCS / "classifiers").glob("*.md"))
    kinds = " ".join(re.findall(r"```{known-problems} (.*)", listed)).split()
    assert sorted(kinds) == sorted(by_kind())
    for model in by_kind().values():
        assert f"`{model.__name__}`" in (DOCS / "classifiers/index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted((DOCS / "classifiers").glob("[!i]*.md")), ids=named)
def test_a_classifiers_page_is_complete(page):
    text = page.read_text(encoding="utf-8")
    for part in ("The problem", "The KKT conditions", "When there is no answer", "In a picture", "Known problems"):
        assert f"\n## {part}\n" in text
    assert re.search(r"\n## The (dual|geometry)", text)
    assert "ESL" in text


def test_every_public_name_is_in_the_reference():
    reference = "\n".join(p.read_text(encoding="utf-8") for p in (DOCS / "api").glob("*.md"))
    documented = set(re.findall(r"^\.\. auto\w+:: convexcls\.(?:\w+\.)?(\w+)$", reference, flags=re.MULTILINE))
    assert set(cc.__all__) <= documented
    displays = set(re.findall(r"^\.\. auto\w+:: convexcls\.plots\.(\w+)$", reference, flags=re.MULTILINE))
    assert {name for name in cc.plots.__all__ if name != "KINDS"} <= displays


def test_every_page_is_in_a_table_of_contents():
    listed = {"index"}
    for page in PAGES:
        for block in re.findall(r"```{toctree}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
            for line in block.splitlines():
                if line and not line.startswith(":"):
                    target = re.sub(r".*<(.*)>", r"\1", line)
                    listed.add(str((page.parent / target).relative_to(DOCS)))
    assert {str(p.relative_to(DOCS).with_suffix("")) for p in PAGES} <= listed


def test_the_gallery_tells_its_answers():
    words = known_problems.answer_in_words(known_problems.by_kind()["kernel"][0])
    assert words == "2 samples, 2 features; optimal; optimum 3/4; any intercept from -1/2 to 1/2; support rows 0, 1."


def test_fractions_of_ninety_digits_are_folded():
    entry = next(e for e in known_problems.by_kind()["soft-margin"] if e.name == "heart_scale")
    words, whole = known_problems.answer_in_words(entry), known_problems.answer_in_words(entry, folded=False)
    assert not re.search(r"\d{25}", words)
    assert re.search(r"\d{90}", whole)
    assert f"optimum {float(entry.known.optimum):.10g}…" in words
    assert whole in known_problems.described(entry).astext()


def test_every_problem_has_a_picture(tmp_path):
    import problem_gallery

    for kind in ("hard-margin", "least-squares", "perceptron"):
        entry = known_problems.by_kind()[kind][0]
        assert (tmp_path / problem_gallery.drawn(entry, tmp_path)).stat().st_size > 2000
    assert "```{problem-gallery}" in (DOCS / "problems.md").read_text(encoding="utf-8")


def test_what_loads_from_the_network_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="https://a.org">go</a><img src="b.png"><script async src="//c.org/d.js">')
    (tmp_path / "b.css").write_text('x { background: url("https://e.org/f.png") } y { background: url(g.png) }')
    assert offline.loaded(tmp_path) == ["a.html loads //c.org/d.js", "b.css loads https://e.org/f.png"]


def test_docstrings_become_restructuredtext():
    plain = ["It minimises |y - f| by 2*n, as ``a*b`` does:", "", "    min |x|*2   (``x``)", "", "and phi_ is kept."]
    assert plain_docstrings.as_rst(plain) == [
        r"It minimises \|y - f\| by 2\*n, as ``a*b`` does:",
        "",
        "::",
        "",
        "    min |x|*2   (x)",
        "",
        r"and phi\_ is kept.",
    ]


# ---- links -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=named)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", re.sub(r"`[^`\n]*`", "", text)):
        if "://" not in target and not target.endswith("examples/index.rst"):  # which the build writes
            assert (page.parent / target).exists(), f"{named(page)}: {target}"
            inside = (page.parent / target).resolve().is_relative_to(DOCS)
            known = (
                EXAMPLE_LINK.search(target)
                or target.removeprefix("../" * (len(page.relative_to(ROOT).parts) - 2)) in repository_links.PAGES
            )
            assert inside or known or page.parent == ROOT, f"{named(page)}: the site has no page for {target}"


@pytest.mark.parametrize("file", [*PAGES, *DOCS.glob("_static/*"), DOCS / "conf.py", *EXAMPLES], ids=named)
def test_nothing_is_loaded_from_the_network(file):
    assert not re.search(r"https?://|//cdn|@import|intersphinx", file.read_text(encoding="utf-8"))
