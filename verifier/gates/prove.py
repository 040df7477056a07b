"""The prove gate: every contract's launch against every required property, by ``verifier.prover``.

PASS only if each property of each launch is PROVED or does not apply; FAIL if one is REFUTED with a replayed witness;
else INCONCLUSIVE with the first reason.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from specs.contract import NULL_STORAGE, Buffer, Clause, Contract, to_json
from specs.location import Span
from specs.policy import REQUIRED_PROPERTIES
from specs.results import Finding, GateResult, KernelResult, Outcome, PropertyResult, Reason, Verdict, Witness
from verifier.contracts import streams
from verifier.deadline import DeadlinePassed
from verifier.gates.context import GateContext
from verifier.ir.nodes import Kernel
from verifier.prover import manifest
from verifier.prover.abduction import precondition
from verifier.prover.found_contract import toml
from verifier.prover.verify import KernelVerdicts, Settings, verify
from verifier.smt.solver import SolverPool
from verifier.symex.setup import largest_size
from verifier.symex.stores import written_objects

_OF_BUFFERS = re.compile(r"(?!(?:[iu](?:8|16|32|64)|abs|pow2|min|max|ceil_div)\b)[a-z]\w*\([\w, ]*\)")
"""A statement about buffers or tensors by their names: ``disjoint(x, y)``, ``written(y)``."""
SEARCH_SECONDS = 20.0
"""How long it is looked for what unlaunched kernels of a file need."""


def run(context: GateContext) -> GateResult:
    """Verdicts on every launch of the submission."""
    start = time.monotonic()
    kernels: list[KernelResult] = []
    findings: list[Finding] = []
    assumptions: dict[Clause, None] = {}
    counts: dict[str, int] = {}
    with SolverPool(context.effort, context.cache, context.deadline) as pool:
        pool.warm()
        kept: list[KernelVerdicts] = []
        verdicts = _verdicts(context, pool, start)
        for contract, made in zip(context.contracts, verdicts, strict=True):
            kernel = find_kernel(context, contract)
            kept.append(made)
            if made.properties and contract.origin == "drafted":
                made = _undecided(made, Reason.MISSING_CONTRACT, "the contract is only a draft")
            if any(not c.accepted for c in (*contract.requires, *contract.no_alias)):
                note = "a clause that came with the submission counts only once it is accepted"
                made = _undecided(made, Reason.NOT_ACCEPTED, note, only_proved=True)
            findings += made.findings
            for k, v in made.counts.items():
                counts[k] = counts.get(k, 0) + v
            assumptions.update(dict.fromkeys((*contract.assumptions, *made.assumptions)))
            assumptions.update(
                (replace(c, origin="assumed"), None) for c in made.clauses if c.origin == "derived"
            )
            handles = (a for a in made.assumptions if a.text.startswith("handle("))
            contract = replace(
                contract,
                requires=(*contract.requires, *made.clauses),
                assumptions=(*contract.assumptions, *handles),
            )
            span = kernel.span if kernel is not None else contract.launch.span
            kernels.append(
                KernelResult(contract.kernel, contract.instantiation, contract, made.properties, span)
            )
        found = _preconditions(context, pool)
    kernels = _unordered_streams(kernels, {k.name: written_objects(k.body) for k in context.module.kernels})
    if context.obligations is not None:
        manifest.write(context.obligations, context.submission, kernels, [v.evidence for v in kept])
    required = context.policy.required_properties if context.required is None else context.required
    outcome, detail = _judge(kernels, required)
    return GateResult(
        gate="prove",
        outcome=outcome,
        seconds=time.monotonic() - start,
        findings=tuple(findings),
        kernels=tuple(kernels),
        assumptions=tuple(assumptions),
        detail=detail,
        facts={"discharged": counts, **({"preconditions": found} if found else {})},
    )


def _verdicts(context: GateContext, pool: SolverPool, start: float) -> list[KernelVerdicts]:
    """On each contract, in their order. Judged in another one: a launch of each kernel first, then those like one that was
    settled, so that a kernel that nothing settles takes no time from the others."""
    made: dict[int, KernelVerdicts] = {}
    known: dict[str, KernelVerdicts] = {}
    settled: set[str] = set()
    firsts = {c.kernel: i for i, c in reversed(list(enumerate(context.contracts)))}
    todo = sorted(firsts.values())
    while todo:
        for n, i in enumerate(todo):
            contract = context.contracts[i]
            shape = _shape(contract, context.policy.size_cap)
            if shape not in known:
                context.progress(f"proving {contract.kernel}")
                kernel, end = find_kernel(context, contract), _share(context, start, len(todo) - n)
                try:
                    made[i] = _one(context, contract, kernel, pool, end)
                except DeadlinePassed:  # what was found before stands
                    made[i] = _out_of_time(context, contract)
                if _for_all(made[i]):
                    known[shape] = made[i]
            else:
                made[i] = known[shape]
            if not any(p.verdict is Verdict.UNKNOWN for p in made[i].properties):
                settled.add(contract.kernel)
        left = [i for i in range(len(context.contracts)) if i not in made]
        todo = [i for i in left if context.contracts[i].kernel in settled] or left
    return [made[i] for i in range(len(context.contracts))]


def _for_all(made: KernelVerdicts) -> bool:
    """Whether the verdicts are those of every launch of the same shape."""
    return not (made.clauses or made.findings) and all(_settled(p) for p in made.properties)


def _preconditions(context: GateContext, pool: SolverPool) -> dict[str, str]:
    """For kernels that nothing launches: the contract that the proofs need, to be reviewed. It decides nothing."""
    known = {c.kernel for c in context.contracts}
    bare = [k for k in context.module.kernels if k.name not in known]
    end = min(context.deadline, time.monotonic() + SEARCH_SECONDS)
    out: dict[str, str] = {}
    for i, kernel in enumerate(bare):
        now = time.monotonic()
        if now >= end:
            break
        required = tuple(p for p in context.policy.required_properties if p in REQUIRED_PROPERTIES)
        settings = Settings(
            pool, required, context.policy.size_cap, deadline=now + (end - now) / (len(bare) - i)
        )
        try:
            found = precondition(kernel, settings)
        except DeadlinePassed:
            break
        if found.complete:
            out[kernel.name] = toml(found, kernel)
    return out


def find_kernel(context: GateContext, contract: Contract) -> Kernel | None:
    """The IR of the contract's kernel instantiation."""
    for k in context.module.kernels:
        if k.name == contract.kernel and k.instantiation == contract.instantiation:
            return k
    return None


