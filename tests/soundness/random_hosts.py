"""Random launchers: ints of every type, references, helpers, lambdas, loops and checks on the way to one launch each.

The contract oracle (benchmarks/contract_oracle.py) lifts their contracts, runs them with g++ and compares.
"""

from __future__ import annotations

import random
import textwrap

HEADER = """#include <torch/extension.h>
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>
#define CEIL(a, b) (((a) + (b) - 1) / (b))
#define TWICE(v) v + v
constexpr int TILE = 16;
static const int64_t LIMIT = 1 << 10;
__global__ void k(const float* x, float* y, int a, int64_t b, unsigned c) { }
static int add_one(int v) { return v + 1; }
static short narrow(int64_t v) { return v; }
static void grow(int& v, int by = 3) { v += by; }
static void set_to(int64_t* v, int64_t to) { *v = to; }
static int& itself(int& v) { return v; }
static int& larger(int& a, int& b) { return a < b ? b : a; }
static int through(const int& a, int& b) { b = b + 1; return a; }
template <typename T> T half_of(T v) { return v / 2; }
template <typename T> void bump(T& v) { ++v; }
template <typename F> int applied(F f, int v) { return f(v); }
struct Pair { int a; int64_t b; int sum() const { return a + (int)b; } void inc() { a++; } };
struct Ref { int& r; };
static Pair paired(int a) { Pair p; p.a = a; p.b = a * 2; return p; }
static void fill(Pair& p, int v) { p.a = v; p.b += v; }
static int counted(int n) { int c = 0; for (int i = 0; i < n && i < 5; ++i) c += i; return c; }
static std::pair<int, int> split(int v) { return {v / 3, v % 3}; }
class Box {
  int n_; int m_ = 3; int *seen_ = nullptr;
public:
  Box(int n) : n_(n) { m_ *= 2; }
  Box(int a, int* p) : n_(a), seen_(p) {}
  int count() const { return n_ * m_; }
  void set(int n) { this->n_ = n; if (seen_) *seen_ += 1; }
  int twice() { set(2 * n_); return count(); }
  int& inside() { return n_; }
  Box& add(int k) { n_ += k; return *this; }
  Box more(int k) const { Box b = *this; b.n_ += k; return b; }
  int rounds(int n) { for (int i = 0; i < n && i < 4; ++i) { n_++; if (seen_) *seen_ += i; } return n_; }
  auto later() { return [this](int k) { n_ += k; return n_; }; }
  operator int() const { return n_ + 1; }
};
struct Opts { int block = 256; int n; int64_t total = 5; Pair p; };
struct Base { int n = 1; void up() { n++; } };
struct Derived : Base { int n = 2; int all() const { return n * 10 + Base::n; } };
template <int B> struct Grid { int n; int blocks() const { return (n + B - 1) / B; } };
static int of_box(const Box& b, int k) { return b.count() + k; }
static void change(Box& b) { b.set(b.count() + 1); }
enum Mode { FIRST = 1, SECOND = 5, THIRD };
"""

TYPES = (
    "int",
    "int",
    "int64_t",
    "unsigned",
    "short",
    "unsigned char",
    "size_t",
    "signed char",
    "uint16_t",
    "auto",
    "bool",
    "long",
)
"""Types of new variables."""

