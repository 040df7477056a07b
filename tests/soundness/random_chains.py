"""Random straight-line integer code: every type, operator, conversion and intrinsic, and what it really does, from g++.

One thread computes an index from arguments and loaded values and writes to a buffer of 64 elements under random guards.
Some expressions occur again under another type: what is known of one must not be taken for the other.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TYPES = (
    "int",
    "unsigned",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "long long",
    "size_t",
    "unsigned long long",
    "int",
    "unsigned",
    "bool",
)
NUMBERS = (
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    100,
    127,
    128,
    129,
    200,
    255,
    256,
    300,
    -1,
    -2,
    -3,
    -64,
    -128,
    1000,
    32767,
    32768,
    65535,
    65536,
    65537,
    1 << 20,
    1 << 30,
    2147483647,
)
EXTENT = 64

PARAMETERS = "const int* a, const unsigned char* u, const float* f, const long long* w, int n, unsigned m, int p, short q"


@dataclass(frozen=True, slots=True)
class Chain:
    """One kernel; ``W(e)`` writes element e."""

    body: str

    def device(self, name: str) -> str:
        return f"__global__ void {name}(float* out, {PARAMETERS}) {{ {self.body} }}\n"

    def host(self, name: str) -> str:
        return f"static void {name}({PARAMETERS}) {{ {self.body} }}\n"


class Maker:
    """Kernels from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names: list[str] = []
        self.pool: list[str] = []
        self.made = 0

    def one(self) -> Chain:
        r = self.rng
        self.names = ["n", "m", "p", "q", "n", "m"]
        self.made = 0
        self.pool = []
        self.pool = [self.expr(2) for _ in range(3)]
        body = " ".join(self.statement(2) for _ in range(r.randint(2, 6)))
        body += " " + self.write()
        if r.random() < 0.3:
            body += " " + self.statement(1) + " " + self.write()
        return Chain(body)

    def num(self) -> str:
        r = self.rng
        v = r.choice(NUMBERS)
        s = str(v) if v >= 0 else f"({v})"
        k = r.random()
        if v >= 0 and k < 0.15:
            s += "u"
        elif k < 0.22:
            s = f"({r.choice(TYPES)}){s}"
        elif v >= 0 and k < 0.27:
            s += r.choice(("ll", "ull"))
        return s

    def atom(self) -> str:
        r = self.rng
        k = r.random()
        if self.pool and r.random() < 0.3:
            return f"(({r.choice(TYPES)}){r.choice(self.pool)})" if r.random() < 0.5 else r.choice(self.pool)
        if k < 0.62:
            return r.choice(self.names[-4:] if r.random() < 0.6 else self.names)
        if k < 0.85:
            return self.num()
        return r.choice(
            (
                "a[0]",
                "a[1]",
                "u[0]",
                "u[1]",
                "w[0]",
                "F2I(f[0])",
                "F2I(f[1])",
                "F2U(f[0])",
                "F2U(f[1])",
                "a[2]",
                "u[2]",
            )
        )

    def small(self) -> str:
        return self.rng.choice(
            ("1", "2", "3", "4", "5", "7", "8", "16", "31", "u[0] % 8", "n & 7", "m % 5", "p", "(n & 31)")
        )

    def expr(self, d: int) -> str:
        r = self.rng
        if d <= 0:
            return self.atom()
        k = r.random()

        def e() -> str:
            return self.expr(d - 1 - (r.random() < 0.5))

        if k < 0.22:
            return f"({e()} {r.choice('+-+-*')} {e()})"
        if k < 0.30:
            return f"({e()} {r.choice('/%')} {r.choice(('2', '3', '4', '5', '7', '8', '16', '64', '64u', '-3', '(p + 1)', '-4', '10ll', 'p', '(n + 1)', '(int)(m + 1)'))})"
        if k < 0.37:
            return f"({e()} {r.choice(('<<', '>>', '>>'))} ({self.small()}))"
        if k < 0.44:
            return f"({e()} {r.choice('&|^&')} {r.choice((self.num(), e()))})"
        if k < 0.56:
            return f"(({r.choice(TYPES)}){e()})"
        if k < 0.60:
            return f"({r.choice('-~!-')}{e()})"
        if k < 0.67:
            return f"({self.cond(d - 1)} ? {e()} : {e()})"
        if k < 0.73:
            t = r.choice(("int", "unsigned", "long long"))
            return f"{r.choice(('min', 'max'))}(({t}){e()}, ({t}){e()})"
        if k < 0.76:
            return f"abs((int){e()})"
        if k < 0.80:
            return r.choice(
                (
                    f"__popc({e()})",
                    f"__clz((int){e()})",
                    f"__ffs((int){e()})",
                    f"__popcll({e()})",
                    f"(int)__brev({e()})",
                    f"__mulhi((int){e()}, (int){e()})",
                    f"__umulhi({e()}, {e()})",
                    f"__mul24((int){e()}, (int){e()})",
                    f"__umul24({e()}, {e()})",
                    f"__sad((int){e()}, (int){e()}, 1u)",
                    f"__hadd((int){e()}, (int){e()})",
                    f"__byte_perm({e()}, {e()}, {e()})",
                )
            )
        return self.atom()

    def cond(self, d: int) -> str:
        r = self.rng
        k = r.random()
        if k < 0.75 or d <= 0:
            return f"({self.expr(max(d - 1, 0))} {r.choice(('<', '<=', '>', '>=', '==', '!=', '<'))} {r.choice((self.expr(max(d - 1, 0)), self.num(), self.atom()))})"
        if k < 0.9:
            return f"({self.cond(d - 1)} {r.choice(('&&', '||'))} {self.cond(d - 1)})"
        return f"!{self.cond(d - 1)}"

    def statement(self, d: int) -> str:
        r = self.rng
        k = r.random()
        own = [x for x in self.names if x.startswith("v")]
        if k < 0.6 or not own:
            e = self.expr(r.choice((1, 2, 2, 3)))
            self.made += 1
            ty = r.choice(TYPES)
            v = f"v{'b' if ty == 'bool' else ''}{self.made}"
            s = f"{ty} {v} = {e};"
            self.names.append(v)
            return s
        v = r.choice(own)
        if k < 0.72:
            return f"{v} {r.choice(('+=', '-=', '*=', '&=', '|=', '^='))} {self.expr(1)};"
        if k < 0.78:
            return f"{v} {r.choice(('>>=', '<<='))} ({self.small()});"
        if k < 0.84:
            return r.choice(
                (
                    f"{v}++;" if v[1] != "b" else f"{v} += 1;",
                    f"{v}--;" if v[1] != "b" else f"{v} -= 1;",
                    f"{v} /= {r.choice(('2', '3', '-2', '16'))};",
                    f"{v} %= {r.choice(('3', '64', '7', '-5'))};",
                )
            )
        if d > 0:
            save = list(self.names)
            a = " ".join(
                [self.statement(d - 1) for _ in range(r.randint(1, 2))]
                + ([self.write()] if r.random() < 0.3 else [])
            )
            self.names = list(save)
            s = f"if ({self.cond(2)}) {{ {a} }}"
            if r.random() < 0.4:
                s += f" else {{ {self.statement(d - 1)} }}"
                self.names = list(save)
            return s
        return f"{v} = {self.expr(2)};"

    def write(self) -> str:
        r = self.rng
        own = [x for x in self.names if x.startswith("v")] or self.names
        v = r.choice(own[-3:])
        k = r.random()
        x = r.choice((v, v, v, f"({v} + {self.num()})", f"({v} * {self.small()})", self.expr(2)))
        t = r.choice(("int", "unsigned", "long long", "unsigned", "size_t", "int"))
        i = f"i{self.made}_{r.randrange(10**6)}"
        if k < 0.14:
            return f"W({x} & 63);"
        if k < 0.22:
            return f"W({x} % 64u);"
        if k < 0.28:
            return f"W(({t}){x} % 64);"
        if k < 0.45:
            return (
                f"{{ {t} {i} = {x}; if ({i} < {r.choice((64, 64, 64, 'n', 'm', '(int)m', '60'))}) W({i}); }}"
            )
        if k < 0.60:
            return f"{{ {t} {i} = {x}; if ({i} >= 0 && {i} < {r.choice((64, 'n', 'm', 64, '(int)m', 65))}) W({i}); }}"
        if k < 0.68:
            return f"W(min(max((int)({x}), 0), {r.choice((63, 63, 64))}));"
        if k < 0.74:
            return f"if ({self.cond(2)}) W({x});"
        if k < 0.80:
            return f"W((unsigned){x} >> {r.choice((26, 26, 25))});"
        if k < 0.86:
            return f"W((unsigned char)({x}) / {r.choice((4, 4, 2))});"
        if k < 0.92:
            return f"W(abs((int)({x}) % 64));"
        return f"W({x});"


