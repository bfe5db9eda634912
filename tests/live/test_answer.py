"""What the page shows, without a browser: every model and every verdict, the numbers those of ``solve``."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from functools import cache
from importlib.resources import files

import numpy as np
import pytest

import convexcls as cc
from convexcls import gallery
from convexcls.live import answer
from convexcls.live.loading import Unsuitable, first_state, from_gallery, from_table, state_of
from convexcls.live.offers import OFFERS, in_the_plane, menu, solvers_of
from convexcls.live.state import MAX_POINTS, StateError, new_state, read_state

jsonschema = pytest.importorskip("jsonschema")

XOR = [[1, 1, 0], [-1, -1, 0], [1, -1, 1], [-1, 1, 1]]
FRAME = [-6.0, 6.0, -4.0, 4.0]
VERDICTS = {
    "optimal": ("hard-margin", [[0, 0, 0], [-1, 2, 0], [3, 0, 1], [2, -2, 1]]),
    "infeasible": ("hard-margin", XOR),
    "unattained": ("logistic", [[0, 0, 0], [-1, 2, 0], [3, 0, 1], [2, -2, 1]]),
}


@cache
def checker(name: str):
    schema = json.loads(files("convexcls").joinpath("schemas", f"{name}-1.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def sound(name, value):
    """The value as it comes out of JSON, which is what its schema says."""
    found = json.loads(json.dumps(value, allow_nan=False))
    problems = [f"{list(e.absolute_path)}: {e.message[:300]}" for e in checker(name).iter_errors(found)]
    assert not problems, problems
    return found


def state(points, model="hard-margin", **panel):
    classes = ("A", "B", "C")[: max(2, 1 + max(point[2] for point in points))]
    made = new_state(points, classes, ("x1", "x2"), FRAME, model)
    made["panels"][0] |= panel
    return made


def shown(given):
    return sound("picture", answer(sound("state", given)))["panels"][0]


def scattered(n=24, apart=0.0, classes=2, seed=3):
    """Classes around centres that many times 1 apart, on a grid of hundredths."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    centres = np.array([[-1.0, -1.0], [1.0, 1.0], [1.5, -1.5]]) * apart / 2
    places = np.round(rng.normal(size=(n, 2)) + centres[labels], 2)
    return [[float(x), float(y), int(k)] for (x, y), k in zip(places, labels, strict=True)]


# ---- every model, every verdict -------------------------------------------------------------------------


@pytest.mark.parametrize("apart", [0.0, 8.0])
@pytest.mark.parametrize("model", OFFERS)
def test_the_numbers_are_those_of_solve(model, apart):
    given = state(scattered(apart=apart, classes=OFFERS[model].classes), model)
    found = shown(given)
    assert found["refused"] is None
    X = np.array([point[:2] for point in given["points"]])
    y = np.array(["ABC"[point[2]] for point in given["points"]])
    solution = OFFERS[model].declare(X, y, {}).solve()
    assert found["status"] == solution.status
    if solution.status != "optimal":
        assert found["objective"] is None
        return
    assert found["objective"] == solution.objective
    assert found["dual_objective"] == solution.dual_objective
    assert found["gap"] == solution.gap
    relative = {row["name"]: row["relative"] for row in found["residuals"]}
    assert relative == {name: float(value) for name, value in solution.kkt.measures().items()}
    if "margin" in solution.multipliers:
        assert found["discs"]["values"] == solution.multipliers["margin"].tolist()
    if "coef" in solution.problem.layout:
        assert np.array_equal(found["coef"], solution.coef)
    assert " ".join(found["words"]) == " ".join(solution.certificate.explain().split("\n"))


@pytest.mark.parametrize("status", VERDICTS)
def test_every_verdict(status):
    model, points = VERDICTS[status]
    found = shown(state(points, model))
    assert (found["status"], found["certified"]) == (status, True)
    assert found["words"][0].startswith(status.upper())


def test_undecided_says_so():
    found = shown(state(scattered(), "soft-margin", solver="subgradient", path=True))
    assert (found["status"], found["certified"]) == ("undecided", False)
    assert found["way"]["steps"]


def test_an_infeasible_problem_shows_where_the_hulls_meet():
    found = shown(state([[0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, 1]]))
    hulls = found["hulls"]
    assert hulls["meet"]
    assert hulls["ends"] == [[1, 1], [1, 1]]
    assert {w["row"]: w["text"] for w in hulls["weights"]} == {0: "1/2", 1: "1/4", 2: "1/4", 3: "1"}
    assert found["drawn"] is None
    assert {row["row"] for row in found["samples"]["rows"]} == {0, 1, 2, 3}
    assert found["residuals"] == []


