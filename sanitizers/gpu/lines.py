"""The line table of a cubin: kernel and offset -> the user's line, seen through inlined functions of the vendor's headers.

compute-sanitizer names the innermost function, for an atomic operation the header's. nvcc writes beside each row of inlined code
the number of the row that called it (extended opcode 0x90); libraries skip that, so the table is read here.

Example::

    Lines(cubin, "_Z9histogramPiS_i").caller(0x80, 107, {"hist.cu"})      # Span("hist.cu", 12)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Set
from dataclasses import dataclass

from specs.location import NOWHERE, Span

_INLINED_CALL = 0x90


@dataclass(frozen=True, slots=True)
class Row:
    address: int
    path: str
    line: int
    caller: int
    """Number of the calling row, from 1; 0: not inlined."""


class Lines:
    """Empty where the cubin has no line table that can be read."""

    def __init__(self, cubin: bytes, function: str) -> None:
        try:
            self.rows = list(_rows(cubin, function))
        except (struct.error, IndexError, ValueError, KeyError):
            self.rows = []

    def caller(self, offset: int, line: int, paths: Set[str]) -> Span:
        """The innermost place in the user's own files of what was reported at ``line`` of some file; NOWHERE if none."""
        near = max((r.address for r in self.rows if r.address <= offset), default=-1)
        row = next((r for r in self.rows if (r.address, r.line) == (near, line)), None)
        for _ in range(64):
            if row is None:
                break
            for path in sorted(paths, key=len, reverse=True):
                if row.path == path or row.path.endswith(f"/{path}"):
                    return Span(path, row.line)
            row = self.rows[row.caller - 1] if 0 < row.caller <= len(self.rows) else None
        return NOWHERE


def _rows(cubin: bytes, function: str) -> Iterator[Row]:
    sections = _sections(cubin)
    data = sections[".debug_line"]
    names = _relocations(sections)
    version, header = struct.unpack_from("<HI", data, 4)
    if version > 4:
        raise ValueError("a version that is not known")
    minimum, _, base, span, first = struct.unpack_from("<BBbBB", data, 10)
    arguments = data[15 : 15 + first - 1]
    place = 15 + first - 1
    folders, place = _strings(data, place)
    files: list[str] = []
    while data[place]:
        end = data.index(0, place)
        name = data[place:end].decode(errors="replace")
        folder, place = _uleb(data, end + 1)
        _, place = _uleb(data, place)
        _, place = _uleb(data, place)
        files.append(f"{folders[folder - 1]}/{name}" if folder else name)
    place = 10 + header
    address = line = file = caller = 0
    current = ""

    def row() -> Iterator[Row]:
        if current == function and 0 < file <= len(files):
            yield Row(address, files[file - 1], line, caller)

    address, line, file, caller = 0, 1, 1, 0
    while place < 4 + struct.unpack_from("<I", data)[0]:
        opcode = data[place]
        place += 1
        if opcode >= first:
            address += (opcode - first) // span * minimum
            line += base + (opcode - first) % span
            yield from row()
        elif opcode == 0:
            length, place = _uleb(data, place)
            kind = data[place]
            if kind == 1:
                address, line, file, caller, current = 0, 1, 1, 0, ""
            elif kind == 2:
                address = struct.unpack_from("<Q", data, place + 1)[0]
                current = names.get(place + 1, "")
            elif kind == _INLINED_CALL:
                caller, _ = _uleb(data, place + 1)
            place += length
        elif opcode == 1:
            yield from row()
        elif opcode == 2:
            step, place = _uleb(data, place)
            address += step * minimum
        elif opcode == 3:
            step, place = _sleb(data, place)
            line += step
        elif opcode == 4:
            file, place = _uleb(data, place)
        elif opcode == 8:
            address += (255 - first) // span * minimum
        elif opcode == 9:
            address += struct.unpack_from("<H", data, place)[0]
            place += 2
        else:
            for _ in range(arguments[opcode - 1]):
                _, place = _uleb(data, place)


def _sections(cubin: bytes) -> dict[str, bytes]:
    (start,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, start + i * size) for i in range(count)]
    text = headers[names][4]
    found = {}
    for name, _, _, _, offset, length in headers:
        end = cubin.index(0, text + name)
        found[cubin[text + name : end].decode()] = cubin[offset : offset + length]
    return found


def _relocations(sections: dict[str, bytes]) -> dict[int, str]:
    """Place in the line table of an address -> the function that it is of."""
    symbols, strings = sections[".symtab"], sections[".strtab"]
    found = {}
    for name, width in ((".rela.debug_line", 24), (".rel.debug_line", 16)):
        for offset, info in (
            struct.unpack_from("<QQ", sections[name], i)
            for i in range(0, len(sections.get(name, b"")), width)
        ):
            (start,) = struct.unpack_from("<I", symbols, (info >> 32) * 24)
            found[offset] = strings[start : strings.index(0, start)].decode()
    return found


def _strings(data: bytes, place: int) -> tuple[list[str], int]:
    found = []
    while data[place]:
        end = data.index(0, place)
        found.append(data[place:end].decode(errors="replace"))
        place = end + 1
    return found, place + 1


def _uleb(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, place


def _sleb(data: bytes, place: int) -> tuple[int, int]:
    start = place
    value, place = _uleb(data, place)
    bits = 7 * (place - start)
    return (value - (1 << bits) if value >> (bits - 1) & 1 else value), place
