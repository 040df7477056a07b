"""Attacks of a program that runs in a sandbox, tried: by root's child and by an ordinary user's, in each kind of sandbox.

The other attacks on the tool have their tests where they belong: foreign files, macro bombs and several readers in
``tests/source`` and ``tests/frontend``; kernels that look for the checker in ``tests/static``; forged answers in
``tests/sanitizers/test_hostile.py``; tools that check nothing in ``tests/sanitizers/gpu``; escapes and workflow commands in
``tests/report``; instructions in comments in ``tests/generator``; wrappers in ``tests/fuzz``.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from verifier.isolation import Limits, Sandbox, SandboxMissing, probe, python_argv, run
from verifier.isolation.sandbox import SYSTEM, confined

PROJECT = Path(__file__).resolve().parents[2]
ORDINARY = 65534
CALL = """
import json, sys
sys.path[:0] = {paths!r}
from pathlib import Path
from verifier.isolation import Limits, probe, run
done = run(json.loads(sys.argv[2]), sandbox=probe(sys.argv[1]), limits=Limits(**json.loads(sys.argv[3])),
           readable=[Path(p) for p in json.loads(sys.argv[4])])
print(json.dumps([done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"),
                  done.timed_out, done.truncated]))
"""


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str
    timed_out: bool = False
    truncated: bool = False


Attack = Callable[..., Done]


@pytest.fixture(params=["bwrap", "landlock"])
def kind(request: pytest.FixtureRequest) -> str:
    kind = str(request.param)
    try:
        probe(kind)
    except SandboxMissing as missing:
        pytest.skip(str(missing))
    return kind


@pytest.fixture(scope="session")
def readable_copy() -> Iterator[Path]:
    """The runner where an ordinary user can read it; this checkout and its interpreter may be root's alone."""
    folder = Path(mkdtemp(prefix="runner-"))
    shutil.copytree(PROJECT / "verifier" / "isolation", folder / "verifier" / "isolation")
    (folder / "verifier" / "__init__.py").touch()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=["here", "ordinary user"])
