"""The command line: arguments in, exit status out. ``audit`` is the default subcommand.

Only typer is imported here; everything else where it is used, so that ``--help`` answers at once.

Example::

    verify-kernel saxpy.cu
    verify-kernel --format json --output report.json kernels/
    verify-kernel explain race-shared
"""

from __future__ import annotations

import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from specs.policy import Policy
    from verifier.pipeline import Options

PACKAGES = ("specs", "verifier", "sanitizers", "fuzz", "generator")
GATES = ("static", "prove", "sanitize", "fuzz")
_OWN = ("-h", "--help", "--version", "--install-completion", "--show-completion")


class Format(StrEnum):
    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"


class Effort(StrEnum):
    LOW = "low"
    DEFAULT = "default"
    HIGH = "high"


class BackendChoice(StrEnum):
    SIM = "sim"
    GPU = "gpu"
    BOTH = "both"


class SandboxChoice(StrEnum):
    AUTO = "auto"
    BWRAP = "bwrap"
    LANDLOCK = "landlock"
    NONE = "none"


class DefaultAudit(TyperGroup):
    """A group whose default subcommand is ``audit``; its help shows the options of ``audit`` too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in _OWN:
            late = [a for a in args if a in self.commands and not Path(a).exists()]
            if args[0].startswith("-") and late:
                ctx.fail(f"options come after the command: verify-kernel {late[0]} {args[0]} …")
            args = ["audit", *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] PATH...")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        audit_command = self.commands["audit"]
        with formatter.section("Options of an audit"):
            rows = [p.get_help_record(ctx) for p in audit_command.params if p.param_type_name == "option"]
            formatter.write_dl([row for row in rows if row])
        self.format_commands(ctx, formatter)


app = typer.Typer(
    cls=DefaultAudit,
    help="May this CUDA kernel be merged? Proves, runs and fuzzes kernels; needs no GPU.",
    epilog="Exit status: 0 pass, 1 refuted, 2 bad input, 3 inconclusive, 4 internal error.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(shown: bool) -> None:
    if shown:
        from specs.version import VERSION

        typer.echo(f"verify-kernel {VERSION}")
        raise typer.Exit


@app.callback()
def _group(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Audit CUDA kernels."""


@app.command()
def audit(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files or folders.")],
    kernel: Annotated[str | None, typer.Option(metavar="NAME", help="Only this kernel.")] = None,
    contract: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Contract to use; typing it accepts its clauses.")
    ] = None,
    problem: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Problem file: shapes and the reference model.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(metavar="DOTTED", help="Reference op, e.g. torch.nn.functional.gelu.")
    ] = None,
    include: Annotated[
        list[Path] | None, typer.Option("-I", metavar="DIR", help="Folder of the submission's own headers.")
    ] = None,
    define: Annotated[
        list[str] | None, typer.Option("-D", metavar="NAME=VALUE", help="Macro of the build.")
    ] = None,
    root: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Includes may not leave this folder.")
    ] = None,
    host: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Another file with the host code.")
    ] = None,
    compile_commands: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Compilation database: -I and -D of each file.")
    ] = None,
    gates: Annotated[str, typer.Option(metavar="LIST", help=f"Which to run, of {','.join(GATES)}.")] = "",
    properties: Annotated[str, typer.Option(metavar="LIST", help="Which to prove; see list-checks.")] = "",
    arch: Annotated[str, typer.Option(metavar="LIST", help="Target architectures, e.g. sm_80,sm_90.")] = "",
    policy: Annotated[Path | None, typer.Option(metavar="FILE", help="Policy to use.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="The policy strict, with its defaults.")] = False,
    benign_same_value: Annotated[
        bool, typer.Option("--benign-same-value", help="Stores of provably equal values are no race.")
    ] = False,
    assume_pure_externs: Annotated[
        bool,
        typer.Option("--assume-pure-externs", help="Functions without a body only return a value (printed)."),
    ] = False,
    effort: Annotated[Effort, typer.Option(help="Scales the budgets.")] = Effort.DEFAULT,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=1, help="For each file.")] = 60.0,
    jobs: Annotated[int, typer.Option(metavar="N", min=0, help="Files at once; 0: what fits.")] = 0,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of everything that is drawn.")] = 0,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither read nor write the cache.")] = False,
    lock: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Accepted clauses [verify-kernel.lock].")
    ] = None,
    sandbox: Annotated[
        SandboxChoice, typer.Option(help="How submitted code is isolated.")
    ] = SandboxChoice.AUTO,
    backend: Annotated[
        BackendChoice | None, typer.Option(help="Where sanitize and fuzz run kernels [the policy's, sim].")
    ] = None,
    run_wrapper: Annotated[
        bool, typer.Option("--run-wrapper", help="Fuzz whole models: compile and run host code, sandboxed.")
    ] = False,
    format_: Annotated[Format, typer.Option("--format", help="Of the report.")] = Format.TEXT,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report here.")] = None,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the device text, IR and SMT queries here.")
    ] = None,
    keep_obligations: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write what is proved as SMT-LIB into this empty folder; see recheck."
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Show everything, tracebacks included.")
    ] = False,
) -> None:
    """Audit files and folders (the default)."""
    from verifier import run
    from verifier.pipeline import Options

    options = Options(
        policy=_policy(policy, strict, arch, benign_same_value, assume_pure_externs),
        kernel=kernel,
        contract=_existing(contract, "--contract"),
        problem=_existing(problem, "--problem"),
        reference=reference,
        include_dirs=tuple(include or ()),
        defines=_defines(define or []),
        root=root,
        host_files=tuple(host or ()),
        compile_commands=_existing(compile_commands, "--compile-commands"),
        lock=_lock(lock),
        gates=_listed(gates, "--gates", GATES),
        properties=_listed(properties, "--properties", _known_properties() if properties else ()),
        effort=effort.value,
        timeout=timeout,
        seed=seed,
        cache=None if no_cache else _cache_folder(),
        keep=keep,
        keep_obligations=keep_obligations,
        sandbox=sandbox.value,
        run_wrapper=run_wrapper,
        backend=backend.value if backend else None,
        verbose=verbose,
    )
    _say_what_is_missing(options)
    try:
        status = run.run(run.Request(tuple(paths), options, format_.value, output, jobs))
    except run.UsageError as error:
        _fail(str(error))
    raise typer.Exit(status)


