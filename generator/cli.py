"""``generate-kernel``: arguments -> a run, its terminal output and its exit status.

Exit status: 0 verified; 1 the budget ended and the last candidate is refuted; 2 usage (arguments, problem file, key,
run folder); 3 inconclusive (nothing refuted and nothing verified, model or machine not available); 4 internal error.
Invariant: nothing leaves the machine before the plan was printed and accepted (``--yes`` or a terminal's answer).

Example::

    generate-kernel run softmax.py --max-usd 2 --yes
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from generator.loop import Ending, Plan
    from generator.model import Client
    from generator.runfolder import RunFolder

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Let a model write a CUDA kernel and keep it only if every gate passes.",
)

USAGE, INCONCLUSIVE, INTERNAL, INTERRUPTED = 2, 3, 4, 130

BaseUrl = Annotated[str | None, typer.Option(help="Messages API server; default: ANTHROPIC_BASE_URL.")]
Command = Annotated[
    str | None, typer.Option(metavar="CMD", help="A program that answers instead: JSON in, JSON out.")
]
Attempts = Annotated[int | None, typer.Option(min=1, help="Most attempts (8).")]
Tokens = Annotated[
    int | None, typer.Option(min=1, help="Most tokens, in and out, of the whole run (1000000).")
]
Usd = Annotated[str | None, typer.Option(metavar="USD", help="Most US dollars, or none (5).")]
Minutes = Annotated[float | None, typer.Option(min=0.0, help="Most minutes of work (60).")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the first call.")]
Sandbox = Annotated[str, typer.Option(help="auto, bwrap or none.")]
Output = Annotated[Path | None, typer.Option(help="Copy the verified candidate to this file.")]


class _Stop(Exception):
    """One line for the user, and the exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@app.command("run")
def run_command(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A KernelBench-style problem file.")],
    model: Annotated[str | None, typer.Option(help="Name of the model.")] = None,
    base_url: BaseUrl = None,
    model_command: Command = None,
    max_attempts: Attempts = None,
    max_tokens: Tokens = None,
    max_usd: Usd = None,
    max_minutes: Minutes = None,
    price: Annotated[
        str | None,
        typer.Option(metavar="IN/OUT", help="US dollars per million tokens, for a model not listed."),
    ] = None,
    answer_tokens: Annotated[int, typer.Option(min=2048, help="Longest answer, in tokens.")] = 32_000,
    arch: Annotated[
        str, typer.Option(help="Target architectures, e.g. sm_80,sm_90; default: the policy's.")
    ] = "",
    policy: Annotated[Path | None, typer.Option(help="Policy of the gates.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the fuzz gate.")] = 0,
    effort: Annotated[str, typer.Option(help="low, default or high.")] = "default",
    gate_seconds: Annotated[
        float, typer.Option(min=1.0, help="Time of the gates for one candidate.")
    ] = 120.0,
    sandbox: Sandbox = "auto",
    runs: Annotated[Path, typer.Option(help="Where run folders are made.")] = Path("runs"),
    run_id: Annotated[
        str | None, typer.Option(help="Name of the run folder; default: time and problem.")
    ] = None,
    output: Output = None,
    yes: Yes = False,
) -> None:
    """Write, check and repair until every required gate passes or the budget ends."""
    from generator import prompt
    from generator.budget import Limits, default_model
    from generator.gates import lacking, policy_from, refused
    from generator.runfolder import RunFolder
    from specs.policy import PolicyError

    if effort not in ("low", "default", "high"):
        raise _Stop(f"--effort {effort}: expected low, default or high", USAGE)
    try:
        text = prompt.check_problem(problem.read_bytes(), str(problem))
        fields = policy_from(policy, tuple(a for a in arch.split(",") if a))
    except (prompt.ProblemError, PolicyError) as error:
        raise _Stop(str(error), USAGE) from error
    except OSError as error:
        raise _Stop(f"{problem}: cannot be read ({error.strerror})", USAGE) from error
    name = model or ("command" if model_command else default_model())
    settings: dict[str, Any] = {
        "model": name,
        "base_url": base_url,
        "model_command": model_command,
        "limits": _limits(Limits(), max_attempts, max_tokens, max_usd, max_minutes),
        "price": price,
        "answer_tokens": answer_tokens,
        "policy": fields,
        "seed": seed,
        "effort": effort,
        "gate_seconds": gate_seconds,
        "sandbox": sandbox,
        "problem_name": problem.name,
    }
    plan = _plan(settings, settings["limits"])
    client = _client(settings)
    if (missing := lacking(sandbox)) is not None:
        raise _Stop(missing, INCONCLUSIVE)
    if (reason := refused(problem, sandbox)) is not None:
        raise _Stop(reason, USAGE)
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", problem.stem)
    path = runs / (run_id or f"{time.strftime('%Y%m%d-%H%M%S')}-{stem}")
    _announce(client, plan, text, path)
    _consent(yes)
    with RunFolder.create(path, settings, text) as folder:
        _go_on(folder, client, plan, output)


