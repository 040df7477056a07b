"""Statements and declarations in the printed IR."""

from __future__ import annotations

from tests.frontend.reading import body_of, kernel_of, unsupported_in


def lines(code: str, prefix: str = "") -> list[str]:
    return body_of(code, prefix).splitlines()


def test_early_return_leaves_the_kernel() -> None:
    assert lines("if (k < 0) return; o[0] = 1;") == ["if ((k < 0))", "  leave kernel", "store o[0:i64] = 1"]


def test_for_loop() -> None:
    assert lines("for (int i = 0; i < k; ++i) o[i] = i;") == [
        "i = 0",
        "loop loop.2",
        "  while (i < k)",
        "    store o[i64(i)] = i",
        "  step",
        "    i = (i + 1)",
    ]


def test_for_without_parts() -> None:
    assert lines("for (;;) { if (k++ > 3) break; }")[:2] == ["loop loop.2", "  while true"]
    assert lines("for (; k < 9;) k += 2;") == ["loop loop.2", "  while (k < 9)", "    k = (k + 2)"]
    assert lines("for (int i = 0;; i++) { if (i > k) break; }")[-2:] == ["  step", "    i = (i + 1)"]


def test_for_with_two_counters() -> None:
    text = lines("for (int a = 0, b = 9; a < b; a++, b--) o[a] = b;")
    assert text[:2] == ["a = 0", "b = 9"]
    assert text[-2:] == ["    a = (a + 1)", "    b = (b - 1)"]


def test_a_semicolon_in_a_string_of_the_header_is_none() -> None:
    assert lines("for (int i = ';'; i < 'z'; i++) o[i] = 0;")[0] == "i = 59"


def test_loop_condition_with_a_load_is_evaluated_each_time() -> None:
    assert lines("while (o[k] > 0) k++;") == [
        "loop loop.2",
        "  head",
        "    t.1 = load o[i64(k)]",
        "  while (t.1 > 0)",
        "    k = (k + 1)",
    ]


def test_do_while() -> None:
    assert lines("do { k--; } while (k > 0);") == [
        "loop loop.2",
        "  while true",
        "    k = (k - 1)",
        "  step",
        "    if (!(k > 0))",
        "      leave loop.2",
    ]


def test_continue_in_do_while_reaches_the_test() -> None:
    text = lines("do { if (k == 3) continue; k -= 2; } while (k > 0);")
    assert "      leave loop.2.body" in text


def test_nested_break_and_continue() -> None:
    text = lines(
        "for (int i = 0; i < 3; i++) { for (int j = 0; j < 3; j++) { if (j == k) break; if (j) continue; o[j] = 0; }"
        " if (i == k) break; }"
    )
    flat = [line.strip() for line in text]
    outer, inner = (line.split()[1] for line in flat if line.startswith("loop "))
    assert (
        flat.count(f"leave {outer}") == flat.count(f"leave {inner}") == flat.count(f"leave {inner}.body") == 1
    )


def test_switch_without_fallthrough_is_branches() -> None:
    assert lines(
        "switch (k) { case 1: o[0] = 1; break; case 2: case 3: o[1] = 2; break; default: o[2] = 3; }"
    ) == [
        "t.1 = k",
        "scope switch.2",
        "  if ((t.1 == 1))",
        "    store o[0:i64] = 1",
        "  if (((t.1 == 2) || (t.1 == 3)))",
        "    store o[1:i64] = 2",
        "  if (!(((t.1 == 1) || (t.1 == 2)) || (t.1 == 3)))",
        "    store o[2:i64] = 3",
    ]


def test_switch_with_fallthrough_enters_the_next_case() -> None:
    text = lines("switch (k) { case 1: o[0] = 1; case 2: o[1] = 2; break; }")
    assert text[2:] == [
        "  t.2 = false",
        "  t.2 = (t.2 || (t.1 == 1))",
        "  if (t.2)",
        "    store o[0:i64] = 1",
        "  t.2 = (t.2 || (t.1 == 2))",
        "  if (t.2)",
        "    store o[1:i64] = 2",
        "    leave switch.2",
    ]


def test_continue_inside_of_a_switch_leaves_the_loop_body() -> None:
    text = body_of(
        "for (int i = 0; i < k; i++) { switch (i) { case 1: continue; case 2: break; } o[i] = 1; }"
    )
    assert "leave loop.2.body" in text


