"""One path through a launcher: decisions, symbols, facts, memory, and the launches seen. Shared by C++ and Python.

Host code is executed symbolically by re-execution: a run follows one path and asks :meth:`Run.decide` at each branch
that the symbols leave open; ``paths.explore`` runs again with the other answer until all paths are done.

Invariant: ``path`` holds only what the host code has really established at that point; what is learned later never
reaches an earlier launch (a launch copies the path and the facts).

Example::

    run = Run(script=(True,))
    execute(run, launcher)
    run.launches
"""

from __future__ import annotations

import copy
import keyword
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from specs.clauses import FUNCTIONS
from specs.contract import Origin
from specs.location import NOWHERE, Span
from verifier.contracts.objects import Dim3, Shape, Tensor, pointers_in
from verifier.contracts.values import DIM_MAX, Bool, Int, base_and_offset, compare, lnot, symbol

if TYPE_CHECKING:
    from verifier.contracts.paths import Exploration

MAX_STEPS = 40_000
SKIPPABLE_STEPS = 2000


class Dead(Exception):
    """This path ends here (throw, exit, a check that cannot hold)."""


class Refused(Exception):
    """The code cannot be followed from here; the message is a gap for everything that comes after it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing established on the path. ``text``: a clause; or ``same``: equal shapes; or ``prefix``: how the first begins."""

    text: str
    origin: Origin
    span: Span = NOWHERE
    note: str = ""
    same: tuple[Shape | tuple[Int, ...], Shape | tuple[Int, ...]] | None = None
    prefix: tuple[Shape, Shape | tuple[Int, ...]] | None = None


@dataclass(slots=True)
class SymbolInfo:
    """``prefer``: the name of the first variable that holds just this symbol. ``gap``: why its value is not followed."""

    kind: str
    meaning: str = ""
    low: int | None = None
    high: int | None = None
    value: int | None = None
    origin: Origin = "derived"
    prefer: str = ""
    gap: str = ""
    unfollowed: bool = False  # it stands for a condition that is not followed
    constant: bool = False  # a size that the program fixes, varied only to say more than the program asks
    taken: bool = False  # an argument that is taken to be an int because it is used as one


@dataclass(slots=True)
class Storage:
    """A piece of memory. ``extent``: elements of ``dtype``; None for not known.

    ``how``: argument (a tensor of the caller), fresh, cuda (cudaMalloc), view (of something not followed), host, null.
    """

    dtype: str | None
    extent: Int | None
    dims: tuple[Int, ...] | Shape = ()
    how: str = "argument"
    initialized: bool = True
    zero: bool = False
    align: int = 0
    content: tuple[str, str] | None = None
    content_origin: Origin = "assumed"
    bytes: Int | None = None
    host_name: str = ""
    caller: bool = False
    """Allocated by the caller as an object of its own (a problem's input, a parameter): overlaps nothing else."""
    gap: str = ""
    filled_on: str | None = None
    used_on: str | None = None
    """The streams of a copy or fill, and of a launch, that nothing has waited for (see streams)."""
    from_view_of: str = ""
    """The storage it may be the same as (``contiguous()`` may return self)."""
    contiguous: bool = False
    source: str = ""  # what it is for the caller: ``argument 0``, ``parameter weight``
    strided: bool = False
    """A kernel gets its strides, which are contiguous only if those of the tensor are that it was made like."""
    sized: bool = False
    """Allocated from sizes alone, so that its strides are known (``empty_like`` copies those of dims of size 1)."""
    reordered: bool = False  # its elements may lie in another order than in what it was made from
    on_first: bool = False  # made on device 0, by its number
    like: bool = False  # its dtype is that of another tensor, which is not known
    made_of: tuple[str, ...] = ()  # memory without contents that it may be a view, or a copy, of


