"""max_pool2d: the largest element of each window of the last 2 dims.

kernel_size, stride and padding are what the kernel's parameters say, or decided by the output's shape.
Tolerance: none; the result is one of the elements (padding never wins).
"""

from specs.reference_ops._windows import pooling

OP = pooling(2, "max", words=("max_pool2d", "maxpool2d", "maxpool", "max_pool"))
