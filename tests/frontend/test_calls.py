"""Inlining, lambdas, classes, intrinsics, templates."""

from __future__ import annotations

import pytest

from tests.frontend.reading import body_of, kernel_of, read, statements, unsupported_in
from verifier.ir import nodes as n
from verifier.ir.printer import show_body


def lines(code: str, prefix: str = "") -> list[str]:
    return body_of(code, prefix).splitlines()


def test_a_function_is_inlined_with_its_own_names() -> None:
    prefix = "__device__ int twice(int v) { int r = v + v; return r; }"
    assert lines("o[0] = twice(k) + twice(3);", prefix) == [
        "v = k",
        "r = (v + v)",
        "v.1 = 3",
        "r.1 = (v.1 + v.1)",
        "store o[0:i64] = (r + r.1)",
    ]


def test_early_returns_leave_a_scope() -> None:
    prefix = "__device__ int f(int v) { if (v < 0) return 0; return v; }"
    assert lines("o[0] = f(k);", prefix) == [
        "v = k",
        "scope f",
        "  if ((v < 0))",
        "    f.ret = 0",
        "    leave f",
        "  f.ret = v",
        "store o[0:i64] = f.ret",
    ]


def test_return_inside_of_a_loop_and_falling_off_the_end() -> None:
    prefix = "__device__ int f(int v) { for (;;) { if (v > 3) return 1; v++; } }"
    text = lines("o[0] = f(k);", prefix)
    assert text[:3] == ["v = k", "scope f", "  f.ret = undef:i32"]
    assert "        leave f" in text


def test_arguments_and_results_are_converted() -> None:
    prefix = "__device__ short f(unsigned char v) { return v * 300; }"
    assert lines("o[0] = f(k);", prefix) == ["v = u8(k)", "store o[0:i64] = i32(i16((i32(v) * 300)))"]


def test_default_arguments() -> None:
    assert lines("o[0] = f(k);", "__device__ int f(int a, unsigned b = 4) { return a + b; }") == [
        "a = k",
        "b = 4:u32",
        "store o[0:i64] = i32((u32(a) + b))",
    ]


def test_a_reference_parameter_is_the_variable() -> None:
    assert (
        lines("int s = 0; add(s, k);", "__device__ void add(int &t, int v) { t += v; }")[-1] == "s = (s + v)"
    )


def test_a_reference_to_an_element_keeps_its_index() -> None:
    text = lines("int &r = o[k]; k = 0; r = 7;")
    assert text == ["t.1 = o", "t.2 = i64(k)", "k = 0", "store t.1[t.2] = 7"]


def test_the_address_of_a_local_makes_an_object() -> None:
    kernel = kernel_of("int s = 1; set(&s); o[0] = s;", "__device__ void set(int *p) { *p = 5; }")
    assert [decl.name for decl in kernel.objects] == ["s"]
    assert show_body(kernel.body).splitlines() == [
        "declare s",
        "store s = 1",
        "p = &s",
        "store *p = 5",
        "t.1 = load s",
        "store o[0:i64] = t.1",
    ]


def test_shared_memory_in_a_helper_is_one_object() -> None:
    prefix = "__device__ void f(int v) { __shared__ int s[32]; s[threadIdx.x] = v; }"
    kernel = kernel_of("f(k); __syncthreads(); f(3);", prefix)
    assert [decl.name for decl in kernel.objects] == ["s"]


def test_barrier_sites_differ_by_call_path() -> None:
    kernel = kernel_of("f(); f();", "__device__ void f() { __syncthreads(); }")
    sites = [stmt.site for stmt in statements(kernel.body) if isinstance(stmt, n.Barrier)]
    assert len(set(sites)) == 2


def test_recursion_is_refused() -> None:
    found = unsupported_in("o[0] = f(3);", "__device__ int f(int v) { return v < 2 ? 1 : v * f(v - 1); }")
    assert [(item.construct, item.detail) for item in found] == [("recursion", "f")]


def test_a_function_called_in_its_own_argument_is_no_recursion() -> None:
    assert unsupported_in("o[0] = f(f(k));", "__device__ int f(int v) { return v + 1; }") == []


def test_device_templates_with_deduced_and_explicit_arguments() -> None:
    prefix = "template <int N, class T> __device__ T f(T v) { return v * N; }"
    assert lines("o[0] = f<3>(k); float x = f<2>(1.5f);", prefix) == [
        "v = k",
        "store o[0:i64] = (v * 3)",
        "v.1 = 1.5:f32",
        "x = (v.1 * 2.0:f32)",
    ]


