"""A file as people submit it -> Submission: the one device text that every reader gets, and the host text beside it.

Invariant: the file is opened once; what is inside is never executed or compiled. Every error that a user can mend is a
SourceError with a place; what could not be read for certain stands in ``problems`` and keeps the result inconclusive.

Example::

    submission = load(Path("saxpy.cu"), root=None, sandbox=probe())
    submission.device.kernels        # (("saxpy", Span("saxpy.cu", 3, 17)),)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from specs.location import Span
from verifier.isolation.sandbox import Sandbox
from verifier.source import headers, host_text, macros
from verifier.source.declarations import parse
from verifier.source.device_text import Conditional, DeviceText, SourceText, Submission
from verifier.source.errors import NoKernel, SourceError
from verifier.source.preprocess import Expanded, Reader, decode, read_bytes
from verifier.source.python_file import Build, Named, joined, read_builds
from verifier.source.slice import Cut, slice_device


def load(
    path: Path,
    *,
    root: Path | None = None,
    include_dirs: Sequence[Path] = (),
    defines: Mapping[str, str] = {},
    arch: str = "sm_80",
    sandbox: Sandbox,
    host_files: Sequence[Path] = (),
    flags: Sequence[str] = (),
) -> Submission:
    """Read ``path``. Raises SourceError (bad input) or NoKernel."""
    data = read_bytes(path)
    raw = decode(data, path)
    where = Span(str(path), 0)
    if not raw.strip():
        raise SourceError("is empty", where, "name a .cu or .py file with a kernel")
    _check(defines, arch)
    reader = Reader(root or path.parent, tuple(include_dirs), sandbox)
    problems: tuple[str, ...] = ()
    if path.suffix == ".py":
        builds, problems = read_builds(raw, str(path))
    else:
        builds = (Build(cuda=(Named("file", SourceText(str(path), raw)),), flags=tuple(flags)),)
    others = tuple(Named("host", SourceText(str(p), decode(read_bytes(p), p))) for p in host_files)
    parts = [_part(build, reader, arch, defines) for build in (*builds, Build(cpp=others))]
    device = _device(parts, builds, defines)
    problems += tuple(dict.fromkeys(p for part in parts for p in part.problems)) + _clashes(parts)
    named = [{**b.defines, **b.host_defines} for b in builds] + [defines]
    if any(_PER_THREAD in t.text for part in parts for t in part.texts) or any(
        _PER_THREAD in n for n in named
    ):
        problems += (f"{path}: {_PER_THREAD}: calls without a stream are on one that others do not wait for",)
    conditionals = tuple({c.name: c for part in parts for c in part.conditionals}.values())
    problems += tuple(
        f"{c.span}: the build decides {c.name}; {_decide(c.name)}" for c in conditionals if not c.tool
    )
    if not device.kernels and not problems:
        raise NoKernel("has no __global__ function", where, "name a file with a CUDA kernel")
    host = host_text.joined([text for part in parts for text in part.host])
    torch = any(map(headers.is_torch, device.system_includes)) or "PYBIND11_MODULE" in host
    return Submission(
        path=str(path),
        kind="python" if path.suffix == ".py" else "extension" if torch else "cu",
        sha256=hashlib.sha256(data).hexdigest(),
        raw=raw,
        device=device,
        host=host,
        python=raw if path.suffix == ".py" else "",
        units=tuple((u.name, u.source.line(1), u.source.text) for b in builds for u in (*b.cuda, *b.cpp)),
        problems=problems,
        texts=tuple(dict.fromkeys(t for part in parts for t in part.texts)),
        conditionals=conditionals,
    )


_PER_THREAD = "CUDA_API_PER_THREAD_DEFAULT_STREAM"


@dataclass(frozen=True, slots=True)
class _Part:
    """One build: its device code cut out, and the host text of each compilation."""

    cut: Cut
    host: tuple[str, ...]
    system_includes: tuple[str, ...]
    user_headers: tuple[tuple[str, str], ...]
    texts: tuple[SourceText, ...]
    conditionals: tuple[Conditional, ...]
    problems: tuple[str, ...]


def _part(build: Build, reader: Reader, arch: str, defines: Mapping[str, str]) -> _Part:
    merged = {**build.defines, **defines}
    expanded: list[Expanded] = []
    cut = Cut("", (), (), {})
    cut_problems: tuple[str, ...] = ()
    if build.cuda:
        source = joined([n.source for n in build.cuda])
        device = reader.preprocess(source, arch=arch, device=True, defines=merged)
        cut = slice_device(parse(device.text, source.path))
        cut_problems += _unstable(source, device, cut, reader, arch, merged)
        by_arch = any("__CUDA_ARCH__" in text.text for text in device.texts)
        host = reader.preprocess(source, arch=arch, device=False, defines=merged) if by_arch else device
        expanded += [host, device] if by_arch else [device]
    hosts = [e.text for e in expanded[:1]]
    if build.folders and any(e.user_headers for e in expanded):
        cut_problems += (
            "extra_include_paths may lead to other headers than those beside the file; pass -I DIR",
        )
    for named in build.cpp:
        macros_ = {**build.host_defines, **defines} if build.inline else merged
        expanded.append(reader.preprocess(named.source, arch=arch, device=False, defines=macros_))
        hosts.append(expanded[-1].text)
    return _Part(
        cut,
        tuple(hosts),
        tuple(dict.fromkeys(i for e in expanded for i in e.system_includes)),
        tuple(dict.fromkeys(h for e in expanded for h in e.user_headers)),
        tuple(dict.fromkeys(t for e in expanded for t in e.texts)),
        tuple({c.name: c for e in expanded for c in e.conditionals}.values()),
        tuple(dict.fromkeys(p for e in expanded for p in e.problems)) + cut.problems + cut_problems,
    )


def _unstable(
    source: SourceText, device: Expanded, cut: Cut, reader: Reader, arch: str, defines: Mapping[str, str]
) -> tuple[str, ...]:
    """Whether device code depends on macros whose values are the build's: read again with other values."""
    text = "".join(t.text for t in device.texts)
    names = [n for n in macros.UNSTABLE_MACROS if n in text and (n != "__LINE__" or source.lines)]
    if not names:
        return ()
    other = {**defines, **{n: macros.UNSTABLE_MACROS[n] for n in names}}
    again = reader.preprocess(source, arch=arch, device=True, defines=other)
    if slice_device(parse(again.text, source.path)).text == cut.text:
        return ()
    return (f"{source.path}: device code depends on {' or '.join(names)}, whose value is the build's",)


