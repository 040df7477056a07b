"""avg_pool2d: the mean of each window of the last 2 dims; padding counts as zeros unless count_include_pad=False.

Tolerance: (k + 3)·u·Σ|x|/k for windows of k elements in any order, divided before or after the sum.
"""

from specs.reference_ops._windows import pooling

OP = pooling(2, "avg", words=("avg_pool2d", "avgpool2d", "avgpool", "avg_pool"))
