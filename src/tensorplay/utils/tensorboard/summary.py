"""What TensorBoard reads, made of numbers: one function for each kind of summary."""

from __future__ import annotations

import io
import json
import math
import time
import warnings
import wave
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import metadata as custom_scalar_metadata
from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2
from tensorboard.plugins.hparams import metadata as hparams_metadata
from tensorboard.plugins.mesh import metadata as mesh_metadata
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
from tensorboard.plugins.pr_curve import metadata as pr_curve_metadata
from tensorboard.plugins.scalar import metadata as scalar_metadata
from tensorboard.plugins.text import metadata as text_metadata
from tensorboard.util import tensor_util

from ...core.tensor import Tensor

Array = np.ndarray[Any, Any]


def array_of(x: Any) -> Array:
    """Tensors, arrays, numbers and lists as an array."""
    array = x.numpy(force=True) if isinstance(x, Tensor) else np.asarray(x)
    if array.dtype.kind == "V":  # bfloat16
        return array.astype(np.float32)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"SummaryWriter: expected a tensor, an array or numbers, got {type(x).__name__}: {x!r}")
    return array


def number_of(x: Any) -> float:
    """A number, or the only element of a tensor."""
    array = array_of(x)
    if array.size != 1:
        raise AssertionError(f"SummaryWriter: scalar should be 0D, got a tensor of shape {list(array.shape)}")
    return float(array.item())


def of_plugin(tag: str, tensor: Any, metadata: Any) -> Any:
    return Summary(value=[Summary.Value(tag=tag, tensor=tensor, metadata=metadata)])


# ---- numbers


def scalar(tag: str, value: Any, new_style: bool = False, double_precision: bool = False) -> Any:
    x = number_of(value)
    if not new_style:
        return Summary(value=[Summary.Value(tag=tag, simple_value=x)])
    tensor = TensorProto(double_val=[x], dtype="DT_DOUBLE") if double_precision else TensorProto(
        float_val=[x], dtype="DT_FLOAT"
    )  # fmt: skip
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=scalar_metadata.PLUGIN_NAME))
    return of_plugin(tag, tensor, metadata)


def tensor(tag: str, x: Any) -> Any:
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="tensor"))
    return of_plugin(tag, tensor_util.make_tensor_proto(array_of(x)), metadata)


def default_bins() -> Array:
    """Edges that grow by a tenth from 1e-12 to 1e20, mirrored."""
    growing = 1e-12 * 1.1 ** np.arange(math.ceil(32 / math.log10(1.1)))
    return np.concatenate([-growing[::-1], [0.0], growing])


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None) -> Any:
    x = array_of(values).reshape(-1).astype(np.float64)
    if not x.size:
        raise ValueError("add_histogram(): The input has no element.")
    counts, edges = np.histogram(x, default_bins() if isinstance(bins, str) and bins == "tensorflow" else bins)
    if max_bins is not None and len(counts) > max_bins:
        several = len(counts) // max_bins
        counts = np.add.reduceat(counts, np.arange(0, len(counts), several))
        edges = np.append(edges[:-1:several], edges[-1])
    filled = np.flatnonzero(counts)
    if not len(filled):
        raise ValueError("add_histogram(): no value lies within the bins")
    first, last = filled[0], filled[-1]  # the empty bins outside are left out, but for one that tells where they end
    return histogram_raw(
        tag, x.min(), x.max(), len(x), x.sum(), x.dot(x), edges[first : last + 2], [0, *counts[first : last + 1]]
    )


def histogram_raw(
    tag: str, min: float, max: float, num: float, sum: float, sum_squares: float, bucket_limits: Any, bucket_counts: Any
) -> Any:
    if len(bucket_limits) != len(bucket_counts):
        raise ValueError(
            f"add_histogram_raw(): len(bucket_limits) != len(bucket_counts): {len(bucket_limits)}, {len(bucket_counts)}"
        )
    made = HistogramProto(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares,
        bucket_limit=[float(x) for x in bucket_limits], bucket=[float(x) for x in bucket_counts],
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=tag, histo=made)])


