"""Every public name has an example in its docstring, and every example in the package says what really happens."""

import ast
import doctest
import inspect
from pathlib import Path

import pytest

import convexcls as cc
from convexcls.problem.duality import Dual

PACKAGE = Path(cc.__file__).resolve().parent

#: The methods and properties that a reader meets first, by class.
METHODS = {
    cc.Problem: "dual explain latex objective solve split to_cvxpy",
    cc.Solution: "at_level certify decision_function existence explain intercept_interval kkt predict predict_proba "
    "primal summary support uniqueness",
    cc.Certificate: "exact_point explain holds optimum summary to_json",
    cc.Comparison: "to_dict to_text",
    cc.Path: "plot remarks table to_dict",
    Dual: "recover",
}


def members(module):
    """The classes and functions of a public module: its ``__all__``, or of ``testing`` the assertions."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name in vars(module) if module is cc.testing and name.startswith("assert_")]
    return {name: value for name in names if documented(value := getattr(module, name))}


def documented(value):
    """Whether it is something that has a docstring of its own; a table or a type alias has none."""
    return inspect.ismodule(value) or inspect.isclass(value) or inspect.isfunction(value)


def public_names():
    out = {
        "convexcls": cc,
        "convexcls.problem.duality.Dual": Dual,
        "convexcls.problem.duality.dualize": cc.duality.dualize,
    }
    for name, value in members(cc).items():
        out[f"convexcls.{name}"] = value
        if inspect.ismodule(value):
            out |= {f"convexcls.{name}.{inner}": part for inner, part in members(value).items()}
    for cls, names in METHODS.items():
        out |= {f"{cls.__name__}.{name}": inspect.getattr_static(cls, name) for name in names.split()}
    return out


def has_example(value):
    return ">>> " in (value.__doc__ or "")


def package_examples():
    """The docstrings with examples, by dotted name, with file and line: read from the source, so that properties and
    what is loaded on demand are not passed over."""
    out = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if ">>> " in source:
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            collect(ast.parse(source), module, path, out)
    return out


def collect(node, name, path, out):
    doc = ast.get_docstring(node, clean=False)
    if doc is not None and ">>> " in doc:
        out[name] = (doc, str(path), node.body[0].lineno - 1)
    for inner in node.body:
        if isinstance(inner, (ast.ClassDef, ast.FunctionDef)):
            collect(inner, f"{name}.{inner.name}", path, out)


def complaints(name, doc, path="", line=0):
    """What doctest has to say against an example, run with no other names than those it imports."""
    test = doctest.DocTestParser().get_doctest(doc, {}, name, path, line)
    said = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said) if result.failed else ""


PUBLIC = public_names()
EXAMPLES = package_examples()


@pytest.fixture(autouse=True)
def no_windows():
    """Pictures are drawn without a screen, and none stays open."""
    import matplotlib

    matplotlib.use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example(name):
    assert has_example(PUBLIC[name]), f"{name} has no example: add a few lines with >>> to its docstring"


def test_public_names_are_all_there():
    found = {name.removeprefix("convexcls.") for name in PUBLIC}
    assert set(cc.__all__) <= found, "a public name that has no docstring of its own"
    assert {f"estimators.{name}" for name in cc.estimators.__all__} <= found
    assert {f"plots.{display.__name__}" for display in cc.plots.KINDS.values()} <= found
    assert {"testing.assert_optimal", "testing.assert_complementary_slackness", "testing.assert_same_answer"} <= found


def test_a_new_name_without_an_example_is_noticed(monkeypatch):
    class Taught(cc.HardMarginSVM):
        """A model whose author forgot the example, though its base has one."""

    class Mute(cc.HardMarginSVM):
        pass

    monkeypatch.setattr(cc, "Taught", Taught, raising=False)
    monkeypatch.setattr(cc, "Mute", Mute, raising=False)
    monkeypatch.setattr(cc, "__all__", [*cc.__all__, "Taught", "Mute"])
    missing = [name for name, value in public_names().items() if not has_example(value)]
    assert missing == ["convexcls.Taught", "convexcls.Mute"]


def test_a_wrong_example_is_noticed():
    assert complaints("sum", ">>> 1 + 1\n2\n") == ""
    assert "Expected:\n    3\nGot:\n    2" in complaints("sum", ">>> 1 + 1\n3\n")
    assert "NameError" in complaints("not imported", ">>> cc.load\n")


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_holds(name):
    assert not (said := complaints(name, *EXAMPLES[name])), said