def _unordered_streams(
    kernels: list[KernelResult], writes: Mapping[str, tuple[set[str], bool]]
) -> list[KernelResult]:
    """Launches on different streams that use the same memory are ordered by nothing: their races are not settled.

    ``writes``: the names that each kernel may store through, and whether these are all.
    """

    def clash(a: Contract, b: Contract) -> bool:
        mine, theirs = ({x.storage or x.param for x in c.buffers} for c in (a, b))
        textured = any(x.text.startswith("handle(") for x in (*a.assumptions, *b.assumptions))
        apart = a.launch.stream != b.launch.stream or streams.NOT_FOLLOWED in a.launch.stream
        return apart and (textured or bool(mine & theirs) or overlap(a, b))

    def overlap(a: Contract, b: Contract) -> bool:
        return a.launch.launcher == b.launch.launcher and any(
            (stored(a, x) or stored(b, y)) and not _separate(x, y) for x in a.buffers for y in b.buffers
        )

    def stored(c: Contract, buffer: Buffer) -> bool:
        names, complete = writes.get(c.kernel, (set(), False))
        return not complete or buffer.param in names

    contracts = [k.contract for k in kernels if k.contract is not None]
    out = []
    for k in kernels:
        if k.contract is not None and any(clash(k.contract, c) for c in contracts):
            detail = "launches on different streams use the same memory, and nothing orders them"
            k = replace(
                k,
                properties=tuple(
                    replace(
                        p,
                        verdict=Verdict.UNKNOWN,
                        reason=Reason.MISSING_CONTRACT,
                        detail=detail,
                        span=k.contract.launch.span,
                    )
                    if "race-global" in (p.id, *p.depends)
                    and p.verdict in (Verdict.PROVED, Verdict.NOT_APPLICABLE)
                    else p
                    for p in k.properties
                ),
            )
        out.append(k)
    return out


