"""All verdicts on one launch of one kernel.

Kernel x Contract -> PropertyResults and findings. Integer operations are discharged first: one that cannot be shown to
keep its value gets its modular meaning and the kernel is executed again, until all exact values that remain are proved
(or the rounds end, and everything is UNKNOWN). Then each property's obligations are discharged on that execution.

Invariant: PROVED only if the last execution had no gap, all its exact operations and lemmas were proved, and every
obligation of the property and of what it leans on (races on barrier-divergence) was proved.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from itertools import chain

from specs.clauses import ClauseError, ClauseUndefined, holds
from specs.contract import Clause, Contract
from specs.location import NOWHERE
from specs.results import Finding, PropertyResult, Reason, Severity, Verdict
from verifier import checks
from verifier.ir.nodes import Kernel
from verifier.prover import host_faults
from verifier.prover.asked import KernelVerdicts, Settings
from verifier.prover.discharge import Decision, Discharger
from verifier.prover.divisible import divisibilities
from verifier.prover.evidence import Evidence
from verifier.prover.failures import Failed, finding, pins, reason_of
from verifier.prover.leaning import lean
from verifier.prover.missing import Missing, missing_clause
from verifier.prover.sizes import equal_sizes, large_sizes
from verifier.prover.witness import candidates, is_problem, reachable, sizes_against, wrapping_sizes
from verifier.prover.wording import WHY
from verifier.smt.radix import Note
from verifier.smt.terms import TooLarge
from verifier.symex.claims import Claims, Obligation
from verifier.symex.emptiness import Everything, emptying_sizes, where_threads_run
from verifier.symex.execute import launch_side, summarize
from verifier.symex.operation_claims import claim_of, claims_at_uses, relevant
from verifier.symex.setup import least_sizes
from verifier.symex.summary import Operation, Summary

ROUNDS = 10
_PATIENT = 6
"""So many rounds (within half of the time) give each operation a claim of its own; then all that depends on a failing
one is modular at once."""
_SECOND_ROUND = (300, 1100)
"""Sizes at which loops over blocks of usual sizes make a second round: there, threads meet whose steps differ."""
_MORE_FAULTS = 4.0
"""Seconds of replays after which a property that is refuted already is not shown to fail at more places."""
_FIRST = 0.6
"""The share of the time that is spent without guessed clauses."""
MAX_OBLIGATIONS = 20_000


class _Stop(Exception):
    """What is left of this attempt is not worth its time: a clause was found, or a proof alone was asked for and failed."""


class Engine:
    """``hurry``: stop at the first clause that the problem's sizes vouch for; all is verified again under it."""

    def __init__(self, kernel: Kernel, contract: Contract, settings: Settings, hurry: bool = False) -> None:
        self.kernel, self.contract, self.settings, self.hurry = kernel, contract, settings, hurry
        self.findings: list[Finding] = []
        self.failed_operations: dict[object, Failed] = {}
        self.missing: list[Missing] = []
        self.asked: list[tuple[Obligation, Missing]] = []
        self.operation_counts: dict[str, list[int]] = {"overflow": [0, 0], "arithmetic": [0, 0]}
        self.assumed: dict[str, None] = {}
        self.evidence = Evidence()
        self.witness_budget = settings.max_witnesses
        self.patient = True
        self.replaying = 0.0
        self.emptying = emptying_sizes(kernel, contract, settings.cap)
        self.guesses: list[str] = []
        """Sizes that may have to divide each other; time is left to try it."""

    @cached_property
    def small(self) -> tuple[Mapping[str, int], ...]:
        """Small values of the symbols, to be tried for faults of an index."""
        return (*self.settings.assignments()[:3], *equal_sizes(self.contract))

    @cached_property
    def modular(self) -> Claims:
        """The host's side of the launch, every conversion taken modulo its type."""
        everything = Everything()
        return Claims(launch_side(self.kernel, self.contract, cap=self.settings.cap, wrapped=everything))

    @cached_property
    def large(self) -> tuple[Mapping[str, int], ...]:
        """Large ones, for overflows."""
        return tuple(large_sizes(self.contract))

    def run(self) -> KernelVerdicts:
        wrapped: frozenset[object] = frozenset()
        dropped: frozenset[object] = frozenset()
        order: frozenset[Note] = frozenset()
        stable = False
        half = (time.monotonic() + self.settings.deadline) / 2
        try:
            for n in range(ROUNDS):
                self.patient = n < _PATIENT and time.monotonic() < half
                cap, record = self.settings.cap, self.settings.evidence
                host = Claims(
                    launch_side(self.kernel, self.contract, cap=cap, wrapped=wrapped, record=record)
                )
                self.host, self.host_d = host, self._discharger(host.s)
                least = least_sizes(host.s)
                summary = summarize(
                    self.kernel, self.contract, cap=cap, wrapped=wrapped, dropped=dropped, least=least,
                    same_value=self.settings.same_value, pure_externs=self.settings.pure_externs, record=record,
                    order=order,
                )  # fmt: skip
                order = summary.t.radices.order
                if n == 0 and self.hurry:
                    self._guess(summary)
                claims, discharger = Claims(summary), self._discharger(summary)
                self.evidence = Evidence(sizes=[(host, least)], stores=[host.s.t, summary.t])
                self.operation_counts = {"overflow": [0, 0], "arithmetic": [0, 0]}
                bad, _ = self._operations(host, self.host_d, frozenset())
                more, lost = self._operations(claims, discharger, bad)
                bad |= more
                if not bad and not lost:
                    stable = True
                    break
                wrapped |= bad
                dropped |= lost
                if self._late():
                    break
        except (TooLarge, RecursionError) as error:
            return self._all_unknown(Reason.BUDGET, f"too large to execute symbolically: {error}")
        except _Stop:
            return self._all_unknown(Reason.BUDGET, "stopped at a clause to verify under")
        self.s, self.c, self.d = summary, claims, discharger
        if summary.gaps:
            results = self._with_gaps()
            self.findings = [replace(f, severity=Severity.WARNING) for f in self.findings]
        elif not stable:
            why = Reason.RESOURCES if self._late() else Reason.BUDGET
            return self._all_unknown(
                why, "the exactness of the integer operations did not settle within the budget"
            )
        else:
            try:
                results = self._properties()
            except _Stop:
                return self._all_unknown(Reason.BUDGET, "stopped at a clause to verify under")
        notes = tuple(dict.fromkeys(f"{text} ({span})" for text, span in summary.approximations))
        named = dict.fromkeys(a.obj.name for a in summary.accesses if a.obj.space in ("texture", "surface"))
        texts = [*self.assumed, *(f"pure({f})" for f in summary.externs), *(f"handle({n})" for n in named)]
        texts += [f"coresident({self.kernel.name})"] * any(b.kind == "grid" for b in summary.barriers)
        assumed = tuple(Clause(text, "assumed", self.contract.launch.span) for text in texts)
        return KernelVerdicts(
            tuple(results), tuple(self.findings), notes, discharger.counts, assumptions=assumed,
            evidence=self.evidence,
        )  # fmt: skip

    def _guess(self, s: Summary) -> None:
        values = {x.name: x.value for x in self.contract.symbols if x.value is not None}
        self.guesses = divisibilities(s, values)
        if self.guesses:
            now = time.monotonic()
            self.settings = replace(self.settings, deadline=now + _FIRST * (self.settings.deadline - now))

    def _discharger(self, s: Summary) -> Discharger:
        return Discharger(
            s.t,
            self.settings.pool,
            self.settings.keep,
            small=cache(lambda: pins(s, self.small)),
            large=cache(lambda: pins(s, self.large)),
        )

    def _late(self) -> bool:
        return time.monotonic() > self.settings.deadline

    def _all_unknown(self, reason: Reason, detail: str) -> KernelVerdicts:
        """But for what a run has shown already: a witness stands on its own."""
        seen = {
            f.id: PropertyResult(f.id, Verdict.REFUTED, None, f.message, span=f.span) for f in self.findings
        }
        unknown = PropertyResult("", Verdict.UNKNOWN, reason, detail, span=self.kernel.span)
        results = (seen.get(p) or replace(unknown, id=p) for p in self._known())
        return KernelVerdicts(tuple(results), tuple(self.findings))

    def _known(self) -> list[str]:
        available = checks.find()
        return [p for p in self.settings.properties if p in available]

    # --- integer operations -----------------------------------------------------------------------------------------

    def _operations(
        self, c: Claims, d: Discharger, known: frozenset[object]
    ) -> tuple[frozenset[object], frozenset[object]]:
        """Keys of the operations to make modular, and of the lemmas to drop, in this round.

        The host's conversions are judged on the host's side alone; ``known`` are those of them that failed.
        """
        mask = relevant(c.s)
        failing = faults = 0
        lost: set[object] = set()
        bad: dict[object, Failed] = {}
        counts = self.operation_counts
        for op in c.s.operations:
            if not op.bit & mask:
                continue
            if op.host and c is not self.host:
                failing |= op.bit if op.key in known else 0
                continue
            if self._late():
                lost.add("the time is up")
                break
            if op.key in lost:
                continue
            if op.host and op.deps & faults:
                failing |= op.bit
                faults |= op.bit
                why = Decision("unknown", "it rests on a value that may wrap")
                bad[op.key] = Failed(claim_of(c, op), why, c, d)
                continue
            if not op.lemma and op.deps & failing & ~op.bit:
                if not self.patient and op.property == "overflow":
                    failing |= op.bit
                    o = claim_of(c, op)
                    bad[op.key] = Failed(o, Decision("unknown", "it rests on a value that may wrap"), c, d)
                    if op.fault:
                        self.failed_operations.setdefault(op.key, bad[op.key])
                continue
            if not op.lemma:
                counts[op.property][0] += 1
            o = claim_of(c, op)
            decision = self._of_host(c, d, op, o) if op.host else d.decide(o)
            if decision.status == "proved":
                self._keep(c, decision)
            elif not op.lemma and not op.host:
                decision = self._at_uses(c, d, op, decision)
            if decision.status == "proved":
                if not op.lemma:
                    counts[op.property][1] += 1
                continue
            if op.lemma:
                lost.add(op.key)
            else:
                failing |= op.bit
                faults |= op.bit if op.host and op.fault else 0
                if op.key not in bad:
                    bad[op.key] = Failed(o, decision, c, d)
                    if op.fault or op.property == "arithmetic":
                        self._blame(c, d, op, o, decision)
        return frozenset(bad), frozenset(lost)

    def _of_host(self, c: Claims, d: Discharger, op: Operation, o: Obligation) -> Decision:
        """A conversion of the host: exact, or exact unless an output is empty and the grid with it."""
        where = where_threads_run(c, op, o, self.emptying)
        if where is None:
            return d.decide(o)
        decision = d.decide(o if d.by_bounds(o) else where)
        if decision.status == "proved" and decision.shown is not None:
            self.assumed.update(dict.fromkeys(decision.shown.assumes))
        return decision

    def _at_uses(self, c: Claims, d: Discharger, op: Operation, decision: Decision) -> Decision:
        """An operation whose value is used only where it kept its type counts as kept (a note at most)."""
        uses = list(claims_at_uses(c, op))
        if not uses or len(uses) > 200:
            return decision
        shown = []
        for use in uses:
            shown.append(d.decide(use, 0.5 if len(uses) <= 4 else 0))
            if shown[-1].status != "proved":
                return decision
        for one in shown:
            self._keep(c, one)
        return Decision("proved", by="uses")

    def _keep(self, c: Claims, decision: Decision) -> None:
        if self.settings.evidence and decision.shown is not None:
            self.evidence.add(c, decision.shown, decision.by, decision.steps)

    def _blame(self, c: Claims, d: Discharger, op: Operation, o: Obligation, decision: Decision) -> None:
        """Remember the first failure of an operation; try to show it."""
        if op.key in self.failed_operations:
            return
        self.failed_operations[op.key] = Failed(o, decision, c, d)
        if not self.settings.explain and op.property in self.settings.properties:
            raise _Stop
        if self._missing(c, d, o):
            return
        if op.host and self._refute_host(c, d, "overflow", o, op):
            return
        if op.fault:
            self._refute(c, d, o, op.property)

    # --- refutation -------------------------------------------------------------------------------------------------

    def _refute(self, c: Claims, d: Discharger, o: Obligation, property_: str) -> bool:
        """Look for a witness that the simulator confirms; True and a finding when there is one."""
        if (
            not self.settings.explain
            or self.settings.replay is None
            or self.witness_budget <= 0
            or self._late()
        ):
            return False
        if property_ not in self.settings.properties:
            return False
        if property_ == "coverage":
            return False  # another launch may write the rest
        if o.note and property_ in ("termination", "uninitialized"):
            return False  # no run shows a missing bound, or a variable without a value
        if any(f.id == property_ and f.span == o.span for f in self.findings):
            return True
        if self.replaying > _MORE_FAULTS and any(f.id == property_ for f in self.findings):
            return False
        tried = 0
        sizes = tuple(reversed(self.large)) if property_ == "overflow" else self.small[:5]
        if property_.startswith("race"):
            sizes = (*sizes, *equal_sizes(self.contract, _SECOND_ROUND))
        for w in candidates(c, d, o, sizes):
            if host_faults.empty_input(self.contract, w.symbols):
                continue
            tried += 1
            began = time.monotonic()
            confirmed = self.settings.replay(w, property_, o.span)
            self.replaying += time.monotonic() - began
            if confirmed is not None:
                confirmed = replace(confirmed, domain=w.domain)
                self.findings.append(finding(o, property_, confirmed, self.kernel.label))
                return True
            if tried >= 3 or self._late():
                break
        if tried:
            self.witness_budget -= 1
        return False

    def _refute_host(
        self, c: Claims, d: Discharger, property_: str, o: Obligation, op: Operation | None = None
    ) -> bool:
        """A fault of the launch itself: shown by evaluating the contract at concrete sizes."""
        if not self.settings.explain:
            return False
        if any(f.id == property_ and f.span == self.contract.launch.span for f in self.findings):
            return True
        static = sum(
            o.extent.lo or 0
            for o in dict.fromkeys(c.s.objects.values())
            if o.space == "shared" and o.extent is not None and o.name != "dynamic shared memory"
        )
        sizes = (*self.small, *reversed(self.large))
        most = next(iter(self.kernel.launch_bounds), 0)
        found = host_faults.first(self.contract, sizes, property_, static, c.s.outputs, most)
        if found is None and not self._late():
            models = sizes_against(c, d, o)
            if op is not None:
                models = chain(models, wrapping_sizes(self.modular, d, o, op, self.small[:4]))
            allowed = filter(self._allows, models)
            found = host_faults.first(self.contract, allowed, property_, static, c.s.outputs, most)
        if found is None:
            return False
        told, values = found
        w = host_faults.witness(self.contract, values, told, is_problem(self.contract, values))
        if w is None:
            return False
        self.findings.append(
            Finding(
                property_, Severity.ERROR, self.contract.launch.span, told, self.kernel.label, w, WHY[property_],
                gate="prove",
            )
        )  # fmt: skip
        return True

    def _allows(self, values: Mapping[str, int]) -> bool:
        try:
            return holds(self.contract, values)
        except (ClauseError, ClauseUndefined, OverflowError):
            return False

    # --- properties -------------------------------------------------------------------------------------------------

    def _with_gaps(self) -> list[PropertyResult]:
        """With a gap nothing is proved; what fails is still looked for, since a witness stands on its own."""
        gap = self.s.gaps[0]
        missing = all(g.construct.startswith("contract:") for g in self.s.gaps)
        reason = Reason.MISSING_CONTRACT if missing else Reason.UNSUPPORTED
        first = next((g for g in self.s.gaps if not g.construct.startswith("contract:")), gap)
        detail = first.detail if missing else f"{first.construct}: {first.detail}"
        if first.span is not NOWHERE and str(first.span) not in detail:
            detail += f" ({first.span})"
        return [PropertyResult(p, Verdict.UNKNOWN, reason, detail, span=first.span) for p in self._known()]

    def _properties(self) -> list[PropertyResult]:
        results: dict[str, PropertyResult] = {}
        if not reachable(self.c, self.d, self._launches()):
            return [
                PropertyResult(
                    p,
                    Verdict.UNKNOWN,
                    Reason.VACUOUS,
                    "no allowed launch reaches an access",
                    span=self.kernel.span,
                )
                for p in self._known()
            ]
        order = sorted(self._known(), key=lambda p: (p != "barrier-divergence", p.startswith("race")))
        for p in order:
            start = time.monotonic()
            made = self._property(p)
            results[p] = replace(made, seconds=time.monotonic() - start)
        return lean(
            [results[p] for p in self._known()],
            bool(self.s.barriers),
            bool(self.s.congruent),
            bool(self.s.common_loads),
        )

    def _property(self, property_: str) -> PropertyResult:
        check = checks.find()[property_]
        if property_ in ("overflow", "arithmetic"):
            return self._operation_result(property_)
        if not check.applies(self.s):
            return PropertyResult(property_, Verdict.NOT_APPLICABLE)
        failed: list[Failed] = []
        total = proved = 0
        c, d = (self.host, self.host_d) if property_ == "launch" else (self.c, self.d)
        for item in check.claims(c):
            total += 1
            if total > MAX_OBLIGATIONS or self._late():
                return PropertyResult(
                    property_, Verdict.UNKNOWN, Reason.RESOURCES, "the time for this file is up", total, proved,
                    span=self.kernel.span,
                )  # fmt: skip
            options = item if isinstance(item, tuple) else (item,)
            decision = self._any(options, c, d)
            if decision.status == "proved":
                proved += 1
            else:
                failed.append(Failed(options[0], decision, c, d))
        if not failed:
            if total == 0:
                return self._nothing(property_)
            return PropertyResult(property_, Verdict.PROVED, obligations=total, proved=total)
        return self._unproved(property_, failed, total, proved)

    def _launches(self) -> Iterator[Mapping[str, int]]:
        """Sizes at which to look whether the kernel can be reached at all; those that cost nothing to find first."""
        yield from equal_sizes(self.contract)
        yield from self.small
        yield from self.large[:2]
        yield {}

    def _nothing(self, property_: str) -> PropertyResult:
        """No obligation although the construct is there: every pair was excluded by its kind (reads only)."""
        if self.s.accesses:
            return PropertyResult(property_, Verdict.PROVED, detail="no conflicting accesses")
        return PropertyResult(
            property_, Verdict.UNKNOWN, Reason.VACUOUS, "the kernel accesses no memory", span=self.kernel.span
        )

    def _any(self, options: Iterable[Obligation], c: Claims, d: Discharger) -> Decision:
        last = Decision("unknown", "nothing to try")
        options = list(options)
        if options[0].property == "launch":  # what needs no solver first
            options.sort(key=lambda o: (o.goal is self.s.t.true, not d.by_bounds(o)))
        for o in options:
            last = d.decide(o, 0.5) if options[-1].goal is self.s.t.true else d.decide(o)
            if last.status == "proved":
                self.assumed.update(dict.fromkeys(o.assumes))
                self._keep(c, last)
                return last
        return last

    def _unproved(self, property_: str, failed: list[Failed], total: int, proved: int) -> PropertyResult:
        clause_detail = ""
        spot = failed[0]
        for f in failed:
            if self._late():
                break
            if property_ == "launch" and self._refute_host(f.c, f.d, "launch", f.obligation):
                message, span = self.findings[-1].message, f.obligation.span
                return PropertyResult(property_, Verdict.REFUTED, None, message, total, proved, span=span)
            text = self._missing(f.c, f.d, f.obligation)
            if text:
                clause_detail, spot = clause_detail or text, f if not clause_detail else spot
                continue
            if self._refute(f.c, f.d, f.obligation, property_):
                claim, span = f.obligation.claim, f.obligation.span
                return PropertyResult(property_, Verdict.REFUTED, None, claim, total, proved, span=span)
        for f in failed:
            if any(x.id == property_ for x in self.findings):
                break
            if not self._missing(f.c, f.d, f.obligation):
                spot = f
                clause_detail = ""
                break
        where = spot.obligation.span
        if clause_detail:
            return PropertyResult(
                property_, Verdict.UNKNOWN, Reason.MISSING_CONTRACT, clause_detail, total, proved, span=where
            )
        reason, why = reason_of(spot)
        detail = f"not shown: {spot.obligation.claim} ({where}); {why}"
        return PropertyResult(property_, Verdict.UNKNOWN, reason, detail, total, proved, span=where)

    def _missing(self, c: Claims, d: Discharger, o: Obligation) -> str:
        """The sentence on the clause that the obligation lacks; remembered."""
        if self._late() or not self.settings.explain:
            return ""
        known = next((m for key, m in self.asked if key is o), None)
        found = known if known is not None else missing_clause(c, d, o)
        if found is None:
            return ""
        if known is None:
            self.asked.append((o, found))
            self.missing.append(found)
            known_clauses = {x.text for x in self.contract.requires}
            if found.derived and self.hurry and found.clause not in known_clauses:
                raise _Stop
        return found.sentence

    def _operation_result(self, property_: str) -> PropertyResult:
        total, proved = self.operation_counts[property_]
        failed = [f for f in self.failed_operations.values() if f.obligation.property == property_]
        if not failed:
            return PropertyResult(property_, Verdict.PROVED, obligations=total, proved=proved)
        total += len(failed)
        shown = next((x for x in self.findings if x.id == property_), None)
        if shown is not None:
            return PropertyResult(
                property_, Verdict.REFUTED, None, shown.message, total, proved, span=shown.span
            )
        spot = failed[0]
        for f in failed:
            text = self._missing(f.c, f.d, f.obligation)
            if text:
                return PropertyResult(
                    property_,
                    Verdict.UNKNOWN,
                    Reason.MISSING_CONTRACT,
                    text,
                    total,
                    proved,
                    span=f.obligation.span,
                )
        reason, why = reason_of(spot)
        detail = f"not shown: {spot.obligation.claim} ({spot.obligation.span}); {why}"
        return PropertyResult(
            property_, Verdict.UNKNOWN, reason, detail, total, proved, span=spot.obligation.span
        )


__all__ = ["Engine", "KernelVerdicts", "Settings", "Summary"]
