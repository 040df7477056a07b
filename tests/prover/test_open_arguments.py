"""An argument that the contract leaves open: a witness has the value at which the fault shows."""

from pathlib import Path

from specs.policy import Policy
from specs.results import Verdict
from verifier.pipeline import Options, audit

TEXT = """
__global__ void k(float* a, int shift) {
    if (shift < 0 || shift > 1000) return;
    if (threadIdx.x == 15) a[threadIdx.x + shift] = 1.0f;
    if (threadIdx.x == 200) a[threadIdx.x] = 2.0f;
}
"""
CONTRACT = """
[[contract]]
kernel = "k"
launch = { grid = ["1"], block = ["256"] }
[contract.buffers]
"a" = "inout f32[2048] fresh"
"""


def test_the_witness_says_which_value(tmp_path: Path) -> None:
    file, contract = tmp_path / "k.cu", tmp_path / "k.toml"
    file.write_text(TEXT)
    contract.write_text(CONTRACT)
    policy = Policy(required_gates=("static", "prove"), required_properties=("race-global",))
    result = audit(file, Options(policy=policy, contract=contract, gates=("prove",), timeout=300))
    (gate,) = (g for g in result.gates if g.gate == "prove")
    (race,) = (p for k in gate.kernels for p in k.properties if p.id == "race-global")
    assert race.verdict is Verdict.REFUTED
    finding = next(f for f in gate.findings if f.id == "race-global")
    assert finding.witness is not None and finding.witness.scalars["shift"] == 185
