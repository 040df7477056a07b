"""Each operation that the stub of torch models is compared with torch; all others lose what was known."""

from __future__ import annotations

from typing import Any

import pytest

from verifier.contracts import stub_tensor, torch_stub
from verifier.contracts.stub_tensor import Tensor
from verifier.contracts.stub_values import WORLD, Sym, Unknown

torch = pytest.importorskip("torch", reason="what is compared with")

START = """
x = torch.rand(3, 4)
y = torch.rand(3, 4)
i = torch.randint(0, 7, (3, 4))
j = torch.randint(0, 7, (3, 4))
b = torch.rand(3, 4) > 0.5
h = torch.rand(4, 3).half()
"""
STATEMENTS = [
    *(f"r = x.{n}()" for n in sorted(stub_tensor.UNARY)),
    *(f"r = i.{n}()" for n in sorted(stub_tensor.UNARY)),
    *(f"r = x.{n}()" for n in sorted(stub_tensor.CONVERSIONS)),
    *(f"r = i.{n}()" for n in sorted(stub_tensor.CONVERSIONS)),
    *(f"r = x.t().{n}()" for n in ("clone", "contiguous", "exp", "half", "float")),
    *(f"r = torch.{n}(3, 4)" for n in torch_stub.CREATORS),
    *(f"r = torch.{n}((3, 4), dtype=torch.float16)" for n in torch_stub.CREATORS),
    *(f"r = torch.{n}(size=[3], device='cpu', requires_grad=True)" for n in torch_stub.CREATORS),
    *(f"r = torch.{n}(())" for n in torch_stub.CREATORS),
    *(f"r = torch.{n}(x.t())" for n in torch_stub.LIKES if n != "full_like"),
    *(f"r = torch.{n}(x, dtype=torch.float64)" for n in torch_stub.LIKES if n != "full_like"),
    "r = torch.full_like(x, 3)", "r = torch.full_like(i, fill_value=3.5)", "r = torch.full_like(x.T, True, dtype=torch.uint8)",
    "r = torch.full((3,), True)", "r = torch.full([3, 1], 1)", "r = torch.full((3,), 1.5)", "r = torch.full((2,), fill_value=7)",
    "r = torch.full((3,), 2, dtype=torch.half)", "r = torch.full((3,), 1j)",
    "r = torch.randint(5, (3,))", "r = torch.randint(-2, 5, (3,))", "r = torch.randint(0, high=5, size=(2, 3))",
    "r = torch.randint(low=1, high=5, size=(3,))", "r = torch.randint(high=5, size=(3,), dtype=torch.int32)",
    "r = torch.randint(5, size=(3,))", "r = torch.randint(1, 5, size=[3])", "r = torch.randint(0, 2, (3,), dtype=torch.bool)",
    "r = torch.randint(0, 9, (3,), dtype=torch.float32)", "r = torch.randint(0, 200, (3,), dtype=torch.uint8)",
    "r = torch.randint(0, 300, (300,)).to(torch.uint8)", "r = torch.randint(0, 300, (300,)).char().long()",
    "r = torch.arange(5)", "r = torch.arange(5, dtype=torch.int32)", "r = torch.arange(5.0)", "r = torch.arange(2, 5)",
    "r = torch.randperm(6)", "r = torch.randperm(6, dtype=torch.int16)",
    "r = torch.softmax(x, 0)", "r = torch.softmax(x, dim=1)", "r = torch.softmax(x, 0, dtype=torch.float64)",
    "r = torch.softmax(x, 0, torch.float64)", "r = torch.log_softmax(x, -1)", "r = h.softmax(1)", "r = x.log_softmax(dim=0)",
    *(f"r = torch.{n}(x)" for n in torch_stub.OF_FIRST if "softmax" not in n and n != "clamp"),
    *(f"torch.{n}(x, out=y)" for n in ("exp", "abs", "sqrt", "tril")),
    "torch.add(i, 1000, out=i)", "torch.bitwise_not(i, out=i)", "torch.cumsum(x[:2], 0, out=y)", "torch._foreach_add_([i], 5)",
    "torch.nn.init.uniform_(x)", "torch.Tensor.fill_(i, 5000)",
    "r = torch.triu(x, 1)", "r = i.tril(diagonal=-1)", "r = b.triu()",
    "r = x.clamp(0, 1)", "r = x.clamp(min=0)", "r = torch.clamp(x, max=0.5)", "r = i.clamp(1, 3)", "r = i.clamp(1.5)",
    "r = x.clamp(torch.rand(2, 3, 4))", "r = torch.clamp(x, min=torch.zeros(2, 1, 1))",
    "r = x.add(1)", "r = x.sub(y)", "r = x.mul(torch.rand(2, 3, 4))", "r = x.div(2)", "r = i.div(2)", "r = i.add(2)", "r = i.mul(j)",
    "r = x.add(y, alpha=2)", "r = x.div(y, rounding_mode='floor')", "r = x.pow(2)", "r = i.pow(2)", "r = x.pow(torch.rand(2, 1, 4))",
    "r = x.masked_fill(torch.rand(2, 3, 4) > 0.5, 1.0)",
    "r = x + y", "r = x + x.T.T", "r = x.T + h", "r = x + torch.rand(4)", "r = torch.rand(3, 1) * torch.rand(1, 4)",
    "r = torch.rand(4, 4) + torch.rand(4, 4).T", "r = torch.rand(4, 4).T + torch.rand(4, 4)", "r = x + i", "r = i + j", "r = i + 1",
    "r = i + 1.5", "r = b + 1", "r = b + b", "r = x * b", "r = h * 2", "r = h * x.T", "r = x + 1j", "r = x + True", "r = i / 2",
    "r = i / j", "r = x / y", "r = 1 / x", "r = 1 - i", "r = 2 ** x", "r = x ** 2", "r = x ** y", "r = i ** 2", "r = x // 2",
    "r = x % 2", "r = i // 2", "r = i << 1", "r = i & 1", "r = i | j", "r = ~i", "r = -x", "r = -i", "r = abs(i)", "r = x @ y.T",
    "r = x > 0.5", "r = i < 3", "r = x >= y", "r = x <= torch.rand(2, 3, 4)", "r = x == y", "r = i != 2", "r = x.T > 0",
    "x += 1", "i += 1000", "i -= 5", "i *= 100", "x /= 2", "i //= 2", "i %= 2", "x **= 2", "i <<= 3", "i &= 1", "i |= 99", "i ^= 99",
    "i[0] = 1000", "v = i.view(12)\nv[0] = 1000", "v = i[1]\nv += 1000", "v = i.T\nv.fill_(1000)", "i[0] += 1000",
    "v = i.view(-1)\nv.add_(1000)", "v = i.detach()\nv.mul_(100)", "v = i.data\nv.add_(1000)", "v = i.expand(2, 3, 4)[0]\nv.add_(1000)",
    "v = i.unsqueeze(0)\nv.zero_()", "v = i.contiguous()\nv.add_(100)", "v = i.cpu()\nv.add_(100)", "v = i.long()\nv.add_(100)",
    "v = i.to(torch.int64)\nv.add_(100)", "v = i.clone()\nv.add_(100)", "v = i.numpy()\nv += 100", "v = i.reshape(12)\nv.add_(1000)",
    "i.resize_(2)", "x.resize_(5, 5)", "x.squeeze_(0)", "x.transpose_(0, 1)", "x.t_()", "x.unsqueeze_(0)", "x.swapaxes_(0, 1)",
    "x.set_(y)\nx.add_(1)", "x.set_(torch.rand(2))", "x.data = torch.rand(2)", "x.data = y\nx.fill_(3)", "i.data = i + 1000",
    "i.untyped_storage().fill_(1)", "i.put_(i * 0, i * 100)", "i.apply_(lambda a: a + 1000)",
    "r = i.numpy()", "r = x.real", "r = x.mT", "r = x.H", "r = x.half().data", "r = x.data", "x.requires_grad = True",
    "r = x.requires_grad_()", "r = x.shape", "r = x.size()", "r = x.size(0)", "r = x.size(-1)", "r = x.dim()", "r = x.ndim",
    "r = x.numel()", "r = len(x)", "r = x.dtype", "r = x.device", "r = torch.rand(x.shape)", "r = torch.rand(*x.size())",
    "r = x.to(torch.float16)", "r = x.to('cpu')", "r = x.to('cpu', torch.int8)", "r = i.to(dtype=torch.int32)", "r = x.to(i)",
    "r = x.to(torch.device('cpu'))", "r = x.to(device='cpu', dtype=torch.bool)", "r = x.to(b.dtype)",
    "r = x.to(torch.promote_types(torch.float16, torch.int8))", "r = x.T.to(torch.float64)", "r = x.to((x > 0).dtype)",
    "r = x.type(torch.int16)", "r = x.type(torch.ByteTensor)", "r = x.type('torch.ByteTensor')", "r = x.type()",
    "r = torch.zeros(3, dtype=torch.promote_types(torch.float16, torch.int8))", "r = torch.zeros_like(x, dtype=b.dtype)",
    "r = x.new_zeros(3)", "r = torch.Tensor(3, 4)", "r = torch.tensor([1, 2])", "r = torch.linspace(0, 1, 4)",
    "r = x.transpose(0, 1)", "r = x.transpose(-1, 0)", "r = x.t()", "r = x.T", "r = torch.rand(2, 3, 4).T", "r = torch.rand(3).t()",
    "r = x.view(4, 3)", "r = x.view(12)", "r = x.view((2, 6))", "r = x.view(-1, 2)", "r = x.view(torch.uint8)", "r = x.view_as(y)",
    "r = x.reshape(2, 6)", "r = x.T.reshape(12)", "r = x.reshape([12])", "r = x.unsqueeze(0)", "r = x.unsqueeze(-1)",
    "r = x.T.unsqueeze(1)", "r = x.expand(2, 3, 4)", "r = x.permute(1, 0)", "r = x.squeeze()", "r = x.flatten()",
    "r = x.narrow(0, 1, 2)", "r = x.select(0, 1)", "r = x.unfold(0, 2, 1)", "r = x.movedim(0, 1)", "r = x.swapaxes(0, 1)", "r = x[0]",
    "r = x[1:, ::2]", "r = x[b]", "r = x[None]", "r = x.cpu()", "r = x.clone()", "r = x.contiguous()", "r = x.T.contiguous()",
    "r = x.clone(memory_format=torch.contiguous_format)", "r = x.detach()", "r = x.T.detach()",
    "r = torch.rand(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)",
    "r = torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last)",
    "r = torch.empty(2, 3, 4, 5, memory_format=torch.channels_last)",
    "r = torch.rand_like(torch.rand(2, 3, 4, 5), memory_format=torch.channels_last)",
    *(f"r = x.{n}()" for n in "sum mean prod amax amin argmax argmin norm std var sort argsort unique nonzero tolist".split()),
    *(f"r = x.{n}(0)" for n in "cumsum cumprod".split()),
    "r = x.topk(2)", "r = b.any()", "r = b.all()", "r = x.sum().item()", "r = x.matmul(y.T)", "r = x.mm(y.T)", "r = x.sum(dim=[0, 1])",
    "r = torch.rand(2, 3, 4).bmm(torch.rand(2, 4, 3))", "r = x.is_cuda", "r = x.is_contiguous()", "r = x.is_leaf",
    "r = x.requires_grad", "r = x.element_size()", "r = x.stride()", "r = x.storage_offset()",
    *(f"i.{t}" for t in ("fill_(9)", "zero_()", "mul_(9)", "add_(9)", "sub_(9)", "random_(0, 99)", "clamp_(9, 9)", "copy_(i + 9)",
                         "abs_()", "neg_()", "fill_diagonal_(99)", "pow_(3)", "relu_()", "masked_fill_(b, 99)",
                         "scatter_(0, j % 3, 99)", "index_fill_(0, torch.arange(2), 99)", "index_put_((torch.arange(2),), i[0] + 99)")),
    *(f"x.{t}" for t in ("normal_()", "uniform_()", "div_(2)", "exponential_()", "bernoulli_(0.5)", "sigmoid_()", "tanh_()", "exp_()",
                         "sqrt_()")),
    "torch.manual_seed(0)\nr = torch.rand(3)", "with torch.no_grad():\n    r = torch.rand(3)",
    "@torch.no_grad()\ndef f():\n    return torch.rand(3)\nr = f()", "@torch.inference_mode\ndef f():\n    return 3\nr = f()",
    "with torch.enable_grad():\n    r = isinstance(x, torch.Tensor)",
    "r = str(torch.float) == 'torch.float32'", "r = torch.float is torch.float32", "r = torch.rand(3).dtype == torch.float32",
    "r = type(x) == torch.Tensor", "torch.cuda.set_device\nr = x",
]  # fmt: skip


