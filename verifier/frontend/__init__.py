"""From text to IR: the device part here, the host part in ``host*.py``. The only user of libclang.

Importing the package is cheap: what it exports is loaded at its first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verifier.frontend.device import FrontEndFailed, begin_device, parse_device

__all__ = ["FrontEndFailed", "begin_device", "parse_device"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from verifier.frontend import device

        return getattr(device, name)
    raise AttributeError(name)
