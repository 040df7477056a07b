"""The device text holds what kernels use, and nothing of the host."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from verifier.source import SourceError, Submission
from verifier.source.tokens import LineMap, scan

Read = Callable[..., Submission]


def words(submission: Submission) -> list[str]:
    text = submission.device.text.replace("namespace nvcuda {}\n", "")  # stands before its using directive
    return [t.text for t in scan(text) if t.kind != "directive"]


KEPT = {
    "helper of a helper": "__device__ int a() { return 1; }\n__device__ int b() { return a(); }\n"
    "__global__ void k(int* p) { *p = b(); }",
    "type and its alias": "struct P { int x; };\nusing Q = P;\ntypedef Q R;\n__global__ void k(R* p) { p->x = 1; }",
    "typedef of an anonymous struct": "typedef struct { int x; } P;\n__global__ void k(P* p) { p->x = 1; }",
    "function pointer typedef": "typedef float (*F)(float);\n__global__ void k(F f, float* p) { *p = f(1.0f); }",
    "enumerator": "enum Mode { FAST, SLOW };\n__global__ void k(int* p) { *p = SLOW; }",
    "scoped enumeration": "enum class M : int { A };\n__global__ void k(M m, int* p) { *p = m == M::A; }",
    "constant": "static const int N = 4;\nconstexpr int M = N * 2;\n__global__ void k(int* p) { *p = M; }",
    "second declarator": "constexpr int A = 1, B = 2;\n__global__ void k(int* p) { *p = B; }",
    "constant memory": "__constant__ float w[3] = {1, 2, 3};\n__global__ void k(float* p) { *p = w[0]; }",
    "braced initialiser": "constexpr int N{3};\n__global__ void k(int* p) { *p = N; }",
    "template with defaults": "template <typename T = float, int N = (1 > 0)> struct V { T a[N]; };\n"
    "template <int B = 4> __global__ void k(V<>* p) { p->a[0] = B; }",
    "specialisation": "template <class T> struct Z;\ntemplate <> struct Z<float> { static constexpr float v = 0; };\n"
    "__global__ void k(float* p) { *p = Z<float>::v; }",
    "constexpr function": "constexpr int up(int a) { return (a + 3) / 4; }\n"
    "__global__ void k(int* p) { *p = up(5); }",
    "host and device function": "__host__ __device__ inline int f() { return 1; }\n"
    "__global__ void k(int* p) { *p = f(); }",
    "extern dynamic shared": "extern __shared__ float s[];\n__global__ void k(float* p) { s[0] = *p; }",
    "operator of a kept type": "struct C { float r; };\n__device__ C operator+(C a, C b) { return {a.r + b.r}; }\n"
    "__global__ void k(C* p) { p[0] = p[0] + p[1]; }",
    "compound operator": "struct C { float r; };\n__device__ void operator+=(C& a, C b) { a.r += b.r; }\n"
    "__device__ bool operator<=(C a, C b) { return a.r <= b.r; }\n"
    "__global__ void k(C* p) { p[0] += p[1]; if (p[0] <= p[1]) p[0].r = 0; }",
    "explicit instantiation": "template <class T> __global__ void k(T* p) { *p = 1; }\n"
    "template __global__ void k<float>(float*);",
    "launch bounds before the name": "__global__ void __launch_bounds__(256, 2) k(int* p) { *p = 1; }",
    "attributes": "struct __align__(16) A { float x; };\n__global__ __launch_bounds__(64) void k(A* p) { p->x = 1; }",
    "linkage": 'extern "C" __global__ void k(int* p) { *p = 1; }',
    "linkage block": 'extern "C" {\n__global__ void k(int* p) { *p = 1; }\n}',
    "namespaces": "namespace a { namespace { __device__ int f() { return 1; } }\n"
    "__global__ void k(int* p) { *p = f(); } }",
    "nested namespace name": "namespace a::b { __global__ void k(int* p) { *p = 1; } }",
    "namespace alias": "namespace cg = cooperative_groups;\n__global__ void k() { cg::this_thread_block().sync(); }",
    "using directive": "using namespace nvcuda;\n__global__ void k(int* p) { *p = 1; }",
    "using declaration": "namespace m { __device__ int f() { return 1; } }\n"
    "using m::f;\n__global__ void k(int* p) { *p = f(); }",
    "function returning a struct": "struct P { int x; };\n__device__ struct P f() { return P{1}; }\n"
    "__global__ void k(int* p) { *p = f().x; }",
    "member function outside": "struct P { int x; __device__ int g(); };\n__device__ int P::g() { return x; }\n"
    "__global__ void k(P* p) { p->x = p->g(); }",
    "constructor with initialisers": "struct P { int x, y; __device__ P(int a); };\n"
    "__device__ P::P(int a) : x{a}, y(a) { x += y; }\n__global__ void k(int* p) { *p = P(1).x; }",
    "functor": "struct Op { __device__ float operator()(float a) const { return a; } };\n"
    "template <class F> __global__ void k(float* p, F f) { *p = f(*p); }\n"
    "__global__ void m(float* p) { *p = Op()(*p); }",
    "raw string": '__global__ void k(int* p) { *p = sizeof(R"(})"); }',
    "forward declaration": "__device__ int f(int);\n__global__ void k(int* p) { *p = f(1); }\n"
    "__device__ int f(int a) { return a; }",
}


@pytest.mark.parametrize("code", KEPT.values(), ids=KEPT.keys())
def test_what_kernels_use_is_kept_whole(code: str, read: Read) -> None:
    submission = read(code)
    assert words(submission) == [t.text for t in scan(code)]
    assert not submission.problems
    assert submission.device.kernels[0][0] == "k"


DROPPED = {
    "host function": "void launch(int* p) { k<<<1, 1>>>(p); }",
    "host template": "template <class T> T twice(T a) { return a + a; }",
    "main": "int main(int argc, char** argv) { return argc; }",
    "host variable": "static int counter = 0;",
    "variable with a constructor call": 'static Registry r(1, "x");',
    "unused type": "struct Host { std::vector<int> v; };",
    "module": 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &launch); }',
    "static_assert": 'static_assert(sizeof(int) == 4, "int");',
    "using of a host namespace": "using namespace torch::indexing;",
    "stray semicolons": ";;",
    "unused device function": "__device__ int unused() { return 1; }",
    "forward declared class": "class Later;",
    "host lambda": "auto f = [](int a) { return a; };",
    "assembly": 'asm("nop");',
}


@pytest.mark.parametrize("code", DROPPED.values(), ids=DROPPED.keys())
def test_what_kernels_do_not_use_is_left_out(code: str, read: Read) -> None:
    kernel = "__global__ void k(int* p) { *p = 1; }"
    for text in (f"{kernel}\n{code}\n", f"{code}\n{kernel}\n"):
        submission = read(text)
        assert words(submission) == [t.text for t in scan(kernel)]
        assert [name for name, _ in submission.device.kernels] == ["k"]
        for word in scan(code):
            assert word.text in submission.host


def test_every_reader_sees_the_users_lines(read: Read) -> None:
    code = textwrap.dedent("""\
        #include <cuda_runtime.h>
        // a comment
        #define BODY(T) \\
            *p = T(1);

        static int host() { return 2; }

        template <typename T>
        __global__ void k(T* p) {
            BODY(T)
            marker();
        }
        """)
    text = read(code).device.text
    places = LineMap(text)
    for word in ("marker", "template", "__global__"):
        span = places.span(text.index(word))
        assert span.path.endswith("k.cu")
        assert code.splitlines()[span.line - 1].find(word) == span.column - 1


def test_kernel_place_is_its_name(read: Read) -> None:
    [(name, span)] = read("\n\n  __global__ void\n  saxpy(float* x) { *x = 1; }").device.kernels
    assert (name, span.line, span.column) == ("saxpy", 4, 3)


def test_kernels_made_by_macros(read: Read) -> None:
    code = (
        "#define MAKE(N, OP) __global__ void N(float* p) { *p = OP(*p); }\nMAKE(ka, expf)\nMAKE(kb, logf)\n"
    )
    submission = read(code)
    assert [(n, s.line) for n, s in submission.device.kernels] == [("ka", 2), ("kb", 3)]


def test_using_directives_follow_their_namespace(read: Read) -> None:
    kernel = "__global__ void k(int* p) { *p = 1; }\n"
    host = "namespace tools { int f() { return 1; } }\nusing namespace tools;\n"
    assert words(read(host + kernel)) == [t.text for t in scan(kernel)]
    device = "namespace d { __device__ int f() { return 1; } }\nusing namespace d;\n"
    kernel = "__global__ void k(int* p) { *p = f(); }\n"
    assert words(read(device + kernel)) == [t.text for t in scan(device + kernel)]
    alias = "namespace cg = cooperative_groups;\nusing namespace cg;\n"
    assert words(read(alias + kernel)) == [t.text for t in scan(alias + kernel)]


def test_operators_of_builtin_vectors_are_kept(read: Read) -> None:
    code = "__device__ float2 operator*(float2 a, float b) { return make_float2(a.x * b, a.y * b); }\n"
    code += "__global__ void k(float2* p) { *p = *p * 2.0f; }\n"
    assert words(read(code)) == [t.text for t in scan(code)]


def test_host_overload_of_a_device_function_is_named(read: Read) -> None:
    code = "__device__ char f(double);\nstatic double f(int a) { return a; }\n"
    code += "__global__ void k(int* p) { *p = sizeof(f(1)); }\n"
    [problem] = read(code).problems
    assert "k.cu:2" in problem and "overloads a device function" in problem


def test_a_launcher_may_have_its_kernels_name(read: Read) -> None:
    code = "__global__ void k(int* p) { *p = 1; }\nvoid k(int* p, int blocks) { k<<<blocks, 32>>>(p); }\n"
    assert not read(code).problems
    assert not read(code.replace("double f(int a)", "double g(int a)")).problems


def test_hidden_spellings_of_global_are_named(read: Read) -> None:
    code = "__global__ void k(int* p) { *p = 1; }\n__location__(global) void l(int* p) { *p = 2; }\n"
    assert any("__location__" in p for p in read(code).problems)


@pytest.mark.parametrize("code", ["<% *p = 1; %>", "{ int a<:2:>; *p = a<:0:>; }"])
def test_digraphs_are_refused(code: str, read: Read) -> None:
    with pytest.raises(SourceError, match="digraph"):
        read(f"__global__ void k(int* p) {code}\n")
    assert read(
        "template <class T> __global__ void k(int* p) { *p = sizeof(T) <::f() ? 1 : 2; }"
    ).device.kernels


def test_directives_made_by_macros_are_refused(read: Read) -> None:
    code = "#define HASH #\n__global__ void k(int* p) {\nHASH ifdef __clang__\n*p = 1;\nHASH endif\n}\n"
    with pytest.raises(SourceError, match=r"k.cu:3:\d+: a macro makes a preprocessing directive"):
        read(code)


def test_torch_device_macros(read: Read) -> None:
    code = "C10_HOST_DEVICE float f(float a) { return a; }\n"
    code += "C10_LAUNCH_BOUNDS_1(512) __global__ void k(float* p, int n) {\n"
    code += "    CUDA_KERNEL_LOOP(i, n) { p[i] = f(p[i]); }\n}"
    text = read(code).device.text
    assert "__host__ __device__ float f" in text and "for (int i = _i_n_d_e_x" in text and "512" in text


def test_extended_lambda_is_named(read: Read) -> None:
    code = "__global__ void k(int* p) { *p = 1; }\nvoid f() { auto g = [] __device__ (int a) { return a; }; run(g); }"
    [problem] = read(code).problems
    assert "k.cu:2" in problem and "lambda" in problem


def test_two_kernels_of_one_name_are_named(read: Read) -> None:
    code = "__global__ void k(int* p) { *p = 1; }\n__global__ void k(float* p) { *p = 1; }"
    [problem] = read(code).problems
    assert "second kernel" in problem


def test_hash_is_of_the_text_and_follows_the_code(read: Read) -> None:
    import hashlib

    one = read("__global__ void k(int* p) { *p = 1; }")
    two = read("__global__ void k(int* p) { *p = 2; }")
    assert one.device.sha256 == hashlib.sha256(one.device.text.encode()).hexdigest() != two.device.sha256


def test_host_edits_do_not_change_the_device_text(read: Read) -> None:
    kernel = "__global__ void k(int* p) { *p = 1; }\n"
    assert read(kernel + "void f() {}\n").device.sha256 == read(kernel + "void g() { f(); }\n").device.sha256


def test_types_that_only_host_code_gives_to_a_kernel_template(read: Read) -> None:
    cut = read(
        """
        struct Twice { __device__ float operator()(float x) const { return 2 * x; } };
        struct Unused { __device__ float operator()(float x) const { return x; } };
        template <int N> struct Tile { static constexpr int size = N; };
        using Small = Tile<64>;
        struct Job { std::vector<int> sizes; };
        struct Plain { int n; };
        template <typename T, typename F> __global__ void k(float* x, F f) { x[threadIdx.x % T::size] = f(1.f); }
        template <typename T> void make(T);
        void run(float* x, Plain p) {
          make<Job>(Job{});
          k<Small><<<1, 64>>>(x, Twice{});
        }
        """
    )
    kept = {w for w in words(cut) if w in ("Twice", "Unused", "Tile", "Small", "Job", "Plain")}
    assert kept == {"Twice", "Tile", "Small"}
