"""Why each counterexample of a corpus run is real: RECORDS -> a Markdown table, one row a file that the fuzz gate fails.

The kernel's own formula is evaluated in double: ``float`` becomes ``double`` in its text, and it runs on the saved inputs. If the
number is as far from the reference as the float kernel's, the formula is another one; if it is not, float itself
(overflow, a constant, too few digits) makes the difference, and the row says so for a reader. Whole models have no saved case.

Example::

    python -m benchmarks.counterexamples .benchmarks/corpus/records.jsonl > counterexamples.md
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.corpus import ROOT
from fuzz import dtypes
from fuzz.case import launch_of, run_case
from fuzz.counterexample import opened
from fuzz.oracle import Oracle
from specs.contract import Contract

_FAST = {
    "__expf": "exp",
    "__logf": "log",
    "__log2f": "log2",
    "__powf": "pow",
    "__sinf": "sin",
    "__cosf": "cos",
}
_CALLS = (
    "exp exp2 exp10 expm1 log log2 log10 log1p pow sqrt rsqrt cbrt tanh sinh cosh sin cos tan erf erfc fmax fmin fabs floor "
    "ceil round trunc fma fmod copysign"
).split()


_BITS = re.compile(
    r"\b(float[1-4]|__half\w*|half2?|\w*bfloat16\w*|__float_as_\w+|__\w+_as_float|asm|union|sizeof)\b|reinterpret_cast"
)
"""Where the text relies on how a float lies in memory."""


def doubled(text: str) -> str:
    """The same kernel in double."""
    if _BITS.search(text):
        raise ValueError("its text relies on the layout of float")
    text = re.sub(r"\bfloat\b", "double", text)
    text = re.sub(
        r"(?<![\w.])(\d+\.\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+)f\b", r"\1", text, flags=re.I
    )
    for fast, plain in _FAST.items():
        text = re.sub(rf"\b{fast}\b", plain, text)
    text = re.sub(r"\b__fdividef\b", "__ddiv_rn", text)
    return re.sub(rf"\b({'|'.join(_CALLS)})f\b", r"\1", text)


def wide(contract: Contract) -> Contract:
    buffers = tuple(replace(b, dtype="f64" if b.dtype == "f32" else b.dtype) for b in contract.buffers)
    types = tuple("double" if t == "float" else t for t in contract.instantiation)
    launch = replace(contract.launch, instantiation=types)
    return replace(contract, buffers=buffers, instantiation=types, launch=launch)


def why(test: Path) -> str:
    """Of one saved test, in words."""
    constants = [n for n in ast.walk(ast.parse(test.read_text())) if isinstance(n, ast.Constant)]
    texts = [str(n.value) for n in constants if isinstance(n.value, str)]
    case: dict[str, Any] = json.loads(next(t for t in texts if t.startswith("{")))
    source = Path(texts[-1])
    saved = opened(source, case)
    with Oracle(saved.sandbox, readable=saved.readable) as oracle, saved.programs() as executor:
        fault = run_case(saved.job, executor, oracle, saved.case, data=saved.data).fault
    if fault is None:
        return "not shown again"
    m = fault.mismatch
    if m is None:
        return "no matter of rounding: " + fault.message
    types = {b.param: b.dtype for b in saved.job.contract.buffers}
    data = {
        p: dtypes.encode(dtypes.decode(raw, "f32"), "f64") if types[p] == "f32" else raw
        for p, raw in saved.data.items()
    }
    if not data:
        return "the inputs are not saved (too large): to be read"
    other = opened(source, case, text=doubled, contract=wide)
    with other.programs() as executor:
        ran = executor.execute(launch_of(other.job, other.case), data, other.case.order)
    raw = ran.outputs.get(fault.output)
    if raw is None:
        return f"not run in double ({ran.refusal or (ran.seen and ran.seen[0].message)}): to be read"
    value = float(dtypes.decode(raw, wide(saved.job.contract).buffer(fault.output).dtype)[m.index])  # type: ignore[union-attr]
    said = f"in double the kernel gives {value:.9g}, the reference {m.expected:.9g}"
    if math.isnan(value) != math.isnan(m.expected) or not m.low <= value <= m.high:
        return f"another formula: {said}"
    if not math.isfinite(m.got):
        return f"overflow in float: {said}"
    return f"float makes the difference: {said}; to be read"


def rows(records: Path) -> list[str]:
    found = []
    for line in records.read_text().splitlines():
        record = json.loads(line)
        report = record.get("report") or {"findings": [], "gates": {}}
        if (report["gates"].get("fuzz") or {}).get("result") != "FAIL":
            continue
        first = next(f for f in report["findings"] if f["gate"] == "fuzz" and f["severity"] == "error")
        test = re.search(r"pytest (\S+\.py)", first.get("fix") or "")
        try:
            reason = why(ROOT / test[1]) if test else "a whole model, shown twice: to be read"
        except Exception as error:  # a row must not take the others with it
            reason = f"not evaluated ({type(error).__name__}: {str(error)[:80]}): to be read"
        cells = [record["path"], record["problem"], first["message"], reason]
        found.append("| " + " | ".join(c.replace("|", "\\|").replace("\n", " ") for c in cells) + " |")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser("counterexamples", description=(__doc__ or "").splitlines()[0])
    p.add_argument("records", type=Path)
    found = rows(p.parse_args(argv).records)
    print("| file | problem | counterexample | why it is real |\n| --- | --- | --- | --- |")
    print("\n".join(found))
    print(f"\n{len(found)} files fail.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