def pr_curve(tag: str, labels: Any, predictions: Any, num_thresholds: int, weights: Any) -> Any:
    true, p = array_of(labels).reshape(-1).astype(np.float64), array_of(predictions).reshape(-1)
    w = np.ones(len(p)) if weights is None else array_of(weights).reshape(-1)
    if not len(true) == len(p) == len(w):
        raise ValueError(
            f"add_pr_curve(): labels, predictions and weights differ in size: {len(true)}, {len(p)}, {len(w)}"
        )
    if len(p) and not (0 <= p.min() and p.max() <= 1):
        raise ValueError("add_pr_curve(): predictions must be probabilities, between 0 and 1")
    bins = np.floor(p * (num_thresholds - 1)).astype(np.intp)

    def at_least(weights: Array) -> Array:
        """The weight of the predictions that are not below each threshold."""
        return np.bincount(bins, weights, num_thresholds)[::-1].cumsum()[::-1]

    tp, fp = at_least(true * w), at_least((1 - true) * w)
    tn, fn = fp[0] - fp, tp[0] - tp
    precision, recall = tp / np.maximum(1e-7, tp + fp), tp / np.maximum(1e-7, tp + fn)
    return pr_curve_raw(tag, (tp, fp, tn, fn, precision, recall), num_thresholds)


def pr_curve_raw(tag: str, rows: Sequence[Any], num_thresholds: int) -> Any:
    data = np.stack([array_of(row).reshape(-1) for row in rows]).astype(np.float32)
    if data.shape[1] != num_thresholds:
        raise ValueError(f"add_pr_curve_raw(): got {data.shape[1]} values for {num_thresholds} thresholds")
    metadata = pr_curve_metadata.create_summary_metadata(None, None, num_thresholds)
    return of_plugin(tag, tensor_util.make_tensor_proto(data), metadata)


# ---- text, layouts, hyperparameters


def text_proto(text: str | bytes, shape: Sequence[int]) -> Any:
    data = text.encode("utf-8") if isinstance(text, str) else text
    dims = TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in shape])
    return TensorProto(dtype="DT_STRING", string_val=[data], tensor_shape=dims)


def text(tag: str, text_string: str) -> Any:
    return of_plugin(
        f"{tag}/text_summary", text_proto(text_string, (1,)), text_metadata.create_summary_metadata(None, None)
    )