@app.command("resume")
def resume_command(
    folder: Annotated[Path, typer.Argument(metavar="RUNDIR", help="A run folder.")],
    base_url: BaseUrl = None,
    model_command: Command = None,
    max_attempts: Attempts = None,
    max_tokens: Tokens = None,
    max_usd: Usd = None,
    max_minutes: Minutes = None,
    sandbox: Sandbox = "",
    output: Output = None,
    yes: Yes = False,
) -> None:
    """Go on with a run that was killed or whose budget ended; the budget counts from the run's beginning."""
    from generator.budget import Limits
    from generator.gates import lacking
    from generator.runfolder import RunFolder

    with RunFolder.open(folder, write=True) as record:
        settings = dict(record.settings)
        settings["base_url"] = base_url or settings["base_url"]
        settings["model_command"] = model_command or settings["model_command"]
        limits = Limits(**_last_limits(record))
        chosen = _limits(limits, max_attempts, max_tokens, max_usd, max_minutes)
        plan = _plan(settings, chosen)
        client = _client(settings)
        if (missing := lacking(sandbox or settings["sandbox"])) is not None:
            raise _Stop(missing, INCONCLUSIVE)
        _announce(client, plan, record.problem, folder)
        _consent(yes)
        record.append("resumed", limits=chosen, sandbox=sandbox or settings["sandbox"])
        _go_on(record, client, plan, output)


@app.command("replay")
def replay_command(
    folder: Annotated[Path, typer.Argument(metavar="RUNDIR", help="A run folder.")],
    sandbox: Sandbox = "",
) -> None:
    """Go through a run again from its log, without the network, and compare every step."""
    from generator import replay
    from generator.gates import judge_with, lacking
    from generator.runfolder import RunFolder

    settings = RunFolder.open(folder, write=False).settings
    if (missing := lacking(sandbox or settings["sandbox"])) is not None:
        raise _Stop(missing, INCONCLUSIVE)

    def judge(problem: Path) -> Any:
        # A cache of its own: nothing that an earlier run found out is believed.
        return judge_with(_gate_settings(settings, problem, sandbox, problem.parent / "cache"))

    replayed = replay.replay(folder, _plan(settings, settings["limits"]), judge, say=_say)
    for difference in replayed.differences:
        _say(f"differs: {difference}")
    if replayed.differences:
        raise _Stop(f"{folder}: the replay differs from the record", INCONCLUSIVE)
    typer.echo(f"{replayed.ending.status}: {replayed.ending.attempts} attempts replayed, all as recorded")
    raise typer.Exit(replayed.ending.exit)


def _go_on(folder: RunFolder, client: Client, plan: Plan, output: Path | None) -> NoReturn:
    from generator import loop
    from generator.gates import cache_folder, judge_with

    sandboxes = [e["sandbox"] for e in folder.events if e["event"] == "resumed"]
    sandbox = sandboxes[-1] if sandboxes else ""
    gates = _gate_settings(folder.settings, folder.path / "problem.py", sandbox, cache_folder())
    try:
        ending = loop.run(folder, client, judge_with(gates), plan, say=_say)
    except KeyboardInterrupt:
        raise _Stop(f"interrupted; go on with: generate-kernel resume {folder.path}", INTERRUPTED) from None
    _conclude(folder, ending, output)
    raise typer.Exit(ending.exit)


def _conclude(folder: RunFolder, ending: Ending, output: Path | None) -> None:
    place = f"  {folder.path / ending.candidate['file']}" if ending.candidate else ""
    why = "" if ending.status == "verified" else f" ({ending.reason})"
    typer.echo(f"{ending.status}{why} after {ending.attempts} attempts{place}")
    spent = ending.spent
    _say(
        f"spent: {spent.tokens} tokens, ${spent.usd:.4f}, {spent.seconds / 60:.1f} minutes; record: {folder.path}"
    )
    if output is not None and ending.status == "verified" and ending.candidate is not None:
        output.write_text(folder.load(ending.candidate), encoding="utf-8")


