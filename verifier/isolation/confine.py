"""Confine this process and become another program: Landlock, seccomp, no capabilities. For machines without namespaces.

Runs as a script of its own: ``python -I -S -B confine.py SPEC -- argv``. SPEC is JSON: paths to ``read``, to ``list`` (names
alone), to ``write``, and ``devices``; ``tmp``, a folder that gets a folder for this run; ``cwd``. Exit status of ``argv``;
128 + n for signal n; 126 when this machine cannot confine.

Invariant: ``argv`` runs only if every layer is in force: files (nothing but what SPEC names, and no device control), no
capability, no new privileges, no socket, no sight of other processes and no signal to them, no way out of its process group,
which its parent kills. What is left: it may learn that a path exists, and spend memory in many processes until it is killed.

Example::

    python confine.py '{"read": ["/usr"], "list": [], "write": [], "devices": [], "tmp": "/tmp/x", "cwd": null}' -- /usr/bin/true
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import struct
import sys
import tempfile

NO_SANDBOX = 126
_LIBC = ctypes.CDLL(None, use_errno=True)

# --- Landlock (linux/landlock.h) ---
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ALWAYS = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

# --- seccomp (linux/seccomp.h, linux/audit.h, asm/unistd_64.h) ---
_ARCH_X86_64, _X32 = 0xC000003E, 0x40000000
_ALLOW, _KILL, _ERRNO, _EPERM, _ENOSYS = 0x7FFF0000, 0x80000000, 0x00050000, 1, 38
_NEW_NAMESPACES = 0x7E020000
_TERMINAL = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: typing into somebody's terminal
_CLONE, _CLONE3, _IOCTL, _KILL_CALL, _TGKILL, _PRLIMIT, _TRUNCATE_CALL = 56, 435, 16, 62, 234, 302, 76
_DENIED = (
    41,  # socket
    101, 310, 311, 312, 438, 434, 424, 129, 297, 200, 440, 448,  # other processes: ptrace, memory, pidfd, odd signals
    109, 112,  # setpgid, setsid: the parent kills the process group
    141, 142, 144, 314, 203, 251, 256, 279,  # priorities, schedulers and pages, also of others
    29, 30, 31, 64, 65, 66, 220, 68, 69, 70, 71, 240,  # System V memory, semaphores and messages; message queues
    165, 166, 155, 161, 272, 308, 428, 429, 430, 431, 432, 433, 442,  # mounts, roots, namespaces
    248, 249, 250,  # keys
    298, 321, 323, 425, 426, 427,  # perf_event_open, bpf, userfaultfd, io_uring
    169, 167, 168, 175, 176, 246, 313, 320,  # reboot, swap, modules, kexec
    170, 171, 227, 305, 159, 163, 172, 173,  # names, clocks, accounting, ports
    304, 303, 300, 135, 153,  # handles, fanotify, personality, vhangup
)  # fmt: skip
# Landlock does not hold these back, and linkers call them: they answer that all went well and do nothing.
_PRETENDED = (90, 91, 268, 452, 92, 93, 94, 260, 188, 189, 190, 197, 198, 199, 463, 466, 132, 235, 261, 280)
"""Modes, owners, extended attributes and times of files."""


def landlock_version() -> int:
    """0 where the kernel has none or it is switched off."""
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, 0, 1)))


def confine(read: list[str], names: list[str], write: list[str], devices: list[str]) -> None:
    """Every layer, for good. Raises OSError where one is missing."""
    _drop_capabilities()
    _call(_LIBC.prctl(38, 1, 0, 0, 0), "no_new_privs")
    version = landlock_version()
    if version < 1:
        raise OSError("this kernel has no Landlock")
    _landlock(version, read, names, write, devices)
    _seccomp(version)


def _landlock(version: int, read: list[str], names: list[str], write: list[str], devices: list[str]) -> None:
    files = (1 << 13) - 1  # all rights of the first version
    files |= (1 << 13) * (version >= 2) | _TRUNCATE * (version >= 3) | _IOCTL_DEV * (version >= 5)
    network = 3 * (version >= 4)  # TCP: bind, connect
    scoped = 3 * (version >= 6)  # abstract sockets, signals
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = struct.pack("<QQQ", files, network, scoped)[:size]
    ruleset = _call(_LIBC.syscall(_CREATE_RULESET, attributes, size, 0), "landlock_create_ruleset")
    rules = [*((p, _READ) for p in read), *((p, files) for p in write), *((p, files) for p in devices)]
    rules += [(p, _READ_DIR) for p in names]
    rules += [(p, _READ_FILE | _WRITE_FILE) for p in _ALWAYS]
    for path, rights in rules:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        if not os.path.isdir(path):
            rights &= _FILE_RIGHTS
        rule = struct.pack("<Qi", rights & files, handle)
        _call(_LIBC.syscall(_ADD_RULE, ruleset, 1, rule, 0), f"landlock_add_rule {path}")
        os.close(handle)
    _call(_LIBC.syscall(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def _drop_capabilities() -> None:
    """Root without them is an ordinary user who owns root's files."""
    for capability in range(64):
        _LIBC.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP; fails for an ordinary user, who has none
    _LIBC.prctl(47, 4, 0, 0, 0)  # PR_CAP_AMBIENT_CLEAR_ALL
    header, none = struct.pack("<Ii", 0x20080522, 0), bytes(24)
    _call(_LIBC.capset(header, none), "capset")


