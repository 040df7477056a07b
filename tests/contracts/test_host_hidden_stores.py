"""Stores that stand where one does not look for them: inside of expressions, behind const, in a lambda that is a pointer.

Each is followed, or refused by name; in a loop the launch before it is not claimed for later rounds either.
"""

from __future__ import annotations

import pytest

from tests.contracts.lifting import KERNEL, lift

CALL = "k<<<q, 32>>>(x.data_ptr<float>(), x.data_ptr<float>(), 4);"
TEXT = (
    KERNEL + "BEFORE\n"
    "void once(torch::Tensor x) { int q = 4, z = 0; int *p = &z; BODY CALL }\n"
    "void often(torch::Tensor x, int m) { int q = 4, z = 0; int *p = &z; for (int i = 0; i < m; ++i) { CALL BODY } }\n"
)
STORES = {
    "statements in an expression": ("", "z = ({ q = 100; 3; });"),
    "deep inside": ("", "z = " + "(" * 210 + "q = 100" + ")" * 210 + ";"),
    "a delete": ("", "delete (q = 100, p);"),
    "a new int": ("", "int *w = new int(q = 100);"),
    "a new array": ("", "int *w = new int[q = 100];"),
    "a new at a place": ("", "new (&q) int(100);"),
    "a new object": ("struct H { int &r; };", "auto *h = new H{q}; h->r = 100;"),
    "what a lambda captures": ("", "auto g = [w = (q = 100)] { return w; };"),
    "what a lambda names": ("", "auto g = [&r = q] { r = 100; }; g();"),
    "what a lambda calls": ("int set(int &r) { return r = 100; }", "auto g = [w = set(q)] { return w; };"),
    "a lambda as a pointer": ("", "void (*g)(int &) = [](int &r) { r = 100; }; g(q);"),
    "a lambda as a function object": ("", "std::function<void(int &)> g = [](int &r) { r = 100; }; g(q);"),
    "const cast away": ("", "const int &c = q; const_cast<int &>(c) = 100;"),
    "a const parameter": ("void set(const int &r) { const_cast<int &>(r) = 100; }", "set(q);"),
    "another name of a const parameter": ("void set(const int &r) { int &s = const_cast<int &>(r); s = 100; }", "set(q);"),
    "a const parameter's address": ("void set(const int &r) { int *s = (int *)&r; *s = 100; }", "set(q);"),
    "a const parameter handed on": ("void set(const int &r) { mystery((int *)&r); }", "set(q);"),
    "a pack of const parameters": (
        "void of(const int &r) { (int &)r = 100; } template <class... A> void set(const A &...a) { of(a...); }", "set(q);"),
    "a member of a const parameter": (
        "struct S { int a; }; void set(const S &r) { ((S &)r).a = 100; }", "S s{q}; set(s); q = s.a;"),
    "statements in a function's expression": ("void set(int &r) { int z = ({ r = 100; 3; }); }", "set(q);"),
    "a new at a parameter": ("void set(int &r) { new (&r) int(100); }", "set(q);"),
    "a reference in a tuple": ("", "std::tuple<int &> t(q); std::get<0>(t) += 100;"),
    "a reference in a tuple, in a condition": ("", "std::tuple<int &> t(q); bool b = q > 0 && (std::get<0>(t) = 100) > 0;"),
    "a reference in a pair": ("", "std::pair<int &, int> t(q, 1); t.first += 100;"),
    "a reference in a pair of names": ("", "std::pair<int &, int> t{q, 1}; auto &[a, b] = t; a += 100;"),
    "a reference in a pair's copy": ("", "std::pair<int &, int> t{q, 1}; auto [a, b] = t; a += 100;"),
    "a reference in a tuple applied": ("", "std::apply([](int &a, int b) { a = 100; }, std::tuple<int &, int>(q, 1));"),
    "a reference wrapped": ("", "std::reference_wrapper<int> w(q); w.get() = 100;"),
    "a reference wrapped in a pair": ("", "std::pair<std::reference_wrapper<int>, int> w{q, 1}; w.first.get() = 100;"),
    "a reference in a template": ("template <class T> struct S { T r; };", "S<int &> s{q}; s.r = 100;"),
    "a reference under another name": ("typedef int &R; struct S { R r; };", "S s{q}; s.r = 100;"),
    "the lesser of two": ("", "int m = 9; const int &r = std::min(q, m); const_cast<int &>(r) = 100;"),
    "the lesser of two by address": ("", "int m = 9; const int &r = std::min(q, m); *const_cast<int *>(&r) = 100;"),
    "the greater of two, in C": ("", "int m = 1; const int &r = std::max(q, m); (int &)r = 100;"),
    "a sum with a lambda": (
        "", "std::vector<int> v{1, 2}; z = std::accumulate(v.begin(), v.end(), 0, [&q](int a, int) { q = 100; return a; });"),
    "a sum with a lambda of a variable": (
        "", "std::vector<int> v{1, 2}; auto f = [&q](int a, int) { q = 100; return a; }; z = std::accumulate(v.begin(), v.end(), 0, f);"),
    "a sum with a functor": (
        "struct F { int *p; int operator()(int a, int) const { *p = 100; return a; } };",
        "std::vector<int> v{1, 2}; z = std::accumulate(v.begin(), v.end(), 0, F{&q});"),
    "a comparison with a lambda": ("", "z = std::max(z, 3, [&](int a, int b) { q = 100; return a < b; });"),
    "what is made text": ("", "std::to_string(q = 100);"),
    "what text is made of": ("", 'std::string s("x" + std::to_string(q = 100));'),
    "what a list of texts is made of": ("", "std::vector<std::string> v{std::to_string(q = 100)};"),
    "an index before its array": ("", "int *w = &q; 0[w] = 100;"),
    "an index before its array, added to": ("", "int w[2] = {1, q}; 1[w] += 96; q = w[1];"),
    "an assertion": ("", "assert((q = 100) > 0);"),
    "an assertion's function": ("int set(int &r) { return r = 100; }", "assert(set(q) > 0);"),
    "an assertion's pointer": ("int set(int *r) { return *r = 100; }", "assert(set(&q) > 0);"),
    "an assertion's global": ("int g = 4; int set() { return g = 100; }", "g = q; assert(set() > 0); q = g;"),
    "a debug assertion of torch": ("", "TORCH_INTERNAL_ASSERT_DEBUG_ONLY((q = 100) > 0);"),
    "a warning": ("", 'TORCH_WARN("size ", q = 100);'),
    "an array's length": ("", "float w[q = 100]; w[0] = 0;"),
    "the length of an array in an array": ("", "float w[2][q = 100]; w[0][0] = 0;"),
    "the size of an array": ("", "z = sizeof(int[q = 100]);"),
    "before a function's name": ("int one(int a) { return a; }", "z = (q = 100, one)(3);"),
    "before a static member": ("struct S { static constexpr int c = 3; };", "S s; z = (q = 100, s).c;"),
    "what a runtime call does not look at": ("", "cudaMemcpy(p, p, 4, (q = 100, cudaMemcpyHostToHost));"),
    "a copy inside of what is made text": ("", "int m = 100; std::to_string(cudaMemcpy(&q, &m, 4, cudaMemcpyHostToHost));"),
    "a pointer to an array of some length": ("", "float(*w)[q = 100]; w = nullptr;"),
    "an assembler statement": ('void set(int &r) { asm("" : "=r"(r)); }', "set(q);"),
}  # fmt: skip
STALE = {
    "the lesser of two": ("", "int m = 9; const int &r = std::min(q, m);", "q = 100;"),
    "a view of a list": (
        "",
        "std::vector<int64_t> v{q}; at::IntArrayRef r0(v);",
        "v[0] = 100; int64_t r = r0[0];",
    ),
    "an element": ("", "std::vector<int> v{q, 2}; const int &r = v.at(0);", "v[0] = 100;"),
    "an element, written": ("", "std::vector<int> v{q, 2}; int &r = v.at(z + 0);", "v[0] = 100;"),
    "what a function picks": (
        "const int &pick(const int &a) { return a; }",
        "const int &r = pick(q);",
        "q = 100;",
    ),
    "what a lambda picks": (
        "",
        "auto f = [&]() -> const int & { return q; }; const int &r = f();",
        "q = 100;",
    ),
    "one of two": ("", "int m = 9; const int &r = z > 0 ? q : m;", "q = m = 100;"),
}
"""A name of a variable that is changed afterwards: the launch has the new value."""
HARMLESS = {
    "a delete": ("", "delete p;"),
    "a new array": ("", "float *w = new float[q]; delete[] w;"),
    "a copy in a lambda": ("", "auto g = [w = z] { return w; }; g();"),
    "a const parameter": ('void show(const int &r) { int s = r + 1; printf("%d", s); }', "show(q);"),
    "an assertion": ("", "assert(q > 0 && x.size(0) > 0);"),
    "an assertion's function": (
        "bool even(int n) { while (n > 1) n -= 2; return n == 0; }",
        "assert(even(q));",
    ),
    "a warning": ("", 'TORCH_WARN("size ", q);'),
    "the lesser of two": ("", "const int &r = std::min(q, z); z = r;"),
    "a sum with a lambda": (
        "",
        "std::vector<int> v{1, 2}; z = std::accumulate(v.begin(), v.end(), 0, [](int a, int b) { return a + b; });",
    ),
    "what is made text": ("", "std::string s = std::to_string(q);"),
    "an array's length": ("", "float w[q]; w[0] = 0;"),
    "a call in a text": ("", 'printf("%s", cudaGetErrorString(cudaGetLastError()));'),
    "a lambda that takes a reference": ("", "auto g = [](const int &r) { return r + 1; }; z = g(q);"),
}


