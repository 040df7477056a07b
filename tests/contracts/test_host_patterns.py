"""Launchers and demo programs as people write them: what must be lifted, and next to it what must not be claimed."""

from __future__ import annotations

import pytest

from specs.contract import Contract
from tests.contracts.lifting import KERNEL, lift, one, texts

VECTOR = "__global__ void v4(const float4* x, float4* y, int n) { }\n"
TWO = "torch::Tensor run(torch::Tensor x, torch::Tensor z) { int n = x.numel();\n"
WIDE = (
    "v4<<<1, n / 4>>>(reinterpret_cast<const float4*>(x.data_ptr<float>()), "
    "reinterpret_cast<float4*>(z.data_ptr<float>()), n / 4);"
)
NARROW = "k<<<1, n>>>(x.data_ptr<float>(), z.data_ptr<float>(), n);"


def aligns(contract: Contract) -> tuple[int, ...]:
    return tuple(b.align for b in contract.buffers)


@pytest.mark.parametrize(
    "check",
    [
        "reinterpret_cast<uintptr_t>(x.data_ptr<float>()) % 16 == 0 && ((size_t)z.data_ptr() & 15) == 0",
        "(((uintptr_t)x.data_ptr() | (uintptr_t)z.data_ptr()) & 0xF) == 0",
        "multiple(x.data_ptr<float>(), 16) && multiple(z.data_ptr<float>(), sizeof(float4))",
    ],
)
def test_checked_addresses_are_aligned(check: str) -> None:
    helper = "template <class T> bool multiple(const T *p, int a) { return reinterpret_cast<uintptr_t>(p) % a == 0; }\n"
    (c,) = lift(f"{KERNEL}{VECTOR}{helper}{TWO} TORCH_CHECK({check}); {WIDE} return z; }}").contracts
    assert aligns(c) == (16, 16)
    both = lift(
        f"{KERNEL}{VECTOR}{helper}{TWO} if (n % 4 == 0 && ({check})) {{ {WIDE} }} else {{ {NARROW} }} return z; }}"
    ).contracts
    assert all(aligns(c) == (16, 16) for c in both if c.kernel == "v4")
    assert all(0 in aligns(c) or "i32(n) % 4 != 0" in texts(c) for c in both if c.kernel == "k")


@pytest.mark.parametrize(
    "check",
    [
        "(uintptr_t)x.data_ptr<float>() % 12 == 0",
        "(uintptr_t)x.data_ptr<float>() % 16 != 0",
        "(uintptr_t)(x.data_ptr<float>() + 1) % 16 == 0",
        "(uintptr_t)x.data_ptr<float>() / 16 == 0",
        "(uintptr_t)x.data_ptr<float>() % 16 == 4",
        "(uintptr_t)x.data_ptr<float>() % 16 == 0 || n == 4",
    ],
)
def test_other_checks_align_nothing(check: str) -> None:
    found = lift(f"{KERNEL}{VECTOR}{TWO} TORCH_CHECK({check}); {WIDE} return z; }}").contracts
    assert any(aligns(c) == (0, 0) for c in found)


def test_a_doubling_loop_ends_at_one_of_its_values() -> None:
    body = (
        "int n = x.numel(); auto y = torch::empty_like(x); int b = 32; while (b < n && b < 256) b *= 2;"
        "k<<<1, b>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"
    )
    c = one(body)
    assert c.launch.block[0] == "b" and not c.gaps
    assert any(t.count("b == ") == 4 for t in texts(c))
    assert {"not (b < i32(n) and b < 256)", "b == 32 or b // 2 < i32(n)"} <= texts(c)
    known = one(body.replace("b < n && b < 256", "b < 100"))
    assert known.launch.block[0] == "128"
    other = one(body.replace("b *= 2", "{ b *= 2; n -= 1; }"))
    assert other.gaps


@pytest.mark.parametrize("step", ["b /= 2", "b >>= 1", "b = b / 2"])
def test_a_halving_loop(step: str) -> None:
    c = one(
        f"int n = x.numel(); auto y = torch::empty_like(x); int b = 256; while (b > n && b > 32) {{ {step}; }}"
        "k<<<1, b>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"
    )
    assert not c.gaps and any("b == 256" in t and "b == 32" in t and "b == 16" not in t for t in texts(c))


