"""Problem files (``class Model``, ``get_inputs``, ``get_init_inputs``): path -> Problem."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from verifier.isolation.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Problem:
    path: str


def load(path: Path, *, sandbox: Sandbox) -> Problem:
    raise NotImplementedError
