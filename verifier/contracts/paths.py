"""All paths of a piece of host code, one :class:`~verifier.contracts.run.Run` each.

A path is followed from the start with the answers given so far; each question that it was the first to ask is a path to follow
later, with the other answer.

Example::

    found = explore(lambda run: execute(run, launcher))
    found.runs, found.complete, found.problems
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from verifier.contracts.run import Dead, Refused, Run

MAX_PATHS = 48


@dataclass(slots=True)
class Exploration:
    """All paths. ``complete`` is False when some were not followed."""

    runs: list[Run] = field(default_factory=list)
    complete: bool = True
    problems: list[str] = field(default_factory=list)


def explore(execute: Callable[[Run], None], *, max_paths: int = MAX_PATHS) -> Exploration:
    """Run ``execute`` over every path."""
    result = Exploration()
    todo: list[tuple[bool, ...]] = [()]
    steps = 0
    while todo:
        if len(result.runs) >= max_paths:
            result.complete = False
            result.problems.append(
                f"more than {max_paths} paths through the host code; the rest was not followed"
            )
            break
        script = todo.pop()
        run = Run(script)
        try:
            execute(run)
        except Dead:
            pass
        except Refused as refusal:
            result.complete = False
            result.problems.append(str(refusal))
        except (
            ArithmeticError,
            AssertionError,
            AttributeError,
            LookupError,
            RecursionError,
            TypeError,
            ValueError,
        ) as bug:
            result.complete = False
            result.problems.append(
                f"internal error while the host code was followed: {type(bug).__name__}: {bug}"
            )
        result.runs.append(run)
        steps += run.steps
        answers = tuple(a for a, _ in run.asked)
        for index in range(len(answers) - 1, len(script) - 1, -1):
            todo.append((*answers[:index], not answers[index]))
    return result
