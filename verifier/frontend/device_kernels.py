"""From a parsed device text to ``ir.Module``: finds the kernels, lowers each, keeps what the parser complained about.

Input -> output: text, instantiations and arch -> Module. A template is instantiated by the parser itself: a reference
to ``k<float, 256>`` after the text makes it, and its body is then read like any other.

Invariant: a kernel whose body, or whose callees' bodies, have an error is left out; a template that nothing
instantiates is listed.

Example::

    module = lower_text(text, (("k", ("float", "256")),), "sm_80")
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from specs.location import Span
from verifier.frontend.device_clang import SHIM, Complaint, Node, Unit
from verifier.frontend.device_complaints import sort_complaints
from verifier.frontend.device_constants import (
    FIRST_BOUND,
    bound_probe,
    bounds_text,
    constant_list,
    explicit_instantiations,
)
from verifier.frontend.device_intrinsics import is_accessor
from verifier.frontend.device_shim import shim_text
from verifier.frontend.device_statements import Statements
from verifier.frontend.device_types import SCALAR_TYPES, Refused, TypeMap
from verifier.frontend.device_values import (
    Aggregate,
    ArrayValue,
    Frame,
    LocalVar,
    LValue,
    Split,
    Temp,
    Value,
)
from verifier.ir.nodes import (
    Array,
    Diagnostic,
    Kernel,
    Module,
    Param,
    Pointer,
    Read,
    Struct,
    Type,
    Unsupported,
)

Instantiation = tuple[str, tuple[str, ...]]
INSTANTIATIONS = "<instantiations>"
_CONTAINERS = frozenset({"NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL"})
_NAME = re.compile(r"[A-Za-z_]\w*(::[A-Za-z_]\w*)*")
_ARGUMENT = re.compile(r"[\w\s:<>,*&()+\-/%.'|^~!=\[\]]+")
_MAX_ATTEMPTS = 6
MAX_SEPARATE = 24
"""So many instantiations are parsed one by one when one of them has an error."""


class Broken(Exception):
    """The parser reported an error, at this offset, inside of what would be lowered."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


