"""The picture of the floors in docs/design.md, drawn from the imports of the package: ``python docs/_ext/floors.py``.

A room is a layer of import-linter's contract in pyproject.toml. It stands one floor above the highest room from which
it imports something when it is loaded itself; what is imported later, inside a function, does not count. So the
picture shows what is, and the contract what may be.
"""

from __future__ import annotations

import ast
import html
import re
import textwrap
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "pictures" / "floors.svg"

WIDTH, MARGIN, GAP = 1120, 16, 12  # all lengths in pixels
LINE, LETTER = 17, 6.0  # the height of a line of words and the width of a letter


def rooms(root: Path = ROOT) -> list[str]:
    """The rooms, as dotted names."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [name.strip() for layer in layers for name in re.split(r"[|:]", layer)]


def floors(root: Path = ROOT) -> list[list[str]]:
    """The rooms floor by floor, the ground floor first."""
    names = rooms(root)
    below = {name: {room_of(m, names) for path in files(root, name) for m in imported(path)} for name in names}

    @cache
    def floor(name: str) -> int:
        return 1 + max((floor(other) for other in below[name] if other and other != name), default=-1)

    out: list[list[str]] = [[] for _ in range(1 + max(map(floor, names)))]
    for name in names:
        out[floor(name)].append(name)
    return out


def place(root: Path, name: str) -> Path:
    """The folder or the file of a room."""
    folder = root.joinpath(*name.split("."))
    return folder if folder.is_dir() else folder.with_suffix(".py")


def files(root: Path, name: str) -> list[Path]:
    """The modules of a room, without those of rooms within it."""
    if (at := place(root, name)).is_file():
        return [at]
    inner = [place(root, other) for other in rooms(root) if other.startswith(f"{name}.")]
    return [path for path in sorted(at.rglob("*.py")) if not any(path.is_relative_to(other) for other in inner)]


def room_of(module: str, names: list[str]) -> str:
    """The room in which a module stands; empty where it stands in none."""
    return max((name for name in names if f"{module}.".startswith(f"{name}.")), key=len, default="")


def imported(path: Path) -> Iterator[str]:
    """The modules of the package that a module loads when it is loaded."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("convexcls"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("convexcls"))


def purpose(root: Path, name: str) -> str:
    """The first sentence of a room's docstring."""
    at = place(root, name)
    source = (at / "__init__.py" if at.is_dir() else at).read_text(encoding="utf-8")
    words = " ".join((ast.get_docstring(ast.parse(source)) or "").split())
    return re.split(r"\.(?: |$)", words.replace("``", ""), maxsplit=1)[0]


def drawn(root: Path = ROOT) -> str:
    """The picture as SVG."""
    parts, top = [], MARGIN
    for storey in reversed(floors(root)):
        width = (WIDTH - 2 * MARGIN - GAP * (len(storey) - 1)) / len(storey)
        texts = [textwrap.wrap(purpose(root, name), int((width - 2 * GAP) / LETTER)) for name in storey]
        height = LINE * (max(map(len, texts)) + 1) + 2 * GAP
        for place_of, (name, lines) in enumerate(zip(storey, texts, strict=True)):
            left = MARGIN + place_of * (width + GAP)
            parts.append(f'<rect x="{left:.0f}" y="{top}" width="{width:.0f}" height="{height}" rx="6"/>')
            title = name.removeprefix("convexcls.").replace(".", "/") + "/" * place(root, name).is_dir()
            parts.append(written(left, top, 0, title, ' class="room"'))
            parts += [written(left, top, 1 + k, line) for k, line in enumerate(lines)]
        top += height + GAP
    style = (
        "rect{fill:#f4f6fa;stroke:#8a97ad}text{font:12px sans-serif;fill:#27303f}"
        ".room{font:600 13px monospace;fill:#12385f}.wall{fill:#fff;stroke:none}"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img">'
    name = "<title>The floors of convexcls: a room imports from the rooms below it</title>"
    wall = f'<rect class="wall" width="{WIDTH}" height="{top}"/>'
    return "\n".join([head, name, f"<style>{style}</style>", wall, *parts, "</svg>\n"])


def written(left: float, top: float, line: int, words: str, kind: str = "") -> str:
    """A line of words in a room."""
    return f'<text x="{left + GAP:.0f}" y="{top + GAP + LINE * line + 12:.0f}"{kind}>{html.escape(words)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    print(PICTURE.relative_to(ROOT))
