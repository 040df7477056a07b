"""Small kernels with one seeded fault each, beside their good twins: a table of patterns x faults -> programs.

``scopes``: what orders threads of different blocks (locks, flags, tickets, queues, barriers by hand) and what its scope
covers. ``graphs``: walks over a graph in compressed rows, by threads, warps and blocks, with five kinds of fault.

Example::

    for program in programs():
        program.name, program.fault, program.text, program.launch    # "spin-lock/no-fence-after-acquire", "race-global", …
"""

from benchmarks.seeded.graphs import GRAPHS
from benchmarks.seeded.model import Family, Program
from benchmarks.seeded.scopes import SCOPES

__all__ = ["FAMILIES", "Family", "Program", "programs"]

FAMILIES: tuple[Family, ...] = (*SCOPES, *GRAPHS)


def programs() -> list[Program]:
    """Every program, good ones first in each family."""
    return [program for family in FAMILIES for program in family.programs()]