def test_the_product_of_all_dims_is_the_numel() -> None:
    loop = "int m = 1; for (int i = 0; i < x.dim(); ++i) { m *= x.size(i); }"
    call = "k<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), m);"
    c = one(f"auto y = torch::empty_like(x); {loop} {call}")
    assert [s.value for s in c.scalars] == [f"i32({c.buffers[0].extent})"] and not c.gaps
    for other in ("i < x.dim() - 1", "i <= x.dim()", "i < y.dim()"):
        changed = loop.replace("i < x.dim()", other)
        found = lift(
            f"{KERNEL}torch::Tensor run(torch::Tensor x, torch::Tensor y) {{ {changed} {call} return y; }}"
        )
        assert all(
            c.gaps or [s.value for s in c.scalars] != [f"i32({c.buffers[0].extent})"] for c in found.contracts
        )


def test_compared_dims_are_equal_as_far_as_they_are_known_to_exist() -> None:
    loop = 'for (int i = 0; i < x.dim(); ++i) { if (z.size(i) != x.size(i)) throw std::runtime_error("no"); }'
    head = "torch::Tensor run(torch::Tensor x, torch::Tensor z) { "
    call = "k<<<1, 32>>>(x.data_ptr<float>(), z.data_ptr<float>(), n);"
    (c,) = lift(
        f"{KERNEL}{head}{loop} int s = x.size(0), h = x.size(1), n = s * h; {call} return z; }}"
    ).contracts
    assert {"s == z_0", "h == z_1"} <= texts(c)
    assert c.buffers[1].extent == "s * h * z_rest"  # z may have more dims
    (c,) = lift(f"{KERNEL}{head}{loop} int n = x.numel(); {call} return z; }}").contracts
    assert c.buffers[1].extent not in c.buffers[0].extent and not any(
        "z" in t and "==" in t for t in texts(c)
    )
    first, second = lift(
        f"{KERNEL}{head}{loop} int n = x.numel(); {call} n = x.size(1); {call} return z; }}"
    ).contracts
    assert not any("==" in t for t in texts(first)) and any("== z_1" in t for t in texts(second))


def test_a_tensor_without_dims_has_one_element() -> None:
    c = one(
        "auto y = torch::zeros({}, x.options()); k<<<1, 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), 1);"
    )
    assert c.buffers[1].extent == "1" and not c.gaps


def test_generic_lambdas_are_instantiated_as_they_are_called() -> None:
    text = """template <class T, int B> __global__ void kk(T *y, int n) { }
    torch::Tensor run(torch::Tensor x, int64_t b) { int n = x.numel();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "k", [&] {
      auto go = [&](auto c) { kk<scalar_t, c.value><<<(n + c.value - 1) / c.value, c.value>>>(x.data_ptr<scalar_t>(), n); };
      if (b == 64) go(std::integral_constant<int, 64>{}); else go(std::integral_constant<int, 128>{}); });
    return x; }"""
    found = lift(text)
    assert {(c.instantiation, c.launch.block[0], c.buffers[0].dtype) for c in found.contracts} == {
        ((t, b), b, d) for t, d in (("float", "f32"), ("double", "f64")) for b in ("64", "128")
    }


def test_constants_of_the_file_inside_lambdas() -> None:
    text = """template <class T, int B> __global__ void kk(T *y, int n) { }
    namespace { constexpr int kThreads = 256; }
    torch::Tensor run(torch::Tensor x) { int n = x.numel();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "k", [&] {
      kk<scalar_t, kThreads><<<(n + kThreads - 1) / kThreads, kThreads>>>(x.data_ptr<scalar_t>(), n); });
    return x; }"""
    found = lift(text)
    assert {c.launch.block[0] for c in found.contracts} == {"256"} and not any(
        c.gaps for c in found.contracts
    )


def test_template_arguments_inside_host_templates() -> None:
    (c,) = lift(
        "template <int S, int M> __global__ void kk(float *y, int n) { extern __shared__ float s[]; }\n"
        "template <const int S = 2> void go(float *y, int n) { constexpr int M = 32; constexpr int T = (S < 4) ? 64 : 128;"
        "const int bytes = S * std::max(M, 8) * sizeof(__half); kk<(S), M><<<(n + T - 1) / T, T, bytes>>>(y, n); }\n"
        "torch::Tensor run(torch::Tensor x) { go<3>(x.data_ptr<float>(), x.numel()); return x; }"
    ).contracts
    assert (c.instantiation, c.launch.block[0], c.launch.shared_bytes, c.gaps) == (
        ("3", "32"),
        "64",
        "192",
        (),
    )


