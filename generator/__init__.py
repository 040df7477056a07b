"""Writes kernels with a model and keeps only what the gates verify: a problem file -> a run folder and an exit status.

Invariant: the model proposes text and nothing else. Verdict, tolerance, contract, reference and inputs come from the
problem file and from ``verifier.pipeline``. What the generator may import: everything but ``verifier.cli``.

Example::

    generate-kernel run softmax.py --max-attempts 6 --max-usd 2 --yes
    generate-kernel resume runs/20260101-120000-softmax
    generate-kernel replay runs/20260101-120000-softmax
"""
