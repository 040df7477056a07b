"""Kernels whose threads order their accesses by hand: atomics, fences and their scopes; locks, flags, tickets, queues."""

from __future__ import annotations

from benchmarks.seeded.model import Family

_FENCE, _NARROW = "__threadfence();", "__threadfence_block();"
RACE = "race-global"

COUNTER = Family(
    "counter",
    """
__global__ void tally(const int* x, int* total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] >= 0) @add@
}
""",
    ("x i32 256", "total i32 4"),
    {"add": "atomicAdd(total, 1);"},
    good={
        "system-scope": {"add": "atomicAdd_system(total, 1);"},
        "block-scope-a-counter-a-block": {"add": "atomicAdd_block(total + blockIdx.x, 1);"},
    },
    bad={
        "block-scope": (RACE, {"add": "atomicAdd_block(total, 1);"}),
        "one-block-in-block-scope": (
            RACE,
            {"add": "{ if (blockIdx.x == 0) atomicAdd_block(total, 1); else atomicAdd(total, 1); }"},
        ),
        "no-atomic": (RACE, {"add": "total[0] += 1;"}),
        "counter-of-the-next-block": (
            RACE,
            {"add": "atomicAdd_block(total + (blockIdx.x + threadIdx.x / 63) % gridDim.x, 1);"},
        ),
    },
)
MAXIMUM = Family(
    "maximum",
    """
__global__ void maximum(const int* x, int* best) {
  __shared__ int mine;
  if (threadIdx.x == 0) mine = 0;
  @ready@
  int v = x[blockIdx.x * blockDim.x + threadIdx.x];
  @inner@
  @done@
  if (threadIdx.x == 0) @outer@(best, mine);
}
""",
    ("x i32 256", "best i32 1"),
    {
        "ready": "__syncthreads();",
        "inner": "atomicMax(&mine, v);",
        "done": "__syncthreads();",
        "outer": "atomicMax",
    },
    good={"block-scope-inside": {"inner": "atomicMax_block(&mine, v);"}},
    bad={
        "outer-in-block-scope": (RACE, {"outer": "atomicMax_block"}),
        "no-barrier-before": ("race-shared", {"ready": ""}),
        "no-barrier-after": ("race-shared", {"done": ""}),
        "warp-barrier-before": ("race-shared", {"ready": "__syncwarp();"}),
        "inner-plain": ("race-shared", {"inner": "if (mine < v) mine = v;"}),
    },
    inputs={"x": tuple((i * 37) % 101 for i in range(256))},
)

FLAG = Family(
    "flag-between-blocks",
    """
__global__ void message(@flag_type@ flag, int* data, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    @write@
    @before@
    @set@
  } else if (blockIdx.x == 1) {
    @wait@
    @after@
    y[0] = data[0];
  }
}
""",
    ("flag i32 1", "data i32 1 empty", "y i32 1 empty"),
    {
        "flag_type": "int*",
        "write": "data[0] = 42;",
        "before": _FENCE,
        "set": "atomicExch(flag, 1);",
        "wait": "while (atomicAdd(flag, 0) == 0) {}",
        "after": _FENCE,
    },
    good={
        "volatile": {"flag_type": "volatile int*", "set": "*flag = 1;", "wait": "while (*flag == 0) {}"},
        "system-scope": {
            "before": "__threadfence_system();",
            "set": "atomicExch_system(flag, 1);",
            "after": "__threadfence_system();",
        },
        "compare-and-swap": {
            "set": "atomicCAS(flag, 0, 1);",
            "wait": "while (atomicCAS(flag, 1, 1) == 0) {}",
        },
    },
    bad={
        "no-fence-before": (RACE, {"before": ""}),
        "no-fence-after": (RACE, {"after": ""}),
        "no-fences": (RACE, {"before": "", "after": ""}),
        "block-fence-before": (RACE, {"before": _NARROW}),
        "block-fence-after": (RACE, {"after": _NARROW}),
        "set-in-block-scope": (RACE, {"set": "atomicExch_block(flag, 1);"}),
        "wait-in-block-scope": (RACE, {"wait": "while (atomicAdd_block(flag, 0) == 0) {}"}),
        "set-plain": (RACE, {"set": "*flag = 1;"}),
        "volatile-no-fence-before": (
            RACE,
            {
                "flag_type": "volatile int*",
                "set": "*flag = 1;",
                "wait": "while (*flag == 0) {}",
                "before": "",
            },
        ),
        "volatile-block-fence-after": (
            RACE,
            {
                "flag_type": "volatile int*",
                "set": "*flag = 1;",
                "wait": "while (*flag == 0) {}",
                "after": _NARROW,
            },
        ),
        "no-wait": (RACE, {"wait": ""}),
        "set-before-data": (RACE, {"write": "atomicExch(flag, 1);", "set": "data[0] = 42;"}),
    },
    grid=2,
    block=32,
)

