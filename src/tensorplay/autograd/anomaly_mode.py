"""Anomaly mode: a failing or NaN gradient is traced back to the forward call it belongs to."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core.carrier import Carrier
from ..core.node import Node
from ..core.state import set_recording, state
from ..core.tensor import Tensor

__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_detect_anomaly"]


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on in this thread."""
    return state.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN."""
    return state.anomaly_check_nan


class set_detect_anomaly:
    """Switch anomaly mode on or off: at once as a function, for a while as a context manager.

    Parameters
    ----------
    mode : bool
        Whether operators note the traceback of their call, and backward passes check what they compute.
    check_nan : bool
        Whether a NaN in a gradient raises. Without it, only errors in the backward pass are traced.

    See Also
    --------
    detect_anomaly : what it does, with an example.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = state.anomaly, state.anomaly_check_nan
        self.set(mode, check_nan)

    @staticmethod
    def set(mode: bool, check_nan: bool) -> None:
        state.anomaly, state.anomaly_check_nan = mode, check_nan
        set_recording(bool(state.recording))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        self.set(*self.before)


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off, as :class:`set_detect_anomaly` does."""
    set_detect_anomaly.set(enabled, check_nan)


class detect_anomaly:
    """Find the forward call behind an error or a NaN in the backward pass.

    Inside, every operator notes the traceback of its call. An exception in the backward pass then names the operator
    and carries that traceback, and a gradient that holds NaN is such an exception. Slow: for debugging.

    Parameters
    ----------
    check_nan : bool
        Whether a NaN in a gradient raises.

    Raises
    ------
    RuntimeError
        From ``backward``, if a gradient holds NaN.

    Examples
    --------
    >>> import warnings
    >>> import tensorplay as tp
    >>> warnings.simplefilter("ignore")
    >>> x = tp.tensor([0.], requires_grad=True)
    >>> with tp.autograd.detect_anomaly():
    ...     y = (x.log() * 0).sum()
    ...     y.backward()
    Traceback (most recent call last):
    RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.
    ...
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
                      "enabled for debugging.", UserWarning, stacklevel=2)  # fmt: skip

    def __enter__(self) -> None:
        self.setting = set_detect_anomaly(True, self.check_nan)

    def __exit__(self, *exc: object) -> None:
        self.setting.__exit__()


def values(part: Any) -> Any:
    """The arrays in a gradient, for looking at."""
    data = part._data if isinstance(part, Tensor) else part
    if isinstance(data, Carrier):
        for inner in [getattr(data, name) for name in ("value", "primal", "tangent") if hasattr(data, name)]:
            yield from values(inner)
    elif isinstance(data, (np.ndarray, np.generic)):
        yield data


def check_finite(run: Any, node: Node, parts: Any) -> None:
    """Refuse NaN in what a node returned; note where the first infinity came from, where a NaN often begins."""
    if not state.anomaly_check_nan:
        return
    for i, part in enumerate(parts):
        for array in values(part):
            if np.isnan(array).any():
                first = run.notes.get("infinite")
                origin = f" The first infinite gradient came from {first}." if first and first != node.name() else ""
                raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.{origin}")
            if "infinite" not in run.notes and np.isinf(array).any():
                run.notes["infinite"] = node.name()


def explain(error: Exception, node: Node) -> None:
    """Add to an exception which forward call the failing node belongs to. The same class, its message extended."""
    if getattr(error, "_explained", False):
        return
    lines = [f"Error detected in {node.name()}. {origin_of(node)}"]
    seen = {node}
    parent = None if node.rare is None else node.rare.parent
    while parent is not None and parent not in seen:
        seen.add(parent)
        lines.append(f"This node was made by the backward of {parent.name()}. {origin_of(parent)}")
        parent = None if parent.rare is None else parent.rare.parent
    note = "\n".join(lines)
    text = str(error.args[0]) if error.args else ""
    error.args = (f"{text}\n{note}" if text else note, *error.args[1:])
    error._explained = True  # type: ignore[attr-defined]


def origin_of(node: Node) -> str:
    """The traceback of the call that made a node, in words."""
    rare = node.rare
    if rare is None or rare.traceback is None:
        return "No forward pass information available. Enable detect anomaly during forward pass for more information."
    return f"Traceback of forward call that caused the error:\n{''.join(rare.traceback)}".rstrip()
