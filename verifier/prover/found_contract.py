"""A found precondition as a contract file: what a person reviews, and then gives with ``--contract``.

Precondition x Kernel -> TOML. Says what the proofs need and nothing more; that the caller keeps it is for the reader to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifier.ir import nodes as ir
from verifier.prover.abduction import Precondition
from verifier.prover.given import bounds, of_memory

_ONE = re.compile(r"(\w+) == (\d+)")


def toml(found: Precondition, kernel: ir.Kernel) -> str:
    """One ``[[contract]]`` table."""
    return "\n".join(_lines(found, kernel)) + "\n"


def _lines(found: Precondition, kernel: ir.Kernel) -> Iterator[str]:
    bare = found.bare
    texts = [c.text for c in found.clauses]
    fixed = {m[1]: m[2] for x in texts if (m := _ONE.fullmatch(x)) and m[1] in (*bare.grid, *bare.block)}
    calls = [told for x in texts if (told := of_memory(x)) is not None]
    sizes = [x for x in texts if not of_memory(x) and x.split(" ")[0] not in fixed]
    yield "[[contract]]"
    yield f'kernel = "{kernel.name}"'
    if kernel.instantiation:
        yield f"instantiation = [{', '.join(_text(a) for a in kernel.instantiation)}]"
    yield "# FOUND: under this contract every required property is proved. Nothing says that your launches keep it:"
    yield "# read every line, write the real launch in the place of the free names, then use it."
    axes = {n: fixed.get(n, n) for n in (*bare.grid, *bare.block)}
    launch = f"grid = [{_list(axes[n] for n in bare.grid)}], block = [{_list(axes[n] for n in bare.block)}]"
    shared = f", shared_bytes = {_text(bare.shared)}" if bare.shared else ""
    yield f"launch = {{ {launch}{shared} }}"
    if sizes:
        yield "requires = ["
        yield from (f"  {_text(x)}," for x in sizes)
        yield "]"
    apart = [x for x in calls if x[0] == "disjoint"]
    if apart:
        yield f"no_alias = [{', '.join(f'[{_text(x[1])}, {_text(x[2])}]' for x in apart)}]"
    if bare.lengths:
        yield ""
        yield "[contract.buffers]"
    filled = {x[1] for x in calls if x[0] == "written"}
    aligned: dict[str, int] = {}
    for kind, name, rest in calls:
        if kind == "aligned":
            aligned[name] = max(aligned.get(name, 0), int(rest))
    constant = {p.name for p in kernel.params if isinstance(p.type, ir.Pointer) and p.type.const}
    for param, length in bare.lengths.items():
        buffer = found.contract.buffer(param)
        if buffer is None:
            continue
        lanes = buffer.extent.split(" * ")[0] if " * " in buffer.extent else ""
        mode = ("in" if param in constant else "inout") if param in filled else "out"
        size = f"{length}, {lanes}" if lanes else length
        align = f" align {aligned[param]}" if param in aligned else ""
        yield f"{_key(param)} = {_text(f'{mode} {buffer.dtype}[{size}]{align}')}"
    renamed = {param: name for param, name in bare.names.items() if param != name}
    if renamed:
        yield ""
        yield "[contract.scalars]"
        yield from (f"{_key(param)} = {_text(name)}" for param, name in renamed.items())
    ranges = [(x[1], *bounds(x[2])) for x in calls if x[0] == "content"]
    if ranges:
        yield ""
        yield "[contract.content]"
        yield from (f"{_key(name)} = {_text(f'{low}..{high}')}" for name, low, high in ranges)
    yield ""
    yield "[contract.symbols]"
    for s in found.contract.symbols:
        if s.name not in bare.names.values() or s.name in renamed.values():
            if s.name not in fixed:
                yield f'{s.name} = {{ kind = "scalar", low = {s.low}, high = {s.high} }}'


def _list(texts: Iterator[str]) -> str:
    return ", ".join(map(_text, texts))


def _text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)
