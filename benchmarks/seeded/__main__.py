"""Run the seeded kernels: ``python -m benchmarks.seeded [FAMILY…] [--prove] [--write DIR] [--opt O0]``.

Simulator: five schedules each; a bad kernel must show its property, a good one nothing. ``--prove``: the prover as well;
a property at fault must not be PROVED. ``--write``: the programs as files, marked for the other benchmarks.
Exit status 1 if anything is not as it must be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.seeded import Program, programs
from sanitizers.simulator import Schedule, Session
from specs.policy import default_policy
from specs.results import Verdict
from verifier.isolation import Sandbox, probe
from verifier.pipeline import Options, audit

SCHEDULES = (
    Schedule("forward"), Schedule("reverse"), Schedule("interleaved", 3), Schedule("random", 1), Schedule("random", 2),
)  # fmt: skip


def seen(program: Program, *, sandbox: Sandbox, cache: Path | None, opt: str = "O1") -> list[set[str]]:
    """The properties that each schedule shows broken. Raises RuntimeError where a run says nothing."""
    found: list[set[str]] = []
    with Session(program.device, program.entry, sandbox=sandbox, cache=cache, opt=opt) as session:
        for schedule in SCHEDULES:
            result = session.run(program.launch, program.data, schedule, outputs=False)
            if not result.complete and not result.findings:
                why = result.unsupported or result.error or session.unsupported
                raise RuntimeError(f"{program.name} under {schedule.kind}: {why}")
            found.append({f.property for f in result.findings})
    return found


def proved(program: Program, folder: Path) -> set[str]:
    """The properties that the prover calls proved, of the program as a submission."""
    path = folder / f"{program.name.replace('/', '-')}.cu"
    path.write_text(program.text)
    result = audit(path, Options(policy=default_policy(), gates=("static", "prove"), timeout=60))
    if result.message:
        raise RuntimeError(f"{program.name}: {result.message}")
    kernels = [k for g in result.gates if g.gate == "prove" for k in g.kernels]
    good = (Verdict.PROVED, Verdict.NOT_APPLICABLE)
    return {p.id for k in kernels for p in k.properties if p.verdict in good}


def _wrong(program: Program, options: argparse.Namespace, box: Sandbox, folder: Path) -> Iterator[str]:
    found = seen(program, sandbox=box, cache=None, opt=options.opt)
    everything = set().union(*found)
    if program.fault and program.fault not in everything:
        yield f"{program.fault} not found (found: {', '.join(sorted(everything)) or 'nothing'})"
    if not program.fault and everything:
        yield f"flagged though it is right: {', '.join(sorted(everything))}"
    if options.prove and program.fault and program.fault in proved(program, folder):
        yield f"{program.fault} is PROVED"


def main() -> int:
    """Run what is chosen and print what is not as it must be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("family", nargs="*", help="parts of names; all by default")
    parser.add_argument("--prove", action="store_true")
    parser.add_argument("--write", type=Path, metavar="DIR")
    parser.add_argument("--opt", default="O1", choices=("O0", "O1"))
    options = parser.parse_args()
    chosen = [p for p in programs() if not options.family or any(part in p.name for part in options.family)]
    if options.write is not None:
        options.write.mkdir(parents=True, exist_ok=True)
        for program in chosen:
            mark = f"// {program.fault or 'right'}\n"
            (options.write / f"{program.name.replace('/', '-')}.cu").write_text(mark + program.text)
        return 0
    box, wrong = probe(), 0
    with TemporaryDirectory(prefix="seeded-") as folder:
        for program in chosen:
            for what in _wrong(program, options, box, Path(folder)):
                print(f"{program.name}: {what}", flush=True)
                wrong += 1
    bad = sum(bool(p.fault) for p in chosen)
    print(
        f"{len(chosen) - bad} good and {bad} bad kernels, {len(SCHEDULES)} schedules each: {wrong} not as they must be"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
