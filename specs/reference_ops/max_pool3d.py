"""max_pool3d: the largest element of each window of the last 3 dims.

kernel_size, stride and padding are what the kernel's parameters say, or decided by the output's shape.
Tolerance: none; the result is one of the elements (padding never wins).
"""

from specs.reference_ops._windows import pooling

OP = pooling(3, "max", words=("max_pool3d", "maxpool3d"))
