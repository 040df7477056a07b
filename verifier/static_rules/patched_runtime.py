"""No function of a library is replaced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "patched-runtime"
SEVERITY = Severity.ERROR
SUMMARY = "no function of a library is replaced"
WHY = "A replaced timer or comparison makes every measurement the submission's own word."
FIX = "remove the assignment"
SWITCHABLE = True
_FLAGS = ("torch.backends.", "torch._C.", "torch.autograd.")


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    if wrapper is None:
        return
    for node in ast.walk(wrapper.tree):
        targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else []
        targets = [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else targets
        for target in targets:
            if isinstance(target, ast.Subscript):
                name = wrapper.name(target.value)
                changed = name in ("sys.modules", "sys.path_hooks", "sys.meta_path") or name.endswith(
                    ".__dict__"
                )
            else:
                name = wrapper.name(target) if isinstance(target, ast.Attribute) else ""
                top = name.partition(".")[0]
                changed = bool(top) and top in wrapper.roots and not name.startswith(_FLAGS)
            if changed and not name.startswith("os.environ"):
                yield Hit(wrapper.span(node), f"{name} is replaced")
        if isinstance(node, ast.Call):
            called = wrapper.name(node.func)
            owner = wrapper.name(node.args[0]) if node.args else ""
            if (
                called.rpartition(".")[2] in ("setattr", "delattr")
                and owner.partition(".")[0] in wrapper.roots
            ):
                yield Hit(wrapper.span(node), f"an attribute of {owner} is replaced")
            elif called.startswith(("unittest.mock", "mock.patch")) or called in (
                "sys.meta_path.insert",
                "sys.meta_path.append",
            ):
                yield Hit(wrapper.span(node), f"{called} replaces functions")
