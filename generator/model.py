"""What a model client is: a ``Request`` -> a ``Reply``, or ``ModelError``. Data and one protocol, no network here.

Invariant: a client returns what the model said, unjudged; ``submission`` is untrusted JSON.

Example::

    class Fixed:
        destination = "nowhere"
        def ask(self, request: Request) -> Reply:
            return Reply(submission={"language": "cuda", "source": "..."}, stop="tool_use")
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """``system`` and ``problem`` are the same in every attempt of a run (so they can be cached); ``message`` is not."""

    model: str
    system: str
    problem: str
    message: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. ``usd``: the price, if the client knows it itself. ``estimated``: an upper bound, because
    the call broke off before it said what it used."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    usd: float | None = None
    estimated: bool = False

    @property
    def prompt_tokens(self) -> int:
        return self.input_tokens + self.cache_write_tokens + self.cache_read_tokens

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """``submission``: the arguments of the ``submit_kernel`` call, None when the model did not call it.

    ``stop``: tool_use | end_turn | max_tokens | refusal | bad_json (the arguments were no JSON) | …
    """

    submission: Any = None
    text: str = ""
    stop: str = ""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    request_id: str = ""
    seconds: float = 0.0


class ModelError(Exception):
    """No reply. ``fault``: "usage" (key, model name, request: asking again is useless) or "unavailable" (try later)."""

    def __init__(self, message: str, *, fault: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fault = fault
        self.usage = usage or Usage()


class Client(Protocol):
    """``destination``: in words, where a request goes."""

    @property
    def destination(self) -> str: ...

    def ask(self, request: Request) -> Reply: ...
