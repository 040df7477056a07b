"""Contracts of a program that another one covers: the same launch, of whose memory and arguments less is known.

A proof under a contract holds under every one that says more. A program that checks its kernel and then times it launches it
twice, the second time with buffers that the first has written; what is proved of the first holds for both.

Example: of two launches that differ in ``written(out)`` the one with ``out`` still undefined stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from specs.contract import Buffer, Clause, Contract, to_json


def without_covered(contracts: Sequence[Contract]) -> list[Contract]:
    """In the same order; each that is left out is covered by one that stays."""
    groups: dict[str, list[Contract]] = {}
    for contract in contracts:
        groups.setdefault(_launch(contract), []).append(contract)
    gone: set[int] = set()
    for group in groups.values():
        for one in group:
            if id(one) in gone:
                continue
            gone |= {id(c) for c in group if c is not one and id(c) not in gone and covers(one, c)}
    return [c for c in contracts if id(c) not in gone]


def _launch(contract: Contract) -> str:
    """What contracts have in common of which one may cover another."""
    buffers = tuple(
        replace(b, initialized=True, content=None, content_origin="assumed") for b in contract.buffers
    )
    bare = replace(contract, buffers=buffers, requires=(), assumptions=(), no_alias=())
    return json.dumps(to_json(replace(bare, launch=replace(bare.launch, order=0))), sort_keys=True)


def covers(less: Contract, more: Contract) -> bool:
    """Whether ``less`` allows every launch that ``more`` allows; both are of one launch."""
    return all(
        _within(a, b)
        for a, b in (
            (less.requires, more.requires),
            (less.assumptions, more.assumptions),
            (less.no_alias, more.no_alias),
        )
    ) and all(_vaguer(a, b) for a, b in zip(less.buffers, more.buffers, strict=True))


def _within(some: Iterable[Clause], all_: Iterable[Clause]) -> bool:
    held = {(c.text, c.origin, c.accepted) for c in all_}
    return all((c.text, c.origin, c.accepted) in held for c in some)


def _vaguer(a: Buffer, b: Buffer) -> bool:
    """Whether nothing is known of the memory in ``a`` that is not known in ``b``."""
    if a.initialized and not b.initialized:
        return False
    return a.content is None or (a.content, a.content_origin) == (b.content, b.content_origin)
