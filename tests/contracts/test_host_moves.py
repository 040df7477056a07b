"""What ``std::move`` may leave empty is unknown from there on; what is a number, or is given a value again, is not."""

from __future__ import annotations

import pytest

from tests.contracts.lifting import KERNEL, lift

CALL = "k<<<q, 32>>>(x.data_ptr<float>(), x.data_ptr<float>(), 4);"
GONE = {
    "a vector": ("", "std::vector<int64_t> v{1, 2, 3}, w = std::move(v); int q = v.size() + 1;"),
    "a vector, assigned": ("", "std::vector<int64_t> v{1, 2, 3}, w; w = std::move(v); v.push_back(2); int q = v[0];"),
    "a vector, handed over": ("void take(std::vector<int> v) {}", "std::vector<int> v{1, 2}; take(std::move(v)); int q = v.size();"),
    "a vector, by reference": (
        "std::vector<int> kept; void take(std::vector<int> &&v) { kept = std::move(v); }",
        "std::vector<int> v{1, 2}; take(std::move(v)); int q = v.size();"),
    "a vector, forwarded": ("", "std::vector<int> v{1, 2}, w = std::forward<std::vector<int>>(v); int q = v.size() + 1;"),
    "a vector, cast": ("", "std::vector<int> v{1, 2}, w = static_cast<std::vector<int> &&>(v); int q = v.size() + 1;"),
    "a vector, cast in C": ("", "std::vector<int> v{1, 2}, w = (std::vector<int> &&)v; int q = v.size() + 1;"),
    "a vector, put into another": ("", "std::vector<std::vector<int>> w; std::vector<int> v{1, 2}; w.push_back(std::move(v)); int q = v.size() + 1;"),
    "a vector, in a lambda": ("", "std::vector<int> v{1, 2}; auto f = [w = std::move(v)] { return w.size(); }; int q = v.size() + 1;"),
    "a vector, in a template": (
        "template <class T> int size(T &&v) { auto w = std::forward<T>(v); return v.size(); }", "int q = size(std::vector<int>{1, 2}) + 1;"),
    "a tensor": ("", "auto y = torch::empty({4}), z = std::move(y); int q = y.numel() + 1;"),
    "a tensor in a list": ("", "std::vector<torch::Tensor> v{torch::empty({4})}; auto z = std::move(v[0]); int q = v[0].numel() + 1;"),
    "a struct": ("struct S { std::vector<int> v; };", "S s{{1, 2}}, t = std::move(s); int q = s.v.size() + 1;"),
    "a member": ("struct S { std::vector<int> v; };", "S s{{1, 2}}; auto t = std::move(s.v); int q = s.v.size() + 1;"),
    "a pair": ("", "std::pair<std::vector<int>, int> s{{1, 2}, 7}; auto t = std::move(s); int q = s.first.size() + 1;"),
    "before another argument": ("int of(std::vector<int> v, int n) { return n; }", "std::vector<int> v{9, 2}; int q = of(std::move(v), v[0]);"),
    "behind another argument": ("int of(int n, std::vector<int> v) { return n; }", "std::vector<int> v{9, 2}; int q = of(v[0], std::move(v));"),
    "in a loop": ("", "std::vector<int> v{7}, w; int q = 1; for (int i = 0; i < x.size(0); ++i) { q = v.size() + 1; w = std::move(v); }"),
}  # fmt: skip
THERE = {
    "a number": ("", "int n = 4, m = std::move(n); int q = n;"),
    "a pointer": ("", "float *p = x.data_ptr<float>(), *r = std::move(p); int q = p == r ? 4 : 4;"),
    "a struct of numbers": ("struct S { int n, m; };", "S s{4, 5}, t = std::move(s); int q = s.n;"),
    "given a value again": ("", "std::vector<int> v{1, 2}; v = std::move(v); v = {4, 5}; int q = v[0];"),
    "through itself": ("", "auto y = torch::empty({4}); y = std::move(y).contiguous(); int q = y.numel();"),
    "the new owner": ("", "std::vector<int> v{4, 2}, w = std::move(v); int q = w[0];"),
    "forwarded as it is": ("template <class T> void look(T &&v) { auto w = std::forward<T>(v); }", "std::vector<int> v{4, 2}; look(v); int q = v[0];"),
    "of each round": (
        "", "std::vector<torch::Tensor> out; for (int i = 0; i < 3; ++i) { auto y = torch::empty({4}); out.push_back(std::move(y)); } int q = 4;"),
}  # fmt: skip


def grids(before: str, body: str) -> list[str]:
    """What launches without a gap claim; none if the launcher is refused."""
    found = lift(f"{KERNEL}{before}\nvoid run(torch::Tensor x) {{ {body} {CALL} }}\n")
    assert found.contracts or found.problems
    return [] if found.problems else [c.launch.grid[0] for c in found.contracts if not c.gaps]


@pytest.mark.parametrize("which", GONE)
def test_what_was_moved_away_is_not_known(which: str) -> None:
    assert grids(*GONE[which]) == []


@pytest.mark.parametrize("which", THERE)
def test_what_stays_is_known(which: str) -> None:
    assert set(grids(*THERE[which])) == {"4"}