class KernelLowering(Statements):
    """Lowers one kernel."""

    def __init__(
        self, unit: Unit, types: TypeMap, demanded: set[int], errors: Sequence[int], probe: str = ""
    ) -> None:
        super().__init__(unit, types, demanded)
        self._errors = errors
        self._probe = probe
        self._params: list[Param] = []

    def refuse_broken(self, callee: Node) -> None:
        start, end = callee.extent
        for offset in self._errors:
            if start <= offset < end:
                raise Broken(offset)

    def lower(self, node: Node, arguments: tuple[str, ...]) -> Kernel:
        self.refuse_broken(node)
        self._parameters(node)
        bounds: tuple[int, ...] = ()
        try:
            body = node.body
            if body is None:
                raise Refused("kernel without a body", node.spelling, node.name_span)
            bounds = self._launch_bounds(node, arguments)
            self.statements(body.children)
        except Refused as refused:
            self.emit(Unsupported(refused.construct, refused.detail, refused.span))
        return Kernel(
            name=node.spelling,
            instantiation=arguments,
            params=tuple(self._params),
            objects=tuple(self.objects.values()),
            locals=self.locals,
            body=tuple(self.out),
            span=node.name_span,
            launch_bounds=bounds,
        )

    def refuse(self, node: Node, arguments: tuple[str, ...], complaint: Complaint) -> Kernel:
        """A kernel that names what the shim does not declare: its parameters, and nothing of its body."""
        self._parameters(node)
        self.emit(Unsupported("undeclared name", complaint.message, complaint.span))
        return Kernel(
            name=node.spelling,
            instantiation=arguments,
            params=tuple(self._params),
            objects=tuple(self.objects.values()),
            locals=self.locals,
            body=tuple(self.out),
            span=node.name_span,
        )

    # --- parameters ---

    def _parameters(self, node: Node) -> None:
        self.frames.append(Frame("kernel", None, None, node.key))
        try:
            for child in node.children:
                if child.kind == "PARM_DECL":
                    self._parameter(child)
        except Refused as refused:
            span = refused.span if refused.span.line else node.name_span
            self.emit(Unsupported(refused.construct, refused.detail, span))

    def _parameter(self, node: Node) -> None:
        name = node.spelling or "unnamed"
        type_ = node.type
        span = node.name_span
        if type_.is_reference:
            raise Refused("reference parameter", name, span)
        if is_accessor(type_):
            value = self._accessor_parameter(name, self.types.of(type_), span)
            self.env[node.key] = Temp(value)
            return
        ir_type = self.types.parameter(type_)
        if isinstance(ir_type, SCALAR_TYPES) and node.key not in self.demanded:
            local = self.local(name, ir_type, node.key)
            self._params.append(Param(local.name, ir_type, type_.restrict, span))
            self.env[node.key] = local
            return
        value = self._hidden(name, ir_type, span)
        target = self.variable(name, ir_type, node.key, span)
        if isinstance(target, Split) and isinstance(ir_type, Struct):
            # Its fields are the hidden parameters themselves.
            target = _as_places(value, node.key)
        else:
            self.write(target, value, span)
        self.env[node.key] = target

    def _hidden(self, name: str, type_: Type, span: Span) -> Value:
        """One parameter a scalar of a class passed by value: ``p.x``, ``p.dims[0]``."""
        match type_:
            case Struct(fields=fields):
                return Aggregate(
                    type_, {f.name: self._hidden(f"{name}.{f.name}", f.type, span) for f in fields}
                )
            case Array(elem=elem, count=count):
                if count > 64:
                    raise Refused("parameter", f"{name}: array of {count} items", span)
                return ArrayValue(tuple(self._hidden(f"{name}[{n}]", elem, span) for n in range(count)))
        local = self.local(name, type_)
        self._params.append(Param(local.name, type_, False, span))
        return Read(local.name, type_)

    def _accessor_parameter(self, name: str, type_: Type, span: Span) -> Value:
        assert isinstance(type_, Struct)
        data, sizes, _ = (field.type for field in type_.fields)
        assert isinstance(data, Pointer) and isinstance(sizes, Array)

        def hidden(part: str, inner: Type) -> Value:
            local = self.local(f"{name}.{part}", inner)
            self._params.append(Param(local.name, inner, False, span))
            return Read(local.name, inner)

        rank = range(sizes.count)
        return Aggregate(
            type_,
            {
                "data_": hidden("data", data),
                "sizes_": ArrayValue(tuple(hidden(f"size{n}", sizes.elem) for n in rank)),
                "strides_": ArrayValue(tuple(hidden(f"stride{n}", sizes.elem) for n in rank)),
            },
        )

    def _launch_bounds(self, node: Node, arguments: tuple[str, ...]) -> tuple[int, ...]:
        if any(child.kind == "ANNOTATE_ATTR" and child.spelling == "cluster_dims" for child in node.children):
            raise Refused("cluster", "__cluster_dims__", node.name_span)
        text = bounds_text(node)
        if text is None:
            return ()
        try:
            return constant_list(text, node, arguments)
        except Refused:
            for child in self.unit.root.children:
                if child.kind == "VAR_DECL" and child.spelling == self._probe:
                    value = child.evaluate()
                    if isinstance(value, int) and value > 0:
                        return (value,)
            raise


def _as_places(value: Value, root: int) -> LValue:
    match value:
        case Aggregate(type=type_, fields=fields):
            return Split(type_, {name: _as_places(part, root) for name, part in fields.items()}, root)
        case Read(name=name, type=type_):
            return LocalVar(name, type_, root)
    raise Refused("parameter", "of this class")


@dataclass(frozen=True, slots=True)
class _Found:
    node: Node
    qualified: str
    template: bool


def _find_kernels(node: Node, prefix: str = "") -> Iterator[_Found]:
    for child in node.children:
        if child.kind in _CONTAINERS:
            if child.start < 0:
                continue
            name = child.spelling if child.kind == "NAMESPACE" else ""
            yield from _find_kernels(child, f"{prefix}{name}::" if name else prefix)
        elif child.kind in ("FUNCTION_DECL", "FUNCTION_TEMPLATE") and child.start >= 0:
            # A specialisation is read when it is asked for, like an instantiation.
            special = child.kind == "FUNCTION_DECL" and child.template.exists
            if child.is_definition and child.has("CUDAGLOBAL_ATTR") and not special:
                yield _Found(child, prefix + child.spelling, child.kind == "FUNCTION_TEMPLATE")


