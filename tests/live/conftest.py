"""The server as a process of its own, and a browser, for everything that needs them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium; for a module only, for two may not run side by side in a process."""
    reason = "playwright is not installed: no page can be opened"
    playwright = pytest.importorskip("playwright.sync_api", reason=reason)
    if CHROMIUM is None:
        pytest.skip("no Chromium on the path: no page is opened")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=60_000)
        yield found
        found.close()


@pytest.fixture(scope="session")
def served():
    """The address of a page that is served."""
    for package in ("starlette", "uvicorn", "websockets", "contourpy"):
        pytest.importorskip(package, reason=f"{package} is not installed: there is no server")
    command = [sys.executable, "-m", "convexcls", "live", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ})
    try:
        url = server.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), server.stderr.read()
        yield url
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
        server.stdout.close()
        server.stderr.close()
