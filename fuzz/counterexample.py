"""A failing case as a test file that needs only this tool and pytest: ``save`` writes it, ``check`` is what it calls.

The file names the kernel's source, the reference, the case, and the input bytes themselves when they are small, so that
it shows the same fault in every later version. Invariant: ``check`` raises AssertionError while the fault is there.

Example::

    save(folder, source, job, fault)    # folder/test_cex_3f2a91c07b.py
    # pytest folder/test_cex_3f2a91c07b.py
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fuzz.binding import Binding
from fuzz.case import Case, Fault, Job, inputs_of, run_case
from fuzz.chain import ChainExecutor, link
from fuzz.executor import Executor, SimulatorExecutor
from fuzz.landmarks import landmarks
from fuzz.oracle import Oracle
from fuzz.reference import Reference
from fuzz.values import Recipe
from specs.contract import Contract, from_json, to_json
from specs.reference_ops import Operand, load
from verifier.ir.nodes import Kernel
from verifier.isolation.sandbox import Sandbox

MOST_BYTES = 1 << 16
_TEMPLATE = '''"""{title}

With {with_}. Written by verify-kernel. Run it with pytest; it passes once the kernel is right.
"""

import json
from pathlib import Path

from fuzz.counterexample import check

CASE = json.loads({case!r})


def test_{name}() -> None:
    check(Path({source!r}), CASE)
'''


def save(folder: Path, source: Path, job: Job, fault: Fault) -> Path:
    """Write the test; its name is a digest of what it shows."""
    data = inputs_of(job, fault.case, fault.launch)
    own = any(r.kind == "problem" for r in fault.case.recipes)
    small = sum(map(len, data.values())) <= MOST_BYTES and not fault.case.reuse and not own
    case: dict[str, Any] = {
        "contract": to_json(job.contract),
        "stages": [to_json(c) for c in job.stages],
        "binding": _binding_out(job.binding),
        "kernel": job.kernel.name,
        "instantiation": list(job.kernel.instantiation),
        "sizes": dict(fault.case.sizes),
        "recipes": [[r.kind, r.seed] for r in fault.case.recipes],
        "scalars": dict(fault.case.scalars),
        "order": list(fault.case.order),
        "reuse": fault.case.reuse,
        "inputs": {p: _pack(raw) for p, raw in data.items()} if small else {},
    }
    digest = hashlib.sha256(json.dumps([str(source), case], sort_keys=True).encode()).hexdigest()[:10]
    path = folder / f"test_cex_{digest}.py"
    folder.mkdir(parents=True, exist_ok=True)
    title = fault.message.replace("\\", "/").replace('"""', "'''")
    name = "".join(c if c.isalnum() and c.isascii() else "_" for c in job.kernel.name)
    path.write_text(
        _TEMPLATE.format(
            title=title,
            case=json.dumps(case),
            with_=", ".join(f"{k} = {v}" for k, v in [*fault.case.sizes, *fault.case.scalars]) or "one size",
            name=name,
            source=str(source.resolve()),
        ),
        encoding="utf-8",
    )
    return path


def _pack(raw: bytes) -> str:
    return base64.b85encode(zlib.compress(raw, 9)).decode()


def _unpack(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))


def _binding_out(binding: Binding) -> dict[str, Any]:
    op = binding.reference.op
    return {
        "text": binding.reference.text,
        "op": op.name if op is not None else None,
        "wire": binding.reference.wire,
        "inputs": [[operand.name, operand.values, param] for operand, param in binding.inputs],
        "outputs": list(binding.outputs),
        "fixed": {k: list(v) if isinstance(v, tuple) else v for k, v in binding.fixed.items()},
        "drawn": binding.drawn,
        "given": binding.given,
        "chosen": binding.chosen,
        "stated": binding.stated,
        "side": list(binding.side),
        "structured": binding.structured,
        "shapes": {param: list(texts) for param, texts in binding.shapes.items()},
    }


def _binding_in(data: dict[str, Any]) -> Binding:
    op = load()[data["op"]] if data["op"] is not None else None
    operands = {o.name: o for o in op.inputs} if op is not None else {}
    return Binding(
        Reference(data["text"], op, wire=data["wire"]),
        tuple(
            (operands.get(name, Operand(name, values=kind)), param) for name, kind, param in data["inputs"]
        ),
        tuple(data["outputs"]),
        {k: tuple(v) if isinstance(v, list) else v for k, v in data["fixed"].items()},
        data["drawn"],
        data["given"],
        data["chosen"],
        data["stated"],
        {param: tuple(texts) for param, texts in data["shapes"].items()},
        tuple(data["side"]),
        data["structured"],
    )


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "verify-kernel"


@dataclass(frozen=True, slots=True)
class Opened:
    """A saved case with its kernel. ``programs`` opens the executor; ``readable``: what the reference needs."""

    job: Job
    case: Case
    data: dict[str, bytes]
    programs: Callable[[], AbstractContextManager[Executor]]
    readable: tuple[Path, ...]
    sandbox: Sandbox


def opened(
    source: Path,
    case: dict[str, Any],
    *,
    cache: Path | None = None,
    text: Callable[[str], str] = str,
    contract: Callable[[Contract], Contract] = lambda c: c,
) -> Opened:
    """The saved case. ``text`` and ``contract`` change the kernel and what is known of it, to ask about another one."""
    from verifier import frontend
    from verifier import source as sources
    from verifier.isolation import probe

    sandbox = probe("auto")
    device = sources.load(source, root=None, sandbox=sandbox).device
    if (changed := text(device.text)) != device.text:
        device = replace(device, text=changed, sha256=hashlib.sha256(changed.encode()).hexdigest())
    contracts = [contract(from_json(c)) for c in case["stages"] or [case["contract"]]]
    wanted = [(c.kernel, c.instantiation) for c in contracts]
    module = frontend.parse_device(device, [w for w in wanted if w[1]], sandbox=sandbox)
    known = {(k.name, k.instantiation): k for k in module.kernels}
    kernels = [known[w] for w in wanted]
    chain = link(contracts, kernels) if len(contracts) > 1 else None
    kernel = chain.kernel if chain is not None else kernels[0]
    whole = contract(from_json(case["contract"]))
    job = Job(kernel, whole, _binding_in(case["binding"]), (case["sizes"],), landmarks=landmarks(*kernels))
    replay = Case(
        tuple(sorted(case["sizes"].items())),
        tuple(Recipe(kind, seed) for kind, seed in case["recipes"]),
        tuple(case["scalars"].items()),
        (case["order"][0], case["order"][1]),
        case["reuse"],
    )
    path = job.binding.reference.wire.get("path")
    readable = (Path(path).parent,) if path and job.binding.reference.wire["kind"] == "function" else ()

    def make(one: Kernel, opt: str) -> SimulatorExecutor:
        return SimulatorExecutor(device, one, sandbox, opt=opt, cache=cache or _cache())

    def programs() -> AbstractContextManager[Executor]:
        return make(kernel, "O1") if chain is None else ChainExecutor(chain, make, "O1")

    data = {param: _unpack(packed) for param, packed in case["inputs"].items()}
    return Opened(job, replay, data, programs, readable, sandbox)


def check(source: Path, case: dict[str, Any], *, cache: Path | None = None) -> None:
    """Raise AssertionError with the fault's message while the kernel still shows it."""
    saved = opened(source, case, cache=cache)
    with Oracle(saved.sandbox, readable=saved.readable) as oracle, saved.programs() as executor:
        judged = run_case(saved.job, executor, oracle, saved.case, data=saved.data)
    assert judged.seen is None, judged.seen
    assert judged.fault is None, judged.fault.message