DEMO = """
#define CHECK(e) do { cudaError_t s = (e); if (s != cudaSuccess) { printf("%s", cudaGetErrorString(s)); exit(1); } } while (0)
__global__ void one_each(float *y, const float *x, int n) { }
__global__ void four_each(float *y, const float *x, int n) { }
void run1(float *y, const float *x, int n, int block) { one_each<<<(n + block - 1) / block, block>>>(y, x, n); CHECK(cudaGetLastError()); }
void run2(float *y, const float *x, int n, int block) { four_each<<<(n / 4 + block - 1) / block, block>>>(y, x, n); }
void run(int which, float *y, const float *x, int n, int block) {
  switch (which) { case 1: run1(y, x, n, block); break; case 2: run2(y, x, n, block); break;
    default: printf("which?"); exit(1); } }
void reference(float *out, const float *in, int n) { for (int i = 0; i < n; i++) out[i] = in[i] > 0 ? in[i] : 0; }
template <class T> void compare(const T *device, const T *host, int n) {
  T *copy = (T *)malloc(n * sizeof(T)); CHECK(cudaMemcpy(copy, device, n * sizeof(T), cudaMemcpyDeviceToHost)); int bad = 0;
  for (int i = 0; i < n; i++) { if (!isfinite(host[i])) continue; if (fabs(copy[i] - host[i]) > 1e-4f) { bad++; if (bad > 9) exit(1); } }
  if (bad > 0) { free(copy); exit(1); } free(copy); }
template <class F, class... A> float timed(int rounds, F f, A &&...a) {
  cudaEvent_t t0, t1; cudaEventCreate(&t0); cudaEventCreate(&t1); float ms = 0;
  for (int i = 0; i < rounds; i++) { f(std::forward<A>(a)...); } cudaEventElapsedTime(&ms, t0, t1); return ms / rounds; }
int main(int argc, char **argv) {
  int B = 8, C = 1024; int which = 1; if (argc > 1) which = atoi(argv[1]);
  cublasHandle_t handle; cublasCreate(&handle);
  float *hx = (float *)malloc(B * C * sizeof(float)), *hy = (float *)malloc(B * C * sizeof(float));
  reference(hy, hx, B * C);
  float *dx, *dy; CHECK(cudaMalloc(&dx, B * C * sizeof(float))); CHECK(cudaMalloc((void **)&dy, B * C * sizeof(float)));
  CHECK(cudaMemcpy(dx, hx, B * C * sizeof(float), cudaMemcpyHostToDevice));
  int blocks[] = {64, 128, 256};
  for (int j = 0; j < sizeof(blocks) / sizeof(int); j++) { run(which, dy, dx, B * C, blocks[j]); compare(dy, hy, B * C); }
  for (int j = 0; j < sizeof(blocks) / sizeof(int); j++) { float ms = timed(100, run, which, dy, dx, B * C, blocks[j]); printf("%f", ms); }
  CHECK(cudaFree(dx)); }
"""


def test_a_demo_program() -> None:
    found = lift(DEMO)
    assert not found.problems
    assert {(c.kernel, c.launch.block[0]) for c in found.contracts} == {
        (k, b) for k in ("one_each", "four_each") for b in ("64", "128", "256")
    }
    for c in found.contracts:
        assert not c.gaps and "i32(B * C)" in c.buffers[0].extent and c.scalars[0].value == "i32(B * C)"


def test_a_demo_program_that_gives_another_size_than_it_allocates() -> None:
    found = lift(DEMO.replace("cudaMalloc(&dx, B * C", "cudaMalloc(&dx, B * (C - 1)"))
    assert all("i32(B * (C - 1))" in c.buffers[1].extent for c in found.contracts)


def test_rounds_of_a_loop_are_followed_one_by_one_where_their_branches_multiply() -> None:
    text = """
    __global__ void a(float *y, int n) { }
    __global__ void b(float *y, int n) { }
    int main() { int N = 4096; float *d; cudaMalloc(&d, N * sizeof(float)); cudaMemset(d, 0, N * sizeof(float));
      int sizes[] = {32, 64, 128, 256, 512, 1024};
      for (int j = 0; j < 6; j++) {
        if (cudaFuncSetAttribute(a, cudaFuncAttributeMaxDynamicSharedMemorySize, sizes[j]) == cudaSuccess)
          a<<<N / sizes[j], sizes[j]>>>(d, N);
        else b<<<N / sizes[j], sizes[j]>>>(d, N); } }"""
    found = lift(text)
    assert not found.problems
    assert {(c.kernel, c.launch.block[0]) for c in found.contracts} == {
        (k, str(32 << i)) for k in "ab" for i in range(6)
    }
    for c in found.contracts:
        assert c.buffers[0].content is None  # what an earlier round wrote


