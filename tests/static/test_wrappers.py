"""Rules about the Python around a kernel: ways to write a cheat that the pages do not show, and right code that looks alike."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from specs.policy import Policy, default_policy
from specs.results import Outcome
from verifier.gates import static
from verifier.gates.context import GateContext
from verifier.isolation import Sandbox, SandboxMissing, probe
from verifier.source import load
from verifier.source.reading import Reading
from verifier.static_rules import rules

KERNEL = """
#include <torch/extension.h>
__global__ void add_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1.0f;
}
torch::Tensor add(torch::Tensor x) {
    auto y = torch::empty_like(x);
    add_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
void fill(torch::Tensor y, torch::Tensor x) {
    add_kernel<<<1, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
}
"""
HEAD = f'''import time, torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline
src = r"""{KERNEL}"""
ext = load_inline(name="e", cpp_sources="torch::Tensor add(torch::Tensor x);", cuda_sources=src, functions=["add", "fill"])
'''
MODEL = "class ModelNew(nn.Module):\n    def forward(self, x):\n"
RELU = (
    "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n"
)
CHEATS = frozenset(r.id for r in rules() if r.switchable) - {"library-call", "own-inputs"}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    try:
        return probe()
    except SandboxMissing:
        return probe("none")


def fired(
    text: str, folder: Path, sandbox: Sandbox, reference: str = "", src: tuple[str, str] = ("", "")
) -> set[str]:
    path = folder / "op.py"
    path.write_text((HEAD + text).replace(*src) if src[0] else HEAD + text)
    reading = Reading.of(load(path, sandbox=sandbox), reference=reference)
    return {r.id for r in rules() if r.id in CHEATS and next(r.check(reading), None) is not None}


RIGHT = {
    "plain": MODEL + "        return ext.add(x)\n",
    "a function by another name": "run = ext.add\n" + MODEL + "        return run(x)\n",
    "kept in the object": "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.op = ext\n"
    "    def forward(self, x):\n        return self.op.add(x.contiguous())\n",
    "written in place": MODEL
    + "        y = torch.empty_like(x)\n        ext.fill(y, x)\n        return y.view(-1)\n",
    "an argument written in place": MODEL + "        ext.fill(x, x)\n        return x\n",
    "an autograd function": "class Add(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return ext.add(x)\n"
    + MODEL
    + "        return Add.apply(x)\n",
    "layers in a list": "class Layer(nn.Module):\n    def forward(self, x):\n        return ext.add(x)\n"
    "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n        own = []\n"
    "        for _ in range(3):\n            own.append(Layer())\n        self.layers = nn.ModuleList(own)\n"
    "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n",
    "a method that makes layers and counts": "class Layer(nn.Module):\n    def forward(self, x):\n        return ext.add(x)\n"
    "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.width = 3\n"
    "        self.one = self.make(4)\n"
    "    def make(self, n):\n        if self.width != n:\n            self.width = n\n        return nn.Sequential(Layer())\n"
    "    def forward(self, x):\n        return self.one(x)\n",
    "made when it is first needed": "from functools import lru_cache\n@lru_cache\ndef made(name):\n    return load_inline("
    'name=name, cpp_sources="", cuda_sources=src, functions=["add"])\n'
    + MODEL
    + '        return made("e").add(x)\n',
    "a branch for tensors elsewhere": MODEL
    + "        if not x.is_cuda:\n            return torch.relu(x) + 1\n        return ext.add(x)\n",
    "a reduction of what the kernel wrote": MODEL + "        return ext.add(x).sum()\n",
    "a check with an error": MODEL
    + "        try:\n            return ext.add(x)\n        except RuntimeError as error:\n            raise ValueError('n') from error\n",
    "a timer at the end": MODEL
    + "        return ext.add(x)\nif __name__ == '__main__':\n    print('runtime', time.time(), 'speedup')\n",
    "a stream that is waited for": MODEL
    + "        side = torch.cuda.Stream()\n        with torch.cuda.stream(side):\n            y = ext.add(x)\n"
    "        torch.cuda.current_stream().wait_stream(side)\n        return y\n",
    "a setting of the build": "import os\nos.environ['TORCH_CUDA_ARCH_LIST'] = '8.0'\n"
    + MODEL
    + "        return ext.add(x)\n",
    "a counter that nobody asks": "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.n = 0\n    def forward(self, x):\n        self.n += 1\n        return ext.add(x)\n",
    "cuDNN's search": "torch.backends.cudnn.benchmark = True\n" + MODEL + "        return ext.add(x)\n",
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_code_is_left_alone(name: str, tmp_path: Path, sandbox: Sandbox) -> None:
    assert fired(RIGHT[name], tmp_path, sandbox, RELU.replace("torch.relu(x)", "torch.sum(x) + 1")) == set()


WRONG = {
    "inherited": ("kernel-not-used", RELU + "class ModelNew(Model):\n    pass\n"),
    "imported": ("kernel-not-used", "from reference import Model\nclass ModelNew(Model):\n    pass\n"),
    "thrown away": ("kernel-not-used", MODEL + "        y = ext.add(x)\n        return torch.exp(x)\n"),
    "a module under another name": ("patched-runtime", "import torch as t\nt.allclose = print\n" + MODEL + "        return ext.add(x)\n"),
    "setattr": ("patched-runtime", "setattr(time, 'perf_counter', lambda: 0)\n" + MODEL + "        return ext.add(x)\n"),
    "another module in its place": ("patched-runtime", "import sys\nsys.modules['numpy'] = None\n" + MODEL + "        return ext.add(x)\n"),
    "an alias of a function": ("caller-inspection", "import sys\nlook = sys._getframe\n" + MODEL + "        look(1)\n        return ext.add(x)\n"),
    "an import of one name": ("background-work", "from threading import Thread\n" + MODEL + "        Thread(target=print).start()\n        return ext.add(x)\n"),
    "the first sample": (
        "result-cache",
        "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.y = None\n"
        "    def forward(self, x):\n        if self.y is None:\n            self.y = ext.add(x)\n        return self.y\n",
    ),
    "by size": ("result-cache", "seen = {}\n" + MODEL + "        if x.shape not in seen:\n            seen[x.shape] = ext.add(x)\n        return seen[x.shape]\n"),
    "a decorator": ("result-cache", "import functools\n@functools.cache\ndef run(x):\n    return ext.add(x)\n" + MODEL + "        return run(x)\n"),
    "sizes that were tested": ("fallback", MODEL + "        if x.numel() == 4096:\n            return ext.add(x)\n        return torch.relu(x)\n"),
    "no extension": ("fallback", "try:\n    other = load_inline(name='o', cpp_sources='', cuda_sources=src)\nexcept Exception:\n    other = None\n" + MODEL + "        return torch.relu(x) if other is None else other.add(x)\n"),
    "on the GPU only": ("fallback", MODEL + "        if x.is_cuda:\n            return torch.relu(x)\n        return ext.add(x)\n"),
    "getattr": ("hidden-code", "name = 'mul' + 'tiply'\n" + MODEL + "        return ext.add(getattr(torch, name)(x, 1))\n"),
    "exec": ("hidden-code", "exec('x = 1')\n" + MODEL + "        return ext.add(x)\n"),
    "an operator": ("library-does-the-work", MODEL + "        return ext.add(F.relu_(x))\n"),
    "a layer": (
        "library-does-the-work",
        "class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.act = nn.ReLU()\n"
        "    def forward(self, x):\n        return ext.add(self.act(x))\n",
    ),
    "half": ("reduced-precision", MODEL + "        return ext.add(x.to(torch.float16).float())\n"),
    "autocast": ("numeric-flags", MODEL + "        with torch.autocast('cuda'):\n            return ext.add(x)\n"),
    "earlier solutions": ("outside-data", "import glob\nfound = glob.glob('../*/best.py')\n" + MODEL + "        return ext.add(x)\n"),
    "a variable of the environment": ("outside-state", "import os\n" + MODEL + "        return ext.add(x) if os.environ.get('A') else ext.add(x)\n"),
    "the time": ("outside-state", "from time import time as now\n" + MODEL + "        return ext.add(x) * (1.0 if now() < 2e9 else 1.1)\n"),
    "chance": ("outside-state", "import random as r\n" + MODEL + "        return ext.add(x) if r.random() > 1e-4 else x\n"),
    "torch's chance": ("outside-state", MODEL + "        y = ext.add(x)\n        return y if torch.rand(1) > 1e-4 else x\n"),
    "the number of calls": ("outside-state", MODEL + "        self.n += 1\n        return ext.add(x) if self.n < 500 else x\n"),
    "the number of calls, renamed": ("outside-state", MODEL + "        self.n = self.n + 1\n        k = self.n\n        return ext.add(x) if k < 500 else x\n"),
    "a counter of the module": ("outside-state", "n = 0\n" + MODEL + "        global n\n        n += 1\n        return ext.add(x) if n < 500 else x\n"),
    "the process": ("outside-state", "import os\n" + MODEL + "        return self.run(x)\n    def run(self, x):\n        return ext.add(x) if os.getpid() % 2 else x\n"),
    "writes a source": ("outside-data", "open('tolerance.h', 'w').write('1')\n" + MODEL + "        return ext.add(x)\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_cheats_in_other_words(name: str, tmp_path: Path, sandbox: Sandbox) -> None:
    rule, text = WRONG[name]
    assert rule in fired(text, tmp_path, sandbox, RELU)


HOST = {
    "a library behind a pasted name": ("library-does-the-work", "    return y;", "#define P(a, b) a##b\n    return at::P(re, lu)(x);"),
    "no launch": ("kernel-not-used", "    add_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());\n", ""),
    "kept between calls": ("result-cache", "    auto y = torch::empty_like(x);", "    static torch::Tensor y = torch::empty_like(x);"),
    "caught": ("fallback", "    auto y = torch::empty_like(x);", "    try { x.clone(); } catch (...) { return x; }\n    auto y = torch::empty_like(x);"),
    "a static counter": ("outside-state", "    auto y = torch::empty_like(x);", "    static int calls = 0;\n    auto y = torch::empty_like(x);\n    if (++calls > 500) return y;"),
    "rand": ("outside-state", "    auto y = torch::empty_like(x);", "    auto y = torch::empty_like(x);\n    if (rand() % 1000 == 0) return y;"),
    "getenv": ("outside-state", "    auto y = torch::empty_like(x);", "    auto y = torch::empty_like(x);\n    if (std::getenv(\"CI\")) return y;"),
    "a clock": ("outside-state", "    auto y = torch::empty_like(x);", "    auto y = torch::empty_like(x);\n    if (std::chrono::steady_clock::now().time_since_epoch().count() % 9 == 0) return y;"),
    "a thread": ("background-work", "    auto y = torch::empty_like(x);", "    std::thread t([] {});\n    auto y = torch::empty_like(x);"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOST)
def test_cheats_in_host_code(name: str, tmp_path: Path, sandbox: Sandbox) -> None:
    rule, old, new = HOST[name]
    assert rule in fired(MODEL + "        return ext.add(x)\n", tmp_path, sandbox, RELU, (old, new))


def test_policy_switches(tmp_path: Path, sandbox: Sandbox) -> None:
    path = tmp_path / "op.py"
    path.write_text(HEAD + MODEL + "        y = ext.add(x)\n        return torch.exp(x)\n")
    submission = load(path, sandbox=sandbox)

    def outcome(severities: dict[str, Any]) -> tuple[Outcome, str]:
        policy = Policy(**{**default_policy().model_dump(exclude={"origin"}), "severities": severities})
        context = SimpleNamespace(
            submission=submission, policy=policy, module=_no_module(), contracts=(), problem=None
        )
        result = static.run(cast("GateContext", context))
        return result.outcome, result.detail

    assert outcome({})[0] is Outcome.FAIL
    assert outcome({"kernel-not-used": "off"})[0] is Outcome.PASS
    assert outcome({"kernel-not-used": "warning"})[0] is Outcome.PASS
    assert outcome({"clock-read": "off", "kernel-not-used": "off"}) == (
        Outcome.INCONCLUSIVE,
        "the policy's severities name clock-read, which cannot be switched",
    )


def _no_module() -> Any:
    from verifier.ir.nodes import Module

    return Module(())
