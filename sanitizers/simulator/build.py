"""Device text -> a program that runs its kernel under watch. Everything of the user's is compiled in the sandbox.

The runtime and the precompiled prelude depend on the compiler and on our own files only; they are built once and kept
by content, as is each kernel's program. Invariant: a program's only ties to the outside are the symbols of our runtime,
``libm`` and the C++ library's maths; anything else (``exit``, ``write``, ``malloc``, a constructor) is refused by name.

Example::

    program = build(prepared.text, "saxpy", (), sandbox=sandbox, opt="O1", cache=folder)
    program.path   # or program.refused: why there is none
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sanitizers.simulator.model import SimulatorMissing
from verifier.isolation import Limits, Sandbox, run

RUNTIME = Path(__file__).parent / "runtime"
INSTALL = "g++ is missing: apt-get install g++   (the simulator compiles kernels with it)"
_LANGUAGE = ["-std=gnu++17", "-gdwarf-4", "-fno-exceptions", "-fno-omit-frame-pointer", "-fno-pie"]
_NO_HARDENING = [
    "-fno-stack-protector",
    "-fcf-protection=none",
]  # defaults of some distributions (Ubuntu's gcc)
_WATCH = [
    "-fsanitize=thread",
    "-fsanitize=bounds-strict,alignment,shift,signed-integer-overflow,integer-divide-by-zero",
    "--param=tsan-instrument-func-entry-exit=0",
    "--param=tsan-distinguish-volatile=1",
    "-fno-builtin-memcpy",
    "-fno-builtin-memset",
    "-fno-store-merging",
    "-fno-tree-vectorize",
    "-fno-tree-loop-distribute-patterns",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-ftrivial-auto-var-init=pattern",
    "-U_FORTIFY_SOURCE",
    *_NO_HARDENING,
    # Control flow that the kernel cannot bend: no indirect call or jump (its thunk does not exist, so it is refused),
    # frames that can be walked, and no way to move the stack pointer off the thread's stack.
    "-mindirect-branch=thunk-extern",
    "-fno-jump-tables",
    "-fno-optimize-sibling-calls",
    "-fstack-clash-protection",
    "-Werror=vla",
]
_RUNTIME_FLAGS = [
    "-std=c++17",
    "-O2",
    "-g0",
    "-fno-pie",
    "-fno-omit-frame-pointer",
    "-momit-leaf-frame-pointer",
    "-fno-exceptions",
    "-fno-rtti",
]
_ROOT = "/device-text"  # what the compiler believes to be its working directory
_HARMLESS_SYMBOL = re.compile(
    r"simt_\w+|__sanitizer_cov_trace_pc|__tsan_\w+|__ubsan_handle_\w+|memcpy|memset|memmove|memcmp"
    r"|__(popcount|clz|ctz|ffs|bswap|parity)[sdt]i2|_GLOBAL_OFFSET_TABLE_|__(start|stop)_simt_objects|__(divti3|modti3|udivti3|umodti3|extendhfsf2|truncsfhf2)"
    r"|a?(sin|cos|tan)h?f?|atan2f?|(exp|exp2|expm1|exp10|log|log2|log10|log1p|logb|ilogb|pow|sqrt|cbrt|hypot|erf|erfc|[tl]gamma"
    r"|floor|ceil|trunc|round|lround|llround|rint|lrint|llrint|nearbyint|fmod|remainder|remquo|fma|fdim|fmin|fmax|fabs"
    r"|copysign|ldexp|scalbn|scalbln|frexp|modf|nextafter|j0|j1|jn|y0|y1|yn|sincos)f?"
)
# .init_array.00099 is the instrumentation's own call of __tsan_init.
_REFUSED_SECTION = re.compile(r"\.((pre)?init_array(?!\.00099$)|fini_array|ctors|dtors|init$|fini$)")
_SCRIPT = r"""set -e
cat > kernel.cpp
"$@" -c kernel.cpp -o kernel.o 1>&2
printf 'symbols\n'; nm -u -P kernel.o
printf 'sections\n'; size -A kernel.o
objcopy --keep-global-symbol=simt_entry kernel.o
g++ -no-pie kernel.o "$RUNTIME_OBJECT" -o program -Wl,-z,relro,-z,now 1>&2
"""


@dataclass(frozen=True, slots=True)
class Program:
    """``refused``: why there is no program, in words, or None."""

    path: Path
    refused: str | None = None
    cached: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The runtime for one compiler and one optimisation level: an object and a precompiled prelude."""

    folder: Path
    key: str

    @property
    def runtime(self) -> Path:
        return self.folder / "runtime.o"

    @property
    def prelude(self) -> Path:
        return self.folder / "simt.h"


_lock = threading.Lock()


