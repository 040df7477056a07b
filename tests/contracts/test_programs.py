"""Plain .cu programs: main, cudaMalloc, constants that become symbols."""

from __future__ import annotations

import pytest

from specs.contract import Contract
from tests.contracts.lifting import KERNEL, assumed, lift, read, texts
from verifier.contracts import assembly
from verifier.source.device_text import DeviceText, Submission

MAIN = """
int main(int argc, char** argv) {{
  {constant}
  int threads = 256;
  float *x, *y;
  cudaMalloc(&x, N * sizeof(float));
  cudaMalloc((void**)&y, N * sizeof(float));
  cudaMemcpy(x, 0, N * sizeof(float), cudaMemcpyHostToDevice);
  {body}
  k<<<(N + threads - 1) / threads, threads>>>(x, y, N);
  return 0;
}}
"""


def program(body: str = "", constant: str = "const int N = 1 << 20;", kernel: str = KERNEL):  # type: ignore[no-untyped-def]
    found = lift(kernel + MAIN.format(body=body, constant=constant))
    assert not found.problems
    return found.contracts


def test_a_size_constant_becomes_a_symbol_with_its_value() -> None:
    (c,) = program()
    (n,) = c.symbols
    assert (n.name, n.kind, n.value, n.low, n.high) == ("N", "dim", 1 << 20, 1, (1 << 31) - 1)
    x, y = c.buffer("x"), c.buffer("y")
    assert x is not None and y is not None
    assert (x.extent, x.fresh, x.initialized, x.align) == ("N", True, True, 256)
    assert (y.extent, y.initialized) == ("N", False)
    assert c.launch.grid[0] == "u32(i32(i32(N + 256) - 1) // 256)"
    assert c.launch.block[0] == "256"
    assert assumed(c) == set()


def test_mains_own_checks_count() -> None:
    (c,) = program("if (N % 4 != 0) return 1;")
    assert "N % 4 == 0" in texts(c, "enforced")


def test_a_constant_that_the_device_code_uses_stays() -> None:
    kernel = "__global__ void k(const float* x, float* y, int n) { y[N] = x[N]; }\n"
    found = lift("const int N = 4096;\n" + kernel + MAIN.format(body="", constant=""))
    (c,) = found.contracts
    assert not c.symbols and c.buffer("x").extent == "4096"  # type: ignore[union-attr]


def test_a_partial_copy_does_not_initialise() -> None:
    found = lift(
        KERNEL + "int main() { float *x, *y; cudaMalloc(&x, 4096); cudaMalloc(&y, 4096);"
        "cudaMemcpy(x, 0, 2048, cudaMemcpyHostToDevice); k<<<1, 256>>>(x, y, 1024); }\n"
    )
    assert not found.contracts[0].buffer("x").initialized  # type: ignore[union-attr]


def test_error_checks_of_the_runtime_do_not_split() -> None:
    found = lift(
        KERNEL
        + "int main() { float *x, *y; if (cudaMalloc(&x, 4096) != cudaSuccess) return 1; cudaMalloc(&y, 4096);"
        'cudaError_t e = cudaGetLastError(); if (e != cudaSuccess) { printf("x"); exit(1); }'
        "k<<<1, 256>>>(x, y, 1024); }\n"
    )
    (c,) = found.contracts
    assert c.requires == () or texts(c) == set()


def test_command_line_numbers_are_free() -> None:
    found = lift(
        KERNEL
        + "int main(int argc, char** argv) { int n = atoi(argv[1]); float *x, *y; cudaMalloc(&x, n * sizeof(float));"
        "cudaMalloc(&y, n * sizeof(float)); k<<<(n + 255) / 256, 256>>>(x, y, n); }\n"
    )
    (c,) = found.contracts
    (n,) = c.symbols
    assert (n.low, n.high) == (-(1 << 31), (1 << 31) - 1)


def test_helpers_with_raw_pointers_are_inlined() -> None:
    found = lift(
        KERNEL
        + "void go(const float* a, float* b, int m, int block) { k<<<(m + block - 1) / block, block>>>(a, b, m); }\n"
        "int main() { int n = 1000; float *x, *y; cudaMalloc(&x, n * sizeof(float)); cudaMalloc(&y, n * sizeof(float));"
        "go(x, y, n, 128); go(y, x, n, 64); }\n"
    )
    assert [c.launch.block[0] for c in found.contracts] == ["128", "64"]
    assert all(c.buffer("x").extent == "n" for c in found.contracts)  # type: ignore[union-attr]


def test_a_switch_over_an_argument() -> None:
    found = lift(
        KERNEL + "int main(int argc, char** argv) { float *x, *y; cudaMalloc(&x, 400); cudaMalloc(&y, 400);"
        "switch (atoi(argv[1])) { case 1: k<<<1, 32>>>(x, y, 1); break; case 2: k<<<2, 64>>>(x, y, 2); break;"
        "default: exit(1); } }\n"
    )
    assert sorted(c.launch.block[0] for c in found.contracts) == ["32", "64"]


def test_two_streams_are_told_apart() -> None:
    found = lift(
        KERNEL + "int main() { float *x, *y; cudaMalloc(&x, 400); cudaMalloc(&y, 400); cudaStream_t a, b;"
        "cudaStreamCreate(&a); cudaStreamCreate(&b); k<<<1, 32, 0, a>>>(x, y, 1); k<<<1, 32, 0, b>>>(x, y, 2); }\n"
    )
    a, b = (c.launch.stream for c in found.contracts)
    assert a and b and a != b


