"""The host reader: the tree keeps types, conversions and places; the child is confined."""

from __future__ import annotations

import json

import pytest

from tests.contracts.lifting import SHIM, read
from verifier.frontend import host_worker
from verifier.frontend.host import HostUnreadable, Node, read_host
from verifier.isolation.child import Limits
from verifier.isolation.sandbox import Sandbox


def function(text: str, name: str = "f") -> Node:
    code = read(text)
    assert not code.errors, code.errors
    return next(f for f in code.functions.values() if f["name"] == name)


def find(node: object, kind: str) -> list[Node]:
    out: list[Node] = []
    if isinstance(node, list):
        for item in node:
            out += find(item, kind)
    elif isinstance(node, dict):
        if node.get("k") == kind:
            out.append(node)
        for value in node.values():
            out += find(value, kind)
    return out


def test_implicit_conversions_are_nodes() -> None:
    body = function("void f(torch::Tensor x) { int n = x.numel(); }")["body"]
    (variable,) = find(body, "decl")[0]["vars"]
    assert variable["init"]["k"] == "cast" and variable["init"]["t"] == "int"
    assert variable["init"]["a"]["name"] == "at::Tensor::numel"


def test_launches_have_types_places_and_arguments() -> None:
    text = "template <class T, int B> __global__ void k(const T* p, int m) {}\nvoid f(torch::Tensor x) {\n  k<float, 8><<<4, 32>>>(x.data_ptr<float>(), 3);\n}\n"
    code = read(text)
    (launch,) = find(list(code.functions.values()), "launch")
    assert (launch["kernel"], launch["targs"]) == ("k", ["float", "8"])
    assert launch["params"] == [{"name": "p", "type": "const float *"}, {"name": "m", "type": "int"}]
    assert str(code.span(launch["s"])).startswith("t.cu:3:")


def test_line_markers_give_the_users_places() -> None:
    code = read('# 40 "src/a.cu"\nvoid f() { int n = 1; }\n# 7 "inc/b.h"\nvoid g() { }\n')
    places = {f["name"]: str(code.span(f["s"])) for f in code.functions.values()}
    assert places["f"].startswith("src/a.cu:40") and places["g"].startswith("inc/b.h:7")


@pytest.mark.parametrize(
    ("head", "parts"),
    [
        ("int i = 0; i < 3; i++", (True, True, True)),
        ("; ;", (False, False, False)),
        ("int i = 0; ; ++i", (True, False, True)),
        ("; n < 3;", (False, True, False)),
        ("int i = (n, 2); i < f2(1, 2); i += f2(3, 4)", (True, True, True)),
    ],
)
def test_the_parts_of_a_for(head: str, parts: tuple[bool, bool, bool]) -> None:
    body = function(f"int f2(int a, int b); void f(int n) {{ for ({head}) {{ break; }} }}")["body"]
    (loop,) = find(body, "for")
    assert (loop["init"] is not None, loop["c"] is not None, loop["step"] is not None) == parts


def test_if_with_an_initialiser() -> None:
    body = function("void f(int n) { if (int e = n; e > 3) n = 1; else n = 2; }")["body"]
    (branch,) = find(body, "if")
    assert branch["c"]["op"] == ">" and branch["else"] is not None


def test_unknown_names_are_opaque_not_errors() -> None:
    code = read(
        "void f(torch::Tensor x) { auto h = make_handle(x); Widget w; x.frob(3); torch::frobnicate(x); }"
    )
    assert not code.errors
    assert {"make_handle", "Widget", "at::Tensor::frob", "torch::frobnicate"} <= set(code.unknown_names)


def test_errors_in_device_code_are_not_the_hosts() -> None:
    code = read(
        "__global__ void k(float* x) { x[0] = __some_intrinsic(x[1]) + undeclared_thing.z; }\nvoid f() { }\n"
    )
    assert not code.errors


def test_errors_in_host_code_are_kept_with_their_line() -> None:
    code = read("void f() {\n  int n = ;\n}\n")
    assert code.errors and code.errors[0][1].line == 2


