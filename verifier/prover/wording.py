"""What findings say: why a fault matters, and what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specs.results import ThreadAccess, Witness
from verifier.symex.claims import Obligation

WHY = {
    "bounds-global": "the access is outside the memory that the launch provides",
    "bounds-shared": "the access is outside the shared array",
    "bounds-local": "the access is outside the local array",
    "race-shared": "nothing orders the two accesses: no barrier lies between them",
    "race-global": "nothing orders the two accesses, so the result depends on timing",
    "barrier-divergence": "some threads wait at a barrier that others never reach: undefined behaviour, usually a hang",
    "overflow": "the value does not fit its C type, and an address or a condition depends on it",
    "arithmetic": "the operation is undefined for these values",
    "uninitialized": "the memory has no defined contents at that point",
    "launch": "the device refuses such a launch",
    "alignment": "the device faults on misaligned vector accesses",
    "assert": "the program's own condition does not hold",
}


def why(property_: str, threads: Sequence[ThreadAccess], known: Mapping[str, str] = WHY) -> str:
    """Why a fault matters. Of warp operations it is the lanes, not a barrier."""
    told = threads[0].action if property_ == "barrier-divergence" and threads else ""
    if "undefined" in told:
        return "a shuffle is defined only for lanes that its mask names and that take part; anything else is undefined"
    if "mask" in told:
        return "every lane that the mask of a warp operation names must take part, with that mask: undefined behaviour otherwise"
    return known.get(property_, "")


def fault_seen(o: Obligation, w: Witness) -> str:
    """The message of a finding, in the words of what was seen."""
    actions = " while ".join(f"thread {t.thread} of block {t.block} {t.action}" for t in w.threads[:2])
    return actions or o.claim
