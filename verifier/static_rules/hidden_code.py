"""The Python text says what it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "hidden-code"
SEVERITY = Severity.ERROR
SUMMARY = "the Python text says what it does"
WHY = "Code that is built from text or data while it runs cannot be audited by reading it."
FIX = "write the code out"
SWITCHABLE = True
_CALLS = frozenset(
    (
        *(
            "exec",
            "eval",
            "compile",
            "__import__",
            "importlib.import_module",
            "importlib.reload",
            "types.FunctionType",
        ),
        *(
            "types.CodeType",
            "marshal.loads",
            "pickle.loads",
            "pickle.load",
            "base64.b64decode",
            "base64.b85decode",
        ),
        *(
            "base64.decodebytes",
            "zlib.decompress",
            "bytes.fromhex",
            "codecs.decode",
            "binascii.unhexlify",
            "lzma.decompress",
        ),
        *("bz2.decompress", "builtins.exec", "builtins.eval", "builtins.compile", "builtins.__import__"),
        *("ctypes.CDLL", "ctypes.cdll.LoadLibrary", "ctypes.PyDLL", "ctypes.memmove", "ctypes.string_at"),
    )
)


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    for call in wrapper.calls(everywhere=True) if wrapper is not None else ():
        assert wrapper is not None
        name = wrapper.name(call.func)
        if name in _CALLS:
            yield Hit(wrapper.span(call), f"{name} makes code or hides it")
        elif name == "getattr" and len(call.args) > 1 and not isinstance(call.args[1], ast.Constant):
            owner = wrapper.name(call.args[0])
            if owner.partition(".")[0] in wrapper.roots:
                yield Hit(wrapper.span(call), f"which attribute of {owner} is used is not said")