def run(text: str, library: Any) -> dict[str, Any]:
    scope: dict[str, Any] = {"torch": library}
    exec(START + text, scope)
    return {n: scope[n] for n in "xyijbhrv" if n in scope}


def agree(told: dict[str, Any], true: dict[str, Any]) -> None:
    for name, stub in told.items():
        real = true[name]
        if not isinstance(stub, Tensor):
            plain = (bool, int, float, str)
            assert not isinstance(stub, plain) or stub == real
            assert not isinstance(real, plain) or isinstance(stub, Unknown) or stub == real
            assert not isinstance(stub, tuple) or tuple(real) == stub
            continue
        if stub._memory.wild:
            continue
        assert repr(stub.dtype) == repr(real.dtype)
        if stub._shape is None:
            continue
        assert stub._shape == tuple(real.shape)
        assert stub._layout != "contiguous" or real.is_contiguous()
        reach = 1 + sum((n - 1) * s for n, s in zip(real.shape, real.stride(), strict=True))
        assert reach == real.numel() or not real.numel()
        if stub._low is not None and stub._high is not None and not stub._memory.changed and real.numel():
            assert stub._low <= int(real.min()) and int(real.max()) <= stub._high
    tensors = [n for n, v in told.items() if isinstance(v, Tensor) and isinstance(true[n], torch.Tensor)]
    for one in tensors:
        for two in tensors:
            same = true[one].untyped_storage().data_ptr() == true[two].untyped_storage().data_ptr()
            a, b = told[one]._memory, told[two]._memory
            assert not same or a is b or (a.wild and b.wild)


