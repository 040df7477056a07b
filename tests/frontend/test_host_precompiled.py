"""The precompiled declarations change nothing but the time, and only what we wrote ourselves is used."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from verifier.frontend import host, host_precompiled
from verifier.frontend.host_precompiled import precompiled
from verifier.isolation.sandbox import Sandbox, probe

SANDBOX = probe()
ROOT = Path(__file__).resolve().parents[2]
TEXTS = {
    "torch": """
#line 1 "a.cu"
__global__ void k(float *x, int n);
torch::Tensor run(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "cuda");
  auto y = at::empty_like(x);
  int n = static_cast<int>(x.numel());
  std::vector<int64_t> sizes = {x.size(0), std::max<int64_t>(x.size(1), 1)};
  k<<<dim3((n + 255) / 256), 256, 0, at::cuda::getCurrentCUDAStream()>>>(y.data_ptr<float>(), n);
  return y.mystery(sizes).view({sizes[0], -1});
}
""",
    "program": """
# 1 "b.cu"
template <class T, int N> struct Box { T items[N]; T &at(int i) { return items[i]; } };
template <class T> __global__ void k(T *x, int n) { x[threadIdx.x] = n; }
static int rounds = 3;
template <class F> void twice(F f) { f(); f(); }
int main(int argc, char **argv) {
  float *d; cudaMalloc(&d, sizeof(float) * 1024); Box<unsigned, 4> box;
  for (int i = 0; i < rounds; i++) { box.at(i % 4) += strange::thing(i, argv[0]) + odd; }
  twice([&] { k<float><<<4, 256>>>(d, 1024); });
  std::vector<std::pair<int, float>> pairs(4, {1, 2.0f}); std::sort(pairs.begin(), pairs.end());
  printf("%zu %d\\n", pairs.size(), INT_MAX); cudaFree(d); return EXIT_SUCCESS;
}
""",
    "broken": "int f( { return }\nvoid g() { int x = 1 }\n",
    "empty": "\n",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def forget() -> None:
    precompiled.cache_clear()


def same(text: str, cache: Path) -> bool:
    quick = host.read_host(text, sandbox=SANDBOX, cache=cache)
    precompiled.cache_clear()
    return told(quick) == told(host.read_host(text, sandbox=SANDBOX))


def told(code: host.HostCode) -> str:
    """Everything but the offsets and hashes in the names by which functions are found."""
    shown = json.dumps([str(code.errors), code.functions, code.roots, code.globals, code.kernels, code.paths])
    return re.sub(r'@\d+@|#\d+"', "#", shown) + str((code.launches, code.unknown_names))


@pytest.mark.parametrize("name", TEXTS)
def test_the_tree_is_the_same(name: str, cache: Path) -> None:
    assert same(TEXTS[name], cache)
    assert len(list((cache / "parser").iterdir())) == 1


def test_the_parser_takes_it(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from verifier.frontend import host_worker

    file = precompiled(cache, SANDBOX)
    assert file is not None
    shim = host_precompiled.SHIM.read_text()
    seen: list[bool] = []
    quick = host_worker._quick

    def watched(*given: Any) -> Any:
        unit = quick(*given)
        seen.append(unit is not None)
        return unit

    monkeypatch.setattr(host_worker, "_quick", watched)
    host_worker.parse("int f() { return std::max(1, 2); }\n", shim, str(file))
    assert seen == [True]


def test_what_the_parser_refuses_is_not_used(tmp_path: Path) -> None:
    from verifier.frontend import host_worker

    shim = host_precompiled.SHIM.read_text()
    plain = host_worker.parse(TEXTS["torch"], shim)
    bad = tmp_path / "x.pch"
    for content in (b"", b"CPCH" + b"\0" * 1000, b"no header"):
        bad.write_bytes(content)
        assert host_worker.parse(TEXTS["torch"], shim, str(bad)) == plain
    assert host_worker.parse(TEXTS["torch"], shim, str(tmp_path / "missing")) == plain


def test_is_made_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = precompiled(cache, SANDBOX)
    precompiled.cache_clear()
    monkeypatch.setattr(host_precompiled, "run", None)
    assert first is not None and precompiled(cache, SANDBOX) == first


@pytest.mark.parametrize("harm", ["bytes", "mode", "link"])
def test_another_file_is_not_used(harm: str, tmp_path: Path) -> None:
    path = precompiled(tmp_path, SANDBOX)
    assert path is not None
    data = path.read_bytes()
    match harm:
        case "bytes":
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        case "mode":
            os.chmod(path, 0o666)
        case "link":
            path.rename(tmp_path / "elsewhere")
            path.symlink_to(tmp_path / "elsewhere")
    precompiled.cache_clear()
    again = precompiled(tmp_path, SANDBOX)
    assert again is None or (not again.is_symlink() and again.read_bytes()[-1] == data[-1])
    assert again is None or not again.stat().st_mode & 0o022
    assert same(TEXTS["torch"], tmp_path)


def test_no_folder_no_file(tmp_path: Path) -> None:
    (tmp_path / "parser").write_text("in the way")
    assert precompiled(tmp_path, SANDBOX) is None
    assert precompiled(None, SANDBOX) is None
    assert same("int f();\n", tmp_path)


def test_it_is_used_without_a_sandbox(cache: Path) -> None:
    none = Sandbox("none")
    quick = host.read_host(TEXTS["torch"], sandbox=none, cache=cache)
    assert told(quick) == told(host.read_host(TEXTS["torch"], sandbox=none))
