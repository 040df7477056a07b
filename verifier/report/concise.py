"""Report -> one line a finding, ``path:line:col: id message``, and one line a file that is not FAIL for its verdict.

Options that weaken the run (``--sandbox none``) come last. Notes on a file are left out unless ``verbose``, as in the text.

Example::

    bad.cu:5:30: bounds-global reads x[1000], x has 1000 elements
    odd.cu: INCONCLUSIVE saxpy: overflow unknown (line 4), budget
"""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import FileResult, Outcome, Report, Severity
from verifier.judge import findings_of
from verifier.report.clean import defuse, line


def render(report: Report, *, verbose: bool = False) -> str:
    lines = [text for file in report.files for text in _file(file, verbose)]
    lines += [] if report.complete else ["run not complete"]
    lines += [note for note in report.notes if note.startswith("--")]
    return defuse("".join(f"{line(text)}\n" for text in lines))


def _file(file: FileResult, verbose: bool) -> Iterator[str]:
    findings = [f for f in findings_of(file.gates) if verbose or f.severity is not Severity.NOTE]
    safe = {
        (k.name, p.id): p.safe_for for g in file.gates for k in g.kernels for p in k.properties if p.safe_for
    }
    for finding in findings:
        mark = "" if finding.severity is Severity.ERROR else f" ({finding.severity})"
        bound = safe.get((finding.kernel.partition("<")[0], finding.id), "")
        yield f"{finding.span}: {finding.id} {finding.message}{mark}" + (
            f" (safe for {bound})" if bound else ""
        )
    match file.verdict:
        case Outcome.PASS:
            yield f"{file.path}: PASS" + (f" ({'; '.join(file.not_checked)})" if file.not_checked else "")
        case Outcome.FAIL:
            if not any(f.severity is Severity.ERROR for f in findings):
                yield f"{file.path}: FAIL {'; '.join(file.reasons)}"
        case Outcome.INCONCLUSIVE:
            for reason in file.reasons or ("no reason given",):
                yield f"{file.path}: INCONCLUSIVE {reason}"
        case Outcome.ERROR | Outcome.NOT_RUN:
            yield file.message or f"{file.path}: ERROR {'; '.join(file.reasons)}"
