"""What is sent: problem, last candidate and feedback -> the texts of a ``Request``.

Every attempt is one self-contained request (no growing dialogue): system text and problem are the same each time and
come first, so a provider can cache them. Invariant: the same inputs give the same bytes, and no comment or string of
an earlier candidate is in them.

Example::

    message([], None)                        # "Write the kernel. ..."
    message([past], candidate)               # report and stripped last file of the failed attempt
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from generator.answers import Candidate
from generator.feedback import Feedback, headline
from generator.stripping import shown

MAX_PROBLEM_BYTES = 128 * 1024
_EARLIER = 12


class ProblemError(ValueError):
    """A problem file that cannot be used; one line."""


@dataclass(frozen=True, slots=True)
class Past:
    """An attempt that is over. ``repeats``: the number of the earlier attempt that gave the same text, or 0."""

    number: int
    feedback: Feedback
    repeats: int = 0


@cache
def system() -> str:
    return resources.files("generator").joinpath("data/system.md").read_text(encoding="utf-8")


def problem(text: str, archs: Sequence[str]) -> str:
    """The problem as it is sent: the file itself and the target architectures."""
    return (
        f"Target architectures: {', '.join(archs)}\n\nThe problem file:\n\n```python\n{text.rstrip()}\n```\n"
    )


def message(pasts: Sequence[Past], last: Candidate | None) -> str:
    """What this attempt is asked: a first file, or the repair of ``last``, the last file that was judged."""
    if not pasts:
        return "Write the kernel. Call submit_kernel with the complete file."
    judged = [p for p in pasts if "error_code" not in p.feedback]
    parts: list[str] = []
    earlier = [p for p in pasts[:-1] if p not in judged[-1:]][-_EARLIER:]
    if earlier:
        parts.append(
            "Earlier attempts:\n" + "\n".join(f"{p.number}. {headline(p.feedback)}" for p in earlier)
        )
    if pasts[-1] not in judged:
        parts.append(f"Attempt {pasts[-1].number} gave no usable file: {pasts[-1].feedback['error']}")
    if judged and last is not None:
        past = judged[-1]
        if past.repeats:
            parts.append(
                f"Your file of attempt {past.number} is the same as that of {past.repeats}. Change it."
            )
        parts.append(f"Report on attempt {past.number}:\n\n```json\n{_compact(past.feedback)}\n```")
        parts.append(
            f"Your file of attempt {past.number}, by line number, without comments and strings:\n\n"
            f"```{last.language}\n{shown(last)}\n```"
        )
        parts.append("Repair the cause of each entry and call submit_kernel with the complete file.")
    else:
        parts.append("Write the kernel. Call submit_kernel with the complete file.")
    return "\n\n".join(parts) + "\n"


def _compact(feedback: Feedback) -> str:
    """JSON with the three numbers of a thread or block on one line."""
    three = r"\[\s*(-?\d+),\s*(-?\d+),\s*(-?\d+)\s*\]"
    return re.sub(three, r"[\1, \2, \3]", json.dumps(feedback, indent=1))


def check_problem(data: bytes, name: str) -> str:
    """The text of a KernelBench-style problem file. Raises ProblemError; runs nothing."""
    if len(data) > MAX_PROBLEM_BYTES:
        raise ProblemError(f"{name}: a problem file has at most {MAX_PROBLEM_BYTES // 1024} KiB")
    try:
        text = data.decode("utf-8")
        tree = ast.parse(text)
    except UnicodeDecodeError as error:
        raise ProblemError(f"{name}: not UTF-8 text") from error
    except (SyntaxError, ValueError, RecursionError) as error:
        where = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise ProblemError(f"{name}{where}: not a Python file") from error
    classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    missing = [f"class {c}" for c in ("Model",) if c not in classes]
    missing += [f"def {f}()" for f in ("get_inputs",) if f not in functions]
    if missing:
        raise ProblemError(
            f"{name}: no problem file: {' and '.join(missing)} missing (see docs/howto/generate.md)"
        )
    return text
