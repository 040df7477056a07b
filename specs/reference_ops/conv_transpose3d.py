"""conv_transpose3d: the transposed (fractionally strided) convolution; weights are in×out/groups×k.

Tolerance: (k + 3)·u·Σ|x·w| where k = channels × window bounds the terms of one sum; one rounding for the bias.
"""

from specs.reference_ops._windows import transposed_convolution

OP = transposed_convolution(3, words=("conv_transpose3d", "transposed_conv3d", "deconv3d"))
