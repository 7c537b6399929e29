"""Sources of random numbers: NumPy's bit generators with PyTorch's interface, safe to share between threads."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .device import as_device, device
from .state import state
from .tensor import Tensor, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_SEED = 67280421310721  # what a new Generator is seeded with, as in PyTorch
STATE_WORDS = 7  # the seed, four words of SFC64, and the half of a draw that is left over with its flag


def refuse_compiled(what: str) -> None:
    """A compiled function draws its random numbers before it runs: nothing in it can tell generators what to do."""
    if state.tracing is not None:
        state.tracing.refuse(what)


class Generator:
    """A source of random numbers, with a state of its own.

    Parameters
    ----------
    device
        Only the CPU.

    Examples
    --------
    >>> import tensorplay as tp
    >>> g = tp.Generator().manual_seed(0)
    >>> bool((tp.rand(3, generator=g) == tp.rand(3, generator=g.manual_seed(0))).all())
    True
    """

    __slots__ = ("__weakref__", "_lock", "_numpy", "_seed")

    def __init__(self, device: Any = "cpu") -> None:
        if as_device(device).type != "cpu":
            raise RuntimeError(f"Generator(): random numbers are made on the cpu alone, got device {device}")
        refuse_compiled("making a Generator")
        self._seed: int | None = DEFAULT_SEED
        self._numpy: np.random.Generator | None = None
        self._lock = threading.Lock()

    @property
    def device(self) -> device:
        """The CPU."""
        return as_device("cpu")

    @property
    def numpy(self) -> np.random.Generator:
        """The generator as NumPy's; made at the first need, as importing NumPy's random module takes a while."""
        made = self._numpy
        if made is None:
            with self._lock:
                if self._numpy is None:
                    self._numpy = np.random.Generator(np.random.SFC64(self.initial_seed()))
                made = self._numpy
        return made

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream that belongs to a number.

        Parameters
        ----------
        seed
            From -2**63 to 2**64 - 1; a negative one counts back from 2**64.

        Raises
        ------
        RuntimeError
            If the number is out of range.
        """
        refuse_compiled("manual_seed()")
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise RuntimeError(
                f"manual_seed(): Overflow when unpacking long, got {seed}; use a seed from -2**63 to 2**64 - 1"
            )
        with self._lock:
            self._seed, self._numpy = seed % 2**64, None
        return self

    def seed(self) -> int:
        """Start a stream that nobody knows, and return its seed."""
        import secrets

        seed = secrets.randbits(63)
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed that the stream was started with."""
        if self._seed is None:
            import secrets

            self._seed = secrets.randbits(63)
        return self._seed

    def get_state(self) -> Tensor:
        """The state as a tensor of bytes."""
        refuse_compiled("get_state() of a Generator")
        generator = self.numpy.bit_generator
        with generator.lock:
            parts = generator.state
        words = np.empty(STATE_WORDS, np.uint64)
        words[0], words[1:5] = self.initial_seed(), parts["state"]["state"]
        words[5], words[6] = parts["has_uint32"], parts["uinteger"]
        return wrap(words.view(np.uint8))

    def set_state(self, new_state: Tensor) -> None:
        """Go on from a state that :meth:`get_state` gave.

        Raises
        ------
        TypeError
            If it is no tensor of bytes.
        RuntimeError
            If it has the wrong size.
        """
        refuse_compiled("set_state() of a Generator")
        if not isinstance(new_state, Tensor) or new_state._data.dtype != np.uint8:
            kind = new_state.dtype if isinstance(new_state, Tensor) else type(new_state).__name__
            raise TypeError(f"set_state(): expected a ByteTensor, but got {kind}")
        if new_state._data.shape != (8 * STATE_WORDS,):
            raise RuntimeError(
                f"set_state(): RNG state is wrong size: got {list(new_state.shape)}, want [{8 * STATE_WORDS}]"
            )
        words = np.array(new_state._data).view(np.uint64)
        made = np.random.SFC64(0)
        made.state = {
            "bit_generator": "SFC64",
            "state": {"state": words[1:5].copy()},
            "has_uint32": int(words[5]),
            "uinteger": int(words[6]),
        }
        with self._lock:
            self._seed, self._numpy = int(words[0]), np.random.Generator(made)

    def clone_state(self) -> Generator:
        """A new generator in the same state."""
        other = Generator()
        other.set_state(self.get_state())
        return other

    def __reduce__(self) -> Any:
        return from_state, (self.get_state()._data.tobytes(),)

    def __repr__(self) -> str:
        return "<tensorplay.Generator device='cpu'>"


def from_state(words: bytes) -> Generator:
    """The generator of a pickle."""
    made = Generator()
    made.set_state(wrap(np.frombuffer(words, np.uint8)))
    return made


default_generator = Generator()
"""What random operators draw from when they are given no generator; shared by all threads."""
default_generator._seed = None  # chosen at the first need


def manual_seed(seed: int) -> Generator:
    """Seed the default generator, and return it; see :meth:`Generator.manual_seed`.

    Examples
    --------
    >>> import tensorplay as tp
    >>> _ = tp.manual_seed(0)
    >>> a = tp.rand(2)
    >>> _ = tp.manual_seed(0)
    >>> bool((a == tp.rand(2)).all())
    True
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Give the default generator a seed that nobody knows, and return it.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.seed() == tp.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator was started with.

    Examples
    --------
    >>> import tensorplay as tp
    >>> tp.manual_seed(7).initial_seed() == tp.initial_seed() == 7
    True
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator, as a tensor of bytes.

    Examples
    --------
    >>> import tensorplay as tp
    >>> state = tp.get_rng_state()
    >>> a = tp.rand(2)
    >>> tp.set_rng_state(state)
    >>> bool((a == tp.rand(2)).all())
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator go on from a state that :func:`get_rng_state` gave.

    Raises
    ------
    TypeError, RuntimeError
        As :meth:`Generator.set_state` does.
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Any = None, enabled: bool = True, _caller: str = "", _devices_kw: str = "", device_type: str = "cpu"
) -> Iterator[None]:
    """Put the default generator's state back at the end of a ``with`` block.

    Parameters
    ----------
    devices, device_type
        Accepted; the default generator is the only one.
    enabled : bool
        Whether anything is done at all.

    Examples
    --------
    >>> import tensorplay as tp
    >>> with tp.random.fork_rng():
    ...     a = tp.rand(2)
    >>> bool((a == tp.rand(2)).all())
    True
    """
    if not enabled:
        yield
        return
    before = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(before)
