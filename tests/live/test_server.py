"""The server: who may speak to it, what it says, what it refuses, and what it cuts off."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from convexcls.cli import main
from convexcls.live.loading import first_state, from_gallery
from convexcls.live.worker import Child, Pool, Unanswered

client = pytest.importorskip("websockets.sync.client", reason="websockets is not installed: there is no server")
exceptions = pytest.importorskip("websockets.exceptions")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: there is no server")


def get(url, path="", **headers):
    """A page, with its headers."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    connection.request("GET", place.path + path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, dict(response.getheaders()), body.decode()


def connected(url, origin="own", path="socket"):
    place = urlsplit(url)
    own = f"http://{place.hostname}:{place.port}" if origin == "own" else origin
    return client.connect(f"ws://{place.hostname}:{place.port}{place.path}{path}", origin=own, open_timeout=20)


def heard(socket):
    return json.loads(socket.recv(timeout=60))


def ended(socket, messages):
    """How the server ends a talk in which these are said."""
    try:
        for message in messages:
            socket.send(message)
        while True:
            heard(socket)
    except exceptions.ConnectionClosed as closed:
        return closed


# ---- who may speak --------------------------------------------------------------------------------------


def test_the_page_and_its_policy(served):
    status, headers, body = get(served)
    assert status == 200
    assert "live.css" in body
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
    for name, kind in {"live.js": "text/javascript", "live.css": "text/css", "mathematics.woff2": "font/woff2"}.items():
        place = urlsplit(served)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
        connection.request("GET", place.path + name)
        response = connection.getresponse()
        assert (response.status, response.getheader("content-type").split(";")[0]) == (200, kind)
        connection.close()


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/live.js", "/wrong/socket"])
def test_without_the_token_there_is_nothing(served, path):
    place = urlsplit(served)
    status, _, body = get(f"http://{place.netloc}", path)
    assert status == 404
    assert place.path.strip("/") not in body


@pytest.mark.parametrize("path", ["../worker.py", "%2e%2e/worker.py", "worker.py", "page.html"])
def test_no_other_file_is_given(served, path):
    assert get(served, path)[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:1", "localhost", ""])
def test_another_name_is_refused(served, host):
    assert get(served, Host=host)[0] in (400, 421)


def test_another_page_is_refused(served):
    assert get(served, Origin="http://evil.example")[0] == 421
    for origin in ("http://evil.example", None, "null", served.replace("http:", "https:").rstrip("/")):
        with pytest.raises(exceptions.InvalidStatus):
            connected(served, origin)
    with pytest.raises(exceptions.InvalidStatus):
        connected(served.replace(urlsplit(served).path, "/wrong/"))


# ---- what it says ---------------------------------------------------------------------------------------


def test_questions_are_answered(served):
    from convexcls.live import answer

    with connected(served) as socket:
        greeting = heard(socket)
        assert greeting["state"] == first_state()
        assert "twenty_points" in greeting["menu"]["gallery"]
        state = from_gallery("twenty_points")
        socket.send(json.dumps({"number": 1, "state": state}))
        said = heard(socket)
        assert said["number"] == 1
        shown, own = said["answer"]["panels"][0], json.loads(json.dumps(answer(state)))["panels"][0]
        assert {**shown, "seconds": 0} == {**own, "seconds": 0}
        socket.send(json.dumps({"number": 2, "load": {"gallery": "kernel_xor"}}))
        assert heard(socket)["loaded"]["state"] == from_gallery("kernel_xor")
        table = {"table": "a,b,k\n1,2,p\n2,3,q\n3,1,q\n", "model": "soft-margin"}
        socket.send(json.dumps({"number": 3, "load": table}))
        assert heard(socket)["loaded"]["state"]["points"] == [[1, 2, 0], [2, 3, 1], [3, 1, 1]]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"state": {"schema": "other"}}, "schema is 'other'"),
        ({"state": {**first_state(), "points": [[0, 0, 9]]}}, r"points[0][2] is 9"),
        ({"load": {"gallery": "../../etc/passwd"}}, "there is no gallery problem"),
        ({"load": {"table": "a,b\n", "model": "soft-margin"}}, ""),
        ({"load": {"table": 1}}, "what is to be loaded"),
        ({"state": {**first_state(), "classes": ["A", "x" * 200_000]}}, "too long"),
    ],
)
def test_what_is_wrong_is_said_and_the_page_goes_on(served, question, words):
    with connected(served) as socket:
        heard(socket)
        socket.send(json.dumps({"number": 7, **question}))
        said = heard(socket)
        assert said["number"] == 7
        assert words in said["error"]
        socket.send(json.dumps({"number": 8, "state": first_state()}))
        assert "answer" in heard(socket)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"number": 1}', '{"number": "1", "state": {}}', '{"number": 1, "state": 3}', "[" * 5000]
)
def test_no_message_of_a_page_ends_the_talk(served, text):
    with connected(served) as socket:
        heard(socket)
        socket.send(text)
        with pytest.raises(exceptions.ConnectionClosed) as closed:
            heard(socket)
        assert closed.value.rcvd.code == 1008


