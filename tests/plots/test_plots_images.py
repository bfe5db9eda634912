"""Pictures against what they looked like: a coarse image in shades of grey, without text, so that it is the same
everywhere. Every test is shown to fail on a picture that lacks something.

After a change that is meant: ``CONVEXCLS_NEW_PICTURES=1 pytest tests/plots``, then look at the pictures.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import convexcls as cc
from convexcls import plots

BASELINE = Path(__file__).parents[1] / "files" / "pictures.json"
ACROSS, DOWN, CELL = 30, 20, 12
#: The largest difference of a cell, of 255, that other versions of the drawing library may make.
TOLERANCE = 12


def clouds():
    rng = np.random.default_rng(1)
    return np.vstack([rng.normal(size=(40, 2)), rng.normal((2, 1), size=(40, 2))]), np.repeat(["a", "b"], 40)


def soft():
    return cc.SoftMarginSVM(*clouds(), C=1.0).solve()


def twenty(solver="auto", name="", **options):
    return cc.load(f"twenty_points{name}").solve(solver, **options)


def figure_4_14():
    perceptrons = [twenty("perceptron", "_perceptron", **start) for start in ({}, {"random_start": True, "seed": 3})]
    return plots.BoundaryDisplay.of_several([twenty(name="_least_squares"), *perceptrons])


def comparison():
    rows = [cc.compare(cc.load("soft_margin"), ["interior-point", "osqp"])]
    display = plots.AnswersDisplay.of(rows[0])
    display.distances = np.array([0.0, 1e-12])  # rounding differs from machine to machine
    return display


def convergence():
    """Of steps that are made up: a picture must not hang on those of a solver, nor on what rounding leaves."""
    s = cc.LogisticMLE(*clouds()).solve()
    objectives = [s.objective + gap for gap in (20.0, 2.0, 0.2, 3e-3, 1e-6)]
    trace = tuple(replace(s.trace[0], iteration=k, objective=value) for k, value in enumerate(objectives))
    return plots.ConvergenceDisplay.of(replace(s, trace=trace), measures=["gap"])


def path():
    data = cc.load("heart_scale").data
    return plots.PathDisplay.of(cc.path(cc.SoftMarginSVM, data.matrix, data.given, C=[0.001, 0.01, 0.1, 1.0]))


def ways():
    """Newton's method and gradient descent, worked out here: a picture must not hang on the steps of a solver."""
    problem = cc.LogisticMLE(*clouds(), intercept=False)
    newton = [[-2.0, 2.0], [1.0, -1.0], [0.5, 0.5], [0.93, 0.8]]
    gradient = [[-2.0, 2.0], [0.0, 2.5], [1.5, 1.5], [0.93, 0.8]]
    return plots.DescentDisplay.of_paths(
        problem, {"Newton": newton, "gradient": gradient}, frame=(-3.0, 3.0, -2.0, 3.5)
    )


def scaled():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = clouds()
    fitted = make_pipeline(StandardScaler(), cc.SoftMarginSVC(C=1.0)).fit(X * [1.0, 10.0], y)
    return plots.BoundaryDisplay.of_pipeline(fitted, X * [1.0, 10.0], y)


def without(name, value):
    def mutate(display):
        setattr(display, name, value(display) if callable(value) else value)

    return mutate


def fewer_points(display):
    keep = display.points.rows[:-15]
    object.__setattr__(display.points, "places", display.points.places[:-15])
    object.__setattr__(display.points, "classes", display.points.classes[:-15])
    object.__setattr__(display.points, "rows", keep)
    for name in ("support", "mistakes"):
        rows = getattr(display.points, name)
        seen = np.isin(rows, keep)
        object.__setattr__(display.points, name, rows[seen])
        if name == "support" and rows.size:
            object.__setattr__(display.points, "alpha", display.points.alpha[seen])