STATEMENTS = """
{I} += {E};
{I} -= {c};
{I} *= {c};
{I} /= {p};
{I} %= {p};
{I} <<= 1;
{I} >>= 1;
{I} ^= {c};
{I} = {E};
{I}++;
--{I};
{I} = {I}++ + {c};
grow({i});
grow({i}, {E});
grow(itself({i}), {c});
itself({i}) += {c};
itself({i}) = {E};
larger({i}, {i}) = {E};
larger({i}, {i})++;
set_to(&{l}, {E});
bump({I});
{I} = through({i}, {i});
std::swap({i}, {i});
std::swap({l}, {l});
int& @r = {i}; @r += {c};
auto& @r = {I}; @r = {E};
const int& @r = {i}; {i} += 2; {I} = @r;
int* @p = &{i}; *@p += {c};
int* @p = {B} ? &{i} : &{i}; *@p = {c};
int64_t* @p = &{l}; (*@p)++; {I} = *@p;
auto @f = [&](int q) { {i} += q; }; @f({c});
auto @f = [=](int q) { return q + {i}; }; {I} = @f({c}); {I} += 1; {I} = @f(0);
auto @f = [&] { return {i} + 1; }; {i} += {c}; {I} = @f();
auto @f = [{i}](int q) mutable { {i} += q; return {i}; }; {I} = @f({c}) + @f(1);
auto @f = [v = {E}](int64_t q) { return q + v; }; {I} = @f({c});
std::function<int(int)> @f = [&](int q) { return q * {i}; }; {I} = @f({c});
{I} = applied([&](int q) { {i}++; return q; }, {c});
{I} = applied(add_one, {c});
{I} = applied([](int q) -> short { return q; }, {E});
Pair @s; @s.a = {E}; @s.b = {E}; @s.inc(); {I} = @s.sum();
Pair @s{{c}, {E}}; fill(@s, {c}); {I} = @s.b;
Pair @s = paired({c}); Pair @t = @s; @t.a = 1; {I} = @s.a + @t.a;
Box @b({E}); {I} = @b.count() + {c};
Box @b({c}, &{i}); @b.set({E}); {I} += @b.count();
Box @b({c}, &{i}); {I} = @b.twice(); {I} += @b.count();
Box @b({c}); @b.inside() = {E}; {I} = @b.count();
Box @b({c}); @b.add({c}).add({c}); {I} = @b.count();
Box @b({c}); {I} = @b.more({c}).count() + @b.count();
Box @b({c}, &{i}); {I} += @b.rounds({i});
Box @b({c}); auto @f = @b.later(); @f({c}); {I} = @b.count();
Box @b({c}); Box @t = @b; @t.set({E}); {I} = @b.count() - @t.count();
Box @b({c}); Box& @t = @b; @t.set({E}); {I} = @b.count();
Box @b({c}); Box* @t = &@b; @t->set({E}); {I} = @b.count();
Box @b({c}); {I} = @b; {I} += @b * {c};
Box @b({c}); change(@b); {I} = of_box(@b, {c});
Box @b({c}, &{i}); for (int @j = 0; @j < x.dim(); ++@j) @b.set(@j); {I} = @b.count();
Opts @o; @o.n = {E}; {I} = @o.block + @o.n;
Opts @o{{c}}; {I} = @o.n + @o.total;
Opts @o{.n = {E}, .total = 4}; {I} = @o.n * 2 + @o.block + @o.total;
Opts @o{.block = {c}, .p = {.b = 7}}; {I} = @o.p.b + @o.p.a + @o.block;
Opts @o{}; @o.p.inc(); @o.p.b = {E}; {I} = @o.p.sum();
Derived @t; @t.up(); @t.n += {c}; {I} = @t.all();
Derived @t; static_cast<Base&>(@t).n = {c}; {I} = @t.n + @t.all();
Grid<16> @g{{E}}; {I} = @g.blocks();
const int& @r = std::min({i}, {i}); {i} += {c}; {I} = @r;
const int& @r = std::max({i}, {c}); {I} = @r;
int @w[3] = {1, 2, {E}}; 1[@w] += {c}; {I} = @w[1] + 2[@w];
std::string @t = std::to_string({I}++); {I} += @t.empty();
std::vector<int> @v = {1, 2}; {I} = std::accumulate(@v.begin(), @v.end(), 0, [&](int a, int b) { {i}++; return a + b; });
std::pair<int&, int> @q({i}, 1); @q.first += {c};
std::tuple<int&> @q({i}); std::get<0>(@q) = {c};
int @w[2] = {}; (@w[0] = {c}, @w)[1] = {E}; {I} = @w[0] + @w[1];
{I} = std::min({i}, {c}) + ({B} && ({i} += {c}) > 0);
Ref @s{{i}}; @s.r += {c};
Ref @s{{i}}; grow(@s.r);
auto [@a, @b] = split({E}); {I} = @a + @b;
std::tie({i}, {i}) = split({E});
auto @s = std::make_pair({E}, {E}); @s.first += 1; {I} = @s.first + @s.second;
auto @s = std::make_tuple({i}, {l}); std::get<0>(@s) = {c}; {I} = std::get<0>(@s);
std::vector<int> @v = {{c}, {E}}; @v.push_back({c}); {I} = @v.back() + @v[0];
std::vector<int64_t> @v(3, {E}); @v[1] = {c}; {I} = @v[1] + @v.size();
std::array<int, 2> @v = {{c}, {c}}; @v[1] += 2; {I} = @v[1];
std::vector<int64_t> @v; for (int @j = 0; @j < 3; ++@j) @v.push_back(@j * {c}); {I} = @v[2];
std::vector<int> @v = {1, 2, 3}; for (auto& @e : @v) @e *= {c}; {I} = @v[2];
std::vector<int> @v = {1, 2, 3}; for (auto @e : @v) {I} += @e;
auto @v = x.sizes().vec(); @v.push_back({c}); {I} = @v.back() + @v.size();
int @w[3] = {{c}, {E}, 2}; @w[1]++; {I} = @w[1];
int @w[2] = {}; @w[{c} & 1] = {E}; {I} = @w[0] + @w[1];
static int @z = 3; {I} += @z;
int @x = {E}, @y = @x + 1; {I} = @x * @y;
TORCH_CHECK({B}, "no");
TORCH_CHECK({B} && {B});
TORCH_CHECK(x.dim() == 2 || {B}, "no");
if ({B}) return y;
if ({B}) {I} = {E};
if ({B}) { {I} = {E}; } else { {I} += {c}; }
if (int @q = {E}) {I} += @q;
if ({B}) { int {i} = {c}; grow({i}); }
switch ({E} & 3) { case 0: {I} += 1; case 1: {I} = {c}; break; case 2: {I}--; break; default: {I} += 5; }
switch ({i}) { case FIRST: {I} = 1; break; case SECOND: case THIRD: {I} = SECOND; }
for (int @j = 0; @j < {c}; ++@j) {I} += @j;
for (int @j = 0; @j < {i} && @j < 4; ++@j) {I}++;
for (int @j = {c}; @j > 0; @j /= 2) {I} += 2;
for (int @j = 0; @j < 3; ++@j) { if (@j == 1) continue; {I} += {c}; }
for (int @j = 0; @j < 5; ++@j) { if ({B}) break; {I} += {c}; }
for (int @j = 0; @j < x.dim(); ++@j) {I} += x.size(@j);
for (int @j = 0; @j < {i}; ++@j) { itself({i}) = {c}; if (@j > 3) break; }
for (int @j = 0; @j < 2; ++@j) { auto @f = [&] { {i}++; }; @f(); }
for (int @j = 0; @j < 2; ++@j) { Ref @s{{i}}; @s.r++; }
for (int @j = 0; @j < 2; ++@j) { int* @p = &{i}; *@p += @j; }
for (int @j = 0; @j < x.dim(); ++@j) { int& @r = {i}; @r++; }
for (int @j = 0; @j < x.dim(); ++@j) { std::swap({i}, {i}); }
for (int @j = 0; @j < x.dim(); ++@j) { std::tie({i}, {i}) = split(@j); }
for (int @j = 0; @j < x.dim(); ++@j) larger({i}, {i}) += 2;
for (int @j = 0; @j < x.dim(); ++@j) grow(larger({i}, {i}));
for (int @j = 0; @j < x.dim(); ++@j) bump(itself({i}));
for (int @j = 0; @j < x.dim(); ++@j) ({B} ? {i} : {i}) += 1;
for (int @j = 0; @j < x.dim(); ++@j) (({i} += 1), {c});
while ({I} > 100) {I} /= 2;
while ({i} < {c}) {i} += 3;
do { {I} += 1; } while ({i} < 0);
int @n = 0; for (auto @e : x.sizes()) @n += @e > 1; {I} = @n;
({B} ? {i} : {i}) = {E};
({i} += {c}) += 1;
++({i} = {E});
{ int {i} = {E}; {I} += {i}; }
{ auto {i} = {l}; {i} += {E}; }
auto @o = {B} ? std::optional<int>({E}) : std::nullopt; {I} = @o.value_or({c});
int @g = 0; for (; @g < 10; @g += 3) { } {I} = @g;
try { TORCH_CHECK({B}); {I} += {c}; } catch (...) { throw; }
""".strip().split("\n")

