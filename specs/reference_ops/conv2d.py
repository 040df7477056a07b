"""conv2d: cross-correlation of (batch×)channels×height×width with out×in/groups×k weights.

One filter without channels works too, on the last two dims of anything.
padding is what the kernel's parameter says, or decided by the output's shape: 0 (valid) or "same".
Tolerance: (k + 3)·u·Σ|x·w| for sums of k products (channels × window) in any order; one rounding for the bias.
"""

from specs.reference_ops._windows import convolution

OP = convolution(2, words=("conv2d", "conv_2d", "convolution_2d", "conv"))
