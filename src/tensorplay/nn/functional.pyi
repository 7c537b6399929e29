"""Made by tools/make_stubs.py."""

import builtins
from collections.abc import Callable
from typing import Any

from tensorplay.core.dtype import dtype as _dtype
from tensorplay.core.tensor import Tensor
from tensorplay.ops.cross_entropy import LinearCrossEntropyOptions as _LinearCrossEntropyOptions

def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Divide sequences evenly into ``output_size`` windows, and take their means."""
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Divide images evenly into ``output_size`` windows, and take their means."""
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Divide volumes evenly into ``output_size`` windows, and take their means."""
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: builtins.bool = False) -> Any:
    """Divide sequences evenly into ``output_size`` windows, and take their maxima."""
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: Any, return_indices: builtins.bool = False) -> Any:
    """:func:`adaptive_max_pool1d`, which returns the flat positions of the maxima as well."""
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: builtins.bool = False) -> Any:
    """Divide images evenly into ``output_size`` windows, and take their maxima."""
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: Any, return_indices: builtins.bool = False) -> Any:
    """:func:`adaptive_max_pool2d`, which returns the flat positions of the maxima as well."""
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: builtins.bool = False) -> Any:
    """Divide volumes evenly into ``output_size`` windows, and take their maxima."""
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: Any, return_indices: builtins.bool = False) -> Any:
    """:func:`adaptive_max_pool3d`, which returns the flat positions of the maxima as well."""
def affine_grid(theta: Tensor, size: Any, align_corners: builtins.bool | None = None) -> Tensor:
    """The places that affine maps give to the pixels of an image, for :func:`grid_sample`."""
def alpha_dropout(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = False, inplace: builtins.bool = False) -> Tensor:
    """Dropout for :func:`selu` networks: dropped elements take its floor, and mean and variance are kept."""
def avg_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True) -> Tensor:
    """The mean of each window of sequences."""
def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: builtins.int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The mean of each window of images."""
def avg_pool3d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: builtins.int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The mean of each window of volumes."""
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: builtins.bool = False, momentum: builtins.float = 0.1, eps: builtins.float = 1e-05) -> Tensor:
    """Normalise each channel over the batch and all positions (Ioffe and Szegedy, 2015)."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A bilinear form for each output: ``input1 @ weight[k] @ input2 + bias[k]``."""
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """Cross entropy of two classes: ``-(y log x + (1 - y) log(1 - x))``, with logarithms of at least -100."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', pos_weight: Tensor | None = None) -> Tensor:
    """:func:`binary_cross_entropy` of ``sigmoid(input)``, without overflow."""
def celu(input: Tensor, alpha: builtins.float = 1.0, inplace: builtins.bool = False) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``."""
def celu_(input: Tensor, alpha: builtins.float = 1.0, inplace: builtins.bool = False) -> Tensor:
    """In-place form of :func:`celu`: writes the result into ``input`` and returns it."""
def channel_shuffle(input: Tensor, groups: builtins.int) -> Tensor:
    """Channels of several groups in turn: (N, C, ...) with C as (groups, C / groups), transposed."""
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: builtins.int = 1) -> Tensor:
    """Cross-correlate sequences with learned windows."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: builtins.int = 1) -> Tensor:
    """Cross-correlate images with learned windows."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: builtins.int = 1) -> Tensor:
    """Cross-correlate volumes with learned windows."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: builtins.int = 0) -> Tensor:
    """:func:`conv1d` of sequences laid out as (time, batch, channels)."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: builtins.int = 1, dilation: Any = 1) -> Tensor:
    """Transposed convolution of sequences: the gradient of :func:`conv1d` with respect to its input."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: builtins.int = 1, dilation: Any = 1) -> Tensor:
    """Transposed convolution of images: the gradient of :func:`conv2d` with respect to its input."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: builtins.int = 1, dilation: Any = 1) -> Tensor:
    """Transposed convolution of volumes: the gradient of :func:`conv3d` with respect to its input."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: builtins.float = 0, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: builtins.int = 1, eps: builtins.float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors: ``x1 . x2 / (max(|x1|, eps) max(|x2|, eps))``."""
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, ignore_index: builtins.int = -100, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', label_smoothing: builtins.float = 0.0) -> Tensor:
    """Cross entropy of softmax(input) against classes, or against probabilities of classes."""
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: builtins.int = 0, reduction: builtins.str = 'mean', zero_infinity: builtins.bool = False) -> Tensor:
    """Negative log likelihood of label sequences, over all their alignments with the inputs (Graves et al., 2006)."""
