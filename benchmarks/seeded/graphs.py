"""Walks over a graph in compressed rows: six patterns, three ways to share the work, five kinds of fault.

A thread, a warp or a block takes a vertex. Faults: an update that is no atomic, a bound that is one too far, a test that
reads what others update, a missing barrier, a result that several threads write.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from benchmarks.seeded.model import Family

VERTICES = 45


def _graph() -> dict[str, tuple[int, ...]]:
    """Every vertex has neighbours, one has many, and many share a neighbour."""
    rng = random.Random(5)
    row, col = [0], []
    for vertex in range(VERTICES):
        degree = 70 if vertex == 7 else rng.randint(1, 5)
        col += [rng.randrange(VERTICES) if k else (vertex + 1) % 9 for k in range(degree)]
        row.append(len(col))
    data = list(range(VERTICES))
    rng.shuffle(data)
    return {"row": tuple(row), "col": tuple(col), "data": tuple(data)}


GRAPH = _graph()
EDGES = len(GRAPH["col"])
_N, _M = f"row i32 {VERTICES + 1}", f"col i32 {EDGES}"
_DATA, _COUNT = f"data i32 {VERTICES}", f"n i32= {VERTICES}"
RACE, SHARED, BOUNDS = "race-global", "race-shared", "bounds-global"

# Which vertex, and which of its edges, is whose.
THREADS = {
    "vertices": "for (int v = blockIdx.x * blockDim.x + threadIdx.x; v @below@ n; v += gridDim.x * blockDim.x)",
    "edges": "for (int j = row[v]; j @until@ row[v + 1]; j++)",
}
ONE_THREAD = {
    "vertices": "int v = blockIdx.x * blockDim.x + threadIdx.x;\n  if (v @below@ n)",
    "edges": "for (int j = row[v], last = row[v + 1]; j @until@ last; ++j)",
}
WARPS = {
    "vertices": "for (int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32; v @below@ n; v += gridDim.x * blockDim.x / 32)",
    "edges": "for (int j = row[v] + threadIdx.x % 32; j @until@ row[v + 1]; j += 32)",
}
BLOCKS = {
    "vertices": "for (int v = blockIdx.x; v @below@ n; v += gridDim.x)",
    "edges": "for (int j = row[v] + threadIdx.x; j @until@ row[v + 1]; j += blockDim.x)",
}
_WALKS = {"thread": ONE_THREAD, "persistent": THREADS, "warp": WARPS, "block": BLOCKS}


def _walk(walk: Mapping[str, str], body: str) -> str:
    return f"{walk['vertices']} {{\n{body}\n  }}"


def _slots(walk: Mapping[str, str], **more: str) -> dict[str, str]:
    return {"below": "<", "until": "<", "walk": walk["edges"], **more}


def push(kind: str) -> Family:
    """Each vertex sends its value to its neighbours."""
    walk = _WALKS[kind]
    body = "    @walk@ {\n      int u = col[j], mine = data[v];\n      @send@\n    }"
    return Family(
        f"push-{kind}",
        f"__global__ void push(const int* row, const int* col, const int* data, int* best, int n) {{\n  {_walk(walk, body)}\n}}",
        (_N, _M, _DATA, f"best i32 {VERTICES}", _COUNT),
        _slots(walk, send="atomicMax(&best[u], mine);"),
        good={
            "sum": {"send": "atomicAdd(best + u, mine);"},
            "compare-and-swap": {
                "send": "int seen = atomicAdd(&best[u], 0);\n      while (seen < mine) {\n"
                "        int was = atomicCAS(&best[u], seen, mine);\n        if (was == seen) break;\n"
                "        seen = was;\n      }"
            },
        },
        bad={
            "atomic": (RACE, {"send": "best[u] = max(best[u], mine);"}),
            "guard": (RACE, {"send": "if (best[u] < mine) atomicMax(&best[u], mine);"}),
            "race": (RACE, {"send": "best[u] = mine;"}),
            "bounds-vertex": (BOUNDS, {"below": "<="}),
            "bounds-edge": (BOUNDS, {"until": "<="}),
        },
        grid=3 if kind != "block" else 5,
        block=64 if kind != "thread" else 32,
        inputs=GRAPH,
    )


def pull(kind: str) -> Family:
    """Each vertex takes the largest value of its neighbours; a warp or a block reduces in shared memory."""
    walk = _WALKS[kind]
    shared = kind in ("warp", "block")
    width = "32" if kind == "warp" else "blockDim.x"
    meet = "__syncwarp();" if kind == "warp" else "__syncthreads();"
    body = "    int most = -1;\n    @walk@ most = max(most, @from@);\n"
    slots = _slots(walk, **{"from": "data[col[j]]", "to": "out[v]"})
    if shared:
        body += (
            "    int lane = threadIdx.x % @width@;\n    s[threadIdx.x] = most;\n    @stored@\n"
            "    for (int d = @width@ / 2; d > 0; d /= 2) {\n"
            "      if (lane < d) s[threadIdx.x] = max(s[threadIdx.x], s[threadIdx.x + d]);\n      @step@\n    }\n"
            "    if (lane == @width@ - 1) @to@ = s[threadIdx.x - lane];\n    @again@"
        )
        slots |= {"width": width, "stored": meet, "step": meet, "again": meet}
    else:
        body += "    @to@ = most;"
    bad: dict[str, tuple[str, dict[str, str]]] = {
        "bounds-vertex": (BOUNDS, {"below": "<="}),
        "bounds-edge": (BOUNDS, {"until": "<="}),
        "in-place": (RACE, {"to": "data[v]"}),
        "race": (RACE, {"to": "out[col[row[v]]]"}),
    }
    if shared:
        bad |= {
            "sync-after-store": (SHARED, {"stored": ""}),
            "sync-in-tree": (SHARED, {"step": ""}),
            "sync-before-reuse": (SHARED, {"again": ""}),
        }
        if kind == "warp":
            bad["sync-fence-only"] = (SHARED, {"step": "__threadfence_block();"})
        else:
            bad["sync-of-a-warp-only"] = (SHARED, {"step": "__syncwarp();"})
    head = "\n  __shared__ int s[128];" if shared else ""
    return Family(
        f"pull-{kind}",
        f"__global__ void pull(const int* row, const int* col, int* data, int* out, int n) {{{head}\n  {_walk(walk, body)}\n}}",
        (_N, _M, _DATA, f"out i32 {VERTICES} empty", _COUNT),
        slots,
        good={"degree": {"from": "j - row[v]"}},
        bad=bad,
        grid=3 if kind != "block" else 5,
        block={"thread": 32, "block": 128}.get(kind, 64),
        inputs=GRAPH,
    )


def count_edges(kind: str) -> Family:
    """How many edges go upwards: a counter in shared memory, then one for all blocks."""
    walk = _WALKS[kind]
    body = "    @walk@ {\n      if (v < col[j]) @add@\n    }"
    return Family(
        f"count-edges-{kind}",
        "__global__ void count(const int* row, const int* col, int* total, int n) {\n  __shared__ int here;\n"
        "  if (threadIdx.x == 0) here = 0;\n  @ready@\n  " + _walk(walk, body) + "\n  @done@\n"
        "  if (threadIdx.x == 0) @give@\n}",
        (_N, _M, "total i32 1", _COUNT),
        _slots(
            walk,
            ready="__syncthreads();",
            done="__syncthreads();",
            add="atomicAdd(&here, 1);",
            give="atomicAdd(total, here);",
        ),
        bad={
            "atomic-shared": (SHARED, {"add": "here++;"}),
            "atomic-global": (RACE, {"give": "*total += here;"}),
            "sync-before": (SHARED, {"ready": ""}),
            "sync-after": (SHARED, {"done": ""}),
            "bounds-edge": (BOUNDS, {"until": "<="}),
        },
        grid=3,
        block=64,
        inputs=GRAPH,
    )


def worklist(kind: str) -> Family:
    """Vertices with a large value are put on a list, each once."""
    walk = _WALKS[kind]
    body = (
        "    @walk@ {\n      int u = col[j];\n      if (data[u] > 9 && @first@) {\n        int at = @take@;\n"
        "        list[at] = u;\n      }\n    }"
    )
    return Family(
        f"worklist-{kind}",
        "__global__ void fill(const int* row, const int* col, const int* data, int* seen, int* size, int* list, int n) {\n  "
        + _walk(walk, body)
        + "\n}",
        (_N, _M, _DATA, f"seen i32 {VERTICES}", "size i32 1", f"list i32 {VERTICES} empty", _COUNT),
        _slots(walk, first="atomicExch(&seen[u], 1) == 0", take="atomicAdd(size, 1)"),
        good={"compare-and-swap": {"first": "atomicCAS(&seen[u], 0, 1) == 0"}},
        bad={
            "atomic": (RACE, {"take": "(*size)++"}),
            "guard": (RACE, {"first": "seen[u] == 0 && atomicExch(&seen[u], 1) == 0"}),
            "race": (RACE, {"take": "u % 7"}),
            "bounds-list": (BOUNDS, {"first": "true"}),
            "bounds-vertex": (BOUNDS, {"below": "<="}),
        },
        grid=3,
        block=64,
        inputs=GRAPH,
    )


def components(kind: str) -> Family:
    """Each edge joins two sets; parents are only read and written by atomics."""
    walk = _WALKS[kind]
    read = "atomicAdd(&parent[x], 0)"
    body = (
        "    @walk@ {\n      int a = v, b = col[j];\n      for (;;) {\n        a = root(parent, a);\n"
        "        b = root(parent, b);\n"
        "        if (a == b) break;\n        if (a < b) { int t = a; a = b; b = t; }\n        @join@\n      }\n    }"
    )
    return Family(
        f"components-{kind}",
        "__device__ int root(int* parent, int x) {\n  int p = @read@;\n  while (p != x) {\n"
        "    @shorten@\n    x = p;\n    p = @read@;\n  }\n  return x;\n}\n"
        "__global__ void join(const int* row, const int* col, int* parent, int n) {\n  "
        + _walk(walk, body)
        + "\n}",
        (_N, _M, f"parent i32 {VERTICES}", _COUNT),
        _slots(walk, read=read, shorten="", join="if (atomicCAS(&parent[a], a, b) == a) break;"),
        good={"volatile": {"read": "*(volatile int*)&parent[x]"}},
        bad={
            "guard": (RACE, {"read": "parent[x]"}),
            "atomic": (RACE, {"join": "if (parent[a] == a) { parent[a] = b; break; }"}),
            "race": (RACE, {"shorten": "parent[x] = atomicAdd(&parent[p], 0);"}),
            "bounds-vertex": (BOUNDS, {"below": "<="}),
            "bounds-edge": (BOUNDS, {"until": "<="}),
        },
        grid=2,
        block=64,
        inputs=GRAPH | {"parent": tuple(range(VERTICES))},
    )


def vertices(kind: str) -> Family:
    """The largest value of the vertices of low degree."""
    walk = _WALKS[kind]
    body = "    if (row[v + 1] - row[v] < 4) {\n      @update@\n    }"
    return Family(
        f"vertices-{kind}",
        f"__global__ void largest(const int* row, const int* data, int* top, int* where, int n) {{\n  {_walk(walk, body)}\n}}",
        (_N, _DATA, "top i32 1", "where i32 1", _COUNT),
        {"below": "<", "update": "atomicMax(top, data[v]);"},
        good={"count": {"update": "if (data[v] > 5) atomicAdd(where, 1);"}},
        bad={
            "atomic": (RACE, {"update": "if (*top < data[v]) *top = data[v];"}),
            "guard": (RACE, {"update": "if (top[0] < data[v]) atomicMax(top, data[v]);"}),
            "race": (RACE, {"update": "if (atomicMax(top, data[v]) < data[v]) *where = v;"}),
            "bounds-vertex": (BOUNDS, {"below": "<="}),
        },
        grid=3,
        block=32,
        inputs=GRAPH,
    )


GRAPHS = (
    *(push(kind) for kind in ("thread", "persistent", "warp", "block")),
    *(pull(kind) for kind in ("thread", "persistent", "warp", "block")),
    *(count_edges(kind) for kind in ("persistent", "warp", "block")),
    *(worklist(kind) for kind in ("thread", "warp", "block")),
    *(components(kind) for kind in ("persistent", "warp")),
    *(vertices(kind) for kind in ("thread", "persistent")),
)