def _device(parts: Sequence[_Part], builds: Sequence[Build], defines: Mapping[str, str]) -> DeviceText:
    text = "".join(part.cut.text for part in parts)
    return DeviceText(
        text=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        kernels=tuple(kernel for part in parts for kernel in part.cut.kernels),
        system_includes=tuple(
            dict.fromkeys([*_implied(builds), *(i for p in parts for i in p.system_includes)])
        ),
        user_headers=tuple(dict.fromkeys(h for part in parts for h in part.user_headers)),
        defines=tuple({**{k: v for b in builds for k, v in b.defines.items()}, **defines}.items()),
        flags=tuple(dict.fromkeys(flag for build in builds for flag in build.flags)),
    )


def _implied(builds: Sequence[Build]) -> Sequence[str]:
    """What PyTorch's extension builder includes by itself."""
    inline = any(build.inline for build in builds)
    return ("torch/extension.h", "cuda.h", "cuda_runtime.h") if inline else ()


def _clashes(parts: Sequence[_Part]) -> tuple[str, ...]:
    """Names that two compilations of one file define: joined in one text they would be one program."""
    seen: set[str] = set()
    problems: list[str] = []
    for part in parts:
        names = set(part.cut.defined)
        problems += [
            f"{part.texts[0].path}: two load_inline calls define the {name}; put them into separate files"
            for name in sorted(names & seen)
        ]
        seen |= names
    return tuple(problems)


def _decide(name: str) -> str:
    return f"pass -D {name}=VALUE, or -D {name}={macros.UNDEFINED}"


def _check(defines: Mapping[str, str], arch: str) -> None:
    where = Span("command line", 0)
    for name, value in defines.items():
        if not re.fullmatch(r"[A-Za-z_]\w*(\([\w, .]*\))?", name) or "\n" in value:
            raise SourceError(f"-D {name}={value} is not a macro definition", where, "write -D NAME=VALUE")
    try:
        macros.arch_number(arch)
    except ValueError as error:
        raise SourceError(str(error), where, "write for example sm_80") from None
