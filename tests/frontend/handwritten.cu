// Functions in the common subset of CUDA and C++; each kernel takes (out, a, b). Read by test_semantics.py.
struct Pair { int x; long long y; };
struct Box { short v[3]; Pair p; int k = 7; __device__ Box() : p{1, 2} { v[0] = v[1] = 0; v[2] = 5;
    }
  __device__ int total() const { return v[0] + v[1] + v[2] + p.x + (int)p.y + k; }
  __device__ short &at(int i) { return v[i]; }
  __device__ Box plus(int d) const { Box r = *this; r.p.x += d; return r; } };
struct Base { int z; __device__ void bump() { z += 3; } };
struct Derived : Base { int w; __device__ int both() { bump(); return z * w; } };
union Word { unsigned u; unsigned char c[4]; };
template <class T, int N> struct Array { T d[N]; static constexpr int size = N;
  __device__ T &operator[](int i) { return d[i]; }
  __device__ T sum() const { T s = 0; for (int i = 0; i < N; ++i) s += d[i]; return s; } };
enum Color { RED, GREEN = 10, BLUE };
static const int table[4] = {3, -1, 40};
constexpr long long LIMIT = 1LL << 33;

__device__ void swap_ints(int &x, int &y) { int t = x; x = y; y = t; }
__device__ void through(int *p, int n) { for (int i = 0; i < n; i++) *p++ += i; }
template <class F> __device__ int repeat(F f, int n) { int r = 0; while (n-- > 0) r = f(r);
    return r; }
__device__ int pick(int v) { switch (v & 7) { case 0: return 1; case 1: v += 2; case 2: v *= 3;
    break; case 5: return v; default: v = -v; } return v; }
__device__ Pair make(int a, int b) { if (a < b) return {a, b}; Pair p; p.x = b;
    p.y = (long long)a << 32; return p; }
__device__ int nested(int n) { int c = 0; for (int i = 0; i < 4; i++) { for (int j = 0; j < 4;
    j++) { if (j == n) continue; if (i + j > 5) break; if (c > 20) return c * 2; c += i * j + 1; } }
    return c; }

struct Defaults { int a; int b = 5; };
struct Nested { int n; int m = n + 1; Defaults in; };
struct Counted { int *c; int k = 2; __device__ Counted(int *q, int by) : c(q) { *c += by; } };
struct Owner : Counted { int m; Defaults d; __device__ Owner(int *q, int by) : m(by * 2), Counted(q, by + 1), d{by} {
    *q *= 3; } };
struct Halves { int lo = 1, hi; __device__ Halves(int x, int y) : hi(y) { lo += x; } __device__ Halves(int x)
    : Halves(x, x + 1) { hi *= 2; } };
struct Started { int v = 9; __device__ Started() { v += 1; } };
struct Late : Started { int w = v * 2; };
struct Late2 : Started { int w; __device__ Late2(int k) : w(v + k) {} };
struct Inner { Started s; int z; __device__ Inner(int k) : z() { z += k; } };
struct Listed : Defaults { int e; __device__ Listed(int k) : Defaults{k}, e(b) {} };
struct Point { int x, y; __device__ Point(int r = 1, int i = 2) : x(r), y(i) {} };
struct Segment { Point from; Point to = 7; };
struct Maker { int a = 100; __device__ int make(int k); };
struct Follows { int a; int b = a + 1; __device__ Follows(int k) : a(k) {} };
__device__ int Maker::make(int k) { Follows f(k); return f.b * 10 + a; }

__global__ void structs(long long *out, int a, int b) { Pair p = {a, b}; Pair q = p; q.x++;
    p.y -= q.x; out[0] = p.x * 3 + p.y + q.x * q.y; }
__global__ void boxes(long long *out, int a, int b) { Box x; x.at(1) = a; x.v[b & 1] += 4;
    Box y = x.plus(b); out[0] = x.total() * 1000LL + y.total(); }
