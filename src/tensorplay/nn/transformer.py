"""Multi-head attention and transformers (Vaswani et al., 2017)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ops.factories import empty, full
from . import functional as F
from . import init
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear, NonDynamicallyQuantizableLinear
from .module import Module
from .normalization import LayerNorm
from .parameter import Parameter


class MultiheadAttention(Module):
    """Attention of several heads, with the maps into and out of them.

    Parameters
    ----------
    embed_dim, num_heads : int
        The size of queries and outputs, which is divided among the heads.
    dropout : float
        The probability with which attention weights are dropped in training.
    bias : bool
        Whether the maps have biases.
    add_bias_kv : bool
        Whether one learned key and value is added to the sequence.
    add_zero_attn : bool
        Whether one key and value of zeros is added.
    kdim, vdim : int, optional
        Sizes of keys and values; ``embed_dim`` by default.
    batch_first : bool
        Whether tensors are (B, T, E) rather than (T, B, E).

    Examples
    --------
    >>> import tensorplay as tp
    >>> attention = tp.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = tp.zeros(3, 5, 8)
    >>> output, weights = attention(x, x, x)
    >>> output.shape, weights.shape
    (tensorplay.Size([3, 5, 8]), tensorplay.Size([3, 5, 5]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                             f"num_heads={num_heads} instead")  # fmt: skip
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.add_zero_attn = add_zero_attn

        def parameter(there: bool, *shape: int) -> Parameter | None:
            return Parameter(empty(shape, device=device, dtype=dtype)) if there else None

        one, e = self._qkv_same_embed_dim, embed_dim
        self.register_parameter("in_proj_weight", parameter(one, 3 * e, e))
        self.register_parameter("q_proj_weight", parameter(not one, e, e))
        self.register_parameter("k_proj_weight", parameter(not one, e, self.kdim))
        self.register_parameter("v_proj_weight", parameter(not one, e, self.vdim))
        self.register_parameter("in_proj_bias", parameter(bias, 3 * e))
        self.out_proj = NonDynamicallyQuantizableLinear(e, e, bias=bias, device=device, dtype=dtype)
        self.register_parameter("bias_k", parameter(add_bias_kv, 1, 1, e))
        self.register_parameter("bias_v", parameter(add_bias_kv, 1, 1, e))
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for added in (self.bias_k, self.bias_v):
            if added is not None:
                init.xavier_normal_(added)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Parameters
        ----------
        query, key, value : Tensor
            Of shapes (L, B, E), (S, B, kdim) and (S, B, vdim), with the batch first if ``batch_first``, or without one.
        key_padding_mask : Tensor, optional
            (B, S): keys that are left out (True), or what is added to their scores.
        need_weights : bool
            Whether the weights are returned, (B, L, S), or by head unless ``average_attn_weights``.
        attn_mask : Tensor, optional
            (L, S) or (B * heads, L, S): pairs that are left out (True), or what is added to their scores.
        is_causal : bool
            A hint that ``attn_mask`` is the causal one.

        Returns
        -------
        Tensor, Tensor or None
            The outputs, and the weights.
        """
        turn = self.batch_first and query.ndim == 3
        if turn:
            query, key, value = (t.transpose(0, 1) for t in (query, key, value))
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(0, 1) if turn else output), weights


def activation_of(activation: str | Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """An activation by name, or itself."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def copies(module: Module, n: int) -> ModuleList:
    """As many modules that begin alike."""
    return ModuleList(copy.deepcopy(module) for _ in range(n))


class TransformerLayer(Module):
    """What the layers of encoder and decoder have in common."""

    self_attn: MultiheadAttention
    linear1: Linear
    linear2: Linear
    dropout: Dropout
    dropout1: Dropout
    ends_with = "dropout2"
    activation: Callable[[Tensor], Tensor]

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        name = getattr(self.activation, "__name__", "")
        if name and getattr(F, name, None) is self.activation:  # operators are pickled by name
            state["activation"] = name
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if isinstance(self.activation, str):
            self.activation = getattr(F, self.activation)

    # parts of forward, by the names that subclasses override them by

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        out = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False,
                             is_causal=is_causal)[0]  # fmt: skip
        return self.dropout1(out)

    def _ff_block(self, x: Tensor) -> Tensor:
        out = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return getattr(self, self.ends_with)(out)


