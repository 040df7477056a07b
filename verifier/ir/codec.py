"""IR <-> JSON, derived from the dataclasses of :mod:`verifier.ir.nodes`; no pickle, nothing is executed.

Input -> output: a node -> nested lists and scalars (``to_data``) and back (``from_data``); text:
``dumps``, ``loads``.
A node is ``["Tag", field, …]`` in field order, a tuple is ``[item, …]``, a float its ``float.hex()``, a dict a list of
pairs sorted as it was.

Invariant: ``loads(dumps(module)) == module``; ``from_data`` takes nothing whose tag, arity or field types differ from
the dataclass's annotations (the text comes from a child process that read hostile input) and raises CodecError.

Example::

    text = dumps(module)
    assert loads(text) == module
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from specs.location import Span
from verifier.ir import nodes
from verifier.ir.collector import without_collector

_CLASSES: dict[str, type[Any]] = {
    name: value for name, value in vars(nodes).items() if isinstance(value, type) and is_dataclass(value)
}
_CLASSES["Span"] = Span
_FIELDS: dict[type[Any], tuple[str, ...]] = {
    cls: tuple(f.name for f in fields(cls)) for cls in _CLASSES.values()
}
_SHARED = frozenset(
    (
        Span,
        nodes.Int,
        nodes.Float,
        nodes.Bool,
        nodes.Void,
        nodes.Pointer,
        nodes.Array,
        nodes.Struct,
        nodes.Field,
    )
)
_PLAIN = frozenset((str, int, bool))
_MANY = 1 << 14

Decoder = Callable[[Any], Any]


class CodecError(ValueError):
    """The data is not an encoded IR node."""


def to_data(value: Any) -> Any:
    """The JSON-able form of a node, tuple, dict or scalar of the IR. One object that occurs twice is one list."""
    return _encode(value, {})


def _encode(value: Any, known: dict[int, list[Any]]) -> Any:
    """``known``: what places and types became, by ``id``; most of them occur many times."""
    cls = type(value)
    names = _FIELDS.get(cls)
    if names is not None:
        shared = cls in _SHARED
        if shared and id(value) in known:
            return known[id(value)]
        data = [cls.__name__, *[_encode(getattr(value, name), known) for name in names]]
        if shared:
            known[id(value)] = data
        return data
    if value is None or cls in (str, int, bool):
        return value
    if cls is float:
        return value.hex()
    if cls is tuple:
        return [_encode(item, known) for item in value]
    if cls is dict:
        return [[key, _encode(item, known)] for key, item in value.items()]
    raise CodecError(f"no encoding for {cls.__name__}")


def dumps(module: nodes.Module) -> str:
    return json.dumps(to_data(module), separators=(",", ":"))


def loads(text: str | bytes) -> nodes.Module:
    """Decode and type-check. Raises CodecError."""
    with without_collector():
        return _loads(text)


def _loads(text: str | bytes) -> nodes.Module:
    try:
        data = json.loads(text)
    except RecursionError:
        raise CodecError("nested too deeply") from None
    except ValueError as error:
        raise CodecError(f"not JSON: {error}") from None
    module = from_data(data, nodes.Module)
    assert isinstance(module, nodes.Module)
    return module


def from_data(data: Any, annotation: Any) -> Any:
    """Decode ``data`` as a value of the annotated type."""
    try:
        return _decoder(annotation)(data)
    except RecursionError:
        raise CodecError("nested too deeply") from None


_DECODERS: dict[Any, Decoder] = {}


def _decoder(annotation: Any) -> Decoder:
    decoder = _DECODERS.get(annotation)
    if decoder is None:
        decoder = _DECODERS[annotation] = _make_decoder(annotation)
    return decoder


def _fail(expected: str, data: Any) -> CodecError:
    return CodecError(f"expected {expected}, got {str(data)[:60]}")


def _make_decoder(annotation: Any) -> Decoder:
    origin = get_origin(annotation)
    if annotation in (bool, int, str):
        return _scalar_decoder(annotation)
    if annotation is float:
        return _decode_float
    if origin is Literal:
        return _literal_decoder(get_args(annotation))
    if origin is tuple:
        return _tuple_decoder(get_args(annotation))
    if origin is dict:
        return _dict_decoder(get_args(annotation)[1])
    if origin in (UnionType, Union):
        return _union_decoder(get_args(annotation))
    if isinstance(annotation, type) and is_dataclass(annotation):
        return _union_decoder((annotation,))
    raise TypeError(f"no decoder for {annotation}")


def _scalar_decoder(cls: type[Any]) -> Decoder:
    def decode(data: Any) -> Any:
        if type(data) is not cls:
            raise _fail(cls.__name__, data)
        return data

    return decode


def _decode_float(data: Any) -> float:
    if type(data) is not str:
        raise _fail("float", data)
    try:
        return float.fromhex(data)
    except ValueError:
        raise _fail("float", data) from None


def _literal_decoder(allowed: tuple[Any, ...]) -> Decoder:
    def decode(data: Any) -> Any:
        if type(data) is not str or data not in allowed:
            raise _fail(f"one of {allowed}", data)
        return data

    return decode


def _tuple_decoder(args: tuple[Any, ...]) -> Decoder:
    homogeneous = len(args) == 2 and args[1] is Ellipsis
    cells: list[Decoder] = []

    def decode(data: Any) -> tuple[Any, ...]:
        if type(data) is not list:
            raise _fail("a list", data)
        if not cells:
            cells.extend(_decoder(a) for a in args if a is not Ellipsis)
        if homogeneous:
            item = cells[0]
            return tuple([item(value) for value in data])
        if len(data) != len(cells):
            raise _fail(f"{len(cells)} items", data)
        return tuple(cell(value) for cell, value in zip(cells, data, strict=True))

    return decode


def _dict_decoder(item: Any) -> Decoder:
    def decode(data: Any) -> dict[str, Any]:
        if type(data) is not list:
            raise _fail("pairs", data)
        result: dict[str, Any] = {}
        for pair in data:
            if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str or pair[0] in result:
                raise _fail("a pair with a new name", pair)
            result[pair[0]] = _decoder(item)(pair[1])
        return result

    return decode


def _union_decoder(members: tuple[Any, ...]) -> Decoder:
    classes = {cls.__name__: cls for cls in members if isinstance(cls, type) and is_dataclass(cls)}
    scalars = [m for m in members if m is not type(None) and m not in classes.values()]
    optional = type(None) in members
    plans: dict[str, tuple[type[Any], list[Decoder], bool]] = {}
    known: dict[tuple[Any, ...], tuple[tuple[type[Any], ...], Any]] = {}  # places and plain types, decoded

    def plan(tag: str) -> tuple[type[Any], list[Decoder], bool]:
        cls = classes[tag]
        hints = get_type_hints(cls)
        plain = cls in _SHARED and all(hints[name] in (str, int, bool) for name in _FIELDS[cls])
        return cls, [_decoder(hints[name]) for name in _FIELDS[cls]], plain

    def plain_node(data: list[Any], cls: type[Any], cells: list[Decoder]) -> Any:
        types = tuple(map(type, data))
        if not _PLAIN.issuperset(types):
            raise _fail(cls.__name__, data)
        key = tuple(data)
        entry = known.get(key)
        if entry is None or entry[0] != types:  # 1 and True are equal
            if len(known) >= _MANY:
                known.clear()
            node = cls(*[cell(value) for cell, value in zip(cells, data[1:], strict=True)])
            entry = known[key] = (types, node)
        return entry[1]

    def decode(data: Any) -> Any:
        if data is None and optional:
            return None
        if type(data) is list and data and type(data[0]) is str and data[0] in classes:
            tag = data[0]
            entry = plans.get(tag)
            if entry is None:
                entry = plans[tag] = plan(tag)
            cls, cells, plain = entry
            if len(data) != len(cells) + 1:
                raise _fail(f"{len(cells)} fields of {tag}", data)
            if plain:
                return plain_node(data, cls, cells)
            return cls(*[cell(value) for cell, value in zip(cells, data[1:], strict=True)])
        for scalar in scalars:
            try:
                return _decoder(scalar)(data)
            except CodecError:
                continue
        raise _fail("one of " + ", ".join(sorted(classes)), data)

    return decode
