"""The one error of this package: a contract somebody wrote that cannot be used (exit 2).

Example: ``raise ContractError("extent 'n +' is not an expression", Span("saxpy.contract.toml", 7), "write n + 1")``.
"""

from __future__ import annotations

from specs.location import NOWHERE, Span


class ContractError(Exception):
    """``message``: what is wrong; ``span``: where; ``fix``: what to do."""

    def __init__(self, message: str, span: Span = NOWHERE, fix: str = "") -> None:
        super().__init__(f"{span}: {message}" if span.line or span.path else message)
        self.message = message
        self.span = span
        self.fix = fix
