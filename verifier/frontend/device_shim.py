"""The text that is parsed before a device text: hand-written classes and the declarations of the intrinsic table.

Input -> output: the device text -> the parts of the shim that its words can need (most of the parsing time would
otherwise go into declarations that nobody uses); None -> all of it.

Invariant: a part is left out only when none of its names can occur in the text.

Example: ``shim_text("… expf(x) …")`` declares expf and its overloads, not the atomics and no 16-bit floats.
"""

from __future__ import annotations

import re
from pathlib import Path

from verifier.intrinsics import TABLE, declarations
from verifier.intrinsics.vector import struct_declarations

_FOLDER = Path(__file__).parent / "shim"
_TORCH = r"\b(at|c10|torch)\s*(::|\{)|\bnamespace\s+(at|c10|torch)\b|Accessor|PtrTraits|\bHalf\b|\bBFloat16\b"
_BEFORE = (
    ("torch.h", _TORCH),
    ("half.h", r"half|Half|bfloat|BFloat|__h|wmma"),
    ("torch_half.h", r"\bHalf\b|\bBFloat16\b"),
    ("accessor.h", r"Accessor|PtrTraits"),
)
_AFTER = (
    ("groups.h", r"cooperative_groups"),
    ("std.h", r"\bstd\b"),
    ("limits.h", r"\bnumeric_limits\b"),
    ("wmma.h", r"\bwmma\b"),
    ("random.h", r"\bcurand"),
    (
        "texture.h",
        r"\b(CU(tex|surf)Object|cuda(Texture|Surface|ReadMode|BoundaryMode)\w*|(texture|surface)\s*<|(tex|surf)([123]D|Cube)\w*)",
    ),
)
_SMALL_FLOATS = re.compile(r"__half|__nv_bfloat16")


def shim_text(text: str | None = None) -> str:
    words = None if text is None else set(re.findall(r"\w+", text))
    before, after = (
        [name for name, trigger in parts if text is None or re.search(trigger, text)]
        for parts in (_BEFORE, _AFTER)
    )
    functions = declarations(words)
    if "half.h" not in before:
        functions = "\n".join(line for line in functions.splitlines() if not _SMALL_FLOATS.search(line))
    return "\n".join(
        [
            _file("prelude.h"),
            "\n".join(struct_declarations()),
            _file("types.h"),
            *map(_file, before),
            functions,
            _std_names(words) if "std.h" in after else "",
            *map(_file, after),
            _alignas(text or ""),
            "",
        ]
    )


def _alignas(text: str) -> str:
    """nvcc takes ``alignas`` after other specifiers (``__shared__ alignas(16) int s[4];``), clang takes it only first."""
    if not re.search(
        r"\b(__shared__|extern|static|const|volatile|__device__|__constant__)\s+alignas\b", text
    ):
        return ""
    if re.search(r"\b(struct|class|union)\s+alignas\b", text):
        return "#define alignas(...) __attribute__((aligned(__VA_ARGS__)))"
    return "#define alignas _Alignas"


def _file(name: str) -> str:
    return (_FOLDER / name).read_text()


def _std_names(words: set[str] | None) -> str:
    """Math functions are in std as well, with the same overloads (min and max are templates there)."""
    names = [e.name for e in TABLE.values() if e.family == "math" and not e.name.startswith("__")]
    declared = [name for name in names if name not in ("min", "max") and (words is None or name in words)]
    return "namespace std { " + " ".join(f"using ::{name};" for name in declared) + " }"