FLAG_IN_BLOCK = Family(
    "flag-between-warps",
    """
__global__ void relay(int* flags, int* data, int* y) {
  int* flag = flags + blockIdx.x;
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 7;
    @before@
    @set@(flag, 1);
  } else if (threadIdx.x == 32) {
    while (@poll@(flag, 0) == 0) {}
    @after@
    y[blockIdx.x] = data[blockIdx.x];
  }
}
""",
    ("flags i32 4", "data i32 4 empty", "y i32 4 empty"),
    {"before": _NARROW, "set": "atomicExch_block", "poll": "atomicAdd_block", "after": _NARROW},
    good={"device-scope": {"before": _FENCE, "set": "atomicExch", "poll": "atomicAdd", "after": _FENCE}},
    bad={
        "no-fence-before": (RACE, {"before": ""}),
        "no-fence-after": (RACE, {"after": ""}),
        "poll-of-the-next-block": (
            RACE,
            {
                "after": "flag = flags + (blockIdx.x + 1) % gridDim.x;\n"
                "    while (atomicAdd_block(flag, 0) == 0) {}\n    __threadfence_block();"
            },
        ),
    },
)

LOCK = Family(
    "spin-lock",
    """
__global__ void deposit(int* lock, int* account, const int* amount) {
  if (threadIdx.x == 0) {
    @acquire@
    @after@
    account[@which@] = account[@which@] + amount[blockIdx.x];
    @before@
    @release@
  }
}
""",
    ("lock i32 4", "account i32 4", "amount i32 4"),
    {
        "acquire": "while (atomicCAS(lock, 0, 1) != 0) {}",
        "after": _FENCE,
        "which": "0",
        "before": _FENCE,
        "release": "atomicExch(lock, 0);",
    },
    good={
        "exchange": {"acquire": "while (atomicExch(lock, 1) != 0) {}"},
        "volatile-release": {"release": "*(volatile int*)lock = 0;"},
        "a-lock-a-block-in-block-scope": {
            "acquire": "while (atomicCAS_block(lock + blockIdx.x, 0, 1) != 0) {}",
            "after": _NARROW,
            "which": "blockIdx.x",
            "before": _NARROW,
            "release": "atomicExch_block(lock + blockIdx.x, 0);",
        },
        "test-and-test-and-set": {
            "acquire": "while (*(volatile int*)lock != 0 || atomicCAS(lock, 0, 1) != 0) {}"
        },
    },
    bad={
        "no-lock": (RACE, {"acquire": "", "release": ""}),
        "no-fence-after-acquire": (RACE, {"after": ""}),
        "no-fence-before-release": (RACE, {"before": ""}),
        "no-fences": (RACE, {"after": "", "before": ""}),
        "block-fence-after-acquire": (RACE, {"after": _NARROW}),
        "block-fence-before-release": (RACE, {"before": _NARROW}),
        "acquire-in-block-scope": (RACE, {"acquire": "while (atomicCAS_block(lock, 0, 1) != 0) {}"}),
        "release-in-block-scope": (RACE, {"release": "atomicExch_block(lock, 0);"}),
        "release-plain": (RACE, {"release": "*lock = 0;"}),
        "another-lock": (
            RACE,
            {
                "acquire": "while (atomicCAS(lock + (blockIdx.x & 1), 0, 1) != 0) {}",
                "release": "atomicExch(lock + (blockIdx.x & 1), 0);",
            },
        ),
        "one-block-without-lock": (
            RACE,
            {
                "acquire": "if (blockIdx.x != 1) while (atomicCAS(lock, 0, 1) != 0) {}",
                "release": "if (blockIdx.x != 1) atomicExch(lock, 0);",
            },
        ),
        "never-released": ("termination", {"release": ""}),
    },
)

