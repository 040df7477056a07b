"""avg_pool1d: the mean of each window of the last 1 dim; padding counts as zeros unless count_include_pad=False.

Tolerance: (k + 3)·u·Σ|x|/k for windows of k elements in any order, divided before or after the sum.
"""

from specs.reference_ops._windows import pooling

OP = pooling(1, "avg", words=("avg_pool1d", "avgpool1d"))
