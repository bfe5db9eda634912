"""Boundaries of many samples: their density, with the few that matter on it."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import convexcls as cc
from convexcls.plots import BoundaryDisplay, style
from convexcls.plots.density import FEWEST, RARE
from convexcls.plots.display import Picture
from convexcls.plots.tooltips import svg


def clouds(n, rare=0):
    rng = np.random.default_rng(3)
    classes = (np.arange(n) % 3 == 0).astype(int)
    classes[:rare] = 2
    return rng.normal(size=(n, 2)) + 3.0 * np.array([[0, 0], [1, 1], [3, -3]])[classes], np.array(["a", "b", "few"])[
        classes
    ]


@pytest.fixture(scope="module")
def half_a_million():
    return cc.SoftMarginSVM(*clouds(500_000), C=0.01).solve()


def test_half_a_million_samples_are_a_small_picture_of_their_density(half_a_million):
    display = BoundaryDisplay.of(half_a_million)
    X, y = clouds(500_000)
    (across, up), counts = display.points.density.edges, display.points.density.counts
    assert counts.sum(axis=(1, 2)).tolist() == [np.sum(y == "a"), np.sum(y == "b")]  # every sample, once
    j, i = 60, 45  # one cell by counting
    inside = (X[:, 0] >= across[j]) & (X[:, 0] < across[j + 1]) & (X[:, 1] >= up[i]) & (X[:, 1] < up[i + 1])
    assert counts[:, i, j].tolist() == [np.sum(inside & (y == "a")), np.sum(inside & (y == "b"))]
    assert inside.any()
    text = svg(Picture.of(display).figure())
    assert len(text) < 150_000
    assert text.count("<use") < 200  # no ring, no cross, no sample
    assert "drawn by their density" in display.describe()


def test_the_legend_has_the_numbers_of_what_is_not_marked(half_a_million):
    display = BoundaryDisplay.of(half_a_million).plot(Figure().subplots())
    words = [text.get_text().replace(style.NO_BREAK, " ") for text in display.ax_.get_legend().get_texts()]
    assert f"support points: {half_a_million.support.size:,}" in words
    assert any(word.startswith("misclassified: ") for word in words)
    assert "a (333,333)" in words


def test_colours_mix_the_classes_and_deepen_with_the_number():
    density = BoundaryDisplay.of(cc.LogisticMLE(*clouds(FEWEST)).solve()).points.density
    colours, total = density.colours(), density.counts.sum(axis=0)
    only = (density.counts[0] > 0) & (density.counts[1] == 0)
    assert np.allclose(colours[only][:, :3], style.rgb(0))
    assert np.all(colours[total == 0][:, 3] == 0)
    order = np.argsort(total, axis=None)
    assert np.all(np.diff(colours[..., 3].ravel()[order]) >= 0)
    assert colours[..., 3].max() == 1


def test_support_points_are_marked_where_they_are_few_and_rare_classes_are_drawn():
    X, y = clouds(FEWEST, rare=RARE)
    shown = BoundaryDisplay.of(cc.HardMarginSVM(X, y == "few").solve()).points
    assert np.isin(shown.support, shown.rows).all()
    assert 0 < shown.support.size <= shown.rows.size < 2 * RARE
    three = BoundaryDisplay.of(cc.SoftmaxMLE(X, y, l2=1.0).solve()).points
    assert set(np.flatnonzero(y == "few")) <= set(three.rows)
    assert BoundaryDisplay.of(cc.LogisticMLE(*clouds(FEWEST - 1)).solve()).points.density is None


def test_one_feature_has_a_band_a_class():
    X, y = clouds(FEWEST)
    display = BoundaryDisplay.of(cc.LogisticMLE(X[:, :1], y).solve())
    counts = display.points.density.counts
    assert counts.shape[1] == 3  # a band, what is between, a band
    assert counts[0, 0].sum() == np.sum(y == "a")
    assert counts[1, 2].sum() == np.sum(y == "b")
    assert counts[:, 1].sum() == 0


# ---- what marks say -----------------------------------------------------------------------------------------------


def titles(display):
    text = svg(Picture.of(display).figure())
    root = ElementTree.fromstring(text)
    return [node.text for node in root.iter("{http://www.w3.org/2000/svg}title")]


def test_marks_tell_their_row_and_multiplier():
    s = cc.load("twenty_points").solve()
    found = titles(BoundaryDisplay.of(s))
    for row in range(20):
        held = f", α = {s.multipliers['margin'][row]:.4g}" if row in s.support else ""
        assert f"row {row}: {s.problem.data.given[row]}{held}" in found
    bars = titles(cc.plots.MultipliersDisplay.of(s))
    assert bars == [
        f"row {row}: α = {s.multipliers['margin'][row]:.4g}"
        for row in sorted(range(20), key=lambda r: (s.problem.data.classes[r], r))
    ]
    assert len(titles(cc.plots.SlacknessDisplay.of(s))) == 20


def test_every_mark_tells_its_own_place():
    X, y = [[0.0, 0.0], [5.0, 1.0], [1.0, 7.0], [9.0, 8.0]], ["a", "a", "b", "b"]
    root = ElementTree.fromstring(svg(Picture.of(BoundaryDisplay.of(cc.SoftMarginSVM(X, y, C=5.0).solve())).figure()))
    name = "{http://www.w3.org/2000/svg}"
    places = {}
    for mark in root.iter(f"{name}use"):
        if (title := mark.find(f"{name}title")) is not None and "support" not in title.text:
            places[int(title.text.split(":")[0].removeprefix("row "))] = float(mark.get("x")), float(mark.get("y"))
    across, down = np.array([places[k] for k in range(4)]).T
    assert list(np.argsort(across)) == list(np.argsort([x for x, _ in X]))
    assert list(np.argsort(-down)) == list(np.argsort([z for _, z in X]))


def test_names_of_labels_are_text_and_many_marks_have_none():
    X = [[0.0, 0.0], [5.0, 1.0], [1.0, 7.0], [9.0, 8.0]]
    evil = "<script>alert(1)</script>\x00&"
    assert f"row 0: {evil}".replace("\x00", " ") in [
        t.partition(",")[0] for t in titles(BoundaryDisplay.of(cc.SoftMarginSVM(X, [evil, evil, "b", "b"]).solve()))
    ]
    assert "<title" not in svg(Figure())