@cache
def _compiler_version() -> str:
    if shutil.which("g++") is None:
        raise SimulatorMissing(INSTALL)
    done = subprocess.run(["g++", "-v"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SimulatorMissing(INSTALL)
    return done.stderr


@cache
def _private_cache() -> Path:
    folder = tempfile.mkdtemp(prefix="simulator-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _sources() -> list[Path]:
    return sorted([*RUNTIME.glob("*.cpp"), *RUNTIME.glob("*.h"), *RUNTIME.glob("prelude/*.h")])


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:32]


@cache
def runtime_key() -> str:
    """Names the compiler, the flags and every line of the runtime."""
    return _digest(
        _compiler_version(),
        repr([_LANGUAGE, _WATCH, _RUNTIME_FLAGS, _SCRIPT]),
        *[part for path in _sources() for part in (path.name, path.read_bytes())],
    )


def toolchain(cache: Path | None, opt: str) -> Toolchain:
    """The runtime, built now or taken from the cache. Raises SimulatorMissing."""
    base = (cache or _private_cache()) / "simulator"
    key = _digest(runtime_key(), opt)
    chain = Toolchain(base / f"runtime-{opt}-{key}", key)
    with _lock:
        if not chain.folder.is_dir():
            base.mkdir(parents=True, exist_ok=True)
            _build_runtime(chain, opt)
    return chain


def _build_runtime(chain: Toolchain, opt: str) -> None:
    work = Path(tempfile.mkdtemp(prefix="build-", dir=chain.folder.parent))
    try:
        shutil.copytree(RUNTIME, work, dirs_exist_ok=True)
        unity = "".join(f'#include "{p.name}"\n' for p in _sources() if p.suffix == ".cpp")
        jobs = [
            (["g++", *_RUNTIME_FLAGS, "-I.", "-x", "c++", "-c", "-", "-o", "runtime.o"], unity),
            (["g++", *_compile_flags(opt), "-x", "c++-header", "simt.h", "-o", "simt.h.gch"], ""),
        ]
        pipe = subprocess.PIPE
        children = [
            subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=work) for argv, _ in jobs
        ]
        for child, (_, text) in zip(children, jobs, strict=True):
            _, errors = child.communicate(text.encode())
            if child.returncode != 0:
                raise SimulatorMissing(
                    f"g++ cannot build the simulator's runtime: {_first_error(errors.decode())}"
                )
        try:
            work.rename(chain.folder)
        except OSError:  # another process was faster
            if not chain.folder.is_dir():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


BLOCKS = "+blocks"
"""After an optimisation level: a program that tells which of its basic blocks ran."""


def _compile_flags(opt: str) -> list[str]:
    level, blocks, _ = opt.partition(BLOCKS)
    return [*_LANGUAGE, *_WATCH, f"-{level}", *(["-fsanitize-coverage=trace-pc"] if blocks else [])]


def build(text: str, *, opt: str, sandbox: Sandbox, cache: Path | None, limits: Limits) -> Program:
    """Compile and link a prepared text (with its driver). The result's ``refused`` says why it must not be run."""
    chain = toolchain(cache, opt)
    folder = (cache or _private_cache()) / "simulator" / "kernels"
    key = _digest(chain.key, opt, text)
    target, refusal = folder / key, folder / f"{key}.refused"
    if target.is_file():
        return Program(target, cached=True)
    if refusal.is_file():
        return Program(target, refusal.read_text(), cached=True)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as work:
        argv = [
            "g++",
            *_compile_flags(opt),
            f"-ffile-prefix-map={work}={_ROOT}",
            "-include",
            str(chain.prelude),
        ]
        script = _SCRIPT.replace('"$RUNTIME_OBJECT"', str(chain.runtime))
        done = run(
            ["/bin/sh", "-c", f"cd {work}\n{script}", "sh", *argv],
            sandbox=sandbox,
            stdin=text.encode(),
            limits=limits,
            readable=[chain.folder],
            writable=[Path(work)],
            cwd=Path(work),
        )
        if done.timed_out or done.returncode in (-9, -24, 137, 152):
            return Program(target, "compiling it takes more than the limit", seconds=done.seconds)
        refused = _why_not(
            done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode
        )
        if refused is not None:
            _keep(refusal, refused.encode())
            return Program(target, refused, seconds=done.seconds)
        _keep(target, (Path(work) / "program").read_bytes(), executable=True)
    return Program(target, seconds=done.seconds)


def _keep(path: Path, data: bytes, *, executable: bool = False) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    if executable:
        os.chmod(name, 0o755)
    os.replace(name, path)


def _why_not(output: str, errors: str, returncode: int) -> str | None:
    symbols, _, sections = output.partition("sections\n")
    for line in symbols.splitlines()[1:]:
        name = line.split()[0] if line.split() else ""
        if name and not _HARMLESS_SYMBOL.fullmatch(name):
            return f"a call of {_demangled(name)}, which device code does not have"
    for line in sections.splitlines():
        name = line.split()[0] if line.split() else ""
        if _REFUSED_SECTION.match(name):
            return "a variable of namespace scope that needs code to run before the launch"
    return None if returncode == 0 else _first_error(errors)


def _demangled(name: str) -> str:
    known = {
        "_Znwm": "operator new",
        "_Znam": "operator new[]",
        "_ZdlPvm": "operator delete",
        "_ZdaPv": "operator delete[]",
    }
    if name.startswith("__x86_indirect_thunk"):
        return "a function through a pointer"
    if name.startswith("_ZTV"):
        return "a virtual function"
    found = re.match(r"_ZN?K?(?:\d+[A-Za-z_]\w*?)*?(\d+)([A-Za-z_]\w*)", name)
    return known.get(name) or (found[2][: int(found[1])] if found else name)


def _first_error(errors: str) -> str:
    for line in errors.splitlines():
        found = re.match(r"(.*?):(\d+):(\d+): (?:fatal )?error: (.*)", line)
        if found is None:
            continue
        path, message = found[1].removeprefix(_ROOT + "/"), re.sub(r"[‘’]", "'", found[4])
        unknown = re.match(
            r"'([\w:]+)' (?:was not declared in this scope|has not been declared|does not name a type)",
            message,
        )
        what = f"{unknown[1]} is not known to the simulator" if unknown else f"g++: {message}"
        return f"{what} ({path}:{found[2]})"
    return f"g++: {errors.strip().splitlines()[-1][:200] if errors.strip() else 'no message'}"
