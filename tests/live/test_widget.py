"""The widget of notebooks: the kernel answers, and the same module draws the same picture."""

from __future__ import annotations

import json

import pytest

import convexcls as cc
from convexcls.live import answer
from convexcls.live.loading import Unsuitable, from_gallery

pytest.importorskip("anywidget", reason="anywidget is not installed: there is no widget")
#: What a notebook gives a widget's script, here a page of its own.
NOTEBOOK = """
async ({ state, menu }) => {
  const values = { state, menu }, heard = [];
  const model = {
    get: (name) => values[name],
    set: (name, value) => { values[name] = value; },
    save_changes: () => window.saved(values.state),
    on: (_, callback) => heard.push(callback),
    off: () => {},
    send: async (message) => {
      const reply = await window.kernel(message);
      heard.forEach((callback) => callback(reply));
    },
  };
  const el = document.createElement("div");
  el.id = "cell";
  document.body.style.margin = 0;
  document.body.append(el);
  window.drawing.render({ model, el });
}
"""


@pytest.fixture
def widget(monkeypatch):
    """A widget whose messages are kept."""
    made = cc.live("twenty_points")
    made.sent = []
    monkeypatch.setattr(
        type(made), "send", lambda self, content, buffers=None: self.sent.append(content), raising=False
    )
    return made


def test_questions_are_answered_by_the_kernel(widget):
    widget._answer({"number": 1, "state": widget.state})
    found = widget.sent.pop()
    own = json.loads(json.dumps(answer(widget.state)))["panels"][0]
    assert found["number"] == 1
    assert {**found["answer"]["panels"][0], "seconds": 0} == {**own, "seconds": 0}
    widget._answer({"number": 2, "state": {}})
    assert "schema is None" in widget.sent.pop()["error"]
    widget._answer({"number": 3, "load": {"gallery": "kernel_xor"}})
    assert widget.sent.pop()["loaded"]["state"] == from_gallery("kernel_xor")
    for nothing in (None, [], {"number": "1"}, {"state": {}}):
        widget._answer(nothing)
    assert widget.sent == []


def test_the_problem_of_a_widget_is_the_one_it_shows():
    problem = cc.SoftMarginSVM([[0, 1], [1, 0], [2, 2]], ["no", "yes", "no"], C=3.0)
    found = cc.live(problem).problem
    assert type(found) is cc.SoftMarginSVM
    assert found.parameters == problem.parameters
    assert found.data.labels == problem.data.labels
    assert found.solve().objective == problem.solve().objective
    with pytest.raises(Unsuitable, match="3 feature"):
        cc.live(cc.HardMarginSVM([[0, 0, 1], [1, 1, 1]], [0, 1]))


def test_the_widget_and_the_page_draw_the_same(widget, browser, served):
    from test_live_browser import Visit

    seen = Visit(browser, served, from_gallery("twenty_points"))
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    errors, saved = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content("<!DOCTYPE html><body></body>")

    def kernel(message):
        widget._answer(message)
        return widget.sent.pop()

    page.expose_function("kernel", kernel)
    page.expose_function("saved", lambda state: saved.append(state))
    page.add_style_tag(content=f"#cell {{ max-width: 1500px }} {widget._css}")
    page.add_script_tag(content=f"{widget._esm}\nwindow.drawing = {{ render }};", type="module")
    page.wait_for_function("() => window.drawing")
    page.evaluate(NOTEBOOK, {"state": widget.state, "menu": widget.menu})
    page.wait_for_selector(".badge")
    assert errors == []
    text = page.evaluate("document.querySelector('svg.plot').outerHTML.replace(/convexcls-plot-\\d+/g, 'plot')")
    assert text == seen.svg()
    page.wait_for_function("() => document.querySelector('[role=status]').textContent.includes('optimal')")
    assert saved[-1]["points"] == widget.state["points"]
    page.context.close()
    seen.context.close()
