"""The submission reads and writes no files of others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit, calls

ID = "outside-data"
SEVERITY = Severity.ERROR
SUMMARY = "the submission reads and writes no files of others"
WHY = "Files and networks hold reference results, tolerances and earlier solutions."
FIX = "keep everything in the submission; its own .cu and .cpp files may be read by name"
SWITCHABLE = True
_CALLS = frozenset(
    (
        *(
            "open",
            "io.open",
            "os.open",
            "os.remove",
            "os.rename",
            "os.replace",
            "os.listdir",
            "os.walk",
            "os.scandir",
        ),
        *(
            "os.unlink",
            "os.chmod",
            "os.symlink",
            "os.kill",
            "glob.glob",
            "glob.iglob",
            "shutil.copy",
            "shutil.move",
        ),
        *(
            "torch.load",
            "torch.save",
            "torch.from_file",
            "torch.hub.load",
            "numpy.load",
            "numpy.save",
            "numpy.memmap",
        ),
        *(
            ".write_text",
            ".write_bytes",
            ".read_text",
            ".read_bytes",
            ".rglob",
            ".iterdir",
            ".unlink",
            "pickle.dump",
        ),
    )
)
_HOST = frozenset(("fopen", "ifstream", "ofstream", "fstream", "freopen", "socket", "mmap", "shm_open"))
_MODULES = ("socket.", "urllib.", "requests.", "http.", "ftplib.", "shutil.")
_SOURCES = (".cu", ".cpp", ".cuh", ".cc", ".h", ".hpp")


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    for call in wrapper.calls(everywhere=True) if wrapper is not None else ():
        assert wrapper is not None
        name = wrapper.name(call.func)
        if (name in _CALLS or name.startswith(_MODULES)) and not (_reads(name, call) and _source(call)):
            yield Hit(wrapper.span(call), f"{name.lstrip('.')} uses files or the network")
    for word in calls(reading.host, _HOST):
        yield Hit(word.span, f"host code uses {word.text}")


def _reads(name: str, call: ast.Call) -> bool:
    modes = [a.value for a in call.args[1:] if isinstance(a, ast.Constant)]
    modes += [k.value.value for k in call.keywords if k.arg == "mode" and isinstance(k.value, ast.Constant)]
    return name in ("open", "io.open", ".read_text") and all(m in ("r", "rt", "utf-8") for m in modes)


def _source(call: ast.Call) -> bool:
    """Whether the last literal in it is the name of a source file."""
    texts = [n.value for n in ast.walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return any(t.endswith(_SOURCES) and ".." not in t for t in texts)