def test_bool_template_arguments_are_words() -> None:
    code = read(
        "template <bool A, int B> __global__ void k() {}\nvoid f() { k<true, 1><<<1, 1>>>(); k<false, 0><<<1, 1>>>(); }"
    )
    assert [x["targs"] for x in find(list(code.functions.values()), "launch")] == [
        ["true", "1"],
        ["false", "0"],
    ]


def test_dispatch_is_expanded_for_each_dtype() -> None:
    text = 'template <class T> __global__ void k(T* p) {}\nvoid f(torch::Tensor x) { AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "f", [&] { k<scalar_t><<<1, 1>>>(x.data_ptr<scalar_t>()); }); }'
    code = read(text)
    names = {tuple(x["targs"]) for x in find(list(code.functions.values()), "launch")}
    assert names == {("float",), ("double",), ("c10::Half",), ("c10::BFloat16",)}


@pytest.mark.parametrize(
    "declared, made",
    [
        ("template void f<int>(int n, int *x);", ["f"]),
        ("template void f(int n, double *x);", ["f"]),
        (
            "namespace a { template <class T, int B> T *g(T *x) { return x; }\ntemplate float *g<float, 4>(\n float *x); }",
            ["a::g"],
        ),
        ("template void f<S<int>>(int n, S<int> *);", ["f"]),
        ("template <> void f<char>(int n, char *x) {}", ["f"]),
        ("extern template void f<int>(int n, int *x);", []),
        ("template struct S<int>;", []),
        ("template __global__ void k<int>(int *x);", []),
        ("template void f<int>(int n, unknown *x);", []),
        ("template void S<int>::m(int);", []),
        ("void g() { S<int> s; s.template n<int>(1); }", ["g"]),
    ],
)
def test_explicit_instantiations_are_functions(declared: str, made: list[str]) -> None:
    code = read(
        """template <class T> struct S { T x; void m(int) {} template <class U> void n(U) {} };
        template <class T> void f(int n, T *x) {}
        template <class T> __global__ void k(T *x) {}
        """
        + declared
    )
    assert not code.errors
    assert [code.functions[usr]["name"] for usr in code.roots] == made


def test_an_array_as_a_parameter_is_a_pointer() -> None:
    code = read(
        "__global__ void k(const float x[], float y[4], int n) {} void f(const float x[], float (&r)[3], int m[2]) {}"
    )
    assert not code.errors
    assert [p["type"] for p in code.kernels[0]["params"]] == ["const float *", "float *", "int"]
    (made,) = code.functions.values()
    assert [p["type"] for p in made["params"]] == ["const float *", "float[3]", "int *"]
    assert [p["default"] for p in made["params"]] == [None, None, None]


def test_the_child_reads_the_same() -> None:
    text = '# 1 "t.cu"\nvoid f(torch::Tensor x) { int n = x.numel(); }\n'
    assert read_host(text, sandbox=Sandbox("none")).functions == read(text.split("\n", 1)[1]).functions


def test_limits_end_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    from verifier.frontend import host

    monkeypatch.setattr(host, "_LIMITS", Limits(cpu_seconds=5, wall_seconds=8.0, output_bytes=100))
    with pytest.raises(HostUnreadable, match="limits"):
        read_host("void f() { int n = 1; }\n", sandbox=Sandbox("none"))


def test_deep_nesting_is_refused_not_fatal() -> None:
    text = "int f(int n) { return " + "(" * 180 + "n" + ")" * 180 + "; }\n"
    tree = host_worker.parse(f'# 1 "t.cu"\n{text}', SHIM)
    json.dumps(tree)
    assert tree["functions"]


@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("switch (k += 8; n) { case 3: break; default: break; }", False),
        ("switch (n) { case ';': break; default: break; }", True),
        ("if (k += 8; n > 3) { }", False),
        ("if (int j = n; j > ';') { }", True),
        ("for (k += 8; int v : a) { }", False),
        ("for (int v : a) { }", True),
    ],
)
def test_statements_before_a_condition_are_not_left_out(statement: str, kept: bool) -> None:
    for text in (statement, f"auto f = [&] {{ {statement} }};"):
        code = read_host(
            f"void f(int n) {{ int k = n; int a[2] = {{1, 2}}; {text} }}\n", sandbox=Sandbox("none")
        )
        assert ("a statement before the" in str(code.functions)) is not kept
