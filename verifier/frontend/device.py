"""Device text -> ``ir.Module``: starts the parsing child and checks what it answers.

Input -> output: DeviceText, instantiations -> Module. libclang is not hardened against hostile input, so it runs in a
child with limits, inside of the sandbox; only JSON comes back.

Invariant: what is returned has passed ``codec`` and ``validator``. A child that fails is FrontEndFailed, an internal
error or a resource limit, never an empty module.

Example::

    module = parse_device(submission.device, (("k", ("float",)),), sandbox=probe())
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from verifier.ir import codec
from verifier.ir.nodes import Module
from verifier.ir.validator import IrInvalid, validate
from verifier.isolation.child import Limits, begin, python_argv, run
from verifier.isolation.sandbox import Sandbox
from verifier.source.device_text import DeviceText

LIMITS = Limits(cpu_seconds=60, memory_mb=4096, wall_seconds=90.0)


class FrontEndFailed(Exception):
    """The parsing child crashed or ran into a limit. ``limit``: time, memory, or nesting too deep for the parser."""

    def __init__(self, message: str, limit: bool) -> None:
        super().__init__(message)
        self.limit = limit


def begin_device(device: DeviceText | None = None, *, sandbox: Sandbox, arch: str = "sm_80") -> None:
    """Start the child of ``parse_device`` early; with the text where that is all that it will be asked."""
    alone = device is not None and "template" not in device.text
    request = _request(device, (), arch) if device is not None and alone else b""
    begin(python_argv("verifier.frontend.worker"), sandbox=sandbox, stdin=request, limits=LIMITS)


def _request(device: DeviceText, instantiations: Sequence[tuple[str, tuple[str, ...]]], arch: str) -> bytes:
    """Without templates, instantiations without arguments ask for nothing: such kernels are lowered anyway."""
    wanted = [[n, list(a)] for n, a in instantiations if a or "template" in device.text]
    return json.dumps({"text": device.text, "instantiations": wanted, "arch": arch}).encode()


def parse_device(
    device: DeviceText,
    instantiations: Sequence[tuple[str, tuple[str, ...]]],
    *,
    sandbox: Sandbox,
    arch: str = "sm_80",
) -> Module:
    """Parse the text, lower every kernel and the given template instantiations, validate."""
    done = run(
        python_argv("verifier.frontend.worker"),
        sandbox=sandbox,
        stdin=_request(device, instantiations, arch),
        limits=LIMITS,
    )
    if done.returncode != 0 or done.truncated:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        deep = done.returncode == -11 or any(r.startswith("RecursionError") for r in lines[-1:])
        limit = done.timed_out or done.truncated or done.returncode < 0 or deep
        reason = "ran into a limit" if limit else f"ended with status {done.returncode}"
        if deep:
            raise FrontEndFailed("the device code is nested too deeply to be read", True)
        raise FrontEndFailed(f"the parser {reason}{': ' + lines[-1] if lines else ''}", limit)
    try:
        module = codec.loads(done.stdout)
        validate(module)
    except (codec.CodecError, IrInvalid) as error:
        if "nested too deeply" in str(error):
            raise FrontEndFailed("the device code is nested too deeply to be read", True) from error
        raise FrontEndFailed(f"the parser's answer is no valid IR: {error}", False) from error
    return module
