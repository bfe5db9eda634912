"""The tool that breaks the trusted core: what it breaks, that it notices, and that its lists are up to date."""

from __future__ import annotations

import importlib
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.mutants.operators import mutants
from tests.mutants.session import _first_failure
from tests.mutants.transplant import transplant

ROOT = Path(__file__).parents[2]
LISTS = {
    name: tomllib.loads((ROOT / "tests/mutants" / name).read_text()) for name in ("targets.toml", "equivalent.toml")
}


def changes(source):
    """What the mutants of a source are, without the name of the file and the function."""
    return {mutant.name.split(": ", 1)[1] for mutant in mutants("f.py", source)}


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("a < b", {"a < b -> a <= b", "a < b -> a >= b"}),
        ("a == b", {"a == b -> a != b"}),
        ("a and b", {"a and b -> a or b", "a and b -> a", "a and b -> b"}),
        ("a + b", {"a + b -> a - b"}),
        ("-a", {"-a -> a"}),
        ("x = 0", {"x = 0 -> x = 1"}),
        ("x = 4000", {f"x = 4000 -> x = {n}" for n in (4001, 3999, 40000, 400)}),
        ("x = 1e-08", {"x = 1e-08 -> x = 1e-07", "x = 1e-08 -> x = 1e-09"}),
        ("max(a, b)", {"max(a, b) -> pass", "max(a, b) -> min(a, b)", "max(a, b) -> a", "max(a, b) -> b"}),
        ("x = all(a)", {"all(a) -> any(a)"}),
        ("x = abs(a)", {"abs(a) -> a"}),
        ("if bad: raise E", {"if bad: raise E -> if False: raise E"}),
        ("demand(a)", {"demand(a) -> pass"}),
        ("x = a if c else b", {"a if c else b -> a", "a if c else b -> b"}),
        (
            "re.compile('[0-9]{1,3}')",
            {
                "re.compile('[0-9]{1,3}') -> pass",
                *(
                    f"re.compile('[0-9]{{1,3}}') -> re.compile('{p}')"
                    for p in (r"\\d{1,3}", "[0-9]{2,3}", "[0-9]{0,3}", "[0-9]{1,4}", "[0-9]{1,2}")
                ),
            },
        ),
    ],
)
def test_what_is_broken(source, wanted):
    assert changes(source) == wanted
    for mutant in mutants("f.py", source):
        compile(mutant.source, "f.py", "exec")
        assert mutant.source != source


def test_words_types_and_strict_zips_stay():
    assert changes('def f(a: int = None) -> "x | y":\n    raise E(f"{a + 1}")\n    return zip(a, strict=True)') == set()


def test_the_head_of_a_function_begins_with_its_decorators():
    """That is where a call of it enters: the tests of a changed default are found by that line."""
    (mutant,) = mutants("f.py", "class C:\n    @classmethod\n    def f(cls, a=0):\n        return a")
    assert mutant.lines == range(2, 4)


def test_every_entry_of_the_lists_names_something():
    """A mutant that was renamed by a change of its code has to be thought about again."""
    for path, chosen in LISTS["targets.toml"].items():
        names = {mutant.name for mutant in mutants(path, (ROOT / path).read_text(encoding="utf-8"))}
        assert set(LISTS["equivalent.toml"].get(path, {})) <= names
        assert all((ROOT / test.split("::")[0]).exists() for test in chosen["tests"])
    assert set(LISTS["equivalent.toml"]) <= set(LISTS["targets.toml"])
    assert all(why for group in LISTS["equivalent.toml"].values() for why in group.values())


def test_nothing_fails_where_no_test_reaches_a_mutant():
    """Then it survives."""
    assert _first_failure([]) == {"failed": "", "seconds": {}}


def test_a_mutant_takes_the_place_of_its_module(tmp_path, monkeypatch):
    """Whoever has imported a function or a constant of it runs the mutant; the file stays as it is."""
    source = """
import functools

CAP = 4000

def small(n, most=CAP):
    return n <= most

class Checked:
    @property
    def good(self):
        return small(4000)

    @functools.cached_property
    def kept(self):
        return CAP + 1
"""
    path = tmp_path / "trusted_core_for_a_test.py"
    path.write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    core, user = importlib.import_module(path.stem), ModuleType("user_for_a_test")
    user.small, user.CAP, user.checked = core.small, core.CAP, core.Checked()
    monkeypatch.setitem(sys.modules, user.__name__, user)
    assert user.small(4000)
    assert user.checked.good
    found = {mutant.name.split(": ", 1)[1]: mutant for mutant in mutants(path.name, source)}
    transplant(path, found["n <= most -> n < most"].source)
    assert not user.small(4000)
    assert not user.checked.good
    transplant(path, found["CAP = 4000 -> CAP = 3999"].source)
    assert user.CAP == 3999
    assert not user.small(4000)
    transplant(path, found["CAP + 1 -> CAP - 1"].source)
    assert user.checked.kept == 3999
    transplant(path, source)
    assert user.small(4000)
    assert path.read_text() == source
