"""A mutant in the place of its module, in a process that has imported everything already.

Functions get the code of the mutant's functions, so that whoever has imported them runs the mutant; constants are
replaced wherever the same object stands under the same name. Nothing is written to disk.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any


def transplant(path: Path, source: str) -> None:
    """Run the source instead of the file at the path, in every module that was made from that file."""
    for module in list(_modules_of(path)):
        fresh = dict.fromkeys(("__name__", "__package__", "__file__", "__spec__"))
        fresh = {name: module.__dict__.get(name) for name in fresh}
        exec(compile(source, str(path), "exec"), fresh)
        for name, new in fresh.items():
            old = module.__dict__.get(name)
            if not _replaced(old, new, str(path)) and not name.startswith("__") and repr(old) != repr(new):
                for other in [module, *sys.modules.values()]:
                    if name in vars(other) and vars(other)[name] is old:
                        setattr(other, name, new)


def _modules_of(path: Path) -> Iterator[ModuleType]:
    """Modules are found by their file: a script may have been loaded by hand, as an attribute of a test."""
    seen = set()
    for module in list(sys.modules.values()):
        for found in (module, *getattr(module, "__dict__", {}).values()):
            if isinstance(found, ModuleType) and id(found) not in seen:
                seen.add(id(found))
                if getattr(found, "__file__", None) and Path(found.__file__ or "") == path:
                    yield found


def _replaced(old: Any, new: Any, path: str) -> bool:
    """Give the functions of the file, or of a class, the code of the new ones; False where it is something else."""
    if isinstance(new, type):
        if new.__module__ == getattr(old, "__module__", None):
            for name, value in vars(new).items():
                _replaced(inspect.getattr_static(old, name, None), value, path)
        return True
    old, new = _function(old), _function(new)
    if isinstance(new, FunctionType):
        if isinstance(old, FunctionType) and new.__code__.co_filename == path:
            old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
        elif isinstance(old, FunctionType) and new.__code__.co_filename == "<string>":  # what a dataclass writes
            old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
        return True
    return isinstance(new, ModuleType) or (isinstance(new, Mapping) and not new)


def _function(value: Any) -> Any:
    """The function behind a property, cached or not, a static method or a wrapper."""
    for name in ("fget", "func", "__func__", "__wrapped__"):
        value = getattr(value, name, None) or value
    return value
