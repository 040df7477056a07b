"""The child process that parses: JSON request on stdin, encoded ``ir.Module`` on stdout.

Invariant: it imports little (start-up counts) and trusts nothing; the parent validates what it answers.

Example request: ``{"text": "…", "instantiations": [["k", ["float"]]], "arch": "sm_80"}``.
"""

from __future__ import annotations

import gc
import json
import sys


def main() -> None:
    sys.setrecursionlimit(20_000)
    gc.disable()  # it would be a quarter of the time; the process ends with its one answer
    from verifier.frontend.device_clang import lib
    from verifier.frontend.device_kernels import lower_text
    from verifier.ir.codec import dumps

    lib()  # all that takes time and needs no request comes before it
    request = json.load(sys.stdin)
    wanted = [(name, tuple(arguments)) for name, arguments in request["instantiations"]]
    sys.stdout.write(dumps(lower_text(request["text"], wanted, request["arch"])))


if __name__ == "__main__":
    main()
