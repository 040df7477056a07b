"""Which host functions start the lifting, and what they are given.

A program starts at ``main``; an extension starts at each function that reaches a launch and that no other such function
calls, or that a binding exports. Arguments of which nothing is known are free: tensors with free shapes, ints of any
value, optionals that are there or not.

Example: ``torch::Tensor gelu(torch::Tensor x)`` is executed on a free tensor ``x``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from specs.contract import Contract, to_json
from specs.location import Span
from verifier.contracts.covering import without_covered
from verifier.contracts.elements import template_arguments
from verifier.contracts.emit import contract_of
from verifier.contracts.launches import called_kernel, is_launch
from verifier.contracts.lift import Host
from verifier.contracts.objects import Float, Items, Optional, Pointer, Tensor, Unknown, Unlisted, Value
from verifier.contracts.paths import Exploration, explore
from verifier.contracts.run import Run, Storage
from verifier.contracts.values import Bool, Int, const, dtype_of, element_of, limits
from verifier.frontend.host import HostCode, Node


@dataclass(slots=True)
class Lifted:
    """``sites``: places of launches that were reached on some path.

    ``problems`` make the result incomplete; ``notes`` only say how it was found.
    """

    contracts: list[Contract] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sites: set[Span] = field(default_factory=set)


def launch_sites(code: HostCode) -> dict[str, list[Span]]:
    """Kernel name -> places of the launches that stand in the host code (in functions that were instantiated)."""
    out: dict[str, list[Span]] = {}

    def walk(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item)
        elif isinstance(node, dict):
            if node.get("k") == "launch" or (node.get("k") == "call" and is_launch(node)):
                place = code.span(node["s"])
                name = node["kernel"] if node["k"] == "launch" else called_kernel(node)
                if place not in out.setdefault(name, []):
                    out[name].append(place)
            for key, value in node.items():
                if key != "s":
                    walk(value)

    for function in code.functions.values():
        walk(function["body"])
    return out


def call_graph(code: HostCode) -> tuple[dict[str, set[str]], set[str]]:
    """(callees of each function, functions that hold a launch themselves)."""
    callees: dict[str, set[str]] = {}
    launching: set[str] = set()

    def walk(node: Any, owner: str) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item, owner)
        elif isinstance(node, dict):
            if node.get("k") == "launch" or (node.get("k") == "call" and is_launch(node)):
                launching.add(owner)
            if "fn" in node:
                callees[owner].add(node["fn"])
            for key, value in node.items():
                if key != "s":
                    walk(value, owner)

    for usr, function in code.functions.items():
        callees[usr] = set()
        walk(function["body"], usr)
    return callees, launching


def reaching(callees: dict[str, set[str]], launching: set[str]) -> set[str]:
    """Functions from which a launch can be reached."""
    found = set(launching)
    changed = True
    while changed:
        changed = False
        for usr, targets in callees.items():
            if usr not in found and targets & found:
                found.add(usr)
                changed = True
    return found


def exported(code: HostCode) -> set[str]:
    """Functions that a PYBIND11_MODULE or TORCH_LIBRARY names."""
    out: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item)
        elif isinstance(node, dict):
            if node.get("k") == "function" and node.get("fn"):
                out.add(node["fn"])
            for key, value in node.items():
                if key != "s":
                    walk(value)

    for function in code.functions.values():
        if function["name"].startswith(("vk_bindings", "vk_library_", "vk_fragment_", "vk_impl_")):
            walk(function["body"])
    return out


def bindings(code: HostCode) -> dict[str, str]:
    """Python name -> USR of what ``m.def("name", &function)`` binds."""
    out: dict[str, str] = {}

    def walk(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item)
        elif isinstance(node, dict):
            if (
                node.get("k") == "method"
                and node["name"].split("::")[-1] in ("def", "impl")
                and len(node["args"]) >= 2
            ):
                label, target = node["args"][0], node["args"][1]
                while target["k"] in ("un", "cast", "construct"):
                    target = target.get("a") or (target.get("args") or [{"k": "none"}])[0]
                if label["k"] == "str" and target["k"] == "function" and target.get("fn"):
                    out[label["v"]] = target["fn"]
            for key, value in node.items():
                if key != "s":
                    walk(value)

    for function in code.functions.values():
        if function["name"].startswith("vk_bindings"):
            walk(function["body"])
    return out


def entry_points(code: HostCode) -> list[str]:
    """USRs of the functions to start at, in source order."""
    callees, launching = call_graph(code)
    reach = reaching(callees, launching)
    roots = [u for u in code.roots if u in reach and not code.functions[u]["name"].startswith("vk_")]
    bound = exported(code)
    main = next((u for u in roots if code.functions[u]["name"] == "main"), None)
    called = {
        t for u in reach for t in callees[u] if t != u and not code.functions[u]["name"].startswith("vk_")
    }
    if main is not None:
        below = _closure(callees, main)
        return [main, *(u for u in roots if u not in below and u not in called)]
    return [u for u in roots if u not in called or u in bound]


def _closure(callees: dict[str, set[str]], start: str) -> set[str]:
    found, todo = {start}, [start]
    while todo:
        for target in callees.get(todo.pop(), ()):
            if target not in found:
                found.add(target)
                todo.append(target)
    return found


# --- arguments ------------------------------------------------------------------------------------------------------


def free_argument(run: Run, param: Node, main: bool = False) -> Value:
    """An argument of which only the C type is known."""
    type_, name = param["type"], param["name"] or "arg"
    dtype = dtype_of(type_)
    if dtype in ("f32", "f64", "f16", "bf16"):
        return Float(type=dtype)
    if dtype == "bool":
        value = run.fresh(name, "scalar", "i32", meaning=f"argument {name}", lo=0, hi=1, low=0)
        run.symbols[value.text].high = 1
        return Bool(f"({value.text} == 1)")
    if dtype is not None:
        lo, hi = limits(dtype)
        if main and name == "argc":
            lo = 1
        value = run.fresh(name, "scalar", dtype, meaning=f"argument {name}", lo=lo, hi=hi)
        info = run.symbols[value.text]
        info.low, info.high = lo, hi
        return value
    if type_ == "at::Tensor":
        return run.free_tensor(name)
    if type_ in ("std::optional<at::Tensor>", "std::optional<const at::Tensor>"):
        tensor = run.free_tensor(name)
        return Optional(tensor.key, tensor)
    if type_.startswith("std::optional"):
        inner = type_[type_.index("<") + 1 : type_.rindex(">")]
        return Optional(run.unique(name), free_argument(run, {"type": inner, "name": name}))
    if type_.startswith(("std::tuple<", "std::pair<")):
        types = template_arguments(type_)
        if types and all(dtype_of(t) is not None for t in types):
            parts = [free_argument(run, {"type": t, "name": f"{name}_{i}"}) for i, t in enumerate(types)]
            return Items(tuple(parts))
    listed = re.fullmatch(r"(?:std::vector|c10::ArrayRef)<(.+)>", type_)
    if listed is not None and (listed[1] == "at::Tensor" or dtype_of(listed[1]) in _LISTED):
        return Unlisted(run.unique(name), listed[1])
    found = element_of(type_)
    if found is not None and not main:
        return raw_pointer(run, name, found)
    return Unknown(f"argument {name} of type {type_}")


_LISTED = ("i32", "i64", "u32", "u64")


def raw_pointer(run: Run, name: str, element: tuple[str, int]) -> Pointer:
    """A pointer that the caller passes: how much it points to is not known here."""
    from verifier.contracts.values import SIZES

    key = run.unique(name)
    dtype, lanes = element
    run.storages[key] = Storage(dtype, None, (), how="raw", host_name=name)
    return Pointer(key, const(0, "py"), dtype, lanes, SIZES[dtype] * lanes)


# --- lifting --------------------------------------------------------------------------------------------------------


def lift_entry(code: HostCode, usr: str, cap: int, device_text: str = "") -> Lifted:
    """All contracts of the launches that one entry reaches with free arguments.

    ``device_text``: global constants that it names keep their value.
    """
    function = code.functions[usr]
    main = function["name"] == "main"
    if main:
        return _lift_main(code, usr, cap, frozenset(re.findall(r"[A-Za-z_]\w*", device_text)))

    def execute(run: Run) -> None:
        host = Host(run, code)
        host.launcher, host.alone = function["name"], True
        result = host.call(usr, [free_argument(run, p) for p in function["params"]])
        if isinstance(result, Tensor) and result.layout != "other":
            run.returned = result

    return collect(explore(execute), cap, function["name"])


def _lift_main(code: HostCode, usr: str, cap: int, in_device: frozenset[str]) -> Lifted:
    """Twice: first with the program's constants as they are, to see which of them make sizes; then with those as symbols."""
    function = code.functions[usr]

    def execute(run: Run, constants: dict[str, int], one_round: bool = False) -> None:
        run.one_round = one_round
        symbols: dict[str, Int] = {}
        for identity, value in constants.items():
            name = identity.split("@")[0]
            type_ = types.get(identity, "i32")
            hi = limits(type_)[1]
            made = run.fresh(
                name, "dim", type_, meaning=f"constant {name} of the program", lo=1, hi=hi, low=1
            )
            info = run.symbols[made.text]
            info.value, info.high, info.origin, info.prefer = value, hi, "derived", name
            info.constant = True
            symbols[identity] = made
        host = Host(run, code, symbols)
        host.launcher, host.alone = function["name"], True
        host.initialise_globals()
        host.call(usr, [free_argument(run, p, main=True) for p in function["params"]])

    types = _variable_types(code)
    first = explore(lambda run: execute(run, {}), max_paths=4)
    sizes: dict[str, int] = {}
    fixed = {v["id"] for v in code.globals if v["name"] in in_device}
    for run in first.runs:
        for launch in run.launches:  # a block size is a choice of the program, not a size of its data
            for part in (launch.block.x, launch.block.y, launch.block.z):
                fixed |= part.taint
    for run in first.runs:
        for storage in run.storages.values():
            if storage.how == "cuda" and storage.bytes is not None:
                for identity in sorted(storage.bytes.taint - fixed):
                    value = _constant_value(code, identity)
                    if value is not None and value >= 1:
                        sizes[identity] = value
    if not sizes and first.complete:
        return collect(first, cap, "main")
    found = explore(
        lambda run: execute(run, sizes, not first.complete), max_paths=48 if first.complete else 200
    )
    held = [x.value for run in first.runs for s in run.storages.values() for x in (s.bytes, s.extent) if x]
    return collect(found, max([cap, *(v for v in held if v is not None)]), "main")