def _with_instantiations(
    text: str, wanted: Sequence[Instantiation], names: Sequence[str], probes: Sequence[str] = ()
) -> str:
    lines = [text, f'# 1 "{INSTANTIATIONS}"']
    for number, ((_, arguments), name) in enumerate(zip(wanted, names, strict=True)):
        lines.append(f"auto *vk_instance_{number} = &{name}<{', '.join(arguments)}>;")
    return "\n".join([*lines, *probes]) + "\n"


def _probes(
    text: str, found: Sequence[_Found], wanted: Sequence[Instantiation]
) -> tuple[list[str], dict[Instantiation, str]]:
    """What to put behind the text for launch bounds that only the parser can compute, and the variable of each kernel."""
    asked: list[tuple[_Found, tuple[str, ...]]] = [(item, ()) for item in found if not item.template]
    for name, arguments in wanted:
        own = [item for item in found if item.template and item.node.spelling == name.rpartition("::")[2]]
        asked += [(own[0], arguments)] if len(own) == 1 else []
    lines: list[str] = []
    variables: dict[Instantiation, str] = {}
    for number, (item, arguments) in enumerate(asked):
        lines += bound_probe(number, item.node, item.qualified, arguments, text)
        variables[item.node.spelling, arguments] = f"vk_bound_{number}"
    return [FIRST_BOUND, *lines], variables


def _open_bounds(kernel: Kernel) -> bool:
    return any(isinstance(stmt, Unsupported) and stmt.construct == "launch bounds" for stmt in kernel.body)


def lower_text(text: str, wanted: Sequence[Instantiation], arch: str) -> Module:
    """Parse and lower every kernel and every wanted instantiation."""
    known = {name.rpartition("::")[2] for name, _ in wanted}
    own = [item for item in explicit_instantiations(text) if item[0].rpartition("::")[2] not in known]
    asked = [item for item in dict.fromkeys([*wanted, *own]) if item[1]]
    wanted = [item for item in asked if all(map(_ARGUMENT.fullmatch, item[1])) and _NAME.fullmatch(item[0])]
    refused = tuple(
        f"{name}<…> was not instantiated: its arguments are no template arguments"
        for name, _ in asked
        if (name, _) not in wanted
    )
    names = [name for name, _ in wanted]
    shim = shim_text("\n".join([text, *(argument for _, arguments in wanted for argument in arguments)]))
    unit = Unit(_with_instantiations(text, wanted, names), shim, arch)
    found = list(_find_kernels(unit.root))
    qualified = {item.node.spelling: item.qualified for item in found if item.template}
    better = [qualified.get(name, name) for name in names]
    if better != names:
        unit = Unit(_with_instantiations(text, wanted, better), shim, arch)
        found = list(_find_kernels(unit.root))
    lowering = _Lowering(unit, found, wanted)
    if 1 < len(wanted) <= MAX_SEPARATE and (lowering.errors or lowering.undeclared):
        alone = _Lowering(Unit(text, shim, arch), [], ())
        if lowering.complaint_places - alone.complaint_places:
            # An error of one instantiation stands in the template that all of them share.
            module = _merge([lower_text(text, (item,), arch) for item in wanted], len(wanted))
            return replace(module, notes=module.notes + refused)
    module = lowering.module()
    if any(_open_bounds(kernel) for kernel in module.kernels):
        probes, variables = _probes(text, found, wanted)
        unit = Unit(_with_instantiations(text, wanted, better, probes), shim, arch)
        module = _Lowering(unit, list(_find_kernels(unit.root)), wanted, variables).module()
    return replace(module, notes=module.notes + refused)


def _merge(modules: Sequence[Module], count: int) -> Module:
    """The modules of one text, each with one instantiation. A template is open if every one of them says so."""
    kernels = {kernel.label: kernel for module in modules for kernel in module.kernels}
    diagnostics = dict.fromkeys(d for module in modules for d in module.diagnostics)
    notes = dict.fromkeys(note for module in modules for note in module.notes)
    open_in = [template for module in modules for template in module.templates]
    templates = tuple(t for t in dict.fromkeys(open_in) if open_in.count(t) == count)
    return Module(tuple(kernels.values()), tuple(diagnostics), templates, tuple(notes))


