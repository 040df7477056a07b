"""All paths of a piece of host code, one :class:`~verifier.contracts.run.Run` each.

A path is followed from the start with the answers given so far; each question that it was the first to ask is a path to follow
later, with the other answer. A piece of code that a path can leave out (see ``loops``) is followed ``beside`` it, on copies.

Example::

    found = explore(lambda run: execute(run, launcher))
    found.runs, found.complete, found.problems
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from verifier.contracts.run import Dead, NotSimple, Refused, Run

MAX_PATHS = 48
MAX_TOTAL = 120_000
"""Steps on all paths."""
MAX_LAUNCHES = 1000


@dataclass(slots=True)
class Exploration:
    """All paths. ``complete`` is False when some were not followed."""

    max_paths: int = MAX_PATHS
    runs: list[Run] = field(default_factory=list)
    complete: bool = True
    problems: list[str] = field(default_factory=list)

    def follow(
        self,
        start: Callable[[tuple[bool, ...]], Run],
        execute: Callable[[Run], None],
        given: tuple[bool, ...] = (),
    ) -> None:
        """Every path that begins with the answers ``given``."""
        todo: list[tuple[bool, ...]] = [given]
        while todo:
            if spent := self._spent():
                self._missed(f"{spent} through the host code; the rest was not followed")
                break
            script = todo.pop()
            run = start(script)
            run.exploration = self
            try:
                execute(run)
            except Dead:
                pass
            except Refused as refusal:
                self._missed(str(refusal))
            except (
                ArithmeticError,
                AssertionError,
                AttributeError,
                LookupError,
                RecursionError,
                TypeError,
                ValueError,
            ) as bug:
                self._missed(f"internal error while the host code was followed: {type(bug).__name__}: {bug}")
            self.runs.append(run)
            answers = tuple(a for a, _ in run.asked)
            for index in range(len(answers) - 1, len(script) - 1, -1):
                todo.append((*answers[:index], not answers[index]))

    def _spent(self) -> str:
        """What there is too much of to go on."""
        if len(self.runs) >= self.max_paths:
            return f"more than {self.max_paths} paths"
        if sum(run.steps for run in self.runs) > MAX_TOTAL:
            return f"more than {MAX_TOTAL} steps on {len(self.runs)} paths"
        if sum(len(run.new_launches()) for run in self.runs) > MAX_LAUNCHES:
            return f"more than {MAX_LAUNCHES} launches on {len(self.runs)} paths"
        return ""

    def _missed(self, problem: str) -> None:
        self.complete = False
        if problem not in self.problems:
            self.problems.append(problem)


def explore(execute: Callable[[Run], None], *, max_paths: int = MAX_PATHS) -> Exploration:
    """Run ``execute`` over every path."""
    result = Exploration(max_paths)
    result.follow(Run, execute)
    return result


def beside(run: Run, execute: Callable[[Run], None]) -> None:
    """Every path through something that the path itself leaves out; each ends there. Once for each way to get here."""
    if run.speculative or run.exploration is None:
        raise NotSimple
    if len(run.asked) < len(run.script):  # an earlier path has been here with the same answers
        return
    run.exploration.follow(run.copied, execute, tuple(a for a, _ in run.asked))
