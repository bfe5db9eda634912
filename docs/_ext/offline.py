"""When the site is built: no page and no style sheet may load anything from the network. Links to follow are free."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

LOADS = {
    ".html": re.compile(
        r"<(?:script|img|iframe|source|link)\b[^>]*\b(?:src|srcset|href)=[\"']?((?:https?:)?//[^\"' >]+)"
    ),
    ".css": re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)"),
}


def loaded(folder: Path) -> list[str]:
    """What the files of a folder would load from elsewhere."""
    return [
        f"{file.relative_to(folder)} loads {address}"
        for ending, pattern in LOADS.items()
        for file in sorted(folder.rglob(f"*{ending}"))
        for address in pattern.findall(file.read_text(encoding="utf-8"))
    ]


def check(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html" and (found := loaded(Path(app.outdir))):
        raise ExtensionError("the site must work without a network:\n" + "\n".join(found))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
