"""Host code starts no processes and loads no libraries."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit, calls

ID = "host-escape"
SEVERITY = Severity.ERROR
SUMMARY = "host code starts no processes and loads no libraries"
WHY = "A kernel launcher has no need for it, and what it starts is outside of every check."
FIX = "remove the call"
_CALLS = frozenset(
    (
        *(
            "system",
            "popen",
            "execl",
            "execlp",
            "execle",
            "execv",
            "execvp",
            "execve",
            "posix_spawn",
            "fork",
            "vfork",
        ),
        *(
            "clone",
            "dlopen",
            "dlmopen",
            "dlsym",
            "ptrace",
            "mprotect",
            "memfd_create",
            "process_vm_writev",
            "syscall",
        ),
    )
)


def check(reading: Reading) -> Iterator[Hit]:
    device = {w.span for f in reading.host_functions if f.device for w in f.body}
    defined = {f.name for f in reading.host_functions}
    for word in calls(reading.host, _CALLS - defined):
        if word.span not in device:
            yield Hit(word.span, f"host code calls {word.text}")
