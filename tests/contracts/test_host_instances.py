"""Two instances of a template that run at a time have variables of their own, though these stand at one place of the text."""

from __future__ import annotations

import pytest

from tests.contracts.lifting import KERNEL, lift

FOLLOWED = {
    "a local variable": (
        "template <int N> int of(int d) { int q = d; if constexpr (N > 0) of<N - 1>(d + 1); return q; }", "of<2>(4)", "4"),
    "a parameter": ("template <class T> int of(T n) { if constexpr (sizeof(T) > 2) of((short)7); return n; }", "of(4)", "4"),
    "a block size that is doubled": (
        "template <int B> int of(int n) { int b = B; if constexpr (B < 512) { if (n > B) return of<B * 2>(n) + b; } return b; }",
        "of<64>(200)", "448"),
    "a pointer to one's own": (
        "template <int N> int of() { int v[2] = {N, 3}; int *p = v; if constexpr (N > 0) of<N - 1>(); return *p; }", "of<4>()", "4"),
    "what it calls": (
        "template <class G> int of(G g, int d) { int q = d; return g() * 10 + q; }", "of([] { return of([] { return 3; }, 4); }, 5)", "345"),
    "a lambda in a lambda of one macro": (
        "#define RUN(f) [&] { return f() + 1; }()", "RUN(([&] { return RUN([&] { return 2; }); }))", "4"),
}  # fmt: skip
ONE_PLACE = [
    'AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", ([&] {{ {} }}));',
    'AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "f", ([&] {{ auto go = [&] {{ {} }}; go(); }}));',
    'AT_DISPATCH_SWITCH(x.scalar_type(), "f", AT_DISPATCH_CASE(at::kFloat, ([&] {{ {} }})));',
]
"""Lambdas in parentheses, which have the place of the macro, as the lambda around them has."""
REFUSED = {
    "a pointer to the other's": (
        "template <int N> int of(int *a) { int q = N; *a += q; if constexpr (N > 0) of<N - 1>(&q); *a += q; return *a; }", "of<2>(&z)"),
    "a reference to the other's": (
        "template <int N> int of(int &a) { int q = N; a += q; if constexpr (N > 0) of<N - 1>(q); a += q; return a; }", "of<2>(z)"),
    "an object of the other's": (
        "template <int N> struct S { int v = N; int f() { int q = v; if constexpr (N > 0) { S<N - 1> s; s.f(); } return q; } };",
        "S<2>().f() + z"),
    "a lambda with the other's": (
        "template <int N, class G> int of(G g) { int q = N; if constexpr (N == 2) return of<1>([&] { return q; }); else return g() + 4; }",
        "of<2>([] { return 0; })"),
    "a lambda that calls itself": (
        "", "[&] { auto f = [](auto &&self, int d) -> int { int q = d; if (d < 2) self(self, d + 1); return q; }; return f(f, 0) + 4; }()"),
}  # fmt: skip


def grids(before: str, value: str) -> list[str]:
    """What launches without a gap claim; none if the launcher is refused."""
    call = "k<<<q, 32>>>(x.data_ptr<float>(), x.data_ptr<float>(), 4);"
    found = lift(f"{KERNEL}{before}\nvoid run(torch::Tensor x) {{ int z = 4; int q = {value}; {call} }}\n")
    assert found.contracts or found.problems
    return [] if found.problems else [c.launch.grid[0] for c in found.contracts if not c.gaps]


@pytest.mark.parametrize("which", FOLLOWED)
def test_each_instance_has_its_own_variables(which: str) -> None:
    before, value, grid = FOLLOWED[which]
    assert grids(before, value) == [grid]


@pytest.mark.parametrize("which", REFUSED)
def test_variables_of_the_other_instance_are_not_followed(which: str) -> None:
    assert grids(*REFUSED[which]) == []


@pytest.mark.parametrize("macro", ONE_PLACE)
def test_the_lambdas_of_one_macro_are_two(macro: str) -> None:
    body = macro.format("k<<<7, 32>>>(x.data_ptr<float>(), x.data_ptr<float>(), 4);")
    found = lift(f"{KERNEL}\nvoid run(torch::Tensor x) {{ {body} }}\n")
    assert not found.problems and {c.launch.grid[0] for c in found.contracts} == {"7"}
