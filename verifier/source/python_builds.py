"""Code of a Python file that is compiled, or run on the GPU, without being read: other ways to build, other kernels.

Invariant: each use of PyTorch's extension builder is a plain call of ``load_inline``, or is named; so is what may bind a name
unseen (``exec``, ``globals``), device code in a string that no build takes, and a library with kernels of its own.

Example: ``build = cpp_extension.load_inline`` gives ``(3, "load_inline is used otherwise than called, …")``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

_MODULE = "cpp_extension"
_READS = frozenset(
    "load_inline CUDA_HOME ROCM_HOME CUDNN_HOME IS_WINDOWS IS_HIP_EXTENSION include_paths library_paths "
    "is_ninja_available verify_ninja_availability get_default_build_root check_compiler_abi_compatibility "
    "get_cxx_compiler".split()
)
"""Names of the extension builder that build nothing, and ``load_inline``."""
_UNSEEN = frozenset("exec eval globals locals vars __import__ __builtins__".split())
_KERNELS = frozenset(
    "triton cupy numba pycuda tilelang taichi warp cuda pyopencl jax tvm cutlass ctypes cffi".split()
)
_COMPILERS = frozenset("load_library _compile_kernel RawKernel RawModule SourceModule".split())
_DEVICE_CODE = re.compile(r"__global__\s[^;{}]*\([^;{}]*\)\s*\{")


def unread_builds(tree: ast.Module, names: set[str]) -> Iterator[tuple[int, str]]:
    """Lines and what is there. ``names``: those of ``load_inline`` in this file."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    modules, others, kernels = _imported(tree)
    for node in ast.walk(tree):
        parent = parents.get(node)
        match node:
            case ast.ImportFrom(module=str(module), names=found) if module.endswith(_MODULE):
                for alias in found:
                    if alias.name == "*":
                        yield node.lineno, f"what is imported from {module} is not known"
            case ast.Name(id=name, ctx=ast.Load()) if name in kernels:
                yield node.lineno, f"kernels of {kernels[name]} are not read"
                kernels = {}
            case ast.Name(id=name, ctx=ast.Load()) if name in others:
                yield node.lineno, f"what {name} builds is not read; use load_inline"
            case ast.Name(id=name, ctx=ast.Load()) if name in _UNSEEN:
                yield node.lineno, f"{name} may bind names unseen"
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) if name in names:
                if not (isinstance(parent, ast.Call) and parent.func is node):
                    yield node.lineno, f"{name} is used otherwise than called, so what it builds is not read"
            case ast.Attribute(attr=name) if name in _COMPILERS:
                yield node.lineno, f"kernels of {name} are not read"
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) if name in modules:
                used = parent.attr if isinstance(parent, ast.Attribute) and parent.value is node else "this"
                if used not in _READS:
                    yield node.lineno, f"what {name}.{used} builds is not read; use load_inline"


def _imported(tree: ast.Module) -> tuple[set[str], set[str], dict[str, str]]:
    """Names of the builder's module, of its functions that build otherwise, and of libraries with kernels of their own."""
    modules, others, kernels = {_MODULE}, set[str](), dict[str, str]()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=found):
                for alias in found:
                    first = alias.name.split(".")[0]
                    if alias.name.endswith(_MODULE) and alias.asname:
                        modules.add(alias.asname)
                    if first in _KERNELS:
                        kernels[alias.asname or first] = first
            case ast.ImportFrom(module=str(module), names=found):
                for alias in found:
                    name = alias.asname or alias.name
                    if module.endswith(_MODULE) and alias.name not in _READS:
                        others.add(name)
                    if alias.name == _MODULE:
                        modules.add(name)
                    if module.split(".")[0] in _KERNELS:
                        kernels[name] = module.split(".")[0]
    return modules, others, kernels


def unread_texts(tree: ast.Module, read: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Strings that define a kernel and are in no text of a build, but for those that nothing uses."""
    loaded = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    unused: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=value):
                unused.add(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in loaded:
                unused.add(value)
            case ast.Constant(value=str(text)) if _DEVICE_CODE.search(text) and node not in unused:
                if not any(text in whole for whole in read):
                    yield node.lineno, "holds CUDA code that no load_inline call compiles"


def changed_elsewhere(tree: ast.AST, name: str) -> bool:
    """Whether a list's name is used outside of calls of ``load_inline``."""
    given = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == "load_inline"
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name)
    }
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) and n not in given
        for n in ast.walk(tree)
    )
