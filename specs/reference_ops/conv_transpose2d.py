"""conv_transpose2d: the transposed (fractionally strided) convolution; weights are in×out/groups×k.

Tolerance: (k + 3)·u·Σ|x·w| where k = channels × window bounds the terms of one sum; one rounding for the bias.
"""

from specs.reference_ops._windows import transposed_convolution

OP = transposed_convolution(2, words=("conv_transpose2d", "transposed_conv2d", "deconv2d"))
