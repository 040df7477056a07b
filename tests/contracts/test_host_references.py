"""Variables that a loop hands to functions by reference: unknown in later rounds where the function may change them, else not.

Every good twin only reads; the faulty ones change the variable in each way that a reference allows.
"""

from __future__ import annotations

import pytest

from specs.contract import Contract
from tests.contracts.lifting import KERNEL, lift

READS = {
    "a value": ("int more(int &r) { return r + 1; }", "int s = more(q);"),
    "a copy": ("void some(int &r) { int t = r; t += 1; }", "some(q);"),
    "passed on by value": ("void of(int v) { v = 9; } void some(int &r) { of(r); }", "some(q);"),
    "a pack": (
        "void of(int v) { v = 9; } template <class... A> void all(A &&...a) { of(std::forward<A>(a)...); }",
        "all(q);",
    ),
    "a function that takes values": (
        "void of(int v) { v = 9; } template <class F, class... A> void call(F f, A &&...a) { f(std::forward<A>(a)...); }",
        "call(of, q);",
    ),
    "a lambda that reads": ("void some(int &r) { auto f = [&] { return r + 1; }; f(); }", "some(q);"),
    "an infinity beside it": (
        'float some(int &r) { return r > 3 ? -(__builtin_inff()) : (__builtin_nanf("")); }',
        "some(q);",
    ),
}
CHANGES = {
    "a store": ("void some(int &r) { r += 1; }", "some(q);"),
    "a store further down": ("void of(int &r) { r = 9; } void some(int &r) { of(r); }", "some(q);"),
    "a store before the name": ("void some(int &r); void other(int &r) { some(r); } void some(int &r) { r = 9; }", "other(q);"),
    "a pointer": ("void some(int &r) { int *p = &r; *p = 9; }", "some(q);"),
    "a lambda": ("void some(int &r) { auto f = [&] { r = 9; }; f(); }", "some(q);"),
    "another name": ("void some(int &r) { int &s = r; s = 9; }", "some(q);"),
    "a swap": ("void some(int &r) { int t = 9; std::swap(r, t); }", "some(q);"),
    "a member of its own": ("struct H { int &r; };", "H h{q}; h.r = 9;"),
    "a member": ("struct H { int &r; }; void some(int &r) { H h{r}; h.r = 9; }", "some(q);"),
    "an object": ("struct H { int &r; H(int &a) : r(a) {} void go() { r = 9; } }; void some(int &r) { H h(r); h.go(); }", "some(q);"),
    "a pack": ("void of(int &r) { r = 9; } template <class... A> void all(A &&...a) { of(std::forward<A>(a)...); }", "all(q);"),
    "the second of a pack": ("void of(int a, int &r) { r = 9; } template <class... A> void all(A &&...a) { of(a...); }", "all(3, q);"),
    "a function that takes references": (
        "void of(int &r) { r = 9; } template <class F, class... A> void call(F f, A &&...a) { f(std::forward<A>(a)...); }",
        "call(of, q);"),
    "a lambda that takes references": (
        "template <class F, class... A> void call(F f, A &&...a) { f(a...); }", "call([](int &r) { r = 9; }, q);"),
    "a method": ("struct S { void go(int &r) { r = 9; } };", "S s; s.go(q);"),
    "an unknown function": ("template <class T> void some(T &r) { mystery(r); }", "some(q);"),
    "a list": ("void some(std::vector<int> &v) { for (auto &e : v) e += 1; }", "some(v); q = v[0];"),
    "a pair": ("void some(std::pair<int, int> &p) { auto &[a, b] = p; a = 9; }", "some(w); q = w.first;"),
    "either of two": ("void some(int &a, int &b, bool c) { (c ? a : b) = 9; }", "some(q, z, true);"),
    "what it gives back": ("int &same(int &r) { return r; }", "same(q) = 9;"),
    "what it gives back, named": ("int &same(int &r) { return r; }", "int &s = same(q); s = 9;"),
    "what a pointer points to": ("void some(int *&p) { *p = 9; }", "some(p);"),
    "a pointer in a list": ("void some(int *(&p)[1]) { *p[0] = 9; }", "some(ps);"),
    "a recursion": ("void some(int &r, int n) { if (n > 0) some(r, n - 1); else r = 9; }", "some(q, 3);"),
    "input": ("void some(int &r) { scanf(\"%d\", &r); }", "some(q);"),
    "an array": ("void some(int (&r)[1]) { r[0] = 9; }", "some(a); q = a[0];"),
}  # fmt: skip
LOCALS = "int q = 4, z = 0; int *p = &q; int *ps[1] = {&q}; int a[1] = {4}; std::vector<int> v = {4}; std::pair<int, int> w = {4, 4};"
TEXT = (
    KERNEL + "{before}\nvoid run(torch::Tensor x, int m) {{ {locals} for (int i = 0; i < m; ++i) {{"
    " k<<<q, 32>>>(x.data_ptr<float>(), x.data_ptr<float>(), 4); {body} }} }}\n"
    "int main(int argc, char **argv) {{ {locals} float *x, *y; cudaMalloc(&x, 400); cudaMalloc(&y, 400);"
    " for (int j = 0; j < 5; ++j) {{"
    "  if (cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, j) == cudaSuccess) k<<<q, 32 + j>>>(x, y, 4);"
    "  else k<<<q, 64 + j>>>(x, y, 4); {body} }} }}\n"
)


