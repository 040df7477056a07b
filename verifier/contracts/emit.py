"""From a launch as it was seen on a path to its Contract.

The path's facts become ``requires`` (origin enforced), free shapes are resolved into dims, symbols get the names of the
variables that hold them, and what nobody checks is written down as an assumption with the missing host check.

Invariant: every clause stands for something the path established before the launch, for a fact about all tensors
(``numel`` is the product of the dims), or for the size cap; nothing else is said.

Example: ``y[i] = x[i]`` launched with ``x.numel()`` gives ``Buffer("x", "f32", "n")`` and ``n <= 1073741824``.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from dataclasses import replace

from specs.clauses import FUNCTIONS, ClauseError, ClauseUndefined, evaluate
from specs.contract import NULL_STORAGE, Buffer, Clause, Contract, Launch, Scalar, Symbol
from verifier.contracts.clause_text import (
    equalities,
    mentioned,
    relevant,
    rename,
    unconverted,
    without_duplicates,
)
from verifier.contracts.objects import (
    Float,
    Items,
    Null,
    Pointer,
    Record,
    Shape,
    Unknown,
    Value,
    pointers_in,
)
from verifier.contracts.run import Run, Seen, Storage
from verifier.contracts.shapes import Shapes
from verifier.contracts.starts import not_negative, rest
from verifier.contracts.tensors import product
from verifier.contracts.values import (
    C_INTS,
    PY,
    SIZES,
    Bool,
    Int,
    arith,
    as_int,
    const,
    convert,
    dtype_of,
    element_of,
)


def contract_of(run: Run, seen: Seen, cap: int, extra_gaps: Iterable[str] = ()) -> Contract:
    return _Emitter(run, seen, cap, list(extra_gaps)).contract()


class _Emitter(Shapes):
    def __init__(self, run: Run, seen: Seen, cap: int, gaps: list[str]) -> None:
        super().__init__(run, seen)
        self.cap = cap
        self.gaps = [*seen.gaps, *gaps]

    # --- the contract ------------------------------------------------------------------------------------------------

    def contract(self) -> Contract:
        seen = self.seen
        buffers: list[Buffer] = []
        scalars: list[Scalar] = []
        pointers: list[tuple[str, Pointer]] = []
        for param, type_, value in self._arguments():
            match value:
                case Pointer(dtype=None):
                    dtype, lanes = element_of(type_) or (None, 1)
                    pointers.append((param, replace(value, dtype=dtype, lanes=lanes)))
                case Pointer():
                    pointers.append((param, value))
                case Null() if element_of(type_) is not None:
                    dtype = (element_of(type_) or ("f32", 1))[0]
                    buffers.append(Buffer(param, dtype, "0", ("0",), storage=NULL_STORAGE, origin="enforced"))
                case _:
                    self._scalar(param, type_, value, scalars)
        if len(seen.args) != len(seen.params):
            self.gaps.append(f"{seen.span}: the arguments of the launch do not match the kernel's parameters")
        counts: dict[str, set[str]] = {}
        for _, pointer in pointers:
            place = f"{pointer.storage}+{pointer.offset.text if pointer.offset else '?'}"
            counts.setdefault(self.run.root(pointer.storage), set()).add(place)
        assumptions: list[Clause] = []
        requires: list[Clause] = [
            Clause(text, fact.origin, fact.span, fact.note)
            for fact in seen.path
            for text in self._facts(fact)
        ]
        for param, pointer in pointers:
            buffer = self._buffer(param, pointer, len(counts[self.run.root(pointer.storage)]) > 1, requires)
            if buffer is not None:
                buffers.append(buffer)
                assumptions += self._assumptions(param, pointer, buffer)
        for key, name in self.run.plain_strides.items():
            param = next((p for p, pointer in pointers if pointer.storage == key), name)
            note = f"{name} may have any stride in a dim of size 1, which is contiguous all the same"
            assumptions.append(Clause(f"strides({param})", "assumed", seen.span, note=note))
        order = {name: i for i, (name, _, _) in enumerate(self._arguments())}
        buffers.sort(key=lambda b: order[b.param])
        launch = Launch(
            seen.kernel,
            seen.targs or (),
            (self.text(seen.grid.x.text), self.text(seen.grid.y.text), self.text(seen.grid.z.text)),
            (self.text(seen.block.x.text), self.text(seen.block.y.text), self.text(seen.block.z.text)),
            self.text(seen.shared.text),
            seen.span,
            seen.order,
            seen.stream,
            seen.launcher,
            seen.cooperative,
        )
        used = mentioned(
            *launch.grid, *launch.block, launch.shared_bytes, *(b.extent for b in buffers),
            *(t for b in buffers for t in b.shape), *(t for b in buffers for t in b.content or ()),
            *(s.value for s in scalars if s.value is not None),
        )  # fmt: skip
        self._caps(used, requires)
        requires = relevant(without_duplicates(requires), used)
        used |= mentioned(*(c.text for c in requires))
        symbols = self._symbols(used)
        for info in (i for n, i in self.run.symbols.items() if n in used and i.taken):
            note = f"{info.meaning} is used as a size"
            assumptions.append(Clause(f"integer({info.prefer})", "assumed", seen.span, note=note))
        contract = Contract(
            kernel=seen.kernel,
            instantiation=seen.targs or (),
            launch=launch,
            symbols=symbols,
            buffers=tuple(buffers),
            scalars=tuple(scalars),
            requires=tuple(requires),
            origin="lifted",
            no_alias=self._no_alias(pointers),
            assumptions=tuple(without_duplicates(assumptions)),
            gaps=tuple(dict.fromkeys(self.gaps)),
            result=self._result(pointers),
            result_shape=self._result_shape(used),
        )
        return rename(contract, self._names(used))

    def _arguments(self) -> list[tuple[str, str, Value]]:
        """(name, C type, value) of each parameter; the members of a struct by value are parameters of their own."""
        out: list[tuple[str, str, Value]] = []

        def add(name: str, type_: str, value: Value, inside: bool) -> None:
            match value:
                case Record(fields=fields) if not type_.endswith("*"):
                    for field, item in fields.items():
                        add(f"{name}.{field}", _type_of(item), item, True)
                case Items(items=items) if inside:
                    for index, item in enumerate(items):
                        add(f"{name}[{index}]", _type_of(item), item, True)
                case _:
                    out.append((name, type_, value))

        for (param, type_), value in zip(self.seen.params, self.seen.args, strict=False):
            add(param, type_, value, False)
        return out

    def _facts(self, fact: object) -> list[str]:
        from verifier.contracts.run import Fact

        assert isinstance(fact, Fact)
        if fact.prefix is not None:
            return self.prefix(*fact.prefix)
        if fact.same is None:
            return [self.normal(fact.text, self.plain) if equalities(fact.text) else self.text(fact.text)]
        a, b = ([d.text for d in s] if not isinstance(s, Shape) else self.dims(s.name) for s in fact.same)
        if len(a) == len(b):
            return [self.normal(f"({x} == {y})", self.plain) for x, y in zip(a, b, strict=True) if x != y]
        return [self.text(f"({_times(a)} == {_times(b)})")]

    def _scalar(self, param: str, type_: str, value: Value, scalars: list[Scalar]) -> None:
        dtype = dtype_of(type_)
        match value:
            case Int() if dtype in SIZES and dtype not in ("f32", "f64", "f16", "bf16"):
                scalars.append(Scalar(param, self.text(convert(value, dtype).text), "enforced"))
            case Bool() if value.plain:
                scalars.append(Scalar(param, self.text(as_int(value).text), "enforced"))
            case Float(value=number) if dtype in ("f32", "f64", "f16", "bf16"):
                scalars.append(Scalar(param, None, "enforced", number))
            case _ if dtype in ("f32", "f64", "f16", "bf16"):
                scalars.append(Scalar(param, None, "enforced"))
            case _ if type_.startswith("std::integral_constant<"):  # its value is in its type
                pass
            case _:
                why = f" ({value.why})" if isinstance(value, Unknown) and value.why else ""
                self.gaps.append(
                    f"parameter {param}: the argument of type {type_} is not followed{why} ({self.seen.span})"
                )
                if dtype is not None:
                    scalars.append(Scalar(param, None, "assumed"))

    def _extent(self, storage: Storage, dtype: str) -> str | None:
        if storage.extent is not None and storage.dtype == dtype:
            return storage.extent.text
        if storage.bytes is not None:
            quotient = arith("/", storage.bytes, const(SIZES[dtype]), PY)
            return quotient.text if quotient is not None else None
        if isinstance(storage.dims, Shape):
            return self.run.part(storage.dims.name, "numel")
        if storage.how in ("fresh", "argument", "view", "part"):
            return product(storage.dims).text
        return None

    def _buffer(self, param: str, pointer: Pointer, several: bool, requires: list[Clause]) -> Buffer | None:
        storage = self.seen.storages[pointer.storage]
        dtype = storage.dtype or pointer.dtype
        name = storage.host_name or param
        if storage.gap:
            self.gaps.append(f"parameter {param}: {storage.gap}")
            return None
        own = storage.how == "fresh" or (storage.how == "part" and self._made_here(pointer.storage))
        if dtype is None or (
            storage.dtype is None and own and not storage.like
        ):  # nobody checks what torch chose
            self.gaps.append(f"parameter {param}: the element type of {name} is not known ({self.seen.span})")
            return None
        if storage.dtype is None and self._made_with_any_dtype(pointer.storage):
            self.gaps.append(
                f"parameter {param}: the element type of {name} is not followed ({self.seen.span})"
            )
            return None
        extent = self._extent(storage, dtype)
        if extent is None:
            self.gaps.append(
                f"parameter {param}: how many elements {name} has is not known ({self.seen.span})"
            )
            return None
        if storage.how != "cuda":
            requires.append(
                Clause(self.text(f"({extent} <= {self.cap})"), "derived", self.seen.span, "size cap")
            )
        else:
            for size in self._sizes_of_memory(extent):
                text = self.text(f"(0 <= {size} <= {self.cap})")
                requires.append(Clause(text, "derived", self.seen.span, "size cap"))
        shape = (
            tuple(d.text for d in storage.dims)
            if not isinstance(storage.dims, Shape)
            else tuple(self.dims(storage.dims.name))
        )
        whole = pointer.offset is not None and pointer.offset.value == 0
        if pointer.offset is None:
            self.gaps.append(
                f"parameter {param}: where it starts inside {name} is not followed ({self.seen.span})"
            )
        elif not whole:
            positive = {not_negative(self.text(f.text)) for f in self.seen.path if f.text}
            positive |= {n for n, i in self.run.symbols.items() if i.low is not None and i.low >= 0}
            extent, why = rest(extent, pointer.offset, SIZES[dtype], positive)
            if why:
                self.gaps.append(f"parameter {param}: {why} ({self.seen.span})")
            shape = ()
        root = self.run.root(pointer.storage)
        base = self.seen.storages.get(root, storage)
        separate = storage.how in ("fresh", "cuda")
        content = ("0", "0") if storage.zero else storage.content
        if storage.how == "part":
            separate = base.how in ("fresh", "cuda")
        loops = self._written_in_loop(pointer.storage)
        return Buffer(
            param=param,
            dtype=dtype,
            extent=self.text(extent),
            shape=tuple(self.text(t) for t in shape),
            fresh=separate and not several and not self._viewed(root),
            storage=pointer.storage if whole else "",
            align=max(
                (base.align if base.caller or separate else 0) if whole and storage.how != "part" else 0,
                self._checked_alignment(pointer),
            ),
            initialized=storage.initialized,
            content=None if content is None or loops else (self.text(content[0]), self.text(content[1])),
            content_origin="enforced" if storage.zero else storage.content_origin,
            origin="enforced" if separate else "derived",
            source=base.source if whole and self._untouched(pointer.storage, root) else "",
        )

    def _sizes_of_memory(self, extent: str) -> list[str]:
        """What has to stay within the cap of memory that the host allocates by bytes.

        Sizes that the program fixes are varied as far as the exact size does too, but the program's own size is never
        left out.
        """
        infos = {n: self.run.symbols.get(n) for n in mentioned(extent)}
        own = {n: i.value for n, i in infos.items() if i is not None and i.constant and i.value is not None}
        exact = unconverted(extent)
        try:
            fits = len(own) == len(infos) and evaluate(exact, own) <= self.cap
        except (ClauseError, ClauseUndefined):
            fits = False
        return [extent, exact] if fits else [extent]

    def _viewed(self, root: str) -> bool:
        """Whether another argument may be a view of this memory: a tensor made later by something not followed."""
        order = {key: i for i, key in enumerate(self.run.storages)}
        for value in self.seen.args:
            for pointer in pointers_in(value):
                whole = self.run.root(pointer.storage)
                other = self.seen.storages.get(whole)
                known = other is None or other.how in ("fresh", "cuda", "null", "argument", "raw")
                if whole != root and not known and order.get(whole, 0) > order.get(root, 0):
                    return True
        return False

    def _checked_alignment(self, pointer: Pointer) -> int:
        """What the host code has checked of the address itself."""
        if pointer.offset is None:
            return 0
        where = f"{pointer.storage}+{pointer.offset.text}"
        found = [
            int(kind.split(" ")[1])
            for kind, subject in self.seen.checked
            if subject == where and kind.startswith("aligned ")
        ]
        return max(found, default=0)

    def _untouched(self, key: str, root: str) -> bool:
        """Whether the buffer is still what the caller passed."""
        before = (n == root and c <= self.seen.order for c, n, _ in self.run.writes[self.run.began :])
        return self._as_passed(key) and not any(before) and not self._written_in_loop(key)

    def _as_passed(self, key: str) -> bool:
        """Whether the buffer holds the elements of what the caller passed, in the same order and type."""
        first = self.run.storages[key]
        while True:
            storage = self.run.storages[key]
            if storage.reordered or storage.how == "part" or storage.dtype not in (None, first.dtype):
                return False
            if storage.from_view_of not in self.run.storages:
                return True
            key = storage.from_view_of

    def _written_in_loop(self, key: str) -> bool:
        """Something in the same loop may have written it in an earlier iteration."""
        mine = set(self.seen.loops)
        root = self.run.root(key)
        return any(mine & loops and name in (key, root) for loops, name in self.run.loop_writes)

    def _assumptions(self, param: str, pointer: Pointer, buffer: Buffer) -> list[Clause]:
        storage, key, seen = self.seen.storages[pointer.storage], pointer.storage, self.seen
        out: list[Clause] = []
        if self.seen.storages.get(self.run.root(key), storage).on_first:
            note = f"{storage.host_name or param} is on device 0, which has to be the current one"
            out.append(Clause(f"same_device({param})", "assumed", seen.span, note=note))
        name = self._spoken(key) or param

        def missing(text: str, check: str, say: str) -> None:
            fix = f'TORCH_CHECK({check}, "{name} must {say}");'
            out.append(Clause(text, "assumed", seen.span, note=f"{name} is not checked", fix=fix))

        def missing_dtype() -> None:
            scalar = _TORCH_NAMES.get(buffer.dtype, "Float")
            missing(
                f"dtype({param}, {buffer.dtype})",
                f"{name}.scalar_type() == at::k{scalar}",
                f"be {buffer.dtype}",
            )

        if storage.how == "fresh" and storage.dtype is None:
            missing_dtype()
        if storage.how in ("argument", "view") or (storage.how == "part" and not self._made_here(key)):
            if not storage.contiguous and ("contiguous", key) not in seen.checked:
                missing(f"contiguous({param})", f"{name}.is_contiguous()", "be contiguous")
            if (
                ("dtype", key) not in seen.checked
                and pointer.dtype is not None
                and not self._dtype_checked(key)
            ):
                missing_dtype()
            if ("cuda", key) not in seen.checked:
                missing(f"same_device({param})", f"{name}.is_cuda()", "be a CUDA tensor")
            if not self._nonempty(buffer.extent):
                missing(f"nonempty({param})", f"{name}.numel() > 0", "not be empty")
        elif storage.strided and not storage.contiguous:
            fix = f'TORCH_CHECK({name}.is_contiguous(), "{name} must be contiguous");'
            out.append(
                Clause(f"contiguous({param})", "assumed", seen.span, note=f"{name} is not checked", fix=fix)
            )
        elif not storage.initialized or not self._written_before(key):
            return out
        if (storage.how in ("fresh", "cuda") or storage.made_of) and self._written_before(key):
            writer = self._written_before(key)
            out.append(
                Clause(
                    f"written({param})",
                    "assumed",
                    seen.span,
                    note=f"by {writer} before this one",
                )
            )
        return out

    def _spoken(self, key: str) -> str:
        """What the launcher calls the memory, or that of which it is a view."""
        known = self.run.parameters
        name = known.get(key) or self.seen.storages[key].host_name
        while key not in known and self.seen.storages[key].from_view_of in self.seen.storages:
            key = self.seen.storages[key].from_view_of
            name = known.get(key) or self.seen.storages[key].host_name or name
        return name

    def _made_here(self, key: str) -> bool:
        root = self.seen.storages.get(self.run.root(key))
        return root is not None and root.how in ("fresh", "cuda")

    def _dtype_checked(self, key: str) -> bool:
        """``data_ptr<T>()`` has looked at the dtype of the tensor or of what it is a view of."""
        return any(("dtype", k) in self.seen.checked for k in (key, self.run.root(key))) or any(
            ("dtype", t) in self.seen.checked for t in self.run.tensor_of_storage.get(key, ())
        )

    def _made_with_any_dtype(self, key: str) -> bool:
        """The program itself makes the tensor, with a dtype that is not followed, and nothing looks at it."""
        made = self.seen.storages[self.run.root(key)]
        if not isinstance(made.dims, Shape) or made.dtype is not None or made.like:
            return False
        return bool(self.run.shapes[made.dims.name].why) and not self._dtype_checked(key)

    def _nonempty(self, extent: str) -> bool:
        for fact in self.seen.path:
            if fact.same is None and fact.prefix is None:
                text = self.text(fact.text)
                if text in (f"{extent} > 0", f"{extent} != 0", f"{extent} >= 1"):
                    return True
        return False

    def _written_before(self, key: str) -> str:
        """The earlier launch or library call that was handed this storage to write, if it started out uninitialised."""
        if key not in self.run.uninitialised:
            return ""
        same = (key, *self.run.storages[key].made_of)
        for other in self.run.launches[: self.seen.order]:
            for value, (_, type_) in zip(other.args, other.params, strict=False):
                if isinstance(value, Pointer) and value.storage in same and not type_.startswith("const "):
                    return f"the launch of {other.kernel}"
        launches, name = self.run.filled.get(key, (0, ""))
        return name if launches <= self.seen.order else ""

    def _no_alias(self, pointers: list[tuple[str, Pointer]]) -> tuple[Clause, ...]:
        """Objects that the caller allocated one by one do not overlap."""
        out: list[Clause] = []
        for index, (a, first) in enumerate(pointers):
            for b, second in pointers[index + 1 :]:
                roots = self.run.root(first.storage), self.run.root(second.storage)
                if roots[0] == roots[1]:
                    continue
                both = [self.seen.storages.get(r) for r in roots]
                if any(s is None for s in both):
                    continue
                if all(s is not None and (s.caller or s.how in ("fresh", "cuda")) for s in both):
                    if any(self.seen.storages[p.storage].how in ("fresh", "cuda") for p in (first, second)):
                        continue
                    out.append(
                        Clause(
                            f"disjoint({a}, {b})",
                            "derived",
                            self.seen.span,
                            "the caller allocates them one by one",
                        )
                    )
        return tuple(out)

    def _caps(self, used: set[str], requires: list[Clause]) -> None:
        """All memory is within the cap, even if the kernel does not get it or (``cudaFree``) it is gone already."""
        for storage in self.seen.around:
            dtype = storage.dtype or "u8"
            extent = self._extent(storage, dtype) if storage.how not in ("raw", "null", "host") else None
            if extent is None or (storage.gap and storage.how != "cuda"):
                continue
            low = "0 <= " if storage.how == "cuda" else ""
            for size in self._sizes_of_memory(extent) if storage.how == "cuda" else [extent]:
                text = self.text(f"({low}{size} <= {self.cap})")
                requires.append(Clause(text, "derived", self.seen.span, "size cap"))
        for name in self.run.shapes:
            dims = self.dims(name)
            if used & set(dims):
                text = self.text(f"({_times(dims)} <= {self.cap})")
                requires.append(Clause(text, "derived", self.seen.span, "size cap"))
        for dims_known in self.run.caller_dims:
            text = product(dims_known).text
            if used & mentioned(text):
                requires.append(
                    Clause(self.text(f"({text} <= {self.cap})"), "derived", self.seen.span, "size cap")
                )

    def _result(self, pointers: list[tuple[str, Pointer]]) -> str:
        """The parameter that is returned as this launch leaves it, in its own element type."""
        returned = self.run.returned
        if returned is None:
            return ""
        root = self.run.root(returned.storage)
        if not self._as_passed(returned.storage):
            return ""
        mine = self.seen.order + 1
        later = (c > mine or (c == mine and not own) for c, key, own in self.run.writes if key == root)
        if any(later) or self._written_in_loop(returned.storage):
            return ""
        for param, pointer in pointers:
            if (
                self.run.root(pointer.storage) == root
                and pointer.offset is not None
                and pointer.offset.value == 0
            ):
                return param
        return ""

    def _result_shape(self, used: set[str]) -> tuple[str, ...] | None:
        """The dims of what is returned, where the contract's own symbols say them."""
        returned = self.run.returned
        if returned is None or (isinstance(returned.dims, Shape) and self.rank(returned.dims.name) is None):
            return None
        dims = returned.dims
        texts = self.dims(dims.name) if isinstance(dims, Shape) else [self.text(d.text) for d in dims]
        return tuple(texts) if mentioned(*texts) <= used else None

    def _unfollowed(self, name: str) -> str:
        """Why a size is anything at all: it belongs to the result of something that is not followed."""
        for shape in self.run.shapes.values():
            if shape.why and name in shape.names.values():
                return shape.why
        return ""

    def _symbols(self, used: set[str]) -> tuple[Symbol, ...]:
        out: list[Symbol] = []
        ordered = [n for n in (*self.run.symbols, *self.made) if n in used]
        for name in dict.fromkeys(ordered):
            info = self.info(name)
            assert info is not None
            why = self._unfollowed(name)
            if why:
                info = replace(info, origin="assumed", meaning=f"{info.meaning}: {why}")
            kind = "dim" if info.kind == "dim" else "scalar"
            out.append(Symbol(name, kind, info.meaning, info.low, info.high, info.value, info.origin))  # type: ignore[arg-type]
            if info.gap:
                self.gaps.append(info.gap)
        missing = used - {s.name for s in out}
        for name in sorted(missing):
            self.gaps.append(f"{self.seen.span}: {name} is not followed")
            out.append(Symbol(name, "scalar", "not followed"))
        return tuple(out)

    def _names(self, used: set[str]) -> dict[str, str]:
        taken = set(used)
        out: dict[str, str] = {}
        for name in sorted(used):
            info = self.info(name)
            wanted = info.prefer if info else ""
            if not wanted or wanted == name or wanted in FUNCTIONS or keyword.iskeyword(wanted):
                continue
            if wanted in taken:
                continue
            taken.add(wanted)
            out[name] = wanted
        return out


_TORCH_NAMES = {"f32": "Float", "f64": "Double", "f16": "Half", "bf16": "BFloat16", "i32": "Int", "i64": "Long", "u8": "Byte",
                "i8": "Char", "i16": "Short", "bool": "Bool"}  # fmt: skip


def _type_of(value: Value) -> str:
    """A C type of a struct's member, by what it holds."""
    match value:
        case Int(type=type_):
            return next((c for c, d in C_INTS.items() if d == type_), "")
        case Bool():
            return "bool"
        case Float(type=type_):
            return {"f32": "float", "f64": "double", "f16": "__half", "bf16": "__nv_bfloat16"}[type_]
    return ""


def _times(dims: Iterable[str]) -> str:
    """The product of dims as clause text."""
    return " * ".join(f"({d})" for d in dims) or "1"
