"""The documentation pages of checks, rules, cheats and gates: id -> page. Found by folder, registered nowhere.

In a checkout they stand in ``docs/{checks,rules,cheats,gates}/<id>.md``, in an installation in ``verifier/pages``.
The first line of a page is ``# <id>: <claim>``.

Example::

    page("race-shared")         # "# race-shared: no two threads of a block …"
    index()["checks"][0].id     # "alignment"
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

KINDS = ("checks", "rules", "cheats", "gates")
_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    claim: str


def folder(kind: str) -> Path:
    """Where the pages of a kind stand."""
    installed = _PACKAGE / "pages" / kind
    return installed if installed.is_dir() else _PACKAGE.parent / "docs" / kind


def page(id_: str) -> str | None:
    """The Markdown page of a check, rule, cheat or gate, or None. A finding of a gate itself has that gate's page."""
    if not id_.replace("-", "").isalnum():
        return None
    for kind in KINDS:
        path = folder(kind) / f"{id_}.md"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    for path in sorted(folder("gates").glob("*.md")):
        if path.stem != "index" and f"`{id_}`" in (text := path.read_text(encoding="utf-8")):
            return text
    return None


def index() -> dict[str, list[Entry]]:
    """All pages by kind, sorted by id; kinds without a page are left out."""
    found = {kind: sorted(p for p in folder(kind).glob("*.md") if p.stem != "index") for kind in KINDS}
    return {kind: [_entry(p) for p in paths] for kind, paths in found.items() if paths}


def suggestion(id_: str) -> str:
    """``; did you mean X`` or nothing."""
    known = [entry.id for entries in index().values() for entry in entries]
    close = difflib.get_close_matches(id_, known, n=1)
    return f"; did you mean {close[0]}" if close else ""


def _entry(path: Path) -> Entry:
    first = path.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ").strip()
    return Entry(path.stem, first.removeprefix(f"{path.stem}:").strip())
