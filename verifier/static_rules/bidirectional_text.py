"""No invisible or direction-changing characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from specs.location import Span
from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "bidirectional-text"
SEVERITY = Severity.ERROR
SUMMARY = "no invisible or direction-changing characters"
WHY = "Such characters make the text that a reviewer sees differ from the text that is compiled."
FIX = "remove the character"
_HIDDEN = re.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad\u061c\u180e\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]"
)


def check(reading: Reading) -> Iterator[Hit]:
    texts = {reading.submission.path: reading.submission.raw}
    texts |= {t.path: t.text for t in reading.submission.texts if t.path not in texts}
    for path, text in texts.items():
        for number, line in enumerate(text.split("\n"), 1):
            for found in _HIDDEN.finditer(line):
                name = unicodedata.name(found.group(), f"U+{ord(found.group()):04X}")
                yield Hit(Span(path, number, found.start() + 1), f"invisible character {name}")