__global__ void bases(long long *out, int a, int b) { Derived d; d.z = a; d.w = b; Derived e = d;
    out[0] = d.both() + e.z; }
__global__ void unions(long long *out, int a, int b) { Word w; w.u = (unsigned)a; w.c[b & 3] = 200;
    out[0] = w.u; }
__global__ void arrays(long long *out, int a, int b) { Array<int, 5> r; for (int i = 0; i < r.size;
    ++i) r[i] = a + i * b; Array<int, 5> s = r; s[2] = 0; out[0] = r.sum() * 7LL - s.sum(); }
__global__ void grid(long long *out, int a, int b) { int m[3][4] = {{1, 2}, {3}, {4, 5, 6, 7}};
    m[a & 1][b & 3] += a; long long s = 0; for (auto i = 0u; i < 12;
    i++) s = s * 3 + m[i / 4][i % 4]; out[0] = s; }
__global__ void elided(long long *out, int a, int b) { Pair p[2] = {1, 2, a, b};
    int m[2][2] = {a, b, 3};
    out[0] = p[0].x + p[0].y * 10 + p[1].x * 100 + p[1].y * 1000 + m[0][1] - m[1][1] + m[1][0]; }
__global__ void references(long long *out, int a, int b) { int x = a, y = b; swap_ints(x, y);
    int v[3] = {x, y, 1}; int i = 1; int &r = v[i]; i = 0; r += 5; swap_ints(v[i], v[2]);
    out[0] = v[0] * 100LL + v[1] * 10 + v[2] + x; }
__global__ void pointers(long long *out, int a, int b) { int v[6] = {0, 1, 2, 3, 4, 5};
    through(v + 1, 4); int *p = &v[5]; *--p = a; p[-2] -= b; const int *e = v + 6;
    long long s = e - p; for (const int *q = v; q != e; ++q) s = s * 5 + *q; out[0] = s; }
__global__ void address(long long *out, int a, int b) { int x = a; int *p = &x; *p += b;
    through(&x, 1); if (p && x != a) x++; out[0] = x; }
__global__ void lambdas(long long *out, int a, int b) { int n = 0; auto inc = [&](int d) { n += d;
    if (n > 50) return n - 50; return n; }; auto copy = [=](int v) { return v * b + n; };
    inc(a & 63); out[0] = repeat(inc, 3) * 1000LL + copy(2) + n; }
__global__ void generic(long long *out, int a, int b) { auto add = [](auto x, auto y) {
    return x + y; }; out[0] = add(a, (long long)b) + add((short)a, (unsigned char)b); }
__global__ void switches(long long *out, int a, int b) { long long s = 0; for (int i = 0; i < 9;
    i++) s = s * 7 + pick(a + i) ; out[0] = s + b; }
__global__ void returned(long long *out, int a, int b) { Pair p = make(a, b), q = make(b, a);
    out[0] = p.x ^ p.y ^ (q.x + 3 * q.y); }
__global__ void loops(long long *out, int a, int b) { out[0] = nested(a & 7) * 100 + nested(b & 3);
    }
__global__ void constants(long long *out, int a, int b) {
    out[0] = table[a & 3] + LIMIT + BLUE * b + (GREEN > a) + sizeof(Pair) + 'c'; }
__global__ void effects(long long *out, int a, int b) { int i = 0, v[8] = {0}; v[i++] = i;
    v[i++] += a; v[++i] = b--; int x = (i += 2, v[i & 7]); x += v[0] = b; v[i] = i = 1;
    out[0] = v[0] + v[1] * 3LL + v[3] * 5LL + x + i + (v[1] && ++i) + (b > 0 || i++) + i; }
__global__ void conditional(long long *out, int a, int b) { int v[2] = {a, b};
    int &m = v[0] < v[1] ? v[0] : v[1]; m = 9; long long r = a > b ? (short)a : 7u;
    Pair p = a & 1 ? Pair{1, 2} : make(a, b); out[0] = v[0] + v[1] * 3LL + r + p.x + p.y; }
