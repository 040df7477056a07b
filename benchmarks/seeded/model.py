"""One family of kernels: a text with slots, what the slots hold when it is right, and what they hold with each fault.

Example::

    Family("counter", "__global__ void count(int* c) { @add@(c, 1); }", ("c i32 1",), {"add": "atomicAdd"},
           bad={"block-scope": ("race-global", {"add": "atomicAdd_block"})}, grid=4).programs()
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from specs.contract import ConcreteBuffer, ConcreteLaunch
from verifier.ir import nodes as ir
from verifier.source.device_text import DeviceText

_C_NAMES = {"i32": "int", "u32": "unsigned int", "f32": "float", "u8": "unsigned char"}
_TYPES: dict[str, ir.Type] = {"i32": ir.I32, "u32": ir.Int(32, False), "f32": ir.F32, "u8": ir.Int(8, False)}


@dataclass(frozen=True, slots=True)
class Program:
    """One kernel with its launch. ``fault``: the property that is broken, or "" for a good one.

    ``params``: "x f32 64" (a buffer), "x f32 64 empty" (nobody wrote it), "n i32= 5" (a scalar).
    """

    name: str
    kernel: str
    params: tuple[str, ...]
    fault: str
    grid: int
    block: int
    inputs: Mapping[str, tuple[int, ...]]

    @property
    def device(self) -> DeviceText:
        return DeviceText(f'# 1 "k.cu"\n{self.kernel}', hashlib.sha256(self.kernel.encode()).hexdigest(), ())

    @property
    def entry(self) -> ir.Kernel:
        found = re.search(r"__global__ void (\w+)", self.kernel)
        assert found is not None
        params = []
        for name, type_, *_ in (p.split() for p in self.params):
            element = _TYPES[type_.rstrip("=")]
            params.append(ir.Param(name, element if type_.endswith("=") else ir.Pointer(element)))
        return ir.Kernel(found[1], (), tuple(params), (), {}, ())

    @property
    def launch(self) -> ConcreteLaunch:
        buffers = tuple(
            ConcreteBuffer(name, type_, int(size), (), not rest, "", {}, 0, 0)
            for name, type_, size, *rest in (p.split() for p in self.params)
            if not type_.endswith("=")
        )
        scalars: dict[str, int | float | None] = {
            w[0]: int(w[2]) for w in (p.split() for p in self.params) if w[1].endswith("=")
        }
        return ConcreteLaunch(self.entry.name, (), (self.grid, 1, 1), (self.block, 1, 1), 0, buffers, scalars)

    @property
    def data(self) -> dict[str, bytes]:
        """Contents of the buffers that the launch needs; the others hold zeros."""
        kinds = {p.split()[0]: p.split()[1] for p in self.params}
        width = {"i32": "<i4", "u32": "<u4", "f32": "<f4", "u8": "u1"}
        return {
            name: np.array(values, dtype=width[kinds[name]]).tobytes()
            for name, values in self.inputs.items()
            if name in kinds
        }

    @property
    def text(self) -> str:
        """The kernel in a program of its own, as a submission would be. What is read from a file is of any value."""
        lines, arguments = [], []
        for name, type_, size, *rest in (p.split() for p in self.params):
            arguments.append(size if type_.endswith("=") else name)
            if type_.endswith("="):
                continue
            c_name = _C_NAMES[type_]
            lines += [f"{c_name}* {name};", f"cudaMalloc(&{name}, {size} * sizeof({c_name}));"]
            if name in self.inputs:
                lines += [
                    f"static {c_name} host_{name}[{size}];",
                    f"fread(host_{name}, sizeof({c_name}), {size}, stdin);",
                    f"cudaMemcpy({name}, host_{name}, {size} * sizeof({c_name}), cudaMemcpyHostToDevice);",
                ]
            elif not rest:
                lines.append(f"cudaMemset({name}, 0, {size} * sizeof({c_name}));")
        lines.append(f"{self.entry.name}<<<{self.grid}, {self.block}>>>({', '.join(arguments)});")
        body = "\n".join(f"    {line}" for line in [*lines, "return cudaDeviceSynchronize();"])
        return f"#include <cstdio>\n#include <cuda_runtime.h>\n\n{self.kernel}\nint main() {{\n{body}\n}}\n"


@dataclass(frozen=True, slots=True)
class Family:
    """``slots``: what the text's ``@slot@`` hold in the plain good twin; ``good`` and ``bad`` override some of them.

    ``bad`` gives the property that is broken.
    """

    name: str
    text: str
    params: tuple[str, ...]
    slots: Mapping[str, str]
    good: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    bad: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)
    grid: int = 4
    block: int = 64
    inputs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def programs(self) -> list[Program]:
        """The good twins, then one program for each fault."""
        made = [self._program("good", "", {})]
        made += [self._program(f"good-{name}", "", slots) for name, slots in self.good.items()]
        made += [self._program(name, fault, slots) for name, (fault, slots) in self.bad.items()]
        return made

    def _program(self, label: str, fault: str, changes: Mapping[str, str]) -> Program:
        unknown = set(changes) - set(self.slots)
        assert not unknown, f"{self.name}: no slot {unknown}"
        text = self.text
        for _ in range(3):  # a slot may hold slots
            for slot, value in {**self.slots, **changes}.items():
                text = text.replace(f"@{slot}@", value)
        lines = [line.rstrip() for line in text.strip("\n").splitlines()]
        kernel = "\n".join(line for line in lines if line) + "\n"
        return Program(f"{self.name}/{label}", kernel, self.params, fault, self.grid, self.block, self.inputs)
