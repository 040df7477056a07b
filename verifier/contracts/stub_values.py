"""Values of a problem file that are no tensors: named ints, and everything that the stub of torch does not know.

An operation that is not modelled exactly takes away what is known: its tensors go to memory of which nothing is known
(``escape``), and what may change anything else (a function or object handed to unknown code, a new default dtype, a
replaced function of torch) sets ``WORLD.lost``, after which no argument of the problem is known.

Invariant: what may not be decided without a value (``bool``, ``int``, ``for``, ``in``, ``with``) stops the file.

Example::

    n = Sym(1024, "n")
    n // 2                                # Sym(512, "(n // 2)")
    Unknown("numpy.prod")((n, n)) > 3     # Unknown; `if` of it raises
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn


class Sym(int):
    """An int with the clause text it was made by. Comparisons, hashing and printing are those of the int."""

    text: str

    def __new__(cls, value: int, text: str) -> Sym:
        made = super().__new__(cls, value)
        made.text = text
        return made

    def __copy__(self) -> Sym:
        return self

    def __deepcopy__(self, memo: Any) -> Sym:
        return self


def is_int(value: object) -> bool:
    """An int that is no bool."""
    return type(value) is int or type(value) is Sym


def text_of(value: int) -> str:
    return value.text if isinstance(value, Sym) else str(int(value))


def _binary(
    symbol: str, function: Callable[[int, int], int]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(a: Sym, b: object) -> Any:
        if not is_int(b):
            return NotImplemented
        assert isinstance(b, int)
        return Sym(function(int(a), int(b)), f"({text_of(a)} {symbol} {text_of(b)})")

    def backward(a: Sym, b: object) -> Any:
        if not is_int(b):
            return NotImplemented
        assert isinstance(b, int)
        return Sym(function(int(b), int(a)), f"({text_of(b)} {symbol} {text_of(a)})")

    return forward, backward


for _name, _symbol, _function in (
    ("add", "+", lambda a, b: a + b),
    ("sub", "-", lambda a, b: a - b),
    ("mul", "*", lambda a, b: a * b),
):
    _forward, _backward = _binary(_symbol, _function)
    setattr(Sym, f"__{_name}__", _forward)
    setattr(Sym, f"__r{_name}__", _backward)


def _floordiv(a: int, b: object) -> Any:
    """Python's floor and C's truncation agree for what is not negative; anything else loses its expression."""
    if not is_int(b):
        return NotImplemented
    assert isinstance(b, int)
    quotient = int(a) // int(b)
    return Sym(quotient, f"({text_of(a)} // {text_of(b)})") if int(a) >= 0 and int(b) > 0 else quotient


def _modulo(a: int, b: object) -> Any:
    if not is_int(b):
        return NotImplemented
    assert isinstance(b, int)
    rest = int(a) % int(b)
    return Sym(rest, f"({text_of(a)} % {text_of(b)})") if int(a) >= 0 and int(b) > 0 else rest


Sym.__floordiv__ = _floordiv  # type: ignore[method-assign]
Sym.__mod__ = _modulo  # type: ignore[method-assign]


class World:
    """``lost``: why nothing is known of any argument, or empty."""

    def __init__(self) -> None:
        self.lost = ""

    def lose(self, why: str) -> None:
        self.lost = self.lost or why


WORLD = World()


def refuse(why: str) -> NoReturn:
    """Stop the file; one that catches this error is not followed either."""
    WORLD.lose(why)
    raise NotImplementedError(why)


class Memory:
    """What tensors may share. ``changed``: values may have been written since; ``wild``: nothing is known of its tensors,
    nor that they do not share memory with other such tensors."""

    def __init__(self) -> None:
        self.changed = self.wild = False


class Known:
    """A value whose every operation is modelled: handing it to unknown code changes nothing."""

    __slots__ = ()


_PLAIN = (Known, bool, int, float, complex, str, bytes, range, slice, type(None), type(Ellipsis))
_TYPES = (bool, int, float, str)


def escape(values: Iterable[Any], keeps_lists: bool = False) -> None:
    """Code that is not known gets these. ``keeps_lists``: it does not change a list or dictionary itself."""
    for value in values:
        if isinstance(value, Unknown):
            if value._foreign:
                WORLD.lose("an object of the file's own class is used by code that is not known")
        elif hasattr(type(value), "_escape"):
            value._escape()
        elif type(value) in (list, dict, set, tuple, frozenset):
            if type(value) not in (tuple, frozenset) and not keeps_lists:
                WORLD.lose("a list is given to code that may change it")
            escape(value, keeps_lists)
            if isinstance(value, dict):
                escape(value.values(), keeps_lists)
        elif not isinstance(value, _PLAIN) and value not in _TYPES:
            WORLD.lose(f"a {type(value).__name__} is given to code that is not known")


HARMLESS = frozenset(
    "manual_seed manual_seed_all seed set_num_threads set_printoptions set_float32_matmul_precision set_grad_enabled "
    "set_seed seed_everything set_device set_num_interop_threads use_deterministic_algorithms".split()
)
"""Functions that change a state which neither shapes nor dtypes nor ranges depend on."""


def _changes_state(path: str) -> bool:
    """A call may change what other functions do, by its name."""
    parts = path.split(".")
    if parts[:2] == ["torch", "Tensor"]:
        return False
    if parts[0] == "torch" and any(p.startswith("_") and not p.startswith("_foreach_") for p in parts):
        return True
    return parts[-1] not in HARMLESS and any(
        p.startswith(("set_", "use_")) or "default" in p or "autocast" in p for p in parts
    )


def _keeps_lists(path: str) -> bool:
    parts = path.split(".")
    return parts[0] == "torch" or (parts[0] == "numpy" and "random" not in parts)


class Unknown:
    """Any value: callable, usable as a decorator and as a base class.

    ``_path``: its dotted name in a library. ``_foreign``: code of the file may run when it is used.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__["_path"] = args[0] if len(args) == 1 and isinstance(args[0], str) else ""
        self.__dict__["_foreign"] = len(args) == 3  # the class statement: name, bases, namespace

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name != "__version__":
            raise AttributeError(name)
        found = Unknown(f"{self._path}.{name}" if self._path else "")
        found.__dict__["_foreign"] = self._foreign
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        escape([value])

    def __delattr__(self, name: str) -> None:
        WORLD.lose(f"{self._path}.{name} is deleted")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._foreign:
            WORLD.lose("a class of the file is used by code that is not known")
        if _changes_state(self._path):
            WORLD.lose(f"{self._path}() may change what other functions do")
        escape([*args, *kwargs.values()], keeps_lists=_keeps_lists(self._path))
        return Unknown()

    def __setitem__(self, key: Any, value: Any) -> None:
        escape([value])

    def __delitem__(self, key: Any) -> None:
        return None

    def _combined(self, *others: Any) -> Unknown:
        escape(others)
        return Unknown()

    def _undecided(self, *args: Any, **kwargs: Any) -> Any:
        refuse(f"{self._path or 'a value'} is not known here, and the file depends on it")

    __hash__ = object.__hash__

    def __instancecheck__(self, instance: Any) -> bool:
        return bool(self._undecided())


_ARITHMETIC = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod".split()

for _name in ("getitem", "eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "round"):
    setattr(Unknown, f"__{_name}__", Unknown._combined)
for _name in _ARITHMETIC:
    setattr(Unknown, f"__{_name}__", Unknown._combined)
    setattr(Unknown, f"__r{_name}__", Unknown._combined)
UNDECIDED = "bool int float complex index len iter contains enter exit subclasscheck trunc floor ceil str repr format".split()
"""Where Python needs a value at once."""
for _name in UNDECIDED:
    setattr(Unknown, f"__{_name}__", Unknown._undecided)


class Library(Unknown):
    """A module: what the stub knows of it, and Unknown for the rest."""

    def __init__(self, path: str, known: dict[str, Any] | None = None) -> None:
        self.__dict__.update(known or {})
        self.__dict__["_path"], self.__dict__["_foreign"] = path, False

    def __setattr__(self, name: str, value: Any) -> None:
        WORLD.lose(f"{self._path}.{name} is replaced")
