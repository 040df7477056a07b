"""Device code does not ask where it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit, assembly, calls

ID = "environment-probe"
SEVERITY = Severity.ERROR
SUMMARY = "device code does not ask where it runs"
WHY = "Which multiprocessor or grid runs a thread is not part of the program; such a kernel can recognise the checker."
FIX = "use blockIdx and threadIdx"
_REGISTERS = re.compile(
    r"%(nsmid|smid|nwarpid|warpid|gridid|pm\d+|envreg\d*|total_smem_size|aggr_smem_size|current_graph_exec|reserved_smem\w*)"
)
_CALLS = frozenset(
    ("__smid", "__nsmid", "cudaGetDevice", "cudaDeviceGetAttribute", "cudaGetDeviceCount", "__isGlobalCta")
)


def check(reading: Reading) -> Iterator[Hit]:
    for word in calls(reading.device, _CALLS):
        yield Hit(word.span, f"device code calls {word.text}")
    for word, template in assembly(reading.device):
        if found := _REGISTERS.search(template):
            yield Hit(word.span, f"inline PTX reads %{found[1]}")