EXPRESSIONS = """
{I}
{c}
x.numel()
x.size(0)
x.size(-1)
x.dim()
x.stride(0)
w.numel()
({E} + {E})
({E} - {E})
({E} * {E})
({E} / {p})
({E} % {p})
(-{E} / {p})
(-{E} % {p})
({E} >> {s})
({E} << {s})
(unsigned)({E}) >> {s}
({E} & {c})
({E} | {c})
({E} ^ {c})
~{E}
-{E}
+{E}
!{E}
({B} ? {E} : {E})
({B} && {B})
({E} < {E})
({E} == {E}) + {E}
std::min<int>({E}, {c})
std::max<int64_t>({E}, {c})
std::min({i}, {i})
std::max({i}, {c})
std::min({{i}, {i}, {c}})
std::abs({i})
std::clamp<int>({i}, 0, {p})
(int)({E})
(short)({E})
(unsigned)({E})
(unsigned char)({E})
(int64_t)({E})
(size_t)({E})
(bool)({E})
static_cast<int>({E})
static_cast<uint8_t>({E})
int64_t{1} * {i}
(int)({E} * 0.5)
(int)std::ceil({E} / 4.0)
(int)std::ceil((float){i} / {p})
(int)ceil({i} / {p})
(int)std::sqrt({p})
CEIL({E}, {p})
CEIL({i}, TILE)
TWICE({i}) * 2
TILE * {i}
LIMIT
+SECOND
THIRD + {i}
sizeof(float)
sizeof({i}) * {i}
add_one({E})
narrow({E})
half_of({I})
half_of<short>({E})
counted({i})
itself({i})
split({E}).first
paired({c}).b
({i} = {c})
({i}++, {i})
{i}++ * 2
[&] { return {E}; }()
[](int q) { return q * 2; }({E})
(1 << ({E} & 7))
(1u << ({E} & 15))
'a'
0x10
1000000007
2147483647
-2147483648
3000000000
4294967295u
true
""".strip().split("\n")