def test_a_whole_memset_to_zero_is_known() -> None:
    text = (
        KERNEL + "int main() { float *x, *y; cudaMalloc(&x, 4096); cudaMalloc(&y, 4096);"
        "cudaMemset(x, {value}, {bytes}); k<<<1, 256>>>(x, y, 1024); }}\n"
    )

    def content(value: str, bytes_: str) -> object:
        found = lift(text.replace("{value}", value).replace("{bytes}", bytes_).replace("}}", "}"))
        x = found.contracts[0].buffer("x")
        assert x is not None
        return (x.content, x.initialized)

    assert content("0", "4096") == (("0", "0"), True)
    assert content("1", "4096") == (None, True)
    assert content("0", "2048") == (None, False)


def test_freed_memory_is_a_gap() -> None:
    found = lift(
        KERNEL + "int main() { float *x, *y; cudaMalloc(&x, 400); cudaMalloc(&y, 400); cudaFree(x);"
        "k<<<1, 32>>>(x, y, 1); }\n"
    )
    assert any("freed" in g for g in found.contracts[0].gaps)


def test_a_launch_in_code_that_nothing_reaches_is_a_problem() -> None:
    from tests.contracts.lifting import cu_submission, read
    from verifier.contracts.assembly import lift as lift_any

    for dead in (
        "template <typename T> void never(T* p) {\n k<<<9, 32>>>(p, p, 1);\n}\n",
        "struct Runner { Runner(float* p) {\n k<<<9, 32>>>(p, p, 1);\n} };\n",
        "void odd(float* p) {\n cudaLaunchKernel((const void*)k, dim3(1), dim3(32), nullptr, 0, 0);\n}\n",
    ):
        text = KERNEL + dead + "int main() { float *x; cudaMalloc(&x, 400);\n k<<<1, 32>>>(x, x, 1); }\n"
        found = lift_any(cu_submission(text), read(text), problem=None, cap=1 << 30)
        assert found.problems, dead
    clean = (
        KERNEL
        + 'int main() { float *x; cudaMalloc(&x, 400);\n k<<<1, 32>>>(x, x, 1); printf("<<<no launch>>>"); }\n'
    )
    assert not lift_any(cu_submission(clean), read(clean), problem=None, cap=1 << 30).problems


def test_memory_of_other_launches_is_within_the_cap_too() -> None:
    found = lift("""
__global__ void sums(const float *x, float *out, int n);
int main() {
    int n = 1000003, grid = (n + 255) / 256;
    float *x, *part, *total;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&part, grid * sizeof(float));
    cudaMalloc(&total, sizeof(float));
    sums<<<grid, 256>>>(x, part, n);
    sums<<<1, 256>>>(part, total, grid);
    cudaFree(x);
    sums<<<1, 128>>>(part, total, grid);
    cudaFree(part);
    cudaFree(total);
}
""")
    assert not found.problems and len(found.contracts) == 3
    for contract in found.contracts:
        assert "0 <= n <= 1073741824" in texts(contract) and not contract.gaps


GO = KERNEL + (
    "void go(float *x, float *y, int n, int threads, cudaStream_t s = 0) {"
    " k<<<(n + threads - 1) / threads, threads, 0, s>>>(x, y, n); }\n"
)
TWICE = MAIN.replace("k<<<(N + threads - 1) / threads, threads>>>(x, y, N);", "go(x, y, N, threads);")


def twice(before: str) -> list[Contract]:
    found = lift(GO + TWICE.format(body=before, constant="const int N = 1 << 20;"))
    assert not found.problems
    return found.contracts


def test_of_two_launches_at_one_place_the_one_that_knows_less_stays() -> None:
    (c,) = twice("go(x, y, N, threads);")  # the second time y has been written
    assert not c.buffer("y").initialized and assumed(c) == set()  # type: ignore[union-attr]
    either = twice(
        "if (N % 4 == 0) go(x, y, N, threads);"
    )  # neither of two paths allows the other's launches
    assert {t for c in either for t in texts(c) if "% 4" in t} == {"N % 4 == 0", "N % 4 != 0"} and len(
        either
    ) == 2


def test_launches_at_one_place_that_differ_otherwise_all_stay() -> None:
    for first in (
        "go(x, y, N, 128);",  # another block
        "go(x, y, N - 1, threads);",  # another argument
        "go(y, y, N, threads);",  # other memory
        "cudaStream_t s; cudaStreamCreate(&s); go(x, y, N, threads, s);",
    ):
        assert len(twice(first)) == 2
    filled = twice("cudaMemset(y, 0, N * sizeof(float)); go(x, y, N, threads);")
    assert {c.buffer("y").content for c in filled} == {("0", "0"), None}  # type: ignore[union-attr]


@pytest.mark.parametrize("args, said", [("y", "too few arguments"), ("y, y, 1, 2", "too many arguments")])
def test_a_launch_that_does_not_compile_is_told_as_the_compiler_does(args: str, said: str) -> None:
    text = (
        f"{KERNEL}void run(torch::Tensor x) {{ auto y = x.data_ptr<float>();\n  k<<<1, 32>>>({args});\n}}\n"
    )
    submission = Submission("t.cu", "cuda", text, text, DeviceText(text, "0" * 64, ()), host=text)
    found = assembly.lift(submission, read(text), problem=None, cap=1 << 30)
    assert any(p.startswith("t.cu:3:") and said in p for p in found.problems), found.problems