def attack(request: pytest.FixtureRequest, kind: str, readable_copy: Path) -> Attack:
    """Runs a shell script in the sandbox; the parent is this process, or one of an ordinary user."""
    if request.param == "here":

        def here(
            script: str, *, argv: list[str] | None = None, readable: tuple[Path, ...] = (), **limits: Any
        ) -> Done:
            done = run(
                argv or ["sh", "-c", script], sandbox=probe(kind), limits=Limits(**limits), readable=readable
            )
            texts = (done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
            return Done(done.returncode, *texts, done.timed_out, done.truncated)

        return here
    if os.getuid() != 0:
        pytest.skip("this user is an ordinary one already")

    def ordinary(
        script: str, *, argv: list[str] | None = None, readable: tuple[Path, ...] = (), **limits: Any
    ) -> Done:
        arguments = [kind, *map(json.dumps, (argv or ["sh", "-c", script], limits, list(map(str, readable))))]
        done = subprocess.run(
            ["/usr/bin/python3", "-c", CALL.format(paths=[str(readable_copy)]), *arguments],
            user=ORDINARY, group=ORDINARY, extra_groups=[], capture_output=True, text=True, timeout=60, check=False, cwd="/",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return Done(*json.loads(done.stdout))

    return ordinary


@pytest.fixture
def secret() -> Iterator[Path]:
    """A file that everybody on this machine may read and write, but no sandboxed program."""
    folder = Path(mkdtemp(prefix="threat-"))
    folder.chmod(0o777)
    path = folder / "secret"
    path.write_text("SECRET")
    path.chmod(0o666)
    yield path
    path.unlink(missing_ok=True)
    for other in folder.iterdir():
        other.unlink()
    folder.rmdir()


def test_a_file_that_was_not_given(attack: Attack, secret: Path) -> None:
    assert "SECRET" not in attack(f"cat {secret}; grep -r SECRET {secret.parent}").stdout


def test_a_file_that_was_not_given_through_a_link(attack: Attack, secret: Path) -> None:
    link = secret.parent / "link"
    link.symlink_to(secret)
    script = f"ln -s {secret} $TMPDIR/l; ln -s {secret} /tmp/l; cat {link} $TMPDIR/l /tmp/l /proc/self/root{secret}"
    assert "SECRET" not in attack(script).stdout


def test_what_is_given_can_be_read_and_not_written(attack: Attack, secret: Path) -> None:
    done = attack(
        f"cat {secret}; echo changed > {secret}; chmod 0 {secret}; mv {secret} {secret}2", readable=(secret,)
    )
    assert (
        done.stdout == "SECRET" and secret.read_text() == "SECRET" and secret.stat().st_mode & 0o777 == 0o666
    )


def test_a_file_outside_is_not_changed(attack: Attack, secret: Path) -> None:
    before = secret.stat()
    folder = secret.parent
    attack(
        f"echo x > {secret}; echo x > {folder}/new; rm -f {secret}; mv {secret} {folder}/moved; ln {secret} {folder}/hard;"
        f"chmod 000 {secret}; chown 1 {secret}; truncate -s 0 {secret}; touch -d 2000-01-01 {secret}"
    )
    after = secret.stat()
    assert secret.read_text() == "SECRET" and sorted(p.name for p in folder.iterdir()) == ["secret"]
    assert (after.st_mode, after.st_uid, after.st_mtime) == (before.st_mode, before.st_uid, before.st_mtime)


def test_the_parent_is_not_written_to_or_traced(attack: Attack) -> None:
    verdict = ctypes.create_string_buffer(b"FAIL")
    code = (
        "import ctypes, os\n"
        f"pid, address = {os.getpid()}, {ctypes.addressof(verdict)}\n"
        "libc = ctypes.CDLL(None)\n"
        "text = ctypes.create_string_buffer(b'PASS')\n"
        "import struct\n"
        "local, remote = struct.pack('QQ', ctypes.addressof(text), 4), struct.pack('QQ', address, 4)\n"
        "libc.process_vm_writev(pid, local, 1, remote, 1, 0)\n"
        "libc.ptrace(16, pid, 0, 0)\n"
        "try:\n"
        "    with open(f'/proc/{pid}/mem', 'r+b', 0) as memory:\n"
        "        memory.seek(address)\n"
        "        memory.write(b'PASS')\n"
        "except OSError: pass\n"
        "print('tried')"
    )
    assert attack("", argv=["/usr/bin/python3", "-I", "-c", code]).stdout == "tried\n"
    assert verdict.value == b"FAIL"
    assert "TracerPid:\t0" in Path("/proc/self/status").read_text()


def test_the_parent_is_not_killed_or_slowed(attack: Attack) -> None:
    pid = os.getpid()
    script = (
        f"kill -9 {pid}; kill -STOP $PPID; renice -n 19 -p {pid}; prlimit --pid {pid} --cpu=1:1; echo tried"
    )
    assert attack(script).stdout == "tried\n"
    assert os.getpriority(os.PRIO_PROCESS, 0) < 19


def test_the_answer_is_the_childs_own_words(attack: Attack) -> None:
    done = attack("echo PASS; exit 0")
    assert (done.returncode, done.stdout) == (0, "PASS\n")  # words, which nobody takes for a verdict
    assert attack("kill -9 $$").returncode == -9


def test_no_network_of_any_kind(attack: Attack) -> None:
    code = (
        "import socket\n"
        "for family, kind, to in ((2, 1, ('127.0.0.1', 9)), (2, 2, ('127.0.0.1', 9)), (10, 2, ('::1', 9)), (1, 1, '\\0x')):\n"
        "    try:\n"
        "        s = socket.socket(family, kind)\n"
        "        s.connect(to)\n"
        "        s.send(b'x')\n"
        "        print('sent', family, kind)\n"
        "    except OSError: pass\n"
    )
    listener = Listener()
    try:
        done = attack(
            "",
            argv=[
                "/usr/bin/python3",
                "-I",
                "-c",
                code.replace("'127.0.0.1', 9", f"'127.0.0.1', {listener.port}"),
            ],
        )
    finally:
        listener.close()
    assert not listener.heard and "sent 2 1" not in done.stdout and "sent 1 1" not in done.stdout


def test_namespaces_mounts_and_kernel_interfaces(attack: Attack) -> None:
    done = attack(
        "unshare -r true && echo unshared; mount -t tmpfs none /tmp && echo mounted; chroot / true && echo rooted; "
        "dmesg 2>/dev/null | head -1; cat /dev/kmsg /dev/mem 2>/dev/null | head -c 10; ls /sys/kernel /dev/sd* /dev/vd* 2>/dev/null"
    )
    assert done.stdout.strip() in (
        "",
        "unshared",
    )  # bwrap's own user namespace may be nested; it holds nothing


def test_no_privileges_come_back(attack: Attack) -> None:
    done = attack(
        "grep -h -E '^(NoNewPrivs|CapEff)' /proc/self/status 2>/dev/null; setpriv --dump 2>/dev/null | head -20; su -c id"
    )
    assert "uid=0(" not in done.stdout and "cap_sys_admin" not in done.stdout.lower()


def test_no_process_outlives_the_run(attack: Attack) -> None:
    marker = f"{7000 + os.getpid() % 1000}.25"
    attack(
        f"setsid sleep {marker} & nohup sleep {marker} & (sleep {marker} &) ; (trap '' TERM HUP; sleep {marker}) & exit 0"
    )
    time.sleep(0.3)
    running = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _says(p, f"sleep\0{marker}")]
    assert not running


def test_a_fork_bomb_ends_with_the_run(attack: Attack) -> None:
    start = time.monotonic()
    done = attack(
        "b() { b | b & }; for i in 1 2 3 4 5 6 7 8; do sleep 9.75 & done; wait",
        wall_seconds=1.0,
        processes=64,
    )
    assert (done.timed_out or done.returncode != 0) and time.monotonic() - start < 30
    time.sleep(0.2)
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if _says(p, "sleep\0" + "9.75")]


