"""The Python of a page is run when the site is built, and what it prints, returns and draws stands below it.

Pages are plain Markdown: every fenced block with the language ``python`` is run, in the order of the page and with one
set of names, as in a notebook. A page whose front matter says ``executed: false`` is left as it is written. Code that
fails is a warning, and ``make docs`` makes warnings errors.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import re
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)
FENCE = re.compile(r"^```python\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Picture:
    """A figure that a block left open, as SVG, and what it shows."""

    svg: bytes
    words: str

    @property
    def uri(self) -> str:
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode("ascii")


@dataclass(frozen=True)
class Output:
    """What a block printed, with the value of its last line as in a notebook, and what it drew."""

    text: str
    pictures: tuple[Picture, ...]


def python_blocks(page: Path) -> list[str]:
    """The Python of a Markdown page, block by block."""
    return FENCE.findall(page.read_text(encoding="utf-8"))


def is_executed(page: Path) -> bool:
    return not page.read_text(encoding="utf-8").startswith("---\nexecuted: false\n")


def run(code: str, names: dict[str, Any]) -> Output:
    """Run one block among the names that earlier ones have left. Warnings are errors."""
    lines = ast.parse(code)
    last = lines.body.pop() if lines.body and isinstance(lines.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(lines, "<page>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<page>", "eval"), names)
    drawn = _pictures(value)
    if value is not None and not drawn:
        printed.write(repr(value))
    return Output(printed.getvalue().rstrip(), drawn)


def _pictures(shown: object) -> tuple[Picture, ...]:
    """The figures that are open, which are then closed. A display among them says itself what it shows."""
    from matplotlib import pyplot, rc_context

    out = []
    words = shown.describe() if hasattr(shown, "describe") else ""
    for number in pyplot.get_fignums():
        figure, file = pyplot.figure(number), io.BytesIO()
        with rc_context({"svg.hashsalt": "convexcls"}):  # the same picture gives the same bytes
            figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
        titles = "; ".join(filter(None, (axes.get_title() for axes in figure.axes)))
        out.append(Picture(file.getvalue(), words or titles or "a picture drawn by the code above"))
    pyplot.close("all")
    return tuple(out)


class RunPython(SphinxTransform):
    """Puts the output of every Python block behind it."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        page = Path(self.env.doc2path(self.env.docname))
        if page.suffix != ".md" or not is_executed(page):
            return
        names: dict[str, Any] = {"__name__": "__page__"}
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language") == "python":
                try:
                    output = run(block.astext(), names)
                except Exception:
                    logger.warning("code of this page fails:\n%s", traceback.format_exc(), location=block)
                    return
                parent = block.parent
                parent[parent.index(block) + 1 : parent.index(block) + 1] = _shown(output)


def _shown(output: Output) -> list[nodes.Node]:
    out: list[nodes.Node] = []
    if output.text:
        text = nodes.literal_block(output.text, output.text, classes=["printed"])
        text["language"] = "text"
        out.append(text)
    out += [nodes.image(uri=p.uri, alt=p.words, classes=["drawn"]) for p in output.pictures]
    return out


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(RunPython)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
