"""max_pool1d: the largest element of each window of the last 1 dim.

kernel_size, stride and padding are what the kernel's parameters say, or decided by the output's shape.
Tolerance: none; the result is one of the elements (padding never wins).
"""

from specs.reference_ops._windows import pooling

OP = pooling(1, "max", words=("max_pool1d", "maxpool1d"))
