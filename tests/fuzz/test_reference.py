"""What ``--reference`` may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.reference import BadReference, files, parse, suggest


@pytest.mark.parametrize(
    ("text", "op", "options"),
    [
        ("torch.nn.functional.gelu", "gelu", {}),
        ("torch.nn.GELU", "gelu", {}),
        ("axpy", "axpy", {}),
        ("torch.nn.functional.gelu(x, approximate='tanh')", "gelu", {"approximate": "tanh"}),
        ("F.softmax(x, dim=-1)", "softmax", {"dim": -1}),
        ("torch.softmax(logits, dim=1)", "softmax", {"dim": 1}),
        ("torch.matmul(a, b)", "matmul", {}),
        ("torch.nn.functional.layer_norm(x, eps=1e-6)", "layer_norm", {"eps": 1e-6}),
    ],
)
def test_ops(text: str, op: str, options: dict[str, object]) -> None:
    found = parse(text, ["x", "a", "b", "y"])
    assert found.op is not None and (found.op.name, found.options) == (op, options)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("torch.matmul(b, a)", ("b", "a")),
        ("torch.relu(a @ b + 1)", ("a", "b")),
        ("a.T", ("a",)),
        ("(a * 2)[0]", ("a",)),
    ],
)
def test_expressions(text: str, names: tuple[str, ...]) -> None:
    found = parse(text, ["a", "b", "out"])
    assert found.op is None and found.wire["kind"] == "expression" and found.names == names


def test_functions(tmp_path: Path) -> None:
    (tmp_path / "refs.py").write_text("def fused(x):\n    return x\n")
    found = parse(f"{tmp_path}/refs.py:fused", [])
    assert found.wire == {"kind": "function", "path": str(tmp_path / "refs.py"), "function": "fused"}
    assert files(f"{tmp_path}/refs.py:fused") == (tmp_path,) and files("torch.relu(x)") == ()
    assert parse("pkg.refs:fused", []).wire["module"] == "pkg.refs"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("torch.fft.fft", "no reference op"),
        ("missing.py:f", "no such file"),
        ("torch.relu(q + 1)", "q in .* not a parameter"),
        ("(lambda: 1)()", "may not stand in a reference"),
        ("a.__class__", "may not stand in a reference"),
        ("[i for i in a]", "may not stand in a reference"),
        ("torch.softmax(a, axes=1)", "no option axes"),
        ("torch.relu(", "neither a dotted name"),
        ("torch.softmax(a, **b)", "may not stand"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(BadReference, match=message):
        parse(text, ["a", "b"])


@pytest.mark.parametrize(
    ("kernel", "dotted"),
    [
        ("gelu_forward_kernel", "torch.nn.functional.gelu"),
        ("softmax_kernel", "torch.nn.functional.softmax"),
        ("log_softmax_fwd", "torch.nn.functional.log_softmax"),
        ("layernorm_forward_kernel1", "torch.nn.functional.layer_norm"),
        ("leaky_relu_kernel", "torch.nn.functional.leaky_relu"),
        ("histogram", None),
        ("address", None),
    ],
)
def test_suggestion_by_the_kernels_name(kernel: str, dotted: str | None) -> None:
    assert suggest(kernel) == dotted
