"""Three pages of the site as a reader sees them: built without the examples, opened in headless Chromium."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

for package in ("sphinx", "myst_parser", "furo", "math_core", "matplotlib"):
    pytest.importorskip(package, reason=f"{package} is not installed: the site cannot be built")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no page can be opened")

CHROMIUM = Path("/usr/bin/chromium")
if not CHROMIUM.exists():
    pytest.skip("Chromium is not installed: no page can be opened", allow_module_level=True)

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("start", "classifiers/hard_margin", "certificates")
EXTENSIONS = "myst_parser,mathml,executed,known_problems,repository_links"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The three pages, built as ``make docs`` builds them but for the links to pages that are left out."""
    out = tmp_path_factory.mktemp("site")
    others = [
        p.relative_to(DOCS).as_posix()
        for p in DOCS.rglob("*.md")
        if p.relative_to(DOCS).with_suffix("").as_posix() not in PAGES
    ]
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-q",
            "-b",
            "html",
            "-D",
            f"extensions={EXTENSIONS}",
            "-D",
            "root_doc=start",
            "-D",
            f"exclude_patterns={','.join([*others, '_build', 'examples', '*.rst'])}",
            str(DOCS),
            str(out),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": ""},
    )
    assert run.returncode == 0, run.stderr
    wrong = [
        line
        for line in run.stderr.splitlines()
        if "WARNING" in line and "xref_missing" not in line and "toctree" not in line
    ]
    assert wrong == []
    return out


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.parametrize(("name", "scheme"), list(zip(PAGES, ("light", "dark", "light"), strict=True)))
def test_a_page_is_laid_out_and_asks_nobody(site, browser, name, scheme):
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page, complaints, asked = context.new_page(), [], []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{site / name}.html")
    assert complaints == []
    assert all(url.startswith((f"file://{site}", "data:")) for url in asked)

    formulas = page.locator("article math")
    assert formulas.count() >= {"start": 1, "certificates": 3, "classifiers/hard_margin": 20}[name]
    for formula in formulas.all():
        box = formula.bounding_box()
        assert box is not None
        assert box["width"] > 3
        assert box["height"] > 6
    words = page.locator("article").inner_text()
    assert "\\begin" not in words
    assert "\\alpha" not in words
    assert page.locator("article mfrac").count() or name == "certificates"

    pictures = page.locator("article img.drawn")
    assert pictures.count() == {"start": 1, "certificates": 1, "classifiers/hard_margin": 2}[name]
    for picture in pictures.all():
        assert picture.evaluate("image => image.complete && image.naturalWidth > 100")
        assert len(picture.get_attribute("alt")) > 20
    assert page.locator("article .printed").count() >= 3
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "the page is wider than a phone"
    context.close()
