"""Results in a real JupyterLab, in a notebook that is trusted and in one that is not. Needs JupyterLab and Chromium."""

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest
from datasets import SEPARABLE, overlapping
from test_browser import ARGUMENTS, CHROMIUM

import convexcls as cc

playwright = pytest.importorskip("playwright.sync_api")

BESIDE = str(Path(sys.executable).parent)
JUPYTER = next(filter(None, (shutil.which("jupyter", path=path) for path in (None, BESIDE))), None)
LAB = JUPYTER is not None and shutil.which("jupyter-lab", path=str(Path(JUPYTER).parent))
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or not LAB, reason="no Chromium or no JupyterLab on the path: notebooks are not looked at"
)
PATIENCE = 180  # seconds, of a machine that has other work
TRUST = ["trusted", "untrusted"]
WIDTHS = [390, 1400]


def results():
    """One of each kind, with names that MathJax could take for formulas."""
    pd = pytest.importorskip("pandas")
    X, y = overlapping()
    hard, likelihood = cc.HardMarginSVM(*SEPARABLE).solve(), cc.LogisticMLE(X, y).solve()
    priced = pd.DataFrame(X[:, :2], columns=["price $", r"cost $ \(x\)"])
    softmax = cc.SoftmaxMLE(priced, np.arange(len(X)) % 3, l2=1.0).solve()
    study = [cc.compare(hard.problem, ["clarabel", "osqp"]), cc.path(cc.SoftMarginSVM, X, y, C=[0.1, 1.0])]
    study += [likelihood.summary(), cc.leave_one_out(likelihood.problem)]
    proofs = [cc.separability(X, y), likelihood.existence(), cc.load("xor_hard_margin").solve()]
    return [hard.problem, hard.problem.dual(), hard, hard.certificate, hard.kkt, *study, *proofs, softmax]


def as_html(one):
    return {"text/html": one._repr_html_(), "text/plain": repr(one)}


def as_png():
    pixels, _ = cc.plots.BoundaryDisplay.of(cc.HardMarginSVM(*SEPARABLE).solve())._repr_png_()
    return {"image/png": b64encode(pixels).decode()}


def notebook(shown):
    cells = [
        {
            "cell_type": "code",
            "id": f"cell{k}",
            "metadata": {},
            "execution_count": k,
            "source": f"result {k}",
            "outputs": [
                {
                    "output_type": "execute_result",
                    "execution_count": k,
                    "metadata": {},
                    "data": data,
                }
            ],
        }
        for k, data in enumerate([*map(as_html, shown), as_png()], 1)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(scope="module")
def shown():
    return results()


@pytest.fixture(scope="module")
def lab(tmp_path_factory, shown):
    """The address of a server whose folder has the notebook twice, once trusted."""
    place = tmp_path_factory.mktemp("notebooks")
    for name in TRUST:  # trust goes by contents: they must not be the same
        (place / f"{name}.ipynb").write_text(notebook(shown).replace('result 1"', f'{name}"'), encoding="utf-8")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([JUPYTER, "trust", str(place / "trusted.ipynb")], check=True, **quiet)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    options += ["--IdentityProvider.token=", f"--ServerApp.root_dir={place}", "--LabApp.news_url="]
    server = subprocess.Popen([LAB, *options], **quiet)
    try:
        _wait_for(f"http://127.0.0.1:{port}/api", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _wait_for(address, server):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.2)


@pytest.fixture(scope="module")
def pages(lab, shown):
    """The notebooks as they are shown, everything unfolded."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=1000 * PATIENCE)
        found = {}
        for name in TRUST:
            page = found[name] = browser.new_page(viewport={"width": WIDTHS[-1], "height": 12000})
            page.set_default_timeout(1000 * PATIENCE)
            page.route("**/*", lambda route: route.continue_() if lab in route.request.url else route.abort())
            page.goto(f"{lab}/doc/tree/{name}.ipynb")
            page.wait_for_function(f"document.querySelectorAll('.convexcls').length === {len(shown)}")
            page.evaluate("document.querySelectorAll('.convexcls details').forEach(e => e.open = true)")
            page.wait_for_function(f"({TEXT}).every(text => !/[$]{{2}}|\\\\top/.test(text))")
        yield found
        browser.close()


TEXT = "[...document.querySelectorAll('.convexcls')].map(e => e.innerText)"


@pytest.fixture
def page(pages, name, width):
    pages[name].set_viewport_size({"width": width, "height": 12000})
    return pages[name]


each_page = pytest.mark.parametrize(("name", "width"), [(name, width) for name in TRUST for width in WIDTHS])


def test_a_notebook_that_is_not_trusted_shows_the_same(pages):
    trusted, untrusted = (pages[name] for name in TRUST)
    assert trusted.evaluate(TEXT) == untrusted.evaluate(TEXT)
    boxes = "[...document.querySelectorAll('.convexcls')].map(e => Math.round(e.getBoundingClientRect().height))"
    assert trusted.evaluate(boxes) == untrusted.evaluate(boxes)


@each_page
def test_formulas_are_set_and_names_are_not(page, shown):
    formulas = sum(_formulas(one._repr_html_()) for one in shown)
    assert page.locator(".convexcls mjx-container").count() == formulas
    assert page.locator(".convexcls mjx-merror").count() == 0
    text = "\n".join(page.evaluate(TEXT))
    assert "price $" in text
    assert r"cost $ \(x\)" in text
    assert "\\" not in text.replace(r"cost $ \(x\)", "")


def _formulas(html):
    return html.replace("<span>$</span>", "").replace("$$", "$").count("$") // 2


@each_page
def test_nothing_overlaps_nothing_is_cut_and_words_begin_at_the_left(page):
    overlapping_cells = """[...document.querySelectorAll('.convexcls tr')].filter(row => {
        const cells = [...row.children].map(e => e.getBoundingClientRect());
        return cells.some((c, k) => k && c.left < cells[k - 1].right - 1) }).map(row => row.innerText)"""
    assert page.evaluate(overlapping_cells) == []
    cut = """[...document.querySelectorAll('.jp-OutputArea-output')].filter(e => e.scrollWidth > e.clientWidth + 1)
        .map(e => e.innerText)"""
    assert page.evaluate(cut) == []
    right = """[...document.querySelectorAll('.convexcls td, .convexcls th')]
        .filter(e => getComputedStyle(e).textAlign !== 'left').map(e => e.innerText)"""
    assert {"objective", "relative"} <= set(page.evaluate(right))  # titles of columns of numbers
    assert [text for text in page.evaluate(right) if len(text.split()) > 2] == []


@each_page
def test_pictures_are_there(page):
    picture = page.locator(".jp-OutputArea-output img")
    box = picture.bounding_box()
    assert picture.count() == 1
    assert 100 < box["width"] < page.viewport_size["width"]