@app.command()
def explain(id_: Annotated[str, typer.Argument(metavar="ID", help="Of a check, a rule or a gate.")]) -> None:
    """Show the page of a check, a rule or a gate."""
    from verifier.report import pages

    text = pages.page(id_)
    if text is None:
        _fail(f"no check, rule or gate {id_!r}{pages.suggestion(id_)}; verify-kernel list-checks lists them")
    typer.echo(text.rstrip())


@app.command("list-checks")
def list_checks() -> None:
    """List every check, rule and gate with its claim."""
    from verifier.report import pages

    for kind, entries in pages.index().items():
        typer.echo(f"{kind}")
        width = max(len(e.id) for e in entries)
        for entry in entries:
            typer.echo(f"  {entry.id.ljust(width)}  {entry.claim}")


@app.command()
def init(
    path: Annotated[Path | None, typer.Argument(metavar="FILE", help="The kernel file.")] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="[FILE's name].contract.toml")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a contract that is there.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of contract files, for editors.")
    ] = False,
    sandbox: Annotated[SandboxChoice, typer.Option()] = SandboxChoice.AUTO,
) -> None:
    """Draft the contract of a file, for you to review."""
    from verifier import commands

    if schema:
        typer.echo(commands.schema().rstrip())
        return
    if path is None:
        _fail("init needs a FILE, or --schema")
    _finish(commands.init(path, output, force, sandbox.value))


@app.command()
def accept(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The kernel file.")],
    reviewer: Annotated[str, typer.Option(metavar="NAME", help="Who read and accepts the contracts.")],
    lock: Annotated[Path, typer.Option(metavar="FILE", help="Where it is recorded.")] = Path(
        "verify-kernel.lock"
    ),
    sandbox: Annotated[SandboxChoice, typer.Option()] = SandboxChoice.AUTO,
) -> None:
    """Record that a person accepts the contracts that came with a file."""
    from verifier import commands

    _finish(commands.accept(path, lock, reviewer, sandbox.value))


@app.command()
def recheck(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What --keep-obligations wrote.")],
    solver: Annotated[
        str, typer.Option(metavar="NAME", help="cvc5, z3, or a program for SMT-LIB files.")
    ] = "cvc5",
    seconds: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="For each question.")] = 10.0,
    no_cores: Annotated[bool, typer.Option("--no-cores", help="Do not ask what each proof used.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show every obligation.")] = False,
) -> None:
    """Ask another solver what was proved: 1 if it contradicts, 3 if it leaves something open."""
    from verifier import commands

    status, text = commands.recheck(folder, solver, seconds, not no_cores, json_, verbose)
    typer.echo(text, err=status == 2)
    raise typer.Exit(status)


@app.command()
def doctor() -> None:
    """Say what this machine can check and what is missing, with the line that installs it."""
    from verifier import commands

    _finish(commands.doctor())


