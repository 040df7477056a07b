"""How often each static rule fires on kernels that are believed right: NAME=FOLDER… -> a table.

A rule that fires on many right kernels is noise: above 20 % of the files of a folder it must be a ``note`` (exit status 1 if one
is not). With ``--write`` the table replaces the one between the markers of docs/rules/index.md.

Example::

    python -m benchmarks.rule_rates right=kernels/ --write
    python -m benchmarks.rule_rates a=kernels/ b=dev/cuda --root b=. --jobs 2
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks import corpus
from specs.results import Severity

PAGE = corpus.ROOT / "docs/rules/index.md"
BEGIN, END = "<!-- rates: begin -->", "<!-- rates: end -->"
MOST = 0.2
"""Share of right files on which a rule may fire without being a note."""


def fired(
    path: Path, root: Path | None, include: Sequence[Path], sandbox_kind: str
) -> tuple[str, ...] | None:
    """The rules that fire on one file; None if it cannot be read."""
    from verifier import contracts, frontend, source
    from verifier.isolation.sandbox import probe
    from verifier.source.reading import Reading
    from verifier.static_rules import rules

    sandbox = probe(sandbox_kind)
    try:
        submission = source.load(path, root=root, include_dirs=include, sandbox=sandbox)
        derived = contracts.derive(submission, contract_file=None, problem=None, lock=None, sandbox=sandbox)
        module = frontend.parse_device(submission.device, derived.instantiations, sandbox=sandbox)
    except (source.SourceError, contracts.ContractError, frontend.FrontEndFailed):
        return None
    reading = Reading.of(submission, ("sm_80", "sm_90"), module, derived.contracts)
    return tuple(r.id for r in rules() if next(iter(r.check(reading)), None) is not None)


def table(rates: Mapping[str, tuple[int, Counter[str]]]) -> list[str]:
    """Rows by the largest rate first."""
    from verifier.static_rules import rules

    lines = [
        f"| rule | severity | {' | '.join(f'{name} ({files} files)' for name, (files, _) in rates.items())} |",
        f"| --- | --- |{' --- |' * len(rates)}",
    ]

    def share(rule: str) -> list[float]:
        return [count[rule] / max(1, files) for files, count in rates.values()]

    for rule in sorted(rules(), key=lambda r: (-max(share(r.id)), r.id)):
        cells = " | ".join(f"{100 * s:.1f} %" if s else "0" for s in share(rule.id))
        lines.append(f"| [{rule.id}]({rule.id}.md) | {rule.severity.value} | {cells} |")
    return lines


def too_loud(rates: Mapping[str, tuple[int, Counter[str]]]) -> list[str]:
    """Rules that fire on more than a fifth of a folder and are not notes."""
    from verifier.static_rules import rules

    return [
        f"{r.id} fires on {count[r.id]} of {files} files of {name} and is a {r.severity.value}"
        for r in rules()
        for name, (files, count) in rates.items()
        if count[r.id] > MOST * files and r.severity is not Severity.NOTE
    ]


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("rule_rates", description=(__doc__ or "").splitlines()[0])
    p.add_argument("folders", nargs="+", help="NAME=FOLDER")
    p.add_argument(
        "--root", action="append", default=[], help="NAME=FOLDER in which quote includes are looked for"
    )
    p.add_argument("-I", dest="include", action="append", default=[], type=Path)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--write", action="store_true")
    p.add_argument("--sandbox", default="auto")
    arguments = p.parse_args(argv)
    roots = dict(item.split("=", 1) for item in arguments.root)
    rates: dict[str, tuple[int, Counter[str]]] = {}
    for item in arguments.folders:
        name, folder = item.split("=", 1)
        files = [path for _, path in corpus.find([Path(folder)])]
        step = max(1, len(files) // arguments.sample) if arguments.sample else 1
        root = Path(roots[name]) if name in roots else None
        with ProcessPoolExecutor(arguments.jobs) as pool:
            found = [
                pool.submit(fired, f, root, arguments.include, arguments.sandbox)
                for f in files[::step][: arguments.sample or None]
            ]
            answers = [a for a in (f.result() for f in found) if a is not None]
        rates[name] = len(answers), Counter(rule for a in answers for rule in a)
    lines = table(rates)
    print("\n".join(lines))
    if arguments.write:
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=corpus.ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        words = f"`python -m benchmarks.rule_rates {' '.join(n + '=FOLDER' for n in rates)} --write` at {commit.stdout.strip()}"
        text = PAGE.read_text()
        body = "\n".join([BEGIN, f"Measured with {words}.", "", *lines, END])
        PAGE.write_text(
            re.sub(re.escape(BEGIN) + r".*?" + re.escape(END), lambda _: body, text, flags=re.DOTALL)
        )
    loud = too_loud(rates)
    print("\n".join(["", *loud]) if loud else "")
    return 1 if loud else 0


if __name__ == "__main__":
    raise SystemExit(main())
