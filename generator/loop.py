"""The loop: prompt, candidate, gates, feedback, repair, until the gates pass or the budget ends.

A run folder and a client in -> an ``Ending``. Each step looks at the recorded events only, does one thing and records
it, so resuming is running again. Invariant: ``verified`` is said only of a candidate file whose own recorded gate
result is PASS; nothing the model says reaches that decision.

Example::

    with RunFolder.open(path, write=True) as folder:
        ending = run(folder, client, judge, plan)      # Ending("verified", 0, 3, "attempts/003/candidate.py", ...)
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from generator import answers, feedback, prompt
from generator.answers import Candidate, Malformed
from generator.budget import Exhausted, Limits, Price, Spent, cost, next_answer, worst_usage
from generator.feedback import Feedback
from generator.model import Client, ModelError, Reply, Request, Usage
from generator.runfolder import Event, RunFolder
from generator.stripping import clean
from specs.results import FileResult, Outcome, Report

Judge = Callable[[Path], FileResult]
"""The gate chain on one file."""

_CALLS = 3
"""Calls for one answer; the SDK's own retries come on top, for what fails before an answer begins."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the user chose; recorded in the run folder."""

    model: str
    limits: Limits
    price: Price | None
    archs: tuple[str, ...]
    answer_tokens: int = 32_000


@dataclass(frozen=True, slots=True)
class Ending:
    """``status``: verified | refuted | inconclusive. ``exit``: 0 | 1 | 3. ``reason``: what ended the run."""

    status: str
    exit: int
    attempts: int
    candidate: dict[str, str] | None
    reason: str
    spent: Spent


@dataclass(slots=True)
class _State:
    """The events, folded."""

    spent: Spent = field(default_factory=Spent)
    pasts: list[prompt.Past] = field(default_factory=list)
    judged: list[Event] = field(default_factory=list)
    verdict: Outcome = Outcome.NOT_RUN
    open: dict[str, Event] = field(default_factory=dict)
    """The events of the attempt that is not over, by name."""
    failed: int = 0
    """Calls in a row without an answer."""
    broken: int = 0
    """Candidates in a row on which the gates themselves failed."""
    ended: Event | None = None


