"""Launchers of torch extensions: what is lifted, and what is not claimed."""

from __future__ import annotations

import pytest

from tests.contracts.lifting import KERNEL, assumed, launcher, lift, one, texts

CALL = "k<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"


def test_elementwise() -> None:
    c = one(f"int n = x.numel(); auto y = torch::empty_like(x); {CALL} return y;")
    assert c.launch.grid == ("u32(i32(i32(n) + 255) // 256)", "1", "1")
    assert c.launch.block == ("256", "1", "1")
    x, y = c.buffer("x"), c.buffer("y")
    assert x is not None and y is not None
    assert (x.dtype, x.extent, x.fresh, x.initialized, x.align) == ("f32", "n", False, True, 0)
    assert (y.extent, y.fresh, y.initialized) == ("n", True, False)
    assert c.scalar("n").value == "i32(n)"  # type: ignore[union-attr]
    assert texts(c) == {"n <= 1073741824"}
    assert assumed(c) == {"contiguous(x)", "same_device(x)", "nonempty(x)"}
    assert not c.gaps and not c.no_alias


def test_names_come_from_the_variables() -> None:
    c = one(
        "int M = x.size(0), N = x.size(1); auto y = torch::zeros({M, N}, x.options());"
        "k<<<M, N>>>(x.data_ptr<float>(), y.data_ptr<float>(), M);"
    )
    assert [s.name for s in c.symbols] == ["M", "N", "x_rest"]
    assert c.buffer("y").shape == ("i32(M)", "i32(N)")  # type: ignore[union-attr]
    assert c.buffer("y").content == ("0", "0")  # type: ignore[union-attr]


def test_the_rank_is_not_invented_but_taken_from_a_check() -> None:
    body = "auto y = torch::empty_like(x); k<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));"
    free = one(body)
    assert free.buffer("x").extent == "x_0 * x_1 * x_rest"  # type: ignore[union-attr]
    checked = one('TORCH_CHECK(x.dim() == 2, "matrix"); ' + body)
    assert checked.buffer("x").extent == "x_0 * x_1"  # type: ignore[union-attr]


def test_a_check_after_the_launch_says_nothing_about_it() -> None:
    c = one(
        "auto y = torch::empty_like(x); k<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));"
        'TORCH_CHECK(x.dim() == 2 && x.size(0) == 7 && x.is_contiguous(), "late");'
    )
    assert c.buffer("x").extent == "x_0 * x_1 * x_rest"  # type: ignore[union-attr]
    assert "x_0 == 7" not in texts(c)
    assert "contiguous(x)" in assumed(c)


def test_size_relations_are_not_invented() -> None:
    params = "torch::Tensor x, torch::Tensor b"
    body = "int n = x.numel(); k<<<n, 32>>>(x.data_ptr<float>(), b.data_ptr<float>(), n);"
    c = one(body, params)
    assert c.buffer("y").extent != c.buffer("x").extent  # type: ignore[union-attr]
    checked = one('TORCH_CHECK(x.numel() == b.numel(), "same size"); ' + body, params)
    assert "n == b_numel" in texts(checked, "enforced")


@pytest.mark.parametrize("check", ["x.sizes() == b.sizes()", "x.sizes().equals(b.sizes())"])
def test_equal_shapes(check: str) -> None:
    body = f'TORCH_CHECK({check}, ""); int n = x.size(0); k<<<n, 32>>>(x.data_ptr<float>(), b.data_ptr<float>(), n);'
    c = one(body, "torch::Tensor x, torch::Tensor b")
    assert {"n == b_0", "x_rest == b_rest"} <= texts(c, "enforced")


def test_unequal_shapes_are_not_equated_by_an_or() -> None:
    c = launcher(
        "int n = x.numel(); if (x.sizes() == b.sizes() || flag) {"
        "k<<<n, 32>>>(x.data_ptr<float>(), b.data_ptr<float>(), n); }",
        "torch::Tensor x, torch::Tensor b, bool flag",
    )
    free = [one_ for one_ in c if not any("==" in t and "numel" in t for t in texts(one_))]
    assert free, "the launch without equal shapes must have a contract of its own"