TICKET = Family(
    "ticket-lock",
    """
__global__ void serve(int* next, int* turn, int* log) {
  if (threadIdx.x == 0) {
    int mine = @draw@;
    while (@look@ != mine) {}
    @after@
    log[0] = log[0] * 3 + 1;
    @before@
    @pass@(turn, 1);
  }
}
""",
    ("next i32 1", "turn i32 1", "log i32 1"),
    {
        "draw": "atomicAdd(next, 1)",
        "look": "atomicAdd(turn, 0)",
        "after": _FENCE,
        "before": _FENCE,
        "pass": "atomicAdd",
    },
    good={"volatile": {"look": "*(volatile int*)turn"}},
    bad={
        "draw-in-block-scope": (RACE, {"draw": "atomicAdd_block(next, 1)"}),
        "pass-in-block-scope": (RACE, {"pass": "atomicAdd_block"}),
        "no-fence-before": (RACE, {"before": ""}),
        "no-fence-after": (RACE, {"after": ""}),
        "draw-plain": (RACE, {"draw": "(*next)++"}),
    },
)

LAST = Family(
    "last-block",
    """
__global__ void total(const int* x, int* part, unsigned int* done, int* y) {
  __shared__ int s[64];
  __shared__ bool last;
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    @step@
  }
  if (t == 0) {
    part[blockIdx.x] = s[0];
    @publish@
    last = @ticket@(done, gridDim.x) == gridDim.x - 1;
    @collect@
  }
  @told@
  if (last) {
    for (int b = t; b < gridDim.x; b += 64) atomicAdd(y, part[b]);
  }
}
""",
    ("x i32 256", "part i32 4 empty", "done u32 1", "y i32 1"),
    {
        "step": "__syncthreads();",
        "publish": _FENCE,
        "ticket": "atomicInc",
        "collect": _FENCE,
        "told": "__syncthreads();",
    },
    good={"barrier-then-read": {"collect": ""}},
    bad={
        "no-fence": (RACE, {"publish": ""}),
        "block-fence": (RACE, {"publish": _NARROW}),
        "ticket-in-block-scope": (RACE, {"ticket": "atomicInc_block"}),
        "no-barrier-in-tree": ("race-shared", {"step": ""}),
        "no-barrier-before-last": ("race-shared", {"told": ""}),
        "barrier-of-one-half": (
            "barrier-divergence",
            {"step": "if (t < 32) __syncthreads(); else __syncthreads();"},
        ),
    },
)

BARRIER = Family(
    "barrier-by-hand",
    """
__global__ void rounds(int* arrived, int* cells, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  cells[i] = i;
  @all_fence@
  __syncthreads();
  if (threadIdx.x == 0) {
    @publish@
    @arrive@(arrived, 1);
    while (@look@ < @count@) {}
    @collect@
  }
  @leave@
  y[i] = cells[(i + 33) % n];
}
""",
    ("arrived i32 1", "cells i32 128 empty", "y i32 128 empty"),
    {
        "all_fence": "",
        "publish": _FENCE,
        "arrive": "atomicAdd",
        "look": "atomicAdd(arrived, 0)",
        "count": "gridDim.x",
        "collect": _FENCE,
        "leave": "__syncthreads();",
    },
    good={
        "volatile": {"look": "*(volatile int*)arrived"},
        "every-thread-fences": {"all_fence": _FENCE, "publish": ""},
    },
    bad={
        "no-fence-before": (RACE, {"publish": ""}),
        "block-fence-before": (RACE, {"publish": _NARROW}),
        "arrive-in-block-scope": (RACE, {"arrive": "atomicAdd_block"}),
        "no-wait": (RACE, {"count": "1"}),
        "no-barrier-after": (RACE, {"leave": ""}),
        "one-too-many": ("termination", {"count": "gridDim.x + 1"}),
    },
    block=32,
)

