"""Whole texts: templates, line markers, errors, undeclared names, the child process."""

from __future__ import annotations

import json

import pytest

from specs.location import Span
from tests.frontend.reading import read, statements
from verifier.frontend import FrontEndFailed, parse_device
from verifier.frontend.device_kernels import lower_text
from verifier.ir import nodes as n
from verifier.ir.printer import show_body, show_module
from verifier.isolation.child import python_argv, run
from verifier.isolation.sandbox import Sandbox
from verifier.source.device_text import DeviceText

NONE = Sandbox("none")
TILED = """template <typename T, int N = 16> __global__ void __launch_bounds__(N * N, 2) tile(T *x, int n) {
  __shared__ T s[N];
  if constexpr (N == 16) s[0] = x[n]; else s[0] = x->field_that_is_not_there;
  x[0] = s[N - 1];
}
"""


def test_template_instantiations_are_kernels_of_their_own() -> None:
    module = read(TILED, ("tile", ("float",)), ("tile", ("double", "16")))
    assert [kernel.label for kernel in module.kernels] == ["tile<float>", "tile<double, 16>"]
    assert module.templates == ()
    assert module.kernels[1].objects[0].type == n.Array(n.F64, 16)
    assert [kernel.launch_bounds for kernel in module.kernels] == [(256, 2), (256, 2)]
    assert module.kernels[0].span == Span("k.cu", 1, 79)


def test_a_discarded_branch_is_not_read() -> None:
    (kernel,) = read(TILED, ("tile", ("float",))).kernels
    assert "field" not in show_body(kernel.body)


def test_a_template_that_nothing_instantiates_is_listed() -> None:
    module = read(TILED + "__global__ void plain() {}")
    assert [kernel.name for kernel in module.kernels] == ["plain"]
    assert [name for name, _ in module.templates] == ["tile"]


def test_an_instantiation_that_fails_is_a_note_and_the_template_is_listed() -> None:
    module = read(TILED, ("tile", ("int", "8", "9")))
    assert module.kernels == () and [name for name, _ in module.templates] == ["tile"]
    assert "tile<int, 8, 9> was not instantiated" in module.notes[0]


def test_an_instantiation_with_an_error_in_its_body_is_an_error_of_the_text() -> None:
    module = read(TILED, ("tile", ("float", "8")))
    assert module.kernels == ()
    assert [(d.severity, d.span.path, d.span.line) for d in module.diagnostics] == [("error", "k.cu", 3)]


def test_templates_in_namespaces_are_found() -> None:
    text = "namespace a { namespace { template <class T> __global__ void f(T *x) { *x = T(0); } } }"
    assert [k.label for k in read(text, ("f", ("float",))).kernels] == ["f<float>"]


def test_a_specialisation_is_the_kernel_of_its_arguments() -> None:
    text = (
        "template <class T> __global__ void f(T *x) { *x = 1; }\n"
        "template <> __global__ void f<float>(float *x) { *x = 2; }"
    )
    module = read(text, ("f", ("float",)), ("f", ("int",)))
    assert [show_body(kernel.body) for kernel in module.kernels] == ["store *x = 2.0:f32", "store *x = 1"]


def test_template_arguments_are_no_code() -> None:
    for name, argument in (("tile", "float>; int x = 3; //"), ("tile<float>; //", "int"), ("tile", 'float"')):
        module = read(TILED, (name, (argument,)))
        assert module.kernels == () and "no template arguments" in module.notes[0]
        assert [template for template, _ in module.templates] == ["tile"]


def test_line_markers_place_spans_in_the_users_files() -> None:
    text = '# 40 "a/b.cu"\n__global__ void f(int *o) {\n# 7 "head.h"\n  o[0] = 1 / o[1];\n}\n'
    (kernel,) = lower_text(text, (), "sm_80").kernels
    assert kernel.span == Span("a/b.cu", 40, 17)
    (store,) = [stmt for stmt in statements(kernel.body) if isinstance(stmt, n.Store)]
    assert store.span == Span("head.h", 7, 3)


def test_an_error_leaves_its_kernel_out() -> None:
    module = read("__global__ void bad(int *o) { o[indx] = 1; }\n__global__ void good(int *o) { o[0] = 1; }")
    assert [kernel.name for kernel in module.kernels] == ["good"]
    (diagnostic,) = module.diagnostics
    assert diagnostic.message == "use of undeclared identifier 'indx'"
    assert diagnostic.span == Span("k.cu", 1, 33)


