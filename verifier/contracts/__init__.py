"""Contracts: what each launch of a submission may assume. Submission -> ContractSet.

Three sources, combined per launch: *stated* (sidecar, ``//@`` comments, ``--contract``), *lifted* (the host code,
executed symbolically, with the caller and the problem file where known) and *drafted* (a guess for a person to review;
it never counts). Nothing is invented: what is neither checked by the host nor given by the caller is a printed
assumption, or missing.

Example::

    found = derive(submission, contract_file=None, problem=None, lock=None, sandbox=probe())
    [c.kernel for c in found.contracts], found.instantiations, found.draft

Importing the package is cheap (the child that runs problem files does): what it exports is loaded at its first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verifier.contracts.errors import ContractError

if TYPE_CHECKING:
    from verifier.contracts.assembly import ContractSet, derive

__all__ = ["ContractError", "ContractSet", "derive"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from verifier.contracts import assembly

        return getattr(assembly, name)
    raise AttributeError(name)
