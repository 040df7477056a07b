"""What is known of a tensor's elements ends with every way to store to it: no contract may claim that they are still zero."""

from __future__ import annotations

import pytest

from tests.contracts.lifting import lift

HEAD = """__global__ void g(const long* t, float* y, int n) { }
__global__ void w(long* t) { }
struct P { int64_t* p; };
static void put(int64_t* p) { *p = 5; }
static int64_t& first(int64_t* p) { return *p; }
"""
BODY = (
    "torch::Tensor run(torch::Tensor x, int n) {{ auto t = torch::zeros({{n}}, x.options().dtype(torch::kLong)); {}"
    " g<<<1, 32>>>(t.data_ptr<int64_t>(), x.data_ptr<float>(), n); return x; }}\n"
)
STORES = [
    "t.slice(0, 1).copy_(x);",
    "t.narrow(0, 0, 1).fill_(5);",
    "t.select(0, 0).fill_(5);",
    "t.index({0}).fill_(5);",
    "t.unbind()[0].fill_(5);",
    "for (auto& u : t.split(2)) u.fill_(5);",
    "for (auto u : t.split(2)) w<<<1, 1>>>(u.data_ptr<int64_t>());",
    "auto u = t.unbind()[0]; at::fill_(u, 5);",
    "auto u = t.unbind()[0]; u += 5;",
    "auto u = torch::from_blob(t.data_ptr(), {n}, t.options()); u.fill_(5);",
    "auto u = t; u.add_(5);",
    "auto u = t.view({-1}); u += 5;",
    "std::vector<torch::Tensor> v = {t}; v[0].fill_(5);",
    "int64_t* p = t.data_ptr<int64_t>(); p[0] = 5;",
    "int64_t* p = t.data_ptr<int64_t>(); *p++ = 5;",
    "int64_t* p[2] = {t.data_ptr<int64_t>(), nullptr}; p[0][1] = 5;",
    "t.data_ptr<int64_t>()[0] = 5;",
    "t.data_ptr<int64_t>()[0] += 5;",
    "(*t.data_ptr<int64_t>())++;",
    "((float*)t.data_ptr())[1] = 5;",
    "t.mutable_data_ptr<int64_t>()[0] = 5;",
    "P s{t.data_ptr<int64_t>()}; s.p[0] = 5;",
    "P s; s.p = t.data_ptr<int64_t>(); *s.p = 5;",
    "int64_t& r = t.data_ptr<int64_t>()[0]; r = 5;",
    "int64_t& r = *t.data_ptr<int64_t>(); r = 5;",
    "put(t.data_ptr<int64_t>());",
    "first(t.data_ptr<int64_t>()) = 5;",
    "auto a = t.accessor<int64_t, 1>(); a[0] = 5;",
    "memset(t.data_ptr(), 1, 8);",
    "std::fill(t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + n, 5);",
    "cudaMemcpy(t.data_ptr(), x.data_ptr(), 8, cudaMemcpyDeviceToDevice);",
    "cudaMemset(t.unbind()[0].data_ptr(), 1, 8);",
]
READS = [
    "",
    "auto u = t.clone(); u.fill_(5);",
    "auto u = torch::zeros_like(t); u.view({-1}).fill_(5);",
    "int q[2] = {1, 2}; q[0] = 5;",
    "auto s = x.sum(); x.mul_(2);",
]


def _zero(statements: str) -> list[bool]:
    found = lift(HEAD + BODY.format(statements))
    last = [c for c in found.contracts if c.kernel == "g" and not c.gaps]
    buffers = [c.buffer("t") for c in last]
    return [b is not None and b.content == ("0", "0") for b in buffers]


@pytest.mark.parametrize("statements", STORES)
def test_a_store_ends_what_is_known(statements: str) -> None:
    assert not any(_zero(statements))


@pytest.mark.parametrize("statements", READS)
def test_other_stores_do_not(statements: str) -> None:
    assert _zero(statements) == [True]


def test_a_blob_has_as_much_memory_as_nobody_knows() -> None:
    made = "auto z = torch::from_blob(x.data_ptr(), {n * 100}, x.options());"
    found = lift(HEAD + BODY.format(made).replace("x.data_ptr<float>()", "z.data_ptr<float>()")).contracts
    assert [c for c in found if c.kernel == "g"]
    assert all(any("from_blob" in gap for gap in c.gaps) for c in found if c.kernel == "g")
