"""What ModelNew.forward returns comes from the submission's kernels."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading, Word
from verifier.static_rules.flow import returned
from verifier.static_rules.hit import Hit, string_value

ID = "kernel-not-used"
SEVERITY = Severity.ERROR
SUMMARY = "what ModelNew.forward returns comes from the submission's kernels"
WHY = "A kernel that nothing calls, or whose result is thrown away, is a decoy; other code does the work."
FIX = "call the extension in forward and return what it computes"
SWITCHABLE = True


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    if wrapper is None or wrapper.model is None or not any(map(wrapper.builds, ast.walk(wrapper.tree))):
        return
    if wrapper.forward is None:
        yield Hit(wrapper.span(wrapper.model), "ModelNew has no forward of its own in this file")
    elif not wrapper.touches(wrapper.forward):
        yield Hit(wrapper.span(wrapper.forward), "ModelNew.forward calls nothing of the extension")
    elif not returned(wrapper, wrapper.forward):
        yield Hit(
            wrapper.span(wrapper.forward), "what the extension computes is not part of what forward returns"
        )
    elif (named := _launchless(reading)) is not None:
        word, names = named
        yield Hit(word.span, f"{names}, which forward calls, launches no kernel")


def _launchless(reading: Reading) -> tuple[Word, str] | None:
    """The function that forward calls, if none of those launches anything."""
    wrapper = reading.wrapper
    assert wrapper is not None
    host = [f for f in reading.host_functions if not f.device and not f.kernel]
    launching: set[str] = set()
    for _ in range(len(host) + 1):
        before = len(launching)
        launching |= {f.name for f in host if _launches([w.text for w in f.body], launching)}
        if len(launching) == before:
            break
    bound = _bound(reading)
    words = {n.attr for n in wrapper.nodes() if isinstance(n, ast.Attribute)}
    words |= {
        wrapper.name(c).rpartition(".")[2] for c in wrapper.calls() if wrapper.name(c.func) == "getattr"
    }
    called = {bound.get(w, w) for w in words}
    names = [f for f in host if f.name in called]
    if not names or launching.intersection(called):
        return None
    return names[0].head[0], names[0].name


def _launches(texts: list[str], known: set[str]) -> bool:
    heads = any(texts[i : i + 3] == ["<", "<", "<"] for i in range(len(texts) - 2))
    return heads or any(t in known or t.startswith(("cudaLaunch", "cuLaunch")) for t in texts)


def _bound(reading: Reading) -> dict[str, str]:
    """Python name -> C++ function, from ``m.def("name", &function)``."""
    words, found = reading.host, {}
    for i in range(len(words) - 5):
        if [words[i].text, words[i + 1].text] == ["def", "("] and words[i + 2].kind == "string":
            rest = [w.text for w in words[i + 3 : i + 9] if w.kind == "ident"]
            if rest:
                found[string_value(words[i + 2].text)] = rest[-1] if "::" in rest else rest[0]
    return found
