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
    "an assembler statement": ('void set(int &r) { asm("" : "=r"(r)); }', "set(q);"),
}  # fmt: skip
HARMLESS = {
    "a delete": ("", "delete p;"),
    "a new array": ("", "float *w = new float[q]; delete[] w;"),
    "a copy in a lambda": ("", "auto g = [w = z] { return w; }; g();"),
    "a const parameter": ('void show(const int &r) { int s = r + 1; printf("%d", s); }', "show(q);"),
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
