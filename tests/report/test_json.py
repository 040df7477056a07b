from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import verifier.report
from specs.policy import PROPERTIES
from specs.results import FileResult, GateResult, Outcome, Reason, Report, Verdict
from verifier.report import render
from verifier.report.json import to_data

SCHEMA: dict[str, Any] = json.loads((Path(verifier.report.__file__).parent / "schema.json").read_text())


def valid(data: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(data, SCHEMA)


def test_every_kind_of_result_follows_the_shipped_schema(report: Report) -> None:
    data = json.loads(render(report, "json"))
    valid(data)
    assert [f["verdict"] for f in data["files"]] == ["PASS", "FAIL", "INCONCLUSIVE", "ERROR"]
    assert data["exit"] == 1 and data["complete"] is True


def test_shape_of_a_witness(report: Report) -> None:
    finding = to_data(report)["files"][1]["findings"][0]
    assert finding["id"] == "race-shared" and (finding["line"], finding["column"]) == (4, 15)
    assert finding["witness"]["block"] == [256, 1, 1] and finding["witness"]["replayed"] is True
    assert [t["action"] for t in finding["witness"]["threads"]] == ["writes scratch[1]", "reads scratch[1]"]


def test_a_gate_that_did_not_run_is_named(report: Report) -> None:
    gates = to_data(report)["files"][0]["gates"]
    assert gates["fuzz"]["result"] == "NOT_RUN" and gates["prove"]["result"] == "PASS"


def test_schema_knows_the_same_words_as_the_code() -> None:
    definitions = SCHEMA["$defs"]
    assert set(PROPERTIES) | {"equivalence"} == set(
        definitions["kernel"]["properties"]["properties"]["propertyNames"]["enum"]
    )
    assert {r.value for r in Reason} | {None} == set(definitions["property"]["properties"]["reason"]["enum"])
    assert {v.value for v in Verdict} == set(definitions["property"]["properties"]["verdict"]["enum"])


@pytest.mark.parametrize(
    "field, wrong",
    [("verdict", "GREEN"), ("seconds", "fast"), ("gates", {}), ("sha256", "abc"), ("reasons", "one")],
)
def test_the_schema_refuses_what_is_wrong(report: Report, field: str, wrong: Any) -> None:
    data = to_data(report)
    data["files"][0][field] = wrong
    with pytest.raises(jsonschema.ValidationError):
        valid(data)


def test_odd_values_stay_valid_json(report: Report, passing: FileResult) -> None:
    gate = GateResult(
        "fuzz", Outcome.PASS, facts={"worst": float("nan"), "set": {1}, "path": Path("x"), 3: b"y"}
    )
    odd = replace(passing, gates=(*passing.gates, gate), message="a\x1b[2J\u202eb")
    data = json.loads(render(replace(report, files=(odd,)), "json"))
    valid(data)
    assert data["files"][0]["message"] == "a[2Jb"
    assert data["files"][0]["gates"]["fuzz"]["facts"]["worst"] == "nan"