@pytest.mark.parametrize("text", STATEMENTS)
def test_what_is_told_is_what_torch_does(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WORLD, "lost", "")
    told = run(text, torch_stub.stand_in())
    true = run(text, torch)
    if not WORLD.lost:
        agree(told, true)


def test_everything_that_is_modelled_is_compared() -> None:
    everything = " ".join(STATEMENTS)
    not_here = {"cuda", "pin_memory"}
    for name in (
        *stub_tensor.SAME, *stub_tensor.UNARY, *stub_tensor.CONVERSIONS, *stub_tensor.FILLS, *stub_tensor.VIEWS,
        *stub_tensor.READS, *stub_tensor.METHODS,
    ):  # fmt: skip
        assert name in not_here or f".{name}" in everything, name
    for name in (*torch_stub.CREATORS, *torch_stub.LIKES, *torch_stub.OF_FIRST):
        assert f"torch.{name}(" in everything, name
    known = set(vars(torch_stub.stand_in())) - {"_path", "_foreign", "nn", "cuda"}
    for name in known - set(stub_tensor.DTYPES):
        assert f"torch.{name}" in everything, name


def test_no_other_attribute_of_a_tensor_keeps_what_is_known() -> None:
    modelled = (
        stub_tensor.SAME | stub_tensor.UNARY | set(stub_tensor.CONVERSIONS) | stub_tensor.FILLS | stub_tensor.VIEWS
        | stub_tensor.READS | stub_tensor.METHODS
    )  # fmt: skip
    others = [n for n in dir(torch.Tensor) if not n.startswith("_") and n not in modelled]
    assert len(others) > 400
    for name in others:
        tensor = Tensor((3, 4), "f32")
        getattr(tensor, name)
        assert tensor._memory.wild, name
    assert all(n in dir(torch.Tensor) for n in modelled)