def test_memory_that_a_loop_fills_again_keeps_no_content() -> None:
    text = """int main(int argc, char **argv) { int N = 4096; float *d; cudaMalloc(&d, N * sizeof(float)); int r = atoi(argv[1]);
      float *h = (float *)malloc(N * 4); cudaMemset(d, 0, N * sizeof(float)); float *x; cudaMalloc(&x, N * 4);
      for (int j = 0; j < r; j++) { k<<<N / 32, 32>>>(d, x, N); cudaMemcpy(d, h, N * 4, cudaMemcpyHostToDevice); } }"""
    (c,) = lift(KERNEL + text).contracts
    assert c.buffers[0].content is None


def test_checks_of_two_dims_make_one_symbol() -> None:
    c = one(
        "TORCH_CHECK(x.dim() == 2 && b.dim() == 2 && b.size(0) == x.size(1) && b.size(1) == 64); int n = x.size(0);"
        "k<<<1, 32>>>(x.data_ptr<float>(), b.data_ptr<float>(), n);",
        "torch::Tensor x, torch::Tensor b",
    )
    assert c.buffers[1].extent == "b_0 * 64" and c.buffers[0].extent == "n * b_0"


def test_a_null_pointer_is_not_a_tensor_of_that_name() -> None:
    found = lift(
        f"{KERNEL}torch::Tensor run(torch::Tensor null, c10::optional<torch::Tensor> w) {{ auto y = torch::empty_like(null);"
        "k<<<1, 32>>>(w.has_value() ? w->data_ptr<float>() : nullptr, y.data_ptr<float>(), 1);"
        "k<<<1, 32>>>(null.data_ptr<float>(), y.data_ptr<float>(), 1); return y; }"
    ).contracts
    storages = {(c.buffers[0].storage, c.buffers[0].extent == "0") for c in found}
    assert ("(null)", True) in storages and ("null", False) in storages


@pytest.mark.parametrize(
    ("macro", "dtypes"),
    [
        ("AT_DISPATCH_FLOATING_TYPES_AND3(at::kHalf, at::kBFloat16, at::kInt, ", 5),
        ("AT_DISPATCH_INTEGRAL_TYPES_AND(at::kBool, ", 6),
        ("AT_DISPATCH_ALL_TYPES_AND3(at::kHalf, at::kBool, at::kBFloat16, ", 10),
    ],
)
def test_dispatch_families(macro: str, dtypes: int) -> None:
    kernel = "template <class T> __global__ void kt(const T *x, int n) { }\n"
    call = "[&] { kt<scalar_t><<<1, 32>>>(x.data_ptr<scalar_t>(), x.numel()); }"
    found = lift(
        f'{kernel}torch::Tensor run(torch::Tensor x) {{ {macro}x.scalar_type(), "k", {call}); return x; }}'
    )
    assert len({c.instantiation for c in found.contracts}) == dtypes
    switch = f'AT_DISPATCH_SWITCH(x.scalar_type(), "k", AT_DISPATCH_CASE_FLOATING_TYPES({call}) AT_DISPATCH_CASE(at::kHalf, {call}))'
    found = lift(f"{kernel}torch::Tensor run(torch::Tensor x) {{ {switch}; return x; }}")
    assert len({c.instantiation for c in found.contracts}) == 3


@pytest.mark.parametrize("name", ["cudaLaunchKernel", "cudaLaunchCooperativeKernel"])
def test_launches_by_a_call(name: str) -> None:
    body = (
        "int n = x.numel(); auto y = torch::empty_like(x); const float *a = x.data_ptr<float>(); float *b = y.data_ptr<float>();"
        "void *args[] = {&a, (void *)&b, &n}; n = n - 1;"
        f"AT_CUDA_CHECK({name}((void *)k, dim3((n + 255) / 256), dim3(256), args, 64, at::cuda::getCurrentCUDAStream()));"
    )
    c = one(body)
    assert [b.extent for b in c.buffers] == ["n", "n"] or [b.extent for b in c.buffers] == [
        "x_numel",
        "x_numel",
    ]
    assert (
        c.scalars[0].value is not None
        and c.scalars[0].value.endswith("- 1)")
        and c.launch.shared_bytes == "64"
    )
    fewer = lift(f"{KERNEL}torch::Tensor run(torch::Tensor x) {{ {body.replace(', &n}', '}')} return x; }}")
    assert not fewer.contracts and fewer.problems


