from __future__ import annotations

from dataclasses import replace

import pytest

from specs.contract import Clause
from specs.location import Span
from specs.results import (
    FileResult,
    Finding,
    GateResult,
    Outcome,
    PropertyResult,
    Reason,
    Report,
    Severity,
    Verdict,
    Witness,
)
from verifier.report import render
from verifier.report.clean import clean, defuse, line


def shown(*files: FileResult, **options: bool) -> str:
    return render(Report(files, True, 0), "text", **options)


def test_first_line_says_verdict_and_what_was_not_checked(passing: FileResult) -> None:
    first = shown(passing).splitlines()[0]
    assert first.startswith("PASS  saxpy.cu  safe for every allowed launch up to 2^30 elements a buffer")
    assert "numerics not checked (no --reference); GPU sanitizer not run" in first


def test_race_shows_both_threads_beside_each_other(failing: FileResult) -> None:
    rows = shown(failing).splitlines()
    a, b = (i for i, row in enumerate(rows) if row.lstrip().startswith(("A 3 |", "B 4 |")))
    assert b == a + 1 and rows[b + 1].index("^") == rows[b].index("scratch")
    columns = next(i for i, row in enumerate(rows) if "thread A" in row)
    assert [row.split("│")[1].strip() for row in rows[columns : columns + 3]] == [
        "thread B",
        "block 0, thread 0",
        "reads scratch[1]  (line 4)",
    ]
    assert "  launch  row_sum<<<1, 256>>>  n = 256  (replayed by the simulator; general domain)" in rows


def test_notes_are_hidden_but_counted(failing: FileResult) -> None:
    assert "1 note not shown" in shown(failing) and "32-way" not in shown(failing)
    assert "32-way bank conflict" in shown(failing, verbose=True)


def test_unknown_property_says_why_and_where(open_: FileResult) -> None:
    row = next(r for r in shown(open_).splitlines() if "unknown  " in r)
    assert row.split() == ["unknown", "overflow", "1/3", "line", "9", "budget"]
    assert "budget: the product row * K" in shown(open_, verbose=True)
    failed = replace(open_, verdict=Outcome.FAIL)
    assert "budget: the product row * K" in shown(failed)


def test_properties_that_are_open_for_one_reason_share_a_row(open_: FileResult) -> None:
    (prove,) = (g for g in open_.gates if g.gate == "prove")
    (found,) = prove.kernels
    gap = PropertyResult("launch", Verdict.UNKNOWN, Reason.MISSING_CONTRACT, "the size of x is not known")
    properties = tuple(replace(gap, id=id_) for id_ in ("launch", "overflow", "race-global"))
    changed = replace(prove, kernels=(replace(found, properties=properties),))
    text = shown(replace(open_, gates=tuple(changed if g is prove else g for g in open_.gates)), verbose=True)
    assert "    unknown         launch, overflow, race-global\n" in text
    assert text.count("the size of x is not known") == 1


def test_for_which_sizes_it_is_safe_is_in_every_format(open_: FileResult, failing: FileResult) -> None:
    for file, id_ in ((open_, "overflow"), (failing, "race-shared")):
        (prove,) = (g for g in file.gates if g.gate == "prove")
        (found,) = prove.kernels
        properties = tuple(replace(p, safe_for="n <= 4096") if p.id == id_ else p for p in found.properties)
        bounded = replace(prove, kernels=(replace(found, properties=properties),))
        gates = tuple(bounded if g is prove else g for g in file.gates)
        changed = replace(file, gates=gates)
        assert "safe for n <= 4096" in shown(changed)
        report = Report((changed,), True, 0)
        assert '"safe_for": "n <= 4096"' in render(report, "json")
        if file is failing:
            assert "(safe for n <= 4096)" in render(report, "concise")


def test_what_a_proof_rests_on_is_said(passing: FileResult) -> None:
    (prove,) = (g for g in passing.gates if g.gate == "prove")
    leaning = tuple(replace(p, depends=("overflow",)) for p in prove.kernels[0].properties)
    changed = replace(prove, kernels=(replace(prove.kernels[0], properties=leaning),))
    file = replace(passing, gates=tuple(changed if g is prove else g for g in passing.gates))
    assert "rests on overflow" in shown(file, verbose=True)
    assert '"depends": [\n' in render(Report((file,), True, 0), "json")