class _Lowering:
    """All kernels of one unit."""

    def __init__(
        self,
        unit: Unit,
        found: list[_Found],
        wanted: Sequence[Instantiation],
        probes: Mapping[Instantiation, str] = MappingProxyType({}),
    ) -> None:
        self.unit, self.found, self.wanted, self.probes = unit, found, wanted, probes
        self.types = TypeMap()
        complaints = [c for c in unit.complaints if c.severity == "error" and not _of_local_type(c)]
        if any(c.span.path == SHIM for c in complaints):
            raise AssertionError(f"the shim does not parse: {complaints[0].message}")
        self.notices = [c for c in complaints if c.span.path == INSTANTIATIONS]
        own = [c for c in complaints if c.span.path != INSTANTIATIONS]
        self.errors, self.undeclared = sort_complaints(own, unit.root)

    @property
    def complaint_places(self) -> set[tuple[int, str]]:
        return {(c.offset, c.message) for c in (*self.errors, *self.undeclared)}

    def module(self) -> Module:
        kernels = []
        instantiated: set[str] = set()
        for item in self.found:
            if item.template:
                continue
            kernel = self.kernel(item.node, ())
            if kernel is not None:
                kernels.append(kernel)
        notes = [f"{c.span}: {c.message}" for c in self.undeclared]
        for number, (name, arguments) in enumerate(self.wanted):
            node = self._instance(number)
            if node is None:
                notes.append(self._missing(number, name, arguments))
                continue
            instantiated.add(node.template.spelling or name)
            kernel = self.kernel(node, arguments)
            if kernel is not None:
                kernels.append(kernel)
        templates = tuple(
            (item.node.spelling, item.node.name_span)
            for item in self.found
            if item.template and item.node.spelling not in instantiated
        )
        return Module(tuple(kernels), tuple(self._diagnostics()), templates, tuple(notes))

    def _diagnostics(self) -> Iterator[Diagnostic]:
        for complaint in self.errors:
            yield Diagnostic(complaint.severity, complaint.message, complaint.span)

    def _missing(self, number: int, name: str, arguments: tuple[str, ...]) -> str:
        reason = next(
            (c.message for c in self.notices if c.span.line == number + 1), "not a template of this text"
        )
        return f"{name}<{', '.join(arguments)}> was not instantiated: {reason}"

    def _instance(self, number: int) -> Node | None:
        """The function that the wanted instantiation names; without a body if that has an error."""
        for child in self.unit.root.children:
            if child.kind == "VAR_DECL" and child.spelling == f"vk_instance_{number}":
                reference = _first_reference(child)
                if reference is not None and reference.has("CUDAGLOBAL_ATTR"):
                    return reference
        return None

    def kernel(self, node: Node, arguments: tuple[str, ...]) -> Kernel | None:
        demanded: set[int] = set()
        offsets = [c.offset for c in (*self.errors, *self.undeclared)]
        at_file_scope = next((c for c in self.undeclared if c.everywhere), None)
        for _ in range(_MAX_ATTEMPTS):
            probe = self.probes.get((node.spelling, arguments), "")
            lowering = KernelLowering(self.unit, self.types, demanded, offsets, probe)
            try:
                if at_file_scope is not None:
                    raise Broken(at_file_scope.offset)
                kernel = lowering.lower(node, arguments)
            except Broken as broken:
                if self.errors:
                    return None
                cause = next(c for c in self.undeclared if c.offset == broken.offset)
                return KernelLowering(self.unit, self.types, demanded, offsets).refuse(node, arguments, cause)
            if not lowering.wanted - demanded:
                return kernel
            demanded = demanded | lowering.wanted
        return kernel


def _of_local_type(complaint: Complaint) -> bool:
    """The shim declares templates only; a lambda or local class as an argument cannot have one defined elsewhere."""
    return complaint.span.path == SHIM and "type does not have linkage" in complaint.message


def _first_reference(node: Node) -> Node | None:
    for child in node.children:
        if child.kind == "DECL_REF_EXPR" and child.referenced.kind == "FUNCTION_DECL":
            return child.referenced
        found = _first_reference(child)
        if found is not None:
            return found
    return None
