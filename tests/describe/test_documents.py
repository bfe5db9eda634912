"""Problems as LaTeX that compiles, and as Markdown."""

import re
import shutil
import subprocess
import unicodedata

import pytest
from datasets import every_model

import convexcls as cc
from convexcls.describe import Chapter, Prose
from convexcls.describe.markdown import to_markdown
from convexcls.describe.problem import explained
from convexcls.describe.tex import document, escaped, to_tex

PDFLATEX = shutil.which("pdflatex")
MODELS = every_model()
FORMS = [form for model in MODELS.values() for form in (model, model.dual(), model.dual().dual())]


def compiled(text, place):
    """What TeX complains of."""
    (place / "page.tex").write_text(text, encoding="utf-8")
    command = [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    run = subprocess.run(command, cwd=place, capture_output=True, timeout=60, check=False)
    log = run.stdout.decode(errors="replace")
    return re.findall(r"^!.*\n.*|^LaTeX Warning: .*", log, re.M), (place / "page.pdf").exists()


@pytest.mark.skipif(PDFLATEX is None, reason="no pdflatex on the path: whether LaTeX compiles is not tried")
def test_every_form_compiles_whatever_letters_its_names_have(tmp_path):
    letters = [chr(k) for k in range(32, 0x2500) if unicodedata.category(chr(k))[0] not in "CZ"]
    chapters = [Chapter("form", form.name, tuple(explained(form))) for form in FORMS[1::5]]
    complaints, made = compiled(document("日本 & <b>", *chapters, Prose(" ".join(letters))), tmp_path)
    assert complaints == []
    assert made


def test_the_document_has_the_whole_way_from_the_primal_to_the_dual():
    dual = cc.SoftMarginSVM([[0.0], [1.0], [2.0]], [0, 1, 1], C=2.0).dual()
    piece, whole, notes = (dual.explain(form) for form in ("latex", "document", "markdown"))
    for words in (
        r"\min_{\beta, \beta_0, \xi}",
        r"\alpha_i \le 2",
        "Start from the primal",
        "Lagrangian, with a multiplier for every constraint",
        "the cost is strictly convex in $\\beta$",
        "KKT conditions",
        "What is left, maximised over the multipliers, is the dual",
    ):
        assert words in piece
        assert words in whole
        assert words in notes
    assert whole.startswith(r"\documentclass")
    assert whole.endswith("\\end{document}\n")
    assert piece.rstrip() in whole


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_markdown_keeps_tables_and_formulas_apart(form):
    text = form.explain("markdown")
    assert text.count("$$") % 2 == 0
    for line in filter(lambda line: line.startswith("|"), text.splitlines()):
        assert len(re.findall(r"(?<!\\)\|", line)) in (3, 4), line


def test_names_stay_text():
    hostile = r"a_b & 100% of $x$ #1 {y} \input{z} ~^ <i> | `c` *d*"
    assert re.findall(r"(?<!\\)[&%$#_{}~^]", re.sub(r"\\text\w+\{\}", "", escaped(hostile))) == []
    assert r"\input" not in escaped(hostile)
    assert re.findall(r"(?<!\\)[$_*`|<>#]", to_markdown(Prose(hostile))) == []
    assert "U+65E5" in to_tex(Prose("日"))


def test_another_form_is_refused():
    with pytest.raises(ValueError, match="'markdown'"):
        cc.load("two_points").explain("html")