def grids(before: str, body: str) -> list[str]:
    """What the launches claim, those that claim nothing left out; none if something was refused."""
    found = lift(TEXT.replace("BEFORE", before).replace("BODY", body).replace("CALL", CALL))
    assert found.contracts or found.problems
    once, often = ([c for c in found.contracts if c.launch.launcher == f] for f in ("once", "often"))
    refused = {f for f in ("once", "often") if any(p.startswith(f) for p in found.problems)}
    return [c.launch.grid[0] for c in (*once, *often) if not c.gaps and c.launch.launcher not in refused]


@pytest.mark.parametrize("which", STORES)
def test_a_store_is_followed_or_refused(which: str) -> None:
    assert set(grids(*STORES[which])) <= {"100"}


@pytest.mark.parametrize("which", HARMLESS)
def test_what_stores_nothing_is_followed(which: str) -> None:
    assert grids(*HARMLESS[which]) == ["4", "4"]


@pytest.mark.parametrize("which", STALE)
def test_another_name_has_the_new_value(which: str) -> None:
    before, made, changed = STALE[which]
    found = grids(before, f"{made} {changed} q = r;")
    assert not [g for g in found if g == "4"], found


CLASSES = {
    "a lambda in a call that nobody looks at": (
        "", "std::vector<int> v{1}; std::to_string(std::accumulate(v.begin(), v.end(), 0, [&](int a, int) { q = 100; return a; }));"),
    "elements made in a call that nobody looks at": (
        "int g = 4; struct S { S() { g = 100; } };", "g = 4; std::to_string(std::vector<S>(2).size()); q = g;"),
    "a row of an array": ("", "int w[2][2] = {{4, 4}, {6, 7}}; int *r = w[0]; r[1] = 100; q = w[0][1];"),
    "a pointer to rows": ("", "int w[2][2] = {{4, 4}, {4, 4}}; int (*r)[2] = w; r[1][1] = 100; q = w[1][1];"),
    "the next row": ("", "int w[2][2] = {{4, 4}, {4, 4}}; int *r = &w[0][0]; r[3] = 100; q = w[1][1];"),
    "rows as pointers": ("", "int w[2][2] = {{4, 4}, {4, 4}}; for (int *r : w) r[1] = 100; q = w[1][1];"),
    "a row at an unknown index": ("", "int w[2][2] = {{4, 4}, {4, 4}}; int *r = w[x.size(0) % 2]; r[1] = 100; q = w[1][1];"),
    "an element that its loop changes": ("", "std::vector<int> v{4, 4}; for (int a : v) { q = a; v[1] = 100; }"),
    "a const element that its loop changes": ("", "int w[2] = {4, 4}; for (const int &a : w) { w[0] = w[1] = 100; q = a; break; }"),
    "a lambda that copies this": ("struct S { int n = 4; void f() { auto g = [=] { n = 100; }; g(); } };", "S s; s.f(); q = s.n;"),
    "a lambda that copies this, changed": (
        "struct S { int n = 4; int f() { auto g = [=] { return n; }; n = 100; return g(); } };", "S s; q = s.f();"),
    "a lambda with a pointer to its copy": ("", "p = &q; auto g = [=]() mutable { *p = 100; return q; }; g();"),
    "a lambda with a pointer by name": ("", "p = &q; auto g = [&p, q]() mutable { *p = 100; return q; }; g();"),
    "a template's static member": (
        "template <class T> struct S { inline static int n = 4; };", "S<int>::n = 100; S<long>::n = 4; q = S<int>::n;"),
    "a variable declared twice": ("extern int g; void set() { g = 100; } int g = 4;", "g = 4; set(); q = g;"),
    "what is moved from": (
        "struct S { int n; S(int k) : n(k) {} S(S &&) = default; S &operator=(S &&o) { n = o.n; o.n = 100; return *this; } };",
        "S s(4), t(1); t = std::move(s); q = s.n;"),
    "a member's assignment": (
        "struct M { int n; M &operator=(const M &o) { n = 100; return *this; } }; struct S { M m; };",
        "S s{{7}}, t{{4}}; s = t; q = s.m.n;"),
    "a destructor of elements": ("int g = 4; struct S { ~S() { g = 100; } };", "g = 4; { std::vector<S> p(2); } q = g;"),
    "a constructor of elements": ("int g = 4; struct S { S() { g = 100; } };", "g = 4; std::vector<S> p; p.emplace_back(); q = g;"),
    "a constructor of an object that a library makes": (
        "int g = 4; struct S { S() { g = 100; } };", "g = 4; auto p = std::make_unique<S>(); q = g;"),
}  # fmt: skip