def test_an_unattained_likelihood_shows_its_direction():
    found = shown(state(VERDICTS["unattained"][1], "logistic"))
    assert found["infinity"]["ways"]
    normal = np.array(found["runaway"]["normal"])
    X = np.array([point[:2] for point in VERDICTS["unattained"][1]], dtype=float)
    assert (X[2:] @ normal).min() > (X[:2] @ normal).max()  # the way splits the classes
    assert found["runaway"]["lines"]


def test_product_of_slack_and_multiplier_is_zero_in_every_row():
    for model in ("hard-margin", "soft-margin"):
        found = shown(state(scattered(apart=5.0), model))
        titles = ["".join(piece["text"] for piece in c["title"]) for c in found["samples"]["columns"]]
        at = titles.index("product")
        assert all(abs(float(row["cells"][at])) < 1e-9 for row in found["samples"]["rows"])


# ---- what is drawn --------------------------------------------------------------------------------------


def test_the_lines_lie_where_the_score_says():
    given = state(scattered(apart=4.0), "soft-margin")
    found = shown(given)
    coef, intercept = np.array(found["coef"]), found["intercept"]

    def scores(lines):
        return np.array([[np.dot(coef, place) + intercept for place in line] for line in lines])

    assert scores(found["drawn"]["boundary"]) == pytest.approx(0, abs=1e-3)
    below, above = found["drawn"]["slab"]["margins"]
    assert scores(below) == pytest.approx(-1, abs=1e-3)
    assert scores(above) == pytest.approx(1, abs=1e-3)
    for slack in found["drawn"]["slab"]["slack"]:
        x, y, k = given["points"][slack["row"]]
        begin, end = slack["segment"]
        sign = 2 * k - 1
        assert begin == [x, y]
        assert sign * (np.dot(coef, end) + intercept) == pytest.approx(1, abs=1e-3)
        assert sign * (np.dot(coef, begin) + intercept) < 1


@pytest.mark.parametrize("model", ["rbf", "softmax", "gaussian", "hard-margin"])
def test_regions_cover_the_picture_once(model):
    found = shown(state(scattered(apart=6.0, classes=OFFERS[model].classes), model, parameters=_ridge(model)))

    def area(line):
        x, y = np.array(line).T
        return abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2

    parts = [area(part[0]) - sum(map(area, part[1:])) for parts in found["drawn"]["regions"] for part in parts]
    assert sum(parts) == pytest.approx(12 * 8, rel=2e-3)


def _ridge(model):
    return {"l2": 0.5} if model == "softmax" else {}


def test_a_disc_grows_from_zero_as_its_point_crosses_the_margin():
    """Complementary slackness, dragged: far from the slab alpha is 0, inside it it is not."""
    points = [[-2, 0, 0], [-3, 1, 0], [2, 0, 1], [3, 1, 1], [5, 0, 1]]
    alphas = []
    for x in (5.0, 4.0, 1.5, 1.0):
        points[4] = [x, 0, 1]
        alphas.append(shown(state(points))["discs"]["values"][4])
    assert alphas[:2] == [0, 0]
    assert 0 < alphas[2] < alphas[3]


# ---- the way of a solver --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "solver", "l2"),
    [("soft-margin", "interior-point", None), ("logistic", "newton", 0.1), ("logistic", "gradient", 0.1)],
)
def test_the_way_ends_at_the_answer(model, solver, l2):
    given = state(scattered(), model, solver=solver, path=True)
    if l2:
        given["panels"][0]["parameters"]["l2"] = l2
    found = shown(given)
    steps = found["way"]["steps"]
    assert len(steps) >= 3
    assert steps[-1]["objective"] == pytest.approx(found["objective"], rel=1e-6)
    assert steps[0]["objective"] > steps[-1]["objective"]
    last = [step for step in steps if step["dual_objective"] is not None][-1]
    assert last["dual_objective"] == pytest.approx(last["objective"], rel=1e-6)
    end = np.array(steps[-1]["boundary"][0])
    assert np.abs(np.sort(end, axis=0) - np.sort(found["drawn"]["boundary"][0], axis=0)).max() < 0.02


def test_the_perceptron_shows_its_updates():
    found = shown(state(scattered(apart=6.0), "perceptron", solver="perceptron", path=True))
    steps = found["way"]["steps"]
    assert steps[-1]["residual"] == 0  # no sample is misclassified
    assert steps[1]["name"].startswith("update 1, by sample ")
    assert steps[-1]["boundary"]


def test_a_solver_without_a_way_says_so():
    found = shown(state(scattered(apart=6.0), "hard-margin", solver="rational", path=True))
    assert found["way"]["steps"] == []
    assert "rational" in found["way"]["reason"]


