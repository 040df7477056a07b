"""Shared helpers: a sandbox and a loader of texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from verifier.isolation import Sandbox, SandboxMissing, probe
from verifier.source import Submission, load


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    try:
        return probe()
    except SandboxMissing:
        return probe("none")


@pytest.fixture
def read(tmp_path: Path, sandbox: Sandbox) -> Callable[..., Submission]:
    """``read(text, name="k.cu", **options)``: write the text and load it."""

    def read_text(text: str, name: str = "k.cu", **options: Any) -> Submission:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return load(path, sandbox=sandbox, **options)

    return read_text
