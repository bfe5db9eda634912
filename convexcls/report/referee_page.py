"""What the referee found of solvers, on one page."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from convexcls.bench import Judgement
from convexcls.bench.judgement import SHIFT_SECONDS
from convexcls.describe import Fact, Facts, Prose, to_html
from convexcls.describe.bench import judgement_chapters
from convexcls.describe.html import Html, headed, tag
from convexcls.report import Report
from convexcls.report.page import PACKAGES, document, figure, version_of
from convexcls.wording import count

JUDGED = (
    "No solver is believed: what each claims is held against answers that are known exactly, and its points are judged "
    "at the level rigorous on the problems as stated. Solvers of other people get each problem as it is stated."
)


def referee_page(found: Judgement, path: Any, title: str, command: str | None) -> Report:
    """The page, written to ``path`` where one is given."""
    wrong = count(len(found.wrong), "wrong claim")
    problems = count(len({trial.case for trial in found.trials}), "problem")
    subtitle = f"{count(len(found.solvers), 'solver')} on {problems}: {wrong}"
    standings, *others = judgement_chapters(found)
    sections = [to_html(standings), _pictures(found), *(to_html(chapter) for chapter in others)]
    made = Report(title, document(title, subtitle, to_html(Prose(JUDGED)), sections, _foot(found, command)))
    if path is not None:
        made.save(Path(path))
    return made


def _pictures(found: Judgement) -> Html:
    if find_spec("matplotlib") is None:
        return headed("profiles", "Profiles", tag("p", "Pictures need matplotlib: pip install 'convexcls[report]'."))
    from convexcls.plots import Picture, ProfilesDisplay

    shown = []
    for measure in ("seconds", "digits"):
        picture = Picture.of(ProfilesDisplay.of(found, measure=measure))
        named = Picture(f"{picture.name}-{measure}", picture.title, picture.alt, picture.draw, picture.size)
        shown.append(figure(named))
    return headed("profiles", "Profiles", tag("div", *shown, class_="gallery"))


def _foot(found: Judgement, command: str | None) -> Html:
    """How to make the page again, and with what it was made."""
    from convexcls import __version__

    solvers = ", ".join(map(repr, found.solvers))
    made = command or f"import convexcls as cc\n\ncc.referee([{solvers}], tol={found.tol:g}).report('referee.html')"
    versions = [("convexcls", __version__), ("Python", platform.python_version())]
    versions += [(name, there) for name in PACKAGES if (there := version_of(name))]
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    facts = Facts((Fact("made on", now), Fact("shift of the mean", f"{SHIFT_SECONDS:g} s")))
    using = Prose("Made with " + ", ".join(f"{name} {there}" for name, there in versions) + ".", "versions")
    return headed("provenance", "How to make this again", tag("pre", tag("code", made)), to_html(facts, using))
