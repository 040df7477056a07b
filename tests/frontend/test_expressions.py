"""Expressions: conversions, order of effects, control flow of && || ?:, in the printed IR."""

from __future__ import annotations

import pytest

from tests.frontend.reading import body_of, unsupported_in


def test_unsigned_plus_int_is_unsigned() -> None:
    assert body_of("o[0] = threadIdx.x + k;") == "store o[0:i64] = i32((threadIdx.x + u32(k)))"


def test_compound_assignment_hides_two_conversions() -> None:
    assert body_of("k += blockDim.x;") == "k = i32((u32(k) + blockDim.x))"


def test_char_is_promoted_and_narrowed_back() -> None:
    text = body_of("signed char c = k; c += 1; c++; c <<= 2;")
    assert text.splitlines() == [
        "c = i8(k)",
        "c = i8((i32(c) + 1))",
        "c = i8((i32(c) + 1))",
        "c = i8((i32(c) << 2))",
    ]


def test_size_t_to_int_is_seen() -> None:
    assert body_of("size_t n = k; int m = n;") == "n = u64(k)\nm = i32(n)"


def test_float_compound_on_int() -> None:
    assert body_of("k *= 1.5f;") == "k = i32((f32(k) * 1.5:f32))"


def test_shift_count_has_the_type_of_the_shifted() -> None:
    assert body_of("long long b = 1LL << k;") == "b = (1:i64 << i64(k))"
    assert body_of("unsigned b = 1u >> (long long)k;") == "b = (1:u32 >> u32(i64(k)))"


def test_bool_is_zero_or_one_in_arithmetic() -> None:
    assert body_of("bool b = k; int s = b + (k > 2);") == "b = (k != 0)\ns = (i32(b) + i32((k > 2)))"


def test_precedence() -> None:
    assert body_of(
        "o[0] = k + 2 * k & 7 ^ k << 1 | 3;"
    ) == "store o[0:i64] = (((k + (2 * k)) & 7) ^ (k << 1)) | 3)".replace("= (((", "= ((((", 1)


def test_post_increment_gives_the_old_value() -> None:
    assert body_of("o[k++] = 5;").splitlines() == ["t.1 = k", "k = (t.1 + 1)", "store o[i64(t.1)] = 5"]


def test_the_right_side_is_evaluated_first() -> None:
    assert body_of("int j = 0; o[j++] = k++;").splitlines() == [
        "j = 0",
        "t.1 = k",
        "k = (t.1 + 1)",
        "t.2 = j",
        "j = (t.2 + 1)",
        "store o[i64(t.2)] = t.1",
    ]


def test_chained_assignment() -> None:
    assert body_of("int x, y; x = y = k;").splitlines()[-2:] == ["y = k", "x = y"]


def test_chained_assignment_narrows_in_between() -> None:
    assert body_of("int x; signed char y; x = y = k;").splitlines()[-2:] == ["y = i8(k)", "x = i32(y)"]


def test_an_operand_keeps_its_value_when_the_other_changes_it() -> None:
    text = body_of("auto f = [&]() { k = 9; return 1; }; int s = k + f();")
    assert text.splitlines() == ["t.1 = k", "k = 9", "s = (t.1 + 1)"]


def test_and_with_a_load_is_control_flow() -> None:
    assert body_of("if (k < 4 && o[k] > 0) o[0] = 1;").splitlines() == [
        "t.2 = false",
        "if ((k < 4))",
        "  t.1 = load o[i64(k)]",
        "  t.2 = (t.1 > 0)",
        "if (t.2)",
        "  store o[0:i64] = 1",
    ]


def test_or_with_an_effect_is_control_flow() -> None:
    assert body_of("if (k == 0 || k++ > 3) o[0] = 1;").splitlines()[:5] == [
        "t.2 = true",
        "if (!(k == 0))",
        "  t.1 = k",
        "  k = (t.1 + 1)",
        "  t.2 = (t.1 > 3)",
    ]


def test_pure_and_stays_an_expression() -> None:
    assert body_of("if (k > 0 && k < 9) o[0] = 1;").splitlines()[0] == "if (((k > 0) && (k < 9)))"


def test_ternary_with_a_load() -> None:
    assert body_of("int v = k < 4 ? o[k] : 0;").splitlines() == [
        "if ((k < 4))",
        "  t.1 = load o[i64(k)]",
        "  t.2 = t.1",
        "else",
        "  t.2 = 0",
        "v = t.2",
    ]


