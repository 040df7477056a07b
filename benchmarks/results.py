"""docs/results.md out of the measuring scripts' own tables: table files -> one page.

Example::

    python -m benchmarks.results .benchmarks/*/tables.md .benchmarks/startup.md --out docs/results.md
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from specs.version import VERSION

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# Results

Figures of the last measurement, written by the scripts in `benchmarks/`; [how to measure](howto/measure.md) says how to
repeat them. *Decided* means: every launch, instantiation and required property is PROVED, or REFUTED with a witness
that was replayed and lies inside the problem or general domain. Labels and test results of a public collection are no
ground truth; where they disagree with the tool, the witness counts.
"""


def machine() -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    rows = {
        "tool": f"verify-kernel {VERSION} at {commit}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}",
        "solver": f"Z3 {metadata.version('z3-solver')}, libclang {metadata.version('libclang')}",
    }
    return "| | |\n| --- | --- |\n" + "".join(f"| {k} | {v} |\n" for k, v in rows.items())


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("results", description=(__doc__ or "").splitlines()[0])
    p.add_argument("tables", nargs="+", type=Path, help="in the order of the page")
    p.add_argument("--out", type=Path, default=ROOT / "docs" / "results.md")
    arguments = p.parse_args(argv)
    parts = [HEAD, machine(), *(t.read_text().strip() + "\n" for t in arguments.tables)]
    arguments.out.write_text("\n".join(parts))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
