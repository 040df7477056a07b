"""The command line as users type it: real processes."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from specs.policy import PROPERTIES
from specs.version import VERSION

ROOT = Path(__file__).resolve().parents[2]


def verify(*args: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    argv = [sys.executable, "-m", "verifier", *map(str, args)]
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=120)


def test_help_is_fast_and_complete() -> None:
    """0.3 s, counted in processor time, so that a busy machine does not fail it."""
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = verify("--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert done.returncode == 0 and "audit" in done.stdout and "--timeout" in done.stdout
    assert min(seconds) < 0.3


def test_version() -> None:
    assert verify("--version").stdout == f"verify-kernel {VERSION}\n"


@pytest.mark.parametrize(
    "args, said",
    [
        (["--colour", "x.cu"], "No such option"),
        (["--format", "sarif", "x.cu"], "sarif"),
        (["--effort", "max", "x.cu"], "max"),
        (["--timeout", "0", "x.cu"], "timeout"),
        (["--gates", "static,prof", "x.cu"], "unknown 'prof'; known: static, prove"),
        (["--properties", "bounds", "x.cu"], "unknown 'bounds'"),
        (["--arch", "sm_1", "x.cu"], "unknown 'sm_1'"),
        (["--policy", "none.toml", "x.cu"], "cannot read the policy"),
        (["--contract", "none.toml", "x.cu"], "no such file"),
        (["--output", "x.cu", "x.cu"], "--output"),
        (["audit"], "Missing argument"),
        (["explain", "race-sharde"], "did you mean race-shared"),
        (["explain", "../../README"], "no check, rule or gate"),
        (["replay", "report.json"], "cannot be read"),
    ],
)
def test_usage_errors_are_status_2(tmp_path: Path, args: list[str], said: str) -> None:
    done = verify(*args, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


def test_no_arguments_show_the_help() -> None:
    done = verify()
    assert done.returncode in (0, 2) and "PATH" in done.stdout + done.stderr


def test_empty_folder_is_status_2(tmp_path: Path) -> None:
    done = verify(tmp_path)
    assert done.returncode == 2 and f"no kernel in {tmp_path} (0 files looked at)" in done.stderr


def test_explain_and_list() -> None:
    page = verify("explain", "overflow").stdout
    assert page.startswith("# overflow: ") and "## Wrong" in page
    listed = verify("list-checks").stdout
    assert all(f"  {id_} " in listed for id_ in PROPERTIES)


def test_doctor_names_what_is_used() -> None:
    done = verify("doctor")
    assert done.returncode in (0, 3)
    text = done.stdout + done.stderr
    assert re.search(r"z3-solver +5\.4\.1\.0", text) and "g++" in text
    assert "compute-sanitizer" in text and "NVIDIA driver" in text


def test_doctor_without_a_compiler_says_how_to_get_one(tmp_path: Path) -> None:
    done = verify("doctor", PATH=str(tmp_path))
    assert done.returncode == 3
    assert "MISSING  g++" in done.stderr and "apt-get install g++" in done.stderr


def test_what_is_missing_is_one_line_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("__global__ void k() {}\n")
    done = verify(tmp_path / "k.cu", PATH=str(tmp_path))
    assert done.returncode == 3
    rows = done.stderr.splitlines()
    assert rows[0] == "verify-kernel: g++ is missing, so nothing can be read or run: apt-get install g++"
    assert len(rows) == 2 and "apt-get install" in rows[1]
    assert done.stdout.startswith("INCONCLUSIVE") and "no sandbox" in done.stdout


def test_policy_of_the_current_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "verify-kernel.toml").write_text('required-version = "9.9"\n')
    done = verify("x.cu", cwd=tmp_path)
    assert done.returncode == 2 and f"requires version 9.9; this is {VERSION}" in done.stderr


def test_packages_of_two_installations_are_refused(tmp_path: Path) -> None:
    (tmp_path / "fuzz").mkdir()
    (tmp_path / "fuzz" / "__init__.py").touch()
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from verifier.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4 and "mixed up" in done.stderr and str(tmp_path) in done.stderr


def test_output_survives_a_poor_terminal_and_a_reader_that_leaves(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("int main() {}\n")
    done = verify("explain", "race-shared", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0 and "Traceback" not in done.stderr
    argv = f"{sys.executable} -m verifier {tmp_path / 'k.cu'} | true; exit ${{PIPESTATUS[0]}}"
    piped = subprocess.run(["bash", "-c", argv], cwd=ROOT, capture_output=True, text=True, check=False)
    assert piped.returncode == 2 and "Traceback" not in piped.stderr


def test_options_before_a_command(tmp_path: Path) -> None:
    done = verify("--sandbox", "none", "recheck", "folder", cwd=tmp_path)
    assert done.returncode == 2 and "options come after the command: verify-kernel recheck" in done.stderr
    assert "no such folder" in verify("recheck", "folder", cwd=tmp_path).stderr
    (tmp_path / "doctor").mkdir()  # a folder of that name is a path
    assert "options come" not in verify("--sandbox", "none", "doctor", cwd=tmp_path).stderr