@pytest.mark.parametrize("model", OFFERS)
def test_every_solver_that_is_offered_takes_the_model(model):
    from convexcls.solve import accepting

    able = {info.name for info in accepting(OFFERS[model].declare(*_few(), {}), rules=True)}
    assert set(solvers_of(model)) - {"auto"} == {name for name in able if not name.startswith("cvxpy:")}


def _few():
    points = scattered(apart=3.0)
    return [point[:2] for point in points], [point[2] for point in points]


# ---- exact ----------------------------------------------------------------------------------------------


def test_exact_proves_the_decimals_and_gives_files_that_hold(tmp_path):
    given = {**first_state(), "level": "exact"}
    found = shown(given)
    exact = found["exact"]
    assert (exact["proved"], exact["accepted"], exact["reason"]) == (True, True, "")
    assert exact["optimum"] == "100/349"
    for name, text in exact["files"].items():
        (tmp_path / name).write_text(text)
    again = cc.read_table(tmp_path / "data.csv", exact=True).samples("class")
    assert cc.verify(exact["files"]["certificate.json"], again.X, again.y).accepted
    run = subprocess.run([sys.executable, "-c", exact["files"]["picture.py"]], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[1].startswith("OPTIMAL. The optimum of this problem (hard-margin SVM) is 0.28653295")


@pytest.mark.parametrize("name", ["kernel_xor", "xor_soft_margin", "through_the_origin", "twenty_points_least_squares"])
def test_exact_optima_are_those_of_the_gallery(name):
    known, found = gallery.entry(name).known.optimum, shown({**from_gallery(name), "level": "exact"})
    assert found["exact"]["optimum"] == str(known.value)
    assert found["exact"]["accepted"]


def test_the_program_of_classes_out_of_order_has_the_same_answer():
    points = scattered(apart=6.0)
    given = {**state(points), "classes": ["late", "early"], "level": "exact"}
    found, scope = shown(given), {"__name__": "program"}
    exec(found["exact"]["files"]["picture.py"], scope)
    assert np.allclose(scope["solution"].coef, found["coef"], rtol=1e-9)


# ---- loading --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", in_the_plane())
def test_problems_of_the_gallery_keep_their_verdict(name):
    known = gallery.entry(name).known
    rounded = gallery.load(name).data.exact_matrix is not None  # a drag speaks of doubles, "Prove exactly" of decimals
    found = shown({**from_gallery(name), "level": "exact" if rounded else "float"})
    assert found["status"] == known.verdict
    if known.verdict == "optimal":  # of an unattained problem the infimum is known, which no point has
        assert found["objective"] == pytest.approx(float(known.optimum), rel=1e-7, abs=1e-9)


def test_problems_that_are_none_of_the_plane_are_refused_with_a_remedy():
    with pytest.raises(Unsuitable, match=r"4 feature\(s\).*name two"):
        state_of(cc.load("spector") if cc.load("spector").data.d == 4 else cc.HardMarginSVM(np.eye(4), [0, 0, 1, 1]))
    with pytest.raises(Unsuitable, match="weights"):
        state_of(cc.LogisticMLE([[0, 1], [1, 0], [2, 2]], [0, 1, 0], sample_weight=[1, 2, 1]))
    with pytest.raises(Unsuitable, match="no classes"):
        state_of(cc.LeastSquares([[0, 1], [1, 0], [2, 2]], [0.5, 1, 2], coding="real"))
    with pytest.raises(Unsuitable, match="no feature 'z'"):
        state_of(cc.HardMarginSVM(np.eye(4), [0, 0, 1, 1]), ("x1", "z"))
    chosen = state_of(cc.HardMarginSVM(np.eye(4), [0, 0, 1, 1]), ("x2", "x4"))
    assert chosen["features"] == ["x2", "x4"]
    assert chosen["points"] == [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]]


def test_a_table_with_two_chosen_columns():
    text = "name,a,b,c,kind\nu,1,5,2,x\nv,2,6,1,y\nw,3,7,0,x\n"
    found = from_table(text, "soft-margin")
    assert found["numeric"] == ["a", "b", "c"]
    assert found["state"]["points"] == [[1, 5, 0], [2, 6, 1], [3, 7, 0]]
    sound("state", found["state"])
    other = from_table(text, "soft-margin", ["c", "a"])["state"]
    assert other["points"] == [[2, 1, 0], [1, 2, 1], [0, 3, 0]]
    three = from_table("a,b,k\n1,2,p\n2,3,q\n3,1,r\n", "hard-margin")["state"]
    assert three["panels"][0]["model"] == "softmax"
    for bad, words in {
        "a,k\n1,p\n2,q\n": "two columns of numbers",
        "a,b,k\n1,2,p\n2,3,p\n": "1 labels",
        "a,b,k\n1,2\n": "line|row|cells",
        "": "empty|header|no",
    }.items():
        with pytest.raises(Unsuitable, match=words):
            from_table(bad, "hard-margin")


