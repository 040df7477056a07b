"""What a caller's Python may do behind a naive reading: each way is followed exactly, or the caller is not followed from there.

A naive reading of ``forward`` launches over ``x.numel()`` elements of two separate tensors of the shape of ``x``; each faulty caller
changes one of these, and no contract may claim the naive reading alone.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from pathlib import Path

import pytest

from specs.clauses import names
from specs.contract import Contract
from tests.contracts.lifting import KERNEL, python_submission, read
from tests.contracts.test_callers import problem
from verifier.contracts import python_expressions, python_statements
from verifier.contracts.assembly import lift_python
from verifier.contracts.entries import Lifted

HOST = KERNEL + (
    "void add_n(torch::Tensor a, torch::Tensor o, int64_t n) {"
    " k<<<1, 32>>>(a.data_ptr<float>(), o.data_ptr<float>(), n); }\n"
)
CALLER = """
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline
ops = load_inline(name="ops", cpp_sources="", cuda_sources="", functions=["add_n"])
{module}
class ModelNew(nn.Module):
{body}
    def __init__(self):
        super().__init__()
{init}
    def forward(self, x):
        n = x.numel()
        y = torch.empty_like(x)
{forward}
        ops.add_n(x, y, n)
        return y
{after}
"""


def lift(
    tmp_path: Path,
    forward: str = "",
    *,
    module: str = "",
    body: str = "",
    init: str = "",
    after: str = "",
    host: str = HOST,
) -> Lifted:
    source = CALLER.format(
        module=module,
        after=after,
        body=textwrap.indent(body, " " * 4),
        init=textwrap.indent(init, " " * 8),
        forward=textwrap.indent(forward, " " * 8),
    )
    return lift_python(python_submission(host, source), read(host), problem(tmp_path, init=""), 1 << 30)


def naive(contract: Contract) -> bool:
    a, o, n = contract.buffer("x"), contract.buffer("y"), contract.scalar("n")
    return (
        a is not None
        and o is not None
        and n is not None
        and n.value in ("i32(batch * features)", "batch * features")
        and o.extent == "batch * features"
        and a.extent == "batch * features"
        and (o.fresh or bool(contract.no_alias))
        and not contract.gaps
        and not any("dtype(" in c.text for c in contract.assumptions if c.text.startswith("dtype(y"))
    )


GROW = "n = n + 100000"
STATE = {
    "global cache": ("global held\nif held is None:\n    held = torch.empty_like(x)\ny = held", {"module": "held = None"}),
    "hasattr cache": ("if not hasattr(self, 'b'):\n    self.b = torch.empty_like(x)\ny = self.b", {}),
    "getattr cache": ("y = getattr(self, 'b', None)\nif y is None:\n    self.b = y = torch.empty_like(x)", {}),
    "class cache": ("if ModelNew.b is None:\n    ModelNew.b = torch.empty_like(x)\ny = ModelNew.b", {"body": "b = None"}),
    "dict cache": ("if 'b' not in self.c:\n    self.c['b'] = torch.empty_like(x)\ny = self.c['b']", {"init": "self.c = {}"}),
    "list state": ("n = n + len(self.c)\nself.c.append(1)", {"init": "self.c = []"}),
    "counted calls": ("self.c += 1\nn = n + self.c", {"init": "self.c = 0"}),
    "set on the other way": ("if n > 10 ** 6:\n    self.c = 100000\nn = n + self.c", {"init": "self.c = 0"}),
    "kept on the other way": ("if n > 10 ** 6:\n    self.c[0] = 7\nn = n + self.c[0]", {"init": "self.c = [0]"}),
    "helper sets a global": ("grow()\nn = n + K", {"module": "K = 0\ndef grow():\n    global K\n    K = 100000"}),
    "mutable default": ("n = n + f()", {"module": "def f(s=[]):\n    s.append(1)\n    return len(s)"}),
    "closure": ("n = n + step()", {"module": "def make():\n    k = 0\n    def f():\n        nonlocal k\n        k += 1\n"
                                             "        return k\n    return f\nstep = make()"}),
    "lambda keeps": ("n = n + f()", {"module": "s = []\nf = lambda: s.append(1) or len(s)"}),
    "cached result": ("y = f(3)", {"module": "import functools\n@functools.lru_cache\ndef f(n):\n    return torch.zeros(n)"}),
    "cached tensor": ("y = f()", {"module": "import functools\n@functools.cache\ndef f():\n    return torch.zeros(16, 64)"}),
    "delete": ("n = n + self.k\nif hasattr(self, 'j'):\n    del self.k", {"init": "self.k = 1", "body": "k = 0"}),
}  # fmt: skip
CLASSES = {
    "decorator": ("y = self.m(y)", {"module": "def half(f):\n    return lambda self, y: f(self, y[: y.shape[0] // 2])",
                                    "body": "@half\ndef m(self, y):\n    return y"}),
    "decorated forward": ("", {"module": "def g(f):\n    return lambda self, x: f(self, x[0])", "body": "def q(self):\n    pass",
                               "after": "ModelNew.forward = g(ModelNew.forward)"}),
    "property": ("if self.big:\n    n = n + 100000", {"body": "@property\ndef big(self):\n    return True"}),
    "property that says no": ("if self.big:\n    pass\nelse:\n    n = n + 9", {"body": "@property\ndef big(self):\n    return False"}),
    "class body if": ("n = n + self.k", {"body": "k = 0\nif True:\n    k = 100000"}),
    "class body +=": ("n = n + self.k", {"body": "k = 0\nk += 100000"}),
    "class attribute set later": ("n = n + self.k", {"body": "k = 0", "after": "ModelNew.k = 100000"}),
    "setattr on the class": ("n = n + self.k", {"body": "k = 0", "after": "setattr(ModelNew, 'k', 100000)"}),
    "class wins over a parameter": ("y = self.w", {"body": "w = torch.zeros(3)", "init": "self.w = nn.Parameter(torch.zeros(3, 3))"}),
    "__getattribute__": ("n = n + self.q", {"body": "q = 0\ndef __getattribute__(self, a):\n    return 9"}),
    "__getattr__": ("n = n + self.q", {"body": "def __getattr__(self, a):\n    return 9"}),
    "__setattr__": ("n = n + self.q", {"init": "self.q = 0", "body": "def __setattr__(self, a, v):\n    pass"}),
    "__dict__": ("n = n + self.q", {"init": "self.q = 0\nself.__dict__['q'] = 9"}),
    "__call__": ("", {"body": "def __call__(self, x):\n    return self.forward(x[0])"}),
    "__bool__": ("if not self.m:\n    n = n + 9", {"module": "class M:\n    def __bool__(self):\n        return False",
                                                   "init": "self.m = M()"}),
    "metaclass": ("n = n + K().k", {"module": "class T(type):\n    pass\nclass K(metaclass=T):\n    k = 0"}),
    "private names": ("n = n + getattr(self, '_ModelNew__k')", {"body": "__k = 9"}),
    "super of the right class": ("n = n + C().k()", {"module": "class A:\n    def k(self):\n        return 9\nclass B(A):\n"
        "    def k(self):\n        return super().k()\nclass C(B):\n    def k(self):\n        return super().k()"}),
    "default evaluated when defined": ("n = f(n)", {"module": "E = 9\ndef f(n, e=E):\n    return n + e\nE = 0"}),
}  # fmt: skip
CODE = {
    "module for": ("n = n + E", {"module": "E = 0\nfor E in [1, 9]:\n    pass"}),
    "module if": ("n = n + E", {"module": "E = 0\nif True:\n    E = 9"}),
    "module with": ("n = n + E", {"module": "E = 0\nwith torch.no_grad():\n    E = 9"}),
    "module try": ("n = n + E", {"module": "E = 0\ntry:\n    E = 9\nexcept ValueError:\n    raise"}),
    "module expression": ("n = n + E[0]", {"module": "E = [0]\nE.insert(0, 9)"}),
    "star import": ("", {"module": "from helpers import *"}),
    "function shadows": ("y = torch.empty_like(x)", {"module": "class torch:\n    pass"}),
    "walrus": ("n + 0 * (n := n + 9)", {}),
    "walrus in a test": ("if (n := n + 9) > 0:\n    pass", {}),
    "assert with an effect": ("s = [0]\nassert s.append(1) is None\nn = n + len(s)", {}),
    "del element": ("s = [0, 9]\ndel s[0]\nn = n + s[0]", {}),
    "dict with an int key": ("c = {0: 0}\nc[0] = 9\nn = n + c[0]", {}),
    "dict update": ("c = {'k': 0}\nc.update(k=9)\nn = n + c['k']", {}),
    "dict pop": ("c = {'k': 9}\nn = n + c.pop('k')", {}),
    "dict setdefault": ("c = {}\nn = n + c.setdefault('k', 9)", {}),
    "list +=": ("s = []\nt = s\nt += [9]\nn = n + len(s)", {}),
    "list slice is a copy": ("s = [0]\nt = s[:]\nt[0] = 5\nt.append(1)\nn = n + len(t)", {}),
    "nested list": ("s = []\nt = []\nt.append(s)\ns.append(9)\nn = n + t[0][0]", {}),
    "loop of unknown length": ("for i in range(n):\n    n += 1", {}),
    "loop over a list that grows": ("s = [1]\nfor v in s:\n    if len(s) < 5:\n        s.append(1)\n    n += 1", {}),
    "late lambda": ("fs = [lambda: i for i in range(3)]\nn = n + fs[0]()", {}),
    "lazy generator": ("k = 0\ng = (n + k for _ in range(1))\nk = 9\nn = list(g)[0]", {}),
    "comprehension with an effect": ("s = []\n[s.append(1) for _ in range(n)]\nn = n + len(s)", {}),
    "condition and number": ("n = n + ((n > 5) and 9)", {}),
    "f-string": ("c = {'a0': 0, 'a1': 9}\ni = 1\nn = n + c[f'a{i}']", {}),
    "text method": ("if 'a'.upper() == 'A':\n    n = n + 9", {}),
    "isinstance of an alias": ("if isinstance(self.c, C):\n    n = n + 9", {"module": "C = nn.Linear", "init": "self.c = nn.Linear(2, 2)"}),
    "ceil pins": ("n = math.ceil(n / 4) * 5", {}),
    "unknown answer": ("if torch.cuda.is_available():\n    n = n + 9", {}),
    "finally": ("try:\n    pass\nfinally:\n    n = n + 9", {}),
    "handler that goes on": ("try:\n    n = n + 0\nexcept Exception:\n    n = n + 9", {}),
    "match": ("match n:\n    case 0:\n        pass\n    case _:\n        n = n + 9", {}),
    "while": ("while n < 10 ** 9:\n    n = n + 9", {}),
    "getattr by a computed name": ("n = n + getattr(self, 'k%d' % 1)", {"init": "self.k1 = 9"}),
    "setattr by a computed name": ("setattr(self, 'k'.lower(), 9)\nn = n + self.k", {"init": "self.k = 0"}),
    "shuffled": ("s = [0, 9]\nrandom.shuffle(s)\nn = n + s[0]", {"module": "import random"}),
    "one of two lists": ("t = max([0], s)\nt.append(1)\nn = n + len(s) - 1", {"module": "s = [5]"}),
    "default of getattr": ("getattr(self, 'no', s).append(9)\nn = n + len(s)", {"module": "s = []"}),
    "sum from a start": ("n = n + sum([0], 9)", {}),
    "sum from a named start": ("n = n + sum([0], start=9)", {}),
    "product from a start": ("n = n * math.prod((1,), start=9)", {}),
    "largest by a key": ("n = max(n, n + 9, key=lambda v: v)", {}),
    "enumerate from a start": ("for i, _ in enumerate([0], start=9):\n    n = n + i", {}),
    "dict by names": ("def g(n, e=0):\n    return n + e\nd = dict(e=9)\nn = g(n, **d)", {}),
    "merged dicts": ("n = n + {'a': 0, **{'a': 9}}['a']", {}),
    "key that is a variable": ("k = 'a'\nn = n + {'a': 0, k: 9}['a']", {}),
    "sizes as a list": ("s = list(x.shape)\ns[0] = s[0] + 9\nn = s[0] * s[1]", {}),
    "slice of a list": ("s = [n, 5][:]\ns[0] = n + 9\nn = s[0]", {}),
    "reversed list": ("s = list((n, 9))\ns.reverse()\nn = s[0]", {}),
    "starred target": ("*lead, d = x.shape\nn = n + d - lead[0]", {}),
    "two methods of one name": ("n = n + self.k()", {"body": "def k(self):\n    return 0\ndef k(self):\n    return 9"}),
    "method by another name": ("n = n + self.k()", {"body": "def k(self):\n    return 0\ndef j(self):\n    return 9\nk = j"}),
    "exec": ("exec('n = n + 9')", {}),
    "globals": ("globals()['E'] = 9\nn = n + E", {"module": "E = 0"}),
    "ops replaced": ("", {"after": "ops.add_n = lambda a, o, n: None"}),
    "ops by another name": ("", {"after": "ops = None"}),
}  # fmt: skip
TENSORS = {
    "data assigned": ("y.data = torch.empty(3)", {}),
    "resize_": ("y.resize_(3)", {}),
    "set_": ("y.set_(torch.empty(3))", {}),
    "squeeze_": ("y.unsqueeze_(0)", {}),
    "resize of the storage": ("y.untyped_storage().resize_(4)", {}),
    "resize_ as a function": ("torch.resize_as_(y, torch.empty(3))", {}),
    "resize_ of the class": ("torch.Tensor.resize_(y, 3)", {}),
    "stream": ("with torch.cuda.stream(torch.cuda.Stream()):\n    ops.add_n(x, y, n)", {}),
    "swap": ("torch.utils.swap_tensors(y, torch.empty(3))", {}),
    "+= is in place": ("y = x\ny += 1", {}),
    "out": ("y = torch.exp(x, out=x)", {}),
    "out resizes": ("torch.cumsum(x[:3], 0, out=y)", {}),
    "relu in place": ("y = F.relu(x, True)", {}),
    "layer in place": ("y = self.r(x)", {"init": "self.r = nn.ReLU(True)"}),
    "leaky layer in place": ("y = self.r(x)", {"init": "self.r = nn.LeakyReLU(0.1, True)"}),
    "dropout": ("y = F.dropout(x, 0.5, False)", {}),
    "einsum view": ("y = torch.einsum('ij->ij', x)", {}),
    "from_numpy": ("y = torch.from_numpy(x.numpy())", {}),
    "masked_fill broadcasts": ("y = torch.masked_fill(torch.zeros(1), x > 0, 0.0)\ny = y.new_empty(1)", {}),
    "clamp broadcasts": ("x = torch.clamp(x, min=torch.zeros(7, 1, 1))", {}),
    "addition broadcasts": ("x = x + torch.sort(x)[0].unsqueeze(1)", {}),
    "addition by name": ("x = torch.add(x, other=torch.zeros(7, 1, 1))", {}),
    "sum over no dims": ("y = x.sum(())", {}),
    "shared weights": ("x, y = self.a.weight, self.b.weight\nn = x.numel()",
                       {"init": "self.a = nn.Linear(2, 2)\nself.b = nn.Linear(2, 2)\nself.b.weight.data = self.a.weight.data"}),
    "parameter resized in a loop": ("y = self.w", {"init": "self.w = nn.Parameter(torch.zeros(3))\nfor p in self.parameters():\n"
                                                           "    p.data.resize_(1)"}),
    "view by names": ("y = y.view(size=(-1,))[0]", {}),
    "permute by names": ("y = y.permute(dims=(1, 0))", {}),
    "reversed dims": ("x = x.unsqueeze(0)\ny = torch.empty_like(x.T[0])", {}),
    "sum along an axis": ("y = x.sum(axis=1)", {}),
    "new by names": ("y = x.new_zeros(size=(3,))", {}),
    "cat along an axis": ("y = torch.cat([x[:1], x[:1]], axis=1)", {}),
    "channels last by to": ("x = x.to(memory_format=torch.channels_last)[0]", {}),
    "channels last": ("y = torch.empty_like(x, memory_format=torch.channels_last)\ny = y[0]", {}),
}  # fmt: skip
DTYPES = {
    "half module": ("y = self.w", {"init": "self.w = nn.Parameter(torch.zeros(3))\nself.half()"}),
    "module to a dtype": ("y = self.r.weight", {"init": "self.r = nn.Linear(3, 3)\nself.r.to(torch.float16)"}),
    "dtype of a layer": ("y = self.r.weight", {"init": "self.r = nn.Linear(3, 3, dtype=torch.float16)"}),
    "dtype that is not known": ("y = y.to(torch.promote_types(x.dtype, x.dtype))", {}),
    "dtype of another": ("y = y.to(other=self.z)", {"init": "self.z = torch.arange(3)"}),
    "dtype by its name": ("y = y.type('torch.ByteTensor')", {}),
    "creation with a dtype": ("y = torch.zeros(x.shape, dtype=torch.promote_types(x.dtype, x.dtype))", {}),
    "softmax with a dtype": ("y = torch.softmax(x, dim=0, dtype=torch.float16)", {}),
    "full of a bool": ("y = torch.full(x.shape, True)", {}),
    "dtype of float math": ("y = torch.bitwise_and(x, x)", {}),
    "dtype of indices": ("y = torch.argmax(x, dim=0)", {}),
    "autocast": ("with torch.autocast('cuda', dtype=torch.float16):\n    y = torch.matmul(x, x.t())", {}),
    "default dtype": ("y = torch.zeros(x.shape)", {"module": "torch.set_default_dtype(torch.float16)"}),
}  # fmt: skip
LAYERS = {
    "embedding by keywords": ("n = n + self.e.weight.shape[0] - 64",
                              {"init": "self.e = nn.Embedding(embedding_dim=64, num_embeddings=100000)"}),
    "bias of a size not known": ("n = n + self.l.bias.shape[0] - 64", {"init": "self.l = nn.Linear(64, hash(2))"}),
    "bool plus int": ("n = n * (x.gt(0) + 1).element_size()", {}),
    "bool product": ("n = n * torch.isnan(x).mul(3).element_size()", {}),
    "bool summed up": ("n = n * x.lt(0).cumprod(1).element_size()", {}),
    "bool in float math": ("n = n * x.gt(0).exp().element_size()", {}),
    "bool in a layer": ("n = n * self.s(x.gt(0)).element_size()", {"init": "self.s = nn.Sigmoid()"}),
}  # fmt: skip
VIEWS = {
    "an embedding's given weight": ("x, y = self.w, self.e.weight\nn = x.numel()",
        {"init": "self.w = nn.Parameter(torch.zeros(16, 64))\nself.e = nn.Embedding(16, 64, _weight=self.w)"}),
    "count of models": ("n = n + K - 1", {"module": "K = 0", "init": "global K\nK += 1"}),
    "list of models": ("n = n + len(self.s) - 1", {"body": "s = []", "init": "self.s.append(1)"}),
    "dict of models": ("n = n + K.get('k', 9)", {"module": "K = {}", "init": "K['k'] = 0"}),
    "memory that models share": ("y = W", {"module": "W = None", "init": "global W\nif W is None:\n"
        "    W = torch.empty(16, 64, device='cuda')"}),
    "expanded and converted": ("y = self.w.expand(4096, -1).float()", {"init": "self.w = nn.Parameter(torch.zeros(3))"}),
    "expanded and reshaped": ("y = self.w.expand(9, -1).reshape(9, 3, 1)", {"init": "self.w = nn.Parameter(torch.zeros(3))"}),
    "expanded, viewed, moved": ("y = self.w.expand(9, 3).view(9, 3, 1).cuda()", {"init": "self.w = nn.Parameter(torch.zeros(3))"}),
    "strided at will": ("y = x.as_strided(x.shape, (0, 0))\nn = y.numel()", {}),
    "expanded by names": ("y = self.w.expand(size=(9, 3))\nn = y.numel()", {"init": "self.w = nn.Parameter(torch.zeros(3))"}),
    "row of what is expanded": ("y = self.w.expand(9, 3, 5)[0]\nn = y.numel()", {"init": "self.w = nn.Parameter(torch.zeros(3, 1))"}),
    "broadcast together": ("_, y = torch.broadcast_tensors(x, self.w)\nn = y.numel()", {"init": "self.w = nn.Parameter(torch.zeros(1))"}),
    "made on the CPU": ("y = torch.empty(x.shape)", {}),
    "made like it on the CPU": ("y = torch.empty_like(x, device='cpu')", {}),
    "new on the CPU": ("y = x.new_empty(x.shape, device='cpu')", {}),
    "new on a device by a name": ("y = torch.empty(x.shape, device=d)", {"module": "d = torch.device('cpu')"}),
    "another GPU": ("y = torch.empty(x.shape, device='cuda:1')", {}),
    "another GPU by its number": ("y = torch.empty(x.shape, device=torch.device('cuda', 1))", {}),
    "moved to another GPU": ("y = y.to('cuda:1')", {}),
    "no memory at all": ("y = torch.empty_like(x, device='meta')", {}),
    "moved to the CPU": ("y = y.to('cpu')", {}),
    "numbers made on the CPU": ("y = torch.arange(n, dtype=torch.float32).view(-1)", {}),
    "squeezed scalar": ("if n > 100:\n    y = x.sum().squeeze(0)", {}),
    "list in a loop": ("s = []\nt = s\nfor i in range(n):\n    s += [i]\nn = n + len(t)", {}),
    "tensor in a loop": ("for i in range(n):\n    t = y\n    t += 1\nn = n + 9", {}),
    "print to an object": ("print('x', file=self.m)\nn = n + self.m.k", {"module": "class M:\n    def __init__(self):\n        self.k = 0\n"
                           "    def write(self, s):\n        self.k = 9", "init": "self.m = M()"}),
}  # fmt: skip
LAYERS |= {
    "in place by a number": ("y = self.r(x)", {"init": "self.r = nn.ReLU(1)"}),
    "in place by a named number": ("y = F.leaky_relu(x, 0.1, inplace=1)", {}),
    "function in place by a number": ("y = F.hardtanh(x, 0, 1, 1)", {}),
    "output size": ("y = self.c(x[None], output_size=(129,))", {"init": "self.c = nn.ConvTranspose1d(16, 16, 3, 2)"}),
    "weight that is None": ("if self.i.weight is None:\n    n = n + 9", {"init": "self.i = nn.InstanceNorm1d(64)"}),
    "bias that is None": ("if self.i.bias is None:\n    n = n + 9", {"init": "self.i = nn.LayerNorm(64, bias=False)"}),
    "affine by its place": ("if self.i.weight is None:\n    n = n + 9", {"init": "self.i = nn.GroupNorm(1, 64, 1e-5, False)"}),
    "statistics that are None": ("if self.i.running_var is None:\n    n = n + 9",
                                 {"init": "self.i = nn.BatchNorm1d(64, track_running_stats=False)"}),
    "gradient that is None": ("if x.grad is None:\n    n = n + 9", {}),
    "version that is None": ("if torch.version.hip is None:\n    n = n + 9", {}),
}  # fmt: skip
FAULTY = {**STATE, **CLASSES, **CODE, **TENSORS, **LAYERS, **VIEWS}


@pytest.mark.parametrize("which", FAULTY)
def test_no_contract_claims_the_naive_reading_alone(tmp_path: Path, which: str) -> None:
    forward, parts = FAULTY[which]
    found = lift(tmp_path, forward, **parts)
    assert found.contracts
    assert not all(naive(c) for c in found.contracts), found.notes


@pytest.mark.parametrize("which", DTYPES)
def test_dtypes_that_are_not_known_are_not_float(tmp_path: Path, which: str) -> None:
    host = (
        "template <typename T> __global__ void k(const float* x, T* y, int n) { }\n"
        "void add_n(torch::Tensor a, torch::Tensor o, int64_t n) {"
        ' AT_DISPATCH_ALL_TYPES_AND(at::kHalf, o.scalar_type(), "k", [&] {'
        " k<scalar_t><<<1, 32>>>(a.data_ptr<float>(), o.data_ptr<scalar_t>(), n); }); }\n"
    )
    assert {c.instantiation for c in lift(tmp_path, host=host).contracts} == {("float",)}
    forward, parts = DTYPES[which]
    found = {c.instantiation for c in lift(tmp_path, forward, host=host, **parts).contracts}
    assert found - {("float",)}


ORDINARY = {
    "extension that models share": ("K['e'].add_n(x, y, n)", {"module": "K = {}", "init": "if 'e' not in K:\n"
        "    K['e'] = load_inline(name='o')"}),
    "device with a GPU": ("y = torch.empty(x.shape, device=torch.device('cuda' if torch.cuda.is_available() else 'cpu'))\n"
        "y = torch.empty_like(x)", {}),
    "device zero": ("z = torch.empty(3, device='cuda:0')\nz = z.to('cuda').cuda(0)", {}),
    "plain": ("", {}),
    "main": ("", {"after": "if __name__ == '__main__':\n    ModelNew()(torch.rand(3))"}),
    "module code": ("", {"module": "import os\nos.environ['TORCH_CUDA_ARCH_LIST'] = '8.0'\ntorch.manual_seed(0)\n"
                                   "torch.backends.cudnn.benchmark = True\nbatch_size = 16\nsource = '''x'''.replace('x', 'y')\n"
                                   "print('building', flush=True)\ntorch.set_float32_matmul_precision('high')"}),
    "lazy extension": ("m = get()\nm.add_n(x, y, n)", {"module": "_ext = None\ndef get():\n    global _ext\n    if _ext is None:\n"
                       "        _ext = load_inline(name='o', cpp_sources='', cuda_sources='')\n    return _ext"}),
    "loading may fail": ("if other is None:\n    return x", {"module": "try:\n    other = load_inline(name='o')\n"
                         "except Exception as e:\n    other = None"}),
    "cached extension": ("get().add_n(x, y, n)", {"module": "import functools\n@functools.lru_cache(maxsize=None)\ndef get():\n"
                         "    return load_inline(name='o', cpp_sources='', cuda_sources='')"}),
    "only with a GPU": ("only.add_n(x, y, n)", {"module": "if torch.cuda.is_available():\n    only = load_inline(name='o')"}),
    "paths": ("", {"module": "import os, logging\nhere = os.path.join(os.path.dirname(__file__), 'x')\nos.makedirs(here, exist_ok=True)\n"
                             "log = logging.getLogger(__name__)\nlog.info('%s', here)"}),
    "helper": ("y = make(x)", {"module": "def make(x, scale: float = 1.0, *, fill=None):\n    return torch.empty_like(x)"}),
    "method": ("self.go(x, y)", {"body": "def go(self, a, o):\n    ops.add_n(a, o, a.numel())"}),
    "static method": ("n = self.count(x)", {"body": "@staticmethod\ndef count(x):\n    return x.numel()"}),
    "no_grad": ("with torch.no_grad():\n    y = torch.empty_like(x)", {"body": "@torch.no_grad()\ndef z(self):\n    pass"}),
    "class constant": ("n = n + self.k", {"body": "k = 0\n'''doc'''"}),
    "state set first": ("self.last = y\ny = self.last", {"init": "self.last = None"}),
    "checks": ("if x.dim() != 2:\n    raise ValueError(f'rank {x.dim()}')\nassert x.is_contiguous(), 'c'", {}),
    "loop over layers": ("for r in self.rs:\n    x2 = r(x)", {"init": "self.rs = nn.ModuleList([nn.ReLU() for _ in range(3)])"}),
    "init loop": ("", {"init": "self.c = nn.Linear(4, 4)\nfor m in self.modules():\n    if isinstance(m, nn.Linear):\n"
                               "        k = 1.0 / math.sqrt(m.weight.size(1))\n        nn.init.uniform_(m.weight, -k, k)\n"
                               "        if m.bias is not None:\n            m.bias.data.zero_()"}),
    "apply": ("", {"body": "def _fill(self, m):\n    if isinstance(m, nn.Linear):\n        nn.init.zeros_(m.weight)",
                   "init": "self.c = nn.Linear(4, 4)\nself.apply(self._fill)"}),
    "buffers": ("n = n + self.zero.numel() - 3", {"init": "self.register_buffer('zero', torch.zeros(3))"}),
    "optional bias": ("if self.b is not None:\n    y = y", {"init": "self.b = None"}),
    "optional layers": ("if hasattr(self, 'expand'):\n    y = self.expand(y)\nk = getattr(self, 'more', 0)\nn = n + k", {}),
    "pairs": ("a, b = pair(0)\nc, d = pair((0, 0))\nn = n + a + b + c + d", {"module": "import collections.abc\nfrom itertools import repeat\n"
        "def _ntuple(k):\n    def parse(x):\n        if isinstance(x, collections.abc.Iterable) and not isinstance(x, str):\n"
        "            return tuple(x)\n        return tuple(repeat(x, k))\n    return parse\npair = _ntuple(2)"}),
    "hardtanh": ("z = F.hardtanh(x, 0, 1) + self.h(x)", {"init": "self.h = nn.Hardtanh(-1, 1)"}),
    "expanded and copied": ("z = self.w.expand(9, 3).float().contiguous()", {"init": "self.w = nn.Parameter(torch.zeros(3))"}),
    "made on the device": ("z = torch.zeros(3, device=x.device)\ny = torch.empty(x.shape, device='cuda')\ny = torch.empty_like(x)", {}),
    "weights that are there": ("if self.b.weight is None or self.b.running_mean is None:\n    n = n + 9", {"init": "self.b = nn.BatchNorm1d(64)"}),
    "counting loop": ("k = 0\nfor i in range(n):\n    k += 1", {}),
    "training": ("if self.training:\n    pass", {}),
    "inheritance": ("n = self.count(x)", {"module": "class Base(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                    "        self.k = 0\n    def count(self, x):\n        return x.numel() + self.k\nclass Mid(Base):\n    pass",
                    "init": "self.h = Mid()\nself.count = self.h.count"}),
    "lists and dicts": ("c = {'n': n}\ns = [c]\nn = s[0].get('n')\nfor i, (k, v) in enumerate(c.items()):\n    n = v", {}),
    "autograd function": ("y = Fn.apply(x)", {"module": "class Fn(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        ctx.k = 3\n        return torch.empty_like(x)\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g"}),
}  # fmt: skip


@pytest.mark.parametrize("which", ORDINARY)
def test_ordinary_callers_are_followed(tmp_path: Path, which: str) -> None:
    forward, parts = ORDINARY[which]
    found = lift(tmp_path, forward, **parts)
    assert found.contracts and not found.notes and not found.problems
    assert all(naive(c) for c in found.contracts), [
        (c.scalar("n"), c.buffer("y"), c.no_alias) for c in found.contracts
    ]


def test_without_a_problem_arguments_with_defaults_are_free() -> None:
    source = CALLER.format(
        module="", body="", init="        self.k = k", forward="        n = n + j + self.k", after=""
    )
    source = source.replace("__init__(self)", "__init__(self, k=0)").replace(
        "forward(self, x)", "forward(self, x, j=0, *, t=None)"
    )
    found = lift_python(python_submission(HOST, source), read(HOST), None, 1 << 30)
    assert found.contracts
    for contract in found.contracts:
        scalar = contract.scalar("n")
        assert scalar is not None and {"j", "k"} <= names(scalar.value or "")


def test_without_a_problem_arguments_without_names_are_not_known() -> None:
    source = CALLER.format(
        module="", body="", init="", forward="        if more:\n            n = n + 9", after=""
    )
    found = lift_python(
        python_submission(HOST, source.replace("forward(self, x)", "forward(self, x, *more)")),
        read(HOST),
        None,
        1 << 30,
    )
    assert any("* or **" in n for n in found.notes)


def test_names_bound_to_lambdas_are_not_the_functions_of_that_name(tmp_path: Path) -> None:
    bound = HOST + (
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"add_n\", [](torch::Tensor a, torch::Tensor o, int64_t n)"
        " { add_n(a, o, n + 100000); }); }\n"
    )  # fmt: skip
    found = lift(tmp_path, host=bound, module="ops = load_inline(name='o', functions=None)")
    assert any("add_n" in n for n in found.notes)
    plain = bound.replace(
        "[](torch::Tensor a, torch::Tensor o, int64_t n) { add_n(a, o, n + 100000); }", "&add_n"
    )
    assert not lift(tmp_path, host=plain).notes


def test_a_name_that_two_extensions_may_bind_is_not_followed(tmp_path: Path) -> None:
    bound = HOST + (
        "void other(torch::Tensor a, torch::Tensor o, int64_t n) { add_n(o, o, n); }\n"
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("add_n", &other); }\n'
    )
    found = lift(tmp_path, host=bound, module="more = load_inline(name='o', functions=None)")
    assert any("add_n" in n for n in found.notes)
    assert not lift(tmp_path, host=bound).notes


@pytest.mark.parametrize(
    ("method", "base"),
    [
        (python_statements.Statements.statement, ast.stmt),
        (python_expressions.Expressions.evaluate, ast.expr),
    ],
)
def test_every_kind_of_syntax_is_followed_or_refused_by_name(method: object, base: type[ast.AST]) -> None:
    tree = ast.parse(textwrap.dedent(inspect.getsource(method)))  # type: ignore[arg-type]
    cases = next(n for n in ast.walk(tree) if isinstance(n, ast.Match)).cases
    named = {n.attr for c in cases for n in ast.walk(c.pattern) if isinstance(n, ast.Attribute)}
    kinds = {
        k.__name__ for k in base.__subclasses__() if not issubclass(k, ast.Constant) or k is ast.Constant
    }
    newer = {"TypeAlias", "TemplateStr", "Interpolation"}
    old = {
        "Num",
        "Str",
        "Bytes",
        "NameConstant",
        "Ellipsis",
        "Index",
        "ExtSlice",
        "AugLoad",
        "AugStore",
        "Param",
        "Suite",
    }
    assert kinds - newer - old <= named
    last = cases[-1]
    assert isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    assert "self.refuse" in ast.unparse(last.body[-1])
