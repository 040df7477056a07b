"""Contracts are the same whatever seed the hashes of strings have: their symbols and clauses keep their order and names.

Each program sets several variables in branches and loops that are not followed, so that many names are given out at once.
"""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import sys
from dataclasses import asdict
from tests.contracts.lifting import lift
found = lift(sys.stdin.read())
print([asdict(c) for c in found.contracts], found.problems)
"""
PROGRAM = """
__global__ void blend(const float *a, const float *b, float *out, int rows, int cols, int depth, int stride);
__global__ void fill(float *out, int rows, int cols);
bool choose(const char *);
void sizes(int &rows, int &cols, int &depth, int &stride, const char *which) {
    if (choose(which)) { rows = rand(); cols = 3; depth = rand(); stride = rows; }
    for (int i = 0; i < rand(); i++) { stride += i; depth -= cols; cols += rows; rows++; }
}
int main(int argc, char **argv) {
    int rows = 8, cols = 16, depth = 4, stride = 2, block = 128;
    float *a, *b, *out;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == 'r') rows = atoi(argv[i]);
        else if (argv[i][0] == 'c') cols = atoi(argv[i]);
        else if (argv[i][0] == 'd') depth = atoi(argv[i]);
        else if (argv[i][0] == 's') stride = atoi(argv[i]);
    }
    sizes(rows, cols, depth, stride, argv[0]);
    cudaMalloc(&a, rows * cols * sizeof(float));
    cudaMalloc(&b, cols * depth * sizeof(float));
    cudaMalloc(&out, rows * depth * stride * sizeof(float));
    if (argc > 2) fill<<<rows, block>>>(out, rows, cols);
    for (int k = 0; k < argc; k++) {
        std::swap(rows, cols);
        blend<<<dim3(rows, depth), block>>>(a, b, out, rows, cols, depth, stride);
    }
    blend<<<dim3(cols, depth), block>>>(a, b, out, rows, cols, depth, stride);
}
"""
FIXED = """
__global__ void step(const float *a, const float *b, float *out, int rows, int cols);
int main() {
    const int rows = 8; int cols = 16, depth = 4, more = 3; float *a, *b, *out;
    cudaMalloc(&a, rows * cols * depth * more * sizeof(float));
    cudaMalloc(&b, depth * cols * sizeof(float));
    cudaMalloc(&out, rows * more * sizeof(float));
    step<<<rows, 64>>>(a, b, out, rows, cols);
}
"""


def lifted(seed: int, program: str) -> str:
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=program,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout


def test_the_seed_of_hashes_does_not_matter() -> None:
    for program in (PROGRAM, FIXED):
        first, *others = (lifted(seed, program) for seed in (1, 2, 3))
        assert "launch" in first
        assert others == [first, first]