def test_a_large_table_is_refused_with_its_size():
    text = "a,b,k\n" + "".join(f"{i},{i * i % 7},{i % 2}\n" for i in range(MAX_POINTS + 1))
    with pytest.raises(Unsuitable, match=f"501 samples.*at most {MAX_POINTS}"):
        from_table(text, "soft-margin")


# ---- states that are none -------------------------------------------------------------------------------

BAD = {
    "schema": "convexcls-state/9",
    "points": [[0, 0]],
    "classes": ["A", "A"],
    "features": ["x"],
    "frame": [1, 0, 0, 1],
    "panels": [],
    "level": "rigorous",
    "moving": 1,
    "other": 1,
}


@pytest.mark.parametrize("field", BAD)
def test_a_bad_field_is_named(field):
    given = {**first_state(), field: BAD[field]}
    with pytest.raises(StateError, match=field):
        answer(given)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points": [[float("nan"), 0, 0]]}, r"points\[0\]\[0\] is nan"),
        ({"points": [[1e300, 0, 0]]}, r"points\[0\]\[0\]"),
        ({"points": [["1", 0, 0]]}, r"points\[0\]\[0\]"),
        ({"points": [[0, 0, 2]]}, r"points\[0\]\[2\] is 2"),
        ({"points": [[0, 0, True]]}, r"points\[0\]\[2\]"),
        ({"points": [[0, 0, 0]] * (MAX_POINTS + 1)}, "points has 501"),
        ({"points": {"a": 1}}, "points is"),
        ({"classes": ["A", "x" * 61]}, r"classes\[1\]"),
        ({"panels": [{"model": "soft-margn"}]}, "did you mean 'soft-margin'"),
        ({"panels": [{"model": "logistic", "solver": "smo"}]}, "smo.*these take it"),
        ({"panels": [{"model": "logistic", "parameters": {"C": 1}}]}, "parameters has the field 'C'"),
        ({"panels": [{"model": "soft-margin", "parameters": {"C": None}}]}, "C is None"),
        ({"panels": [{"model": "soft-margin", "parameters": {"intercept": 1}}]}, "intercept is 1"),
        ({"panels": [{"model": "hard-margin"}] * 3}, "panels has 3"),
    ],
)
def test_what_is_wrong_is_said(change, words):
    with pytest.raises(StateError, match=words):
        read_state({**first_state(), **change})


def test_a_huge_whole_number_is_refused_without_writing_it_out():
    with pytest.raises(StateError, match="a huge number"):
        read_state({**first_state(), "points": [[10**5000, 0, 0]]})


@pytest.mark.parametrize("points", [[], [[0, 0, 0]], [[0, 0, 0], [1, 1, 0]]])
def test_points_that_no_model_takes_are_refused_in_words(points):
    given = {**first_state(), "points": points}
    found = shown(given)
    assert found["refused"]
    assert "status" not in found


@pytest.mark.parametrize("value", [-1, 0])
def test_a_parameter_that_a_model_refuses_is_told(value):
    found = shown(state(scattered(), "soft-margin", parameters={"C": value}))
    assert "C is" in found["refused"]


def test_a_state_is_not_changed():
    given = first_state("soft-margin")
    before = copy.deepcopy(given)
    answer(given)
    assert given == before


def test_two_models_side_by_side():
    given = state(scattered())
    given["panels"] = [{"model": "logistic"}, {"model": "rbf", "parameters": {"C": 10.0, "gamma": 2.0}}]
    panels = sound("picture", answer(sound("state", given)))["panels"]
    assert [panel["model"] for panel in panels] == ["logistic", "rbf"]


def test_the_hard_margin_of_a_kernel_is_the_end_of_the_slider():
    found = shown(state(XOR, "rbf", parameters={"C": None, "gamma": 1.0}))
    assert found["status"] == "optimal"
    assert found["discs"]["bound"] is None


def test_the_menu_is_plain_json():
    made = json.loads(json.dumps(menu(), allow_nan=False))
    assert set(made["models"]) == set(OFFERS)
    assert "twenty_points" in made["gallery"]


def test_hostile_names_are_only_text():
    given = {**state(scattered()), "classes": ["<img src=x onerror=alert(1)>", "</script>"], "features": ["<b>", "$x$"]}
    found = shown(given)
    assert all("<" not in name for name in _names(found["formulas"]))


def _names(node):
    """The names of the elements of all formulas."""
    if isinstance(node, dict):
        for value in node.values():
            yield from _names(value)
    elif isinstance(node, list) and len(node) > 1 and isinstance(node[0], str) and isinstance(node[1], dict):
        yield node[0]
        for child in node[2:]:
            yield from _names(child)
    elif isinstance(node, list):
        for child in node:
            yield from _names(child)
