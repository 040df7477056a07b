"""The text that is parsed before every device text: hand-written classes and the declarations of the intrinsic table.

Example: ``shim_text()`` starts with the attribute macros and ends with namespace std.
"""

from __future__ import annotations

from pathlib import Path

from verifier.intrinsics import TABLE, declarations
from verifier.intrinsics.vector import struct_declarations

_FOLDER = Path(__file__).parent / "shim"


def shim_text() -> str:
    parts = [
        (_FOLDER / "prelude.h").read_text(),
        "\n".join(struct_declarations()),
        (_FOLDER / "types.h").read_text(),
        declarations(),
        _std_names(),
        (_FOLDER / "std.h").read_text(),
    ]
    return "\n".join(parts)


def _std_names() -> str:
    """Math functions are in std as well, with the same overloads (min and max are templates there)."""
    names = [e.name for e in TABLE.values() if e.family == "math" and not e.name.startswith("__")]
    using = " ".join(f"using ::{name};" for name in names if name not in ("min", "max"))
    return f"namespace std {{ {using} }}"