@app.command()
def replay(
    path: Annotated[Path, typer.Argument(metavar="FILE.json", help="A witness (--keep) or a JSON report.")],
    contract: Annotated[Path | None, typer.Option(metavar="FILE", help="As for the audit.")] = None,
    problem: Annotated[Path | None, typer.Option(metavar="FILE", help="As for the audit.")] = None,
    include: Annotated[list[Path] | None, typer.Option("-I", metavar="DIR")] = None,
    define: Annotated[list[str] | None, typer.Option("-D", metavar="NAME=VALUE")] = None,
    root: Annotated[Path | None, typer.Option(metavar="DIR")] = None,
    host: Annotated[list[Path] | None, typer.Option(metavar="FILE")] = None,
    backend: Annotated[BackendChoice, typer.Option(help="sim or gpu.")] = BackendChoice.SIM,
    tests: Annotated[Path | None, typer.Option(metavar="DIR", help="Write each as a test, too.")] = None,
    sandbox: Annotated[SandboxChoice, typer.Option()] = SandboxChoice.AUTO,
) -> None:
    """Run stored counterexamples again: 1 if a fault is still there, 0 if all are gone."""
    from verifier import commands, replays

    if backend is BackendChoice.BOTH:
        _fail("--backend: replay runs on one of them, sim or gpu")
    reading = replays.Reading(
        contract=_existing(contract, "--contract"),
        problem=_existing(problem, "--problem"),
        root=root,
        include_dirs=tuple(include or ()),
        defines=tuple(_defines(define or []).items()),
        host_files=tuple(host or ()),
        sandbox=sandbox.value,
        cache=_cache_folder(),
    )
    _finish(commands.replay(path, reading, "gpu" if backend is BackendChoice.GPU else "sim", tests))


def _finish(outcome: tuple[int, str]) -> NoReturn:
    status, text = outcome
    typer.echo(text, err=status != 0)
    raise typer.Exit(status)


def _fail(message: str) -> NoReturn:
    """Usage error: one line, exit 2."""
    typer.echo(f"verify-kernel: {message}", err=True)
    raise typer.Exit(2)


def _policy(path: Path | None, strict: bool, arch: str, same_value: bool, pure_externs: bool) -> Policy:
    """``--policy FILE``, else the policy of the folder that the command was started in, else the default."""
    from specs.policy import ARCHS, Policy, PolicyError, default_policy, find, load
    from specs.version import VERSION

    source = path or find(Path.cwd())
    try:
        policy = load(source) if source else default_policy()
    except PolicyError as error:
        _fail(str(error))
    changes: dict[str, Any] = {}
    if strict:
        changes |= {"name": "strict", "strict": True, "required_gates": GATES}
    if same_value:
        changes["benign_same_value"] = True
    if pure_externs:
        changes["pure_externs"] = True
    if arch:
        changes["archs"] = _listed(arch, "--arch", ARCHS)
    if policy.required_version not in (None, VERSION):
        _fail(f"{policy.origin} requires version {policy.required_version}; this is {VERSION}")
    return Policy.model_validate(policy.model_dump() | changes)


def _listed(text: str, option: str, known: tuple[str, ...]) -> tuple[str, ...]:
    items = tuple(item.strip() for item in text.split(",") if item.strip())
    for item in items:
        if item not in known:
            _fail(f"{option}: unknown {item!r}; known: {', '.join(known)}")
    return items


def _known_properties() -> tuple[str, ...]:
    from specs.policy import PROPERTIES

    return PROPERTIES


def _defines(items: list[str]) -> dict[str, str]:
    return {name: value or "1" for name, _, value in (item.partition("=") for item in items)}


def _existing(path: Path | None, option: str) -> Path | None:
    if path is not None and not path.exists():
        _fail(f"{option} {path}: no such file")
    return path


def _lock(path: Path | None) -> Path | None:
    """The lock file that was named, or the one of the current folder if it is there."""
    default = Path("verify-kernel.lock")
    return _existing(path, "--lock") or (default if default.is_file() else None)


def _cache_folder() -> Path:
    import os

    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "verify-kernel"


def _say_what_is_missing(options: Options) -> None:
    """One line on stderr before the run for each thing that this machine lacks."""
    from verifier import commands

    for text in commands.missing(options.sandbox):
        typer.echo(f"verify-kernel: {text}", err=True)


def _refuse_mixed_installation() -> None:
    """The import names are generic: refuse to start when they do not come from one folder."""
    from importlib.util import find_spec

    folders = {}
    for name in PACKAGES:
        spec = find_spec(name)
        folders[name] = str(Path(spec.origin).parents[1]) if spec and spec.origin else "nowhere"
    if len(set(folders.values())) != 1:
        where = ", ".join(f"{name} from {folder}" for name, folder in folders.items())
        sys.stderr.write(
            f"verify-kernel: its packages are mixed up ({where}); install it in its own environment\n"
        )
        raise SystemExit(4)


def main() -> None:
    """Entry point of ``verify-kernel``. An exception of ours is one line and exit 4."""
    if not sys.platform.startswith("linux"):
        sys.stderr.write(
            "verify-kernel runs on Linux; elsewhere use Docker: docker run --rm -v $PWD:/w -w /w python:3.12\n"
        )
        raise SystemExit(2)
    _refuse_mixed_installation()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="verify-kernel")
    except Exception as error:
        if "-v" in sys.argv or "--verbose" in sys.argv:
            raise
        text = " ".join(str(error).split())
        sys.stderr.write(
            f"verify-kernel: internal error: {type(error).__name__}: {text}; run again with -v\n"
        )
        raise SystemExit(4) from None