def test_an_error_in_a_helper_leaves_its_callers_out() -> None:
    module = read("__device__ int h() { return undefined_; }\n__global__ void f(int *o) { o[0] = h(); }")
    assert module.kernels == () and len(module.diagnostics) == 1


def test_a_name_of_cuda_that_is_not_declared_is_unknown_not_unreadable() -> None:
    module = read(
        "__global__ void good(int *o) { o[0] = 1; }\n"
        "__global__ void uses(half *a, int n) { wgmma::tile<16, half> f; a[0] = f.x[0]; }\n"
        "__device__ unsigned lane() { return __viaddmax_s16x2(3); }\n"
        "__global__ void calls(int *o) { o[0] = lane(); }"
    )
    assert module.diagnostics == ()
    bodies = {kernel.name: kernel.body for kernel in module.kernels}
    assert not any(isinstance(stmt, n.Unsupported) for stmt in bodies["good"])
    for name, what in (("uses", "'wgmma'"), ("calls", "'__viaddmax_s16x2'")):
        (stmt,) = bodies[name]
        assert isinstance(stmt, n.Unsupported) and stmt.construct == "undeclared name" and what in stmt.detail
    assert len(next(kernel for kernel in module.kernels if kernel.name == "uses").params) == 2


def test_a_launch_from_a_kernel_is_refused_by_name() -> None:
    text = (
        "__global__ void child(int *o) { o[0] = 1; } __global__ void parent(int *o) { child<<<1, 1>>>(o); }"
    )
    module = read(text)
    found = {kernel.name: kernel.body for kernel in module.kernels}
    (stmt,) = found["parent"]
    assert module.diagnostics == () and isinstance(found["child"][0], n.Store)
    assert isinstance(stmt, n.Unsupported) and stmt.detail == "a launch from device code"


@pytest.mark.parametrize("name", ["__logf1p", "__sqrtf", "__float2half2", "__fmaxf", "__atomicAdd"])
def test_a_name_like_cudas_that_cuda_does_not_have_is_an_error(name: str) -> None:
    module = read(f"__global__ void f(float *o) {{ o[0] = {name}(o[1]); }}")
    assert module.kernels == ()
    assert module.diagnostics[0].message == f"use of undeclared identifier '{name}'"


def test_an_undeclared_type_of_a_global_reaches_every_kernel() -> None:
    module = read("__device__ cudaGraph_t t;\n__global__ void f(int *o) { o[0] = 1; }")
    assert [type(stmt) for stmt in module.kernels[0].body] == [n.Unsupported]


def test_a_users_error_before_a_foreign_name_stays_an_error() -> None:
    module = read("__global__ void f(int *o) { o[typo] = 1; wmma::load(o); }")
    assert module.kernels == () and len(module.diagnostics) == 2


def test_kernels_in_extern_c_and_with_bounds_from_constants() -> None:
    module = read('constexpr int B = 128; extern "C" { __global__ void __launch_bounds__(B * 2) f() {} }')
    assert module.kernels[0].launch_bounds == (256,)


def test_bounds_are_constant_expressions_of_any_kind() -> None:
    text = """
    template <typename T, int B = 128> struct Traits { static constexpr int block = B; };
    namespace a { namespace { constexpr int warps = 4; constexpr int twice(int x) { return 2 * x; }
    template <typename T, typename Tr = Traits<T>, bool R = (3 > 2)>
    __global__ void __launch_bounds__(Tr::block * (R ? 2 : 1), 2) k(T *x) {}
    __global__ void __launch_bounds__(twice(warps * 32)) p() {} } }
    __global__ void __launch_bounds__(((512) <= 1024 ? (512) : 256)) q() {}
    template <int... N> __global__ void __launch_bounds__((N + ...)) r() {}
    __global__ void __launch_bounds__(64) s(); __global__ void s() {}
    """
    wanted = [("k", ("float",)), ("k", ("int", "Traits<int, 64>", "false")), ("r", ("32", "64"))]
    found = {kernel.label: kernel.launch_bounds for kernel in read(text, *wanted).kernels}
    assert found == {
        "p": (256,), "q": (512,), "s": (64,),
        "k<float>": (256,), "k<int, Traits<int, 64>, false>": (64,), "r<32, 64>": (96,),
    }  # fmt: skip