@dataclass(slots=True)
class FreeShape:
    """What is known of a shape without dims: which dims were asked for, and the rank if a check told it."""

    names: dict[int | str, str] = field(default_factory=dict)
    """The symbols of its dims, and of its numel, rank, rest and outer part."""
    positive: set[int] = field(default_factory=set)
    negative: set[int] = field(default_factory=set)
    rank: int | None = None
    numel_used: bool = False
    row_of: str = ""
    """The free shape whose dims from the second on these are."""
    why: str = ""
    """Set for the result of something that is not followed: its sizes are not the caller's to choose."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A launch as it was reached on this path."""

    kernel: str
    targs: tuple[str, ...] | None
    grid: Dim3
    block: Dim3
    shared: Int
    stream: str
    args: tuple[Any, ...]
    params: tuple[tuple[str, str], ...]
    span: Span
    launcher: str
    cooperative: bool
    order: int
    path: tuple[Fact, ...]
    checked: frozenset[tuple[str, str]]
    ranks: dict[str, int | None]
    storages: dict[str, Storage]
    loops: tuple[int, ...]
    gaps: tuple[str, ...]
    around: tuple[Storage, ...] = ()
    """Everything that the launcher has allocated or was given so far: each is within the size cap."""
    asked: dict[str, frozenset[int]] = field(default_factory=dict)
    """The dims of each free shape that the host code has asked for, so that they exist."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A mark in what a path knows."""

    path: int
    known: dict[str, bool]
    bounds: dict[str, tuple[int | None, int | None]]
    checked: set[tuple[str, str]]
    denied: set[tuple[str, str]]
    dtypes: dict[str, str]
    ranks: dict[str, int | None]


