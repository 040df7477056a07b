"""Python files are read with ast alone; every source line knows its line in the file."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.source import NoKernel, SourceError, Submission
from verifier.source.python_file import read_builds
from verifier.source.tokens import LineMap

Read = Callable[..., Submission]
IMPORT = "from torch.utils.cpp_extension import load_inline\n"
K = "__global__ void k(int* p) { *p = 1; }"


def only(code: str) -> str:
    [build], problems = read_builds(textwrap.dedent(code), "op.py")
    assert not problems
    return "\n".join(n.source.text for n in build.cuda)


@pytest.mark.parametrize(
    "code",
    [
        f'm = load_inline(name="m", cpp_sources="", cuda_sources="{K}")',
        f'm = load_inline("m", "", "{K}")',
        f'm = load_inline("m", [""], ["{K}"])',
        f's = "{K}"\nm = cpp_extension.load_inline(name="m", cpp_sources=[], cuda_sources=s)',
        f's: str = "{K}"\nm = torch.utils.cpp_extension.load_inline(name="m", cpp_sources="", cuda_sources=[s])',
        'a = "__global__ void k(int* p) "\nm = load_inline("m", "", a + "{ *p = 1; }")',
        'm = load_inline("m", "", "__global__ void "\n  "k(int* p) { *p = 1; }")',
        'n = 1\nm = load_inline("m", "", f"__global__ void k(int* p) {{ *p = {n}; }}")',
        'n = 3\nm = load_inline("m", "", f"__global__ void k(int* p) {{ *p = {n - 2}; }}")',
        f'def build():\n    s = "{K}"\n    return load_inline("m", "", s)',
        f's = "{K}"\nclass M:\n    def __init__(self):\n        self.m = load_inline("m", "", cuda_sources=s)',
        f'all = ["{K}"]\nm = load_inline("m", "", all)',
        f's = "old"\ns = "{K}"\nm = load_inline("m", "", s)',
        'n = 4\nn = 1; m = load_inline("m", "", f"__global__ void k(int* p) {{ *p = {n}; }}")',
        'n = 1\nclass C:\n    def f(self):\n        self.n = 4\nm = load_inline("m", "", f"__global__ void k(int* p) {{ *p = {n}; }}")',
        f'from torch.utils.cpp_extension import load_inline as li\nm = li("m", "", "{K}")',
        f'm = load_inline("m", "", r"""{K}""")',
    ],
)
def test_sources_that_are_certain(code: str) -> None:
    assert only(code) == K


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ('m = load_inline("m", "", open("x.cu").read())', "op.py:1: this source is not a constant"),
        ('s = "a"\ns += "b"\nm = load_inline("m", "", s)', "op.py:3: s is not bound to one"),
        (
            'if x:\n    s = "a"\nelse:\n    s = "b"\nm = load_inline("m", "", s)',
            "op.py:5: s is not bound to one",
        ),
        ('m = load_inline("m", "", s)', "op.py:1: s is not defined"),
        (
            'def g():\n    n = 4\n    def f():\n        nonlocal n\n        n = 9\n    f()\n    return load_inline("m", "", f"{n}")',
            "op.py:7: n is not bound to one",
        ),
        (
            'import sys\nn = 4\nsys.modules["op"].n = 9\nm = load_inline("m", "", f"{n}")',
            "op.py:4: n may be set as an attribute",
        ),
        (
            'import sys\nn = 4\nsetattr(sys.modules["op"], "n", 9)\nm = load_inline("m", "", f"{n}")',
            "op.py:4: n may be set as an attribute",
        ),
        ('s = s2\ns2 = s\nm = load_inline("m", "", s)', "s"),
        ('def f(s):\n    return load_inline("m", "", s)', "s is not bound to one"),
        ('m = load_inline("m", "", "a".replace("a", "b"))', "not a constant"),
        ('n = g()\nm = load_inline("m", "", f"{n}")', "not a plain constant"),
        ('n = 1\nm = load_inline("m", "", f"{n:04d}")', "not a plain constant"),
        ("m = load_inline(**options)", "write the arguments out"),
        ('m = load_inline("m", "", "a", extra_cuda_cflags=flags)', "flags is not defined"),
        (
            's = "x"\ndef f():\n    global s\n    s = "y"\nm = load_inline("m", "", s)',
            "s is not bound to one",
        ),
        ('for s in ["a"]:\n    m = load_inline("m", "", s)', "s is not bound to one"),
        ('code = "__global__ void k() {}"\nrun(code)', "no load_inline call"),
        (
            's = "a"\nmatch t:\n    case s:\n        pass\nm = load_inline("m", "", s)',
            "s is not bound to one",
        ),
        ('s = ["a"]\ns[0] = "b"\nm = load_inline("m", "", s)', "the list s is used elsewhere"),
        ('m = load_inline("m", "", "a", extra_cuda_cflags=["-include", "x.h"])', "-include is not known"),
        ('m = load_inline("m", "", "a", extra_cuda_cflags=["-DA=1,B"])', "-DA=1,B is not known"),
        ('m = load_inline("m", "", "a", extra_cflags=["-Wp,-DB"])', "-Wp,-DB is not known"),
        (
            'm = load_inline("m", "", "a", extra_cuda_cflags=["-Xcompiler=-funsigned-char"])',
            "-funsigned-char is not",
        ),
    ],
)
def test_sources_that_are_not(code: str, message: str) -> None:
    builds, problems = read_builds(code, "op.py")
    assert not builds and len(problems) == 1 and message in problems[0]


def test_lines_are_those_of_the_file(read: Read) -> None:
    code = IMPORT + textwrap.dedent('''\
        cpp = "void f();"
        source = """
        // a comment
        #define TWO \\\\
            2
        __global__ void k(int* p) {
            // "\\n" is a newline below:
            printf("x\\\\n");
            *p = TWO; mark();
        }
        """
        m = load_inline(name="m", cpp_sources=cpp, cuda_sources=source, functions=["f"])
        ''')
    submission = read(code, "op.py")
    assert submission.kind == "python" and submission.python == code and not submission.problems
    lines = code.splitlines()
    [(name, span)] = submission.device.kernels
    assert name == "k" and "void k(" in lines[span.line - 1]
    text = submission.device.text
    assert "mark()" in lines[LineMap(text).span(text.index("mark")).line - 1]
    assert [(n, line) for n, line, _ in submission.units] == [("source", 3), ("cpp", 2)]
    assert "void f();" in submission.host


def test_escapes_keep_the_lines(read: Read) -> None:
    code = (
        IMPORT
        + 's = "int a;\\nint b;\\n" \\\n    "__global__ void k(int* p)\\n{ *p = 1; }"\nm = load_inline("m", "", s)\n'
    )
    [(_, span)] = read(code, "op.py").device.kernels
    assert span.line == 3


def test_a_compilation_is_one_text_and_two_are_apart(read: Read) -> None:
    one = 'm = load_inline("m", "", ["#define N 1\\n__device__ int f() { return N; }", '
    one += '"__global__ void k(int* p) { *p = f() + N; }"])'
    assert "return 1" in read(IMPORT + one, "op.py").device.text
    two = 'a = load_inline("a", "", "#define N 1\\n__global__ void k(int* p) { *p = N; }")\n'
    two += 'b = load_inline("b", "", "__global__ void l(int* p) { *p = N; }")'
    submission = read(IMPORT + two, "op.py")
    assert "*p = 1" in submission.device.text and "*p = N" in submission.device.text
    assert [n for n, _ in submission.device.kernels] == ["k", "l"]


def test_clashing_names_are_named(read: Read) -> None:
    code = f'a = load_inline("a", "", "{K}")\nb = load_inline("b", "", "{K}")'
    [problem] = read(IMPORT + code, "op.py").problems
    assert "two load_inline calls define the function k" in problem


def test_flags(read: Read) -> None:
    code = "#ifdef FAST\\n#endif\\n__global__ void k(int* p) { *p = N; }"
    options = '["-DN=5", "-UFAST", "-O3", "--use_fast_math", "-lineinfo", "-std=c++17"]'
    submission = read(f'{IMPORT}m = load_inline("m", "", "{code}", extra_cuda_cflags={options})', "op.py")
    assert "*p = 5" in submission.device.text and not submission.problems
    assert submission.device.flags == ("--use_fast_math",)
    assert ("N", "5") in submission.device.defines and (
        "__CUDA_NO_HALF_OPERATORS__",
        "1",
    ) in submission.device.defines


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("from torch.utils import cpp_extension\nb = cpp_extension.load_inline", "otherwise than called"),
        ("from torch.utils import cpp_extension as c\nn = c.load('n', ['n.cu'])", "what c.load builds"),
        ("from torch.utils.cpp_extension import load\nn = load('n', ['n.cu'])", "what load builds"),
        ("from torch.utils import cpp_extension\nn = getattr(cpp_extension, 'lo' + 'ad')", "is not read"),
        ("from torch.utils.cpp_extension import *", "is not known"),
        ("import cupy\nn = cupy.RawKernel('', 'k')", "kernels of"),
        ("import triton as tr\n@tr.jit\ndef k(x):\n    pass", "kernels of triton"),
        ("n = torch.cuda._compile_kernel('', 'k')", "kernels of _compile_kernel"),
        ("globals()['s'] = 'b'", "globals may bind names unseen"),
        ("exec('s = 1')", "exec may bind names unseen"),
        ("n = compiled('__global__ void o(int* p) { *p = 1; }')", "no load_inline call compiles"),
    ],
)
def test_what_else_is_built_or_bound(code: str, message: str) -> None:
    good = f's = "{K}"\nm = load_inline("m", "", s)\n'
    builds, problems = read_builds(good + code, "op.py")
    assert len(builds) == 1 and problems and all(message in p or "kernels of" in p for p in problems)


def test_what_builds_nothing_is_left_alone() -> None:
    code = (
        "from torch.utils.cpp_extension import load, load_inline\nimport triton\nold = '__global__ void k() { }'\n"
        f's = ["{K}"]\nm = load_inline("m", "", s)\nself.eval()\nh = torch.utils.cpp_extension.CUDA_HOME\n'
    )
    builds, problems = read_builds(code, "op.py")
    assert len(builds) == 1 and not problems


def test_flags_of_the_host_are_not_those_of_the_device(read: Read) -> None:
    code = "__global__ void k(int* p) { *p = N; }"
    options = 'extra_cflags=["-DN=5"], extra_cuda_cflags=["-O3 -DM=1 -DN=6", "-Xcompiler", "-DHOST"]'
    submission = read(f'{IMPORT}m = load_inline("m", "", "{code}", {options})', "op.py")
    assert "*p = 6" in submission.device.text and not submission.problems
    assert {("N", "6"), ("M", "1"), ("HOST", "1")} <= set(submission.device.defines)


def test_python_errors(read: Read) -> None:
    with pytest.raises(SourceError, match=r"op.py:2: is not Python"):
        read("x = 1\ny = (\n", "op.py")
    with pytest.raises(NoKernel):
        read("x = 1\n", "op.py")
    with pytest.raises(SourceError):
        read("x = " + "(" * 100_000, "op.py")


def test_nothing_is_executed(read: Read) -> None:
    code = 'raise SystemExit("executed")\n' + IMPORT + f'm = load_inline("m", "", "{K}")'
    assert read(code, "op.py").device.kernels


@given(
    st.text(st.sampled_from("ab\\\"'\n\t{}#\0é\u2028"), max_size=30),
    st.sampled_from(["repr", "triple", "raw"]),
)
def test_literals_are_decoded_as_python_does(value: str, style: str) -> None:
    literal = repr(value)
    if style == "triple":
        literal = '"""' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "\\0") + '"""'
    elif style == "raw" and not ("'" in value or value.endswith("\\") or "\0" in value):
        literal = f"r'''{value}'''"
    builds, problems = read_builds(f'm = load_inline("m", "", {literal})\n', "op.py")
    assert not problems and builds[0].cuda[0].source.text == value


@given(st.lists(st.sampled_from(["x", "\\n", "\n", "\\\n", "\\t", " ", "\\\\"]), max_size=20))
def test_every_line_knows_its_line(pieces: list[str]) -> None:
    """A word put on a line of the file is found on that line."""
    body = ""
    for number, piece in enumerate(pieces):
        body += piece + f"w{number}w"
    code = f's = """{body}"""\nm = load_inline("m", "", s)\n'
    builds, problems = read_builds(code, "op.py")
    assert not problems
    source, lines = builds[0].cuda[0].source, code.split("\n")
    for number, line in enumerate(source.text.split("\n"), 1):
        first = line.split("w")[1] if "w" in line else ""
        if first and f"\\\nw{first}w" not in body:
            assert f"w{first}w" in lines[source.line(number) - 1]


SOURCE = 'm = load_inline("m", "", "__global__ void k() {}")\n'


@pytest.mark.parametrize(
    "line",
    [
        "os.environ['NVCC_APPEND_FLAGS'] = '-DN=5'",
        "os.environ.update(CPATH='/x')",
        "os.putenv('NVCC_APPEND_FLAGS', '-DN=5')",
        "environ[name] = '1'",
        "e = os.environ",
        "os.environ.setdefault('CPLUS_INCLUDE_PATH', '/x')",
        "del os.environ['X']",
    ],
)
def test_an_environment_that_changes_the_build_is_a_problem(line: str) -> None:
    _, problems = read_builds(f"import os\n{line}\n{SOURCE}", "op.py")
    assert [p for p in problems if p.startswith("op.py:2: the environment")]


@pytest.mark.parametrize(
    "line",
    [
        "os.environ['TORCH_CUDA_ARCH_LIST'] = '9.0'",
        "os.environ.setdefault('MAX_JOBS', '4')",
        "x = os.environ.get('HOME')",
        "x = os.environ['HOME']",
        "x = 'HOME' in os.environ",
    ],
)
def test_harmless_variables_are_none(line: str) -> None:
    assert not read_builds(f"import os\n{line}\n{SOURCE}", "op.py")[1]
