"""The simulator: a kernel's C++ compiled by the host compiler, threads as fibers, every access checked.

Device text, kernel and launch -> what was seen: findings, outputs, how many blocks ran. 'No fault in these runs' is
never a proof. Only ``Session`` and ``simulate`` start anything, always in the sandbox they are given.

Example::

    result = simulate(device, kernel, launch, sandbox=probe())
    result.findings, result.outputs["y"], result.blocks_run, result.unsupported
"""

from sanitizers.simulator.model import (
    SCHEDULES,
    PlaceRequests,
    Schedule,
    SimFinding,
    SimResult,
    SimulatorMissing,
)
from sanitizers.simulator.session import Session, simulate
from sanitizers.simulator.wire import DTYPE_BYTES, small_values

__all__ = [
    "DTYPE_BYTES",
    "SCHEDULES",
    "PlaceRequests",
    "Schedule",
    "Session",
    "SimFinding",
    "SimResult",
    "SimulatorMissing",
    "simulate",
    "small_values",
]
