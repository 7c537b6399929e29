"""Recurrent layers: RNN, LSTM and GRU over sequences, and their cells for one step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ops.factories import empty
from ..ops.joining import cat, stack
from ..ops.recurrent import CELLS, recurrent
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

State = Any  # a tensor, or for LSTM a pair of tensors


def each(f: Callable[..., Tensor], *states: State) -> State:
    """A function of states, tensor by tensor."""
    return tuple(map(f, *states)) if isinstance(states[0], tuple) else f(*states)


# ---- layers


class RNNBase(Module):
    """What :class:`RNN`, :class:`LSTM` and :class:`GRU` have in common.

    Parameters
    ----------
    mode : str
        ``"RNN_TANH"``, ``"RNN_RELU"``, ``"LSTM"`` or ``"GRU"``.
    input_size, hidden_size : int
        Sizes of the entries of the input and of the state.
    num_layers : int
        How many layers stand above one another.
    bias : bool
        Whether the maps have biases.
    batch_first : bool
        Whether input and output are (B, T, ...) rather than (T, B, ...).
    dropout : float
        The probability with which outputs of all layers but the last are dropped in training.
    bidirectional : bool
        Whether each layer runs in both directions.
    proj_size : int
        For LSTM, the size to which ``h`` is projected, if it is not 0.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if mode not in CELLS:
            raise ValueError("Unrecognized RNN mode: " + mode)
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1], the probability of an element being "
                             f"zeroed, got {dropout}")  # fmt: skip
        if dropout > 0 and num_layers == 1:
            warnings.warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                          f"num_layers greater than 1, but got dropout={dropout} and "
                          f"num_layers={num_layers}", stacklevel=3)  # fmt: skip
        if not isinstance(hidden_size, int):
            raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
        for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
            if size <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if not 0 <= proj_size < hidden_size:
            raise ValueError("proj_size should be a positive integer, smaller than hidden_size, or zero to disable "
                             f"projections; got {proj_size}")  # fmt: skip
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._all_names: list[list[str]] = []
        directions = ("", "_reverse") if bidirectional else ("",)
        gates, out = CELLS[mode].gates * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            size = input_size if layer == 0 else out * len(directions)
            for direction in directions:
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, size), "weight_hh": (gates, out)}
                if bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = [f"{name}_l{layer}{direction}" for name in shapes]
                for name, shape in zip(names, shapes.values()):
                    setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
                self._all_names.append(names)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values, uniform within ``1 / sqrt(hidden_size)``."""
        bound = 1 / math.sqrt(self.hidden_size)
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_names]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_names for name in names]

    @property
    def _flat_weights(self) -> tuple[Tensor, ...]:
        """The parameters in a row, for programs that look at them; a tuple, as to change it would change nothing."""
        return tuple([getattr(self, name) for name in self._flat_weights_names])

    def flatten_parameters(self) -> None:
        """Nothing: here it makes no difference where the parameters are in memory."""

    def forward(self, input: Any, hx: State = None) -> tuple[Any, State]:
        """Run over the sequences.

        Parameters
        ----------
        input : Tensor or PackedSequence
            Of shape (T, B, input_size), with ``batch_first`` (B, T, input_size), or (T, input_size) for one sequence.
        hx : Tensor or pair of Tensors, optional
            The first state of each layer and direction, (layers * directions, B, size); zeros by default.

        Returns
        -------
        Tensor or PackedSequence, and Tensor or pair of Tensors
            The last layer's outputs, and the last states.
        """
        packed = input if isinstance(input, PackedSequence) else None
        if packed is not None:
            sizes: Any = packed.batch_sizes.tolist()
            whole, batch, alone = packed.data, sizes[0], False
        else:
            if input.ndim not in (2, 3):
                raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.ndim}D instead")
            alone = input.ndim == 2
            whole = input.unsqueeze(1) if alone else input.transpose(0, 1) if self.batch_first else input
            sizes, batch = None, whole.shape[1]
        if whole.shape[-1] != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                               f"{whole.shape[-1]}")  # fmt: skip
        if whole.dtype is not getattr(self, self._all_names[0][0]).dtype:
            self._refuse_dtype(whole)
        if whole.shape[0] == 0:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        state = self._first_state(whole, hx, batch, alone)
        if packed is not None and packed.sorted_indices is not None:
            state = each(lambda s: s.index_select(1, packed.sorted_indices), state)
        whole, last = self._run_layers(whole, sizes, state)
        if packed is not None:
            if packed.unsorted_indices is not None:
                last = each(lambda s: s.index_select(1, packed.unsorted_indices), last)
            return packed._replace(data=whole), last
        if alone:
            return whole.squeeze(1), each(lambda s: s.squeeze(1), last)
        return (whole.transpose(0, 1) if self.batch_first else whole), last

    def _refuse_dtype(self, whole: Tensor) -> None:
        from ..amp.autocast_mode import is_autocast_enabled

        own = getattr(self, self._all_names[0][0]).dtype
        if not is_autocast_enabled("cpu"):
            raise ValueError(f"{self._get_name()}: the input's dtype {whole.dtype} is not that of the weights, {own}. "
                             f"Convert the input, input.to({own}), or the model, model.to({whole.dtype})")  # fmt: skip

    def _first_state(self, whole: Tensor, hx: State, batch: int, alone: bool) -> State:
        lstm, places = self.mode == "LSTM", self.num_layers * (2 if self.bidirectional else 1)
        sizes = [self.proj_size or self.hidden_size, self.hidden_size][: 1 + lstm]
        if hx is None:
            made = tuple(whole.new_zeros((places, batch, size)) for size in sizes)
            return made if lstm else made[0]
        if lstm and not (isinstance(hx, (tuple, list)) and len(hx) == 2):
            raise ValueError("LSTM: hx must be a pair of tensors (h_0, c_0)")
        given = tuple(hx) if lstm else (hx,)
        for s, size, name in zip(given, sizes, ("hidden", "cell") if lstm else ("hidden",)):
            want = (places, size) if alone else (places, batch, size)
            if s.ndim != len(want):
                kind, rank = ("unbatched 2-D", "2-D") if alone else ("batched 3-D", "3-D")
                raise RuntimeError(f"For {kind} input, hx should also be {rank} but got {s.ndim}-D tensor")
            if tuple(s.shape) != want:
                raise RuntimeError(f"Expected {name} size {want}, got {list(s.shape)}")
        given = tuple(s.unsqueeze(1) for s in given) if alone else given
        return given if lstm else given[0]

    def _run_layers(self, whole: Tensor, sizes: list[int] | None, state: State) -> tuple[Tensor, State]:
        shape, lstm = whole.shape, self.mode == "LSTM"
        if sizes is None:  # the steps behind one another, as in a packed sequence
            sizes, whole = [shape[1]] * shape[0], whole.reshape(shape[0] * shape[1], shape[2])
        h, c = state if lstm else (state, [None] * len(self._all_names))
        ends, directions = [], 2 if self.bidirectional else 1
        for layer in range(self.num_layers):
            if layer and self.dropout:
                whole = F.dropout(whole, self.dropout, self.training)
            sides = []
            for side in range(directions):
                place = layer * directions + side
                weight_ih, weight_hh, *more = [getattr(self, name) for name in self._all_names[place]]
                bias_ih, bias_hh = more[:2] if self.bias else (None, None)
                project = more[-1] if self.proj_size else None
                out, *end = recurrent(
                    whole, h[place], weight_ih, weight_hh, c[place], bias_ih, bias_hh, project,
                    self.mode, tuple(sizes), side == 1,
                )  # fmt: skip
                sides.append(out)
                ends.append(end)
            whole = sides[0] if directions == 1 else cat(sides, -1)
        if len(shape) == 3:
            whole = whole.reshape(shape[0], shape[1], whole.shape[1])
        last = tuple(stack(parts, 0) for parts in zip(*ends))
        return whole, last if lstm else last[0]

    def extra_repr(self) -> str:
        """Sizes, and options that are not the usual ones."""
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0,
                 "bidirectional": False}  # fmt: skip
        shown = [f"{self.input_size}, {self.hidden_size}"]
        shown += [f"{k}={getattr(self, k)}" for k, v in usual.items() if getattr(self, k) != v]
        return ", ".join(shown)


class RNN(RNNBase):
    """A recurrent network: ``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)`` (Elman, 1990).

    The parameters are those of :class:`RNNBase`; ``nonlinearity`` is ``"tanh"`` or ``"relu"``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> output, last = tp.nn.RNN(3, 4)(tp.zeros(5, 2, 3))
    >>> output.shape, last.shape
    (tensorplay.Size([5, 2, 4]), tensorplay.Size([1, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, 0, device, dtype)  # fmt: skip
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997).

    The parameters are those of :class:`RNNBase`. The state is a pair ``(h, c)``.

    Examples
    --------
    >>> import tensorplay as tp
    >>> output, (h, c) = tp.nn.LSTM(3, 4, bidirectional=True)(tp.zeros(5, 2, 3))
    >>> output.shape, h.shape, c.shape
    (tensorplay.Size([5, 2, 8]), tensorplay.Size([2, 2, 4]), tensorplay.Size([2, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
                         proj_size, device, dtype)  # fmt: skip


class GRU(RNNBase):
    """Gated recurrent units (Cho et al., 2014).

    The parameters are those of :class:`RNNBase`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> output, last = tp.nn.GRU(3, 4, batch_first=True)(tp.zeros(2, 5, 3))
    >>> output.shape, last.shape
    (tensorplay.Size([2, 5, 4]), tensorplay.Size([1, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0,
                         device, dtype)  # fmt: skip


# ---- cells


class RNNCellBase(Module):
    """What the cells have in common; ``num_chunks`` is the number of their gates."""

    mode: str

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        shapes = {"weight_ih": (gates, input_size), "weight_hh": (gates, hidden_size)}
        for name, shape in shapes.items():
            setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
        for name in ("bias_ih", "bias_hh"):
            made = Parameter(empty((gates,), device=device, dtype=dtype)) if bias else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values, uniform within ``1 / sqrt(hidden_size)``."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def _step(self, input: Tensor, hx: State) -> State:
        name = self._get_name()
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.shape[-1]} expected {self.input_size}")
        lstm = self.mode == "LSTM"
        if hx is None:
            zero = input.new_zeros((*input.shape[:-1], self.hidden_size))
            hx = (zero, zero) if lstm else zero
        hx = tuple(hx) if lstm else hx
        for s in hx if lstm else (hx,):
            if tuple(s.shape) != (*input.shape[:-1], self.hidden_size):
                raise RuntimeError(f"{name}: expected a state of shape {(*input.shape[:-1], self.hidden_size)}, got "
                                   f"{tuple(s.shape)}")  # fmt: skip
        mapped = F.linear(input, self.weight_ih, self.bias_ih)  # one step alone costs less as operators
        state = CELLS[self.mode].step(mapped, hx if lstm else (hx,), self.weight_hh, self.bias_hh, None)
        return state if lstm else state[0]

    def extra_repr(self) -> str:
        """Sizes, and options that are not the usual ones."""
        shown = f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else f", bias={self.bias}")
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return shown + ("" if nonlinearity == "tanh" else f", nonlinearity={nonlinearity}")


class RNNCell(RNNCellBase):
    """One step of :class:`RNN`: from (B, input_size) and (B, hidden_size) to (B, hidden_size).

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.nn.RNNCell(3, 4)(tp.zeros(2, 3)).shape
    tensorplay.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity, self.mode = nonlinearity, f"RNN_{nonlinearity.upper()}"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        return self._step(input, hx)


class LSTMCell(RNNCellBase):
    """One step of :class:`LSTM`, whose state is a pair ``(h, c)``."""

    mode = "LSTM"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next state."""
        return self._step(input, hx)


class GRUCell(RNNCellBase):
    """One step of :class:`GRU`."""

    mode = "GRU"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        return self._step(input, hx)
