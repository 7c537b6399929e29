"""Writes what happens in training to files that TensorBoard reads."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.tensor import Tensor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FileWriter", "SummaryWriter"]


def tensorboard() -> None:
    """Make sure of the package that defines the format.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        import tensorboard.compat.proto.event_pb2  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "SummaryWriter needs the package tensorboard: pip install 'tensorplay[tensorboard]'"
        ) from error


class FileWriter:
    """Writes events to a file in a folder, in a thread of its own.

    Parameters
    ----------
    log_dir : str
        The folder.
    max_queue : int
        Events that may wait to be written.
    flush_secs : float
        Seconds after which what was written is flushed to the disk.
    filename_suffix : str
        End of the file's name.

    Raises
    ------
    ImportError
        Without the package tensorboard.
    """

    def __init__(self, log_dir: str, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = "") -> None:
        tensorboard()
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Write an event, with its step and time."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Write a summary as an event."""
        from tensorboard.compat.proto.event_pb2 import Event

        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Wait until all events are on the disk."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what is left, and close the file."""
        self.event_writer.close()


class SummaryWriter:
    """Logs numbers, distributions, pictures, text and more to a folder, for TensorBoard to show.

    Use it in a ``with`` block, or call :meth:`close`. Tags with slashes are grouped: ``"loss/train"``, ``"loss/test"``.
    Values may be tensors, arrays or numbers. ``global_step`` counts steps of training, and ``walltime`` (seconds since
    the epoch) stands for the present if left out.

    Parameters
    ----------
    log_dir : str or path, optional
        The folder; ``runs/<time>_<host><comment>`` if left out.
    comment : str
        End of that folder's name.
    purge_step : int, optional
        Events of an earlier run from this step on are hidden: for runs that go on after a crash.
    max_queue : int
        Events that may wait to be written.
    flush_secs : float
        Seconds after which what was written is flushed to the disk.
    filename_suffix : str
        End of the names of files.

    Raises
    ------
    ImportError
        Without the package tensorboard, which the extra ``tensorplay[tensorboard]`` installs.

    Examples
    --------
    >>> import tempfile
    >>> import tensorplay as tp
    >>> from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    >>> from tensorplay.utils.tensorboard import SummaryWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with SummaryWriter(folder) as writer:
    ...         for step in range(3):
    ...             writer.add_scalar("loss", tp.tensor(1 / 2**step), step)
    ...     log = EventAccumulator(folder).Reload()
    ...     [(event.step, event.value) for event in log.Scalars("loss")]
    [(0, 1.0), (1, 0.5), (2, 0.25)]
    """

    def __init__(
        self, log_dir: str | os.PathLike[str] | None = None, comment: str = "", purge_step: int | None = None,
        max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = "",
    ) -> None:  # fmt: skip
        tensorboard()
        if log_dir is None:
            import socket
            from datetime import datetime

            log_dir = os.path.join("runs", f"{datetime.now():%b%d_%H-%M-%S}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self.purge_step, self.max_queue, self.flush_secs = purge_step, max_queue, flush_secs
        self.filename_suffix = filename_suffix
        self.all_writers: dict[str, FileWriter] = {}
        self._projector: Any = None
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The main file; opened anew after :meth:`close`."""
        if self.log_dir not in self.all_writers:
            writer = self.all_writers[self.log_dir] = self._file_writer(self.log_dir)
            if self.purge_step is not None:
                from tensorboard.compat.proto.event_pb2 import Event, SessionLog

                writer.add_event(Event(file_version="brain.Event:2"), self.purge_step)
                writer.add_event(Event(session_log=SessionLog(status=SessionLog.START)), self.purge_step)
                self.purge_step = None
        return self.all_writers[self.log_dir]

    def _file_writer(self, folder: str) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    @property
    def file_writer(self) -> FileWriter:
        """What writes the main file."""
        return self._get_file_writer()

    def get_logdir(self) -> str:
        """The folder of the log."""
        return self.log_dir

    def _add(self, summary: Any, step: int | None, walltime: float | None) -> None:
        self._get_file_writer().add_summary(summary, step, walltime)

    # ---- numbers

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None, walltime: float | None = None,
        new_style: bool = False, double_precision: bool = False,
    ) -> None:  # fmt: skip
        """Log a number.

        Parameters
        ----------
        tag : str
            Its name.
        scalar_value : float or Tensor of one element
            The number.
        global_step : int, optional
            The step.
        walltime : float, optional
            The time.
        new_style : bool
            Write it as a tensor, as later versions of TensorBoard do; the old form is read faster by some.
        double_precision : bool
            Write it as float64, which the new form can hold.

        Raises
        ------
        AssertionError
            If there is more than one element.
        """
        from . import summary

        self._add(summary.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Log several numbers that are shown in one chart; each has a file of its own, in a folder of its own.

        Parameters
        ----------
        main_tag : str
            Name of the chart.
        tag_scalar_dict : dict
            The numbers by their names.
        global_step : int, optional
            The step.
        walltime : float, optional
            The time.
        """
        from . import summary

        walltime = time.time() if walltime is None else walltime
        for name, value in tag_scalar_dict.items():
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{name}"
            made = summary.scalar(main_tag, value)
            if folder not in self.all_writers:
                self.all_writers[folder] = self._file_writer(folder)
            self.all_writers[folder].add_summary(made, global_step, walltime)

    def add_tensor(
        self, tag: str, tensor: Tensor, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Log a tensor as it is; TensorBoard has no view of it, but its reader does.

        Parameters
        ----------
        tag : str
            Its name.
        tensor : Tensor
            The values.
        global_step : int, optional
            The step.
        walltime : float, optional
            The time.
        """
        from . import summary

        self._add(summary.tensor(tag, tensor), global_step, walltime)

    def add_histogram(
        self, tag: str, values: Any, global_step: int | None = None, bins: Any = "tensorflow",
        walltime: float | None = None, max_bins: int | None = None,
    ) -> None:  # fmt: skip
        """Log how values are distributed.

        Parameters
        ----------
        tag : str
            Name of the distribution.
        values : Tensor
            The values, in any shape.
        global_step : int, optional
            The step.
        bins : str, int or sequence
            "tensorflow": bins that grow by a tenth, from 1e-12 on; else what :func:`numpy.histogram` takes.
        walltime : float, optional
            The time.
        max_bins : int, optional
            Join bins until there are about as many.

        Raises
        ------
        ValueError
            If there are no values, or none within the bins.
        """
        from . import summary

        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self, tag: str, min: float, max: float, num: float, sum: float, sum_squares: float,
        bucket_limits: Sequence[float], bucket_counts: Sequence[float], global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Log a distribution that was counted already.

        Parameters
        ----------
        tag : str
            Its name.
        min, max, num, sum, sum_squares : float
            Of the values: the least, the greatest, their number, their sum and that of their squares.
        bucket_limits : sequence of float
            The upper end of each bin.
        bucket_counts : sequence of float
            The number of values in each bin.
        global_step : int, optional
            The step.
        walltime : float, optional
            The time.

        Raises
        ------
        ValueError
            If there are not as many limits as counts.
        """
        from . import summary

        made = summary.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(made, global_step, walltime)

    def add_pr_curve(
        self, tag: str, labels: Any, predictions: Any, global_step: int | None = None, num_thresholds: int = 127,
        weights: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Log the precision and recall of a binary classifier over all thresholds.

        Parameters
        ----------
        tag : str
            Name of the curve.
        labels : Tensor
            0 or 1, or bools.
        predictions : Tensor
            Probabilities of the label 1.
        global_step : int, optional
            The step.
        num_thresholds : int
            How many thresholds, evenly from 0 to 1.
        weights : Tensor, optional
            Of the examples.
        walltime : float, optional
            The time.

        Raises
        ------
        ValueError
            If the sizes differ, or predictions are no probabilities.
        """
        from . import summary

        self._add(summary.pr_curve(tag, labels, predictions, num_thresholds, weights), global_step, walltime)

    def add_pr_curve_raw(
        self, tag: str, true_positive_counts: Any, false_positive_counts: Any, true_negative_counts: Any,
        false_negative_counts: Any, precision: Any, recall: Any, global_step: int | None = None,
        num_thresholds: int = 127, weights: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Log a curve of precision and recall that was computed already, one value per threshold.

        Parameters
        ----------
        tag : str
            Name of the curve.
        true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts : Tensor
            The counts.
        precision, recall : Tensor
            The two.
        global_step : int, optional
            The step.
        num_thresholds : int
            How many values each of them has.
        weights
            Accepted: they are in the counts.
        walltime : float, optional
            The time.

        Raises
        ------
        ValueError
            If there are more or fewer values than thresholds.
        """
        from . import summary

        rows = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision,
                recall)  # fmt: skip
        self._add(summary.pr_curve_raw(tag, rows, num_thresholds), global_step, walltime)

    # ---- pictures, films, sound, meshes

    def add_image(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """Log a picture.

        Parameters
        ----------
        tag : str
            Its name.
        img_tensor : Tensor
            uint8 from 0 to 255, or numbers from 0 to 1; of 1, 3 or 4 channels.
        global_step : int, optional
            The step.
        walltime : float, optional
            The time.
        dataformats : str
            Which dimension is which: "CHW", "HWC", "HW", "NCHW" and so on.

        Raises
        ------
        AssertionError
            If the format does not fit the shape.
        """
        from . import summary

        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:  # fmt: skip
        """Log several pictures as one, eight in a row.

        Parameters
        ----------
        tag : str
            Their name.
        img_tensor : Tensor
            As for :meth:`add_image`.
        global_step : int, optional
            The step.
        walltime : float, optional
            The time.
        dataformats : str
            Which dimension is which.
        """
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_image_with_boxes(
        self, tag: str, img_tensor: Any, box_tensor: Any, global_step: int | None = None, walltime: float | None = None,
        rescale: float = 1, dataformats: str = "CHW", labels: Sequence[str] | str | None = None,
    ) -> None:  # fmt: skip
        """Log a picture with boxes drawn in it.

        Parameters
        ----------
        tag : str
            Its name.
        img_tensor : Tensor
            As for :meth:`add_image`.
        box_tensor : Tensor
            Of shape (N, 4): left, top, right and bottom of each box, in pixels.
        global_step : int, optional
            The step.
        walltime : float, optional
            The time.
        rescale : float
            Factor of the size.
        dataformats : str
            Which dimension is which.
        labels : sequence of str, optional
            One for each box.

        Raises
        ------
        ValueError
            If there are not as many labels as boxes.
        """
        from . import summary

        made = summary.image_with_boxes(tag, img_tensor, box_tensor, dataformats, rescale, labels)
        self._add(made, global_step, walltime)

    def add_figure(
        self, tag: str, figure: Figure | list[Figure], global_step: int | None = None, close: bool = True,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Log a figure of matplotlib, or several as one picture.

        Parameters
        ----------
        tag : str
            Its name.
        figure : Figure or list of them
            Of one size.
        global_step : int, optional
            The step.
        close : bool
            Whether to close the figure.
        walltime : float, optional
            The time.
        """
        import numpy as np

        from . import summary

        several = isinstance(figure, list)
        pixels = [summary.picture_of_figure(f, close) for f in (figure if isinstance(figure, list) else [figure])]
        self.add_image(
            tag, np.stack(pixels) if several else pixels[0], global_step, walltime, "NCHW" if several else "CHW"
        )

    def add_video(
        self, tag: str, vid_tensor: Any, global_step: int | None = None, fps: float = 4, walltime: float | None = None
    ) -> None:
        """Log films, side by side, as an animated GIF.

        Parameters
        ----------
        tag : str
            Their name.
        vid_tensor : Tensor
            Of shape (N, T, C, H, W); uint8 from 0 to 255, or numbers from 0 to 1.
        global_step : int, optional
            The step.
        fps : float
            Pictures per second.
        walltime : float, optional
            The time.

        Raises
        ------
        ValueError
            For another shape.
        """
        from . import summary

        self._add(summary.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: int | None = None, sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Log a sound of one channel.

        Parameters
        ----------
        tag : str
            Its name.
        snd_tensor : Tensor
            Amplitudes from -1 to 1, of shape (1, L) or (L,).
        global_step : int, optional
            The step.
        sample_rate : int
            Samples per second.
        walltime : float, optional
            The time.

        Raises
        ------
        AssertionError
            For another shape.
        """
        from . import summary

        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_mesh(
        self, tag: str, vertices: Any, colors: Any = None, faces: Any = None, config_dict: Any = None,
        global_step: int | None = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Log a cloud of points or a mesh of triangles.

        Parameters
        ----------
        tag : str
            Its name.
        vertices : Tensor
            Coordinates, of shape (B, N, 3).
        colors : Tensor, optional
            Red, green and blue from 0 to 255 of each point, of the same shape.
        faces : Tensor, optional
            Numbers of the corners of triangles, of shape (B, M, 3).
        config_dict : dict, optional
            Names and settings of classes of three.js: camera, lights, material.
        global_step : int, optional
            The step.
        walltime : float, optional
            The time.

        Raises
        ------
        ValueError
            For other shapes.
        """
        from . import summary

        self._add(summary.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    # ---- text and structure

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Log a text.

        Parameters
        ----------
        tag : str
            Its name.
        text_string : str
            In Markdown.
        global_step : int, optional
            The step.
        walltime : float, optional
            The time.
        """
        from . import summary

        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_hparams(
        self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None, run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:  # fmt: skip
        """Log hyperparameters, and what came of them, as a run of its own: a folder in that of the log.

        Parameters
        ----------
        hparam_dict : dict
            Numbers, bools and strings by their names.
        metric_dict : dict
            Numbers by their names, which should be none that :meth:`add_scalar` uses.
        hparam_domain_discrete : dict, optional
            All values that a hyperparameter can have.
        run_name : str, optional
            Name of the run; the time if left out.
        global_step : int, optional
            The step.

        Raises
        ------
        TypeError
            If they are no dicts, or a domain does not fit its value.
        ValueError
            If a value is of another type.
        """
        from . import summary

        if not isinstance(hparam_dict, dict) or not isinstance(metric_dict, dict):
            raise TypeError("add_hparams(): hparam_dict and metric_dict should be dictionary.")
        made = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self.log_dir, str(time.time()) if run_name is None else run_name)
        with SummaryWriter(folder) as run:
            for part in made:
                run._add(part, global_step, None)
            for name, value in metric_dict.items():
                run.add_scalar(name, value, global_step)

    def add_custom_scalars(self, layout: dict[str, dict[str, list[Any]]]) -> None:
        """Say which numbers are shown in which charts.

        Parameters
        ----------
        layout : dict
            ``{category: {title: ["Multiline", tags]}}``, or ``["Margin", [value, lower, upper]]``. The last layout that
            is written counts.
        """
        from . import summary

        self._add(summary.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Show several numbers in one chart.

        Parameters
        ----------
        tags : list of str
            Names of the numbers.
        category, title : str
            Of the chart.
        """
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Show a number with its bounds in one chart.

        Parameters
        ----------
        tags : list of three str
            Names of the number, its lower and its upper bound.
        category, title : str
            Of the chart.
        """
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_embedding(
        self, mat: Any, metadata: Any = None, label_img: Any = None, global_step: int | None = None,
        tag: str = "default", metadata_header: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        """Log points in space for the projector.

        Parameters
        ----------
        mat : Tensor
            The points, of shape (N, D).
        metadata : list, optional
            A label for each point; with ``metadata_header``, a list of labels for each.
        label_img : Tensor, optional
            A square picture for each point, of shape (N, C, H, W).
        global_step : int, optional
            The step.
        tag : str
            Name of the points.
        metadata_header : list of str, optional
            Names of the columns of ``metadata``.

        Raises
        ------
        AssertionError
            If sizes do not fit.
        """
        from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

        from . import embedding

        if self._projector is None:
            self._projector = ProjectorConfig()
        embedding.write(self.log_dir, self._projector, mat, metadata, label_img, global_step, tag, metadata_header)

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Log the graph of a model: the operators that autograd records in one call of it, grouped by modules.

        The call is made in eval mode; neither parameters nor the generator change by it. What does not depend on float
        inputs or parameters is not recorded, and so is no part of the graph.

        Parameters
        ----------
        model : Module
            The model.
        input_to_model : Tensor, or tuple of arguments
            What it is called with.
        verbose : bool
            Whether to print the graph.
        use_strict_trace : bool
            Accepted: any containers may be returned.

        Raises
        ------
        TypeError, ValueError
            If there is no module, or no input.
        RuntimeError
            If nothing is recorded.
        """
        from tensorboard.compat.proto.event_pb2 import Event, TaggedRunMetadata

        from .graph import graph

        made = graph(model, input_to_model)
        if verbose:
            print(made)
        writer = self._get_file_writer()
        writer.add_event(Event(graph_def=made.SerializeToString()))
        writer.add_event(Event(tagged_run_metadata=TaggedRunMetadata(tag="step1", run_metadata=b"")))

    # ---- the end

    def flush(self) -> None:
        """Wait until all that was logged is on the disk."""
        for writer in self.all_writers.values():
            writer.flush()

    def close(self) -> None:
        """Write what is left, and close the files; logging more opens new ones."""
        for writer in self.all_writers.values():
            writer.close()
        self.all_writers.clear()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