def both(before: str, body: str) -> tuple[list[Contract], list[Contract], list[str]]:
    """In a loop of any number of rounds; in one of five that are followed apart; what was not followed."""
    text = TEXT.replace("{before}", before).replace("{locals}", LOCALS).replace("{body}", body)
    found = lift(text.replace("{{", "{").replace("}}", "}"))
    parts = ([c for c in found.contracts if (c.launch.launcher == "main") is main] for main in (False, True))
    return *parts, found.problems  # type: ignore[return-value]


@pytest.mark.parametrize("which", READS)
def test_what_a_function_only_reads_stays_known(which: str) -> None:
    any_number, five, problems = both(*READS[which])
    assert not problems and not any(c.gaps for c in (*any_number, *five))
    assert [c.launch.grid[0] for c in any_number] == ["4"]
    assert {(c.launch.grid[0], c.launch.block[0]) for c in five} == {
        ("4", str(b + j)) for b in (32, 64) for j in range(5)
    }


@pytest.mark.parametrize("which", CHANGES)
def test_what_a_function_may_change_is_unknown_in_later_rounds(which: str) -> None:
    any_number, five, problems = both(*CHANGES[which])
    later = [c for c in five if c.launch.block[0] not in ("32", "64")]
    assert problems or (any_number and later)
    assert problems or all(c.gaps for c in any_number)
    assert problems or all(c.gaps or c.launch.grid[0] != "4" for c in later)


def test_a_device_pointer_that_moves_or_is_allocated_anew() -> None:
    for body in ("a += 64;", "cudaFree(a); cudaMalloc(&a, 4);", "a = nullptr;"):
        text = (
            f"void next(float *&a) {{ {body} }}\nint main(int argc, char **argv) {{ float *x; cudaMalloc(&x, 4096); int m = atoi(argv[1]);"
            " for (int i = 0; i < m; ++i) { k<<<1, 32>>>(x, x, 4); next(x); } }"
        )
        found = lift(KERNEL + text)
        assert found.problems or all(c.gaps for c in found.contracts)


def test_tags_hold_nothing_but_their_type() -> None:
    kernel = "template <bool B> __global__ void kt(const float *x, int n, std::bool_constant<B>) { }\n"
    text = "void run(torch::Tensor x) { kt<<<1, 32>>>(x.data_ptr<float>(), x.numel(), std::bool_constant<true>{}); }"
    (c,) = lift(kernel + text).contracts
    assert not c.gaps and c.instantiation == ("true",)
    other = "struct S { int n; }; template <class T> __global__ void kt(const float *x, int n, T t) { }\n"
    text = "S make(); void run(torch::Tensor x) { kt<<<1, 32>>>(x.data_ptr<float>(), x.numel(), make()); }"
    assert all(c.gaps for c in lift(other + text).contracts)
