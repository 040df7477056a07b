"""Values held by containers and function objects of std, as C++ converts them: by the type's template arguments.

An element that is not a value of its type after the conversion is unknown.

Example: ``std::vector<short>(1, n)`` holds ``i16(n)``; what ``std::function<short (int)>`` returns is converted to short.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from verifier.contracts.objects import Bits, Float, Function, Items, Null, Sizes, Strides, Unknown, Value
from verifier.contracts.values import Bool, Int, const, dtype_of

if TYPE_CHECKING:
    from verifier.contracts.conversions import Conversions

_LISTS = ("std::vector<", "std::array<", "std::initializer_list<", "c10::ArrayRef<")
_TUPLES = ("std::pair<", "std::tuple<")
CONTAINERS = (*_LISTS, *_TUPLES, "std::function<")
VIEWS = ("c10::ArrayRef<", "std::span<", "std::initializer_list<", "std::basic_string_view<")
"""Types whose objects see what another variable holds."""
_LONGEST = 64


@lru_cache(maxsize=1024)
def template_arguments(type_: str) -> tuple[str, ...]:
    """``std::pair<int, std::vector<long>>`` -> ``("int", "std::vector<long>")``."""
    start, end = type_.find("<"), type_.rfind(">")
    if start < 0 or end < start:
        return ()
    out, depth, text = [], 0, ""
    for char in type_[start + 1 : end]:
        depth += {"<": 1, "(": 1, "[": 1, ">": -1, ")": -1, "]": -1}.get(char, 0)
        if char == "," and depth == 0:
            out.append(text.strip())
            text = ""
        else:
            text += char
    return (*out, text.strip()) if text.strip() else tuple(out)


def element_type(type_: str) -> str | None:
    """What a list type, or a pointer to one, holds."""
    arguments = template_arguments(type_) if type_.startswith(_LISTS) else ()
    return arguments[0] if arguments else None


def result_type(type_: str) -> str:
    """``std::function<short (int)>`` -> ``short``."""
    arguments = template_arguments(type_)
    return arguments[0].split("(")[0].strip() if arguments else ""


def contained(host: Conversions, value: Value, type_: str) -> Value:
    """The value as a container or function object of this type (one of ``CONTAINERS``)."""
    if isinstance(value, Function) and type_.startswith("std::function<"):
        if value.through in ("", type_):
            return replace(value, through=type_)
        return Unknown("a function object made of one of another type")
    arguments = template_arguments(type_)
    if isinstance(value, Sizes | Strides) and type_.startswith(_LISTS):
        return value if arguments[:1] in (("long",), ("long long",)) else Unknown("sizes as another type")
    if not isinstance(value, Items):
        return value
    if type_.startswith(_TUPLES):
        if len(arguments) != len(value.items):
            return Unknown("a tuple of another length")
        return Items(tuple(held(host, i, t) for i, t in zip(value.items, arguments, strict=True)))
    if not type_.startswith(_LISTS) or not arguments:
        return value
    items = value.items
    if type_.startswith("std::array<"):
        count = int(arguments[1]) if len(arguments) == 2 and arguments[1].isdigit() else None
        inner = items[0] if len(items) == 1 else None
        if isinstance(inner, Items) and not arguments[0].startswith(CONTAINERS):  # {{1, 2}}
            items = inner.items
        if count is None or count > _LONGEST or len(items) > count:
            return Unknown("a host array")
        items = (*items, *(default(arguments[0]) for _ in range(count - len(items))))
    return Items(tuple(held(host, i, arguments[0]) for i in items))


def default(type_: str) -> Value:
    """What ``T()`` is."""
    if dtype_of(type_) is not None:
        return const(0, "i32")
    return Null() if type_ == "at::Tensor" else Unknown("a default element")


def held(host: Conversions, value: Value, type_: str) -> Value:
    """The value as an element of this type."""
    if type_.endswith("&"):
        return value
    out = host.coerce(value, type_)
    dtype = dtype_of(type_)
    if dtype is None or isinstance(out, Unknown):
        return out
    if dtype == "bool":
        return out if isinstance(out, Bool) else Unknown("an element of another type")
    if dtype in ("f32", "f64", "f16", "bf16"):
        return out if isinstance(out, Float) else Unknown("an element of another type")
    return out if isinstance(out, Int | Bits) else Unknown("an element of another type")
