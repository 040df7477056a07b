"""The oracle's process: answers, refusals, a missing torch, a dying child, nonsense on the pipe."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz import oracle as module
from fuzz.oracle import Oracle, OracleError, Question, Tensor
from verifier.isolation import pipes, probe
from verifier.isolation.sandbox import Sandbox

X = np.array([-1.0, 0.5, 2.0], dtype=np.float32)


def ask(oracle: Oracle, reference: dict[str, Any], names: tuple[str, ...] = ("x",)) -> Any:
    return oracle.expect(Question(reference, "f32", (Tensor("f32", (3,), X.tobytes()),), names))[0]


def test_torch_is_not_imported_here(oracle: Oracle) -> None:
    answer = ask(oracle, {"kind": "op", "op": "relu", "operands": ["input"], "options": {}})
    assert answer.value.tolist() == [0.0, 0.5, 2.0] and (answer.low == answer.high).all()
    assert oracle.torch


def test_expression_with_bounds(oracle: Oracle) -> None:
    answer = ask(oracle, {"kind": "expression", "text": "torch.softmax(x * 2, dim=0) - x.mean()"})
    assert ((answer.low < answer.value) & (answer.value < answer.high)).all()
    assert (answer.high - answer.low < 1e-5).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("torch.fft.fft(x)", "torch.fft.fft has no reference op"),
        ("x.sort()[0]", "sort has no reference op"),
        ("x.add_(1)", "changes its inputs in place"),
        ("torch.max(x, dim=0)[1] + x", "indices"),
        ("torch.nn.functional.dropout(x * 2)", "dropout is random"),
        ("[y := x * 2, y.view(3, 1).mul_(2), y][2]", "two views"),
        ("torch.nn.functional.adaptive_avg_pool1d(x.view(1, 1, 3), 2)", "unequal size"),
        ("x + y", "NameError"),
        ("3", "gives a int"),
    ],
)
def test_what_has_no_derived_tolerance_is_refused(oracle: Oracle, text: str, message: str) -> None:
    with pytest.raises(OracleError, match=message):
        ask(oracle, {"kind": "expression", "text": text})
    assert ask(oracle, {"kind": "expression", "text": "-x"}).value[0] == 1.0  # and it goes on


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("torch.nn.functional.relu(x * 3, inplace=True)", "torch.nn.functional.relu(x * 3)"),
        ("[y := x * 3, y.add_(x), y][2]", "x * 3 + x"),
        ("torch.min(x * 3, torch.tensor(0.5))", "torch.minimum(x * 3, torch.tensor(0.5))"),
        ("torch.nn.functional.dropout(x * 3, 0.5, False)", "x * 3"),
        ("torch.nn.functional.normalize(x * 3, dim=0)", "x * 3 / torch.norm(x * 3).clamp(min=1e-12)"),
        ("torch.nn.functional.pad(x * 3, (1, 1))[1:4]", "x * 3"),
        ("torch.nn.functional.adaptive_avg_pool1d((x * 3).view(1, 3), 1).view(1)", "(x * 3).mean().view(1)"),
        (
            "torch.nn.functional.max_pool1d((x * 3).view(1, 1, 3), 2, ceil_mode=True).view(2)",
            "torch.stack([torch.max((x * 3)[:2]), (x * 3)[2]])",
        ),
    ],
)
def test_two_ways_to_say_the_same_have_the_same_bounds(oracle: Oracle, text: str, same: str) -> None:
    one, two = (ask(oracle, {"kind": "expression", "text": t}) for t in (text, same))
    for end in ("value", "low", "high"):
        assert getattr(one, end).tolist() == getattr(two, end).tolist()


def test_user_function(oracle: Oracle, tmp_path: Path) -> None:
    (tmp_path / "refs.py").write_text(
        "import torch\nprint('noise on stdout')\ndef fused(x):\n    print('more')\n    return torch.relu(x) * 3\n"
    )
    reference = {"kind": "function", "path": str(tmp_path / "refs.py"), "function": "fused"}
    with Oracle(probe(), readable=(tmp_path,)) as own:
        assert ask(own, reference).value.tolist() == [0.0, 1.5, 6.0]
        with pytest.raises(OracleError, match="missing is not a function"):
            ask(own, reference | {"function": "missing"})


def test_user_function_sees_no_network_and_writes_nothing(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the reference needs PyTorch")
    if probe().kind == "none":
        pytest.skip("no sandbox on this machine")
    mark = tmp_path / "mark"
    (tmp_path / "refs.py").write_text(f"def bad(x):\n    open({str(mark)!r}, 'w').write('x')\n    return x\n")
    with Oracle(probe(), readable=(tmp_path,)) as own, pytest.raises(OracleError):
        ask(own, {"kind": "function", "path": str(tmp_path / "refs.py"), "function": "bad"})
    assert not mark.exists()


def test_missing_torch_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(module.__file__).parents[1]
    code = (
        f"import sys, runpy; sys.path[:0] = [{str(root)!r}, *{[p for p in sys.path if 'site-packages' in p]!r}]; "
        "sys.modules['torch'] = None; runpy.run_module('fuzz.oracle_child', run_name='__main__')"
    )
    monkeypatch.setattr(module, "python_argv", lambda name: [sys.executable, "-I", "-S", "-B", "-c", code])
    with Oracle(probe("none")) as own, pytest.raises(OracleError, match="pip install torch") as error:
        ask(own, {"kind": "op", "op": "relu", "operands": ["input"], "options": {}})
    assert error.value.missing and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit(3)", "has ended"),
        ("import time; time.sleep(60)", "too slow"),
        ("import sys; sys.stdout.write('PASS ' * 400); sys.stdout.flush(); sys.stdin.read()", "no frame"),
        (
            "import sys; sys.stdout.buffer.write(b'\\2\\0\\0\\0\\0\\0\\0\\0{}'); sys.stdout.flush(); input()",
            "no frame",
        ),
    ],
)
def test_child_that_misbehaves_is_an_error(monkeypatch: pytest.MonkeyPatch, code: str, message: str) -> None:
    monkeypatch.setattr(module, "python_argv", lambda name: [sys.executable, "-I", "-c", code])
    monkeypatch.setattr(module, "HELLO_SECONDS", 1.0)
    with Oracle(Sandbox("none"), seconds=1.0) as own, pytest.raises(OracleError, match=message):
        ask(own, {"kind": "op", "op": "relu", "operands": ["input"], "options": {}})


def test_frames_round_trip() -> None:
    r, w = os.pipe()
    with os.fdopen(w, "wb") as stream:
        pipes.write(stream, {"a": [1, "é"]}, [b"", b"\x00" * 5])
    assert pipes.read(r, 5.0) == ({"a": [1, "é"]}, [b"", b"\x00" * 5])
    with pytest.raises(pipes.PipeError, match="ended"):
        pipes.read(r, 5.0)
    os.close(r)