def test_checks_replace_assumptions() -> None:
    c = one(
        "TORCH_CHECK(x.is_cuda() && x.is_contiguous()); TORCH_CHECK(x.numel() > 0);"
        "int n = x.numel(); auto y = torch::empty_like(x); " + CALL
    )
    assert assumed(c) == set()


def test_each_assumption_has_its_fix() -> None:
    c = one(f"int n = x.numel(); auto y = torch::empty_like(x); {CALL}")
    fixes = {a.text: a.fix for a in c.assumptions}
    assert fixes["contiguous(x)"] == 'TORCH_CHECK(x.is_contiguous(), "x must be contiguous");'
    assert fixes["same_device(x)"] == 'TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");'
    assert fixes["nonempty(x)"] == 'TORCH_CHECK(x.numel() > 0, "x must not be empty");'


def test_a_negative_check_proves_nothing() -> None:
    c = launcher("int n = x.numel(); auto y = torch::empty_like(x); if (!x.is_contiguous()) {" + CALL + "}")
    assert all("contiguous(x)" in assumed(one_) for one_ in c)


def test_an_untyped_pointer_leaves_the_dtype_open() -> None:
    c = one(
        "int n = x.numel(); auto y = torch::empty_like(x);"
        "k<<<n, 32>>>((const float*)x.data_ptr(), y.data_ptr<float>(), n);"
    )
    assert "dtype(x, f32)" in assumed(c)


def test_contiguous_may_return_self() -> None:
    c = one(
        "auto z = x.contiguous(); int n = x.numel(); k<<<n, 32>>>(z.data_ptr<float>(), x.data_ptr<float>(), n);"
    )
    a, b = c.buffer("x"), c.buffer("y")
    assert a is not None and b is not None
    assert a.storage != b.storage and not a.fresh and not c.no_alias
    assert "contiguous(y)" in assumed(c) and "contiguous(x)" not in assumed(c)


def test_in_place_is_one_storage() -> None:
    c = one("int n = x.numel(); auto y = x; " + CALL)
    assert c.buffer("x").storage == c.buffer("y").storage != ""  # type: ignore[union-attr]


def test_early_return_becomes_a_precondition() -> None:
    c = one(f"int n = x.numel(); auto y = torch::empty_like(x); if (n == 0) return y; {CALL} return y;")
    assert "i32(n) != 0" in texts(c, "enforced")


def test_throw_becomes_a_precondition() -> None:
    c = one(f'int n = x.numel(); auto y = x; if (n % 4 != 0) throw std::runtime_error("no"); {CALL}')
    assert "i32(n) % 4 == 0" in texts(c, "enforced")


def test_assert_never_counts() -> None:
    c = one(f"int n = x.numel(); auto y = x; assert(n % 4 == 0); {CALL}")
    assert not any("% 4" in t for t in texts(c))


def test_a_check_inside_one_branch_counts_only_there() -> None:
    found = launcher(
        f"int n = x.numel(); auto y = x; if (n > 100) {{ TORCH_CHECK(n % 4 == 0); }} {CALL}",
    )
    assert len(found) == 2
    for c in found:
        assert ("i32(n) % 4 == 0" in texts(c)) == ("i32(n) > 100" in texts(c))


def test_branches_that_set_a_variable_are_merged() -> None:
    c = one(
        "int n = x.numel(); auto y = x; int t = 256; if (n < 256) t = 32; else t = 128;"
        "k<<<(n + t - 1) / t, t>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"
    )
    assert c.launch.block[0] == "32 if i32(n) < 256 else 128"


def test_a_launch_under_a_condition_carries_it() -> None:
    c = one(f"int n = x.numel(); auto y = x; if (n >= 1024) {{ {CALL} }}")
    assert "i32(n) >= 1024" in texts(c, "enforced")


def test_narrowing_on_the_host_is_written() -> None:
    c = one(
        "int n = x.numel(); unsigned short g = n; auto y = x; k<<<g, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"
    )
    assert c.launch.grid[0] == "u16(i32(n))"


def test_int_arithmetic_is_written_at_its_type() -> None:
    c = one(
        "int a = x.size(0), b = x.size(1); auto y = x; k<<<a * b, 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), a);"
    )
    assert c.launch.grid[0] == "u32(i32(i32(a) * i32(b)))"
    wide = one(
        "auto a = x.size(0), b = x.size(1); auto y = x; k<<<a * b, 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), a);"
    )
    assert wide.launch.grid[0] == "u32(i64(a * b))"


