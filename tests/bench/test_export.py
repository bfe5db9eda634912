"""The gallery in the formats of solvers: read back by a reader that is not ours, its optimum is the one beside it."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest
from click.testing import CliRunner

from convexcls import gallery
from convexcls.bench.export import export_gallery
from convexcls.bench.formats import FORMATS, takes
from convexcls.cli import main

ENTRIES = {name: gallery.entry(name) for name in gallery.entries()}
LINEAR = [name for name, e in ENTRIES.items() if takes(e.problem, "mps")]
#: HiGHS's method for quadratic programs is made for scales near one.
QUADRATIC = [
    *("two_points", "three_four_five_hard_margin", "soft_margin", "soft_margin_weighted", "squared_hinge", "ridge"),
    *("twenty_points", "kernel_at_bound", "xor_hard_margin", "xor_soft_margin", "absolute_outlier"),
]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gallery")
    return folder, {form: export_gallery(folder, form) for form in FORMATS}


def by_highs(path, tmp_path):
    """Status and optimum, by the reader and the solver of HiGHS."""
    highspy = pytest.importorskip("highspy")
    same = tmp_path / f"{path.stem}.mps"  # HiGHS goes by the ending
    same.write_bytes(path.read_bytes())
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("qp_regularization_value", 1e-10)
    assert model.readModel(str(same)) == highspy.HighsStatus.kOk
    model.run()
    return model.modelStatusToString(model.getModelStatus()), model.getInfo().objective_function_value


@pytest.mark.parametrize(("name", "form"), [*((n, "mps") for n in LINEAR), *((n, "qps") for n in QUADRATIC)])
def test_highs_reads_it_back_and_finds_the_optimum_beside_it(exported, name, form, tmp_path):
    folder, _ = exported
    answer = json.loads((folder / f"{name}.answer.json").read_text())
    status, optimum = by_highs(folder / f"{name}.{form}", tmp_path)
    if answer["verdict"] == "infeasible":
        assert status == "Infeasible"
        return
    assert status == "Optimal"
    sign = -1 if answer["reported"] == "maximum" else 1
    assert sign * optimum == pytest.approx(answer["optimum_as_double"], rel=1e-6, abs=1e-7)


def test_each_format_has_what_it_can_state(exported):
    folder, names = exported
    assert names["npz"] == names["json"] == gallery.entries()
    assert set(names["mps"]) < set(names["qps"]) < set(names["npz"])
    assert "logistic_table" not in names["qps"]
    assert {path.name for path in folder.glob("*.answer.json")} == {f"{name}.answer.json" for name in ENTRIES}


@pytest.mark.parametrize("name", ["two_points", "logistic_table", "three_four_five_max_margin", "kernel_xor", "fisher"])
def test_arrays_and_json_state_the_problem(exported, name):
    """The objective at a point, worked out of the file, is that of the problem; so are the rows."""
    folder, _ = exported
    problem = ENTRIES[name].problem
    with np.load(folder / f"{name}.npz") as arrays:
        kept = dict(arrays)
    said = json.loads((folder / f"{name}.json").read_text())
    x = np.random.default_rng(1).normal(size=problem.size)
    value = x @ kept["P"] @ x / 2 + kept["q"] @ x + kept["constant"]
    for t in problem.terms:
        u = kept[f"term.{t.name}.M"] @ x + kept[f"term.{t.name}.t"]
        assert str(kept[f"term.{t.name}.loss"]) == t.loss.name
        value += kept[f"term.{t.name}.weights"] @ t.loss.value(u)
    assert value == pytest.approx(problem.minimised(x), rel=1e-12)
    for relation, rows, side in (("==", "A", "b"), ("<=", "G", "h")):
        own = [c for c in said["constraints"] if c["relation"] == relation]
        assert np.array_equal(kept[rows], np.vstack([np.zeros((0, x.size)), *(c["rows"] for c in own)]))
        assert kept[side].tolist() == [value for c in own for value in c["rhs"]]
        blocks = [problem.rows(c) @ x for c in problem.constraints if c.relation == relation]
        assert kept[rows] @ x == pytest.approx(np.concatenate([np.zeros(0), *blocks]))
    assert np.array_equal(kept["P"], said["P"])
    assert [v["name"] for v in said["variables"]] == [v.name for v in problem.variables]
    for bound in said["norm_bounds"]:
        (own,) = (b for b in problem.norm_bounds if b.name == bound["name"])
        assert np.array(bound["E"]) @ x + bound["e"] == pytest.approx(problem.rows(own) @ x + own.offset)


def test_programs_and_answers_are_what_their_schemas_say(exported):
    jsonschema = pytest.importorskip("jsonschema")
    folder, _ = exported
    for name in ENTRIES:
        for ending in ("json", "answer.json"):
            found = json.loads((folder / f"{name}.{ending}").read_text())
            file = found["schema"].removeprefix("convexcls-").replace("/", "-") + ".json"
            schema = json.loads(files("convexcls").joinpath("schemas", file).read_text())
            assert list(jsonschema.Draft202012Validator(schema).iter_errors(found)) == []


def test_the_command_writes_a_folder(tmp_path):
    target = tmp_path / "new" / "folder"
    args = ["gallery", "export", str(target), "--format", "qps", "-p", "two_points", "-p", "logistic_table"]
    run = CliRunner().invoke(main, args)
    assert run.exit_code == 0, run.output
    assert "1 problem written" in run.stderr
    assert sorted(p.name for p in target.iterdir()) == ["two_points.answer.json", "two_points.qps"]
    assert CliRunner().invoke(main, ["gallery", "export", str(target), "-p", "two_pionts"]).exit_code == 2
    with pytest.raises(ValueError, match="format is 'lp'"):
        export_gallery(tmp_path, "lp")