class Run:
    """State of one path. ``script``: answers given so far; ``asked``: those used."""

    def __init__(self, script: tuple[bool, ...] = ()) -> None:
        self.script = script
        self.asked: list[tuple[bool, bool]] = []
        self.path: list[Fact] = []
        self.known: dict[str, bool] = {}
        self.bounds: dict[str, tuple[int | None, int | None]] = {}
        self.symbols: dict[str, SymbolInfo] = {}
        self.shapes: dict[str, FreeShape] = {}
        self.storages: dict[str, Storage] = {}
        self.checked: set[tuple[str, str]] = set()
        self.denied: set[tuple[str, str]] = set()
        self.dtypes: dict[str, str] = {}
        self.launches: list[Seen] = []
        self.gaps: list[str] = []
        self.late_gaps: list[str] = []
        self.loops: list[int] = []
        self.loop_count = 0
        self.steps = 0
        self.speculative = 0
        self.skippable = 0
        """Inside a loop that need not be followed if that costs a path, or many steps."""
        self.patience = 0  # the step at which such a loop is left
        self.names: dict[str, int] = {}
        self.chosen: dict[str, Int] = {}
        """The ints that arguments of the model are, which are used where only an int can be."""
        self.writes: list[tuple[int, str, bool]] = []
        """(launches so far, storage, by the last launch) of every write that the host code makes or hands to a kernel."""
        self.began = 0  # how many of them there were before forward
        self.plain_strides: dict[str, str] = {}
        """Storage -> name of tensors whose strides are taken for those of a new tensor of the same sizes."""
        self.loop_writes: list[tuple[frozenset[int], str]] = []
        """(loops around, storage) of every write inside of a loop, also to what may overlap."""
        self.one_round = False
        """Of a loop with launches that is run a known number of times, each path follows one round (see loops)."""
        self.returned: Tensor | None = None  # by the launcher or the model
        self.numel_prefer: dict[str, str] = {}
        self.tensor_of_storage: dict[str, set[str]] = {}
        self.caller_dims: list[tuple[Int, ...]] = []
        """Dims of the caller's tensors, where known: each is within the size cap."""
        self.uninitialised: set[str] = set()
        self.filled: dict[str, tuple[int, str]] = {}
        """Storage -> (launches so far, library function) that was given memory without contents."""
        self.scope = 0
        self.parameters: dict[str, str] = {}  # memory -> the launcher's parameter that it was passed as
        """How many storages there were when the launcher was called."""
        self.texts: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        """Clauses in normal form, for each set of replacements (see emit)."""
        self.exploration: Exploration | None = None
        """That which this path belongs to."""
        self.chosen_device = "0"
        self.before = (0, 0, 0)
        """How many launches, writes in loops and late gaps the path had when it was copied from another."""

    def copied(self, script: tuple[bool, ...]) -> Run:
        """Another path that has come as far as this one and goes on by itself."""
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict | set) and name != "texts":
                setattr(other, name, copy.copy(value))
        other.symbols = {k: copy.copy(v) for k, v in self.symbols.items()}
        other.storages = {k: copy.copy(v) for k, v in self.storages.items()}
        other.shapes = {
            k: replace(v, names=dict(v.names), positive=set(v.positive), negative=set(v.negative))
            for k, v in self.shapes.items()
        }
        other.tensor_of_storage = {k: set(v) for k, v in self.tensor_of_storage.items()}
        other.script, other.steps = script, 0
        other.before = len(self.launches), len(self.loop_writes), len(self.late_gaps)
        return other

    def new_launches(self) -> list[Seen]:
        """Those of which the path that this one is a copy of does not say as much."""
        count, writes, gaps = self.before
        around = {n for loops, _ in self.loop_writes[writes:] for n in loops}
        more = len(self.late_gaps) > gaps
        return [x for x in self.launches if x.order >= count or more or around & set(x.loops)]

    # --- budget ------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Refused("the host code takes too many steps to follow")
        if self.skippable and self.steps > self.patience:
            raise Forked

    # --- names and symbols -------------------------------------------------------------------------------------------

    def unique(self, base: str) -> str:
        """A name not used before on this path."""
        base = "".join(c if c.isalnum() or c == "_" else "_" for c in base) or "v"
        if base[0].isdigit():
            base = f"v{base}"
        if keyword.iskeyword(base) or base in FUNCTIONS:
            base += "_"
        count = self.names.get(base, 0)
        self.names[base] = count + 1
        name = base if not count else f"{base}_{count + 1}"
        if name in self.symbols:
            return self.unique(name)
        return name

    def gap_all(self, why: str) -> None:
        """Something that makes every launch of this path uncertain."""
        self.late_gaps.append(why)

    def fresh(
        self,
        base: str,
        kind: str,
        type_: str,
        *,
        meaning: str = "",
        lo: int | None = None,
        hi: int | None = None,
        low: int | None = None,
        gap: str = "",
    ) -> Int:
        """A new symbol; ``lo``/``hi`` bound the term, ``low`` the general domain."""
        name = self.unique(base)
        self.symbols[name] = SymbolInfo(kind, meaning, low=low, gap=gap)
        return symbol(name, lo, hi, type_)

    def dim(self, shape: Shape, index: int) -> Int:
        """``size(index)`` of a free shape."""
        free = self.shapes[shape.name]
        if free.row_of:
            return self.dim(Shape(free.row_of), index + 1 if index >= 0 else index)
        if free.rank is not None and index < 0:
            index += free.rank
        if free.rank is not None and not 0 <= index < free.rank:
            raise Dead
        (free.positive if index >= 0 else free.negative).add(index)
        name = self.part(shape.name, index)
        if name not in self.symbols:
            self.symbols[name] = SymbolInfo("dim", f"{shape.name}.size({index})", low=1)
        return symbol(name, 0, DIM_MAX)

    def part(self, shape: str, which: int | str) -> str:
        """The name of a dim (by index), or of the numel, rank, rest or outer part, of a free shape."""
        names = self.shapes[shape].names
        if which not in names:
            label = f"m{-which}" if isinstance(which, int) and which < 0 else f"{which}"
            names[which] = self.unique(f"{shape}_{label}")
        return names[which]

    def numel(self, shape: Shape) -> Int:
        """``numel()`` of a free shape: a placeholder, resolved when the contract is made."""
        self.shapes[shape.name].numel_used = True
        return symbol(self.part(shape.name, "numel"), 0, DIM_MAX)

    def free_tensor(self, name: str, dtype: str | None = None) -> Tensor:
        """A tensor of the caller of which nothing is known."""
        key = self.unique(name)
        self.shapes[key] = FreeShape()
        self.storages[key] = Storage(dtype, None, Shape(key), host_name=name)
        return Tensor(key, Shape(key), dtype, key, "free", host_name=name)

    # --- branches and facts ------------------------------------------------------------------------------------------

    def decide(self, condition: Bool, span: Span = NOWHERE) -> bool:
        """Which way the path goes; what is thereby known is put on the path."""
        known = self.evaluate(condition)
        if known is not None:
            return known
        if condition.op == "not":
            return not self.decide(condition.parts[0], span)
        if condition.op in ("and", "or"):
            stop = condition.op == "or"
            for part in condition.parts:
                if self.decide(part, span) == stop:
                    return stop
            return not stop
        if self.speculative:
            raise NotSimple
        if self.skippable:
            raise Forked
        index = len(self.asked)
        answer = self.script[index] if index < len(self.script) else True
        self.asked.append((answer, True))
        self._learn(condition, answer, span)
        return answer

    def evaluate(self, condition: Bool) -> bool | None:
        """What the path already says about a condition."""
        match condition.op:
            case "not":
                inner = self.evaluate(condition.parts[0])
                return None if inner is None else not inner
            case "and" | "or":
                values = [self.evaluate(p) for p in condition.parts]
                stop = condition.op == "or"
                if stop in values:
                    return stop
                return None if None in values else not stop
        if condition.value is not None:
            return condition.value
        if condition.fact is not None:
            return self._fact(condition.fact)
        if condition.text in self.known:
            return self.known[condition.text]
        if condition.sides is not None:
            op, left, right = condition.sides
            return compare(op, self.narrow(left), self.narrow(right)).value
        return None

    def narrow(self, value: Int) -> Int:
        """The value with the interval that the path's comparisons leave it."""
        base, offset = base_and_offset(value.text)
        if base not in self.bounds:
            return value
        low, high = self.bounds[base]
        lo = value.lo if low is None else low + offset if value.lo is None else max(value.lo, low + offset)
        hi = value.hi if high is None else high + offset if value.hi is None else min(value.hi, high + offset)
        return Int(value.text, lo, hi, value.type, value.taint)

    def _bound(self, condition: Bool) -> None:
        """Learn intervals from a comparison with a constant that holds."""
        for part in condition.both:
            self._bound(part)
        if condition.sides is None:
            return
        op, left, right = condition.sides
        left, right = self.narrow(left), self.narrow(right)
        if left.value is not None and right.value is None:
            op, left, right = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op), right, left
        if right.value is None:
            return
        base, offset = base_and_offset(left.text)
        low, high = self.bounds.get(base, (None, None))
        bound = right.value - offset
        if op in ("<", "<=", "=="):
            top = bound - (op == "<")
            high = top if high is None else min(high, top)
        if op in (">", ">=", "=="):
            bottom = bound + (op == ">")
            low = bottom if low is None else max(low, bottom)
        self.bounds[base] = (low, high)

    def assume(self, condition: Bool, span: Span = NOWHERE) -> None:
        """A check that stops the program where the condition does not hold."""
        known = self.evaluate(condition)
        if known is False:
            raise Dead
        if known is True:
            return
        if self.speculative:
            raise NotSimple
        if condition.op == "and":
            for part in condition.parts:
                self.assume(part, span)
        elif condition.op == "or":
            if not self.decide(condition, span):
                raise Dead
        elif condition.op == "not":
            inner = condition.parts[0]
            if inner.op == "or":
                for part in inner.parts:
                    self.assume(lnot(part), span)
            elif inner.op == "and":
                if self.decide(inner, span):
                    raise Dead
            else:
                self._learn(inner, False, span)
        else:
            self._learn(condition, True, span)

    def learned(self) -> Learned:
        """What the path knows now, for :meth:`forget`."""
        ranks = {k: v.rank for k, v in self.shapes.items()}
        return Learned(
            len(self.path),
            dict(self.known),
            dict(self.bounds),
            set(self.checked),
            set(self.denied),
            dict(self.dtypes),
            ranks,
        )

    def forget(self, before: Learned) -> None:
        """Drop what was learned since: it held for one iteration of a loop."""
        del self.path[before.path :]
        self.known, self.bounds = dict(before.known), dict(before.bounds)
        self.checked, self.denied, self.dtypes = set(before.checked), set(before.denied), dict(before.dtypes)
        for key, shape in self.shapes.items():
            shape.rank = before.ranks.get(key)

    def _learn(self, condition: Bool, answer: bool, span: Span) -> None:
        if condition.op == "not":
            self._learn(condition.parts[0], not answer, span)
            return
        if condition.fact is None:
            text = condition.text if answer else lnot(condition).text
            self.known[condition.text] = answer
            self.known[lnot(condition).text] = not answer
            self._bound(condition if answer else lnot(condition))
            self.path.append(Fact(text, "enforced", span))
            return
        kind, subject, argument = condition.fact
        key = (kind, f"{subject}")
        match kind:
            case "rank":
                if answer:
                    self.shapes[subject].rank = argument
                    self._share_ranks()
                else:
                    self.denied.add((f"rank {argument}", subject))
            case "same":
                if answer:
                    self.path.append(Fact("", "enforced", span, same=(subject, argument)))
                    self._share_ranks()
                self.known[f"same {subject} {argument}"] = answer
            case "dtype":
                if answer:
                    self.dtypes[subject] = argument
                    self.checked.add(("dtype", subject))
                else:
                    self.denied.add((f"dtype {argument}", subject))
            case _:
                (self.checked if answer else self.denied).add(key)

    def _share_ranks(self) -> None:
        """Tensors of equal sizes have equal ranks, through any number of equalities."""
        pairs = [fact.same for fact in self.path if fact.same is not None]
        for _ in pairs:
            for pair in pairs:
                ranks = [self.shapes[d.name].rank if isinstance(d, Shape) else len(d) for d in pair]
                for dims, rank in zip(pair, reversed(ranks), strict=True):
                    if isinstance(dims, Shape) and self.shapes[dims.name].rank is None:
                        self.shapes[dims.name].rank = rank

    def _fact(self, fact: tuple[str, Any, Any]) -> bool | None:
        kind, subject, argument = fact
        match kind:
            case "rank":
                rank = self.shapes[subject].rank
                if rank is not None:
                    return bool(rank == argument)
                return False if (f"rank {argument}", subject) in self.denied else None
            case "same":
                return self.known.get(f"same {subject} {argument}")
            case "dtype":
                if subject in self.dtypes:
                    return bool(self.dtypes[subject] == argument)
                return False if (f"dtype {argument}", subject) in self.denied else None
            case _:
                if (kind, f"{subject}") in self.checked:
                    return True
                return False if (kind, f"{subject}") in self.denied else None

    def unknown_condition(self, why: str) -> Bool:
        """A condition that is not followed: a fresh 0/1 symbol, so both sides are kept and stay consistent."""
        value = self.fresh("cond", "scalar", "i32", meaning=why, lo=0, hi=1, low=0)
        self.symbols[value.text].high = 1
        self.symbols[value.text].unfollowed = True
        return Bool(f"({value.text} == 1)")

    def add_storage(self, key: str, storage: Storage) -> None:
        if self.speculative:
            raise NotSimple
        self.storages[key] = storage
        if not storage.initialized:
            self.uninitialised.add(key)

    def write(self, key: str, by_launch: bool = False) -> None:
        """Something may store to this memory: what was known of contents that may overlap it is gone."""
        if self.speculative:
            raise NotSimple
        root = self.root(key)
        held = self.storages.get(root)
        anywhere = held is None or held.how in ("view", "part")  # of something that is not followed
        names = self.storages if anywhere else (root,)
        self.writes += [(len(self.launches), self.root(n), by_launch) for n in names]
        separate = held is not None and (held.caller or held.how in ("fresh", "cuda"))
        for name, storage in self.storages.items():
            other = self.root(name)
            apart = self.storages[other].caller or self.storages[other].how in ("fresh", "cuda")
            if other == root or anywhere or not (separate or apart):
                storage.content, storage.zero = None, False
                if self.loops:
                    self.loop_writes.append((frozenset(self.loops), name))

    def write_anywhere(self) -> None:
        """Something may store to any memory."""
        if not self.speculative or any(s.zero or s.content for s in self.storages.values()):
            for key in list(self.storages):
                self.write(key)

    def root(self, key: str) -> str:
        seen = {key}
        while key in self.storages and self.storages[key].from_view_of in self.storages:
            key = self.storages[key].from_view_of
            if key in seen:
                break
            seen.add(key)
        return key

    # --- launches ----------------------------------------------------------------------------------------------------

    def launch(self, **fields: Any) -> None:
        if self.speculative:
            raise NotSimple
        self.launches.append(
            Seen(
                **fields,
                order=len(self.launches),
                path=tuple(self.path),
                checked=frozenset(self.checked),
                ranks={k: v.rank for k, v in self.shapes.items()},
                asked={k: frozenset(v.positive) for k, v in self.shapes.items()},
                around=tuple(copy.copy(s) for s in list(self.storages.values())[self.scope :]),
                storages={k: copy.copy(self.storages[k]) for k in self._reachable(fields["args"])},
                loops=tuple(self.loops),
                gaps=tuple(self.gaps),
            )
        )

    def _reachable(self, args: tuple[Any, ...]) -> list[str]:
        """The storages that the arguments point to, and what they may be views of."""
        keys = [p.storage for a in args for p in pointers_in(a)]
        return list(dict.fromkeys([*keys, *map(self.root, keys)]))


class Forked(Exception):
    """A loop that need not be followed comes to a branch, or takes long."""


class NotSimple(Exception):
    """Speculative execution met something that needs a decision of its own."""
