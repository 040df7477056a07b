"""What may be in flight when: the moments at which an asynchronous copy is recorded."""

from __future__ import annotations

from specs.contract import Buffer, Contract, Launch
from tests.frontend.reading import read
from verifier.symex.execute import summarize

COPY = "__pipeline_memcpy_async(&s[t], &x[t], 4); "


def moments(body: str) -> list[str]:
    """The agents of the accesses to the shared array that the copies make, in their order."""
    text = f"__global__ void k(const float *x, float *y, int n) {{ __shared__ float s[64]; int t = threadIdx.x; {body} }}"
    (kernel,) = read(text).kernels
    buffers = tuple(Buffer(name, "f32", "64", ("64",), fresh=True, storage=name) for name in ("x", "y"))
    launch = Launch("k", (), ("1", "1", "1"), ("64", "1", "1"))
    made = summarize(kernel, Contract("k", (), launch, (), buffers, (), (), "stated"), cap=1 << 20)
    assert made.gaps == []
    return [a.agent for a in made.accesses if a.obj.name == "s" and a.kind == "write"]


def test_a_copy_ends_where_its_group_is_waited_for() -> None:
    assert moments(COPY + "__pipeline_commit(); __pipeline_wait_prior(0);") == ["engine", "thread"]


def test_a_copy_may_take_place_after_every_barrier_until_then() -> None:
    body = (
        COPY
        + "__pipeline_commit(); __syncthreads(); __syncthreads(); __pipeline_wait_prior(0); __syncthreads();"
    )
    assert moments(body) == ["engine", "engine", "engine", "thread"]


def test_a_group_that_is_not_ended_is_not_waited_for() -> None:
    assert moments(COPY + "__pipeline_wait_prior(0); __syncthreads();") == ["engine", "engine"]


def test_a_wait_leaves_the_latest_groups() -> None:
    two = COPY + "__pipeline_commit(); " + COPY + "__pipeline_commit(); __pipeline_wait_prior(1);"
    assert moments(two) == ["engine", "engine", "thread"]


def test_paths_that_differ_in_their_groups_end_none_but_all() -> None:
    two = COPY + "__pipeline_commit(); if (n > 3) __pipeline_commit(); "
    assert moments(two + "__pipeline_wait_prior(1);") == ["engine"]
    assert moments(two + "__pipeline_wait_prior(0);") == ["engine", "thread"]


def test_a_wait_on_one_path_leaves_the_copy_in_flight_on_the_other() -> None:
    body = COPY + "__pipeline_commit(); if (n > 3) __pipeline_wait_prior(0); __syncthreads();"
    assert moments(body) == ["engine", "thread", "engine"]


LOOP = "for (int k = 0; k < n; k++) { %s }"


def test_copies_of_a_loop_are_carried_to_its_next_round() -> None:
    body = (
        COPY
        + "__pipeline_commit(); "
        + LOOP % ("__pipeline_wait_prior(0); __syncthreads(); " + COPY + "__pipeline_commit();")
    )
    # started before and in the loop; ended in the round for what came before the loop, and for what the round before left
    assert sorted(moments(body)) == ["engine", "engine", "thread", "thread"]


def test_copies_that_a_round_may_not_wait_for_are_open() -> None:
    wait = "if (k > 3) __pipeline_wait_prior(0); __syncthreads(); "
    body = COPY + "__pipeline_commit(); " + LOOP % (wait + COPY + "__pipeline_commit();")
    assert moments(body).count("async") == 2
    early = LOOP % (COPY + "__pipeline_commit(); if (x[k] > 0.0f) return; __pipeline_wait_prior(1);")
    assert "async" in moments(early)


def test_copies_of_a_plain_loop_are_waited_for_after_it() -> None:
    assert moments(LOOP % COPY + "__pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();") == [
        "engine",
        "thread",
    ]


def test_a_round_may_leave_what_it_started_in_flight() -> None:
    body = COPY + "__pipeline_commit(); " + LOOP % (COPY + "__pipeline_commit(); __pipeline_wait_prior(1);")
    assert "async" not in moments(body + " __pipeline_wait_prior(0);")
    late = COPY + "__pipeline_commit(); " + LOOP % (COPY + "__pipeline_wait_prior(1); __pipeline_commit();")
    assert "async" in moments(late + " __pipeline_wait_prior(0);")
