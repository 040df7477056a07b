"""Problem files run against the stub: shapes, names, values, contents, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from verifier.contracts.errors import ContractError
from verifier.contracts.problem import Problem, load
from verifier.isolation.sandbox import Sandbox, SandboxMissing, probe


def read(tmp_path: Path, text: str) -> Problem:
    path = tmp_path / "p.py"
    path.write_text(text)
    return load(path, sandbox=Sandbox("none"))


def test_everything_at_once(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "import torch\nimport torch.nn as nn\nimport math\nfrom einops import rearrange\n"
        "class Model(nn.Module):\n    def __init__(self, n: int, eps: float = 1e-5): super().__init__()\n"
        "    def forward(self, x: torch.Tensor) -> torch.Tensor: return torch.relu(x)\n"
        "batch, rows = 8, 8\ncols = rows * 2\nshape = (3, 1, 5)\neps = 1e-3\ndim = -1\n"
        "def get_inputs():\n"
        "    return [torch.randn(batch, rows, cols), torch.zeros(shape, dtype=torch.float16), torch.randint(0, cols, (batch,)),\n"
        "            torch.rand(rows, cols).T, batch, True, None, [torch.ones(batch)], torch.rand(4, cols // 2)]\n"
        "def get_init_inputs():\n    return [rows, eps, dim, 'same', (batch, 2)]\n",
    )
    tensors = found.inputs
    assert tensors[0].shape == ("batch", "rows", "(rows * 2)")
    assert tensors[0].sizes == (8, 8, 16)
    assert (tensors[1].shape, tensors[1].dtype) == (("shape_0", "1", "shape_2"), "f16")
    assert (tensors[2].dtype, tensors[2].content) == ("i64", ("0", "((rows * 2) - 1)"))
    assert (tensors[3].shape, tensors[3].layout) == (("(rows * 2)", "rows"), "dense")
    assert [a.kind for a in tensors[4:8]] == ["int", "bool", "none", "list"]
    assert tensors[8].shape == ("input8_0", "((rows * 2) // 2)")
    assert [a.kind for a in found.init] == ["int", "float", "int", "text", "list"]
    assert found.values["batch"] == found.values["rows"] == 8
    assert found.dims == {"batch", "rows", "shape_0", "shape_2", "input8_0"}
    assert found.largest() == 8 * 8 * 16


def test_what_the_stub_does_not_know_has_no_shape(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "import torch\nn = 4\ndef get_inputs():\n    return [torch.fft.fft(torch.rand(n)), torch.rand(n).unfold(0, 2, 1)]\n"
        "def get_init_inputs(): return []\n",
    )
    assert found.inputs[1].kind == "tensor" and found.inputs[1].shape is None
    assert found.inputs[0].kind == "other" or found.inputs[0].shape is None


@pytest.mark.parametrize(
    "text",
    [
        "t.add_(1)",
        "t.random_(0, 500)",
        "t += 1",
        "t.view(n)[0] = 500",
        "torch.randint(0, 500, (n,), out=t)",
        "torch.bitwise_not(t, out=t)",
        "t.resize_(3)",
        "t.data = torch.rand(3)",
    ],
)
def test_what_is_changed_in_place_is_not_known_any_more(tmp_path: Path, text: str) -> None:
    found = read(
        tmp_path,
        f"import torch\nn = 4\nt = torch.randint(0, n, (n,))\n{text}\ndef get_inputs():\n    return [t]\n"
        "def get_init_inputs(): return []\n",
    )
    (one,) = found.inputs
    assert one.content is None or one.shape is None
    if "resize_" in text or "data" in text:
        assert one.shape is None


@pytest.mark.parametrize(
    "text",
    [
        "torch.rand(n).add(torch.rand(m, 4))",
        "torch.rand(n) * torch.linspace(0, 1, n)",
        "torch.rand(n).clamp(torch.rand(m, n))",
        "torch.rand(n).masked_fill(torch.rand(m, n) > 0, 1)",
        "torch.rand(n) + torch.rand(m)",
        "torch.zeros(n, dtype=torch.promote_types(1, 2))",
        "torch.rand(n).to(torch.rand(1).softmax(0).foo)",
        "torch.softmax(torch.rand(n), 0, dtype=torch.float16)",
        "torch.randint(0, n, (n,)).div(2)",
    ],
)
def test_shapes_and_dtypes_are_not_guessed(tmp_path: Path, text: str) -> None:
    found = read(
        tmp_path,
        f"import torch\nn = 4\nm = 4\ndef get_inputs():\n    return [{text}]\ndef get_init_inputs(): return []\n",
    )
    assert found.inputs[0].shape is None


def test_dtypes_of_creation(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "import torch\nn = 4\ndef get_inputs():\n    return [torch.full((n,), True), torch.full((n,), 1), torch.full((n,), 1.0)]\n"
        "def get_init_inputs(): return []\n",
    )
    assert [a.dtype for a in found.inputs] == ["bool", "i64", "f32"]


def test_a_name_that_is_bound_again_is_another_size(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "import torch\nn = 16\na = (n, 2)\nn = 32\ndef get_inputs():\n    return [torch.rand(a), torch.rand(n)]\n"
        "def get_init_inputs(): return []\n",
    )
    first, second = (found.values[a.shape[0]] for a in found.inputs if a.shape is not None)
    assert (first, second) == (16, 32)


GIVES = "import torch\n{setup}\ndef get_inputs():\n    return [{inputs}]\ndef get_init_inputs(): return []\n"


@pytest.mark.parametrize(
    ("setup", "inputs"),
    [
        ("torch.set_default_dtype(torch.float16)", "torch.rand(4)"),
        ("c = [4]\ndef grow():\n    c[0] += 1\n    return c[0]", "torch.rand(4), grow()"),
        ("import random\ns = [4, 8]\nrandom.shuffle(s)", "torch.rand(s)"),
        ("t = torch.rand(4)\ntorch.vmap(lambda a: t.resize_(2))", "t"),
        ("class Box:\n    pass\nb = Box()", "torch.randint(0, 4, (4,)), b"),
        ("@torch.jit.script\ndef f(): return 1", "torch.rand(4)"),
    ],
)
def test_nothing_is_known_where_anything_may_have_changed(tmp_path: Path, setup: str, inputs: str) -> None:
    found = read(tmp_path, GIVES.format(setup=setup, inputs=inputs))
    assert {a.kind for a in found.inputs} == {"other"} and all(a.value for a in found.inputs)


@pytest.mark.parametrize(
    ("setup", "inputs"),
    [
        ("from transformers import Config\nc = Config('m')", "torch.randint(0, c.size, (4,))"),
        ("import random", "torch.randint(0, random.randint(1, 4), (4,))"),
        ("t = torch.randint(0, 4, (4,))\nfor r in torch.chunk(t, 2): r.fill_(9)", "t"),
        ("t = torch.randint(0, 4, (4,))\ntorch.foo([{'a': (t,)}])", "t"),
        ("t = torch.randint(0, 9, (4,))", "t.int().to(torch.int8), t[0]"),
        ("t = torch.randint(0, 9, (4,)).float()", "t"),
        ("t = torch.randint(5, 2, (4,))", "t"),
    ],
)
def test_ranges_are_told_only_where_they_hold(tmp_path: Path, setup: str, inputs: str) -> None:
    text = GIVES.format(setup=setup, inputs=inputs)
    if "for r in" in setup:
        with pytest.raises(ContractError, match="depends on it"):
            read(tmp_path, text)
        return
    found = read(tmp_path, text)
    kept = ("0", "8") if "int8" in inputs else None
    assert found.inputs[0].content == kept


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("type(t) is torch.Tensor", True),
        ("torch.foo() is None", None),
        ("torch.foo() is not None", None),
        ("type(torch.foo()) == torch.Tensor", None),
        ("t.cpu() is t", None),
        ("t is not None", True),
        ("t.dtype is torch.float32", True),
        ("t.dtype is not torch.float", False),
    ],
)
def test_identity_is_decided_where_it_is_known(tmp_path: Path, condition: str, holds: bool | None) -> None:
    text = GIVES.format(setup="t = torch.rand(4)", inputs=f"1 if {condition} else 2")
    if holds is None:
        with pytest.raises(ContractError, match="depends on it"):
            read(tmp_path, text)
        return
    assert read(tmp_path, text).inputs[0].value == (1 if holds else 2)


def test_names_of_lists_that_are_one_list(tmp_path: Path) -> None:
    found = read(tmp_path, GIVES.format(setup="a = [4, 8]\nb = a\nb[0] = 16", inputs="torch.rand(a)"))
    assert found.inputs[0].sizes == (16, 8)


def test_equal_names_of_list_items_and_ints_are_two_sizes(tmp_path: Path) -> None:
    found = read(tmp_path, GIVES.format(setup="a = (4, 8)\na_0 = 4", inputs="torch.rand(a), torch.rand(a_0)"))
    assert found.inputs[0].shape == ("a_0", "a_1") and found.inputs[1].shape == ("a_0_",)


def test_dataclasses_and_long_sums(tmp_path: Path) -> None:
    setup = "from dataclasses import dataclass\n@dataclass\nclass C:\n    n: int = 3\nn = 1\nfor _ in range(300): n = n + 1"
    found = read(
        tmp_path,
        "from __future__ import annotations\n" + GIVES.format(setup=setup, inputs="torch.rand(C().n, n)"),
    )
    assert found.inputs[0].sizes == (3, 301) and found.inputs[0].shape == ("input0_0", "input0_1")


def test_an_empty_size_is_no_symbol(tmp_path: Path) -> None:
    found = read(tmp_path, GIVES.format(setup="z = 0\nn = 3", inputs="torch.rand(z, n + z), torch.rand(0)"))
    assert [a.shape for a in found.inputs] == [("0", "input0_1"), ("0",)]


def test_random_sizes_are_no_sizes(tmp_path: Path) -> None:
    found = read(
        tmp_path, GIVES.format(setup="import random\nn = random.randint(1, 9)", inputs="torch.rand(4, n), n")
    )
    assert found.inputs[0].shape is None and found.inputs[1].kind == "other"


def test_what_unknown_code_gets_may_share_memory(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        GIVES.format(setup="t, u = torch.rand(4), torch.rand(4)\nt.set_(u)", inputs="t, u, torch.rand(4)"),
    )
    first, second, third = found.inputs
    assert first.shape is second.shape is None and first.memory == second.memory != third.memory
    assert not first.whole and not second.whole


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def get_inputs(:\n", "does not run"),
        ("x = 1\n", "no get_inputs"),
        ("def get_inputs(): raise ValueError('boom')\n", "boom"),
        ("while True: pass\n", "limits"),
    ],
)
def test_broken_files_are_named(
    tmp_path: Path, text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from verifier.contracts import problem
    from verifier.isolation.child import Limits

    monkeypatch.setattr(problem, "_LIMITS", Limits(cpu_seconds=2, wall_seconds=2.0))
    with pytest.raises(ContractError, match=message) as error:
        read(tmp_path, text)
    assert error.value.fix and error.value.span.path.endswith("p.py")


def test_a_problem_cannot_read_the_users_files(tmp_path: Path) -> None:
    try:
        sandbox = probe()
    except SandboxMissing:
        pytest.skip("no sandbox here")
    secret = tmp_path / "secret"
    secret.write_text("s")
    path = tmp_path / "p.py"
    path.write_text(f"open({str(secret)!r}).read()\ndef get_inputs(): return []\n")
    with pytest.raises(ContractError, match=r"secret|No such file"):
        load(path, sandbox=sandbox)
