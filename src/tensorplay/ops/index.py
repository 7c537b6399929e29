"""Made by tools/make_stubs.py."""

SIZES: dict[str, int] = {
    "activation": 33084,
    "attention": 11018,
    "bags": 8377,
    "bessel": 7505,
    "callables": 2327,
    "cholesky": 13631,
    "columns": 6897,
    "conv": 34937,
    "cross_entropy": 24674,
    "ctc": 14149,
    "decompositions": 29042,
    "dense": 20577,
    "diagonals": 7970,
    "distance": 5351,
    "draws": 14235,
    "dropout": 13034,
    "einsum": 17336,
    "extrema": 15482,
    "fourier": 20788,
    "joining": 26105,
    "least_squares": 11339,
    "linalg": 30007,
    "loss": 23205,
    "margin": 15242,
    "masked": 10071,
    "masked_reductions": 16219,
    "matrices": 8790,
    "multihead": 12879,
    "normalization": 28831,
    "norms": 15000,
    "padding": 11532,
    "parts": 8256,
    "polynomials": 5593,
    "pool": 32398,
    "positional": 11697,
    "properties": 7302,
    "random": 35017,
    "recurrent": 17936,
    "resample": 21772,
    "scan": 21665,
    "scatter": 40115,
    "segments": 5958,
    "sorting": 28602,
    "special": 12492,
    "spectra": 22307,
    "statistics": 26880,
    "stft": 11230,
    "strides": 12589,
    "typed": 1970,
    "unpool": 12159,
    "view_copies": 2186,
    "windows": 13332,
}
FAMILIES: dict[str, dict[str, str]] = {
    "activation": {
        ":": "celu celu_ hardshrink log_softmax prelu relu relu_ selu selu_ softmax threshold threshold_",
        ":nn.functional": (
            "celu celu_ elu elu_ gelu glu hardshrink hardsigmoid hardswish hardtanh hardtanh_ "
            "leaky_relu leaky_relu_ log_softmax logsigmoid mish prelu relu relu6 relu_ selu selu_ "
            "sigmoid silu softmax softmin softplus softshrink softsign tanh tanhshrink threshold "
            "threshold_"
        ),
        "F": (
            "elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_softmax "
            "log_softmax_backward logsigmoid mish normal_cdf prelu relu silu softmax softmax_backward "
            "softplus softshrink threshold"
        ),
        "Tensor": "hardshrink log_softmax prelu relu relu_ softmax",
    },
    "attention": {
        ":nn.functional": "scaled_dot_product_attention",
        "F": "attention mask_future masked_softmax",
    },
    "bags": {
        ":nn.functional": "embedding_bag",
        "F": "bag_maxima bag_of_row bags",
    },
    "bessel": {
        ":": "i0 i0_ sinc sinc_",
        ":special": (
            "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 i0 i0e i1 i1e modified_bessel_i0 "
            "modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 "
            "scaled_modified_bessel_k1 sinc spherical_bessel_j0"
        ),
        "F": (
            "airy_ai airy_ai_derivative bessel_i bessel_j bessel_k bessel_y scaled_bessel_i "
            "scaled_bessel_k sinc spherical_bessel_j"
        ),
        "Tensor": "i0 i0_ sinc sinc_",
    },
    "callables": {
        "Tensor": "apply_ map2_ map_",
    },
    "cholesky": {
        ":": "cholesky cholesky_inverse cholesky_solve triangular_solve",
        ":linalg": "cholesky cholesky_ex solve_triangular",
        "F": "cholesky solve_triangular",
        "Tensor": "cholesky cholesky_inverse cholesky_solve triangular_solve",
    },
    "columns": {
        ":nn.functional": "fold unfold",
        "F": "fold_images unfold_images",
    },
    "conv": {
        ":": "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d",
        ":nn.functional": "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d",
        "F": "conv conv_input conv_weight",
    },
    "cross_entropy": {
        ":nn.functional": "cross_entropy linear_cross_entropy nll_loss",
        "F": "class_weights cross_entropy nll_loss pick place",
    },
    "ctc": {
        ":": "ctc_loss",
        ":nn.functional": "ctc_loss",
        "F": "ctc_gradient ctc_loss ctc_start ctc_states within_lengths",
    },
    "decompositions": {
        ":": "geqrf lu lu_solve lu_unpack orgqr ormqr qr",
        ":linalg": (
            "householder_product ldl_factor ldl_factor_ex ldl_solve lu lu_factor lu_factor_ex lu_solve "
            "qr"
        ),
        "F": "geqrf ldl_factor ldl_unpack lu_factor pivot_matrix qr",
        "Tensor": "geqrf lu lu_solve orgqr ormqr qr",
    },
    "dense": {
        ":": "bilinear",
        ":nn.functional": "bilinear embedding linear one_hot",
        "F": (
            "embedding embedding_weight linear linear_weight one_hot renormalised scale_rows "
            "scaled_gradient sum_rows within"
        ),
    },
    "diagonals": {
        ":": "diag diag_embed diagflat diagonal tril tril_ tril_indices triu triu_ triu_indices",
        "F": "diagonal tril triu undiagonal",
        "Tensor": "diag diag_embed diagflat diagonal tril tril_ triu triu_",
    },
    "distance": {
        ":": "cosine_similarity pairwise_distance pdist",
        ":nn.functional": "cosine_similarity normalize pairwise_distance pdist",
    },
    "draws": {
        ":": "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad",
        "F": "beta_cdf_derivative gamma_cdf_derivative sample_dirichlet standard_gamma von_mises",
    },
    "dropout": {
        ":": (
            "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_ "
            "feature_dropout feature_dropout_ native_dropout rrelu rrelu_"
        ),
        ":nn.functional": (
            "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout gumbel_softmax "
            "rrelu rrelu_"
        ),
    },
    "einsum": {
        ":": "einsum tensordot",
    },
    "extrema": {
        ":": "amax amin aminmax argmax argmin max min",
        "F": "amax amin argmax argmin max max_dim min min_dim put_along",
        "Tensor": "amax amin aminmax argmax argmin max min",
    },
    "fourier": {
        ":fft": (
            "fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 "
            "ihfftn irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn"
        ),
        "F": "fft_c2c fft_c2r fft_r2c",
    },
    "joining": {
        ":": (
            "_chunk_cat block_diag cartesian_prod cat chunk column_stack combinations concat "
            "concatenate dsplit dstack hsplit hstack meshgrid row_stack split split_with_sizes stack "
            "tensor_split unbind unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit vstack"
        ),
        "F": "split unbind",
        "Tensor": (
            "chunk combinations dsplit hsplit split split_with_sizes tensor_split unbind unsafe_chunk "
            "unsafe_split unsafe_split_with_sizes vsplit"
        ),
    },
    "least_squares": {
        ":": "pinverse",
        ":linalg": "lstsq pinv",
        "F": "lstsq pinv",
        "Tensor": "pinverse",
    },
    "linalg": {
        ":": "chain_matmul det inverse logdet matrix_exp matrix_power slogdet vander",
        ":linalg": (
            "det diagonal inv inv_ex matrix_exp matrix_power multi_dot slogdet solve solve_ex tensorinv "
            "tensorsolve vander vecdot"
        ),
        "F": "cofactor cofactor_push det inv matrix_exp slogdet solve",
        "Tensor": "det inverse logdet matrix_exp matrix_power slogdet",
    },
    "loss": {
        ":nn.functional": (
            "binary_cross_entropy binary_cross_entropy_with_logits gaussian_nll_loss huber_loss kl_div "
            "l1_loss mse_loss multilabel_soft_margin_loss poisson_nll_loss smooth_l1_loss"
        ),
        "F": (
            "binary_cross_entropy binary_cross_entropy_with_logits check_variance huber kl_div mse_loss "
            "smooth_l1"
        ),
    },
    "margin": {
        ":nn.functional": (
            "cosine_embedding_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss "
            "multilabel_margin_loss soft_margin_loss triplet_margin_loss "
            "triplet_margin_with_distance_loss"
        ),
        "F": "in_classes listed_classes other_classes",
    },
    "masked": {
        ":": (
            "_unsafe_masked_index _unsafe_masked_index_put_accumulate argwhere masked_fill "
            "masked_scatter masked_select nonzero nonzero_static"
        ),
        "F": "nonzero nonzero_static",
        "Tensor": (
            "argwhere masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select nonzero "
            "nonzero_static"
        ),
    },
    "masked_reductions": {
        ":masked": (
            "amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median norm "
            "normalize prod softmax softmin std sum var"
        ),
    },
    "matrices": {
        "F": "inverse_gaps",
    },
    "multihead": {
        ":nn.functional": "multi_head_attention_forward",
    },
    "normalization": {
        ":": "group_norm rms_norm",
        ":nn.functional": "batch_norm group_norm instance_norm layer_norm local_response_norm rms_norm",
        "F": "batch_norm channel_moments layer_norm",
    },
    "norms": {
        ":": "cdist renorm renorm_",
        ":linalg": "cond matrix_norm matrix_rank norm",
        "F": "cdist",
        "Tensor": "renorm renorm_",
    },
    "padding": {
        ":": "channel_shuffle constant_pad_nd native_channel_shuffle pixel_shuffle pixel_unshuffle",
        ":nn.functional": "channel_shuffle pad pixel_shuffle pixel_unshuffle",
        "F": "add_dim pad take_dim",
    },
    "parts": {
        ":": "as_strided_scatter diagonal_scatter narrow narrow_copy select select_scatter slice_scatter",
        "Tensor": "as_strided_scatter diagonal_scatter narrow narrow_copy select select_scatter slice_scatter",
    },
    "polynomials": {
        ":special": (
            "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v "
            "chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l "
            "legendre_polynomial_p shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u "
            "shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w"
        ),
        "F": "chebyshev_t chebyshev_u gegenbauer hermite_h hermite_he laguerre legendre",
    },
    "pool": {
        ":": "adaptive_avg_pool1d avg_pool1d max_pool1d max_pool2d max_pool3d",
        ":nn.functional": (
            "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
            "adaptive_max_pool1d_with_indices adaptive_max_pool2d adaptive_max_pool2d_with_indices "
            "adaptive_max_pool3d adaptive_max_pool3d_with_indices avg_pool1d avg_pool2d avg_pool3d "
            "max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d "
            "max_pool3d_with_indices"
        ),
        "F": (
            "add_places divided_down listed_indices max_pool max_pool_backward max_pool_indices scaled "
            "sum_pool sum_pool_input take_places"
        ),
    },
    "positional": {
        ":": (
            "_native_batch_norm_legit _softmax_backward_data adaptive_max_pool1d batch_norm "
            "binary_cross_entropy_with_logits cosine_embedding_loss embedding hinge_embedding_loss "
            "instance_norm kl_div layer_norm margin_ranking_loss native_batch_norm native_group_norm "
            "native_layer_norm poisson_nll_loss triplet_margin_loss"
        ),
    },
    "properties": {
        ":": (
            "get_device is_complex is_floating_point is_inference is_same_size is_signed is_tensor "
            "numel result_type typename"
        ),
        "Tensor": "dim_order is_pinned is_same_size is_set_to",
    },
    "random": {
        ":": (
            "bernoulli binomial multinomial normal poisson rand rand_like randint randint_like randn "
            "randn_like randperm"
        ),
        "F": "bernoulli binomial check_deviation multinomial normal poisson",
        "Tensor": (
            "bernoulli bernoulli_ cauchy_ exponential_ geometric_ log_normal_ multinomial normal_ "
            "random_ uniform_"
        ),
    },
    "recurrent": {
        "F": "recurrent",
    },
    "resample": {
        ":": "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d",
        ":nn.functional": "affine_grid grid_sample interpolate upsample upsample_bilinear upsample_nearest",
        "F": "indifferent to_bytes",
    },
    "scan": {
        ":": (
            "cummax cummin cumprod cumprod_ cumsum cumsum_ cumulative_trapezoid diff gradient "
            "logcumsumexp trapezoid trapz"
        ),
        "F": "cummax cummin cumprod cumsum logcumsumexp",
        "Tensor": "cummax cummin cumprod cumprod_ cumsum cumsum_ diff logcumsumexp",
    },
    "scatter": {
        ":": (
            "gather index_add index_copy index_fill index_put index_put_ index_reduce index_select put "
            "scatter scatter_add scatter_reduce take take_along_dim unravel_index"
        ),
        "F": "gather scatter scatter_reduce ungather",
        "Tensor": (
            "gather index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_put "
            "index_put_ index_reduce index_reduce_ index_select put put_ scatter scatter_ scatter_add "
            "scatter_add_ scatter_reduce scatter_reduce_ take take_along_dim"
        ),
    },
    "segments": {
        ":": "_segment_reduce segment_reduce",
    },
    "sorting": {
        ":": (
            "argsort bucketize isin kthvalue median mode msort nanmedian searchsorted sort topk unique "
            "unique_consecutive"
        ),
        "F": (
            "isin kthvalue_dim median median_dim mode_dim nanmedian nanmedian_dim searchsorted sort "
            "topk"
        ),
        "Tensor": (
            "argsort bucketize kthvalue median mode msort nanmedian searchsorted sort topk unique "
            "unique_consecutive"
        ),
    },
    "special": {
        ":": (
            "digamma digamma_ erf erf_ erfc erfc_ erfinv erfinv_ igamma igamma_ igammac igammac_ lgamma "
            "lgamma_ mvlgamma mvlgamma_ polygamma xlogy xlogy_"
        ),
        ":special": (
            "digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammainc gammaincc gammaln log1p "
            "log_ndtr log_softmax logit logsumexp multigammaln ndtr ndtri polygamma psi round softmax "
            "xlog1py xlogy zeta"
        ),
        "F": (
            "digamma entr erf erfc erfcx erfinv igamma igammac lgamma log_ndtr ndtr ndtri polygamma "
            "xlog1py xlogy zeta"
        ),
        "Tensor": (
            "digamma digamma_ erf erf_ erfc erfc_ erfinv erfinv_ igamma igamma_ igammac igammac_ lgamma "
            "lgamma_ mvlgamma mvlgamma_ polygamma polygamma_ xlogy xlogy_"
        ),
    },
    "spectra": {
        ":": "pca_lowrank svd svd_lowrank",
        ":linalg": "eig eigh eigvals eigvalsh svd svdvals",
        "F": "eig eigh spectrum svd",
        "Tensor": "svd",
    },
    "statistics": {
        ":": "bincount corrcoef cov hash_tensor histc histogram histogramdd nanquantile quantile",
        "F": "hash_tensor histc histogram",
        "Tensor": "bincount corrcoef cov histc histogram histogramdd nanquantile quantile",
    },
    "stft": {
        ":": "istft stft",
        "Tensor": "istft stft",
    },
    "strides": {
        ":": "as_strided as_strided_ squeeze_ t_ unsqueeze_",
        "F": "as_strided fold_windows unfold",
        "Tensor": "as_strided as_strided_ set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unfold unsqueeze_",
    },
    "typed": {
    },
    "unpool": {
        ":nn.functional": (
            "fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
            "fractional_max_pool3d_with_indices lp_pool1d lp_pool2d lp_pool3d max_unpool1d max_unpool2d "
            "max_unpool3d"
        ),
        "F": "put_places random_indices",
    },
    "view_copies": {
        ":": (
            "alias_copy as_strided_copy diagonal_copy expand_copy permute_copy select_copy "
            "split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy "
            "unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy"
        ),
    },
    "windows": {
        ":": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
        ":signal.windows": (
            "bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann "
            "kaiser nuttall"
        ),
    },
}