_PRELUDE = """#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <type_traits>
using std::max; using std::min;
static sigjmp_buf done; static bool outside;
static void fpe(int) { siglongjmp(done, 1); }
template <class T> static void checked(T e) {
  if (std::is_signed<T>::value ? ((long long)e < 0 || (long long)e >= %d) : ((unsigned long long)e >= %d)) { outside = true; siglongjmp(done, 1); }
}
#define W(e) checked(e)
static int __popc(unsigned x){return __builtin_popcount(x);} static int __popcll(unsigned long long x){return __builtin_popcountll(x);}
static int __clz(int x){return x?__builtin_clz(x):32;} static int __ffs(int x){return __builtin_ffs(x);}
static unsigned __brev(unsigned x){unsigned r=0;for(int i=0;i<32;++i)r|=((x>>i)&1u)<<(31-i);return r;}
static int __mulhi(int a,int b){return (int)(((long long)a*b)>>32);} static unsigned __umulhi(unsigned a,unsigned b){return ((unsigned long long)a*b)>>32;}
static int __mul24(int a,int b){ long long x=(a<<8)>>8,y=(b<<8)>>8; return (int)(x*y);} static unsigned __umul24(unsigned a,unsigned b){return (a&0xffffffu)*(b&0xffffffu);}
static unsigned __sad(int a,int b,unsigned c){long long d=(long long)a-b; return (unsigned)((d<0?-d:d)+c);}
static int __hadd(int a,int b){return (int)(((long long)a+b)>>1);}
static unsigned __byte_perm(unsigned x,unsigned y,unsigned s){unsigned long long v=((unsigned long long)y<<32)|x; unsigned r=0; for(int i=0;i<4;++i){ unsigned k=(s>>(4*i))&7; r|=(unsigned)((v>>(8*k))&255)<<(8*i);} return r;}
static int F2I(float x){ if(std::isnan(x)) return 0; if(x>=2147483648.0f) return INT_MAX; if(x<=-2147483648.0f) return INT_MIN; return (int)x; }
static unsigned F2U(float x){ if(std::isnan(x)||x<=0) return 0; if(x>=4294967296.0f) return UINT_MAX; return (unsigned)x; }
"""


