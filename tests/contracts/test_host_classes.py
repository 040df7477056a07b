"""Methods and constructors of host classes: what is followed, and what must not be claimed."""

from __future__ import annotations

import pytest

from tests.contracts.lifting import KERNEL, lift

LAUNCH = "k<<<q, 32>>>(x.data_ptr<float>(), x.data_ptr<float>(), 4);"
SHAPE = (
    "struct Shape { int h, w; int size() const { return h * w; } void grow(int by) { h += by; } int& width() { return w; }\n"
    "  Shape doubled() const { Shape s{2 * h, w}; return s; } int* at() { return &h; } };\n"
)
BOX = (
    "class Box { int n_; int m_ = 3; public: Box(int n) : n_(n) { m_ *= 2; } explicit Box(int a, int b) : n_(a + b) {}\n"
    "  int count() const { return n_ * m_; } void set(int n) { this->n_ = n; } int twice() { set(2 * n_); return count(); } };\n"
)
FOLLOWED = {
    "a method": (SHAPE, "Shape s{2, 5}; int q = s.size();", "10"),
    "a method that changes its object": (SHAPE, "Shape s{2, 5}; s.grow(1); int q = s.size();", "15"),
    "through a pointer": (SHAPE, "Shape s{2, 5}; Shape* p = &s; p->grow(2); int q = s.size();", "20"),
    "of a temporary": (SHAPE, "int q = Shape{2, 5}.doubled().size();", "20"),
    "of a member": (SHAPE + "struct Two { Shape a, b; };", "Two t{{1, 2}, {3, 4}}; t.b.grow(1); int q = t.b.size() + t.a.size();", "18"),
    "of an element": (SHAPE, "Shape s[2] = {{1, 2}, {3, 4}}; s[1].grow(1); int q = s[1].size();", "16"),
    "a constructor": (BOX, "Box b(4); int q = b.count();", "24"),
    "another constructor": (BOX, "Box b(4, 1); int q = b.count();", "15"),
    "a method that calls others": (BOX, "Box b(4); int q = b.twice(); q += b.count();", "96"),
    "a copy": (BOX, "Box b(4); Box c = b; c.set(1); int q = b.count() + c.count();", "30"),
    "a lambda in a method": (
        "struct L { int n; int f() { auto g = [&] { n += 1; return n; }; g(); return g(); } };", "L l{3}; int q = l.f(); q += l.n;", "10"),
    "a static method": ("struct S { static int two(int a) { return 2 * a; } };", "S s; int q = s.two(4) + S::two(1);", "10"),
    "a template": ("template <class T> struct V { T a; T get() const { return a; } };", "V<long> v{7}; int q = v.get();", "7"),
    "a conversion": ("struct W { int v; operator int() const { return v + 3; } };", "W w{4}; int q = w; q += (int)w; if (w) q++;", "15"),
    "members by default": ("struct C { int n; int b = 5; }; struct D { C c; int z; };", "C c{7}; C e; D d{{1}}; int q = c.b + c.n + e.b + d.z + d.c.b;", "22"),
    "members by name": ("struct C { int n; int b; int c = 9; };", "C c{.b = 7}; C e{.n = 2, .c = 3}; int q = c.n + c.b + c.c + e.n + e.b + e.c;", "21"),
    "a narrower member": ("struct C { signed char n; };", "int w = 300; C c{(signed char)w}; C e{w}; int q = c.n + e.n;", "88"),
    "a parameter": (SHAPE + "int f(const Shape& s) { return s.size(); }", "Shape s{2, 5}; int q = f(s);", "10"),
    "a changed parameter": (SHAPE + "void f(Shape& s) { s.grow(1); }", "Shape s{2, 5}; f(s); int q = s.size();", "15"),
}  # fmt: skip
NOT_CLAIMED = {
    "a method of what a method returns": (
        "struct C { int n; C& add(int k) { n += k; return *this; } };", "C c{4}; c.add(3).add(5); int q = c.n;", "7"),
    "a const name of a member of what a function returns": (
        "struct C { int n; }; C g{4}; C& get() { return g; }", "g.n = 4; const int& r = get().n; g.n = 100; int q = r;", "4"),
    "a conversion with an effect": (
        "int g = 4; struct W { int v; operator int() const { g = 100; return v; } };", "g = 4; W w{1}; int z = w; int q = g;", "4"),
    "a member by default that others make": ("struct C { int n; int b = n + 96; };", "C c{4}; int q = c.b;", "96"),
    "a reference that a method returns": (SHAPE, "Shape s{2, 5}; s.width() = 100; int q = s.size();", "10"),
    "a name of what a method returns": (SHAPE, "Shape s{2, 5}; int& w = s.width(); w = 100; int q = s.size();", "10"),
    "a pointer that a method returns": (SHAPE, "Shape s{2, 5}; *s.at() = 100; int q = s.size();", "10"),
    "an object that points to itself": (
        "struct P { int v; int* p; P(int n) : v(n), p(&v) {} };", "P s(4); *s.p = 100; int q = s.v;", "4"),
    "an object that points to itself, handed out": (
        "struct P; P* last; struct P { int v; P(int n) : v(n) { last = this; } };", "P s(4); last->v = 100; int q = s.v;", "4"),
    "an object made in a function that points to itself": (
        "struct P { int v; int* p; }; P make() { P s{4}; s.p = &s.v; return s; }", "P s = make(); *s.p = 100; int q = s.v;", "4"),
    "a base's member of the same name": (
        "struct B { int n; }; struct D : B { int n; };", "D d; d.n = 4; static_cast<B&>(d).n = 100; d.n += 0; int q = d.B::n;", "4"),
    "members of two bases": (
        "struct A { int n; }; struct B { int n; }; struct D : A, B {};", "D d; d.A::n = 100; d.B::n = 4; int q = d.A::n;", "4"),
    "a base's method": (
        "struct B { int n; void set(int a) { n = a; } }; struct D : B { };", "D d; d.n = 4; d.set(100); int q = d.n;", "4"),
    "a virtual method": (
        "struct B { virtual int f() const { return 4; } }; struct D : B { int f() const override { return 100; } };"
        "int f(const B& b) { return b.f(); }", "D d; int q = f(d);", "4"),
    "a mutable member": (
        "struct M { mutable int n; int bump() const { n = 100; return 0; } };",
        "M m{4}; int q = 4; for (int i = 0; i < x.size(0); ++i) { q = m.n; CALL m.bump(); }", "4"),
    "const cast away": (
        "struct M { int n; int bump() const { const_cast<M*>(this)->n = 100; return 0; } };",
        "M m{4}; int q = 4; for (int i = 0; i < x.size(0); ++i) { q = m.n; CALL m.bump(); }", "4"),
    "a method in a loop": (
        SHAPE, "Shape s{2, 2}; int q = 4; for (int i = 0; i < x.size(0); ++i) { q = s.size(); CALL s.grow(1); }", "4"),
    "a loop in a method": (
        "struct M { int n; void run(torch::Tensor x) { for (int i = 0; i < x.size(0); ++i) { int q = n; CALL n = 100; } } };",
        "M m{4}; m.run(x); int q = m.n;", "4"),
    "a pointer in a loop of a method": (
        "struct M { int* p; void run(int m) { for (int i = 0; i < m; ++i) *p = 100; } };",
        "int q = 4; M m{&q}; m.run(x.size(0));", "4"),
    "an address in a loop of a method": (
        "struct M { int n; void run(int m) { int* w = nullptr; for (int i = 0; i < m; ++i) w = &n; if (w) *w = 100; } };",
        "M m{4}; m.run(x.size(0)); int q = m.n;", "4"),
    "this handed on": (
        "struct M { int n; void run(int m) { for (int i = 0; i < m; ++i) set(this); } static void set(M* p) { p->n = 100; } };",
        "M m{4}; m.run(x.size(0)); int q = m.n;", "4"),
    "a lambda with this, later": (
        "struct M { int n; auto later() { return [this] { n = 100; }; } };", "M m{4}; auto f = m.later(); f(); int q = m.n;", "4"),
    "a lambda with this, for a library": (
        "struct M { int n; void run(std::vector<int> v) { std::for_each(v.begin(), v.end(), [this](int a) { n = 100; }); } };",
        "M m{4}; m.run({1, 2}); int q = m.n;", "4"),
    "a member's constructor": (
        "int g = 4; struct M { M() { g = 100; } }; struct S { M m; };", "S s; int q = g;", "4"),
    "a member's initialiser": (
        "int g = 4; int set() { return g = 100; } struct S { int a = set(); };", "S s; int q = g;", "4"),
    "a destructor": ("int g = 4; struct S { ~S() { g = 100; } };", "{ S s; } int q = g;", "4"),
    "a copy constructor": (
        "struct S { int n; S(int a) : n(a) {} S(const S& o) : n(100) {} };", "S s(4); S t = s; int q = t.n;", "4"),
    "an assignment": (
        "struct S { int n; S(int a) : n(a) {} S& operator=(const S& o) { n = 100; return *this; } };",
        "S s(7), t(4); s = t; int q = s.n;", "4"),
    "a parameter that is another name": (
        "struct S { int n; int set(const int& a) { n = 100; return a; } };", "S s{4}; int q = s.set(s.n);", "4"),
    "an initialiser's order": ("struct S { int a, b; S(int n) : b(n), a(b) {} };", "S s(4); int q = s.a;", "4"),
    "a delegating constructor": (
        "struct S { int n; S(int a, int b) : n(a * b) {} S(int a) : S(a, 25) {} };", "S s(4); int q = s.n;", "4"),
}  # fmt: skip


def grids(before: str, body: str, main: bool) -> list[str]:
    """What the launches claim; none if something was refused. ``main``: in a program, which knows its globals."""
    call = LAUNCH.replace("x.data_ptr<float>()", "nullptr") if main else LAUNCH
    head = "int main() { torch::Tensor x;" if main else "void run(torch::Tensor x) {"
    text = f"{KERNEL}{before}\n{head} {body} CALL }}\n".replace("CALL", call)
    found = lift(text)
    assert found.contracts or found.problems
    return [] if found.problems else [c.launch.grid[0] for c in found.contracts if not c.gaps]


@pytest.mark.parametrize("which", FOLLOWED)
def test_what_is_followed(which: str) -> None:
    before, body, grid = FOLLOWED[which]
    assert grids(before, body, False) == [grid]


@pytest.mark.parametrize("main", [False, True])
@pytest.mark.parametrize("which", NOT_CLAIMED)
def test_what_is_not_claimed(which: str, main: bool) -> None:
    before, body, wrong = NOT_CLAIMED[which]
    assert wrong not in grids(before, body, main)
