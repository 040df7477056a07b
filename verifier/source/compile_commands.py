"""What a compilation database says of one file: its include folders, macros, and flags that change arithmetic.

``compile_commands.json`` and a file -> :class:`Settings`. The database is named on the command line, so it is trusted
like ``-I`` and ``-D``; nothing in it is run.

Invariant: an option that gives the compiler other text (``-include``, a response file), or gives the text another meaning
(``-funsigned-char``), is an error, never skipped.

Example: the entry ``nvcc -Iinclude -DN=4 -c a.cu`` in ``/p`` gives ``/p/include`` and ``{"N": "4"}``.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from specs.location import Span
from verifier.source.errors import SourceError
from verifier.source.macros import UNDEFINED

_FOLDER = re.compile(r"(?:-I|-isystem|-iquote|--include-path|--system-include)=?(.*)")
_MACRO = re.compile(r"(-D|--define-macro|-U|--undefine-macro)=?\s*(.*)")
_ARITHMETIC = re.compile(
    r"-{1,2}(?:use_fast_math|ftz|prec-div|prec-sqrt|fmad|ffast-math|Ofast|fp-|default-stream).*"
)
_OTHER_TEXT = re.compile(r"(?:-include|--pre-include|-imacros)(?:=.*)?|@.+|--options-file.*")
_OTHER_MEANING = re.compile(
    r"-funsigned-char|-fno-signed-char|-fshort-enums|-fpack-struct.*|-m32|-Wp,.*|--?default-stream(?!=legacy|=null).*"
)
_HOST = ("-Xcompiler", "--compiler-options")
"""What follows is seen by the preprocessing of device code too."""
_PASSED_ON = (
    "-Xptxas",
    "--ptxas-options",
    "-Xlinker",
    "--linker-options",
)


@dataclass(frozen=True, slots=True)
class Settings:
    include_dirs: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()


def settings(database: Path, file: Path) -> Settings:
    """Of ``file``'s entries. Raises SourceError where there is none, or several that differ."""
    where = Span(str(database), 0)
    try:
        entries = json.loads(database.read_text(encoding="utf-8"))
        named = [(Path(e["directory"]), e["file"], _words(e)) for e in entries]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SourceError(
            f"is no compilation database: {error}", where, "write it with the build system"
        ) from None
    wanted = file.resolve()
    found = [
        _settings(words, database.parent / folder, where)
        for folder, name, words in named
        if (database.parent / folder / name).resolve() == wanted
    ]
    if not found:
        raise SourceError(f"has no entry for {file}", where, "give the file's -I and -D instead")
    if any(other != found[0] for other in found[1:]):
        raise SourceError(
            f"compiles {file} in several ways", where, "give the -I and -D of one of them instead"
        )
    return found[0]


def _words(entry: Mapping[str, object]) -> list[str]:
    arguments = entry.get("arguments")
    if isinstance(arguments, list):
        return [str(a) for a in arguments]
    return shlex.split(str(entry["command"]))


def _settings(words: Sequence[str], folder: Path, where: Span) -> Settings:
    include: list[Path] = []
    defines: dict[str, str] = {}
    flags: list[str] = []
    todo = list(reversed(words[1:]))
    while todo:
        word = todo.pop()
        if word in (*_HOST, "--default-stream", "-default-stream"):
            word = f"{word}={todo.pop() if todo else ''}"
        first, _, rest = word.partition("=")
        if first in _HOST:
            todo += reversed([w.strip("'\"") for w in rest.split(",")])
        elif word in _PASSED_ON:
            if todo:
                todo.pop()
        elif _OTHER_TEXT.fullmatch(word) or _OTHER_MEANING.fullmatch(word):
            raise SourceError(f"uses {word}, which is not read", where, "give the file's -I and -D instead")
        elif found := _FOLDER.fullmatch(word):
            include.append(folder / (found[1] or (todo.pop() if todo else "")))
        elif found := _MACRO.fullmatch(word):
            name, equals, value = (found[2] or (todo.pop() if todo else "")).partition("=")
            if "," in value and '"' not in value and "nvcc" in words[0]:  # nvcc takes it for the next macro
                raise SourceError(f"defines {name} with a comma", where, "write one -D for each macro")
            undefined = found[1] in ("-U", "--undefine-macro")
            defines[name] = UNDEFINED if undefined else value if equals else "1"
        elif _ARITHMETIC.fullmatch(word):
            flags.append(word)
    return Settings(tuple(include), defines, tuple(dict.fromkeys(flags)))