def test_bounds_that_cannot_be_evaluated_are_unsupported() -> None:
    module = read("struct C { static int n; }; __global__ void __launch_bounds__(C::n) f() {}")
    assert module.kernels[0].launch_bounds == ()
    assert [type(stmt) for stmt in module.kernels[0].body] == [n.Unsupported]


def test_restrict_is_recorded() -> None:
    (kernel,) = read("__global__ void f(const float *__restrict__ x, float *y) {}").kernels
    assert [(param.restrict, param.type) for param in kernel.params] == [
        (True, n.Pointer(n.F32, True)),
        (False, n.Pointer(n.F32, False)),
    ]


def test_lowering_is_deterministic() -> None:
    text = TILED + "__global__ void g(float *x) { float a[2] = {1, 2}; x[0] = a[threadIdx.x & 1]; }"
    first = show_module(read(text, ("tile", ("float",))))
    assert first == show_module(read(text, ("tile", ("float",))))


# --- the child ---


def _device(text: str) -> DeviceText:
    return DeviceText(text, "", ())


def test_parse_device_runs_in_a_child() -> None:
    module = parse_device(_device(TILED), (("tile", ("float",)),), sandbox=NONE)
    assert [kernel.label for kernel in module.kernels] == ["tile<float>"]


def test_a_child_that_dies_is_no_empty_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier.frontend.device.python_argv", lambda module: ["/bin/false"])
    with pytest.raises(FrontEndFailed) as caught:
        parse_device(_device(TILED), (), sandbox=NONE)
    assert not caught.value.limit


def test_a_child_that_answers_nonsense_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier.frontend.device.python_argv", lambda module: ["/bin/echo", '["Module",3]'])
    with pytest.raises(FrontEndFailed):
        parse_device(_device(TILED), (), sandbox=NONE)


def test_the_worker_answers_on_stdout() -> None:
    request = json.dumps({"text": "__global__ void f() {}", "instantiations": [], "arch": "sm_80"}).encode()
    done = run(python_argv("verifier.frontend.worker"), sandbox=NONE, stdin=request)
    assert done.returncode == 0 and json.loads(done.stdout)[0] == "Module"


def test_deep_nesting_is_answered() -> None:
    deep = "(" * 150 + "k" + ")" * 150
    module = parse_device(_device(f"__global__ void f(int *o, int k) {{ o[0] = {deep}; }}"), (), sandbox=NONE)
    assert module.kernels or module.diagnostics


def test_what_the_ir_cannot_hold_is_still_validated() -> None:
    module = read("__global__ void f(int *o) { o[0] = 1; }")
    assert show_module(module) == "kernel f(i32* o)\n  store o[0:i64] = 1\n"


def test_an_instantiation_that_needs_an_unknown_overload_spares_the_others() -> None:
    text = "template <class T> __global__ void f(T *x) { T v = x[0]; x[1] = v * 2.0; }"
    module = read(text, ("f", ("float",)), ("f", ("half",)), ("f", ("c10::Half",)))
    bodies = {kernel.label: [type(stmt) for stmt in kernel.body] for kernel in module.kernels}
    assert bodies["f<half>"] == [n.Unsupported]
    assert n.Unsupported not in bodies["f<float>"] + bodies["f<c10::Half>"]
    assert module.diagnostics == () and module.templates == ()


def test_two_barriers_at_one_presumed_place_have_two_sites() -> None:
    text = '__global__ void f() {\n# 7 "a.h"\n__syncthreads();\n# 7 "a.h"\n__syncthreads();\n}'
    (kernel,) = read(text).kernels
    assert len({stmt.site for stmt in kernel.body if isinstance(stmt, n.Barrier)}) == 2


def test_what_the_text_instantiates_itself_is_read() -> None:
    text = """template <class T, int N> __global__ void k(T *o) { o[0] = N; }
    template __global__ void k<float, (4 > 2)>(float *o);
    template
    __global__ void k<int, 2>(int *);
    template <> __global__ void k<char, 1>(char *o) { o[0] = 9; }"""
    assert [kernel.label for kernel in read(text).kernels] == ["k<float, (4 > 2)>", "k<int, 2>"]
    assert [kernel.label for kernel in read(text, ("k", ("char", "1"))).kernels] == ["k<char, 1>"]
    assert read(text).templates == ()