def test_dispatch_gives_one_contract_for_each_dtype() -> None:
    kernel = "template <typename T> __global__ void k(const T* x, T* y, int n) { }\n"
    found = launcher(
        "int n = x.numel(); auto y = torch::empty_like(x);"
        'AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "k", ([&] {'
        "k<scalar_t><<<n, 32>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n); }));",
        kernel=kernel,
    )
    assert [(c.instantiation, c.buffer("x").dtype) for c in found] == [  # type: ignore[union-attr]
        (("float",), "f32"),
        (("double",), "f64"),
        (("c10::Half",), "f16"),
    ]


def test_a_checked_dtype_selects_the_instance() -> None:
    kernel = "template <typename T> __global__ void k(const T* x, T* y, int n) { }\n"
    c = one(
        "TORCH_CHECK(x.scalar_type() == torch::kFloat32); int n = x.numel(); auto y = torch::empty_like(x);"
        'AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "k", [&] {'
        "k<scalar_t><<<n, 32>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n); });",
        kernel=kernel,
    )
    assert c.instantiation == ("float",)


def test_template_arguments() -> None:
    kernel = "template <int B, bool V> __global__ void k(const float* x, float* y, int n) { }\n"
    c = one(
        "int n = x.numel(); auto y = x; constexpr int B = 4 * 64;"
        "k<B, true><<<n, B>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);",
        kernel=kernel,
    )
    assert c.instantiation == ("256", "true")


def test_template_launchers_are_followed_as_called() -> None:
    found = lift(
        "template <typename T> __global__ void k(const T* x, T* y, int n) { }\n"
        "template <typename T> void go(torch::Tensor x, torch::Tensor y, int block) {"
        " int n = x.numel(); k<T><<<(n + block - 1) / block, block>>>(x.data_ptr<T>(), y.data_ptr<T>(), n); }\n"
        "torch::Tensor run(torch::Tensor x) { auto y = torch::empty_like(x); go<float>(x, y, 128); return y; }\n"
    )
    assert [(c.instantiation, c.launch.block[0], c.launch.launcher) for c in found.contracts] == [
        (("float",), "128", "run")
    ]


def test_dynamic_shared_memory_and_streams() -> None:
    c = one(
        "int n = x.numel(); auto y = x; size_t bytes = 2 * n * sizeof(float);"
        "k<<<1, n, bytes, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"
    )
    assert c.launch.shared_bytes == "u64(u64(i32(2 * i32(n))) * 4)"
    assert c.launch.stream == "current"


def test_optional_tensor_has_both_cases() -> None:
    found = launcher(
        "int n = x.numel(); k<<<n, 32>>>(b.has_value() ? b->data_ptr<float>() : nullptr, x.data_ptr<float>(), n);",
        "torch::Tensor x, c10::optional<torch::Tensor> b",
    )
    assert sorted(c.buffer("x").extent for c in found) == ["0", "b_numel"]  # type: ignore[union-attr]


def test_pointer_offsets_shrink_the_buffer() -> None:
    c = one("int n = x.numel(); k<<<n, 32>>>(x.data_ptr<float>() + 4, x.data_ptr<float>(), n);")
    a, b = c.buffer("x"), c.buffer("y")
    assert a is not None and b is not None
    assert (a.extent, b.extent) == ("n - 4", "n")
    assert a.storage == "" and not a.fresh and a.align == 0


def test_a_loop_around_a_launch_has_a_ranged_symbol() -> None:
    c = one(
        "int n = x.size(1); for (int b = 0; b < x.size(0); b += 2)"
        " { k<<<n, 32>>>(x[b].data_ptr<float>(), x[b].data_ptr<float>(), b); }"
    )
    assert {"0 <= b", "b < x_0", "b % 2 == 0"} <= {t.replace(" - 0", "") for t in texts(c, "enforced")}
    assert c.buffer("x").extent == "n * x_rest"  # type: ignore[union-attr]


def test_what_a_loop_changes_is_not_followed() -> None:
    c = one(
        "int n = x.numel(); auto y = x; int m = n; for (int i = 0; i < n; i++) m = m * 3 + 1;"
        "k<<<m, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"
    )
    assert any("loop" in g for g in c.gaps)


