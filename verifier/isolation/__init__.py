"""Child processes with limits, and the sandbox: whatever touches submitted text runs through here."""

from verifier.isolation.child import Completed, Limits, python_argv, run
from verifier.isolation.sandbox import Sandbox, SandboxMissing, probe

__all__ = ["Completed", "Limits", "Sandbox", "SandboxMissing", "probe", "python_argv", "run"]