class TransformerEncoderLayer(TransformerLayer):
    """Self-attention and a network of two layers, each with a residual connection and a normalisation.

    Parameters
    ----------
    d_model, nhead, dim_feedforward : int
        The size of the entries, the number of heads, and the size of the hidden layer.
    dropout : float
        The probability of dropout.
    activation : str or callable
        ``"relu"``, ``"gelu"``, or a function of one tensor.
    layer_norm_eps : float
        What the normalisations add to the variance.
    batch_first : bool
        Whether tensors are (B, T, E) rather than (T, B, E).
    norm_first : bool
        Whether normalisation comes before attention and network rather than after.
    bias : bool
        Whether maps and normalisations have biases.

    Examples
    --------
    >>> import tensorplay as tp
    >>> layer = tp.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
    >>> layer(tp.zeros(5, 3, 8)).shape
    tensorplay.Size([5, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **place)
        self.linear1 = Linear(d_model, dim_feedforward, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **place)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, **place)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, **place)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = activation_of(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Encode; the masks are those of :class:`MultiheadAttention`."""
        masks = src_mask, src_key_padding_mask
        if self.norm_first:
            x = src + self._sa_block(self.norm1(src), *masks, is_causal=is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(src + self._sa_block(src, *masks, is_causal=is_causal))
        return self.norm2(x + self._ff_block(x))


class TransformerDecoderLayer(TransformerLayer):
    """Self-attention, attention to the encoder's output, and a network of two layers.

    The parameters are those of :class:`TransformerEncoderLayer`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> layer = tp.nn.TransformerDecoderLayer(8, 2, dim_feedforward=16)
    >>> layer(tp.zeros(4, 3, 8), tp.zeros(5, 3, 8)).shape
    tensorplay.Size([4, 3, 8])
    """

    ends_with = "dropout3"

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **place)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **place)
        self.linear1 = Linear(d_model, dim_feedforward, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **place)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, **place)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, **place)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, **place)
        self.dropout1, self.dropout2, self.dropout3 = Dropout(dropout), Dropout(dropout), Dropout(dropout)
        self.activation = activation_of(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode; ``memory`` is the encoder's output, and the masks are those of :class:`MultiheadAttention`."""
        masks, of_memory = (tgt_mask, tgt_key_padding_mask), (memory, memory_mask, memory_key_padding_mask)
        if self.norm_first:
            x = tgt + self._sa_block(self.norm1(tgt), *masks, is_causal=tgt_is_causal)
            x = x + self._mha_block(self.norm2(x), *of_memory, is_causal=memory_is_causal)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(tgt + self._sa_block(tgt, *masks, is_causal=tgt_is_causal))
        x = self.norm2(x + self._mha_block(x, *of_memory, is_causal=memory_is_causal))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        out = self.multihead_attn(x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
                                  need_weights=False, is_causal=is_causal)[0]  # fmt: skip
        return self.dropout2(out)


class TransformerEncoder(Module):
    """Copies of a layer, one after another.

    Parameters
    ----------
    encoder_layer : TransformerEncoderLayer
        What is copied, with its parameters.
    num_layers : int
        How often.
    norm : Module, optional
        What comes last.
    enable_nested_tensor, mask_check : bool
        Without effect: there are no nested tensors here.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Encode; the masks are those of :class:`MultiheadAttention`."""
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Copies of a layer, one after another.

    Parameters
    ----------
    decoder_layer : TransformerDecoderLayer
        What is copied, with its parameters.
    num_layers : int
        How often.
    norm : Module, optional
        What comes last.
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode; ``memory`` is the encoder's output, and the masks are those of :class:`MultiheadAttention`."""
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder.

    Parameters
    ----------
    d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias
        As of :class:`TransformerEncoderLayer`.
    num_encoder_layers, num_decoder_layers : int
        How many layers there are.
    custom_encoder, custom_decoder : Module, optional
        What stands in their place.

    Examples
    --------
    >>> import tensorplay as tp
    >>> model = tp.nn.Transformer(8, 2, 1, 1, 16)
    >>> mask = model.generate_square_subsequent_mask(4)
    >>> model(tp.zeros(5, 3, 8), tp.zeros(4, 3, 8), tgt_mask=mask).shape
    tensorplay.Size([4, 3, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options: Any = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first,
                        bias, device, dtype)  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, norm()
        )  # fmt: skip
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, norm()
        )  # fmt: skip
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        for p in self.parameters():
            if p.ndim > 1:
                init.xavier_uniform_(p)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Encode ``src``, and decode ``tgt`` with the help of that."""
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """The causal mask: 0 on and below the diagonal, minus infinity above."""
        return full((sz, sz), -math.inf, device=device, dtype=dtype).triu(1)