def test_floods_and_endless_work_end(attack: Attack) -> None:
    assert attack("yes", output_bytes=5000).truncated
    assert attack("yes >&2", output_bytes=5000).truncated
    assert attack("while :; do :; done", cpu_seconds=1, wall_seconds=20.0).returncode in (-9, -24)
    assert (
        attack("", argv=["/usr/bin/python3", "-c", "x = bytearray(1 << 30)"], memory_mb=256).returncode != 0
    )


def test_the_environment_says_nothing(attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CPATH", "NVCC_APPEND_FLAGS", "LD_PRELOAD_X", "SECRET"):
        monkeypatch.setenv(name, "evil")
    assert "evil" not in attack("env; cat /proc/1/environ /proc/$PPID/environ 2>/dev/null").stdout


def test_a_machine_that_cannot_confine_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither sandbox: refused with the install line, never run bare."""
    from verifier.isolation import sandbox as module

    def missing() -> Sandbox:
        raise SandboxMissing("apt-get install bubblewrap")

    monkeypatch.setattr(module, "_probe_bwrap", missing)
    monkeypatch.setattr(module, "_probe_landlock", missing)
    with pytest.raises(SandboxMissing, match="bubblewrap"):
        probe("auto")
    monkeypatch.setattr(module, "_probe_landlock", lambda: Sandbox("landlock"))
    assert probe("auto").kind == "landlock"


def test_half_a_sandbox_runs_nothing(tmp_path: Path) -> None:
    """A layer that cannot be put in force: the program is not started."""
    try:
        probe("landlock")
    except SandboxMissing as missing:
        pytest.skip(str(missing))
    spec = {
        "read": [*SYSTEM],
        "list": [],
        "write": [],
        "devices": [],
        "tmp": str(tmp_path),
        "cwd": "/no/such/folder",
    }
    done = subprocess.run([*confined(spec), "/bin/echo", "ran"], capture_output=True, check=False)
    assert done.returncode == 126 and b"ran" not in done.stdout
    inner = {**spec, "cwd": None}
    nested = [*confined(inner), "/usr/bin/python3", "-I", "-S", "-B", "-c", "print('nested')"]
    assert subprocess.run(nested, capture_output=True, check=False).stdout == b"nested\n"


def test_the_projects_children_work_confined() -> None:
    try:
        box = probe("landlock")
    except SandboxMissing as missing:
        pytest.skip(str(missing))
    assert run(python_argv("json.tool", "--compact"), sandbox=box, stdin=b"[1]").stdout == b"[1]\n"
    done = run(["g++", "-x", "c++", "-S", "-o", "-", "-"], sandbox=box, stdin=b"int x;")
    assert done.returncode == 0 and b"x:" in done.stdout


class Listener:
    """A listener on the loopback that remembers whether anybody came."""

    def __init__(self) -> None:
        import socket

        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.2)
        self.port = self._socket.getsockname()[1]
        self.heard = False

    def close(self) -> None:
        try:
            self._socket.accept()
            self.heard = True
        except TimeoutError:
            pass
        self._socket.close()


def _says(path: Path, text: str) -> bool:
    try:
        return text.encode() in path.read_bytes()
    except OSError:
        return False
