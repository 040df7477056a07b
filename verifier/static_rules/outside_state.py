"""What forward computes depends on its arguments alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from specs.results import Severity
from verifier.source.declarations import Declaration
from verifier.source.reading import Reading, Word
from verifier.source.wrapper import Function, Wrapper
from verifier.static_rules.hit import Hit, calls

ID = "outside-state"
SEVERITY = Severity.ERROR
SUMMARY = "what forward computes depends on its arguments alone"
WHY = "The time, chance, the environment and the number of calls so far tell a check from the use that follows it."
FIX = "remove it; what the kernel needs to know are its arguments"
SWITCHABLE = True
_MODULES = (
    *("time.", "random.", "datetime.", "platform.", "uuid.", "secrets.", "numpy.random.", "resource."),
    *(
        "os.environ",
        "os.getenv",
        "os.getpid",
        "os.getppid",
        "os.uname",
        "os.getlogin",
        "os.getcwd",
        "os.stat",
    ),
    *("os.urandom", "os.times", "socket.gethostname", "getpass.", "itertools.count"),
    *("torch.cuda.get_device_name", "torch.cuda.memory_", "torch.cuda.max_memory", "torch.initial_seed"),
)
_CHANCE = ("torch.rand", "torch.bernoulli", "torch.normal", "torch.multinomial")
_HOST = frozenset(
    """
    rand random rand_r drand48 lrand48 random_device time clock gettimeofday clock_gettime getenv secure_getenv getpid
    getppid gethostname uname getcwd getrandom getentropy times getrusage
    """.split()
)
_NUMBERS = frozenset(
    """
    int long short unsigned signed size_t bool char float double int32_t int64_t uint32_t uint64_t uint8_t int8_t int16_t
    uint16_t ssize_t ptrdiff_t atomic atomic_int atomic_bool auto
    """.split()
)


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    if wrapper is None or wrapper.forward is None:
        return
    for function in wrapper.running:
        if function.name != "__init__":
            yield from _python(wrapper, function)
    shared = {d.names[0][0] for d, _ in reading.globals if d.names and _number(d)}
    for body in (f.body for f in reading.host_functions if not f.device and not f.kernel):
        for word in calls(body, _HOST):
            yield Hit(word.span, f"host code calls {word.text}")
        yield from (Hit(w.span, "host code reads a clock") for w in body if w.text == "chrono")
        yield from _counted(body)
        for index, word in enumerate(body):
            if word.text in shared and _changed(body, index):
                yield Hit(word.span, f"{word.text} counts the calls")


def _python(wrapper: Wrapper, function: Function) -> Iterator[Hit]:
    tests = [n.test for n in ast.walk(function) if isinstance(n, ast.If | ast.IfExp | ast.While | ast.Assert)]
    tested = {id(part) for test in tests for part in ast.walk(test)}
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute | ast.Name):
            name = wrapper.name(node)
            if name.startswith(_MODULES) or (name.startswith(_CHANCE) and id(node) in tested):
                yield Hit(wrapper.span(node), f"{name} is not among forward's arguments")
    named = {id(t): t.id for t in ast.walk(function) if isinstance(t, ast.Name)}
    steered = {named[i] for i in tested if i in named}
    for node in ast.walk(function):  # n = self.calls; if n > 5
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id in steered for t in node.targets
        ):
            tested |= {id(part) for part in ast.walk(node.value)}
    places = {
        part.attr if isinstance(part, ast.Attribute) else part.id
        for part in ast.walk(function)
        if id(part) in tested and isinstance(part, ast.Attribute | ast.Name)
    }
    outer = {n for s in ast.walk(function) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
    for node in ast.walk(function):
        match node:
            case ast.AugAssign(target=ast.Attribute(attr=name)) if name in places:
                yield Hit(wrapper.span(node), f"{name} counts the calls, and a condition looks at it")
            case ast.AugAssign(target=ast.Name(id=name)) if name in places & outer:
                yield Hit(wrapper.span(node), f"{name} counts the calls, and a condition looks at it")
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.BinOp() as value) if (
                name in places and name in {a.attr for a in ast.walk(value) if isinstance(a, ast.Attribute)}
            ):
                yield Hit(wrapper.span(node), f"{name} counts the calls, and a condition looks at it")
            case _:
                pass


def _counted(body: Sequence[Word]) -> Iterator[Hit]:
    """``static int calls = 0; … ++calls``."""
    for i, word in enumerate(body):
        if word.text not in ("static", "thread_local"):
            continue
        end = next((j for j in range(i, len(body)) if body[j].text in ("=", ";", "{", "(")), len(body))
        words = [w.text for w in body[i:end]]
        if not _NUMBERS.intersection(words) or {"const", "constexpr"} & set(words):
            continue
        name = words[-1]
        for index in range(end, len(body)):
            if body[index].text == name and _changed(body, index):
                yield Hit(body[index].span, f"{name} counts the calls")
                break


def _changed(body: Sequence[Word], index: int) -> bool:
    before = "".join(w.text for w in body[max(0, index - 2) : index])
    after = "".join(w.text for w in body[index + 1 : index + 3])
    return before.endswith(("++", "--")) or after.startswith(("++", "--", "+=", "-=", "^="))


def _number(declaration: Declaration) -> bool:
    constant = {"const", "constexpr"} & {*declaration.specifiers}
    return declaration.kind == "variable" and not declaration.device and not constant