def custom_scalars(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> Any:
    categories = []
    for title, charts in layout.items():
        made = []
        for name, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError(f"add_custom_scalars(): a margin chart has 3 tags, got {len(tags)}: {tags}")
                series = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                made.append(layout_pb2.Chart(title=name, margin=layout_pb2.MarginChartContent(series=[series])))
            else:
                made.append(layout_pb2.Chart(title=name, multiline=layout_pb2.MultilineChartContent(tag=tags)))
        categories.append(layout_pb2.Category(title=title, chart=made))
    data = layout_pb2.Layout(category=categories).SerializeToString()
    return of_plugin(
        custom_scalar_metadata.CONFIG_SUMMARY_TAG,
        text_proto(data, ()),
        custom_scalar_metadata.create_summary_metadata(),
    )


HPARAM_KINDS = {bool: "DATA_TYPE_BOOL", str: "DATA_TYPE_STRING", float: "DATA_TYPE_FLOAT64", int: "DATA_TYPE_FLOAT64"}
HPARAM_FIELDS = {bool: "bool_value", str: "string_value", float: "number_value", int: "number_value"}


def hparams(
    values: Mapping[str, Any], metrics: Iterable[str], domains: Mapping[str, Sequence[Any]] | None
) -> tuple[Any, Any, Any]:
    """Three summaries: of the experiment, of the start and of the end of a session."""
    domains = domains or {}
    if unknown := set(domains) - set(values):
        raise TypeError(f"add_hparams(): hparam_domain_discrete has {sorted(unknown)}, which hparam_dict has not")
    infos, start = [], plugin_data_pb2.SessionStartInfo(start_time_secs=time.time())
    for name, value in values.items():
        if value is None:
            continue
        plain = hparam_value(name, value)
        info = api_pb2.HParamInfo(name=name, type=HPARAM_KINDS[type(plain)])
        if name in domains:
            for choice in domains[name]:
                if type(hparam_value(name, choice)) is not type(plain):
                    raise TypeError(
                        f"add_hparams(): hparam_domain_discrete[{name!r}] holds {choice!r}, which is of another type "
                        f"than the value {value!r}"
                    )
            info.domain_discrete.extend(list(domains[name]))
        infos.append(info)
        setattr(start.hparams[name], HPARAM_FIELDS[type(plain)], plain)
    experiment = api_pb2.Experiment(
        hparam_infos=infos,
        metric_infos=[api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metrics],
    )
    end = plugin_data_pb2.SessionEndInfo(status="STATUS_SUCCESS", end_time_secs=time.time())

    def of_hparams(tag: str, **data: Any) -> Any:
        metadata = hparams_metadata.create_summary_metadata(plugin_data_pb2.HParamsPluginData(**data))
        return Summary(value=[Summary.Value(tag=tag, metadata=metadata)])

    return (
        of_hparams(hparams_metadata.EXPERIMENT_TAG, experiment=experiment),
        of_hparams(hparams_metadata.SESSION_START_INFO_TAG, session_start_info=start),
        of_hparams(hparams_metadata.SESSION_END_INFO_TAG, session_end_info=end),
    )


def hparam_value(name: str, value: Any) -> bool | str | float:
    """A hyperparameter as a value of a type that TensorBoard knows."""
    if isinstance(value, (np.generic, np.ndarray, Tensor)):
        value = array_of(value).reshape(-1)
        if len(value) != 1:
            raise ValueError(f"add_hparams(): the hyperparameter {name!r} should be one number, got {len(value)}")
        value = value.item()
    for kind in (bool, str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise ValueError(
        f"add_hparams(): the hyperparameter {name!r} should be an int, float, str, bool or Tensor, got "
        f"{type(value).__name__}"
    )


# ---- pictures, films, sound, meshes


def image(tag: str, x: Any, dataformats: str, rescale: float = 1) -> Any:
    return pictured(tag, bytes_of_picture(x, dataformats), rescale)


def image_with_boxes(tag: str, x: Any, boxes: Any, dataformats: str, rescale: float, labels: Any) -> Any:
    rectangles = array_of(boxes).reshape(-1, 4)
    texts = [labels] if isinstance(labels, str) else labels
    if texts is not None and len(texts) != len(rectangles):
        raise ValueError(f"add_image_with_boxes(): got {len(texts)} labels for {len(rectangles)} boxes")
    picture = Image.fromarray(bytes_of_picture(x, dataformats))
    pen = ImageDraw.Draw(picture)
    for i, (left, top, right, bottom) in enumerate(rectangles.tolist()):
        pen.rectangle((left, top, right, bottom), outline="red", width=2)
        if texts is not None:
            pen.text((left + 3, top + 3), str(texts[i]), fill="red")
    return pictured(tag, np.asarray(picture), rescale)


def pictured(tag: str, pixels: Array, rescale: float) -> Any:
    picture = Image.fromarray(pixels)
    if rescale != 1:
        size = (max(1, int(picture.width * rescale)), max(1, int(picture.height * rescale)))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    file = io.BytesIO()
    picture.save(file, "PNG")
    made = Summary.Image(
        height=picture.height, width=picture.width, colorspace=pixels.shape[2], encoded_image_string=file.getvalue()
    )
    return Summary(value=[Summary.Value(tag=tag, image=made)])


def bytes_of_picture(x: Any, dataformats: str) -> Array:
    """One picture as bytes of shape (H, W, C); several are put side by side."""
    array, form = array_of(x), dataformats.upper()
    if sorted(form) not in (sorted("NCHW"), sorted("CHW"), sorted("HW")):
        raise AssertionError(f"SummaryWriter: dataformats must be an order of NCHW, CHW or HW, got {dataformats!r}")
    if array.ndim != len(form):
        raise AssertionError(
            f"SummaryWriter: size of input tensor and input format are different: shape {list(array.shape)}, "
            f"dataformats {dataformats!r}"
        )
    pixels = scaled(array)
    if "C" not in form:
        pixels, form = pixels[..., None], form + "C"
    if "N" not in form:
        pixels, form = pixels[None], "N" + form
    pixels = pixels.transpose([form.index(axis) for axis in "NHWC"])
    if pixels.shape[3] not in (1, 3, 4):
        raise ValueError(f"SummaryWriter: a picture has 1, 3 or 4 channels, got {pixels.shape[3]}")
    if pixels.shape[3] == 1:
        pixels = pixels.repeat(3, 3)
    return grid(pixels, min(len(pixels), 8))


def scaled(array: Array) -> Array:
    """Bytes as they are; other numbers times 255, within 0 and 255."""
    if array.dtype == np.uint8:
        return array
    return (array.astype(np.float32) * 255).clip(0, 255).astype(np.uint8)


def grid(pictures: Array, columns: int) -> Array:
    """Pictures of shape (N, H, W, C) as one, row by row; what is left of the last row is black."""
    n, h, w, c = pictures.shape
    rows = -(-n // columns) if n else 0
    whole = np.zeros((rows * columns, h, w, c), pictures.dtype)
    whole[:n] = pictures
    return whole.reshape(rows, columns, h, w, c).swapaxes(1, 2).reshape(rows * h, columns * w, c)


def video(tag: str, x: Any, fps: float) -> Any:
    array = array_of(x)
    if array.ndim != 5 or array.shape[2] not in (1, 3):
        raise ValueError(f"add_video(): expected a tensor of shape (N, T, C, H, W), C 1 or 3, got {list(array.shape)}")
    films = scaled(array).transpose(1, 0, 3, 4, 2)  # by frame
    if films.shape[-1] == 1:
        films = films.repeat(3, 4)
    n = 1 << (films.shape[1] - 1).bit_length()
    frames = [Image.fromarray(grid(frame, n >> (n.bit_length() - 1) // 2)) for frame in films]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=round(1000 / fps), loop=0)
    made = Summary.Image(
        height=frames[0].height, width=frames[0].width, colorspace=3, encoded_image_string=file.getvalue()
    )
    return Summary(value=[Summary.Value(tag=tag, image=made)])


def audio(tag: str, x: Any, sample_rate: int) -> Any:
    samples = array_of(x).squeeze()
    if samples.ndim != 1:
        raise AssertionError(f"add_audio(): input tensor should be 1 dimensional, got shape {list(array_of(x).shape)}")
    if np.abs(samples).max(initial=0) > 1:
        warnings.warn("add_audio(): amplitudes out of [-1, 1] are clipped", stacklevel=3)
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(sample_rate)
        sound.writeframes((samples.clip(-1, 1) * 32767).astype("<i2").tobytes())
    made = Summary.Audio(
        sample_rate=sample_rate, num_channels=1, length_frames=len(samples), content_type="audio/wav",
        encoded_audio_string=file.getvalue(),
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=tag, audio=made)])


def mesh(tag: str, vertices: Any, colors: Any, faces: Any, config: Any) -> Any:
    kinds = (
        (MeshPluginData.VERTEX, vertices, np.float32),
        (MeshPluginData.FACE, faces, np.int32),
        (MeshPluginData.COLOR, colors, np.uint8),
    )
    parts = [(kind, array_of(x).astype(dtype)) for kind, x, dtype in kinds if x is not None]
    for _, array in parts:
        if array.ndim != 3 or array.shape[2] != 3:
            raise ValueError(f"add_mesh(): expected tensors of shape (B, N, 3), got {list(array.shape)}")
    components = mesh_metadata.get_components_bitmask([kind for kind, _ in parts])
    values = []
    for kind, array in parts:
        metadata = mesh_metadata.create_summary_metadata(
            tag, None, kind, components, list(array.shape), json_config=json.dumps(config or {}, sort_keys=True)
        )
        name = mesh_metadata.get_instance_name(tag, kind)
        values.append(Summary.Value(tag=name, tensor=tensor_util.make_tensor_proto(array), metadata=metadata))
    return Summary(value=values)


def picture_of_figure(figure: Any, close: bool) -> Array:
    """A figure of matplotlib as bytes of shape (C, H, W)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3].transpose(2, 0, 1)
    if close:
        from matplotlib import pyplot

        pyplot.close(figure)
    return pixels