def _separate(x: Buffer, y: Buffer) -> bool:
    """Whether memory of two launches cannot overlap: each is a whole object that its launcher allocated, or none.

    A pointer into the middle of memory has no name of its own, and a view may be a part of what has another name.
    """
    if NULL_STORAGE in (x.storage, y.storage):
        return True
    return x.fresh and y.fresh and bool(x.storage and y.storage) and x.storage != y.storage


def _out_of_time(context: GateContext, contract: Contract) -> KernelVerdicts:
    detail = "the time for this file is up (--timeout)"
    span = contract.launch.span
    unknown = (
        PropertyResult(p, Verdict.UNKNOWN, Reason.RESOURCES, detail, span=span)
        for p in context.policy.required_properties
    )
    return KernelVerdicts(tuple(unknown), ())


def _share(context: GateContext, start: float, left: int) -> float:
    """This launch's deadline: an even share of what is left of two thirds of the file's time, twice over at most."""
    now = time.monotonic()
    end = start + (context.deadline - start) * 2 / 3
    return min(context.deadline, now + max(2 * (end - now) / left, 2.0))


def _settled(p: PropertyResult) -> bool:
    """Whether the verdict is one for all launches of the same shape: nothing of it is about time or names."""
    return p.verdict in (Verdict.PROVED, Verdict.NOT_APPLICABLE) or p.reason is Reason.BUDGET


def _shape(contract: Contract, cap: int) -> str:
    """The contract with its symbols and storages numbered in order, without places and values.

    Equal shapes, equal proofs; the domain's cap is larger where the problem's own sizes are. Only symbols in clauses are
    numbered: a kernel, a parameter or a function that has the name of one keeps it.
    """
    names = {s.name: f"#{i}" for i, s in enumerate(contract.symbols)}
    fixed = {s.name: s.value for s in contract.symbols if s.kind == "scalar"}

    def numbered(text: Any) -> Any:
        if isinstance(text, list | tuple):
            return [numbered(t) for t in text]
        if not isinstance(text, str) or _OF_BUFFERS.fullmatch(text):
            return text
        return re.sub(r"[A-Za-z_]\w*\b(?!\s*\()", lambda m: names.get(m[0], m[0]), text)

    data = to_json(contract)
    for key in ("reference", "origin"):
        data.pop(key)
    data["assumptions"] = sorted({numbered(c["text"]) for c in data["assumptions"]})
    data["cap"] = max(cap, largest_size(contract))
    launch = data["launch"]
    data["launch"] = [
        *(numbered(launch[k]) for k in ("grid", "block", "shared_bytes")),
        launch["cooperative"],
    ]
    data["symbols"] = [(names[s.name], s.kind, s.low, s.high, fixed.get(s.name)) for s in contract.symbols]
    data["requires"] = [(numbered(c["text"]), c["accepted"]) for c in data["requires"]]
    data["no_alias"] = [(c["text"], c["accepted"]) for c in data["no_alias"]]
    for scalar in data["scalars"]:
        scalar["value"] = numbered(scalar["value"])
    storages = dict.fromkeys(b["storage"] for b in data["buffers"] if b["storage"] not in ("", NULL_STORAGE))
    numbers = {name: f"@{i}" for i, name in enumerate(storages)}
    for b in data["buffers"]:
        b.pop("source", None)
        b["storage"] = numbers.get(b["storage"], b["storage"])
        b |= {k: numbered(b[k]) for k in ("extent", "shape", "content")}
    return json.dumps(data, sort_keys=True, default=str)