def dropout(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """Zero elements with probability ``p`` and scale the others by ``1 / (1 - p)`` (Srivastava et al., 2014)."""
def dropout1d(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """:func:`dropout` of whole channels of sequences, (N, C, L) or (C, L)."""
def dropout2d(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """:func:`dropout` of whole channels of images, (N, C, H, W); three dimensions are taken as (N, C, L)."""
def dropout3d(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """:func:`dropout` of whole channels of volumes, (N, C, D, H, W) or (C, D, H, W)."""
def elu(input: Tensor, alpha: builtins.float = 1.0, inplace: builtins.bool = False) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``."""
def elu_(input: Tensor, alpha: builtins.float = 1.0, inplace: builtins.bool = False) -> Tensor:
    """In-place form of :func:`elu`: writes the result into ``input`` and returns it."""
def embedding(input: Tensor, weight: Tensor, padding_idx: builtins.int | None = None, max_norm: builtins.float | None = None, norm_type: builtins.float = 2.0, scale_grad_by_freq: builtins.bool = False, sparse: builtins.bool = False) -> Tensor:
    """Rows of ``weight`` by number."""
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: builtins.float | None = None, norm_type: builtins.float = 2, scale_grad_by_freq: builtins.bool = False, mode: builtins.str = 'mean', sparse: builtins.bool = False, per_sample_weights: Tensor | None = None, include_last_offset: builtins.bool = False, padding_idx: builtins.int | None = None) -> Tensor:
    """Sums, means or maxima of rows of ``weight``, bag by bag."""
def feature_alpha_dropout(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = False, inplace: builtins.bool = False) -> Tensor:
    """:func:`alpha_dropout` of whole channels of (N, C, ...)."""
def fold(input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Columns added up as windows of images (col2im): the gradient of :func:`unfold`."""
def fractional_max_pool2d(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: builtins.bool = False, _random_samples: Tensor | None = None) -> Any:
    """The maxima of windows at random places, which make ``output_size`` of them (Graham, 2015)."""
def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: builtins.bool = False, _random_samples: Tensor | None = None) -> Any:
    """:func:`fractional_max_pool2d`, which returns the flat positions of the maxima as well."""
def fractional_max_pool3d(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: builtins.bool = False, _random_samples: Tensor | None = None) -> Any:
    """The maxima of windows at random places, which make ``output_size`` of them (Graham, 2015)."""
def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: builtins.bool = False, _random_samples: Tensor | None = None) -> Any:
    """:func:`fractional_max_pool3d`, which returns the flat positions of the maxima as well."""
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Any, full: builtins.bool = False, eps: builtins.float = 1e-06, reduction: builtins.str = 'mean') -> Tensor:
    """Negative log likelihood of normal numbers: ``(log(var) + (input - target)**2 / var) / 2``."""
def gelu(input: Tensor, approximate: builtins.str = 'none', *, out: Tensor | None = None) -> Tensor:
    """``x`` times the standard normal distribution function at ``x`` (Hendrycks and Gimpel, 2016)."""
def glu(input: Tensor, dim: builtins.int = -1) -> Tensor:
    """The first half of a dimension times the sigmoid of the second."""
def grid_sample(input: Tensor, grid: Tensor, mode: builtins.str = 'bilinear', padding_mode: builtins.str = 'zeros', align_corners: builtins.bool | None = None) -> Tensor:
    """Sample images at given places."""
def group_norm(input: Tensor, num_groups: builtins.int, weight: Tensor | None = None, bias: Tensor | None = None, eps: builtins.float = 1e-05) -> Tensor:
    """Normalise groups of channels of each example over all positions (Wu and He, 2018)."""
def gumbel_softmax(logits: Tensor, tau: builtins.float = 1, hard: builtins.bool = False, eps: builtins.float = 1e-10, dim: builtins.int = -1) -> Tensor:
    """Samples of one-hot vectors, relaxed: softmax of the logits plus Gumbel noise (Jang et al., 2017)."""
def hardshrink(input: Tensor, lambd: builtins.float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """``x`` outside of [-lambd, lambd], else 0."""
def hardsigmoid(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """``relu6(x + 3) / 6``, a piecewise linear sigmoid."""
def hardswish(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """``x * relu6(x + 3) / 6``."""
def hardtanh(input: Tensor, min_val: builtins.float = -1.0, max_val: builtins.float = 1.0, inplace: builtins.bool = False) -> Tensor:
    """``x`` between ``min_val`` and ``max_val``, the nearer of the two outside."""
def hardtanh_(input: Tensor, min_val: builtins.float = -1.0, max_val: builtins.float = 1.0, inplace: builtins.bool = False) -> Tensor:
    """In-place form of :func:`hardtanh`: writes the result into ``input`` and returns it."""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: builtins.float = 1.0, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1."""
def huber_loss(input: Tensor, target: Tensor, reduction: builtins.str = 'mean', delta: builtins.float = 1.0, weight: Tensor | None = None) -> Tensor:
    """Half the squared error up to ``delta``, beyond it a line of slope ``delta`` (Huber, 1964)."""
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: builtins.bool = True, momentum: builtins.float = 0.1, eps: builtins.float = 1e-05) -> Tensor:
    """Normalise each channel of each example over all positions (Ulyanov et al., 2016)."""
def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: builtins.str = 'nearest', align_corners: builtins.bool | None = None, recompute_scale_factor: builtins.bool | None = None, antialias: builtins.bool = False) -> Tensor:
    """Resize sequences, images or volumes."""
def kl_div(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', log_target: builtins.bool = False) -> Tensor:
    """Kullback-Leibler divergence: ``target * (log(target) - input)``."""
def l1_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', weight: Tensor | None = None) -> Tensor:
    """Mean absolute error: ``|input - target|``, averaged."""
def layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: builtins.float = 1e-05) -> Tensor:
    """Normalise over the last dimensions: ``(x - mean) / sqrt(var + eps) * weight + bias``."""
def leaky_relu(input: Tensor, negative_slope: builtins.float = 0.01, inplace: builtins.bool = False) -> Tensor:
    """``x`` where it is positive, else ``negative_slope * x``."""
def leaky_relu_(input: Tensor, negative_slope: builtins.float = 0.01, inplace: builtins.bool = False) -> Tensor:
    """In-place form of :func:`leaky_relu`: writes the result into ``input`` and returns it."""
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """Rows times a matrix: ``input @ weight.T + bias``."""
def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None, weight: Tensor | None = None, reduction: builtins.str = 'mean', ignore_index: builtins.int | None = None, label_smoothing: builtins.float = 0.0, options: _LinearCrossEntropyOptions | None = None) -> Tensor:
    """:func:`cross_entropy` of a linear map of the input."""
def local_response_norm(input: Tensor, size: builtins.int, alpha: builtins.float = 0.0001, beta: builtins.float = 0.75, k: builtins.float = 1.0) -> Tensor:
    """Divide by a power of the mean square of neighbouring channels: ``x / (k + alpha * mean(x**2)) ** beta``."""
def log_softmax(input: Tensor, dim: builtins.int | None = None, _stacklevel: builtins.int = 3, dtype: _dtype | None = None) -> Tensor:
    """As :func:`tensorplay.log_softmax`; without ``dim`` one is chosen, with a warning."""
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(sigmoid(x))``, without underflow."""
def lp_pool1d(input: Tensor, norm_type: builtins.float, kernel_size: Any, stride: Any = None, ceil_mode: builtins.bool = False) -> Tensor:
    """The p-norm of each window of sequences: ``sum(x**p) ** (1 / p)``."""
def lp_pool2d(input: Tensor, norm_type: builtins.float, kernel_size: Any, stride: Any = None, ceil_mode: builtins.bool = False) -> Tensor:
    """The p-norm of each window of images: ``sum(x**p) ** (1 / p)``."""
def lp_pool3d(input: Tensor, norm_type: builtins.float, kernel_size: Any, stride: Any = None, ceil_mode: builtins.bool = False) -> Tensor:
    """The p-norm of each window of volumes: ``sum(x**p) ** (1 / p)``."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: builtins.float = 0, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """``max(0, margin - target * (input1 - input2))``: where the target is 1 the first input should be the larger."""
def max_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of sequences."""
def max_pool1d_with_indices(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """:func:`max_pool1d`, which returns the flat positions of the maxima as well."""
def max_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of images."""
def max_pool2d_with_indices(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """:func:`max_pool2d`, which returns the flat positions of the maxima as well."""
def max_pool3d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """The maximum of each window of volumes."""
def max_pool3d_with_indices(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Any:
    """:func:`max_pool3d`, which returns the flat positions of the maxima as well."""
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Put the maxima of :func:`max_pool1d` back in their places, among zeros."""
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Put the maxima of :func:`max_pool2d` back in their places, among zeros."""
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Put the maxima of :func:`max_pool3d` back in their places, among zeros."""
def mish(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """``x * tanh(softplus(x))``."""
def mse_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', weight: Tensor | None = None) -> Tensor:
    """Mean squared error: ``(input - target) ** 2``, averaged."""
def multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: builtins.int, num_heads: builtins.int, in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: builtins.bool, dropout_p: builtins.float, out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: builtins.bool = True, key_padding_mask: Tensor | None = None, need_weights: builtins.bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: builtins.bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: builtins.bool = True, is_causal: builtins.bool = False) -> builtins.tuple[Tensor, Tensor | None]:
    """Attention of several heads, with the projections into and out of them."""
def multi_margin_loss(input: Tensor, target: Tensor, p: builtins.int = 1, margin: builtins.float = 1.0, weight: Tensor | None = None, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """The mean over classes of ``max(0, margin - x[target] + x[i]) ** p``, the target left out."""
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """The sum of ``max(0, 1 - x[i] + x[j]) / C`` over the target's classes i and all other classes j."""
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """:func:`binary_cross_entropy_with_logits`, averaged over the classes, which are the last dimension."""
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, ignore_index: builtins.int = -100, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """Negative log likelihood: minus the log-probability of the target class, ``-weight[y_n] * x[n, y_n]``."""
def normalize(input: Tensor, p: builtins.float = 2.0, dim: Any = 1, eps: builtins.float = 1e-12, out: Tensor | None = None) -> Tensor:
    """Divide vectors by their p-norm, or by ``eps`` if that is larger."""
def one_hot(tensor: Tensor, num_classes: builtins.int = -1) -> Tensor:
    """Classes as vectors that are 1 at the class and 0 elsewhere."""
def pad(input: Tensor, pad: Any, mode: builtins.str = 'constant', value: builtins.float | None = None) -> Tensor:
    """Entries around a tensor, the last dimension first."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: builtins.float = 2.0, eps: builtins.float = 1e-06, keepdim: builtins.bool = False) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension."""
def pdist(input: Tensor, p: builtins.float = 2) -> Tensor:
    """The p-norm distances between all pairs of rows, row by row of the upper triangle."""
def pixel_shuffle(input: Tensor, upscale_factor: builtins.int) -> Tensor:
    """Blocks of channels as pixels: (*, C r^2, H, W) to (*, C, H r, W r)."""
def pixel_unshuffle(input: Tensor, downscale_factor: builtins.int) -> Tensor:
    """Blocks of pixels as channels: (*, C, H r, W r) to (*, C r^2, H, W)."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: builtins.bool = True, full: builtins.bool = False, size_average: builtins.bool | None = None, eps: builtins.float = 1e-08, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """Negative log likelihood of counts: ``exp(input) - target * input``, or ``input - target * log(input + eps)``."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``x`` where it is positive, else ``weight * x``."""
def relu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """The positive part, ``max(x, 0)``; ``inplace`` writes it into the input."""
def relu6(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """``min(max(x, 0), 6)``."""
def relu_(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """In-place form of :func:`relu`: writes the result into ``input`` and returns it."""
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: builtins.float | None = None) -> Tensor:
    """Divide by the root mean square of the last dimensions: ``x / sqrt(mean(x**2) + eps) * weight``."""
def rrelu(input: Tensor, lower: builtins.float = 0.125, upper: builtins.float = 0.3333333333333333, training: builtins.bool = False, inplace: builtins.bool = False) -> Tensor:
    """:func:`leaky_relu` with random slopes in training, and with their mean otherwise."""
def rrelu_(input: Tensor, lower: builtins.float = 0.125, upper: builtins.float = 0.3333333333333333, training: builtins.bool = False, inplace: builtins.bool = False) -> Tensor:
    """In-place form of :func:`rrelu`: writes the result into ``input`` and returns it."""
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: builtins.float = 0.0, is_causal: builtins.bool = False, scale: builtins.float | None = None, enable_gqa: builtins.bool = False) -> Tensor:
    """``softmax(query @ key.T * scale + mask) @ value`` (Vaswani et al., 2017)."""
def selu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """A scaled :func:`elu` that keeps mean 0 and variance 1 of its inputs (Klambauer et al., 2017)."""
def selu_(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """In-place form of :func:`selu`: writes the result into ``input`` and returns it."""
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logistic function of each element, ``1 / (1 + exp(-x))``."""
def silu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """``x * sigmoid(x)``, also called swish."""
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', beta: builtins.float = 1.0) -> Tensor:
    """Half the squared error over ``beta`` where the error is below it, else the error less ``beta / 2``."""
def soft_margin_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """``log(1 + exp(-target * input))`` for targets of 1 and -1."""
def softmax(input: Tensor, dim: builtins.int | None = None, _stacklevel: builtins.int = 3, dtype: _dtype | None = None) -> Tensor:
    """As :func:`tensorplay.softmax`; without ``dim`` one is chosen, with a warning."""
def softmin(input: Tensor, dim: builtins.int | None = None, _stacklevel: builtins.int = 3, dtype: _dtype | None = None) -> Tensor:
    """:func:`softmax` of ``-x``."""
def softplus(input: Tensor, beta: builtins.float = 1, threshold: builtins.float = 20, *, out: Tensor | None = None) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``, a smooth relu; ``x`` itself where ``beta * x`` exceeds the threshold."""
def softshrink(input: Tensor, lambd: builtins.float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """``x`` moved towards 0 by ``lambd``."""
def softsign(input: Tensor) -> Tensor:
    """``x / (1 + |x|)``."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent of each element."""
def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``."""
def threshold(input: Tensor, threshold: builtins.float, value: builtins.float, inplace: builtins.bool = False) -> Tensor:
    """``x`` where it is above the threshold, else ``value``."""
def threshold_(input: Tensor, threshold: builtins.float, value: builtins.float, inplace: builtins.bool = False) -> Tensor:
    """In-place form of :func:`threshold`: writes the result into ``input`` and returns it."""
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: builtins.float = 1.0, p: builtins.float = 2, eps: builtins.float = 1e-06, swap: builtins.bool = False, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` with the p-norm distance."""
def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: builtins.float = 1.0, swap: builtins.bool = False, reduction: builtins.str = 'mean') -> Tensor:
    """:func:`triplet_margin_loss` with any distance."""
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of images as columns (im2col)."""
def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: builtins.str = 'nearest', align_corners: builtins.bool | None = None) -> Tensor:
    """:func:`interpolate` by its former name."""
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """:func:`interpolate` with mode "bilinear" and aligned corners."""
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """:func:`interpolate` with mode "nearest"."""
