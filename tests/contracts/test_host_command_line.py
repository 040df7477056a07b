"""Programs that read their command line through helpers with loops: one path each, and numbers that may be anything."""

from __future__ import annotations

import pytest

from specs.clauses import names
from specs.contract import Contract
from tests.contracts.lifting import KERNEL, lift

HELPERS = """
int skip(char c, const char *text) { int i = 0; while (text[i] == c) i++; return i; }
bool flag(int argc, const char **argv, const char *name) {
  bool found = false;
  for (int i = 1; i < argc; i++) {
    const char *word = &argv[i][skip('-', argv[i])]; const char *end = strchr(word, '=');
    if (strlen(name) == (end == 0 ? strlen(word) : end - word) && !strncmp(word, name, strlen(name))) { found = true; continue; } }
  return found; }
int number(const int argc, const char **argv, const char *name) {
  bool found = false; int value = -1;
  for (int i = 1; i < argc; i++) { const char *word = &argv[i][skip('-', argv[i])];
    if (!strncmp(word, name, strlen(name))) { value = atoi(&word[strlen(name) + 1]); found = true; } }
  if (found) return value;
  return 0; }
"""
MAIN = """
int main(int argc, char **argv) {{
  if (flag(argc, (const char **)argv, "help") || flag(argc, (const char **)argv, "?")) {{ printf("help"); exit(0); }}
  dim3 size(320, 64, 1); int n = 100;
  if (flag(argc, (const char **)argv, "w")) {{ size.x = number(argc, (const char **)argv, "w"); }}
  if (flag(argc, (const char **)argv, "h")) {{ size.y = number(argc, (const char **)argv, "h"); }}
  {more}
  float *x, *y; cudaMalloc(&x, size.x * size.y * 4); cudaMalloc(&y, size.x * size.y * 4);
  k<<<size.x / 32, 32>>>(x, y, {argument}); }}
"""


def program(more: str = "", argument: str = "size.x", before: str = "") -> tuple[list[Contract], list[str]]:
    found = lift(KERNEL + HELPERS + before + MAIN.format(more=more, argument=argument))
    return found.contracts, found.problems


def value(contract: Contract) -> str:
    return next(s.value or "" for s in contract.scalars if s.param == "n")


def test_sizes_of_the_command_line_are_any_numbers_on_one_path() -> None:
    (c,), problems = program()
    assert not problems and not c.gaps
    used = names(value(c))
    assert len(used) == 2 and used <= names(c.buffers[0].extent)  # whether there is one, and which
    bounds = {s.name: (s.low, s.high) for s in c.symbols}
    assert sorted(bounds[n] for n in used) == [(-(1 << 31), (1 << 31) - 1), (0, 1)]
    assert "320" in value(c) and "64" in c.buffers[0].extent


@pytest.mark.parametrize(
    ("before", "more", "argument"),
    [
        # a result that is no word of the command line
        ("int most(const int *h, int n) { int m = 0; for (int i = 0; i < n; i++) if (h[i] > m) m = h[i]; return m; }",
         "int h[2]; n = most(h, argc);", "n"),
        # what it is given may be another one afterwards
        ("int count(int argc, char **argv, int *n) { for (int i = 1; i < argc; i++) if (argv[i][0] == 'n') *n += i; return 3; }",
         "count(argc, argv, &n);", "n"),
        ("int count(int argc, char **argv, int &n) { for (int i = 1; i < argc; i++) if (argv[i][0] == 'n') n += i; return 3; }",
         "count(argc, argv, n);", "n"),
        ("struct S { int a; }; void set(int argc, char **argv, S *s) { for (int i = 1; i < argc; i++) if (argv[i][0]) s->a = i; }",
         "S s; s.a = 4; set(argc, argv, &s); n = s.a;", "n"),
        # dims of which another name is around
        ("void grow(dim3 *d, char **argv, int argc) { for (int i = 1; i < argc; i++) if (argv[i][0]) d->x += 1; }",
         "grow(&size, argv, argc); n = size.x;", "n"),
        ("", "dim3 *p = &size; if (flag(argc, (const char **)argv, \"q\")) p->x = number(argc, (const char **)argv, \"q\"); n = size.x;", "n"),
    ],
)  # fmt: skip
def test_what_such_a_helper_may_change_is_not_known(before: str, more: str, argument: str) -> None:
    contracts, problems = program(more, argument, before)
    assert contracts or problems
    for c in contracts:
        assert problems or c.gaps or names(value(c)), value(c)


def test_two_numbers_are_not_the_same_one() -> None:
    more = 'int m = number(argc, (const char **)argv, "m"); n = number(argc, (const char **)argv, "n") - m;'
    (c,), _ = program(more, "n")
    assert len(names(value(c))) == 2


def test_a_branch_sets_two_dims_to_one_number() -> None:
    more = 'if (flag(argc, (const char **)argv, "s")) { size.x = size.y = number(argc, (const char **)argv, "s"); }'
    (c,), problems = program(more, "size.x - size.y")
    assert not problems and (c.gaps or ("320" in value(c) and "64" in value(c)))


def test_a_helper_that_changes_a_global_or_launches_is_followed() -> None:
    before = "int total = 4; int add(int argc, char **argv) { for (int i = 1; i < argc; i++) if (argv[i][0]) total += i; return 0; }"
    contracts, problems = program("add(argc, argv);", "total", before)
    assert problems or all(c.gaps or names(value(c)) for c in contracts)
    before = "int go(int argc, char **argv, float *d) { for (int i = 1; i < argc; i++) if (argv[i][0]) k<<<1, 64>>>(d, d, 1); return 0; }"
    contracts, problems = program("float *z; cudaMalloc(&z, 4); go(argc, argv, z);", before=before)
    assert problems or any(c.launch.block[0] == "64" for c in contracts)
    before = "const char *strchr(const char *t, int c) { k<<<1, 64>>>(nullptr, nullptr, c); return t; }"
    found = lift(KERNEL + before + HELPERS + MAIN.format(more="", argument="n"))
    assert found.problems or any(c.launch.block[0] == "64" for c in found.contracts)


def test_terms_that_double_in_each_round_end_as_unknown() -> None:
    loop = "for (int i = 0; i < 60; i++) { if (argv[1][i] == 'x') n++; if (argv[1][i] == 'y') n += n; }"
    contracts, problems = program(loop, "n")
    assert problems or all(c.gaps for c in contracts)
    squares = "unsigned long v = argc; " + "v = v * v + v; " * 40
    contracts, problems = program(squares, "v")
    assert problems or all(c.gaps for c in contracts)
    nested = "int v = argc; " + "v = (v * 3) / 2; " * 90
    contracts, problems = program(nested, "v")
    assert problems or all(c.gaps for c in contracts)
