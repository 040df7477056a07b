"""A kernel on a real GPU under compute-sanitizer: device text, kernel, launches -> what its four tools reported.

The second backend of the sanitize gate; docs/howto/gpu.md says what it needs. Nothing here decides whether a kernel may reach
a GPU: that is the gate's. Invariant: a tool counts only if it reported the seeded fault that ran after the kernel.

Example::

    machine = find(sandbox)                              # raises GpuMissing with what is missing
    watch(machine, program, launches, tools=TOOLS)       # Watched(findings, …)
"""
