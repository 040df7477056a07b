"""The lock file: which contracts that came with a submission a person has accepted.

A contract is accepted for one submission: the digest covers it, the device text and the host code, so that a change of any of
them needs a new look. The file is trusted (read from the base branch in CI), JSON, one entry a kernel, sorted, so that a
diff of it is readable.

Example::

    {"schema": "verify-kernel-lock/1", "accepted": [{"path": "saxpy.cu", "kernel": "saxpy", "digest": "…",
      "reviewer": "ada", "date": "2026-01-31"}]}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from specs.location import Span
from verifier.contracts.errors import ContractError
from verifier.contracts.stated import Stated
from verifier.source.device_text import Submission

SCHEMA = "verify-kernel-lock/1"


@dataclass(frozen=True, slots=True, order=True)
class Accepted:
    path: str
    kernel: str
    digest: str
    reviewer: str
    date: str


def digest(stated: Stated, submission: Submission) -> str:
    """Of the contract's text, and the device text and host code it was accepted for: callers are to keep its clauses."""
    callers = hashlib.sha256(f"{submission.host}\0{submission.python}".encode()).hexdigest()
    text = f"{stated.canonical()}\n{submission.device.sha256}\n{callers}"
    return hashlib.sha256(text.encode()).hexdigest()


def read(path: Path | None) -> tuple[Accepted, ...]:
    """The entries of a lock file; none if there is no file. Raises ContractError for a broken one."""
    if path is None or not path.exists():
        return ()
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema is {data['schema']!r}, not {SCHEMA!r}")
        return tuple(Accepted(**{k: str(v) for k, v in entry.items()}) for entry in data["accepted"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ContractError(
            f"the lock file is broken: {error}",
            Span(str(path), 1),
            "restore it from the base branch, or accept again",
        ) from error


def is_accepted(stated: Stated, submission: Submission, entries: Iterable[Accepted]) -> bool:
    wanted = digest(stated, submission)
    return any(e.kernel == stated.kernel and e.digest == wanted for e in entries)


def write(path: Path, entries: Iterable[Accepted]) -> None:
    data = {"schema": SCHEMA, "accepted": [asdict(e) for e in sorted(set(entries))]}
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def accept(submission: Submission, *, lock: Path, reviewer: str, date: str) -> tuple[Accepted, ...]:
    """Record every contract that came with the submission as accepted. Returns the new entries; none if there is none."""
    from verifier.contracts.combine import submitted

    if not reviewer.strip():
        raise ContractError("accept needs the reviewer's name", Span(str(lock), 0), "give --reviewer NAME")
    found = [s for s in submitted(submission) if not s.empty]
    new = tuple(Accepted(submission.path, s.kernel, digest(s, submission), reviewer, date) for s in found)
    old = [e for e in read(lock) if not any(e.path == n.path and e.kernel == n.kernel for n in new)]
    if new:
        write(lock, [*old, *new])
    return new