CHAIN = Family(
    "chained-scan",
    """
__global__ void scan(int* x, int* state, int* carry) {
  __shared__ int before;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    int sum = 0;
    if (blockIdx.x > 0) {
      while (@look@ == 0) {}
      @after@
      sum = carry[blockIdx.x - 1];
    }
    before = sum;
    carry[blockIdx.x] = sum + 1;
    @publish@
    @set@(state + blockIdx.x, 1);
  }
  @share@
  x[i] += before;
}
""",
    ("x i32 128", "state i32 4", "carry i32 4 empty"),
    {
        "look": "atomicAdd(state + blockIdx.x - 1, 0)",
        "after": _FENCE,
        "publish": _FENCE,
        "set": "atomicExch",
        "share": "__syncthreads();",
    },
    good={"volatile": {"look": "((volatile int*)state)[blockIdx.x - 1]"}},
    bad={
        "no-fence-at-the-writer": (RACE, {"publish": ""}),
        "block-fence-at-the-reader": (RACE, {"after": _NARROW}),
        "set-in-block-scope": (RACE, {"set": "atomicExch_block"}),
        "no-wait": (RACE, {"look": "1"}),
        "no-barrier": ("race-shared", {"share": ""}),
        "wait-for-itself": ("termination", {"look": "atomicAdd(state + blockIdx.x, 0)"}),
    },
    block=32,
)

QUEUE = Family(
    "work-stealing",
    """
__global__ void work(const int* tasks, int* head, int* y) {
  __shared__ int slot;
  for (int q = 0; q < gridDim.x; q++) {
    int owner = (blockIdx.x + q) % gridDim.x;
    for (;;) {
      if (threadIdx.x == 0) slot = @take@;
      __syncthreads();
      int k = slot;
      @again@
      if (k >= 4) break;
      if (threadIdx.x == 0) y[owner * 4 + k] = tasks[owner * 4 + k];
    }
  }
}
""",
    ("tasks i32 12", "head i32 3", "y i32 12 empty"),
    {"take": "atomicAdd(head + owner, 1)", "again": "__syncthreads();"},
    bad={
        "take-in-block-scope": (RACE, {"take": "atomicAdd_block(head + owner, 1)"}),
        "own-queue-in-block-scope": (
            RACE,
            {"take": "q == 0 ? atomicAdd_block(head + owner, 1) : atomicAdd(head + owner, 1)"},
        ),
        "take-plain": (RACE, {"take": "head[owner]++"}),
        "no-second-barrier": ("race-shared", {"again": ""}),
    },
    grid=3,
    block=32,
)

WARPS = Family(
    "warp-exchange",
    """
__global__ void pairs(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 64 + t];
  @meet@
  y[blockIdx.x * 64 + t] = s[@partner@] @more@;
}
""",
    ("x i32 256", "y i32 256 empty"),
    {"meet": "__syncwarp();", "partner": "t ^ 5", "more": ""},
    good={"block": {"meet": "__syncthreads();", "partner": "63 - t"}},
    bad={
        "no-warp-barrier": ("race-shared", {"meet": ""}),
        "partner-in-another-warp": ("race-shared", {"partner": "t ^ 32"}),
        "mask-without-the-partner": (
            "race-shared",
            {"meet": "if (t & 4) __syncwarp(0xf0f0f0f0u); else __syncwarp(0x0f0f0f0fu);", "partner": "t ^ 4"},
        ),
        "fence-for-a-barrier": ("race-shared", {"meet": _NARROW}),
        "mask-that-names-absent-lanes": (
            "barrier-divergence",
            {"meet": "if ((t & 31) < 16) __syncwarp(0xffffffffu);"},
        ),
        "shuffle-for-a-barrier": (
            "race-shared",
            {"more": "", "meet": "int other = __shfl_xor_sync(0xffffffffu, t, 5);", "partner": "other"},
        ),
    },
)

SCOPES = (
    COUNTER, MAXIMUM, FLAG, FLAG_IN_BLOCK, LOCK, TICKET, LAST, BARRIER, CHAIN, QUEUE, WARPS,
)  # fmt: skip