def test_checks_inside_a_loop_do_not_leak() -> None:
    c = one(
        "int n = x.numel(); auto y = x; for (int i = 0; i < n; i++) { TORCH_CHECK(n == 64); }"
        "k<<<n, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"
    )
    assert "i32(n) == 64" not in texts(c)


def test_small_counted_loops_are_unrolled() -> None:
    found = launcher(
        "int n = x.numel(); auto y = x; int sizes[] = {32, 64};"
        "for (int j = 0; j < 2; j++) { int b = sizes[j]; k<<<n, b>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); }"
    )
    assert [c.launch.block[0] for c in found] == ["32", "64"]


def test_zeros_are_not_zero_after_a_launch_that_writes_them() -> None:
    found = launcher(
        "int n = x.numel(); auto y = torch::zeros_like(x);"
        "k<<<n, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); k<<<n, 64>>>(y.data_ptr<float>(), x.data_ptr<float>(), n);"
    )
    first, second = found
    assert first.buffer("y").content == ("0", "0")  # type: ignore[union-attr]
    assert second.buffer("x").content is None  # type: ignore[union-attr]


def test_an_earlier_launch_writes_an_empty_tensor_only_as_far_as_it_does() -> None:
    found = launcher(
        "int n = x.numel(); auto y = torch::empty_like(x);"
        "k<<<n, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); k<<<n, 64>>>(y.data_ptr<float>(), x.data_ptr<float>(), n);"
    )
    assert not found[0].buffer("y").initialized  # type: ignore[union-attr]
    assert "written(x)" in assumed(found[1])


def test_raw_pointers_are_a_gap() -> None:
    found = lift(
        KERNEL + "void run(const float* a, float* b, int m) { k<<<(m + 31) / 32, 32>>>(a, b, m); }\n"
    )
    (c,) = found.contracts
    assert not c.buffers
    assert {g.split(":")[0] for g in c.gaps} == {"parameter x", "parameter y"}


def test_unparsed_host_code_is_a_gap() -> None:
    found = lift(
        KERNEL
        + "torch::Tensor run(torch::Tensor x) { int n = x.numel(); n = ; auto y = x; "
        + CALL
        + " return y; }\n"
    )
    assert found.contracts and all(any("not understood" in g for g in c.gaps) for c in found.contracts)


def test_an_unknown_call_may_change_what_it_gets() -> None:
    c = one("int n = x.numel(); auto y = x; adjust(n); " + CALL)
    assert c.gaps


def test_goto_and_handlers_that_go_on_are_refused() -> None:
    for body in (
        "int n = 1; again: n++; if (n < 4) goto again; auto y = x; " + CALL,
        "int n = x.numel(); auto y = x; try { TORCH_CHECK(n > 4); } catch (...) { n = 0; } " + CALL,
    ):
        found = lift(f"{KERNEL}torch::Tensor run(torch::Tensor x) {{ {body} }}\n")
        assert found.problems and not found.contracts


def test_recursion_is_refused() -> None:
    found = lift(
        KERNEL
        + "void run(torch::Tensor x, int d) { int n = x.numel(); auto y = x; "
        + CALL
        + " if (d) run(x, d - 1); }\n"
    )
    assert any("recursive" in p for p in found.problems)
    assert all(c.gaps for c in found.contracts)


def test_by_value_captures_keep_their_value() -> None:
    c = one(
        "int n = x.numel(); int m = 3; auto y = x; auto go = [=]() {"
        " k<<<m, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); }; m = 99; go();"
    )
    assert c.launch.grid[0] == "3"


def test_by_reference_captures_see_the_change() -> None:
    c = one(
        "int n = x.numel(); int m = 3; auto y = x; auto go = [&]() {"
        " k<<<m, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); }; m = 99; go();"
    )
    assert c.launch.grid[0] == "99"


def test_ceil_of_a_double_quotient_is_exact_and_of_a_float_is_not() -> None:
    body = "int n = x.numel(); auto y = x; int g = (int)ceil(({0})n / 256); "
    call = "k<<<g, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"
    bad = one(body.replace("{0}", "float") + call)
    assert bad.gaps
    good = one('TORCH_CHECK(x.numel() > 0 && x.numel() < 1000000); long n = x.numel(); auto y = x;'
               "int g = (int)std::ceil(double(n) / 256.0);" + call)  # fmt: skip
    assert good.launch.grid[0] == "ceil_div(n, 256)" and not good.gaps