def test_a_message_that_is_too_large_ends_the_talk(served):
    with connected(served) as socket:
        heard(socket)
        closed = ended(socket, [json.dumps({"number": 1, "load": {"table": "x" * 2_000_000}})])
        assert closed.rcvd is None or closed.rcvd.code == 1009


def test_old_drags_are_dropped(served):
    """Of many questions at once only the newest that waits is worked on, and the page hears of the others."""
    with connected(served) as socket:
        heard(socket)
        for number in range(40):
            socket.send(json.dumps({"number": number, "state": first_state("soft-margin")}))
        said = {}
        while 39 not in said:
            message = heard(socket)
            said[message["number"]] = "dropped" if "dropped" in message else "answer"
        assert said[39] == "answer"
        assert sorted(said) == list(range(40))
        assert list(said.values()).count("dropped") > 20


def test_a_flood_ends_the_talk(served):
    with connected(served) as socket:
        heard(socket)
        closed = ended(socket, (json.dumps({"number": k, "load": {"gallery": "no"}}) for k in range(2000)))
        assert closed.rcvd.code == 1008


def test_twenty_pages_at_once_are_answered(served):
    with ExitStack() as stack:
        sockets = [stack.enter_context(connected(served)) for _ in range(20)]
        for socket in sockets:
            heard(socket)
        for number, socket in enumerate(sockets):
            socket.send(json.dumps({"number": number, "state": first_state("logistic")}))
        assert [heard(socket)["answer"]["panels"][0]["status"] for socket in sockets] == ["unattained"] * 20


# ---- what takes long ------------------------------------------------------------------------------------


def test_what_takes_long_is_cut_off_and_the_next_is_answered():
    child = Child()
    try:
        assert "menu" not in child.ask("state", first_state(), 120.0)
        process = child.process.pid
        with pytest.raises(Unanswered, match=r"longer than 0.0001 seconds and was cut off"):
            child.ask("state", first_state("rbf"), 1e-4)
        assert child.process.pid != process
        assert json.loads(child.ask("state", first_state(), 120.0))["panels"][0]["status"] == "optimal"
        os.kill(child.process.pid, signal.SIGKILL)
        with pytest.raises(Unanswered, match="started again"):
            child.ask("state", first_state(), 120.0)
        assert "panels" in child.ask("state", first_state(), 120.0)
    finally:
        child.end()


def test_a_pool_gives_the_child_back_after_an_error():
    async def asked():
        pool = Pool(1)
        try:
            for _ in range(3):
                with pytest.raises(Unanswered, match="schema"):
                    await pool._ask("state", {"schema": 1}, 120.0)
            return await pool.ask("load", {"gallery": "two_points"})
        finally:
            pool.end()

    assert "points" in asyncio.run(asked())


# ---- the command ----------------------------------------------------------------------------------------


def run(*args):
    return CliRunner().invoke(main, ["live", *args])


def test_bad_input_is_told_before_anything_is_served(monkeypatch):
    for args, words in {
        ("nosuch",): "no gallery problem 'nosuch'",
        ("heart_scale",): "13 feature(s)",
        ("nosuch.csv",): "there is no file",
        ("--model", "logistic"): "name one",
        ("twenty_points", "--port", "99999"): "--port",
        ("--host", "203.0.113.77"): "--host",
        ("--token", "short"): "can be guessed",
        ("--token", "a/b" * 9): "cannot stand in an address",
    }.items():
        found = run(*args)
        assert found.exit_code != 0, args
        assert words in found.output + str(found.exception), args


def test_a_missing_extra_is_told_with_its_remedy(monkeypatch):
    monkeypatch.setattr(
        sys.modules["convexcls.cli.live"], "find_spec", lambda name: None if name == "uvicorn" else object()
    )
    found = run()
    assert found.exit_code == 2
    assert "uvicorn" in found.output
    assert "pip install 'convexcls[live]'" in found.output


def test_a_file_is_served_and_ctrl_c_ends_everything(tmp_path):
    (tmp_path / "data.csv").write_text("u,v,w,kind\n1,2,0,no\n2,1,1,yes\n3,3,2,yes\n0,1,3,no\n")
    command = [sys.executable, "-m", "convexcls", "live", "data.csv", "--model", "logistic", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    url = server.stdout.readline().strip()
    with connected(url) as socket:
        state = heard(socket)["state"]
    assert state["features"] == ["u", "v"]
    assert state["panels"][0]["model"] == "logistic"
    begun = time.monotonic()
    server.send_signal(signal.SIGINT)
    _, told = server.communicate(timeout=30)
    assert "features: 'u' and 'v', the first two" in told
    assert "Traceback" not in told
    assert time.monotonic() - begun < 30