def _limits(
    old: Any, attempts: int | None, tokens: int | None, usd: str | None, minutes: float | None
) -> dict[str, Any]:
    from dataclasses import asdict, replace

    changed: dict[str, Any] = {"attempts": attempts, "tokens": tokens, "minutes": minutes}
    new = replace(old, **{k: v for k, v in changed.items() if v is not None})
    if usd is not None:
        if usd != "none" and re.fullmatch(r"\d+(\.\d+)?", usd) is None:
            raise _Stop(f"--max-usd {usd}: expected a number or none", USAGE)
        new = replace(new, usd=None if usd == "none" else float(usd))
    return asdict(new)


def _last_limits(record: RunFolder) -> dict[str, Any]:
    changed = [e["limits"] for e in record.events if e["event"] == "resumed"]
    limits: dict[str, Any] = changed[-1] if changed else record.settings["limits"]
    return limits


def _plan(settings: dict[str, Any], limits: dict[str, Any]) -> Plan:
    from generator.budget import Limits, parse_price, price_of
    from generator.loop import Plan

    try:
        price = parse_price(settings["price"]) if settings["price"] else None
    except ValueError as error:
        raise _Stop(str(error), USAGE) from error
    if price is None and settings["model_command"] is None:
        price = price_of(settings["model"])
        if price is None and limits["usd"] is not None:
            model = settings["model"]
            raise _Stop(
                f"no price is known for {model}: pass --price IN/OUT (US dollars per million tokens) or "
                "--max-usd none",
                USAGE,
            )
    return Plan(
        settings["model"],
        Limits(**limits),
        price,
        tuple(settings["policy"]["archs"]),
        settings["answer_tokens"],
    )


def _client(settings: dict[str, Any]) -> Client:
    if settings["model_command"]:
        from generator.command_client import CommandClient

        return CommandClient(settings["model_command"])
    from generator.anthropic_client import AnthropicClient

    return AnthropicClient(base_url=settings["base_url"])


def _gate_settings(settings: dict[str, Any], problem: Path, sandbox: str, cache: Path) -> Any:
    from generator.gates import GateSettings

    return GateSettings(
        policy=settings["policy"],
        problem=problem,
        seconds=settings["gate_seconds"],
        seed=settings["seed"],
        effort=settings["effort"],
        sandbox=sandbox or settings["sandbox"],
        cache=cache,
    )


def _announce(client: Client, plan: Plan, problem: str, path: Path) -> None:
    """Model, estimated cost, budget, and what leaves the machine."""
    from generator import prompt
    from generator.budget import cost, worst_prompt_tokens, worst_usage

    limits = plan.limits
    size = len((prompt.system() + prompt.problem(problem, plan.archs)).encode())
    if plan.price is None:
        money = (
            "unknown; only what the program itself reports counts" if limits.usd is not None else "unknown"
        )
    else:
        one = cost(worst_usage(size, plan.answer_tokens), plan.price)
        total = one * limits.attempts if limits.usd is None else min(one * limits.attempts, limits.usd)
        money = f"at most ${one:.2f} for the first attempt, at most ${total:.2f} for the run"
    budget = [f"{limits.attempts} attempts"]
    budget += [f"{limits.tokens} tokens"] if limits.tokens is not None else []
    budget += [f"${limits.usd:g}"] if limits.usd is not None else ["no limit of money"]
    budget += [f"{limits.minutes:g} minutes"] if limits.minutes is not None else []
    _say(f"model:   {plan.model} at {client.destination}")
    _say(
        f"cost:    {money} (about {worst_prompt_tokens(size)} tokens in, up to {plan.answer_tokens} out, an attempt)"
    )
    _say(f"budget:  {', '.join(budget)}")
    _say(
        f"sent:    the problem file ({len(problem.encode())} bytes), our instructions, and after a failed attempt the "
        "model's own file (comments and strings removed) with the gates' report; nothing else"
    )
    _say(f"record:  {path}")


def _consent(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise _Stop("nothing was sent: pass --yes to start without a terminal", USAGE)
    try:
        agreed = typer.confirm("Start?", err=True)
    except typer.Abort:
        agreed = False
    if not agreed:
        raise _Stop("nothing was sent", USAGE)


def _say(line: str) -> None:
    typer.echo(line, err=True)


def main() -> None:
    """The console script."""
    from generator.model import ModelError
    from generator.runfolder import RunFolderError

    try:
        app(standalone_mode=True, prog_name="generate-kernel")
    except _Stop as stop:
        _say(f"generate-kernel: {stop}")
        raise SystemExit(stop.status) from None
    except (RunFolderError, ModelError) as error:
        _say(f"generate-kernel: {error}")
        raise SystemExit(USAGE) from None
    except Exception as error:
        _say(f"generate-kernel: internal error: {type(error).__name__}: {' '.join(str(error).split())[:300]}")
        raise SystemExit(INTERNAL) from None


if __name__ == "__main__":
    main()
