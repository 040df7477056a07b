"""Helpers of the front end's tests: code -> IR."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.frontend.device_kernels import lower_text
from verifier.ir import nodes as n
from verifier.ir.codec import dumps, loads
from verifier.ir.printer import show_body
from verifier.ir.validator import validate


def read(text: str, *wanted: tuple[str, tuple[str, ...]]) -> n.Module:
    """Lowered, sent through the codec, validated."""
    module = loads(dumps(lower_text(f'# 1 "k.cu"\n{text}\n', wanted, "sm_80")))
    validate(module)
    return module


def kernel_of(code: str, prefix: str = "") -> n.Kernel:
    module = read(f"{prefix}\n__global__ void kernel_(int *o, int k) {{ {code} }}")
    assert module.diagnostics == (), module.diagnostics
    return module.kernels[-1]


def body_of(code: str, prefix: str = "") -> str:
    return show_body(kernel_of(code, prefix).body)


def statements(body: tuple[n.Stmt, ...]) -> Iterator[n.Stmt]:
    for stmt in body:
        yield stmt
        match stmt:
            case n.If(then=then, other=other):
                yield from statements(then)
                yield from statements(other)
            case n.Loop(head=head, body=inner, step=step):
                yield from statements(head + inner + step)
            case n.Scope(body=inner):
                yield from statements(inner)


def unsupported_in(code: str, prefix: str = "") -> list[n.Unsupported]:
    return [stmt for stmt in statements(kernel_of(code, prefix).body) if isinstance(stmt, n.Unsupported)]