def test_draft_is_shown_only_where_it_is_needed(open_: FileResult, passing: FileResult) -> None:
    assert "    [kernel.saxpy]" in shown(open_)
    assert "[kernel.saxpy]" not in shown(replace(passing, draft=open_.draft))


def test_launches_with_the_same_verdicts_share_a_table(passing: FileResult) -> None:
    prove = passing.gates[1]
    twice = replace(prove, kernels=(prove.kernels[0], replace(prove.kernels[0], instantiation=("double",))))
    rows = shown(replace(passing, gates=(twice,))).splitlines()
    assert sum("proved  " in row for row in rows) == 1
    assert [row.split("<<<")[0] for row in rows if "<<<" in row] == ["  saxpy", "  saxpy<double>"]


def test_blank_lines_only_between_parts(report: Report, passing: FileResult) -> None:
    for text in (render(report, "text"), shown(passing), render(report, "text", verbose=True)):
        assert "\n\n\n" not in text and text.endswith("\n") and not text.endswith("\n\n")


def test_assumption_comes_with_the_missing_check(passing: FileResult) -> None:
    assert "· contiguous(x)  add  TORCH_CHECK(x.is_contiguous());" in shown(passing)


def test_several_files_are_brief_where_they_pass(report: Report) -> None:
    text = render(report, "text")
    assert "4 files: 1 PASS, 1 FAIL, 1 INCONCLUSIVE, 1 ERROR" in text
    assert "3 files without a kernel skipped" in text
    passed = text[: text.index("FAIL")]
    assert passed.strip().count("\n") == 0


def test_bad_input_is_one_line(broken: FileResult) -> None:
    assert shown(broken) == "ERROR  bad.cu:3: expected ';'; compile it first\n"


def test_stopped_run_says_so(passing: FileResult) -> None:
    assert "the report is not complete" in render(Report((passing,), False, 3), "text")


def test_colour_only_when_asked_for(failing: FileResult) -> None:
    assert "\x1b[" not in shown(failing)
    assert "\x1b[1;31mFAIL\x1b[0m" in shown(failing, colour=True)


def test_concise_is_one_line_a_finding(report: Report) -> None:
    note = "rows.cu:3: lint-bank-conflict 32-way bank conflict (note)"
    rows = render(report, "concise", verbose=True).splitlines()
    assert rows.pop(2) == note and note not in render(report, "concise")
    assert rows == [
        "saxpy.cu: PASS (numerics not checked (no --reference); GPU sanitizer not run)",
        "rows.cu:4:15: race-shared two threads of a block meet at scratch[1] and no barrier orders them",
        "matmul.cu: INCONCLUSIVE saxpy: overflow unknown (line 9), budget",
        "bad.cu:3: expected ';'; compile it first",
    ]


HOSTILE = "x\x1b]0;title\x07\x9b31m\u202e\u200b\r\n::error::owned\n  ::set-output::y ##[group]"


@pytest.mark.parametrize("format_", ["text", "concise", "json"])
def test_nothing_of_a_submission_acts_on_terminal_or_ci(failing: FileResult, format_: str) -> None:
    finding = Finding(
        HOSTILE,
        Severity.ERROR,
        Span("rows.cu", 1, 3),
        HOSTILE,
        HOSTILE,
        Witness((1, 1, 1), (1, 1, 1), 0, {HOSTILE: 1}, {HOSTILE: None}, {HOSTILE: 2}, ()),
        HOSTILE,
        HOSTILE,
        ((Span(HOSTILE, 2), HOSTILE),),
    )
    gate = GateResult("prove", Outcome.FAIL, findings=(finding,), assumptions=(Clause(HOSTILE, "assumed"),))
    hostile = replace(
        failing,
        gates=(gate,),
        texts={"rows.cu": HOSTILE * 3, HOSTILE: HOSTILE * 3},
        headline=HOSTILE,
        path=HOSTILE,
        draft=HOSTILE,
        reasons=(HOSTILE,),
    )
    for verdict in (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.ERROR):
        text = render(
            Report((replace(hostile, verdict=verdict, message=HOSTILE),), True, 1), format_, verbose=True
        )
        assert not [
            c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c in "\u202e\u200b"
        ]
        assert not [row for row in text.splitlines() if row.strip().startswith("::")]
        assert format_ == "json" or "##[" not in text


def test_clean_keeps_ordinary_text() -> None:
    assert clean("naïve – 数 \t\n") == "naïve – 数 \t\n"
    assert line("a\n\tb") == "a  b"
    assert defuse("a::b\n::c") == "a::b\n: :c"