CONDITIONS = """
{E} > {c}
{E} < {E}
{i} == {c}
{I} != {I}
{i} % 2
x.dim() == 2
x.dim() > {p}
x.is_contiguous()
w.dim() == 1
x.size(0) == w.numel()
x.sizes() == w.sizes()
x.scalar_type() == torch::kFloat
!({B})
({B} && {B})
({B} || {B})
b
b && {i} > 0
(unsigned){i} < {p}
{i} < 4u
({i} & 1) == 0
{E} <= {l}
{i}
0 < {i} < 3
({i} = {c})
{i}++ < {c}
""".strip().split("\n")

OUTPUTS = """
torch::empty_like(x)
torch::empty({{E}}, x.options())
torch::empty({x.size(0), {c}}, x.options())
torch::zeros({{i} & 63, {p}}, x.options())
torch::zeros_like(x)
x.clone()
x
x.contiguous()
x.reshape({-1})
x.view({-1, {p}})
torch::empty({x.size(0), w.size(0)}, x.options().dtype(torch::kFloat))
torch::empty(x.sizes(), x.options())
x.transpose(0, 1)
x.t().contiguous()
x[1]
x.slice(0, 1)
x.unsqueeze({c})
x.flatten()
x.sum(0)
x.expand({{p}, -1})
x + x
""".strip().split("\n")


