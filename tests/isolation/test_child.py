"""The child runner: limits hold, nothing is visible that was not named, nothing outlives the call."""

from __future__ import annotations

import os
import socket
import statistics
import time
from pathlib import Path

import pytest

from verifier.isolation import Limits, Sandbox, SandboxMissing, probe, python_argv, run

NONE = Sandbox("none")


def _bwrap() -> Sandbox:
    try:
        return probe("bwrap")
    except SandboxMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(params=["bwrap", "landlock", "none"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "none":
        return NONE
    try:
        return probe(request.param)
    except SandboxMissing as missing:
        pytest.skip(str(missing))


def test_result_is_returned(sandbox: Sandbox) -> None:
    done = run(["sh", "-c", "cat; echo oops >&2; exit 7"], sandbox=sandbox, stdin=b"hello")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"hello", b"oops\n")
    assert not done.timed_out and not done.truncated


def test_large_input_and_output_do_not_deadlock(sandbox: Sandbox) -> None:
    data = os.urandom(6 << 20)
    done = run(["sh", "-c", "tee /dev/stderr"], sandbox=sandbox, stdin=data)
    assert done.stdout == data and done.stderr == data


def test_input_that_nobody_reads(sandbox: Sandbox) -> None:
    assert run(["true"], sandbox=sandbox, stdin=b"x" * (4 << 20)).returncode == 0


def test_wall_limit_kills_the_whole_group(sandbox: Sandbox) -> None:
    marker = f"31{os.getpid() % 10000}.5"
    done = run(
        ["sh", "-c", f"sleep {marker} & sleep {marker}"], sandbox=sandbox, limits=Limits(wall_seconds=0.3)
    )
    assert done.timed_out and done.returncode == -9 and done.seconds < 2
    time.sleep(0.1)
    commands = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline") if p.exists()]
    assert not [c for c in commands if marker.encode() in c and b"prlimit" not in c and b"pytest" not in c]


def test_background_process_does_not_hold_the_call(sandbox: Sandbox) -> None:
    done = run(["sh", "-c", "sleep 20 & echo done"], sandbox=sandbox)
    assert done.stdout == b"done\n" and done.seconds < 5 and not done.timed_out


def test_output_is_capped(sandbox: Sandbox) -> None:
    done = run(["sh", "-c", "yes"], sandbox=sandbox, limits=Limits(output_bytes=1000))
    assert done.truncated and len(done.stdout) == 1000 and done.seconds < 5


def test_output_is_capped_when_the_program_ends_at_once(sandbox: Sandbox) -> None:
    done = run(["printf", "x" * 5000], sandbox=sandbox, limits=Limits(output_bytes=1000))
    assert done.truncated and len(done.stdout) == 1000


def test_cpu_limit(sandbox: Sandbox) -> None:
    done = run(
        ["sh", "-c", "while :; do :; done"], sandbox=sandbox, limits=Limits(cpu_seconds=1, wall_seconds=20)
    )
    assert not done.timed_out and done.returncode in (-9, -24)


def test_memory_limit(sandbox: Sandbox) -> None:
    code = "import json.tool; x = bytearray(1 << 30)"
    argv = [*python_argv("json.tool")[:-1], code]
    assert run(argv, sandbox=sandbox, limits=Limits(memory_mb=512)).returncode == 1
    assert run(argv, sandbox=sandbox, limits=Limits(memory_mb=0)).returncode == 0


def test_crash_is_a_negative_return_code(sandbox: Sandbox) -> None:
    assert run(["sh", "-c", "kill -SEGV $$"], sandbox=sandbox).returncode == -11


def test_missing_program(sandbox: Sandbox) -> None:
    assert run(["no-such-program"], sandbox=sandbox).returncode == 127


def test_environment_is_empty(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CPATH", "/evil")
    monkeypatch.setenv("SECRET", "1")
    lines = run(["env"], sandbox=sandbox).stdout.decode().splitlines()
    names = {line.split("=")[0] for line in lines} - {"PWD", "SHLVL", "_", "TMPDIR"}
    assert names == {"PATH", "LANG", "HOME"}


def test_python_child_has_the_project_and_its_libraries(sandbox: Sandbox) -> None:
    code = (
        python_argv("x")[-1].split("sys.argv")[0]
        + "import specs.results, numpy; print(specs.results.__name__)"
    )
    done = run([*python_argv("x")[:-1], code], sandbox=sandbox)
    assert done.stdout == b"specs.results\n", done.stderr


def test_python_child_gets_its_arguments(sandbox: Sandbox) -> None:
    done = run(python_argv("json.tool", "--compact"), sandbox=sandbox, stdin=b'{"a": 1}')
    assert done.stdout == b'{"a":1}\n'


def test_readable_and_writable(tmp_path: Path) -> None:
    sandbox = _bwrap()
    shown, hidden, out = tmp_path / "shown", tmp_path / "hidden", tmp_path / "out"
    shown.write_text("yes")
    hidden.write_text("no")
    out.mkdir()
    script = f"cat {shown}; cat {hidden}; echo 1 > {out}/a; echo 1 > {shown}; pwd"
    done = run(["sh", "-c", script], sandbox=sandbox, readable=[shown], writable=[out], cwd=out)
    assert done.stdout == b"yes" + f"{out}\n".encode()
    assert (out / "a").read_text() == "1\n" and shown.read_text() == "yes"


def test_writable_inside_readable(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    done = run(["touch", str(inner / "f")], sandbox=_bwrap(), readable=[tmp_path], writable=[inner])
    assert done.returncode == 0 and (inner / "f").exists()


def test_nothing_else_is_visible() -> None:
    script = "ls /etc /home /var /sys /run 2>/dev/null; id -u; cat /etc/passwd"
    done = run(["sh", "-c", script], sandbox=_bwrap())
    words = done.stdout.decode().split()
    assert "passwd" not in words and words[-1] == "65534"


def test_no_sight_of_other_processes() -> None:
    done = run(
        ["sh", "-c", "ls /proc | grep -c '^[0-9]'; kill -0 $PPID; cat /proc/$PPID/mem"], sandbox=_bwrap()
    )
    assert done.stdout.strip() in (b"", b"0") or int(done.stdout) < 10
    assert (Path("/proc") / "1" / "environ").as_posix().encode() not in done.stdout


def test_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 1)"
        argv = [*python_argv("x")[:-1], code]
        assert run(argv, sandbox=NONE).returncode == 0
        done = run(argv, sandbox=_bwrap())
    assert done.returncode == 1 and b"refused" in done.stderr


def test_fork_bomb_is_stopped() -> None:
    script = "for i in $(seq 200); do sleep 5 & done; wait"
    done = run(["sh", "-c", script], sandbox=_bwrap(), limits=Limits(processes=16, wall_seconds=3))
    if os.getuid() == 0:
        assert (
            done.timed_out
        )  # the kernel exempts root from the process limit; the wall limit still ends it all
    else:
        assert b"fork" in done.stderr.lower()


def test_no_new_privileges_and_read_only_system() -> None:
    done = run(["sh", "-c", "touch /usr/x /lib/x; mount -t tmpfs none /tmp"], sandbox=_bwrap())
    assert done.returncode != 0 and not Path("/usr/x").exists()


def test_probe() -> None:
    assert probe("none") == NONE
    with pytest.raises(SandboxMissing, match="unknown sandbox"):
        probe("magic")


def test_missing_sandbox_names_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from verifier.isolation import sandbox as module

    monkeypatch.setattr("shutil.which", lambda name: None if name == "bwrap" else name)
    module._probe_bwrap.cache_clear()
    try:
        with pytest.raises(SandboxMissing, match="apt-get install bubblewrap"):
            probe("bwrap")
    finally:
        module._probe_bwrap.cache_clear()


def test_a_launch_is_cheap() -> None:
    sandbox = _bwrap()
    seconds = statistics.median(run(["true"], sandbox=sandbox).seconds for _ in range(9))
    assert seconds < 0.2