def test_pure_ternary_is_select() -> None:
    assert body_of("int v = k ? 1 : 2u;") == "v = i32(((k != 0) ? 1:u32 : 2:u32))"


def test_comma() -> None:
    assert body_of("int v = (o[0] = 1, k);").splitlines() == ["store o[0:i64] = 1", "v = k"]


def test_shadowing_renames() -> None:
    assert body_of("int m = 1; { int m = 2; o[m] = m; } o[m] = m;").splitlines() == [
        "m = 1",
        "m.1 = 2",
        "store o[i64(m.1)] = m.1",
        "store o[i64(m)] = m",
    ]


def test_an_initialiser_sees_the_outer_variable() -> None:
    text = body_of("int m = 1; { int q = m; int m = q + 1; o[0] = m; }")
    assert "m.1 = (q + 1)" in text


def test_pointer_arithmetic() -> None:
    assert body_of("int *p = o + k; *(p - k) = p - o;").splitlines() == [
        "p = (o +> i64(k))",
        "store (p +> -i64(k))[0:i64] = i32((p -< o))".replace("(p +> -i64(k))[0:i64]", "p[-i64(k)]"),
    ]


def test_unsigned_index_is_not_sign_extended() -> None:
    assert body_of("unsigned u = k; o[u] = 0;").splitlines()[1] == "store o[i64(u)] = 0"


def test_index_arithmetic_is_done_in_the_type_of_the_index() -> None:
    assert body_of("o[k * 4 + 1] = 0;") == "store o[i64(((k * 4) + 1))] = 0"
    assert body_of("o[(long long)k * 4] = 0;") == "store o[(i64(k) * 4:i64)] = 0"


def test_constants_fold_only_where_they_fit() -> None:
    assert body_of("unsigned m = -1;") == "m = u32(-1)"
    assert body_of("short s = 70000;") == "s = i16(70000)"
    assert body_of("float f = 3;") == "f = 3.0:f32"


def test_enumerators_and_sizeof() -> None:
    prefix = "enum class E { A, B = 5 }; enum { Q = 7 };"
    assert body_of("o[0] = (int)E::B + Q; o[1] = sizeof(float4);", prefix) == (
        "store o[0:i64] = (5 + i32(7:u32))\nstore o[1:i64] = i32(16:u64)".replace("i32(7:u32)", "7").replace(
            "i32(16:u64)", "16"
        )
    )


def test_vector_load_and_store_are_one_access() -> None:
    text = body_of(
        "float4 v = reinterpret_cast<float4*>(o)[k]; v.x = v.y; reinterpret_cast<float4*>(o)[k] = v;"
    )
    lines = text.splitlines()
    assert lines[0] == "{t.1:.x, t.2:.y, t.3:.z, t.4:.w} = load f32x4*(o)[i64(k)]".replace("f32x4", "float4")
    assert lines[-1] == "store float4*(o)[i64(k)] = {.x=v.x, .y=v.y, .z=v.z, .w=v.w}"


def test_swapping_fields_takes_the_old_values() -> None:
    text = body_of("float2 v; v.x = 1; v.y = 2; v = make_float2(v.y, v.x);")
    assert text.splitlines()[-4:] == ["t.1 = v.y", "t.2 = v.x", "v.x = t.1", "v.y = t.2"]


def test_reference_cast_is_no_conversion_of_the_value() -> None:
    text = body_of("float f = 1; int bits = reinterpret_cast<int&>(f);")
    assert "t.1 = load *i32*(&f)" in text.splitlines()


def test_reference_cast_through_an_alias() -> None:
    assert "load *i32*(&f)" in body_of("float f = 1; int bits = (R)f;", "using R = int&;")


def test_conditions_on_pointers() -> None:
    assert body_of("if (!o) return;") == "if (!(o != i32*(0:i64)))\n  leave kernel"


def test_builtin_indices_and_warp_size() -> None:
    assert body_of("o[0] = gridDim.z * warpSize;") == "store o[0:i64] = i32((gridDim.z * u32(warpSize)))"


def test_macros_that_the_preprocessing_expands_parse() -> None:
    text = body_of(
        "float f = (__builtin_inff()); float g = -(__builtin_inff()); double d = (__builtin_inf()); int *p = __null;"
    )
    assert text.splitlines() == ["f = inf:f32", "g = -inf:f32", "d = inf:f64", "p = i32*(0:i64)"]


