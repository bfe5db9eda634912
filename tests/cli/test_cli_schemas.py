"""Every ``--json`` and every file carries its schema, and is what the schema of that name says."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import convexcls as cc
from convexcls import gallery
from convexcls.cli import main

jsonschema = pytest.importorskip("jsonschema")
HERE = Path(__file__).parents[2]
SCHEMAS = sorted((HERE / "convexcls" / "schemas").glob("*.json"))


@cache
def checker(schema: str) -> Any:
    """What validates by the schema that is shipped under this name."""
    name = schema.removeprefix("convexcls-").replace("/", "-") + ".json"
    found = json.loads(files("convexcls").joinpath("schemas", name).read_text())
    assert found["title"] == schema
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def sound(text: str) -> Any:
    """The object of a text, which is what its schema says."""
    found = json.loads(text)
    problems = [f"{list(e.absolute_path)}: {e.message[:300]}" for e in checker(found["schema"]).iter_errors(found)]
    assert not problems, problems
    return found


def run(*args: str) -> str:
    result = CliRunner().invoke(main, [*args])
    assert result.exit_code in (0, 1), result.output
    return result.stdout


# ---- every command ------------------------------------------------------------------------------------------------

TABLE = "dose,sex,sick\n1,f,no\n2,m,yes\n3,f,no\n4,f,yes\n,m,yes\n6,m,no\n"
THREE = "u,v,kind\n" + "".join(f"{k % 5},{k * k % 7},{'abc'[k % 3]}\n" for k in range(15))
COMMANDS = {
    "solve": [
        ["heart_scale"],
        ["twenty_points", "--level", "exact"],
        ["spector", "--level", "exact"],
        ["ridge", "--level", "rigorous"],
        ["fisher_three_classes"],
        ["gaussian_by_class"],
        ["circle"],
        ["xor_perceptron", "--solver", "perceptron"],
        ["heart_scale", "--solver", "osqp", "--option", "max_iter=1"],
        ["three.csv", "-m", "gaussian", "-p", "covariance=by-class"],
        ["three.csv", "-m", "softmax", "-p", "l2=1", "--level", "rigorous"],
    ],
    "compare": [["xor_hard_margin", "-s", "clarabel"], ["softmax_table"]],
    "path": [
        ["heart_scale", "--over", "C=0.1,1"],
        ["logistic_separated", "--over", "l2=0,1"],
        ["softmax_table", "--over", "l2=1,2"],
    ],
    "summary": [["spector"], ["nist_norris"], ["softmax_table"]],
    "validate": [["spector"], ["two_points"], ["nist_norris"], ["softmax_table"]],
    "referee": [["osqp", "auto", "-p", "two_points", "-p", "infeasible/hard-margin/xor-1"]],
    "separability": [["xor_hard_margin"], ["twenty_points"], ["softmax_touching"], ["touching_classes_perceptron"]],
    "check": [["two_points", "--point", "point.json"], ["two_points", "--point", "point.json", "--level", "exact"]],
    "evaluate": [["model.json", "table.csv"], ["three.json", "three.csv"]],
    "verify": [["proof.json", "table.csv"], ["proof.json", "other.csv"]],
    "problems": [[]],
    "solvers": [[], ["osqp"], ["dual:clarabel"]],
    "models": [[], ["softmax"]],
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("schemas"))
        Path("table.csv").write_text(TABLE)
        Path("other.csv").write_text(TABLE.replace("6,m,no", "6,m,yes"))
        Path("three.csv").write_text(THREE)
        Path("point.json").write_text('{"coef": [0, "1/2"], "intercept": 0}')
        how = ("-m", "logistic", "-p", "l2=1", "--missing", "indicator", "-o", "model.json")
        run("fit", "table.csv", *how, "--certificate", "proof.json")
        run("fit", "three.csv", "-m", "softmax", "-p", "l2=1", "-o", "three.json")
        yield


def test_every_command_with_json_is_here():
    with_json = {
        name for name, command in main.commands.items() if any("--json" in p.opts for p in command.params)
    }  # fmt: skip
    assert with_json == set(COMMANDS)
    assert all(isinstance(command, click.Command) for command in main.commands.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_prints_is_what_its_schema_says(command):
    for args in COMMANDS[command]:
        found = sound(run(command, *args, "--json"))
        for name in found.keys() & checker(found["schema"]).schema["required"]:
            assert list(checker(found["schema"]).iter_errors({k: v for k, v in found.items() if k != name})), name
        assert list(checker(found["schema"]).iter_errors({**found, "other": 1}))


@pytest.mark.parametrize("name", gallery.entries())
def test_every_answer_of_the_gallery(name):
    sound(run("solve", name, "--json"))


# ---- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two_points", "circle", "kernel_xor", "fisher", "gaussian_by_class", "softmax_table"])
def test_model_files(name, tmp_path):
    cc.load(name).solve().save(tmp_path / "model.json")
    found = sound((tmp_path / "model.json").read_text())
    spoilt = copy.deepcopy(found)
    spoilt["scores"]["form"] = "cubic"
    assert list(checker(found["schema"]).iter_errors(spoilt))


def test_a_model_of_a_table_and_its_certificate():
    assert sound(Path("model.json").read_text())["coding"]["columns"]["sex"][0] == "levels"
    assert sound(Path("proof.json").read_text())["coding"]["missing"] == "indicator"


@pytest.mark.parametrize("level", ["float", "rigorous", "exact"])
@pytest.mark.parametrize("name", ["two_points", "xor_hard_margin", "logistic_separated", "spector", "heart_scale"])
def test_certificates(name, level):
    sound(cc.load(name).solve(level=level).certificate.to_json())


# ---- what is shipped ----------------------------------------------------------------------------------------------


def test_every_schema_that_the_code_names_is_shipped_and_told_of():
    code = "".join(path.read_text() for path in (HERE / "convexcls").rglob("*.py"))
    named = set(re.findall(r"convexcls-[a-z]+/\d", code)) - {"convexcls-data/1", "convexcls-data/2"}
    shipped = {path.name: json.loads(path.read_text())["title"] for path in SCHEMAS}
    assert named == set(shipped.values())
    page = (HERE / "docs" / "api" / "schemas.md").read_text()
    assert all(f"schemas/{name}" in page and f"`{title}`" in page for name, title in shipped.items())
