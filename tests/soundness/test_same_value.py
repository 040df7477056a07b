"""``benign-same-value``: stores of provably equal values are allowed, everything that only looks equal is not.

By default they race.
"""

from pathlib import Path

import pytest

from specs.policy import Policy
from specs.results import Verdict
from verifier.pipeline import Options, audit

MAIN = """
int main() {
    float* x; int* out;
    cudaMalloc(&x, 1024 * sizeof(float));
    cudaMalloc(&out, 1024 * sizeof(int));
    cudaMemset(x, 0, 1024 * sizeof(float));
    cudaMemset(out, 0, 1024 * sizeof(int));
    k<<<4, 128>>>(x, out, 7);
    return cudaDeviceSynchronize();
}
"""
GOOD = {
    "a constant": "if (x[i] < 0.0f) out[0] = 1;",
    "an argument": "out[i / 2] = n;",
    "what the place says": "out[i / 4] = i / 4 * 3;",
    "a constant float": "((float*)out)[i / 2] = 0.5f;",
    "an element of an input": "((float*)out)[0] = x[5];",
    "a flag in shared memory": "__shared__ int f; if (x[i] < 0.0f) f = 1; __syncthreads(); out[i] = f;",
    "a pointer": "__shared__ int* p; __shared__ int a[64]; p = a + 3; __syncthreads(); out[i] = p == a;",
}
BAD = {
    "two pointers": "__shared__ int* p; __shared__ int a[64]; p = a + threadIdx.x / 8; __syncthreads(); out[i] = p == a;",
    "the thread's number": "out[0] = i;",
    "a load of its own": "((float*)out)[0] = x[i];",
    "two constants": "out[0] = x[i] < 0.0f ? 1 : 2;",
    "another value in between": "out[0] = i + 1; out[0] = 1;",
    "a byte inside of the word": "out[0] = 0; ((char*)out)[1] = 0;",
    "half of the next element": "((short*)out)[i] = 1; out[1] = 1;",
    "a sum at two places": "float* y = (float*)out; if (i & 1) y[0] = x[0] * x[1] + x[2]; else { float p = x[0] * x[1]; "
    "y[0] = p + x[2]; }",
    "a product that wraps": "int v = i * 65536 * 128; out[0] = v / 8388608 - i;",
    "read beside it": "out[0] = 1; x[i] = out[0];",
    "one that is read back": "out[0] = out[1]; out[1] = 5;",
    "a zero of another type": "if (i & 1) ((float*)out)[0] = 1.0f; else out[0] = 1;",
}


def verdicts(folder: Path, body: str, benign: bool) -> dict[str, Verdict]:
    path = folder / "k.cu"
    head = "#include <cuda_runtime.h>\n__global__ void k(float* x, int* out, int n) {\n"
    path.write_text(f"{head}    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    {body}\n}}\n{MAIN}")
    policy = Policy(required_gates=("static", "prove"), benign_same_value=benign)
    result = audit(path, Options(policy=policy, gates=("static", "prove"), timeout=300))
    assert not result.message, result.message
    found = [p for g in result.gates if g.gate == "prove" for k in g.kernels for p in k.properties]
    return {p.id: p.verdict for p in found if p.id.startswith("race")}


@pytest.mark.parametrize("body", GOOD.values(), ids=list(GOOD))
def test_equal_values(tmp_path: Path, body: str) -> None:
    found = verdicts(tmp_path, body, True)
    assert all(v in (Verdict.PROVED, Verdict.NOT_APPLICABLE) for v in found.values()), found


def test_equal_values_race_by_default(tmp_path: Path) -> None:
    assert Verdict.REFUTED in verdicts(tmp_path, GOOD["a constant"], False).values()


def differs(folder: Path, body: str) -> None:
    assert any(v in (Verdict.REFUTED, Verdict.UNKNOWN) for v in verdicts(folder, body, True).values())


@pytest.mark.parametrize("what", ["the thread's number", "a product that wraps", "a sum at two places"])
def test_sample_of_values_that_differ(tmp_path: Path, what: str) -> None:
    differs(tmp_path, BAD[what])


@pytest.mark.sweep
@pytest.mark.parametrize("body", BAD.values(), ids=list(BAD))
def test_values_that_differ(tmp_path: Path, body: str) -> None:
    differs(tmp_path, body)