def test_members_of_structs_are_parameters() -> None:
    kernel = "struct Q { int m; }; struct P { const float *x; float *y; int n; Q q; int s[2]; };\n__global__ void kp(P p) { }\n"
    c = one(
        "auto y = torch::empty_like(x); P p; p.x = x.data_ptr<float>(); p.y = y.data_ptr<float>(); p.n = x.numel();"
        "p.q = Q{7}; kp<<<1, 32>>>(p);",
        kernel=kernel,
    )
    assert [b.param for b in c.buffers] == ["p.x", "p.y"]
    assert {s.param: s.value for s in c.scalars}["p.q.m"] == "7"
    assert "contiguous(p.x)" in {a.text for a in c.assumptions}


def test_packed_accessors() -> None:
    kernel = "__global__ void ka(torch::PackedTensorAccessor32<float, 2> a, torch::PackedTensorAccessor64<float, 1> b) { }\n"
    call = "ka<<<1, 32>>>(x.packed_accessor32<float, 2>(), b.packed_accessor64<float, 1>());"
    c = one(call, "torch::Tensor x, torch::Tensor b", kernel)
    values = {s.param: s.value for s in c.scalars}
    assert values["a.stride0"] == "i32(x_1)" and values["b.size0"] == "b_0"
    # a dim of size 1 may have any stride
    assert {"strides(a.data)", "strides(b.data)"} <= {a.text for a in c.assumptions}
    assert {b.param: b.extent for b in c.buffers} == {"a.data": "x_0 * x_1", "b.data": "b_0"}
    assert {"contiguous(a.data)", "contiguous(b.data)"} <= {a.text for a in c.assumptions}
    assert "x_0 * x_1 <= 2147483647" in texts(c, "enforced")
    made = one(f"auto b = torch::zeros({{5}}, x.options()); {call}", kernel=kernel)
    assert "strides(b.data)" not in {a.text for a in made.assumptions}
    like = one(f"auto b = torch::zeros_like(x[0]); {call}", kernel=kernel)
    assert "contiguous(b.data)" in {a.text for a in like.assumptions}
    turned = lift(
        f"{kernel}void run(torch::Tensor y, torch::Tensor b) {{ TORCH_CHECK(y.dim() == 2 && y.is_contiguous());"
        f"auto x = y.transpose(0, 1); {call} }}"
    )
    assert all(c.gaps for c in turned.contracts)


def test_lists_of_the_caller_have_free_elements() -> None:
    c = one(
        "int kh = ks[0], kw = ks[1], again = ks[0]; k<<<kh * again, kw>>>(x.data_ptr<float>(), x.data_ptr<float>(), kh);",
        "torch::Tensor x, at::IntArrayRef ks",
    )
    assert not c.gaps and c.launch.grid[0].count("kh") == 2
    changed = one(
        "ks[0] = x.numel(); k<<<ks[0], 32>>>(x.data_ptr<float>(), x.data_ptr<float>(), 1);",
        "torch::Tensor x, std::vector<int64_t> ks",
    )
    assert changed.gaps
    many = one(
        "for (auto &t : ts) k<<<1, 32>>>(t.data_ptr<float>(), x.data_ptr<float>(), t.numel());",
        "torch::Tensor x, std::vector<torch::Tensor> ts",
    )
    assert not many.gaps and many.scalars[0].value == f"i32({many.buffers[0].extent})"


def test_the_product_of_all_but_the_last_dim() -> None:
    c = one(
        "int64_t r = 1; for (int i = 0; i < x.dim() - 1; i++) r *= x.size(i);"
        "k<<<r, 32>>>(x.data_ptr<float>(), x.data_ptr<float>(), x.size(-1));"
    )
    assert c.buffers[0].extent == "x_outer * x_m1" and c.launch.grid[0] == "u32(x_outer)" and not c.gaps


def test_ceil_of_a_quotient_that_may_be_negative() -> None:
    c = one(
        "int n = x.numel(); k<<<(int)std::ceil(n / 256.0), 256>>>(x.data_ptr<float>(), x.data_ptr<float>(), n);"
    )
    assert "ceil_div(i32(n), 256) if i32(n) >= 0 else i32(n) // 256" in c.launch.grid[0]
    rounded = one(
        "int n = x.numel(); k<<<(int)ceil(n / 256.0f), 256>>>(x.data_ptr<float>(), x.data_ptr<float>(), n);"
    )
    assert rounded.gaps


def test_the_device_of_a_tensor_changes_nothing() -> None:
    guard = "const at::cuda::OptionalCUDAGuard guard(device_of(x));"
    c = one(f"int n = x.numel(); {guard} k<<<1, n>>>(x.data_ptr<float>(), x.data_ptr<float>(), n); return x;")
    assert not c.gaps
