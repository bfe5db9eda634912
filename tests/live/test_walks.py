"""The recorded walks of the documentation: what they show is true, and the page replays them from a file."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("sphinx", reason="sphinx is not installed: the site cannot be built")
walks = pytest.importorskip("walks")


def alphas(record):
    row = record["row"]
    return [frame["answer"]["panels"][0]["discs"]["values"][row] for frame in record["frames"]]


def statuses(record):
    return [frame["answer"]["panels"][0]["status"] for frame in record["frames"]]


def test_a_dozen():
    assert len(walks.WALKS) == 12


def test_the_multiplier_rises_from_zero_at_the_margin():
    found = alphas(walks.WALKS["across-the-margin"].record())
    first = next(k for k, value in enumerate(found) if value > 0)
    assert 3 < first < len(found) - 3
    assert all(value == 0 for value in found[:first])
    assert all(value > 0 for value in found[first:])


def test_the_hulls_meet_and_stay_together():
    found = statuses(walks.WALKS["into-the-other-class"].record())
    k = found.index("infeasible")
    assert k > 0
    assert set(found[:k]) == {"optimal"}
    assert set(found[k:]) == {"infeasible"}


def test_a_soft_margin_pulls_with_at_most_c():
    found = alphas(walks.WALKS["an-outlier-and-the-soft-margin"].record())
    assert max(found) == pytest.approx(1.0, abs=1e-12)


def test_a_likelihood_loses_its_maximum():
    found = statuses(walks.WALKS["the-likelihood-runs-away"].record())
    assert found[0] == "optimal"
    assert found[-1] == "unattained"


@pytest.mark.parametrize("name", walks.WALKS)
def test_every_frame_is_decided(name):
    record = walks.WALKS[name].record()
    assert all(frame["answer"]["panels"][0]["certified"] for frame in record["frames"])
    assert len(json.dumps(record)) < 700_000


def test_a_page_replays_a_walk_from_a_file(browser, tmp_path):
    page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
    errors, asked = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    file = tmp_path / "walk.html"
    text = walks.script() + walks.walk("across-the-margin") + walks.walk("three-classes")
    file.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body>{text}</body>', encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(".badge")
    assert page.locator("svg.plot").count() == 2
    disc = page.locator("g.discs circle[data-row='9']")
    assert disc.count() == 0
    page.get_by_label("place on the walk").first.focus()
    page.keyboard.press("End")
    assert disc.count() == 1
    assert page.locator(".point[role=button]").count() == 0  # nothing can be moved here
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert errors == []
    assert asked == [file.as_uri()]
    page.context.close()
