"""The Messages API through the ``anthropic`` SDK; the only module that knows it. Request -> streamed answer -> Reply.

System text and problem carry cache marks, the answer comes as a tool call, the SDK retries what fails before an answer
begins (429, 5xx, broken connections). ``anthropic`` is imported when the client is made. Invariant: an answer whose
stream broke off is never used, and counts with an estimate.

Example::

    client = AnthropicClient(base_url="http://127.0.0.1:8000")
    client.ask(Request("claude-opus-5-5", "system", "problem", "Write the kernel.", 8000)).stop   # "tool_use"
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from generator.answers import TOOL, TOOL_NAME
from generator.model import ModelError, Reply, Request, Usage

if TYPE_CHECKING:
    import anthropic

INSTALL = "the anthropic package is missing: pip install 'verify-kernel[generator]' (or use --model-command)"
NO_KEY = (
    "no API key: set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN, or an SDK profile), or use --model-command"
)
_TRY_LATER = frozenset({408, 409, 429})


class AnthropicClient:
    """``max_retries``: by the SDK, with its back-off. Raises ModelError at once when package or key are missing."""

    def __init__(self, *, base_url: str | None = None, max_retries: int = 5, timeout: float = 600.0) -> None:
        try:
            import anthropic
        except ImportError as error:
            raise ModelError(INSTALL, fault="usage") from error
        try:
            self._sdk = anthropic.Anthropic(base_url=base_url, max_retries=max_retries, timeout=timeout)
        except (anthropic.AnthropicError, ValueError, TypeError, OSError) as error:
            raise ModelError(f"{NO_KEY}; the SDK says: {error}", fault="usage") from error
        found = (getattr(self._sdk, name, None) for name in ("api_key", "auth_token", "credentials"))
        if not any(found):
            raise ModelError(NO_KEY, fault="usage")

    @property
    def destination(self) -> str:
        url = self._sdk.base_url
        return f"{url.scheme}://{url.host}" + (f":{url.port}" if url.port else "")

    def ask(self, request: Request) -> Reply:
        import anthropic

        begun = time.monotonic()
        stream: anthropic.MessageStream[None] | None = None
        try:
            with self._sdk.messages.stream(**_arguments(request)) as stream:
                message = stream.get_final_message()
        except anthropic.APIStatusError as error:
            later = error.status_code in _TRY_LATER or error.status_code >= 500 or stream is not None
            raise ModelError(
                f"the model's server answered {error.status_code}: {error.message}",
                fault="unavailable" if later else "usage",
                usage=Usage(estimated=stream is not None),
            ) from error
        except anthropic.AnthropicError as error:
            raise ModelError(
                f"no answer from {self.destination}: {error}",
                fault="unavailable",
                usage=Usage(estimated=stream is not None),
            ) from error
        except ValueError:
            # The SDK could not read the JSON of the tool's arguments as it streamed in.
            return Reply(
                stop="bad_json",
                model=request.model,
                usage=Usage(estimated=True),
                seconds=time.monotonic() - begun,
            )
        except Exception as error:  # transport errors in mid-stream reach us as the HTTP library's own
            if stream is None:
                raise
            raise ModelError(
                f"the answer broke off: {type(error).__name__}: {error}",
                fault="unavailable",
                usage=Usage(estimated=True),
            ) from error
        if message.stop_reason is None:
            raise ModelError("the answer broke off", fault="unavailable", usage=Usage(estimated=True))
        return _reply(message, time.monotonic() - begun)


def _arguments(request: Request) -> dict[str, Any]:
    # No tool_choice that forces the call: models that always think refuse it. The prompt asks for the call instead.
    cached = {"type": "ephemeral"}
    return {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": [{"type": "text", "text": request.system, "cache_control": cached}],
        "tools": [TOOL],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": request.problem, "cache_control": cached},
                    {"type": "text", "text": request.message},
                ],
            }
        ],
    }


def _reply(message: anthropic.types.Message, seconds: float) -> Reply:
    submission: Any = None
    text: list[str] = []
    for block in message.content:
        if block.type == "tool_use" and block.name == TOOL_NAME and submission is None:
            submission = block.input
        elif block.type == "text":
            text.append(block.text)
    used = message.usage
    return Reply(
        submission=submission,
        text="".join(text),
        stop=message.stop_reason or "",
        usage=Usage(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cache_write_tokens=used.cache_creation_input_tokens or 0,
            cache_read_tokens=used.cache_read_input_tokens or 0,
        ),
        model=message.model,
        request_id=message.id,
        seconds=seconds,
    )
