"""Every instruction exists on every target."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.architectures import architecture
from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit, assembly

ID = "arch-feature"
SEVERITY = Severity.ERROR
SUMMARY = "every instruction exists on every target"
WHY = "The kernel does not compile, or traps, on that architecture."
FIX = "give a second path for the older architecture, or name the targets with --arch"
_WORDS = {
    "__pipeline_memcpy_async": "cp.async",
    "__reduce_add_sync": "redux.sync",
    "__reduce_min_sync": "redux.sync",
    "__reduce_max_sync": "redux.sync",
    "__reduce_and_sync": "redux.sync",
    "__reduce_or_sync": "redux.sync",
    "__reduce_xor_sync": "redux.sync",
    "__nv_fp8_e4m3": "fp8 conversion",
    "__nv_fp8_e5m2": "fp8 conversion",
    "__nv_fp4_e2m1": "fp4 conversion",
    "CUtensorMap": "TMA",
    "__cluster_dims__": "thread block clusters",
    "this_cluster": "thread block clusters",
    "cudaGridDependencySynchronize": "programmatic dependent launch",
}
_PTX = (
    (re.compile(r"\bcp\.async\.bulk"), "TMA"),
    (re.compile(r"\bcp\.async\."), "cp.async"),
    (re.compile(r"\bldmatrix\."), "ldmatrix"),
    (re.compile(r"\bstmatrix\."), "stmatrix"),
    (re.compile(r"\bmma\.sync\.[^;]*\bbf16\b"), "bf16 arithmetic"),
    (re.compile(r"\bmma\.sync\.[^;]*\be[45]m[23]\b"), "fp8 conversion"),
    (re.compile(r"\bmma\.sync\."), "mma.sync"),
    (re.compile(r"\bwgmma\."), "wgmma"),
    (re.compile(r"\btcgen05\."), "tcgen05"),
    (re.compile(r"\bsetmaxnreg\."), "setmaxnreg"),
    (re.compile(r"\bmbarrier\."), "mbarrier"),
    (re.compile(r"\bredux\.sync"), "redux.sync"),
    (re.compile(r"\bgriddepcontrol\."), "programmatic dependent launch"),
    (re.compile(r"\b(barrier\.cluster|mapa)\b"), "thread block clusters"),
)


def check(reading: Reading) -> Iterator[Hit]:
    archs = [a for a in map(architecture, reading.archs) if a is not None]
    used = [(w, w.text, _WORDS[w.text]) for w in reading.device if w.kind == "ident" and w.text in _WORDS]
    for word, template in assembly(reading.device):
        used += [(word, m.group(), feature) for pattern, feature in _PTX if (m := pattern.search(template))]
    for word, name, feature in used:
        missing = [a.name for a in archs if feature not in a.features]
        if missing:
            yield Hit(word.span, f"{name} needs {feature}, which {', '.join(missing)} does not have")
