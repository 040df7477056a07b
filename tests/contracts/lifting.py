"""Helpers of these tests: host text -> contracts, without a child process."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from specs.contract import Contract
from specs.location import Span
from verifier.contracts import entries
from verifier.contracts.entries import Lifted
from verifier.frontend import host_worker
from verifier.frontend.host import HostCode, host_code
from verifier.source.device_text import DeviceText, SourceText, Submission

SHIM = (Path(host_worker.__file__).parent / "host_shim.h").read_text()
KERNEL = "__global__ void k(const float* x, float* y, int n) { }\n"


@lru_cache(maxsize=256)
def read(text: str, path: str = "t.cu") -> HostCode:
    return host_code(host_worker.parse(f'# 1 "{path}"\n{text}', SHIM))


def lift(text: str, cap: int = 1 << 30) -> Lifted:
    """All contracts of all entries of a host text."""
    code = read(text)
    out = Lifted()
    for usr in entries.entry_points(code):
        more = entries.lift_entry(code, usr, cap, text)
        out.contracts += more.contracts
        out.problems += more.problems
    return out


def launcher(body: str, params: str = "torch::Tensor x", kernel: str = KERNEL) -> list[Contract]:
    """The contracts of one launcher with this body."""
    found = lift(f"{kernel}torch::Tensor run({params}) {{\n{body}\n}}\n")
    assert not found.problems, found.problems
    return found.contracts


def one(body: str, params: str = "torch::Tensor x", kernel: str = KERNEL) -> Contract:
    contracts = launcher(body, params, kernel)
    assert len(contracts) == 1, [c.requires for c in contracts]
    return contracts[0]


def texts(contract: Contract, origin: str | None = None) -> set[str]:
    return {c.text for c in contract.requires if origin is None or c.origin == origin}


def assumed(contract: Contract) -> set[str]:
    return {c.text for c in contract.assumptions}


def python_submission(host: str, python: str, kernels: tuple[str, ...] = ("k",)) -> Submission:
    device = DeviceText(host, "0" * 64, tuple((k, Span("t.py", 1)) for k in kernels))
    return Submission("t.py", "python", "", python, device, host=host, python=python)


def cu_submission(text: str, kernels: tuple[str, ...] = ("k",), path: str = "t.cu") -> Submission:
    device = DeviceText(text, "0" * 64, tuple((k, Span(path, 1)) for k in kernels))
    return Submission(path, "cu", "", text, device, host=text, texts=(SourceText(path, text),))