#: Picture, and ways to spoil it: each must be seen.
PICTURES = {
    "boundary": (
        lambda: plots.BoundaryDisplay.of(twenty()),
        [
            without("slab", None),
            without("boundaries", ([],)),
            without("margins", ([], [])),
            fewer_points,
        ],
    ),
    "boundary_soft": (lambda: plots.BoundaryDisplay.of(soft()), [without("slack", np.empty((0, 2, 2))), fewer_points]),
    "boundary_kernel": (
        lambda: plots.BoundaryDisplay.of(cc.load("kernel_xor").solve()),
        [
            without("boundaries", ([],)),
            without("margins", ([], [])),
        ],
    ),
    "boundary_circle": (lambda: plots.BoundaryDisplay.of(cc.load("circle").solve()), [without("boundaries", ([],))]),
    "figure_4_14": (figure_4_14, [without("boundaries", lambda d: (d.boundaries[0], d.boundaries[1], []))]),
    "figure_4_16": (
        lambda: plots.BoundaryDisplay.of_several([twenty(), cc.LogisticMLE(*_xy()).solve()]),
        [without("boundaries", lambda d: (d.boundaries[0], [])), without("slab", None)],
    ),
    "hulls": (
        lambda: plots.HullsDisplay.of(twenty()),
        [
            without("hulls", lambda d: (d.hulls[0], d.hulls[1][:1])),
            without("nearest", lambda d: d.nearest - 1.5),
        ],
    ),
    "hulls_meet": (
        lambda: plots.HullsDisplay.of(cc.load("xor_hard_margin").solve()),
        [
            without("nearest", lambda d: d.nearest + 9),
            without("hulls", lambda d: (d.hulls[0], d.hulls[1][:1])),
        ],
    ),
    "losses": (
        plots.LossesDisplay.of_losses,
        [
            without("values", lambda d, k=k: {n: v for n, v in d.values.items() if n != k})
            for k in ("hinge", "squared", "zero-one", "logistic")
        ],
    ),
    "slice": (
        lambda: plots.LossSliceDisplay.of(soft()),
        [
            without("values", lambda d: dict(list(d.values.items())[:2])),
        ],
    ),
    "multipliers": (
        lambda: plots.MultipliersDisplay.of(soft()),
        [
            without("alpha", lambda d: d.alpha[::-1]),
            without("box", None),
        ],
    ),
    "slackness": (
        lambda: plots.SlacknessDisplay.of(soft()),
        [
            without("multiplier", lambda d: {k: v + 0.2 for k, v in d.multiplier.items()}),
        ],
    ),
    "convergence": (convergence, [without("measures", ("residual",))]),
    "path": (path, [without("coef", lambda d: -d.coef)]),
    "trajectory": (
        lambda: plots.TrajectoryDisplay.of(twenty("perceptron", "_perceptron")),
        [
            without("chosen", lambda d: d.chosen[:-1]),
        ],
    ),
    "projection": (
        lambda: plots.ProjectionDisplay.of(cc.FisherLDA(*clouds()).solve()),
        [
            without("threshold", None),
            without("counts", lambda d: d.counts[::-1]),
        ],
    ),
    "probability": (
        lambda: plots.ProbabilityDisplay.of(cc.LogisticMLE(*clouds()).solve()),
        [
            without("field", lambda d: type(d.field)(d.field.u, d.field.v, 1 - d.field.values)),
        ],
    ),
    "sigmoid": (
        lambda: plots.SigmoidDisplay.of(cc.LogisticMLE(*clouds()).solve(), threshold=0.7),
        [without("cut", 0.0), without("threshold", 0.3), without("scores", lambda d: -d.scores)],
    ),
    "hyperplane": (
        lambda: plots.HyperplaneDisplay.of(twenty()),
        [
            without("intercept", lambda d: d.intercept + 1.0),
            without("feet", lambda d: d.feet - 2.0),
            without("coef", lambda d: 2.0 * d.coef),
        ],
    ),
    "surface_margin": (
        lambda: plots.SurfaceDisplay.of(soft(), show="margin", label="a"),
        [without("boundary", []), fewer_points],
    ),
    "surface_hinge": (
        lambda: plots.SurfaceDisplay.of(soft()),
        [without("field", lambda d: type(d.field)(d.field.u, d.field.v, d.field.values[::-1]))],
    ),
    "ellipses": (
        lambda: plots.EllipsesDisplay.of(cc.GaussianMLE(*clouds(), covariance="by-class").solve()),
        [
            without("ellipses", lambda d: (d.ellipses[0], d.ellipses[1][:1])),
            without("means", lambda d: d.means + 1.0),
            without("boundaries", []),
        ],
    ),
    "mistakes": (
        lambda: plots.MistakesDisplay.of(soft(), direction=[1.0, 0.0, 0.0]),
        [
            without("excess", 0.0),
            without("losses", lambda d: d.losses + 9.0),
            without("counts", lambda d: d.counts - 9),
        ],
    ),
    "descent": (
        ways,
        [
            without("paths", lambda d: {"Newton": d.paths["Newton"]}),
            without("heights", lambda d: d.heights[::-1]),
            without("end", lambda d: d.end - 1.0),
        ],
    ),
    "pipeline": (scaled, [without("boundaries", ([],)), without("margins", ([], [])), fewer_points]),
    "projection_means": (
        lambda: plots.ProjectionDisplay.of(cc.FisherLDA(*clouds()).solve(), direction="means"),
        [without("threshold", None)],
    ),
    "answers": (comparison, [without("distances", lambda d: d.distances + 1e-6), without("tol", 1e-17)]),
}


def _xy():
    data = cc.load("twenty_points").data
    return data.matrix, data.given


def seen(display):
    """The picture in so many cells, each its mean shade of grey."""
    figure = Figure(figsize=(ACROSS * CELL / 120, DOWN * CELL / 120), dpi=120)  # small: lines are broad beside cells
    canvas = FigureCanvasAgg(figure)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    display.plot(ax, title=False, legend=False)
    ax.set_axis_off()
    ax.set_aspect("auto")
    for text in ax.texts:
        text.set_visible(False)
    canvas.draw()
    shades = np.asarray(canvas.buffer_rgba())[:, :, :3] @ np.array([0.299, 0.587, 0.114])
    return np.round(shades.reshape(DOWN, CELL, ACROSS, CELL).mean(axis=(1, 3))).astype(int)


def difference(first, second):
    return int(np.abs(first - second).max())


@pytest.fixture(scope="module")
def baseline():
    if os.environ.get("CONVEXCLS_NEW_PICTURES") == "1":
        drawn = {name: bytes(seen(make()).astype(np.uint8).ravel()).hex() for name, (make, _) in PICTURES.items()}
        BASELINE.write_text(json.dumps(drawn, indent=0) + "\n", encoding="utf-8")
    stored = json.loads(BASELINE.read_text(encoding="utf-8"))
    return {k: np.frombuffer(bytes.fromhex(v), dtype=np.uint8).reshape(DOWN, ACROSS) * 1 for k, v in stored.items()}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_looks_as_it_did_and_a_spoilt_one_does_not(name, baseline):
    make, mutations = PICTURES[name]
    known = baseline[name].astype(int)
    assert difference(seen(make()), known) <= TOLERANCE
    for mutate in mutations:
        display = make()
        mutate(display)
        assert difference(seen(display), known) > TOLERANCE


def test_every_picture_has_a_baseline_and_no_other_has(baseline):
    assert baseline.keys() == PICTURES.keys()
