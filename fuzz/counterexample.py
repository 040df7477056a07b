"""A failing case as a test file that needs only this tool and pytest: ``save`` writes it, ``check`` is what it calls.

The file names the kernel's source, the reference, the case, and the input bytes themselves when they are small, so that
it shows the same fault in every later version. Invariant: ``check`` raises AssertionError while the fault is there.

Example::

    save(folder, source, reference, job, fault)    # folder/test_cex_3f2a91c07b.py
    # pytest folder/test_cex_3f2a91c07b.py
"""

from __future__ import annotations

import base64
import hashlib
import json
import pprint
import zlib
from pathlib import Path
from typing import Any

from fuzz.runner import Case, Fault, Job, inputs_of, run_case
from fuzz.values import Recipe

MOST_BYTES = 1 << 16
_TEMPLATE = '''"""{title}

Written by verify-kernel. Run it with pytest; it passes once the kernel is right.
"""

from pathlib import Path

from fuzz.counterexample import check

CASE = {case}


def test_{name}() -> None:
    check(Path({source!r}), {reference!r}, CASE, contract={contract!r})
'''


def save(
    folder: Path, source: Path, reference: str, job: Job, fault: Fault, *, contract: Path | None = None
) -> Path:
    """Write the test; its name is a digest of what it shows."""
    data = inputs_of(job, fault.case, fault.launch)
    size = sum(map(len, data.values()))
    case: dict[str, Any] = {
        "kernel": job.kernel.name,
        "instantiation": list(job.kernel.instantiation),
        "sizes": dict(fault.case.sizes),
        "recipes": [[r.kind, r.seed] for r in fault.case.recipes],
        "scalars": dict(fault.case.scalars),
        "order": list(fault.case.order),
        "reuse": fault.case.reuse,
        "inputs": {p: _pack(raw) for p, raw in data.items()}
        if size <= MOST_BYTES and not fault.case.reuse
        else {},
    }
    digest = hashlib.sha256(json.dumps([str(source), reference, case], sort_keys=True).encode()).hexdigest()[
        :10
    ]
    path = folder / f"test_cex_{digest}.py"
    folder.mkdir(parents=True, exist_ok=True)
    title = fault.message.replace("\\", "/").replace('"""', "'''")
    name = "".join(c if c.isalnum() and c.isascii() else "_" for c in job.kernel.name)
    path.write_text(
        _TEMPLATE.format(
            title=title,
            case=pprint.pformat(case, width=108, sort_dicts=False),
            name=name,
            source=str(source.resolve()),
            reference=reference,
            contract=str(contract.resolve()) if contract is not None else None,
        ),
        encoding="utf-8",
    )
    return path


def _pack(raw: bytes) -> str:
    return base64.b85encode(zlib.compress(raw, 9)).decode()


def _unpack(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))


def check(source: Path, reference: str, case: dict[str, Any], *, contract: str | None = None) -> None:
    """Raise AssertionError with the fault's message while the kernel still shows it."""
    from fuzz import binding, sizes
    from fuzz import reference as references
    from fuzz.executor import SimulatorExecutor
    from fuzz.oracle import Oracle
    from verifier import contracts, frontend
    from verifier import source as sources
    from verifier.isolation import probe

    sandbox = probe("auto")
    submission = sources.load(source, root=None, sandbox=sandbox)
    derived = contracts.derive(
        submission,
        contract_file=Path(contract) if contract else None,
        problem=None,
        lock=None,
        sandbox=sandbox,
    )
    module = frontend.parse_device(submission.device, derived.instantiations, sandbox=sandbox)
    name, instance = case["kernel"], tuple(case["instantiation"])
    kernel = next(k for k in module.kernels if k.name == name and k.instantiation == instance)
    stated = next(c for c in derived.contracts if c.kernel == name and c.instantiation == instance)
    parsed = references.parse(reference, [p.name for p in kernel.params])
    pool = (*sizes.pool(stated, seed=0), dict(case["sizes"]))
    job = Job(kernel, stated, binding.bind(kernel, stated, parsed, pool), pool)
    replay = Case(
        tuple(sorted(case["sizes"].items())),
        tuple(Recipe(kind, seed) for kind, seed in case["recipes"]),
        tuple(case["scalars"].items()),
        (case["order"][0], case["order"][1]),
        case["reuse"],
    )
    data = {param: _unpack(text) for param, text in case["inputs"].items()}
    with (
        Oracle(sandbox, readable=parsed.readable) as oracle,
        SimulatorExecutor(submission.device, kernel, sandbox) as executor,
    ):
        fault = run_case(job, executor, oracle, replay, data=data)
    assert fault is None, fault.message
