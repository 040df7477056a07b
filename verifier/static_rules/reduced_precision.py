"""Forward does not round its data to a narrower type."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "reduced-precision"
SEVERITY = Severity.WARNING
SUMMARY = "forward does not round its data to a narrower type"
WHY = "Half-precision or TF32 arithmetic in place of float is faster and wrong by a thousand roundings."
FIX = "compute in the type of the inputs"
SWITCHABLE = True
_METHODS = frozenset((".half", ".bfloat16"))
_DTYPES = frozenset(
    (
        "torch.float16",
        "torch.half",
        "torch.bfloat16",
        "torch.float8_e4m3fn",
        "torch.float8_e5m2",
        "torch.int8",
    )
)
_HOST = frozenset(("kHalf", "kFloat16", "kBFloat16"))


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    if wrapper is None or wrapper.forward is None or _asked(reading.reference):
        return
    for call in wrapper.calls():
        name = wrapper.name(call.func)
        narrow = [a for a in (*call.args, *(k.value for k in call.keywords)) if wrapper.name(a) in _DTYPES]
        if name in _METHODS or (
            narrow and name in (".to", ".type", "torch.empty", "torch.empty_like", "torch.zeros")
        ):
            yield Hit(wrapper.span(call), "the data is rounded to a narrower type")
    for index, word in enumerate(reading.host):
        before = [w.text for w in reading.host[max(0, index - 4) : index]]
        if word.text in _HOST and ("to" in before or "toType" in before or "dtype" in before):
            yield Hit(word.span, "the data is rounded to a narrower type")


def _asked(reference: str) -> bool:
    return any(word in reference for word in ("float16", "half", "bfloat16", "float8"))