def run(
    folder: RunFolder,
    client: Client,
    judge: Judge,
    plan: Plan,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> Ending:
    """Go on with a run until it ends. Raises ModelError (fault "usage") and RunFolderError."""
    while True:
        state = _fold(folder)
        attempt = len(state.pasts) + 1
        if state.ended is not None:
            return _ending(state, state.ended["reason"])
        if state.verdict is Outcome.PASS:
            return _end(folder, state, "verified")
        if state.broken > 1:
            return _end(folder, state, "the gates failed twice in a row; see the reports")
        if "candidate" in state.open:
            _judge(folder, state, judge, attempt, say)
        elif "answered" in state.open:
            _read(folder, state.open["answered"], attempt, say)
        elif "asked" in state.open:  # killed during the call: it counts as if it had used all it could
            folder.append("call-failed", attempt=attempt, error="interrupted", **state.open["asked"]["worst"])
        elif (reason := _ask(folder, state, client, plan, attempt, say)) is not None:
            return _end(folder, state, reason)


def _fold(folder: RunFolder) -> _State:
    state = _State()
    for event in folder.events:
        name = event["event"]
        old = state.spent
        state.spent = Spent(
            len(state.pasts) + (name in ("malformed", "judged")),
            old.tokens + event.get("tokens", 0),
            old.usd + event.get("usd", 0.0),
            old.seconds + event.get("seconds", 0.0),
        )
        if name == "call-failed":
            state.open, state.failed = {}, state.failed + 1
        elif name in ("malformed", "judged"):
            state.open, state.failed = {}, 0
            said: Feedback = json.loads(folder.load(event["feedback"]))
            state.pasts.append(prompt.Past(event["attempt"], said, event.get("repeats", 0)))
            if name == "judged":
                state.judged.append(event)
                state.broken = state.broken + 1 if event["broken"] else 0
                state.verdict = Outcome(event["verdict"])
        elif name == "ended":
            state.ended = event
        elif name == "resumed":
            state.failed, state.broken, state.ended = 0, 0, None
        elif name != "started":
            state.open[name] = event
    return state


def _ask(
    folder: RunFolder, state: _State, client: Client, plan: Plan, attempt: int, say: Callable[[str], None]
) -> str | None:
    """Ask for one answer and record it; a reason when the run ends instead."""
    if state.failed >= _CALLS:
        return "the model could not be reached"
    last = _candidate(folder, state.judged[-1]["candidate"]) if state.judged else None
    request = Request(
        model=plan.model,
        system=prompt.system(),
        problem=prompt.problem(folder.problem, plan.archs),
        message=prompt.message(state.pasts, last),
        max_tokens=plan.answer_tokens,
    )
    size = len((request.system + request.problem + request.message).encode())
    allowed = next_answer(plan.limits, state.spent, plan.price, prompt_bytes=size, wanted=plan.answer_tokens)
    if isinstance(allowed, Exhausted):
        return f"budget: {allowed.what}"
    request = Request(request.model, request.system, request.problem, request.message, allowed)
    parts = {"system": request.system, "problem": request.problem, "message": request.message}
    worst = worst_usage(size, allowed)
    folder.append(
        "asked",
        attempt=attempt,
        prompt=folder.store(attempt, "prompt.json", json.dumps(parts, indent=1)),
        max_tokens=allowed,
        worst=_charge(worst, plan, 0.0),
    )
    say(f"attempt {attempt}: asking {client.destination}")
    begun = time.monotonic()
    try:
        reply = client.ask(request)
    except ModelError as error:
        seconds = time.monotonic() - begun
        usage = worst if error.usage.estimated else error.usage
        folder.append(
            "call-failed", attempt=attempt, error=clean(error.message), **_charge(usage, plan, seconds)
        )
        say(f"attempt {attempt}: {clean(error.message)}")
        if error.fault == "usage":
            raise
        return None
    usage = worst if reply.usage.estimated else reply.usage
    folder.append(
        "answered",
        attempt=attempt,
        answer=folder.store(attempt, "answer.json", json.dumps(asdict(reply), indent=1)),
        stop=reply.stop,
        usage=asdict(usage),
        **_charge(usage, plan, reply.seconds or time.monotonic() - begun),
    )
    return None


def _charge(usage: Usage, plan: Plan, seconds: float) -> dict[str, Any]:
    return {
        "tokens": usage.tokens,
        "usd": round(cost(usage, plan.price), 6),
        "seconds": round(seconds, 3),
        "estimated": usage.estimated,
    }


def _read(folder: RunFolder, answered: Event, attempt: int, say: Callable[[str], None]) -> None:
    """Take the candidate out of a recorded answer."""
    recorded = json.loads(folder.load(answered["answer"]))
    match answers.read(Reply(submission=recorded["submission"], stop=recorded["stop"])):
        case Candidate() as candidate:
            entry = folder.store(attempt, f"candidate/{candidate.file_name}", candidate.source)
            folder.append("candidate", attempt=attempt, candidate=entry)
        case Malformed() as malformed:
            said = feedback.of_malformed(malformed)
            folder.append(
                "malformed",
                attempt=attempt,
                code=malformed.code,
                feedback=folder.store(attempt, "feedback.json", json.dumps(said, indent=1)),
            )
            say(f"attempt {attempt}: {feedback.headline(said)}")


def _judge(folder: RunFolder, state: _State, judge: Judge, attempt: int, say: Callable[[str], None]) -> None:
    """Run the gates on a recorded candidate; the same text again gets the result that it had."""
    entry = state.open["candidate"]["candidate"]
    same = next((e for e in state.judged if e["candidate"]["sha256"] == entry["sha256"]), None)
    if same is not None:
        folder.append(
            "judged",
            **{k: same[k] for k in ("verdict", "broken", "gates", "findings", "report", "feedback")},
            attempt=attempt,
            candidate=entry,
            repeats=same["attempt"],
            seconds=0.0,
        )
        say(f"attempt {attempt}: the same file as attempt {same['attempt']}")
        return
    say(f"attempt {attempt}: running the gates")
    candidate = _candidate(folder, entry)
    begun = time.monotonic()
    result = judge(folder.file(entry))
    seconds = time.monotonic() - begun
    if result.verdict is Outcome.PASS and result.sha256 != entry["sha256"]:
        # A verdict on anything but the recorded text is no verdict on the candidate.
        result = replace(result, verdict=Outcome.ERROR, message="the file changed while it was judged")
    said = feedback.build(result, candidate)
    folder.append(
        "judged",
        attempt=attempt,
        candidate=entry,
        verdict=result.verdict.value,
        broken=result.verdict is Outcome.ERROR and not result.bad_input,
        gates={g.gate: g.outcome.value for g in result.gates},
        findings=sorted({f"{f.id}:{f.span.line}" for g in result.gates for f in g.findings}),
        report=folder.store(attempt, "report.json", _report(result)),
        feedback=folder.store(attempt, "feedback.json", json.dumps(said, indent=1)),
        seconds=round(seconds, 3),
    )
    say(f"attempt {attempt}: {feedback.headline(said)}")


def _report(result: FileResult) -> str:
    """The machine report, as ``verify-kernel --format json`` prints it."""
    from verifier.judge import exit_status
    from verifier.report.json import render

    return render(Report((result,), complete=True, exit=exit_status([result])))


def _candidate(folder: RunFolder, entry: dict[str, str]) -> Candidate:
    return Candidate("python" if entry["file"].endswith(".py") else "cuda", folder.load(entry))


def _end(folder: RunFolder, state: _State, reason: str) -> Ending:
    ending = _ending(state, reason)
    folder.append("ended", reason=reason, status=ending.status, exit=ending.exit, candidate=ending.candidate)
    return ending


def _ending(state: _State, reason: str) -> Ending:
    status, code = "inconclusive", 3
    if state.verdict is Outcome.PASS:
        status, code = "verified", 0
    elif state.verdict is Outcome.FAIL and reason.startswith("budget"):
        status, code = "refuted", 1
    candidate = state.judged[-1]["candidate"] if state.judged else None
    return Ending(status, code, len(state.pasts), candidate, reason, state.spent)
