"""conv3d: cross-correlation of (batch×)channels×depth×height×width with out×in/groups×k weights.

padding is what the kernel's parameter says, or decided by the output's shape: 0 (valid) or "same".
Tolerance: (k + 3)·u·Σ|x·w| for sums of k products (channels × window) in any order; one rounding for the bias.
"""

from specs.reference_ops._windows import convolution

OP = convolution(3, words=("conv3d", "conv_3d", "convolution_3d"))
