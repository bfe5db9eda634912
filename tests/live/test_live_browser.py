"""The page in a real browser: points are dragged, and what is beside them follows. Needs Chromium."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

import convexcls as cc
from convexcls.live.loading import FIRST_FRAME, FIRST_POINTS, first_state, from_gallery
from convexcls.live.state import new_state

PATIENCE = 30_000  # milliseconds
#: Two classes with room between them, and one point far behind its margin.
APART = [[-2, 0, 0], [-3, 1.5, 0], [-2.5, -2, 0], [2, 0, 1], [3, 1.5, 1], [5, -2, 1]]


def packed(state):
    """A state as the fragment of an address."""
    kept = {key: value for key, value in state.items() if key not in ("schema", "moving", "level")}
    return base64.urlsafe_b64encode(json.dumps(kept).encode()).decode().rstrip("=")


class Visit:
    """A page that was opened, with all that it complained of and whom it asked."""

    def __init__(self, browser, url, state, **settings):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        self.context.set_default_timeout(PATIENCE)
        self.page, self.errors, self.asked = self.context.new_page(), [], []
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"{url}#{packed(state)}")
        self.page.wait_for_selector(".verdict p")
        self.rest()

    def rest(self):
        """Until nothing is asked any more."""
        self.page.wait_for_function(
            "() => { const app = document.getElementById('live').convexcls;"
            " return app && !app.asking && !app.waiting && app.answer }"
        )

    def shown(self, k=0):
        return self.page.evaluate(f"document.getElementById('live').convexcls.panels[{k}].shown")

    @property
    def state(self):
        return self.page.evaluate("document.getElementById('live').convexcls.state")

    def at(self, row, plot=0):
        """Where a point is on the screen."""
        box = self.page.locator("svg.plot").nth(plot).locator(f".point[data-row='{row}']").bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def unit(self):
        """Pixels of the screen for one of the plane."""
        (x0, _), (x1, _) = self.at(0), self.at(3)
        points = self.state["points"]
        return (x1 - x0) / (points[3][0] - points[0][0])

    def drag(self, row, dx, dy=0.0, steps=8):
        """Move a point so far in the plane."""
        (x, y), unit = self.at(row), self.unit()
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + dx * unit, y - dy * unit, steps=steps)

    def drop(self):
        self.page.mouse.up()
        self.rest()

    def column(self, name):
        """The cells of a column of the table, by row."""
        titles = self.page.locator("table thead th").evaluate_all("all => all.map(th => th.dataset.name)")
        at = titles.index(name)
        lines = self.page.locator("table tbody tr")
        return {
            int(line.get_attribute("data-row")): line.locator("td").nth(at).inner_text().replace("−", "-")
            for line in lines.all()
        }

    def svg(self, k=0):
        """The picture as text, without what differs from page to page."""
        return self.page.evaluate(
            f"document.querySelectorAll('svg.plot')[{k}].outerHTML.replace(/convexcls-plot-\\d+/g, 'plot')"
        )


@pytest.fixture
def visit(browser, served):
    opened = []

    def open_page(state=None, **settings):
        opened.append(Visit(browser, served, state or first_state(), **settings))
        return opened[-1]

    yield open_page
    for one in opened:
        one.context.close()


def state(points, model="hard-margin", **panel):
    classes = ("A", "B", "C")[: max(2, 1 + max(point[2] for point in points))]
    made = new_state(points, classes, ("x1", "x2"), FIRST_FRAME, model)
    made["panels"][0] |= panel
    return made


# ---- complementary slackness, dragged -------------------------------------------------------------------


def test_a_point_dragged_across_the_margin_gets_a_multiplier(visit):
    seen = visit(state(APART))
    discs = "g.discs circle[data-row='5']"
    assert seen.shown()["discs"]["values"][5] == 0
    assert seen.page.locator(discs).count() == 0
    seen.drag(5, -4.2, 1.8)
    seen.rest()
    held = seen.shown()["discs"]["values"]
    assert held[5] > 0
    assert seen.page.locator(discs).count() == 1
    seen.drop()
    place = seen.state["points"][5]
    assert place == pytest.approx([0.8, -0.2, 1], abs=0.03)
    # the page shows what solve() finds on the same points
    X = [point[:2] for point in seen.state["points"]]
    solution = cc.HardMarginSVM(X, [point[2] for point in seen.state["points"]]).solve()
    shown = seen.shown()
    assert shown["objective"] == solution.objective
    assert shown["discs"]["values"] == solution.multipliers["margin"].tolist()
    # the table and the words follow
    assert float(seen.column("αᵢ")[5]) == pytest.approx(solution.multipliers["margin"][5], rel=1e-3)
    assert all(abs(float(text)) < 1e-9 for text in seen.column("product").values())
    seen.page.click("[data-tab=proof]")
    words = seen.page.locator(".details").inner_text()
    assert f"{solution.objective:.10g}" in words
    assert "5 (" in words.partition("What holds the answer")[2]
    seen.page.click("[data-tab=formulas]")
    assert seen.page.locator(".details math").count() > 5
    assert seen.page.locator(".details .now b").first.inner_text() == f"{solution.objective:.10g}"
    assert seen.errors == []


def test_inseparable_classes_show_where_their_hulls_meet(visit):
    seen = visit(state(APART))
    assert seen.page.locator(".badge").inner_text().lower().endswith("optimal")
    seen.drag(5, -8.0, 2.2)
    seen.drop()
    assert seen.page.locator(".badge").inner_text().lower().endswith("infeasible")
    shown = seen.shown()
    points = np.array(seen.state["points"])
    for k in (0, 1):  # the weights make the star of either class
        weights = {w["row"]: w["value"] for w in shown["hulls"]["weights"] if points[w["row"], 2] == k}
        assert sum(weights.values()) == pytest.approx(1)
        star = sum(value * points[row, :2] for row, value in weights.items())
        assert star == pytest.approx(shown["hulls"]["ends"][k], abs=1e-3)
    assert seen.page.locator("g.hulls .meeting").count() == 1
    texts = seen.page.locator("g.discs .weight").all_text_contents()
    assert texts == [w["text"] for w in shown["hulls"]["weights"]]
    assert seen.page.locator("g.boundary path").count() == 0
    assert set(map(int, seen.column("row"))) == {w["row"] for w in shown["hulls"]["weights"]}


def test_an_unattained_likelihood_shows_its_direction(visit):
    seen = visit(first_state("logistic"))
    assert seen.page.locator(".badge").inner_text().lower().endswith("unattained")
    assert seen.page.locator("g.runaway .arrow").count() == 1
    assert "→ +∞" in seen.page.locator(".facts").inner_text()


# ---- the address, undo, side by side --------------------------------------------------------------------


def test_the_address_gives_the_same_picture(visit, browser):
    seen = visit(state(APART, "soft-margin"))
    seen.drag(4, -2.0, 0.5)
    seen.drop()
    seen.page.wait_for_timeout(700)
    url = seen.page.url
    other = Visit.__new__(Visit)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    other.page = context.new_page()
    other.page.goto(url)
    other.page.wait_for_selector(".verdict p")
    other.rest()
    assert other.state == seen.state
    seen.page.mouse.move(5, 5)
    seen.page.evaluate("document.getElementById('live').convexcls.select(null)")
    assert other.svg() == seen.svg()
    context.close()


@pytest.mark.parametrize(
    "fragment", ["nonsense", packed({"points": 3}), packed({**first_state(), "frame": [1, 0, 0, 1]})]
)
def test_an_address_without_a_picture_begins_anew(browser, served, fragment):
    context = browser.new_context()
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{served}#{fragment}")
    page.wait_for_selector(".badge")
    assert "holds no picture" in page.locator(".trouble").inner_text()
    assert page.locator(".point").count() == len(FIRST_POINTS)
    page.evaluate("location.hash = '#more-nonsense'")
    page.wait_for_selector(".trouble:not([hidden])")
    assert errors == []
    context.close()


def test_undo_and_redo(visit):
    seen = visit(state(APART))
    before = seen.state
    seen.drag(0, -1.0)
    seen.drop()
    after = seen.state
    assert after != before
    seen.page.keyboard.press("Control+z")
    seen.rest()
    assert seen.state == before
    seen.page.keyboard.press("Control+Shift+z")
    seen.rest()
    assert seen.state == after
    assert seen.page.get_by_role("button", name="Redo").is_disabled()


def test_two_models_side_by_side_share_their_points(visit):
    seen = visit(state(APART, "soft-margin"))
    seen.page.get_by_role("button", name="Side by side").click()
    seen.rest()
    assert [panel["model"] for panel in seen.state["panels"]] == ["soft-margin", "logistic"]
    assert seen.page.locator("svg.plot").count() == 2
    seen.drag(5, -1.0)
    seen.drop()
    assert seen.at(5, 0)[1] == pytest.approx(seen.at(5, 1)[1], abs=1)
    first, second = (seen.page.locator(f"article:nth-child({k}) .badge").inner_text().lower() for k in (1, 2))
    assert first.endswith("optimal")
    assert second.endswith("unattained")


def test_a_slider_changes_its_parameter(visit):
    seen = visit(state([*APART, [-1, 0, 1]], "soft-margin"))
    before = seen.shown()["objective"]
    seen.page.locator("[data-parameter=C]").focus()
    for _ in range(3):
        seen.page.keyboard.press("PageUp")
    seen.rest()
    chosen = seen.state["panels"][0]["parameters"]["C"]
    assert chosen > 1
    assert seen.shown()["objective"] > before


def test_steps_close_the_gap(visit):
    seen = visit(state([*APART, [-1, 0, 1]], "soft-margin", solver="interior-point", path=True))
    steps = seen.shown()["way"]["steps"]
    scrubber = seen.page.get_by_label("step of the solver")
    assert scrubber.get_attribute("max") == str(len(steps) - 1)

    def gap():
        x = {name: seen.page.locator(f".values .{name}").bounding_box() for name in ("primal", "dual")}
        middle = {name: box["x"] + box["width"] / 2 for name, box in x.items()}
        return abs(middle["primal"] - middle["dual"])

    scrubber.focus()
    seen.page.keyboard.press("Home")
    first = gap()
    assert seen.page.locator("g.way path, g.boundary path.stopped").count() > 0
    assert seen.page.locator(".residual.fails").count() > 0
    seen.page.keyboard.press("End")
    assert gap() < 1 < first
    assert seen.page.locator(".residual.fails").count() == 0


# ---- exact, files ---------------------------------------------------------------------------------------


def test_exact_on_request_with_files_that_verify(visit, tmp_path):
    seen = visit(from_gallery("twenty_points"))
    seen.page.get_by_role("button", name="Prove exactly").click()
    seen.rest()
    assert seen.page.locator(".fraction").inner_text() == "4/9"
    for name in ("certificate.json", "data.csv", "picture.py", "picture.svg"):
        with seen.page.expect_download() as waiting:
            seen.page.locator(f"[data-file='{name}']").click()
        waiting.value.save_as(tmp_path / name)
    samples = cc.read_table(tmp_path / "data.csv", exact=True).samples("class")
    assert cc.verify((tmp_path / "certificate.json").read_text(), samples.X, samples.y).accepted
    picture = (tmp_path / "picture.svg").read_text()
    assert picture.startswith("<svg")
    assert "var(" not in picture
    assert "http" not in picture.replace("http://www.w3.org/", "")
    assert seen.errors == []


def test_a_table_is_loaded_with_chosen_columns(visit, tmp_path):
    seen = visit()
    (tmp_path / "data.csv").write_text("age,dose,kind\n1,5,a\n2,3,b\n4,4,b\n3,6,a\n")
    seen.page.set_input_files("input[type=file]", tmp_path / "data.csv")
    seen.page.wait_for_selector(".chooser:not([hidden])")
    seen.rest()
    assert seen.state["features"] == ["age", "dose"]
    seen.page.locator(".chooser select").nth(0).select_option("dose")
    seen.page.wait_for_selector(".trouble:not([hidden])")  # the same column twice
    seen.page.locator(".chooser select").nth(1).select_option("age")
    seen.page.wait_for_function("() => document.getElementById('live').convexcls.state.features.join() === 'dose,age'")
    assert seen.errors == []


def test_hostile_names_stay_text(visit):
    given = {**state(APART), "classes": ["<img src=x onerror=alert(1)>", "</script>"], "features": ["<b>x", "&amp;"]}
    seen = visit(given)
    assert seen.page.locator("img, b:not(h1 b):not(.now b)").count() == 0
    assert "<b>x" in seen.page.locator("g.axes").text_content()
    assert seen.errors == []


# ---- for everyone ---------------------------------------------------------------------------------------


def test_everything_by_keyboard(visit):
    seen = visit(state(APART))
    page = seen.page
    page.locator(".point[tabindex='0']").focus()
    for key, expected in {
        "ArrowRight": [-1.9, 0, 0],
        "ArrowUp": [-1.9, 0.1, 0],
        "Shift+ArrowLeft": [-2.9, 0.1, 0],
    }.items():
        page.keyboard.press(key)
        assert seen.state["points"][0] == expected
    page.keyboard.press("PageDown")
    assert page.evaluate("document.activeElement.dataset.row") == "1"
    page.keyboard.press("2")
    assert seen.state["points"][1][2] == 1
    page.keyboard.press("1")
    page.keyboard.press("a")
    assert len(seen.state["points"]) == 7
    assert page.evaluate("document.activeElement.dataset.row") == "6"
    page.keyboard.press("Delete")
    assert len(seen.state["points"]) == 6
    seen.rest()
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("sample 5, class B, at 5, −2")
    page.wait_for_function("() => document.querySelector('[role=status]').textContent.includes('optimal')")
    assert "support points" in page.locator("[role=status]").inner_text()


def test_touch_moves_and_adds(visit):
    seen = visit(state(APART), has_touch=True, viewport={"width": 390, "height": 844})
    box = seen.page.locator("svg.plot").bounding_box()
    seen.page.touchscreen.tap(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.2)
    seen.rest()
    assert len(seen.state["points"]) == 7
    assert seen.page.evaluate("getComputedStyle(document.querySelector('svg.plot')).touchAction") == "none"


def test_a_row_of_the_table_and_its_point_are_linked(visit):
    seen = visit(state(APART))
    seen.page.locator("tr[data-row='3']").hover()
    assert seen.page.locator(".point.linked").get_attribute("data-row") == "3"
    x, y = seen.at(1)
    seen.page.mouse.move(x, y)
    seen.page.wait_for_selector("tr.linked[data-row='1']")


@pytest.mark.parametrize("width", [390, 1024, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("model", ["soft-margin", "softmax"])
def test_the_page_is_never_wider_than_the_screen_and_asks_nobody_else(visit, served, width, scheme, model):
    classes = 3 if model == "softmax" else 2
    points = [[x, y, k % classes] for k, (x, y, _) in enumerate(FIRST_POINTS)]
    settings = {"viewport": {"width": width, "height": 768}, "color_scheme": scheme, "reduced_motion": "reduce"}
    seen = visit(state(points, model), **settings)
    for tab in ("samples", "proof", "formulas"):
        seen.page.click(f"[data-tab={tab}]")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert all(url.startswith((served, served.replace("http", "ws"), "data:")) for url in seen.asked)
    assert seen.errors == []
    ink, paper = (
        seen.page.evaluate(f"getComputedStyle(document.querySelector('#live')).{name}")
        for name in ("color", "backgroundColor")
    )
    assert contrast(ink, paper) > 7


def contrast(first, second):
    """The contrast of two colours, as the guidelines for accessible pages define it."""

    def light(text):
        parts = [int(part) / 255 for part in text[text.index("(") + 1 : -1].split(",")[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(first), light(second)))
    return (high + 0.05) / (low + 0.05)


# ---- a server that ends ---------------------------------------------------------------------------------


def test_a_killed_server_is_noticed_and_found_again(browser):
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "convexcls", "live", "--no-browser", "--port", str(port), "--token", "t" * 20]

    def started():
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return server, server.stdout.readline().strip()

    server, url = started()
    try:
        seen = Visit(browser, url, state(APART))
        server.kill()
        server.communicate()
        trouble = seen.page.locator(".trouble")
        trouble.wait_for(state="visible")
        assert "lost" in trouble.inner_text()
        seen.drag(5, -4.2, 1.8)  # meanwhile the picture can be changed
        seen.page.mouse.up()
        server, _ = started()
        trouble.wait_for(state="hidden")
        seen.page.wait_for_function(
            "() => document.getElementById('live').convexcls.panels[0].shown.discs.values[5] > 0"
        )
        seen.context.close()
    finally:
        server.kill()
        server.communicate()


# ---- how fast -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["soft-margin", "logistic"])
def test_from_drag_to_repaint(visit, model, capsys):
    """Reported, not asserted: machines differ."""
    rng = np.random.default_rng(1)
    labels = np.arange(100) % 2
    places = np.round(rng.normal(size=(100, 2)) * 0.8 + np.where(labels, 1.6, -1.6)[:, None], 2).clip(-3.9, 3.9)
    points = [[float(x), float(y), int(k)] for (x, y), k in zip(places, labels, strict=True)]
    seen = visit(state(points, model))
    (x, y), page = seen.at(0), seen.page
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(40):
        page.mouse.move(x + 2 * (k % 20), y + k)
        page.wait_for_timeout(20)
    page.mouse.up()
    seen.rest()
    times = page.evaluate("document.getElementById('live').convexcls.timings")
    assert len(times) > 5
    median, late = np.percentile(times, [50, 95])
    with capsys.disabled():
        print(f"\n{model}, 100 points: from drag to repaint median {median:.0f} ms, 95% {late:.0f} ms", end=" ")
