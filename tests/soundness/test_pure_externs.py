"""Device functions without a body: UNKNOWN by name, or, where that is assumed, any value and nothing else."""

from pathlib import Path

from specs.policy import Policy
from specs.results import Verdict
from verifier.pipeline import Options, audit

HEAD = """#include <cuda_runtime.h>
__device__ int pick(int);
__device__ void note(const char*, int);
__global__ void k(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    %s
}
int main() {
    int* out;
    cudaMalloc(&out, 1024 * sizeof(int));
    k<<<4, 256>>>(out, 7);
    return cudaDeviceSynchronize();
}
"""


def judge(folder: Path, body: str, pure: bool) -> tuple[dict[str, Verdict], set[str]]:
    path = folder / "k.cu"
    path.write_text(HEAD % body)
    policy = Policy(required_gates=("static", "prove"), pure_externs=pure)
    result = audit(path, Options(policy=policy, gates=("prove",), timeout=300))
    assert not result.message, result.message
    (gate,) = (g for g in result.gates if g.gate == "prove")
    return {p.id: p.verdict for k in gate.kernels for p in k.properties}, {a.text for a in gate.assumptions}


def test_nothing_is_known_by_default(tmp_path: Path) -> None:
    found, _ = judge(tmp_path, "out[i] = pick(i);", False)
    assert found["race-global"] is found["bounds-global"] is Verdict.UNKNOWN


def test_what_is_assumed_is_printed(tmp_path: Path) -> None:
    found, assumed = judge(tmp_path, 'note("value d", i); if (pick(i) < 3) out[i] = pick(i);', True)
    assert found["race-global"] is found["bounds-global"] is Verdict.PROVED
    assert assumed >= {"pure(pick)", "pure(note)"}


def test_the_result_is_any_value(tmp_path: Path) -> None:
    found, _ = judge(tmp_path, "out[pick(i) & 1023] = 1;", True)
    assert found["race-global"] is not Verdict.PROVED
    assert found["bounds-global"] is Verdict.PROVED
    found, _ = judge(tmp_path, "if (pick(0) == 0) __syncthreads(); out[i] = 1;", True)
    assert found["barrier-divergence"] is not Verdict.PROVED