def test_switch_that_jumps_into_a_block_is_refused() -> None:
    assert unsupported_in("switch (k) { case 0: if (o[0]) { case 1: o[1] = 1; } }")[0].construct == "switch"


def test_if_constexpr_keeps_one_branch() -> None:
    assert lines("if constexpr (sizeof(int) == 4) o[0] = 1; else o[0] = 2;") == ["store o[0:i64] = 1"]


def test_if_with_initialiser() -> None:
    assert lines("if (int v = k + 1; v > 2) o[0] = v;") == [
        "v = (k + 1)",
        "if ((v > 2))",
        "  store o[0:i64] = v",
    ]


def test_uninitialised_scalar_and_array() -> None:
    assert lines("float f; int a[4]; o[0] = a[k];")[:2] == ["f = undef:f32", "declare a"]


def test_array_initialisers() -> None:
    assert lines("int a[2][2] = {{1}, {2, 3}};") == [
        "declare a",
        "store a[0:i64][0:i64] = 1",
        "store a[0:i64][1:i64] = 0",
        "store a[1:i64][0:i64] = 2",
        "store a[1:i64][1:i64] = 3",
    ]
    assert lines("int a[2][2] = {1, 2, 3};")[1:] == lines("int a[2][2] = {{1, 2}, {3, 0}};")[1:]


def test_large_zero_fill_is_a_loop() -> None:
    assert lines("float a[1000] = {0.f};") == [
        "declare a",
        "fill = 0:i64",
        "loop fill.2",
        "  while (fill < 1000:i64)",
        "    store a[fill] = 0.0:f32",
        "  step",
        "    fill = (fill + 1:i64)",
    ]


def test_negative_zero_is_not_the_zero_fill() -> None:
    assert lines("float a[2] = {-0.0f};") == [
        "declare a",
        "store a[0:i64] = -0.0:f32",
        "store a[1:i64] = 0.0:f32",
    ]


def test_shared_objects() -> None:
    kernel = kernel_of(
        "__shared__ float a[4][5]; extern __shared__ __align__(16) unsigned char s[]; __shared__ int n;"
    )
    found = {decl.name: (decl.space, decl.dynamic, decl.align) for decl in kernel.objects}
    assert (
        found["a"] == ("shared", False, 0)
        and found["s"] == ("shared", True, 16)
        and found["n"][0] == "shared"
    )


def test_constant_and_device_globals() -> None:
    kernel = kernel_of(
        "o[0] = c[k] + t[k]; n++;", "__constant__ int c[4]; __device__ int n; static const int t[3] = {1, 2};"
    )
    found = {decl.name: (decl.space, decl.init) for decl in kernel.objects}
    assert found == {"c": ("constant", None), "t": ("constant", (1, 2, 0)), "n": ("device", None)}


def test_static_variables_are_shared_by_all_threads() -> None:
    kernel = kernel_of("static int s; s = k; o[0] = s;")
    assert [(decl.name, decl.space) for decl in kernel.objects] == [("s", "device")]
    assert not unsupported_in("static int s; o[0] = s;")


def test_constexpr_globals_are_their_values() -> None:
    assert lines("o[0] = N * 2;", "constexpr int N = 1 << 4;") == ["store o[0:i64] = (16 * 2)"]


def test_volatile_is_kept() -> None:
    assert lines("volatile int *v = o; v[0] = v[1];")[1:] == [
        "t.1 = load volatile v[1:i64]",
        "store volatile v[0:i64] = t.1",
    ]


def test_pragma_unroll_changes_nothing() -> None:
    plain = body_of("for (int i = 0; i < 4; ++i) o[i] = 0;")
    assert body_of("\n#pragma unroll\nfor (int i = 0; i < 4; ++i) o[i] = 0;").replace(".4", ".2") == plain


def test_a_refused_declaration_poisons_its_variable() -> None:
    found = unsupported_in("int *p = new int; *p = 1; o[0] = 2;")
    assert [(u.construct, u.detail) for u in found] == [
        ("cxx new expr", "new int"),
        ("cxx new expr", "variable p"),
    ]


def test_assert_and_trap() -> None:
    assert lines("assert(k > 0); if (k > 9) __trap();") == [
        "assert (k > 0) 'k > 0'",
        "if ((k > 9))",
        "  trap trap",
    ]


def test_printf_has_no_effect_but_its_arguments_are_evaluated() -> None:
    assert lines('printf("%d %s", o[k], "x");') == ["t.1 = load o[i64(k)]"]