class Maker:
    """Launchers from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.ints: list[str] = []
        self.longs: list[str] = []
        self.others: list[str] = []
        self.made = 0

    def launcher(self, name: str) -> str:
        r = self.rng
        self.ints, self.longs, self.others, self.made = ["m", "m"], ["n"], [], 0
        body: list[str] = []
        for _ in range(r.choice((1, 1, 2, 2, 3))):
            body.append(self.statement())
        grid = r.choice(
            (
                "1",
                "1",
                f"std::max<int>(1, {self.integer(1)})",
                f"CEIL({self.integer(1)}, 32)",
                f"dim3({self.integer(1)}, 2)",
            )
        )
        scalars = ", ".join(
            r.choice(self.ints * 2 + self.longs + self.others + [self.integer(1)]) for _ in range(3)
        )
        shared = r.choice(("0", "0", "m * sizeof(float)"))
        made = self.filled(r.choice(OUTPUTS), 1)
        lines = [
            f"torch::Tensor {name}(torch::Tensor x, torch::Tensor w, int64_t n, int m, bool b) {{",
            "  auto y = torch::empty_like(x);",
            *(textwrap.indent(line, "  ") for line in body),
            f"  auto o = {made};" if r.random() < 0.5 else "  auto o = y;",
            f"  k<<<{grid}, 32, {shared}>>>({r.choice(('x', 'x', 'w', 'o'))}.data_ptr<float>(), o.data_ptr<float>(), {scalars});",
            "  return y;",
            "}",
        ]
        return "\n".join(lines)

    def statement(self) -> str:
        r = self.rng
        if r.random() < 0.35:
            self.made += 1
            type_, name = r.choice(TYPES), f"v{self.made}"
            text = f"{type_} {name} = {self.integer(2)};"
            wide = {"int": self.ints, "int64_t": self.longs}.get(type_, self.others)
            wide.append(name)
            return text
        return self.filled(r.choice(STATEMENTS), 1)

    def integer(self, depth: int) -> str:
        return self.filled(self.rng.choice(EXPRESSIONS[: None if depth else 7]), depth - 1)

    def filled(self, text: str, depth: int) -> str:
        self.made += 1
        for letter in "abefgjnopqrstvwxyz":
            text = text.replace(f"@{letter}", f"{letter}_{self.made}")
        out, at = "", 0
        while at < len(text):
            key = text[at : at + 3]
            if len(key) == 3 and key[0] == "{" and key[2] == "}" and key[1] in "IilEcpsB":
                out += self.hole(key[1], depth)
                at += 3
            else:
                out += text[at]
                at += 1
        return out

    def hole(self, kind: str, depth: int) -> str:
        r = self.rng
        match kind:
            case "I":
                return r.choice([*self.ints, *self.longs, *self.others])
            case "i":
                return r.choice(self.ints)
            case "l":
                return r.choice(self.longs)
            case "c":
                return str(r.choice((0, 1, 1, 2, 3, 4, 7, 8, 16, 100)))
            case "p":
                return str(r.choice((1, 2, 3, 4, 7, 8, 32)))
            case "s":
                return str(r.choice((1, 2, 3, 8, 31)))
            case "B":
                return self.filled(r.choice(CONDITIONS[: None if depth > 0 else 9]), depth - 1)
        if depth < 0 or r.random() < 0.3:
            return r.choice([*self.ints, *self.longs, *self.others, "3", "x.size(0)"])
        return self.integer(depth)


def program(seed: int, count: int) -> str:
    maker = Maker(seed)
    return HEADER + "\n".join(maker.launcher(f"f{i}") for i in range(count)) + "\n"
