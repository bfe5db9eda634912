"""The page that judges a certificate in the browser, served as a site is; or the word that it is left out."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading

import pytest

import convexcls as cc

pytest.importorskip("sphinx", reason="sphinx is not installed: the site cannot be built")
import certificate_check

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


def test_without_pyodide_the_page_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("CONVEXCLS_PYODIDE", str(tmp_path))
    monkeypatch.setattr(certificate_check, "KEPT", tmp_path / "none")
    monkeypatch.setattr(certificate_check.shutil, "which", lambda _: None)
    assert certificate_check.core() is None
    assert "verify_certificate.py" in certificate_check.MISSING


def test_another_package_of_that_name_is_refused(monkeypatch, tmp_path):
    def pack(_command, cwd, **_):
        with open(os.path.join(cwd, f"pyodide-{certificate_check.VERSION}.tgz"), "wb") as file:
            file.write(b"something else")

    monkeypatch.setattr(certificate_check, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(certificate_check.shutil, "which", lambda _: "npm")
    monkeypatch.setattr(certificate_check.subprocess, "run", pack)
    assert not certificate_check._packed()
    assert not (tmp_path / "kept").exists()


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The page with what it loads, over HTTP; only where Pyodide is there already."""
    monkeypatch.setattr(certificate_check, "_packed", lambda: False)
    folder = certificate_check.core()
    if folder is None:
        pytest.skip("Pyodide is not there (CONVEXCLS_PYODIDE): no certificate is checked in the browser")
    certificate_check.put(folder, tmp_path / "_static")
    page = f'<!DOCTYPE html><meta charset="utf-8"><body>{certificate_check.page()}</body>'
    (tmp_path / "check.html").write_text(page, encoding="utf-8")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_a_certificate_is_judged_in_the_browser(site, tmp_path):
    reason = "playwright is not installed: no page can be opened"
    playwright = pytest.importorskip("playwright.sync_api", reason=reason)
    if CHROMIUM is None:
        pytest.skip("no Chromium on the path: no page is opened")
    (tmp_path / "proof.json").write_text(cc.load("twenty_points").solve(level="exact").certificate.to_json())
    data = cc.load("twenty_points").data
    rows = ["x1,x2,class", *(f"{x:g},{y:g},{c}" for (x, y), c in zip(data.matrix, data.given, strict=True))]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "other.csv").write_text("\n".join([*rows[:-1], "9,9,blue"]) + "\n")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page, asked = browser.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{site}check.html")
        for name, code in {"data.csv": "0", "other.csv": "1"}.items():
            page.set_input_files("[name=certificate]", tmp_path / "proof.json")
            page.set_input_files("[name=data]", tmp_path / name)
            page.get_by_role("button", name="Check").click()
            page.wait_for_function(f"() => document.forms[0].dataset.code === '{code}'", timeout=60_000)
            words = page.locator("output").inner_text()
            assert words.startswith("ACCEPTED" if code == "0" else "REFUSED")
        assert all(url.startswith(site) for url in asked)
        browser.close()
