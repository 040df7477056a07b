"""Which library calls compute something, by the plain name of the operation: ``torch.nn.Conv2d`` -> ``conv2d``.

Example::

    operation("torch.nn.functional.layer_norm")   # "layernorm"
    operation(".view")                            # ""
"""

from __future__ import annotations

HEAVY = frozenset(
    """
    matmul mm bmm addmm baddbmm addbmm mv addmv dot vdot inner outer einsum tensordot linear bilinear chainmatmul multidot
    conv1d conv2d conv3d convtranspose1d convtranspose2d convtranspose3d convolution
    softmax logsoftmax softmin layernorm batchnorm batchnorm1d batchnorm2d batchnorm3d groupnorm instancenorm
    instancenorm1d instancenorm2d instancenorm3d rmsnorm localresponsenorm normalize
    scaleddotproductattention multiheadattention multiheadattentionforward transformerencoderlayer lstm gru rnn lstmcell grucell
    maxpool1d maxpool2d maxpool3d avgpool1d avgpool2d avgpool3d adaptiveavgpool1d adaptiveavgpool2d adaptiveavgpool3d
    adaptivemaxpool1d adaptivemaxpool2d adaptivemaxpool3d
    crossentropy crossentropyloss mseloss smoothl1loss huberloss l1loss kldiv kldivloss nllloss tripletmarginloss
    hingeembeddingloss cosineembeddingloss binarycrossentropy bceloss cosinesimilarity pairwisedistance cdist
    cumsum cumprod cummax cummin logcumsumexp sort topk argsort embedding interpolate upsample unfold fold
    """.split()
)
POINTWISE = frozenset(
    """
    relu relu6 leakyrelu prelu elu selu celu gelu silu swish mish sigmoid tanh hardtanh hardswish hardsigmoid softplus
    softsign logsigmoid hardshrink softshrink tanhshrink threshold exp log sqrt rsqrt pow square erf clamp clip abs neg
    """.split()
)
LIGHT = frozenset(
    """
    sum mean prod max min amax amin argmax argmin norm vectornorm matrixnorm logsumexp var std varmean stdmean
    add sub mul div maximum minimum addcmul addcdiv where lerp tril triu
    cat concat stack pad roll flip gather scatter indexselect repeatinterleave
    """.split()
)
"""What finishes the work of a kernel: partial sums, masks, scales, movements of data."""
_PREFIXES = ("torch.", "numpy.")
_CONTAINERS = ("torch.utils.", "torch.cuda.", "torch.backends.", "torch.testing.")
_SAME = {
    "mm": "matmul", "bmm": "matmul", "mv": "matmul", "dot": "matmul", "linear": "linear", "swish": "silu", "clip": "clamp",
    "amax": "max", "amin": "min", "crossentropyloss": "crossentropy", "kldivloss": "kldiv", "batchnorm1d": "batchnorm",
    "batchnorm2d": "batchnorm", "batchnorm3d": "batchnorm", "instancenorm1d": "instancenorm",
    "instancenorm2d": "instancenorm", "instancenorm3d": "instancenorm", "vectornorm": "norm", "matrixnorm": "norm",
}  # fmt: skip


def operation(name: str) -> str:
    """The operation that a dotted name, or ``.method`` of a tensor, stands for; "" if it computes nothing that counts."""
    if not name.startswith((".", *_PREFIXES)) or name.startswith(_CONTAINERS):
        return ""
    return plain(name.rpartition(".")[2])


def plain(word: str) -> str:
    """``LayerNorm``, ``layer_norm``, ``relu_`` -> ``layernorm``, ``layernorm``, ``relu``; "" if no operation."""
    small = word.lower().replace("_", "")
    return _SAME.get(small, small) if small in HEAVY | POINTWISE | LIGHT else ""
