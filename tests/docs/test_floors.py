"""The picture of the floors is drawn from the imports as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import floors
import pytest


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(floors.ROOT / "convexcls", tmp_path / "convexcls", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(floors.ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_picture_is_up_to_date():
    assert floors.PICTURE.read_text(encoding="utf-8") == floors.drawn(), "run: python docs/_ext/floors.py"


def test_every_module_stands_in_one_room():
    known = [path for name in floors.rooms() for path in floors.files(floors.ROOT, name)]
    assert len(known) == len(set(known))
    package = floors.ROOT / "convexcls"
    outside = {str(path.relative_to(package)) for path in set(package.rglob("*.py")) - set(known)}
    assert outside == {"__init__.py", "__main__.py", "proofs/__init__.py"}


def test_a_room_stands_above_what_it_imports():
    height = {name: k for k, storey in enumerate(floors.floors()) for name in storey}
    assert height["convexcls.data"] < height["convexcls.rows"] < height["convexcls.problem"]
    assert height["convexcls.problem"] < height["convexcls.models"] < height["convexcls.solve"]
    assert height["convexcls.solve"] < height["convexcls.studies"] < height["convexcls.cli"]


def test_an_import_raises_a_room(copy):
    before = floors.drawn(copy)
    assert before == floors.drawn()
    module = copy / "convexcls" / "losses" / "base.py"
    lazily = "\ndef later():\n    from convexcls.problem import Problem\n    return Problem\n"
    module.write_text(module.read_text(encoding="utf-8") + lazily, encoding="utf-8")
    assert floors.drawn(copy) == before
    module.write_text(module.read_text(encoding="utf-8") + "\nimport convexcls.data\n", encoding="utf-8")
    height = {name: k for k, storey in enumerate(floors.floors(copy)) for name in storey}
    assert height["convexcls.losses"] == height["convexcls.data"] + 1
    assert floors.drawn(copy) != before