def _one(
    context: GateContext, contract: Contract, kernel: Kernel | None, pool: SolverPool, deadline: float
) -> KernelVerdicts:
    required = tuple(context.policy.required_properties)
    if kernel is None:
        detail = f"kernel {contract.kernel}<{', '.join(contract.instantiation)}> could not be read"
        return KernelVerdicts(
            tuple(
                PropertyResult(p, Verdict.UNKNOWN, Reason.UNSUPPORTED, detail, span=contract.launch.span)
                for p in required
            ),
            (),
        )
    settings = Settings(
        pool=pool,
        properties=required,
        cap=context.policy.size_cap,
        assignments=cache(lambda: _assignments(context, contract)),
        replay=_replayer(context, contract, kernel),
        keep=_keeper(context, kernel),
        deadline=deadline,
        same_value=context.policy.benign_same_value,
        pure_externs=context.policy.pure_externs,
        evidence=context.obligations is not None,
    )
    return verify(kernel, contract, settings)


def _assignments(context: GateContext, contract: Contract) -> tuple[Mapping[str, int], ...]:
    from sanitizers.sampling import small_launches

    try:
        return tuple(small_launches(contract, count=5, seed=context.seed, max_threads=4096))
    except (ValueError, ArithmeticError):
        return ()


def _replayer(context: GateContext, contract: Contract, kernel: Kernel):  # type: ignore[no-untyped-def]
    def replay(witness: Witness, property_: str, span: Span) -> Witness | None:
        from sanitizers.replay import replay as run_replay

        found: Witness | None
        if time.monotonic() > context.deadline:
            return None
        found = run_replay(
            context.submission.device, kernel, contract, witness, property_, span,
            sandbox=context.sandbox, cache=context.cache, deadline=context.deadline,
        )  # fmt: skip
        return found

    return replay


def _keeper(context: GateContext, kernel: Kernel):  # type: ignore[no-untyped-def]
    if context.keep is None:
        return None
    folder: Path = context.keep / "smt"
    folder.mkdir(parents=True, exist_ok=True)
    seen: dict[str, int] = {}

    def keep(name: str, text: str) -> None:
        stem = f"{kernel.name}-{name}"
        seen[stem] = seen.get(stem, 0) + 1
        (folder / f"{stem}-{seen[stem]}.smt2").write_text(text, encoding="utf-8")

    return keep


def _undecided(
    made: KernelVerdicts, reason: Reason, detail: str, only_proved: bool = False
) -> KernelVerdicts:
    changed = tuple(
        replace(p, verdict=Verdict.UNKNOWN, reason=reason, detail=detail)
        if p.verdict is Verdict.PROVED or (not only_proved and p.verdict is Verdict.REFUTED)
        else p
        for p in made.properties
    )
    return replace(made, properties=changed)


def _judge(kernels: list[KernelResult], required: Sequence[str]) -> tuple[Outcome, str]:
    """A property that the policy does not ask for may stay open; one that it asks for and that has no verdict is open."""
    if not kernels:
        return Outcome.INCONCLUSIVE, "no launch with a contract: there is nothing to prove"
    results = [(k, p) for k in kernels for p in k.properties]
    for k, p in results:
        if p.verdict is Verdict.ERROR:
            return Outcome.ERROR, f"{k.name}: {p.id}: {p.detail}"
    for k, p in results:
        if p.verdict is Verdict.REFUTED:
            return Outcome.FAIL, f"{k.name}: {p.id} refuted at {p.span}"
    for k, p in results:
        if p.verdict is Verdict.UNKNOWN and p.id in required:
            return Outcome.INCONCLUSIVE, f"{k.name}: {p.id} UNKNOWN ({p.reason}): {p.detail}"
    for k in kernels:
        judged = {p.id for p in k.properties if p.verdict in (Verdict.PROVED, Verdict.NOT_APPLICABLE)}
        missing = [p for p in required if p not in judged]
        if missing or not k.properties:
            return Outcome.INCONCLUSIVE, f"{k.name}: no verdict on {', '.join(missing) or 'any property'}"
    if not any(p.verdict is Verdict.PROVED for _, p in results):
        return Outcome.INCONCLUSIVE, "nothing was proved"
    return Outcome.PASS, ""