DECLARED = """__device__ int undeclared_but_declared(int);
struct Own { int v; __device__ Own &operator=(const Own &o) { v = o.v + 1; return *this; } };
struct Holds { Own own; __device__ int later() { auto f = [*this]() { return own.v; }; own.v = 7; return f(); } };
struct Loop { int v; Loop *next; };
struct Point { int x, y; __device__ Point(int r = 1, int i = 2) : x(r), y(i) {} };
template <class F> __device__ int twice(F f) { return f() * 10 + f(); }
template <class... A> __device__ int count(A...) { return sizeof...(A); }
"""


@pytest.mark.parametrize(
    ("code", "construct"),
    [
        ("int *p = new int; *p = 1;", "cxx new expr"),
        ("k = ({ int z = 3; z; });", "stmtexpr"),
        ('asm volatile("bar.sync 1, 64;");', "inline assembly"),
        ('asm("atom.global.add.u32 %0, [%1], 1;" : "=r"(k) : "l"(o));', "inline assembly"),
        ('asm("add.u64 %1, %1, 4; ld.global.u32 %0, [%1];" : "=r"(k), "+l"(o));', "inline assembly"),
        (
            'asm("{ .reg .pred p; setp.eq.u32 p, %1, 0; @p bra DONE; }" : "=r"(k) : "r"(k));',
            "inline assembly",
        ),
        ('asm("cp.async.bulk.commit_group;");', "inline assembly"),
        ("again: k += 1; if (k < 9) goto again;", "goto"),
        ("goto inside; { inside: k = 1; }", "goto"),
        ("int *const &r = k ? o : o; o[0] = *r;", ""),
        ("o[0] = undeclared_but_declared(k);", "function without a body"),
        ("struct { int a : 3; } s; s.a = 1;", "bit field"),
        ("switch (k) { case 1 ... 3: k = 0; }", "case range"),
        ("Holds a, b; a.own.v = k; b = a; o[0] = b.own.v;", "assignment"),
        ("auto f = [k]() mutable { return k++; }; auto g = f; o[0] = g() + f();", "lambda"),
        (
            "auto f = [k]() mutable { return k++; }; auto g = [f]() mutable { return f(); }; o[0] = g();",
            "lambda",
        ),
        ("auto f = [k]() mutable { return k++; }; o[0] = twice(f) + f();", "lambda"),
        ("auto f = [k]() mutable { return ++k; }; o[0] = f() * 2 + k;", ""),
        ("o[0] = twice([k]() mutable { return ++k; });", ""),
        ("Holds a; a.own.v = k; o[0] = a.later();", "lambda"),
        ("if (k = 3; o[0] > 2) o[0] = k;", "if with an initialiser"),
        ("if (k++; int v = o[0]) o[0] = v;", "if with an initialiser"),
        ("if (int v = k; v > ';') o[0] = v;", ""),
        ("if (o[0] == ';' || (char)k == '(') o[0] = 1;", ""),
        ("switch (k = 5; o[0]) { case 0: o[0] = k; }", "switch"),
        ("switch (int v = o[0]) { case 0: o[0] = v; }", ""),
        ("int a[2]; for (k = 1; auto &v : a) v = k; o[0] = a[0];", "range-based for"),
        ("for (int i = 0; i < k && o[i] != L';'; i++) o[i] = 1;", ""),
        ("Point p[2] = {1, 2}; o[0] = p[1].x;", "initialiser list"),
        ("struct { Point at; int z; } p = {k, 2}; o[0] = p.z;", "initialiser list"),
        ("Point p[2] = {Point(1), {2}}; o[0] = p[1].x;", ""),
        ("Loop a; a.next = nullptr; o[0] = a.next->v;", "member"),
        ("o[0] = count(1, 2.0f, k) + count();", ""),
    ],
)
def test_refused_constructs_are_named(code: str, construct: str) -> None:
    found = unsupported_in(code, DECLARED)
    if construct:
        assert construct in [item.construct for item in found]
    else:
        assert found == []


def test_a_conditional_operator_among_the_operands_is_no_section() -> None:
    text = body_of('asm("mov.u32 %0, %1;" : "=r"(o[k ? 1 : 2]) : "r"(k > 0 ? k : 3));')
    assert text.splitlines()[:2] == ["t.1 = o", "t.2 = i64(((k != 0) ? 1 : 2))"]
    assert text.splitlines()[-2:] == ["t.4 = undef:i32 <inline assembly>", "store t.1[t.2] = t.4"]
