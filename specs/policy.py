"""Which evidence a PASS needs: the policy. TOML file or table -> frozen ``Policy``.

Looked for in this order: ``--policy FILE``; ``verify-kernel.toml`` or ``[tool.verify-kernel]`` of ``pyproject.toml`` in
the current folder or the nearest one above it (where the command is started, never beside a submission as such); else
the default. Invariant: an unknown key or value is an error, never ignored; no policy makes an unknown verdict green.

Example ``verify-kernel.toml``::

    name = "strict"
    archs = ["sm_80", "sm_90"]
    size_cap = 4294967296
    optional_properties = ["alignment"]
"""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

PROPERTIES: tuple[str, ...] = (
    "bounds-global",
    "bounds-shared",
    "bounds-local",
    "alignment",
    "race-shared",
    "race-global",
    "barrier-divergence",
    "overflow",
    "arithmetic",
    "uninitialized",
    "coverage",
    "termination",
    "launch",
    "assert",
)
"""Every property there is, in the order of reports."""

REQUIRED_PROPERTIES: tuple[str, ...] = (
    "bounds-global",
    "bounds-shared",
    "bounds-local",
    "alignment",
    "race-shared",
    "race-global",
    "barrier-divergence",
    "overflow",
    "arithmetic",
    "uninitialized",
    "launch",
    "assert",
)
Backend = Literal["sim", "gpu", "both"]
"""Where the gates sanitize and fuzz run kernels: in the simulator, on a GPU, or both."""
GATES: tuple[str, ...] = ("static", "prove", "sanitize", "fuzz")
"""The gates in the order in which they run."""

ARCHS: tuple[str, ...] = (
    "sm_70",
    "sm_75",
    "sm_80",
    "sm_86",
    "sm_87",
    "sm_89",
    "sm_90",
    "sm_100",
    "sm_103",
    "sm_120",
)


class PolicyError(ValueError):
    """A policy that cannot be used; the message names file, key and what is allowed."""


class Policy(BaseModel):
    """``required_gates`` and ``required_properties`` decide; everything else only shapes what is looked at.

    ``strict``: nothing assumed that the host code does not check, edge-domain findings fail, fuzz is required.
    ``size_cap``: elements a buffer up to which a proof must hold. ``nan``: whether NaN equals NaN in comparisons.
    ``sanitize``: the backends that the gates sanitize and fuzz need for a PASS. ``gpu_unknown``: whether a kernel that is not
    proved may run on a GPU, under compute-sanitizer; what is refuted never may.
    ``benign_same_value``: two threads that store the same value to one element are a note instead of a race.
    ``pure_externs``: device functions without a body are assumed to return any value and to do nothing else.
    ``severities``: static rule -> error, warning, note or off, for rules about what a submission does besides its kernels.
    ``required_version``: the tool version this policy is written for; another version refuses to run.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=lambda s: s.replace("_", "-"), populate_by_name=True
    )

    name: Literal["safety", "strict"] = "safety"
    required_gates: tuple[str, ...] = Field(default=("static", "prove", "sanitize"), min_length=1)
    required_properties: tuple[str, ...] = Field(default=REQUIRED_PROPERTIES, min_length=1)
    size_cap: int = Field(default=1 << 30, ge=1, le=1 << 62)
    archs: tuple[str, ...] = Field(default=("sm_80", "sm_90"), min_length=1)
    strict: bool = False
    nan: Literal["equal", "forbidden"] = "equal"
    benign_same_value: bool = False
    pure_externs: bool = False
    sanitize: Backend = "sim"
    gpu_unknown: bool = False
    severities: dict[str, Literal["error", "warning", "note", "off"]] = Field(default_factory=dict)
    required_version: str | None = None
    origin: str = "default"
    """Where it was read: printed in the report. Not a key of the file."""

    @model_validator(mode="before")
    @classmethod
    def _strict_defaults(cls, data: Any) -> Any:
        """``name = "strict"`` sets the defaults of strict; single keys may still be written."""
        if isinstance(data, dict) and data.get("name") == "strict":
            keys = {k.replace("-", "_") for k in data}
            extra = {"strict": True, "required_gates": GATES}
            return {**{k: v for k, v in extra.items() if k not in keys}, **data}
        return data

    @field_validator("required_gates")
    @classmethod
    def _known_gates(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "prove" not in value:
            raise ValueError("'prove' cannot be left out: a PASS says that something was proved")
        return _ordered(value, GATES, "gate")

    @field_validator("required_properties")
    @classmethod
    def _known_properties(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _ordered(value, PROPERTIES, "property")

    @field_validator("archs")
    @classmethod
    def _known_archs(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _ordered(value, ARCHS, "architecture")

    @property
    def digest(self) -> str:
        """Names the policy's content (not where it was read) in caches and reports."""
        return hashlib.sha256(self.model_dump_json(exclude={"origin"}).encode()).hexdigest()


def _ordered(value: tuple[str, ...], known: tuple[str, ...], what: str) -> tuple[str, ...]:
    for item in value:
        if item not in known:
            raise ValueError(f"unknown {what} {item!r}; known: {', '.join(known)}")
    return tuple(k for k in known if k in value)


def default_policy() -> Policy:
    """The policy ``safety`` with nothing changed."""
    return Policy()


def load(path: Path) -> Policy:
    """The policy in a TOML file: the whole file, or ``[tool.verify-kernel]`` of a ``pyproject.toml``."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"{path}: cannot read the policy ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: not TOML ({error})") from error
    table = data.get("tool", {}).get("verify-kernel", {}) if path.name == "pyproject.toml" else data
    if "origin" in table:
        raise PolicyError(f"{path}: unknown key 'origin'")
    try:
        return Policy.model_validate({**table, "origin": str(path)})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"]) or "the table"
        known = sorted(n.replace("_", "-") for n in Policy.model_fields if n != "origin")
        hint = f"; known keys: {', '.join(known)}" if first["type"] == "extra_forbidden" else ""
        raise PolicyError(f"{path}: {where}: {first['msg'].removeprefix('Value error, ')}{hint}") from error


def find(start: Path) -> Path | None:
    """The nearest policy file at or above ``start``; ``verify-kernel.toml`` goes before ``pyproject.toml``."""
    for folder in (start, *start.parents):
        own = folder / "verify-kernel.toml"
        if own.is_file():
            return own
        project = folder / "pyproject.toml"
        if project.is_file():
            try:
                if "verify-kernel" in tomllib.loads(project.read_text(encoding="utf-8")).get("tool", {}):
                    return project
            except (OSError, ValueError):
                continue
    return None
