"""Contracts: what each launch of a submission may assume. Submission -> ContractSet.

Three sources, combined per launch: *stated* (sidecar, ``//@`` comments, ``--contract``), *lifted* (the host code,
executed symbolically, with the caller and the problem file where known) and *drafted* (a guess for a person to review;
it never counts). Nothing is invented: what is neither checked by the host nor given by the caller is a printed
assumption, or missing.

Example::

    found = derive(submission, contract_file=None, problem=None, lock=None, sandbox=probe())
    [c.kernel for c in found.contracts], found.instantiations, found.draft
"""

from verifier.contracts.assembly import ContractSet, derive
from verifier.contracts.errors import ContractError

__all__ = ["ContractError", "ContractSet", "derive"]
