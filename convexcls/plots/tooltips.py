"""What a mark stands for, as the title of its element in an SVG: browsers show it beside the pointer, without a script.

Whoever draws says it by ``tell(artist, words)``, a word for each mark in the order drawn; ``svg`` writes the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO
from typing import Any
from xml.etree import ElementTree

from convexcls.plots.style import Figure

NAMESPACES = {"": "http://www.w3.org/2000/svg", "xlink": "http://www.w3.org/1999/xlink"}
#: Nothing that a file is the same without.
NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_SVG = "{http://www.w3.org/2000/svg}"
#: What XML cannot hold.
_UNFIT = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def tell(artist: Any, words: Sequence[str]) -> None:
    """Say of each mark of an artist what it stands for."""
    artist.words = tuple(words)


def svg(figure: Figure) -> str:
    """The figure as a file of SVG, with what its marks stand for as their titles."""
    told: dict[str, tuple[str, ...]] = {}
    speaking: list[Any] = figure.findobj(lambda a: hasattr(a, "words") and not a.get_rasterized())
    for k, artist in enumerate(speaking):
        artist.set_gid(f"told-{k}")
        told[f"told-{k}"] = artist.words
    figure.savefig(text := StringIO(), format="svg", metadata=NO_METADATA)
    return _with_titles(text.getvalue(), told) if told else text.getvalue()


def _with_titles(text: str, told: dict[str, tuple[str, ...]]) -> str:
    for prefix, name in NAMESPACES.items():
        ElementTree.register_namespace(prefix, name)
    keeping = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))  # they say what letters spell
    root = ElementTree.fromstring(text, keeping)
    for group in root.iter(f"{_SVG}g"):
        words = told.get(group.get("id", ""), ())
        hidden = {mark for defs in group.iter(f"{_SVG}defs") for mark in defs.iter()}
        marks = [mark for mark in group.iter() if mark.tag in (f"{_SVG}use", f"{_SVG}path") and mark not in hidden]
        for mark, word in zip(marks, words, strict=False):
            title = ElementTree.Element(f"{_SVG}title")
            title.text = _UNFIT.sub(" ", word)
            mark.insert(0, title)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}'
