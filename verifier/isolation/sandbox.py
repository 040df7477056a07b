"""Which sandbox this machine has: the user's choice -> Sandbox, or SandboxMissing.

In this order: bubblewrap (namespaces), Landlock with seccomp, none at all. Invariant: ``none`` is never chosen by the tool
itself; it must be asked for.

Example::

    sandbox = probe("auto")          # Sandbox("bwrap", "/usr/bin/bwrap", True)
    probe("none")                    # Sandbox("none"): limits only, no isolation
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

INSTALL = "apt-get install bubblewrap"
_ROOT_ENTRIES = ("/bin", "/lib", "/lib64", "/lib32", "/libx32", "/sbin")
_OPTIONAL = ("/etc/ld.so.cache", "/etc/alternatives")
SYSTEM = ("/usr", *_ROOT_ENTRIES, *_OPTIONAL)
"""What every sandboxed program may read."""


class SandboxMissing(Exception):
    """No usable sandbox; the message holds the line that installs or allows one."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """``program``: path of bwrap; ``proc``: whether a private /proc may be mounted here."""

    kind: Literal["bwrap", "landlock", "none"]
    program: str = ""
    proc: bool = False


def probe(choice: str = "auto") -> Sandbox:
    """Find a sandbox that really starts a program here. Raises SandboxMissing."""
    if shutil.which("prlimit") is None:
        raise SandboxMissing("prlimit is missing: apt-get install util-linux")
    match choice:
        case "none":
            return Sandbox("none")
        case "bwrap":
            return _probe_bwrap()
        case "landlock":
            return _probe_landlock()
        case "auto":
            try:
                return _probe_bwrap()
            except SandboxMissing as missing:
                try:
                    return _probe_landlock()
                except SandboxMissing as also:
                    raise SandboxMissing(f"{missing}; {also}") from None
        case _:
            raise SandboxMissing(f"unknown sandbox {choice!r}; choose auto, bwrap, landlock or none")


def confined(spec: Mapping[str, object]) -> list[str]:
    """The command before which ``verifier/isolation/confine.py`` confines itself by Landlock and seccomp."""
    script = Path(__file__).with_name("confine.py")
    return [sys.executable, "-I", "-S", "-B", str(script), json.dumps(spec), "--"]


def base_arguments(sandbox: Sandbox) -> list[str]:
    """bwrap's arguments without the binds of one run: no network, no privileges, nothing but /usr."""
    argv = [sandbox.program, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]
    argv += ["--cap-drop", "ALL", "--uid", "65534", "--gid", "65534", "--hostname", "sandbox"]
    argv += ["--ro-bind", "/usr", "/usr", "--dev", "/dev", "--tmpfs", "/tmp"]
    if sandbox.proc:
        argv += ["--proc", "/proc"]
    for entry in map(Path, _ROOT_ENTRIES):
        if entry.is_symlink():
            argv += ["--symlink", str(entry.readlink()), str(entry)]
        elif entry.is_dir():
            argv += ["--ro-bind", str(entry), str(entry)]
    for optional in _OPTIONAL:
        argv += ["--ro-bind-try", optional, optional]
    return argv


@cache
def _probe_landlock() -> Sandbox:
    """Landlock and seccomp, seen to work: a program starts, a file that it was not given stays closed, no socket opens."""
    if platform.machine() != "x86_64" or sys.platform != "linux":
        raise SandboxMissing("the landlock sandbox knows x86-64 Linux only")
    with tempfile.TemporaryDirectory(prefix="confined-") as folder:
        secret = Path(folder) / "secret"
        secret.write_text("secret")
        inside = Path(folder) / "inside"
        inside.mkdir()
        spec: dict[str, object] = {
            "read": SYSTEM,
            "list": [],
            "write": [],
            "devices": [],
            "tmp": str(inside),
            "cwd": None,
        }
        try:
            done = subprocess.run(
                [*confined(spec), "/bin/sh", "-c", f"echo started; cat {secret}"],
                capture_output=True, timeout=10, check=False, env={}, text=True,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SandboxMissing(f"Landlock does not start here ({error})") from None
    if done.stdout != "started\n":
        raise SandboxMissing(
            f"Landlock does not work here ({done.stderr.strip()[-200:] or done.stdout[:200]!r})"
        )
    return Sandbox("landlock")


@cache
def _probe_bwrap() -> Sandbox:
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxMissing(
            f"no sandbox on this machine: {INSTALL}  (or pass --sandbox none, which is reported)"
        )
    failure = ""
    for proc in (True, False):
        sandbox = Sandbox("bwrap", program, proc)
        argv = [*base_arguments(sandbox), "--clearenv", "--", "/usr/bin/env", "true"]
        try:
            done = subprocess.run(argv, capture_output=True, timeout=10, check=False, env={}, text=True)
        except (OSError, subprocess.TimeoutExpired) as error:
            failure = str(error)
            continue
        if done.returncode == 0:
            return sandbox
        failure = (
            done.stderr.strip().splitlines()[0] if done.stderr.strip() else f"exit status {done.returncode}"
        )
    raise SandboxMissing(
        f"bubblewrap does not start here ({failure}); allow user namespaces, on Ubuntu 24.04: sysctl -w "
        "kernel.apparmor_restrict_unprivileged_userns=0  (or pass --sandbox none, which is reported)"
    )