def test_no_other_function_of_torch_keeps_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    library = torch_stub.stand_in()
    for name in (n for n in dir(torch) if not n.startswith("_") and n not in vars(library)):
        monkeypatch.setattr(WORLD, "lost", "")
        tensor = Tensor((3, 4), "f32")
        found = getattr(library, name)(tensor, [tensor], out=tensor)
        assert tensor._memory.wild and isinstance(found, Unknown), name


@pytest.mark.parametrize(
    "text",
    [
        "torch.set_default_dtype(torch.float16)", "torch.set_default_device('cuda')", "torch.set_autocast_enabled('cuda', True)",
        "torch._C._set_default_dtype(1)", "torch.rand = torch.randn", "torch.Tensor.add = 1", "torch.nn.Module = int",
        "torch.vmap(lambda a: a)", "class F(torch.autograd.Function):\n    pass\nF.apply(x)", "import random\nrandom.shuffle([1])",
        "import numpy\nnumpy.random.shuffle([1, 2])", "torch.utils.foo(map(str, [x]))",
    ],
)  # fmt: skip
def test_what_may_change_anything_loses_everything(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WORLD, "lost", "")
    library = torch_stub.stand_in()
    find = torch_stub.importer()
    scope = {
        "torch": library,
        "x": Tensor((3,), "f32"),
        "__builtins__": {**vars(__import__("builtins")), "__import__": find},
    }
    exec(text, scope)
    assert WORLD.lost


@pytest.mark.parametrize(
    "text",
    [
        "for r in i: r.fill_(9)", "for r in torch.chunk(i, 2): pass", "bool(x)", "if (x > 0).any(): pass", "int(x.sum())", "2 in i",
        "list(i)", "with torch.autocast('cuda'): pass", "str(x)", "f'{torch.foo}'", "isinstance(torch.foo(), torch.Tensor)",
        "isinstance(x, torch.foo)", "torch.rand(3).view(2)", "len(torch.foo())", "x.transpose(0, 5)", "x.device == 'cuda'",
    ],
)  # fmt: skip
def test_what_needs_a_value_stops_the_file(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WORLD, "lost", "")
    with pytest.raises(NotImplementedError):
        run(text, torch_stub.stand_in())
    assert WORLD.lost


def test_broadcasting_needs_the_same_name() -> None:
    n, m, one = Sym(4, "n"), Sym(4, "m"), Sym(1, "one")
    rand = torch_stub.stand_in().rand
    assert (rand(n, m) * rand(m))._shape == (4, 4)
    assert (rand(n, 1) * rand(1, m))._shape == (4, 4)
    for other in (rand(n), rand(4), rand(one)):
        assert (rand(m) * other)._shape is None