def leaves_the_buffer(kernels: Sequence[Chain], folder: Path) -> list[bool]:
    """Whether each kernel writes outside of the buffer for some arguments and contents."""
    text = _PRELUDE % (EXTENT, EXTENT) + "".join(k.host(f"k{i}") for i, k in enumerate(kernels))
    text += """
static const long long E[]={0,1,-1,2,3,5,7,8,31,32,63,64,65,100,127,128,129,255,256,257,-2,-64,-128,-129,32767,32768,65535,65536,INT_MAX,INT_MIN,1073741824ll,-1000};
static const float F[]={0.f,1.f,-1.f,0.5f,-0.5f,63.f,64.f,1e9f,3e9f,5e9f,-3e9f,NAN,INFINITY,-INFINITY,100.f,-64.f};
int main(){ signal(SIGFPE,fpe); unsigned s=1; auto R=[&]{ s=s*1664525u+1013904223u; return s>>8; };
"""
    for i in range(len(kernels)):
        text += f"""{{ bool any=false; s={i + 1}; for(int it=0; it<6000 && !any; ++it) {{
 int a[3];
 unsigned char u[3];
 float f[2];
 long long w[1];
 for(int& x:a) x=E[R()%32];
 for(auto& x:u) x=E[R()%32];
 for(float& x:f) x=F[R()%16];
 w[0]=R()%8?E[R()%32]:(E[R()%32]*(1ll<<(R()%40)));
 int ns[]={{0,1,2,7,33,63,64,5}};
 unsigned ms[]={{0,1,3,40,17,32}};
 int ps[]={{1,2,3}};
 int n=R()%2?ns[R()%8]:R()%65;
 unsigned m=ms[R()%6];
 int p=ps[R()%3];
 short q=(short)E[R()%32];
 outside=false;
 if(!sigsetjmp(done,1)) k{i}(a,u,f,w,n,m,p,q);
 any|=outside;
 }} puts(any?"1":"0"); }}
"""
    src, prog = folder / "oracle.cpp", folder / "oracle"
    src.write_text(text + "}\n")
    subprocess.run(
        ["g++", "-w", "-O0", "-fwrapv", "-std=c++17", str(src), "-o", str(prog)],
        check=True,
        timeout=300,
        stderr=subprocess.DEVNULL,
    )
    told = subprocess.run([str(prog)], check=True, capture_output=True, text=True, timeout=300).stdout
    return [l == "1" for l in told.split()]