@pytest.mark.parametrize("which", CLASSES)
def test_a_store_of_a_class_is_seen(which: str) -> None:
    before, body = CLASSES[which]
    text = f"{KERNEL}{before}\nvoid once(torch::Tensor x) {{ int q = 4; int *p = nullptr; {body} {CALL} }}\n"
    found = lift(text)
    assert found.contracts or found.problems
    assert not [c for c in found.contracts if not c.gaps and not found.problems and c.launch.grid[0] == "4"]


NAMES = {
    "a lambda's parameter": ("", "auto f = [&](const int &a) { q = 100; int z = a; CALL }; f(q);"),
    "a function's parameter": (
        "int g = 4; void of(const int &a, torch::Tensor x) { g = 100; int q = a; CALL }", "of(g, x);"),
}  # fmt: skip


@pytest.mark.parametrize("which", NAMES)
def test_a_parameter_is_another_name(which: str) -> None:
    before, body = (part.replace("CALL", CALL.replace("q,", "a,")) for part in NAMES[which])
    found = lift(f"{KERNEL}{before}\nvoid once(torch::Tensor x) {{ int q = 4, z = 0; {body} }}\n")
    assert found.contracts or found.problems
    assert not [c for c in found.contracts if not c.gaps and c.launch.grid[0] == "4"]
