"""Host code does not depend on the device or the environment."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit, calls

ID = "device-probe"
SEVERITY = Severity.NOTE
SUMMARY = "host code does not depend on the device or the environment"
WHY = "What was audited holds for every device only if the launch does not depend on it."
FIX = "pass such values as arguments, so that the contract names them"
_CALLS = frozenset(
    (
        *(
            "cudaGetDeviceProperties",
            "cudaDeviceGetAttribute",
            "cuDeviceGetAttribute",
            "getCurrentDeviceProperties",
        ),
        *("cudaGetDeviceProperties_v2", "getDeviceProperties", "getenv", "secure_getenv"),
        *("cudaOccupancyMaxPotentialBlockSize", "cudaOccupancyMaxActiveBlocksPerMultiprocessor"),
    )
)


def check(reading: Reading) -> Iterator[Hit]:
    for word in calls(reading.host, _CALLS):
        yield Hit(word.span, f"{word.text} makes the launch depend on the machine")
