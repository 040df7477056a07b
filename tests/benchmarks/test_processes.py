"""Limits hold for the whole process tree, and nothing of it is left behind."""

import os
import subprocess
import sys
import time

from benchmarks.processes import run

CHILD = """import subprocess, sys, time
subprocess.Popen([sys.executable, '-c', {!r}], start_new_session=True)
time.sleep(60)"""


def test_output_and_status() -> None:
    ended = run([sys.executable, "-c", "print(1); raise SystemExit(3)"], wall_seconds=20, memory_mb=500)
    assert (ended.returncode, ended.stdout, ended.stopped) == (3, b"1\n", "")


def test_time_limit_ends_grandchildren_in_other_sessions() -> None:
    mark = f"nobody-else-{os.getpid()}"
    code = CHILD.format(f"import time; '{mark}'; time.sleep(60)")
    ended = run([sys.executable, "-c", code], wall_seconds=1.0, memory_mb=500)
    assert ended.stopped == "time" and ended.seconds < 20
    time.sleep(0.2)
    listing = subprocess.run(["ps", "-eo", "stat,args"], capture_output=True, text=True).stdout
    assert not [line for line in listing.splitlines() if mark in line and not line.startswith("Z")]


def test_memory_limit() -> None:
    code = "import time; x = bytearray(300 << 20); time.sleep(60)"
    ended = run([sys.executable, "-c", code], wall_seconds=30, memory_mb=100)
    assert ended.stopped == "memory" and ended.peak_mb >= 100 and ended.seconds < 20
