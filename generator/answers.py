"""What the model may say: the ``submit_kernel`` tool, and a reply -> ``Candidate`` or ``Malformed``.

Invariant: a candidate is bounded, valid UTF-8 text without NUL bytes, and nothing else of the reply is used.

Example::

    read(Reply(submission={"language": "cuda", "source": "__global__ void k() {}"}, stop="tool_use"))
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from generator.model import Reply

TOOL_NAME = "submit_kernel"
TOOL: dict[str, Any] = {
    "name": TOOL_NAME,
    "description": "Submit one complete source file to the gate chain.",
    "input_schema": {
        "type": "object",
        "properties": {
            "language": {
                "type": "string",
                "enum": ["python", "cuda"],
                "description": "python: a file that uses load_inline. cuda: a .cu file.",
            },
            "source": {"type": "string", "description": "The complete text of the file."},
        },
        "required": ["language", "source"],
        "additionalProperties": False,
    },
}
MAX_SOURCE_BYTES = 256 * 1024
_SUFFIX = {"python": ".py", "cuda": ".cu"}

MALFORMED: dict[str, str] = {
    "no-submission": "You did not call submit_kernel. Call it once, with the complete file.",
    "truncated": "Your answer was cut off at the token limit. Submit a shorter file.",
    "refused": "You declined to answer.",
    "bad-arguments": "The arguments of submit_kernel must be an object with exactly the strings language and source.",
    "bad-language": "The language must be python or cuda.",
    "empty-source": "The source was empty.",
    "too-long": f"The source was longer than {MAX_SOURCE_BYTES // 1024} KiB.",
    "bad-text": "The source held bytes that are not text (NUL or unpaired surrogates).",
    "not-python": "The source is not valid Python.",
}
"""Code -> what the model is told; the wording is ours, nothing of the reply is repeated."""


@dataclass(frozen=True, slots=True)
class Candidate:
    language: str
    source: str

    @property
    def file_name(self) -> str:
        return f"candidate{_SUFFIX[self.language]}"

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.source.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Malformed:
    """``code`` is a key of ``MALFORMED``."""

    code: str


def read(reply: Reply) -> Candidate | Malformed:
    """The candidate in a reply, or why there is none."""
    match reply.stop:
        case "max_tokens" | "model_context_window_exceeded":
            return Malformed("truncated")
        case "refusal":
            return Malformed("refused")
        case "bad_json":
            return Malformed("bad-arguments")
    match reply.submission:
        case None:
            return Malformed("no-submission")
        case {"language": str(language), "source": str(source), **rest} if not rest:
            return _checked(language, source)
        case _:
            return Malformed("bad-arguments")


def _checked(language: str, source: str) -> Candidate | Malformed:
    if language not in _SUFFIX:
        return Malformed("bad-language")
    if not source.strip():
        return Malformed("empty-source")
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        return Malformed("bad-text")
    if size > MAX_SOURCE_BYTES:
        return Malformed("too-long")
    if "\0" in source:
        return Malformed("bad-text")
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    if language == "python" and not _is_python(source):
        return Malformed("not-python")
    return Candidate(language, source)


def _is_python(source: str) -> bool:
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