def test_lambdas_capture_by_reference_and_by_value() -> None:
    text = lines(
        "int m = 1; auto r = [&] { return m; }; auto c = [=] { return m; }; m = 5; o[0] = r() - c();"
    )
    assert text == ["m = 1", "m.1 = m", "m = 5", "store o[0:i64] = (m - m.1)"]


def test_a_lambda_as_a_template_argument() -> None:
    prefix = "template <class F> __device__ void each(F f, int n) { for (int i = 0; i < n; i++) f(i); }"
    text = lines("each([=] (int i) { o[i] = i; }, k);", prefix)
    assert text[:4] == ["o.1 = o", "n = k", "i = 0", "loop loop.1"]
    assert "    store o.1[i64(i.1)] = i.1" in text


def test_function_pointers_that_are_known() -> None:
    prefix = "__device__ int g(int v) { return v + 1; } template <int (*F)(int)> __device__ int h(int v) {return F(v);}"
    assert lines("o[0] = h<g>(k);", prefix)[-1] == "store o[0:i64] = (v.1 + 1)"


def test_classes_with_methods_constructors_and_defaults() -> None:
    prefix = """struct S { float sum = 0.f; int n; __device__ S() : n(3) {}
      __device__ void add(float v) { sum += v; ++n; } __device__ float mean() const { return sum / n; } };"""
    assert lines("S s; s.add(2.f); float m = s.mean();", prefix) == [
        "s.sum = 0.0:f32",
        "s.n = 3",
        "v = 2.0:f32",
        "s.sum = (s.sum + v)",
        "s.n = (s.n + 1)",
        "m = (s.sum / f32(s.n))",
    ]


def test_a_struct_parameter_is_one_parameter_a_field() -> None:
    module = read("struct P { int n; float *x; int d[2]; }; __global__ void f(P p) { p.x[p.d[1]] = p.n; }")
    (kernel,) = module.kernels
    assert [param.name for param in kernel.params] == ["p.n", "p.x", "p.d[0]", "p.d[1]"]


def test_tensor_accessors_are_data_sizes_and_strides() -> None:
    module = read(
        "__global__ void f(at::PackedTensorAccessor32<float, 2, at::RestrictPtrTraits> a, int i) {"
        " if (i < a.size(0)) a[i][1] = 0.f; }"
    )
    (kernel,) = module.kernels
    assert [param.name for param in kernel.params][:5] == [
        "a.data",
        "a.size0",
        "a.size1",
        "a.stride0",
        "a.stride1",
    ]
    assert show_body(kernel.body).splitlines() == [
        "if ((i < a.size0))",
        "  store (a.data +> i64((a.stride0 * i)))[i64((a.stride1 * 1))] = 0.0:f32",
    ]


def test_min_max_abs_resolve_as_in_cuda() -> None:
    assert lines(
        "o[0] = min(k, 3u); long long l = max(5LL, (long long)k); o[1] = abs(k); float f = max(1.f, 2.f);"
    ) == [
        "store o[0:i64] = i32(min(u32(k), 3:u32))",
        "l = max(5:i64, i64(k))",
        "store o[1:i64] = abs(k)",
        "f = max(1.0:f32, 2.0:f32)",
    ]


def test_math_overloads() -> None:
    assert lines(
        "float a = expf(k); float b = exp(1.f); double c = sqrt(k); float d = std::max(a, b); b = pow(a, 2);"
    ) == [
        "a = expf(f32(k))",
        "b = exp(1.0:f32)",
        "c = sqrt(k)",
        "d = max(a, b)",
        "b = f32(pow(a, 2))",
    ]


def test_atomics_convert_their_argument_to_the_cell() -> None:
    assert lines(
        "float *f = (float*)o; atomicAdd(f + k, k); int old = atomicCAS(o, 0, 1); atomicMax_block(o, k);"
    ) == [
        "f = f32*(o)",
        "t.1 = atomic add.device f[i64(k)] (f32(k))",
        "t.2 = atomic cas.device *o (0, 1)",
        "old = t.2",
        "t.3 = atomic max.block *o (k)",
    ]


def test_warp_operations() -> None:
    assert lines(
        "float v = __shfl_xor_sync(~0u, 1.f, 16); unsigned b = __ballot_sync(7u, k > 1); o[0] = __any_sync(b, k);"
    ) == [
        "t.1 = warp shfl_xor @2:52 mask ~0:u32 (1.0:f32, 16, 32)",
        "v = t.1",
        "t.2 = warp ballot @2:96 mask 7:u32 ((k > 1))",
        "b = t.2",
        "t.3 = warp any @2:129 mask b ((k != 0))",
        "store o[0:i64] = t.3",
    ]


