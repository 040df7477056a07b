"""conv_transpose1d: the transposed (fractionally strided) convolution; weights are in×out/groups×k.

Tolerance: (k + 3)·u·Σ|x·w| where k = channels × window bounds the terms of one sum; one rounding for the bias.
"""

from specs.reference_ops._windows import transposed_convolution

OP = transposed_convolution(1, words=("conv_transpose1d", "transposed_conv1d", "deconv1d"))
