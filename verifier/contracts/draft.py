"""A contract to review, for kernels of which the host code does not tell everything. Kernels -> commented TOML.

Every line says where it comes from: a GUESS was made from names and types alone; what was read in the host code stands
in comments, for the host code wins anyway. A draft never counts until a person has read it and given it.

Example: ``k(const float* x, float* y, int n)`` is drafted with ``x = "in f32[n]"  # GUESS …``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from specs.clauses import INT_TYPES
from specs.contract import Contract
from specs.version import VERSION
from verifier.contracts.values import dtype_of, element_of
from verifier.frontend.host import Node

SCHEMA = "verify-kernel-contract.schema.json"
"""The name under which editors are told to find the schema."""
_COUNT = re.compile(
    r"^(n|N|size|len|length|count|num|numel|total|elements|num_elements|total_elements|n_elements|nelem)$"
)


def draft(kernels: Sequence[Node], contracts: Sequence[Contract] = ()) -> str:
    """The tables of kernels that nothing launches, or of whose launches only the memory is not known; empty for none."""
    launched = {c.kernel for c in contracts}
    tables = [[*_alone(k), ""] for k in kernels if k["name"] not in launched]
    for kernel in kernels:
        open_ = [c for c in contracts if c.kernel == kernel["name"] and c.gaps]
        if open_ and all(_is_of_memory(gap, kernel) for c in open_ for gap in c.gaps):
            tables.append([*_filling(kernel, open_), ""])
    return "\n".join("\n".join(table) for table in tables)


def _is_of_memory(gap: str, kernel: Node) -> bool:
    """Whether a stated buffer closes the gap."""
    return any(
        gap.startswith(f"parameter {p['name']}: how many elements") and p["type"].endswith("*")
        for p in kernel["params"]
    )


def file(path: str, target: str, kernels: Sequence[Node], contracts: Sequence[Contract]) -> str:
    """A whole contract file for a submission; empty if its host code tells everything."""
    tables: list[str] = []
    complete: list[str] = []
    for kernel in kernels:
        own = [c for c in contracts if c.kernel == kernel["name"]]
        open_ = [c for c in own if c.gaps]
        if not own:
            tables += [*_alone(kernel), ""]
        elif open_:
            tables += [*_filling(kernel, open_), ""]
        else:
            complete.append(kernel["name"])
    if not tables:
        return ""
    head = [
        f"#:schema ./{SCHEMA}",
        f"# The contract of {path}, drafted by verify-kernel {VERSION}. Read every line, mend it, then use it:",
        f"#   verify-kernel --contract {target} {path}",
        "# A line marked GUESS was made from names and types alone; nothing of it is known to be true. What the host",
        "# code tells stands in comments and need not be stated: it wins over what is stated.",
        "# All keys: docs/reference/contracts.md. The schema that line 1 names, for completion and checks in editors:",
        f"#   verify-kernel init --schema > {SCHEMA}",
    ]
    if complete:
        head.append(f"# Nothing is needed for {', '.join(complete)}: the host code tells everything.")
    return "\n".join([*head, "", *tables]).rstrip("\n") + "\n"


def _alone(kernel: Node) -> Iterator[str]:
    """A kernel that no host code launches: everything is a guess."""
    ints = [p["name"] for p in kernel["params"] if dtype_of(p["type"]) in INT_TYPES and p["name"]]
    count = next((n for n in ints if _COUNT.match(n)), None)
    total = count or " * ".join(ints[:3]) or "n"
    yield "[[contract]]"
    yield f'kernel = "{kernel["name"]}"'
    if kernel["template"]:
        yield 'instantiation = ["float"]  # GUESS: one table for each list of template arguments that is launched'
    why = "one thread for each element, 256 threads a block; the launch was not found"
    yield f'launch = {{ grid = ["ceil_div({total}, 256)"], block = ["256"] }}  # GUESS: {why}'
    yield '# launch may have shared_bytes = "…" too: dynamic shared memory in bytes, 0 if it is left out'
    if ints:
        yield f"requires = [{', '.join(f'{chr(34)}{n} >= 1{chr(34)}' for n in ints)}]  # GUESS: the smallest sizes"
    else:
        yield '# requires = ["n >= 1"]  # what the caller guarantees of the sizes'
    yield from _aliases(kernel)
    yield ""
    yield from _buffers(kernel, kernel["params"], count or ", ".join(ints[:3]) or "n")
    yield from _scalars(kernel)


def _filling(kernel: Node, contracts: Sequence[Contract]) -> Iterator[str]:
    """A kernel whose launch is known but for some parameters."""
    yield "[[contract]]"
    yield f'kernel = "{kernel["name"]}"'
    places = dict.fromkeys(str(c.launch.span) for c in contracts)
    yield f"# its launch is known from the host code ({', '.join(places)}):"
    first = contracts[0]
    for name, texts in (("grid", first.launch.grid), ("block", first.launch.block)):
        yield f"#   {name} = {_quoted(texts)}"
    yield f'#   shared_bytes = "{first.launch.shared_bytes}"'
    missing = {p["name"] for p in kernel["params"]}
    for buffer in first.buffers:
        if not any(g.startswith(f"parameter {buffer.param}:") for c in contracts for g in c.gaps):
            missing.discard(buffer.param)
            yield f'#   {buffer.param} = "{buffer.dtype}[{", ".join(buffer.shape) or buffer.extent}]"'
    for scalar in first.scalars:
        if scalar.value is not None:
            yield f'#   {scalar.param} = "{scalar.value}"'
    other = [g for c in contracts for g in c.gaps if not g.startswith("parameter ")]
    if other:
        yield "# No contract can state this; it is to be mended in the host code, or the kernel stays not decided:"
        yield from (f"#   {g}" for g in dict.fromkeys(other))
    ints = [p["name"] for p in kernel["params"] if dtype_of(p["type"]) in INT_TYPES and p["name"]]
    count = next((n for n in ints if _COUNT.match(n)), None)
    yield '# requires = ["n >= 1"]  # what the caller guarantees of the sizes'
    yield from _aliases(kernel)
    open_ = [p for p in kernel["params"] if p["name"] in missing and p["type"].endswith("*")]
    if open_:
        yield ""
        yield from _buffers(kernel, open_, count or ", ".join(ints[:3]) or "n")


def _buffers(kernel: Node, params: Sequence[Node], extent: str) -> Iterator[str]:
    """What pointer parameters point to: the type is read from the kernel, how much it is can only be guessed."""
    pointers = [(p["name"], p["type"]) for p in params if p["type"].endswith("*") and p["name"]]
    if not pointers:
        yield "# the kernel has no pointer parameter, so there are no buffers"
        return
    yield "[contract.buffers]  # in: read only; out: not initialised by the caller; inout: both"
    indices = []
    for name, type_ in pointers:
        found = element_of(type_)
        dtype = found[0] if found else "f32"
        mode = "in" if type_.startswith("const ") else "inout"
        size = extent
        if found is None:
            kind = "a template parameter" if "type-parameter" in type_ else f"{type_} in the kernel"
            sure = f"GUESS: the type ({kind}) and the extent"
        elif found[1] > 1:
            size = f"{extent}, {found[1]}"
            sure = f"GUESS: the extent, in elements of {dtype}"
        else:
            sure = "GUESS: the extent"
        yield f'{_key(name)} = "{mode} {dtype}[{size}]"  # {sure}'
        if dtype in INT_TYPES and mode == "in":
            indices.append(name)
    if indices:
        yield ""
        yield "# [contract.content]  # if elements are used as indices: their smallest and largest value"
        yield from (f'# {_key(n)} = "0..n - 1"' for n in indices)


def _aliases(kernel: Node) -> Iterator[str]:
    pointers = [p["name"] for p in kernel["params"] if p["type"].endswith("*") and p["name"]]
    if len(pointers) > 1:
        pair = f'["{pointers[0]}", "{pointers[1]}"]'
        yield f"# no_alias = [{pair}]  # pairs of buffers that never overlap, if the caller guarantees it"


def _scalars(kernel: Node) -> Iterator[str]:
    ints = [p["name"] for p in kernel["params"] if dtype_of(p["type"]) in INT_TYPES and p["name"]]
    if ints:
        yield ""
        yield "# [contract.scalars]  # only if an argument is computed; else a parameter's name is its value"
        yield f'# {_key(ints[0])} = "i32(m * 4)"'
        yield "# [contract.symbols]  # bounds, and a value to try first"
        yield f"# {_key(ints[0])} = {{ low = 1, high = 65536, value = 1024 }}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else f'"{name}"'


def _quoted(texts: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{t}"' for t in texts) + "]"