def _seccomp(version: int) -> None:
    code = _filter(version)
    program = ctypes.create_string_buffer(code, len(code))
    head = struct.pack("<H6xQ", len(code) // 8, ctypes.addressof(program))
    _call(_LIBC.prctl(22, 2, head, 0, 0), "seccomp")


def _filter(version: int) -> bytes:
    """A classic BPF program: the architecture, one test a call, tests of arguments, the verdicts."""
    load, answer = 0x20, 0x06
    equal, at_least, any_of = 0x15, 0x35, 0x45
    number, argument = 0, (16, 24)
    lines: list[
        tuple[int, int, str, str] | str
    ] = [  # operation, operand, where to if so, where to if not; or a label
        (load, 4, "", ""),
        (equal, _ARCH_X86_64, "", "kill"),
        (load, number, "", ""),
        (at_least, _X32, "deny", ""),
        (equal, _CLONE3, "absent", ""),  # its flags cannot be seen; the C library then uses clone
        *((equal, call, "deny", "") for call in _DENIED),
        *((equal, call, "pretend", "") for call in _PRETENDED),
        (equal, _PRLIMIT, "itself only", ""),
        (equal, _CLONE, "clone", ""),
        (equal, _IOCTL, "ioctl", ""),
    ]
    if version < 3:
        lines.append((equal, _TRUNCATE_CALL, "deny", ""))
    if version < 6:  # signals are not scoped: its own process group only
        lines += [(equal, _KILL_CALL, "itself only", ""), (equal, _TGKILL, "deny", "")]
    lines += [(answer, _ALLOW, "", "")]
    lines += ["itself only", (load, argument[0], "", ""), (equal, 0, "allow", "deny")]
    lines += ["clone", (load, argument[0], "", ""), (any_of, _NEW_NAMESPACES, "deny", "allow")]
    lines += ["ioctl", (load, argument[1], "", "")]
    lines += [(equal, command, "deny", "") for command in _TERMINAL]
    ends = {
        "allow": _ALLOW,
        "deny": _ERRNO | _EPERM,
        "pretend": _ERRNO,
        "absent": _ERRNO | _ENOSYS,
        "kill": _KILL,
    }
    for name, verdict in ends.items():
        lines += [name, (answer, verdict, "", "")]
    labels: dict[str, int] = {}
    code: list[tuple[int, int, str, str]] = []
    for line in lines:
        if isinstance(line, str):
            labels[line] = len(code)
        else:
            code.append(line)
    return b"".join(
        struct.pack("<HBBI", what, *(labels[to] - at - 1 if to else 0 for to in (true, false)), operand)
        for at, (what, operand, true, false) in enumerate(code)
    )


def _call(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def main() -> int:
    """Make a folder for this run, start ``argv`` confined, wait, tidy up."""
    spec, argv = json.loads(sys.argv[1]), sys.argv[3:]
    parent = os.getppid()
    own = tempfile.mkdtemp(dir=spec["tmp"])
    child = os.fork()
    if child == 0:
        try:
            _LIBC.prctl(1, int(signal.SIGKILL), 0, 0, 0)  # end with the waiting parent
            os.environ["TMPDIR"] = own
            os.chdir(spec["cwd"] or own)
            confine(spec["read"], spec["list"], [*spec["write"], own], spec["devices"])
        except Exception as error:
            os.write(2, f"cannot confine: {error}\n".encode())
            os._exit(NO_SANDBOX)
        try:
            os.execvpe(argv[0], argv, os.environ)
        except OSError as error:
            os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
            os._exit(127)
    _LIBC.prctl(1, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(child, signal.SIGKILL)
    for stream in (0, 1):
        os.close(stream)
    status = os.waitpid(child, 0)[1]
    shutil.rmtree(own, ignore_errors=True)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
