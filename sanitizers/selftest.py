"""Proves, on this machine's compiler, that each watch really fires: one small kernel with one fault a branch.

Once for a runtime and an optimisation level (remembered in the cache). Invariant: a simulator whose self-test fails is
never used; the message names the watch.

Example::

    selftest(sandbox=probe(), cache=folder)      # None, or "the simulator's check of float4 alignment does not fire"
"""

from __future__ import annotations

import hashlib
import re
from functools import cache as remember
from pathlib import Path

from sanitizers.simulator.build import toolchain
from sanitizers.simulator.session import Session
from specs.contract import ConcreteBuffer, ConcreteLaunch
from verifier.ir import nodes as ir
from verifier.isolation import Sandbox
from verifier.source.device_text import DeviceText

_TEXT = """# 1 "selftest.cu"
__device__ float at(const float* p, int i) { return p[i]; }
__global__ void selftest(float* x, float* y, int* n, unsigned char* b, int which, int zero) {
  __shared__ float s[64];
  __shared__ float tile[4][8];
  int t = threadIdx.x;
  float local[4] = {0.0f, 1.0f, 2.0f, 3.0f};
  switch (which) {
  case 0: y[t] = x[t]; break;  // clean
  case 1: y[t] = x[t + 64 + zero]; break;  // bounds-global: a load of 4 bytes
  case 2: x[t + 64 + zero] = 1.0f; break;  // bounds-global: a store of 4 bytes
  case 3: b[t + 64 + zero] = 1; break;  // bounds-global: a store of 1 byte
  case 4: ((unsigned short*)b)[t + 32] = 1; break;  // bounds-global: a store of 2 bytes
  case 5: ((double*)x)[t + 32] = 1.0; break;  // bounds-global: a store of 8 bytes
  case 6: ((float4*)x)[t + 16] = make_float4(0.0f, 0.0f, 0.0f, 0.0f); break;  // bounds-global: a store of 16 bytes
  case 7: y[t] = ((const float4*)(x + 1 + zero))[0].x; break;  // alignment: a load of 16 bytes
  case 8: s[t] = 0.0f; y[t] = at(s, t + 64 + zero); break;  // bounds-shared: a load
  case 9: if (t < 32) tile[t / 8][t % 8] = 0.0f; __syncthreads(); y[t] = tile[0][t]; break;  // bounds-shared: a row
  case 10: y[t] = local[(t + zero) & 7]; break;  // bounds-local: an array
  case 11: y[t] = s[t]; break;  // uninitialized: shared memory
  case 12: s[t] = 0.0f; y[t] = s[63 - t]; break;  // race-shared: a store and a load
  case 13: y[0] = float(t); break;  // race-global: two stores
  case 14: n[t] = (2147483647 - zero) + t; break;  // overflow: a sum
  case 15: n[t] = (t + 70000) * (t + 70000 + zero); break;  // overflow: a product
  case 16: n[t] = t / zero; break;  // arithmetic: a division
  case 17: n[t] = 1 << (t + zero); break;  // arithmetic: a shift
  case 18: if (t < 40) __syncthreads(); y[t] = 0.0f; break;  // barrier-divergence: a barrier
  case 19: if (t < 16) y[t] = __shfl_xor_sync(0xffffffffu, x[t], 1); break;  // barrier-divergence: a shuffle
  case 20: atomicAdd(n + t + 64 + zero, 1); break;  // bounds-global: an atomic
  case 21: if (t == 0) n[0] = 1; else atomicAdd(n, 1); break;  // race-global: a store and an atomic
  case 22: assert(t < 5 + zero); break;  // assert: an assertion
  case 23: { volatile int* flag = n; while (*flag >= zero) {} } break;  // termination: a spin
  case 24: { float4 v = *(float4*)(x + 4 * (t & 15)); *(float4*)(y + 4) = v; } break;  // race-global: stores of 16 bytes
  case 25: { float dead = x[t + 64 + zero]; if (t > 100) y[t] = dead; } break;  // bounds-global: a load without use
  case 26: y[t + 1] = 1.0f; y[t + 1] = x[t]; break;  // race-global bounds-global: a store that is overwritten
  }
}
"""
_ONLY_UNOPTIMISED = {25}
"""What an optimiser may drop: replays and comparisons with the prover are built without one."""


def selftest(*, sandbox: Sandbox, cache: Path | None, opt: str = "O1") -> str | None:
    """None when every watch fires; else which one does not. Raises SimulatorMissing."""
    chain = toolchain(cache, opt)
    stamp = chain.folder / "selftest"
    text = hashlib.sha256(_TEXT.encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == text:
        return None
    failed = _run(sandbox, cache, opt)
    if failed is None:
        stamp.write_text(text)
    return failed


@remember
def expectations() -> dict[int, tuple[frozenset[str], str]]:
    """Branch -> the properties of which one must be found (none for the clean branch), and its name."""
    found: dict[int, tuple[frozenset[str], str]] = {}
    for number, comment in re.findall(r"case (\d+):.*// (.*)", _TEXT):
        properties, _, name = comment.partition(": ")
        found[int(number)] = (frozenset(properties.split()) - {"clean"}, name or comment)
    return found


def _run(sandbox: Sandbox, cache: Path | None, opt: str) -> str | None:
    pointer: dict[str, ir.Type] = {"x": ir.F32, "y": ir.F32, "n": ir.I32, "b": ir.Int(8, False)}
    params = (
        *(ir.Param(n, ir.Pointer(t)) for n, t in pointer.items()),
        ir.Param("which", ir.I32),
        ir.Param("zero", ir.I32),
    )
    kernel = ir.Kernel("selftest", (), params, (), {}, ())
    device = DeviceText(_TEXT, hashlib.sha256(_TEXT.encode()).hexdigest(), ())
    buffers = tuple(
        ConcreteBuffer(n, d, 64, (), True, "", {}, 0, 7)
        for n, d in zip(pointer, ("f32", "f32", "i32", "u8"), strict=True)
    )
    with Session(device, kernel, opt=opt, sandbox=sandbox, cache=cache) as session:
        if session.unsupported is not None:
            return f"the simulator cannot build its own self-test: {session.unsupported}"
        for which, (properties, name) in expectations().items():
            if which in _ONLY_UNOPTIMISED and opt != "O0":
                continue
            launch = ConcreteLaunch(
                "selftest", (), (1, 1, 1), (64, 1, 1), 0, buffers, {"which": which, "zero": 0}
            )
            result = session.run(launch)
            if result.error is not None or result.unsupported is not None:
                return f"the simulator's self-test of {name} ends with: {result.error or result.unsupported}"
            lines = {f.property for f in result.findings}
            if lines.isdisjoint(properties) if properties else lines:
                return f"the simulator's check of {name} does not fire ({opt}; found: {', '.join(sorted(lines)) or 'nothing'})"
    return None