def test_the_reduction_over_a_dim_needs_the_rank() -> None:
    body = (
        "int64_t outer = 1, inner = 1; for (int i = 0; i < d; i++) outer *= x.size(i);"
        "for (int i = d + 1; i < x.dim(); i++) inner *= x.size(i); auto y = torch::empty({outer, inner}, x.options());"
        "k<<<outer, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), inner);"
    )
    found = launcher("TORCH_CHECK(x.dim() == 3 && d >= 0 && d < 3); " + body, "torch::Tensor x, int64_t d")
    shapes = {c.buffer("y").shape for c in found}  # type: ignore[union-attr]
    assert ("outer", "inner") in shapes and len(found) == 3
    assert all(not c.gaps for c in found)


def test_a_pointer_into_a_temporary_is_a_gap() -> None:
    made = one(
        "int n = x.numel(); float* p = torch::zeros({n}, x.options()).data_ptr<float>();"
        "k<<<n, 32>>>(x.data_ptr<float>(), p, n);"
    )
    assert any("temporary" in g for g in made.gaps)
    maybe = one(
        "int n = x.numel(); auto y = torch::empty_like(x); const float* p = x.contiguous().data_ptr<float>();"
        "k<<<n, 32>>>(p, y.data_ptr<float>(), n);"
    )
    assert any("temporary unless" in g for g in maybe.gaps)
    held = one(
        "int n = x.numel(); auto y = torch::empty_like(x); auto z = x.contiguous(); const float* p = z.data_ptr<float>();"
        "k<<<n, 32>>>(p, y.data_ptr<float>(), n);"
    )
    assert not held.gaps


def test_kernels_through_variables() -> None:
    found = launcher(
        "int n = x.numel(); auto y = torch::empty_like(x); auto go = n > 1000 ? k : j;"
        "go<<<n, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);",
        kernel=KERNEL + "__global__ void j(const float* a, float* b, int m) { }\n",
    )
    assert {(c.kernel, tuple(b.param for b in c.buffers)) for c in found} == {
        ("k", ("x", "y")),
        ("j", ("a", "b")),
    }


def test_an_unknown_kernel_is_a_problem() -> None:
    found = lift(
        KERNEL + "void run(torch::Tensor x, void (*go)(const float*, float*, int)) {"
        " go<<<1, 32>>>(x.data_ptr<float>(), x.data_ptr<float>(), 1); }\n"
    )
    assert found.problems and not found.contracts


def test_layout_of_a_transpose_is_never_contiguous() -> None:
    c = one(
        "TORCH_CHECK(x.dim() == 2); auto y = torch::empty_like(x); auto t = x.t();"
        "k<<<1, 32>>>(t[0].data_ptr<float>(), y.data_ptr<float>(), x.size(0));"
    )
    assert any(s.origin == "assumed" for s in c.symbols)


def test_a_throw_after_a_disjunction_of_facts() -> None:
    c = one(
        'if (!x.is_cuda() || !x.is_contiguous() || x.numel() == 0) { throw std::runtime_error("bad"); }'
        "int n = x.numel(); auto y = torch::empty_like(x); " + CALL
    )
    assert assumed(c) == set()
    either = launcher(
        'if (!x.is_cuda() && !x.is_contiguous()) { throw std::runtime_error("bad"); }'
        "int n = x.numel(); auto y = torch::empty_like(x); " + CALL
    )
    assert all({"contiguous(x)", "same_device(x)"} & assumed(one_) for one_ in either)


def test_what_is_asked_of_an_undefined_tensor_is_no_way_out() -> None:
    """``numel()`` of an undefined tensor is 0: the path goes on, so it may not be taken as one that ends."""
    body = (
        "torch::Tensor t; if (x.numel() > 100) t = x; int n = t.numel();"
        "auto y = torch::empty({n}, x.options()); " + CALL
    )
    found = lift(f"{KERNEL}torch::Tensor run(torch::Tensor x) {{ {body} return y; }}")
    assert any("numel() of an undefined tensor" in p for p in found.problems)
