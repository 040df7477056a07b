"""Lifted contracts against launchers that really run: DIR|FILE… -> every launch that no contract explains.

Each launcher is compiled with g++ against tensors that have shapes and addresses but no elements (benchmarks/oracle),
called with many random shapes in the sandbox, and every recorded grid, block, shared size, scalar, buffer size and
claim about memory is compared with the contracts that were lifted from the same text. Half of the cases are drawn
without looking at the contracts, half reach for them.

Exit status 1 if a launch differs from all contracts of its place.

Example::

    python -m benchmarks.contract_oracle kernels/ --shapes 1000
    python -m benchmarks.contract_oracle gelu.cu --shapes 200 --seed 7 -v
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.oracle.cases import Case, Param, case_of, param_of, random_case
from benchmarks.oracle.compare import expanded, judge
from fuzz import whole
from fuzz.whole.rewrite import program
from sanitizers.sampling import small_launches
from specs.contract import Contract
from verifier.contracts import entries
from verifier.frontend.host import HostCode, HostUnreadable, read_host
from verifier.isolation.child import Limits, run
from verifier.isolation.sandbox import Sandbox, probe
from verifier.source import load
from verifier.source.errors import SourceError

HEADERS = Path(__file__).resolve().parent / "oracle"
_AIMED = 8
"""Contracts of one launcher that cases reach for."""
SHARED = Path(whole.__file__).resolve().parent / "include"
_LINK = ("-Wl,--unresolved-symbols=ignore-all",)
_COMPILE = Limits(cpu_seconds=60, memory_mb=4096, wall_seconds=90.0)
_RUN = Limits(cpu_seconds=60, memory_mb=2048, wall_seconds=90.0)


@dataclass(slots=True)
class Observed:
    """What one launcher did. ``launches``: (record, arguments). ``problem``: why it was not called at all.

    ``incomplete``: the lifter did not follow all paths, and says so.
    """

    entry: str
    contracts: tuple[Contract, ...] = ()
    launches: list[tuple[dict[str, Any], Case]] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    incomplete: bool = False
    problem: str = ""


@dataclass(slots=True)
class Result:
    """``outcomes``: launches by what was found. ``differs``: (why, arguments) of each that no contract explains."""

    outcomes: Counter[str] = field(default_factory=Counter)
    silent: Counter[str] = field(default_factory=Counter)
    differs: list[tuple[str, str]] = field(default_factory=list)


def observe(
    host: str, device: str, sandbox: Sandbox, *, shapes: int, seed: int, cap: int = 1 << 30
) -> list[Observed]:
    """All launchers of one preprocessed text, run. Raises HostUnreadable, SourceError."""
    code = read_host(host, sandbox=sandbox)
    wanted: dict[str, str] = {}
    found: list[Observed] = []
    names = Counter(code.functions[u]["name"] for u in code.roots)
    for usr in entries.entry_points(code):
        name = code.functions[usr]["name"]
        params = [param_of(p["name"], p["type"]) for p in code.functions[usr]["params"]]
        if names[name] > 1 or (name != "main" and any(p.kind == "other" for p in params)):
            why = "overloaded" if names[name] > 1 else "parameter types"
            found.append(Observed(name, problem=f"not called: {why}"))
        else:
            wanted[name] = usr
    if not wanted:
        return found
    with tempfile.TemporaryDirectory() as folder:
        binary, problem = _compiled(program(host, code, list(wanted)), Path(folder), sandbox)
        for name, usr in wanted.items():
            if binary is None:
                found.append(Observed(name, problem=problem))
            else:
                found.append(_run(code, usr, device, binary, sandbox, shapes, seed, cap))
    return found


def _compiled(text: str, folder: Path, sandbox: Sandbox) -> tuple[Path | None, str]:
    source, binary = folder / "program.cpp", folder / "program"
    source.write_text(text)
    argv = [
        "g++",
        "-std=c++17",
        "-O0",
        "-fwrapv",  # an overflow of the host's is for `overflow` to refuse; what it gives is compared as it wraps
        "-w",
        "-fpermissive",
        f"-I{HEADERS}",
        f"-I{SHARED}",
        *_LINK,
        "-o",
        str(binary),
        str(source),
    ]
    done = run(
        argv, sandbox=sandbox, limits=_COMPILE, readable=(HEADERS, SHARED), writable=(folder,), cwd=folder
    )
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").splitlines()
        wrong = next((line for line in lines if "error" in line or "undefined" in line), "g++ failed")
        return None, f"not compiled: {wrong.strip()[:200]}"
    return binary, ""


def cases_for(params: Sequence[Param], contracts: Sequence[Contract], shapes: int, seed: int) -> list[Case]:
    """Every second one reaches for a contract."""
    dice = random.Random(seed)
    out: list[Case] = []
    aims = [
        (c, s)
        for c in (contracts if len(contracts) <= _AIMED else dice.sample(contracts, _AIMED))
        for s in small_launches(c, count=6, seed=seed, max_threads=1 << 40, edges=True)
    ]
    while len(out) < shapes:
        if aims and len(out) % 2:
            contract, symbols = dice.choice(aims)
            out.append(case_of(params, contract, symbols, dice))
        else:
            out.append(random_case(params, dice))
    return out


def _run(
    code: HostCode, usr: str, device: str, binary: Path, sandbox: Sandbox, shapes: int, seed: int, cap: int
) -> Observed:
    function = code.functions[usr]
    lifted = entries.lift_entry(code, usr, cap, device)
    seen = Observed(function["name"], tuple(lifted.contracts), incomplete=bool(lifted.problems))
    params = [param_of(p["name"], p["type"]) for p in function["params"]]
    if function["name"] == "main":
        cases = [Case(tuple(params), tuple(1 if p.kind == "int" else None for p in params), seed)]
    else:
        cases = cases_for(params, seen.contracts, shapes, seed)
    done = run(
        [str(binary), function["name"]], sandbox=sandbox, limits=_RUN, readable=(binary.parent,),
        stdin="".join(case.text(i) for i, case in enumerate(cases)).encode(),
    )  # fmt: skip
    if done.timed_out or done.returncode != 0:
        seen.ends["stopped early"] += 1
    current: Case | None = None
    memories: dict[int, int] = {}
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "C":
            current, memories = cases[int(rest)], {}
        elif kind == "M":
            index, memory = rest.split()
            memories.setdefault(int(memory), int(index))
        elif kind == "E":
            word = rest.partition(" ")[0]
            seen.ends[rest if word == "unsupported" else word] += 1
        elif kind == "L" and current is not None:
            seen.launches.append((expanded(json.loads(rest)) | {"memories": memories}, current))
    return seen


def check(seen: Observed, contracts: tuple[Contract, ...] | None = None) -> Result:
    """Every launch that was seen against the contracts (its own ones by default)."""
    result = Result()
    for record, case in seen.launches:
        found = judge(record, seen.contracts if contracts is None else contracts, case)
        outcome: str = found.outcome
        if outcome == "differs" and seen.incomplete and found.contract < 0:
            outcome = "silent"
        result.outcomes[outcome] += 1
        if outcome == "silent":
            result.silent[found.why] += 1
        if outcome == "differs":
            where = f"{record['kernel']} at line {record['line']}: {found.why}"
            result.differs.append((where, " ".join(case.text(0).split("\n")[1:-2])))
    return result


def observe_file(
    path: Path, sandbox: Sandbox, *, shapes: int, seed: int, root: Path | None = None,
    include: Sequence[Path] = (),
    defines: Mapping[str, str] = {},
) -> list[Observed]:  # fmt: skip
    """All launchers of one file, run."""
    submission = load(path, root=root, include_dirs=include, defines=defines, sandbox=sandbox)
    return observe(submission.host, submission.device.text, sandbox, shapes=shapes, seed=seed)


def _show(name: str, seen: Observed, result: Result, verbose: bool) -> None:
    ends = ", ".join(f"{k} {v}" for k, v in seen.ends.most_common(4))
    outcomes = ", ".join(f"{k} {v}" for k, v in sorted(result.outcomes.items())) or "no launch"
    print(f"{name} {seen.entry}: {seen.problem or f'{outcomes} ({ends})'}")
    if verbose:
        for why, count in result.silent.most_common(3):
            print(f"    silent {count}: {why}")
    shown: set[str] = set()
    for why, case in result.differs:
        key = why.split(":")[0] + why.split(" is ")[0]
        if key not in shown and (verbose or len(shown) < 2):
            shown.add(key)
            print(f"    {why}\n      arguments: {case}")


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("contract_oracle", description=(__doc__ or "").splitlines()[0])
    p.add_argument("paths", nargs="+", type=Path)
    p.add_argument("--shapes", type=int, default=1000)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--sample", type=int, default=0, help="only about this many files")
    p.add_argument("--root", type=Path, help="folder in which quote includes are looked for")
    p.add_argument("-I", dest="include", action="append", default=[], type=Path)
    p.add_argument("-D", dest="define", action="append", default=[], help="NAME=VALUE")
    p.add_argument("--sandbox", default="auto")
    p.add_argument("-v", "--verbose", action="store_true", help="show every different kind of disagreement")
    arguments = p.parse_args(argv)
    if shutil.which("g++") is None:
        print("g++ is missing")
        return 2
    sandbox = probe(arguments.sandbox)
    files = list(corpus.find(arguments.paths))
    step = max(1, len(files) // arguments.sample) if arguments.sample else 1
    total: Counter[str] = Counter()
    for name, path in files[::step][: arguments.sample or None]:
        try:
            found = observe_file(
                path, sandbox, shapes=arguments.shapes, seed=arguments.seed, root=arguments.root,
                include=arguments.include, defines=dict(d.split("=", 1) for d in arguments.define),
            )  # fmt: skip
        except (SourceError, HostUnreadable) as error:
            print(f"{name}: {error}")
            total["files not read"] += 1
            continue
        total["files"] += 1
        for seen in found:
            result = check(seen)
            total["launchers"] += 1
            total["launchers run"] += not seen.problem
            total["cases"] += seen.ends.total()
            for what, count in result.outcomes.items():
                total[f"launches: {what}"] += count
            _show(name, seen, result, arguments.verbose)
    print("\n" + "\n".join(f"{what}: {count}" for what, count in sorted(total.items())))
    return 1 if total["launches: differs"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