__global__ void bits(long long *out, int a, int b) { unsigned u = a;
    unsigned long long w = (unsigned long long)b << 20 | u; short s = (short)(a << 3); s >>= 1;
    unsigned char c = ~a; c <<= 1;
    out[0] = (long long)(w >> 5) ^ s ^ c ^ (a >> 31) ^ (u >> 31) ^ -(b & 1) ^ !a; }
__global__ void bools(long long *out, int a, int b) { bool p = a, q = b > 3; p |= q; q &= a;
    bool r = p ^ q; int n = p + q + r; r = n;
    out[0] = n * 8 + r * 4 + p * 2 + q + (a && b) + (p == q); }
__global__ void punned(long long *out, int a, int b) { float f = 1.5f;
    int i = reinterpret_cast<int &>(f); unsigned u; memcpy(&u, &f, sizeof u);
    out[0] = (long long)i * 2 + u + (int)(f * (a & 255)) + (long long)(b / 2.0); }
__global__ void minima(long long *out, int a, int b) {
    out[0] = min(a, b) * 3LL + max(a, 5) - min(7u, (unsigned)b); }
__global__ void dowhile(long long *out, int a, int b) { int n = a & 15, s = 0; do { s += n;
    if (n == 3) continue; if (n == 12) break; s *= 2; } while (--n > 0); do { s ^= b; } while (0);
    out[0] = s; }
__global__ void shadow(long long *out, int a, int b) { int x = a; { int x = b; x++; a += x; }
    for (int x = 0; x < 3; x++) { int a = x; b += a; } out[0] = x + a * 3LL + b * 5LL; }
union Quad { int i; unsigned char part4[4]; };
struct Tagged { union { int whole; unsigned char part[4]; }; struct { short low, high; }; int rest = 5; };
struct Holder { int v[3]; __device__ Holder(int a) : v{a, a + 1, a + 2} {} };
__device__ int &larger(int *v, int k) { if (v[0] > v[1]) return v[0]; if (k & 1) return v[2]; return v[1]; }
__device__ int counted(int a) { static const int weights[3] = {2, 3, 5}; return weights[a % 3 & 1] * a; }
__global__ void ranged(long long *out, int a, int b) { int v[5] = {a, b, 3, a ^ b, -1}; long long s = 0;
    for (int x : v) { if (x == 3) continue; s = s * 3 + x; } for (auto &y : v) { y += a; if (y > b) break; }
    for (const int &z : v) s += z; for (short n : v) s ^= n; out[0] = s; }
__global__ void declaring(long long *out, int a, int b) { long long s = 0; int n = b & 7;
    if (int d = a - b) s += d; else s = d + 9; if (int e = a & 3; e > 1) s += e; else s -= e;
    while (int w = n--) s = s * 2 + w; for (int i = 0; int left = 4 - i; ++i) s += left * a;
    switch (int c = b & 3) { case 0: s += 1; break; case 2: s -= c; default: s ^= c; } out[0] = s; }
__global__ void united(long long *out, int a, int b) { Quad w = {a}; Tagged t; t.whole = b; t.part[1] = (unsigned char)a;
    t.low = (short)a; t.high = 7; Quad u; u.part4[0] = 1; u.part4[1] = 2; u.part4[2] = 3; u.part4[3] = 4;
    out[0] = w.part4[1] + 256LL * w.i + t.whole * 3LL + t.low + t.high + t.rest + u.i; }
__global__ void referring(long long *out, int a, int b) { int v[3] = {a, b, 5}; larger(v, a) = 100; larger(v, b) += 3;
    int &r = larger(v, 1); r ^= 6; Holder h(a); out[0] = v[0] + v[1] * 3LL + v[2] * 5LL + h.v[2] + counted(b & 255); }
