"""Sorts the parser's errors: the user's own, and those that only say what the shim does not declare.

Input -> output: complaints -> (errors, undeclared). An error makes the input unreadable (exit 2). A name of CUDA or of
a library that the shim lacks (``nvcuda::wmma``, ``curandState``) is no fault of the text: the kernels that need it are
UNKNOWN by that name.

Invariant: what follows the first undeclared name in a function is a consequence of it; every other error is an error.

Example: ``use of undeclared identifier 'nvcuda'`` in kernel k -> k becomes Unsupported("undeclared name", …).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from verifier.frontend.device_clang import Complaint, Node
from verifier.intrinsics import TABLE

_NAMED = re.compile(
    r"(?:use of undeclared identifier|unknown type name|unknown class name|no template named|no member named"
    r"|no type named|no matching (?:member )?function for call to|call to(?= '.*' is ambiguous)"
    r"|use of class template|no matching constructor for initialization of) '([^']+)'"
)
_SCOPED = re.compile(r"in (?:namespace )?'([^']+)'")
_FOREIGN = re.compile(
    r"^::|^(?:cu(?:da|rand|b|blas|dnn|te|tlass|fft)|nv|wgmma|wmma|mma|tex[123]D|surf[123]D|std|at|c10|torch|thrust"
    r"|cooperative_groups|cg|CU[A-Z]|CUDART|half|bfloat|fp8|tma|barrier|pipeline|mbarrier|texture|surface)"
)
_UNDERSCORED = re.compile(
    r"^__(?:[A-Z]|\w+__$|nv|builtin|cuda|cluster|mbarrier|pipeline|barrier|cvta|is|h[a-z]|(?:low|high)s?2|finite|signbit|pm\d"
    r"|threadfence|syncthreads|tanhf$|bfloat|fp\d|\w+_as_|u?sad|prof|brk|nano|uni|\w*Atomic|v[a-z]+[24]$|vi[a-z])"
    r"|^__\w+_(?:impl|internal|relu|mask|sat|nan|block|system|sync|r[nduz])$"
)
"""How CUDA's own names begin or end; ``__logf1p``, ``__sqrtf`` and ``__float2half2`` are nobody's."""
_SHIM_CLASS = re.compile(
    r"'(?:const )?(?:__half2?|__nv_bfloat162?|c10::\w+|cooperative_groups::[^']*|std::[^']*)"
)


_NO_CONFIGURATION = "use of undeclared identifier cudaConfigureCall"
_CONFIGURED = re.compile(rb"[\w:]+\s*(?:<[^;{}<]*>)?\s*<<<")
LAUNCH = "a launch from device code"


def sort_complaints(complaints: Sequence[Complaint], root: Node) -> tuple[list[Complaint], list[Complaint]]:
    """(errors of the text, undeclared names and their consequences)."""
    if not complaints:
        return [], []
    complaints = [replace(c, message=LAUNCH) if _is_launch(c, root) else c for c in complaints]
    extents = list(_declarations(root))
    groups: dict[tuple[int, int], list[Complaint]] = {}
    for complaint in sorted(complaints, key=lambda c: c.offset):
        inside = next((e for e in extents if e[0] <= complaint.offset < e[1]), (-1, -1))
        groups.setdefault(inside, []).append(complaint)
    errors: list[Complaint] = []
    undeclared: list[Complaint] = []
    for extent, group in groups.items():
        at_file_scope = extent == (-1, -1)
        if not is_undeclared(group[0]) and not (at_file_scope and any(map(is_undeclared, group))):
            errors += group
        elif at_file_scope:
            harmless = all(c.message == "expected namespace name" for c in group)
            undeclared += [replace(c, everywhere=not harmless) for c in group]
        else:
            undeclared += group
    return errors, undeclared


def _is_launch(complaint: Complaint, root: Node) -> bool:
    """What the parser says of ``k<<<1, 1>>>(…)`` in device code."""
    if complaint.message.startswith("reference to __global__ function"):
        return bool(_CONFIGURED.match(root.unit.text, complaint.offset))
    return complaint.message == _NO_CONFIGURATION


def is_undeclared(complaint: Complaint) -> bool:
    message = complaint.message
    if message in ("expected namespace name", LAUNCH):
        return True
    named = _NAMED.search(message)
    if named is not None:
        scope = _SCOPED.search(message, named.end())
        name = named.group(1)
        foreign = _FOREIGN.match(name) or _UNDERSCORED.match(name) or name in TABLE
        return bool(foreign) or bool(scope and _FOREIGN.match(scope.group(1)))
    return bool(_SHIM_CLASS.search(message))


def _declarations(node: Node) -> Iterator[tuple[int, int]]:
    """The extents of the functions of the text (whole classes count as one)."""
    for child in node.children:
        if child.kind in ("NAMESPACE", "LINKAGE_SPEC"):
            if child.start >= 0:
                yield from _declarations(child)
        elif child.start >= 0 and child.kind in ("FUNCTION_DECL", "FUNCTION_TEMPLATE"):
            yield child.extent
