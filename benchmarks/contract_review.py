"""Lifted contracts beside the host code they were read from, for a person to judge: DIR… -> one page.

Files are drawn at random, the seed being the current commit, and of each file one contract without a gap. What was judged
stands in docs/results-contracts.md.

Example::

    python -m benchmarks.contract_review kernels/ other/ --count 40 > page.txt
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import corpus
from specs.contract import Contract
from verifier import contracts, source
from verifier.contracts import ContractError
from verifier.contracts import problem as problems
from verifier.isolation.sandbox import Sandbox, probe
from verifier.source.device_text import Submission
from verifier.source.errors import SourceError


def shown(contract: Contract) -> Iterator[str]:
    """The contract, a line for each thing that it says."""
    launch = contract.launch
    yield f"{contract.kernel}<{', '.join(contract.instantiation)}>  launched at {launch.span} by {launch.launcher}"
    yield f"  grid ({', '.join(launch.grid)})  block ({', '.join(launch.block)})  shared {launch.shared_bytes}"
    for s in contract.symbols:
        bounds = f"{'' if s.low is None else s.low}..{'' if s.high is None else s.high}"
        yield f"  symbol {s.name}: {s.meaning} [{bounds}] {s.origin}{'' if s.value is None else f' = {s.value}'}"
    for b in contract.buffers:
        words = [
            "fresh" if b.fresh else "",
            f"align {b.align}" if b.align else "",
            "" if b.initialized else "uninitialised",
        ]
        words += [f"content {b.content[0]}..{b.content[1]} ({b.content_origin})" if b.content else ""]
        yield f"  buffer {b.param}: {b.dtype}[{b.extent}] ({', '.join(b.shape)}) of {b.storage} {' '.join(filter(None, words))}"
    for x in contract.scalars:
        yield f"  scalar {x.param} = {x.value if x.real is None else x.real}"
    yield from (
        f"  requires {c.text}  [{c.origin}{': ' + c.note if c.note else ''}]" for c in contract.requires
    )
    yield from (f"  {c.text}  [{c.origin}]" for c in (*contract.no_alias, *contract.assumptions))


def host_part(submission: Submission, contract: Contract) -> str:
    """The text of the file without what stands inside of kernels."""
    text = submission.raw
    kept, depth, inside = [], 0, False
    for row in text.split("\n"):
        if "__global__" in row:
            inside, depth = True, 0
        if inside:
            depth += row.count("{") - row.count("}")
            if depth <= 0 and "}" in row:
                inside = False
            if "__global__" in row or ("(" in row and depth <= 1 and re.search(r"[,)]\s*\{?\s*$", row)):
                kept.append(row)
            continue
        kept.append(row)
    return "\n".join(kept)


def drawn(
    paths: Sequence[Path], count: int, seed: str, options: argparse.Namespace, sandbox: Sandbox
) -> Iterator[tuple[str, Submission, Contract]]:
    """(name, file, contract), at most one a file."""
    dice = random.Random(seed)
    files = list(corpus.find(paths))
    dice.shuffle(files)
    paired = corpus.pairs(options.pairs, options.problems) if options.pairs else {}
    for name, path in files:
        try:
            submission = source.load(path, root=options.root, include_dirs=options.include, sandbox=sandbox)
            problem = problems.load(paired[path.stem], sandbox=sandbox) if path.stem in paired else None
            found = contracts.derive(
                submission, contract_file=None, problem=problem, lock=None, sandbox=sandbox
            )
        except (SourceError, ContractError):
            continue
        whole = [c for c in found.contracts if c.origin == "lifted" and not c.gaps]
        if whole and not found.problems:
            yield name, submission, dice.choice(whole)
            count -= 1
        if not count:
            return


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("contract_review", description=(__doc__ or "").splitlines()[0])
    p.add_argument("paths", nargs="+", type=Path)
    p.add_argument("--count", type=int, default=40)
    p.add_argument("--seed", help="[the current commit]")
    p.add_argument("--problems", type=Path)
    p.add_argument("--pairs", type=Path)
    p.add_argument("--root", type=Path)
    p.add_argument("-I", dest="include", action="append", default=[], type=Path)
    p.add_argument("--sandbox", default="auto")
    arguments = p.parse_args(argv)
    git = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(git, cwd=corpus.ROOT, capture_output=True, text=True, check=False).stdout.strip()
    seed = arguments.seed or commit
    print(f"seed {seed}")
    sandbox = probe(arguments.sandbox)
    for number, (name, submission, contract) in enumerate(
        drawn(arguments.paths, arguments.count, seed, arguments, sandbox), 1
    ):
        print(f"\n{'=' * 100}\n{number}. {name}\n")
        print("\n".join(shown(contract)))
        print(f"\n{host_part(submission, contract)}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