def test_barriers_and_fences() -> None:
    assert lines(
        "__syncthreads(); __syncwarp(); __threadfence_block(); o[0] = __syncthreads_count(k == 1);"
    ) == [
        "barrier block @2:42",
        "barrier warp @2:59 mask 4294967295:u32",
        "fence block",
        "t.1 = barrier count @2:103 ((k == 1))",
        "store o[0:i64] = t.1",
    ]


def test_cooperative_groups() -> None:
    prefix = "namespace cg = cooperative_groups;"
    text = lines(
        "auto b = cg::this_thread_block(); auto w = cg::tiled_partition<32>(b); b.sync(); w.sync();"
        " float v = w.shfl_down(1.f, 8); v = cg::reduce(w, v, cg::plus<float>()); cg::this_grid().sync();",
        prefix,
    )
    kinds = [line.split(" @")[0] for line in text if " @" in line]
    assert kinds == [
        "barrier block",
        "barrier warp",
        "t.1 = warp shfl_down",
        "t.2 = warp reduce_add",
        "barrier grid",
    ]


def test_ldg_and_cache_hints() -> None:
    assert lines("int a = __ldg(o + k); int b = __ldcg(o); __stcs(o, a + b);") == [
        "t.1 = load readonly o[i64(k)]",
        "a = t.1",
        "t.2 = load *o",
        "b = t.2",
        "store *o = (a + b)",
    ]


def test_half_arithmetic_is_float_arithmetic_of_16_bits() -> None:
    assert lines(
        "__half h = __float2half(1.f); h = h * h + __half(k); h += h; float f = h; bool b = h < h;"
    ) == [
        "h = f16(1.0:f32)",
        "h = ((h * h) + f16(k))",
        "h = (h + h)",
        "f = f32(h)",
        "b = (h < h)",
    ]


def test_half2_fields() -> None:
    assert lines("half2 a = __float2half2_rn(1.f); a = __hadd2(a, a); a.x = a.y;") == [
        "a.x = __float2half2_rn.x(1.0:f32)",
        "a.y = __float2half2_rn.y(1.0:f32)",
        "t.1 = (a.x + a.x)",
        "t.2 = (a.y + a.y)",
        "a.x = t.1",
        "a.y = t.2",
        "a.x = a.y",
    ]


def test_memcpy_of_constant_size() -> None:
    assert lines("float f = 1.f; int b; memcpy(&b, &f, 4);")[-2:] == [
        "t.1 = load f",
        "store *f32*(void*(&b)) = t.1",
    ]


def test_a_user_function_under_an_intrinsics_name_is_the_users() -> None:
    prefix = "__device__ int __popc(int v) { return v; }"
    assert "v = k" in lines("o[0] = __popc(k);", prefix)
    later = "__device__ int __popc(unsigned v); __device__ int f() { return __popc(3u); }"
    assert lines("o[0] = f();", later + "__device__ int __popc(unsigned v) { return 7; }") == [
        "v = 3:u32",
        "store o[0:i64] = 7",
    ]


@pytest.mark.parametrize(
    ("code", "construct", "detail"),
    [
        ("o[0] = __byte_perm(1, 2, 3) + __isShared(o);", "function without a meaning", "__isShared"),
        ("void *p = malloc(4);", "function without a meaning", "malloc"),
        ("o[0] = __shfl(k, 0);", "function without a meaning", "__shfl"),
        (
            "auto g = cooperative_groups::tiled_partition<4>(cooperative_groups::coalesced_threads());",
            "cooperative group",
            "tiled_partition of cooperative_groups::coalesced_group",
        ),
        ("o[0] = __hadd(1, 2);", "function without a meaning", "add of integers by an intrinsic"),
    ],
)
def test_functions_without_a_meaning_are_named(code: str, construct: str, detail: str) -> None:
    found = unsupported_in(code)
    assert (found[0].construct, found[0].detail) == (construct, detail)
    assert found[0].span.line == 2


def test_pytorchs_namespaces_are_not_in_the_way() -> None:
    prefix = "__device__ int at(int i) { return i + 1; } __device__ int torch(int c10) { return at(c10); }"
    assert not unsupported_in("o[0] = torch(k);", prefix)
    assert not unsupported_in("c10::Half h = (c10::Half)1.0f; o[0] = (int)(float)h;")
