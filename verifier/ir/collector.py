"""Reading a child's long answer: a block of code -> the same, without the search for garbage.

Hundreds of thousands of lists and nodes are made, none of them garbage, and looking for it takes half of the time.

Example::

    with without_collector():
        data = json.loads(done.stdout)
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
