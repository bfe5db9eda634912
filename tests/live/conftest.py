"""The server as a process of its own, for everything that talks to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest


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