__global__ void copied(long long *out, int a, int b) { int v[6] = {a, b, 1, 2, 3, 4}, w[6] = {0}; size_t n = (a & 3) + 3;
    memcpy(w, v, n); memcpy((char *)w + 9, (char *)v + 1, 5); memset(v, a, n); memset(w + 5, 0x81, 2);
    out[0] = v[0] + v[1] * 3LL + w[0] * 5LL + w[1] * 7LL + w[2] * 11LL + w[3] * 13LL + w[5]; }
typedef int (*Binary)(int, int);
__device__ int plus_(int x, int y) { return x + 2 * y; }
__device__ int minus_(int x, int y) { if (x > y) return x - y; return y; }
__device__ Binary chosen(int a) { return a & 1 ? plus_ : minus_; }
__device__ int twice(Binary f, int a) { return f(f(a, 1), a); }
__global__ void indirect(long long *out, int a, int b) { Binary f = a > b ? plus_ : minus_, g = 0; long long s = (*f)(a & 255, b & 255);
    if (!g) g = &plus_; s = s * 3 + g(a & 255, 7) + (f == g) + twice(minus_, a & 63) + twice(f, b & 63) + chosen(b)(a & 15, 2) + (a > 3 ? plus_ : minus_)(a & 7, 4);
    for (int i = 0; i < 3; i++) { s += f(i, b & 31); f = i ? minus_ : plus_; } out[0] = s; }
__device__ void filled(int row[4], int v) { row[v & 3] = v; *row += 2; *(row + 1) -= v; row++; row[2] = 9; (row + 1)[0] ^= 3; }
__device__ int summed(const int rows[][4], int i, int w[3]) { const int *r = rows[i & 1]; auto f = [=]() { return w[1] + 3 * rows[1][2]; };
    w += 1; int *v = i & 2 ? w : w + 1; int &first = *w; first += 5; const int (*next)[4] = rows + 1; int **at = &w; (*at)[0] *= 2;
    return r[3] + f() + v[0] + *w++ + (*next)[1] + 1[w] + (int)sizeof(w); }
__global__ void decayed(long long *out, int a, int b) { int m[2][4] = {{a, 1, 2, b}, {4, 5, 6, 7}}, w[4] = {a, b, 3, 4};
    filled(m[1], a); filled(w, b); out[0] = summed(m, a, w) + 2LL * summed(m, b, w) + m[0][0] + m[1][1] + w[0] + w[3]; }
__global__ void defaults(long long *out, int a, int b) { Defaults p{a}, q = {}, r[3] = {{a}, {1, b}};
    Nested n{b}, m = Nested(); out[0] = p.a + p.b * 10 + q.b * 100 + r[0].b * 1000 + r[1].b + r[2].b * 7LL + n.m + n.in.b
    + m.m * 3 + m.in.b; }
__global__ void bases_made(long long *out, int a, int b) { int c = a & 255; Owner o(&c, b & 255); Listed l(b);
    out[0] = c + o.m * 3LL + o.k + o.d.b * 100 + l.a * 5LL + l.e; }
__global__ void delegated(long long *out, int a, int b) { Halves h(a & 1023), g(a & 7, b & 7);
    out[0] = h.lo + h.hi * 3LL + g.lo * 5LL + g.hi; }
__global__ void implicit(long long *out, int a, int b) { Late l, k{}; Late2 m(b & 255); Inner i(a & 255); Started s[2];
    out[0] = l.v + l.w * 3LL + k.w + m.v + m.w + i.s.v * 100 + i.z + s[b & 1].v; }
__global__ void own_object(long long *out, int a, int b) { Maker m; out[0] = m.make(a & 255); }
__global__ void default_arguments(long long *out, int a, int b) { Point z[3] = {Point(a & 255, 2), Point(7)}; Segment s, t{};
    out[0] = z[0].x + z[1].y * 3LL + z[2].x + z[2].y * 100 + s.from.y + s.to.x * 10 + t.to.y + t.from.x * 1000 + (b & 1); }