def _variables(code: HostCode) -> list[Node]:
    found: list[Node] = code.remember("variables", code.paths, lambda: _all_variables(code))
    return found


def _all_variables(code: HostCode) -> list[Node]:
    out: list[Node] = list(code.globals)

    def walk(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item)
        elif isinstance(node, dict):
            if node.get("k") == "decl":
                out.extend(node["vars"])
            for key, value in node.items():
                if key != "s":
                    walk(value)

    for function in code.functions.values():
        walk(function["body"])
    return out


def _variable_types(code: HostCode) -> dict[str, str]:
    return {v["id"]: dtype_of(v["type"]) or "i32" for v in _variables(code)}


def _constant_value(code: HostCode, identity: str) -> int | None:
    """The value of a variable whose initialiser is a constant expression on its own."""
    from verifier.contracts.run import Dead, Refused

    variable = next((v for v in _variables(code) if v["id"] == identity), None)
    if variable is None or variable.get("init") is None:
        return None
    host = Host(Run(), code)
    try:
        value = host.coerce(host.eval(variable["init"]), variable["type"])
    except (Dead, Refused):
        return None
    return value.value if isinstance(value, Int) else None


def collect(found: Exploration, cap: int, entry: str, *, alone: bool = True) -> Lifted:
    """Contracts of all paths, equal ones once.

    ``alone``: nothing else covers the paths that were not followed, so each contract has them as a gap.
    """
    out = Lifted(problems=list(dict.fromkeys(f"{entry}: {p}" for p in found.problems)))
    extra = out.problems if alone and not found.complete else []
    if not alone:
        out.problems, out.notes = [], out.problems
    seen: dict[str, int] = {}
    for run in found.runs:
        for launch in run.new_launches():
            out.sites.add(launch.span)
            contract = contract_of(run, launch, cap, [*extra, *run.late_gaps])
            key = digest(contract)
            if key not in seen:
                seen[key] = len(out.contracts)
                out.contracts.append(contract)
    if entry == "main":
        out.contracts = without_covered(out.contracts)
    return out


def digest(contract: Contract) -> str:
    """What tells two contracts apart: everything but order, notes and fixes."""
    data = to_json(replace(contract, launch=replace(contract.launch, order=0)))
    for group in ("requires", "assumptions", "no_alias"):
        data[group] = sorted((c["text"], c["origin"]) for c in data[group])
    return json.dumps(data, sort_keys=True)


Arguments = Callable[[Run], Sequence[Value]]
