"""SummaryWriter: what it logs is what TensorBoard's own reader finds."""

import io
import subprocess
import sys
import wave

import numpy as np
import pytest
from matplotlib import pyplot
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.plugins.custom_scalar.layout_pb2 import Layout
from tensorboard.plugins.hparams import metadata as hparams_metadata
from tensorboard.plugins.mesh import metadata as mesh_metadata
from tensorboard.plugins.pr_curve import metadata as pr_curve_metadata
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
from tensorboard.util import tensor_util

import tensorplay as tp
from tensorplay.nn import functional as F
from tensorplay.utils.tensorboard import FileWriter, SummaryWriter


@pytest.fixture
def writer(tmp_path):
    with SummaryWriter(tmp_path) as made:
        yield made


def log(writer, folder=""):
    """What the reader finds in the folder of a writer."""
    writer.flush()
    return EventAccumulator(f"{writer.get_logdir()}/{folder}".rstrip("/"), size_guidance={"tensors": 0}).Reload()


def events(writer):
    """The events of the main file, as they are."""
    writer.flush()
    path = writer.file_writer.event_writer._file_name
    return list(EventFileLoader(path).Load())


def picture(writer, tag):
    (event,) = log(writer).Images(tag)
    pixels = np.asarray(Image.open(io.BytesIO(event.encoded_image_string)))
    assert pixels.shape[:2] == (event.height, event.width)
    return pixels


def tensor(writer, tag):
    (event,) = log(writer).Tensors(tag)
    return tensor_util.make_ndarray(event.tensor_proto)


# ---- numbers


@pytest.mark.parametrize(
    "value", [2.5, np.float32(2.5), np.array([2.5]), tp.tensor(2.5), tp.tensor([[2.5]], requires_grad=True),
              tp.tensor(2.5, dtype=tp.bfloat16)],
)  # fmt: skip
def test_scalars(writer, value):
    writer.add_scalar("a/b", value, 3, walltime=12.0)
    writer.add_scalar("a/b", 1, tp.tensor(4))
    (first, second) = log(writer).Scalars("a/b")
    assert (first.step, first.value, first.wall_time) == (3, 2.5, 12.0)
    assert (second.step, second.value) == (4, 1.0) and second.wall_time > 1e9


def test_scalars_as_tensors(writer):
    writer.add_scalar("single", 0.1, 1, new_style=True)
    writer.add_scalar("double", 0.1, 1, new_style=True, double_precision=True)
    assert tensor(writer, "double") == 0.1 and tensor(writer, "single") == np.float32(0.1)
    assert log(writer).SummaryMetadata("double").plugin_data.plugin_name == "scalars"


def test_scalars_of_one_chart(writer):
    for step in range(2):
        writer.add_scalars("loss/all", {"train": step, "test": tp.tensor(2.0 * step)}, step)
    for name, factor in (("train", 1), ("test", 2)):
        found = log(writer, f"loss_all_{name}").Scalars("loss/all")
        assert [(event.step, event.value) for event in found] == [(0, 0), (1, factor)]


def test_tensors(writer):
    x = tp.randn(2, 3, dtype=tp.float64)
    writer.add_tensor("x", x, 1)
    assert np.array_equal(tensor(writer, "x"), x)


@pytest.mark.parametrize("bins", ["tensorflow", "auto", 10, [-9.0, 0.0, 9.0]])
def test_histograms(writer, bins):
    x = tp.randn(40, 25, requires_grad=True)
    writer.add_histogram("h", x, 2, bins)
    (event,) = log(writer).Histograms("h")
    value, numbers = event.histogram_value, x.detach().numpy().astype(np.float64).ravel()
    assert event.step == 2 and value.num == 1000 == sum(value.bucket)
    assert (value.min, value.max) == (numbers.min(), numbers.max())
    assert np.isclose(value.sum, numbers.sum()) and np.isclose(value.sum_squares, (numbers**2).sum())
    edges = [-np.inf, *value.bucket_limit[:-1], np.nextafter(value.bucket_limit[-1], np.inf)]
    assert np.histogram(numbers, edges)[0].tolist() == value.bucket
    assert len(value.bucket) > 1 and value.bucket[0] == 0 < value.bucket[1] and value.bucket[-1] > 0


def test_histograms_of_few_bins_and_of_zeros(writer):
    writer.add_histogram("few", tp.randn(1000), bins="tensorflow", max_bins=8)
    writer.add_histogram("zeros", tp.zeros(5, dtype=tp.int64))
    few, zeros = (log(writer).Histograms(tag)[0].histogram_value for tag in ("few", "zeros"))
    assert len(few.bucket) <= 10 and sum(few.bucket) == 1000
    assert zeros.bucket == [0, 5] and np.allclose(zeros.bucket_limit, [0, 1e-12], rtol=1e-9, atol=0)
    writer.add_histogram_raw("raw", 0, 1, 3, 1.5, 1.2, [0.3, 0.6, 1], [1, 0, 2], 7)
    raw = log(writer).Histograms("raw")[0].histogram_value
    assert (raw.num, raw.bucket, raw.bucket_limit) == (3, [1, 0, 2], [0.3, 0.6, 1])


def test_pr_curves(writer):
    labels = tp.tensor([1, 0, 1, 1, 0])
    scores = tp.tensor([0.9, 0.6, 0.4, 1.0, 0.0])
    weights = tp.tensor([1.0, 2.0, 1.0, 1.0, 1.0])
    writer.add_pr_curve("pr", labels, scores, 1, num_thresholds=11, weights=weights)
    rows = tensor(writer, "pr")
    for i, threshold in enumerate(np.linspace(0, 1, 11) - 1e-6):
        said = scores.numpy() >= threshold
        true = labels.numpy() == 1
        w = weights.numpy()
        tp_, fp, tn, fn = (w[mask].sum() for mask in (said & true, said & ~true, ~said & ~true, ~said & true))
        assert np.allclose(rows[:, i], [tp_, fp, tn, fn, tp_ / (tp_ + fp), tp_ / (tp_ + fn)])
    content = log(writer).SummaryMetadata("pr").plugin_data.content
    assert pr_curve_metadata.parse_plugin_metadata(content).num_thresholds == 11
    writer.add_pr_curve_raw("raw", *rows, global_step=1, num_thresholds=11)
    assert np.array_equal(tensor(writer, "raw"), rows)


# ---- pictures, films, sound, meshes


@pytest.mark.parametrize("form", ["CHW", "HWC", "hwc", "WCH", "NCHW", "NHWC"])
@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.float64])
def test_pictures(writer, form, kind):
    pixels = np.random.RandomState(0).randint(0, 256, (4, 5, 3)).astype(np.uint8)
    array = pixels if kind is np.uint8 else (pixels + 0.5).astype(kind) / 255
    axes = ["HWC".index(axis) for axis in form.upper().replace("N", "")]
    array = array.transpose(axes)
    writer.add_image("x", tp.from_numpy(array[None].copy() if "N" in form else array.copy()), 1, dataformats=form)
    assert np.array_equal(picture(writer, "x"), pixels)


def test_grey_and_several_pictures(writer):
    grey = tp.tensor([[0.0, 0.5], [1.0, 2.0]])
    writer.add_image("grey", grey, dataformats="HW")
    writer.add_image("channel", grey[None])
    for tag in ("grey", "channel"):
        assert picture(writer, tag).tolist() == [[[0] * 3, [127] * 3], [[255] * 3, [255] * 3]]
    many = tp.arange(10, dtype=tp.uint8).reshape(10, 1, 1, 1).expand(10, 3, 2, 2)
    writer.add_images("many", many)
    assert picture(writer, "many")[::2, ::2, 0].tolist() == [list(range(8)), [8, 9, 0, 0, 0, 0, 0, 0]]


def test_boxes(writer):
    writer.add_image_with_boxes("x", tp.zeros(3, 20, 30), tp.tensor([[2.0, 3.0, 20.0, 15.0]]), rescale=2, labels=["a"])
    writer.add_image_with_boxes("y", tp.zeros(3, 20, 30), tp.tensor([[2.0, 3.0, 20.0, 15.0]]))
    red = picture(writer, "y")[..., 0] == 255
    assert picture(writer, "x").shape == (40, 60, 3) and red[3, 2:21].all() and not red[10, 10] and not red[:2].any()


def test_figures(writer):
    figures = [pyplot.figure(figsize=(2, 1), dpi=50, facecolor=color) for color in ("red", "blue")]
    writer.add_figure("both", figures, 1, close=False)
    writer.add_figure("one", figures[0], 1)
    assert pyplot.get_fignums() == [figures[1].number]
    pyplot.close(figures[1])
    assert picture(writer, "one").shape == (50, 100, 3) and (picture(writer, "one") == [255, 0, 0]).all()
    assert (picture(writer, "both")[:, 100:] == [0, 0, 255]).all()


def test_films(writer):
    shades = (tp.arange(6, dtype=tp.uint8) * 40).reshape(3, 2, 1, 1, 1).expand(3, 2, 1, 8, 8)
    writer.add_video("film", shades, fps=5)
    film = Image.open(io.BytesIO(log(writer).Images("film")[0].encoded_image_string))
    assert film.n_frames == 2 and film.info["duration"] == 200 and film.size == (16, 16)
    film.seek(1)
    pixels = np.asarray(film.convert("L"))
    assert [pixels[0, 0], pixels[0, 15], pixels[15, 0], pixels[15, 15]] == [40, 120, 200, 0]


def test_sound(writer):
    wave_ = tp.linspace(-1, 1, 100)
    writer.add_audio("x", wave_[None], 1, sample_rate=8000)
    (event,) = log(writer).Audio("x")
    with wave.open(io.BytesIO(event.encoded_audio_string)) as sound:
        assert (sound.getframerate(), sound.getnframes(), sound.getnchannels()) == (8000, 100, 1)
        samples = np.frombuffer(sound.readframes(100), "<i2")
    assert np.allclose(samples / 32767, wave_, atol=1e-4) and event.sample_rate == 8000
    with pytest.warns(UserWarning, match="clipped"):
        writer.add_audio("loud", wave_ * 2)


def test_meshes(writer):
    points, colors = tp.randn(1, 4, 3), tp.full((1, 4, 3), 9, dtype=tp.uint8)
    faces = tp.tensor([[[0, 1, 2], [1, 2, 3]]])
    writer.add_mesh("m", points, colors, faces, {"camera": {"fov": 75}}, 1)
    for part, values in (("VERTEX", points), ("COLOR", colors), ("FACE", faces)):
        assert np.array_equal(tensor(writer, f"m_{part}"), values)
        data = mesh_metadata.parse_plugin_metadata(log(writer).SummaryMetadata(f"m_{part}").plugin_data.content)
        assert data.json_config == '{"camera": {"fov": 75}}' and list(data.shape) == list(values.shape)
    writer.add_mesh("cloud", points)
    assert "cloud_FACE" not in log(writer).Tags()["tensors"]


# ---- text and structure


def test_text(writer):
    writer.add_text("note", "**größer**", 3)
    assert tensor(writer, "note/text_summary").tolist() == ["**größer**".encode()]


def test_hyperparameters(writer):
    values = {"lr": 0.1, "size": np.int64(4), "name": "sgd", "on": True, "t": tp.tensor([2.0]), "left out": None}
    writer.add_hparams(values, {"accuracy": tp.tensor(0.5)}, {"name": ["sgd", "adam"]}, run_name="run", global_step=3)
    found = log(writer, "run")
    assert [(event.step, event.value) for event in found.Scalars("accuracy")] == [(3, 0.5)]

    def content(tag):
        return found.SummaryMetadata(tag).plugin_data.content

    experiment = hparams_metadata.parse_experiment_plugin_data(content(hparams_metadata.EXPERIMENT_TAG))
    infos = {info.name: info for info in experiment.hparam_infos}
    assert set(infos) == {"lr", "size", "name", "on", "t"}
    assert list(infos["name"].domain_discrete) == ["sgd", "adam"]
    assert [metric.name.tag for metric in experiment.metric_infos] == ["accuracy"]
    start = hparams_metadata.parse_session_start_info_plugin_data(content(hparams_metadata.SESSION_START_INFO_TAG))
    assert {name: getattr(value, value.WhichOneof("kind")) for name, value in start.hparams.items()} == {
        "lr": 0.1, "size": 4, "name": "sgd", "on": True, "t": 2,
    }  # fmt: skip


def test_layouts(writer):
    writer.add_custom_scalars({"A": {"one": ["Multiline", ["x", "y"]], "two": ["Margin", ["m", "l", "u"]]}})
    (category,) = Layout.FromString(tensor(writer, "custom_scalars__config__").item()).category
    one, two = category.chart
    assert (category.title, one.title, list(one.multiline.tag)) == ("A", "one", ["x", "y"])
    (series,) = two.margin.series
    assert (series.value, series.lower, series.upper) == ("m", "l", "u")


@pytest.mark.parametrize("lines", [False, True])
def test_layouts_of_one_chart(writer, lines):
    if lines:
        writer.add_custom_scalars_multilinechart(["x", "y", "z"], "c", "t")
    else:
        writer.add_custom_scalars_marginchart(["x", "y", "z"], "c", "t")
    (category,) = Layout.FromString(tensor(writer, "custom_scalars__config__").item()).category
    (chart,) = category.chart
    assert (category.title, chart.title, bool(chart.multiline.tag)) == ("c", "t", lines)


def test_embeddings(writer, tmp_path):
    from google.protobuf import text_format

    points = tp.tensor([[0.5, 1.0], [2.0, 3.0], [4.0, 5.0]])
    pictures = tp.arange(3, dtype=tp.uint8).reshape(3, 1, 1, 1).expand(3, 3, 2, 2)
    for _ in range(2):  # the second time replaces the first
        writer.add_embedding(points, ["a", "b\tc", "d"], pictures, 7, "e/f")
    writer.add_embedding(points, [["a", 1], ["b", 2], ["c", 3]], metadata_header=["letter", "number"])
    config = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), ProjectorConfig())
    first, second = config.embeddings
    assert (first.tensor_name, second.tensor_name) == ("e/f:00007", "default:00000")
    assert list(first.sprite.single_image_dim) == [2, 2]
    assert np.loadtxt(tmp_path / first.tensor_path, delimiter="\t").tolist() == points.tolist()
    assert (tmp_path / first.metadata_path).read_text() == "a\nb c\nd\n"
    assert (tmp_path / second.metadata_path).read_text() == "letter\tnumber\na\t1\nb\t2\nc\t3\n"
    sprite = np.asarray(Image.open(tmp_path / first.sprite.image_path))
    assert sprite[::2, ::2, 0].tolist() == [[0, 1], [2, 0]]


class Net(tp.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = tp.nn.Sequential(tp.nn.Linear(3, 4), tp.nn.Dropout(0.5), tp.nn.BatchNorm1d(4))
        self.scale = tp.nn.Parameter(tp.ones(4), requires_grad=False)

    def forward(self, x, more):
        low, high = (self.body(x) * self.scale).chunk(2, 1)
        return {"a": F.relu(high), "b": low + more[0]}


def test_graphs(writer):
    net, x, more = Net(), tp.randn(2, 3), [tp.ones(2, 2), tp.tensor([1])]
    before = {name: value.clone() for name, value in net.state_dict().items()}
    state = tp.get_rng_state()
    writer.add_graph(net, (x, more))
    graph = GraphDef.FromString(next(event.graph_def for event in events(writer) if event.graph_def))
    assert log(writer).Graph() == graph
    nodes = {node.name: node for node in graph.node}
    assert len(nodes) == len(graph.node)
    assert {source.partition(":")[0] for node in graph.node for source in node.input} <= set(nodes)
    linear = "Net/Sequential[body]/Linear[0]"
    assert f"{linear}/weight" in nodes and "Net/Sequential[body]/BatchNorm1d[2]/bias" in nodes
    (call,) = [
        node for node in graph.node if set(node.input) == {"input/input_0", f"{linear}/weight", f"{linear}/bias"}
    ]
    assert call.name.startswith(linear + "/")
    (product,) = [node for node in graph.node if "Net/scale" in node.input]
    assert product.op == "Mul" and product.name == "Net/Mul"
    assert nodes["Net/Relu"].input[0].endswith(":1")
    assert list(nodes["output/output_0"].input) == ["Net/Relu"] and "input/input_1" in nodes["Net/Add"].input
    shape = nodes["output/output_1"].attr["_output_shapes"].list.shape[0]
    assert [dim.size for dim in shape.dim] == [2, 2]
    # the model and the generator are as before
    assert net.training and not net.scale.requires_grad and tp.equal(state, tp.get_rng_state())
    assert all(tp.equal(value, before[name]) for name, value in net.state_dict().items())
    assert not x.requires_grad and not net._forward_hooks


def test_printing_a_graph(writer, capsys):
    writer.add_graph(tp.nn.Linear(2, 1), tp.ones(1, 2), verbose=True)
    assert 'name: "Linear/weight"' in capsys.readouterr().out


# ---- files


def test_files_are_opened_anew_after_close(tmp_path):
    writer = SummaryWriter(str(tmp_path / "log"), filename_suffix=".end")
    writer.add_scalar("x", 1, 1)
    writer.close()
    writer.add_scalar("x", 2, 2)
    writer.close()
    files = sorted((tmp_path / "log").iterdir())
    assert len(files) == 2 and all(path.name.endswith(".end") for path in files)
    assert [event.value for event in log(writer).Scalars("x")] == [1, 2]
    writer.close()


def test_the_default_folder_tells_time_and_comment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_lr1"):
        (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("_lr1") and len(list(folder.iterdir())) == 1


def test_events_of_a_crashed_run_are_purged(tmp_path):
    with SummaryWriter(tmp_path) as first:
        for step in range(5):
            first.add_scalar("x", step, step)
    with SummaryWriter(tmp_path, purge_step=3, filename_suffix=".z") as second:
        second.add_scalar("x", 30, 3)
    assert [event.value for event in log(second).Scalars("x")] == [0, 1, 2, 30]
    second.close()


def test_own_events(tmp_path):
    from tensorboard.compat.proto.summary_pb2 import Summary

    writer = FileWriter(str(tmp_path))
    writer.add_summary(Summary(value=[Summary.Value(tag="x", simple_value=2)]), 5, 6.0)
    writer.flush()
    writer.close()
    (event,) = EventAccumulator(writer.get_logdir()).Reload().Scalars("x")
    assert (event.step, event.value, event.wall_time) == (5, 2, 6)


@pytest.mark.parametrize(
    "kind, match, call",
    [
        (AssertionError, "0D", lambda w: w.add_scalar("x", tp.ones(2))),
        (TypeError, "expected a tensor", lambda w: w.add_scalar("x", "text")),
        (ValueError, "no element", lambda w: w.add_histogram("x", tp.ones(0))),
        (ValueError, "within the bins", lambda w: w.add_histogram("x", tp.ones(1), bins=[2.0, 3.0])),
        (ValueError, "2, 1", lambda w: w.add_histogram_raw("x", 0, 1, 1, 1, 1, [0, 1], [1])),
        (ValueError, "size: 2, 3, 3", lambda w: w.add_pr_curve("x", tp.ones(2), tp.ones(3))),
        (ValueError, "between 0 and 1", lambda w: w.add_pr_curve("x", tp.ones(2), tp.full((2,), 2.0))),
        (ValueError, "5 values for 127", lambda w: w.add_pr_curve_raw("x", *tp.ones(6, 5))),
        (AssertionError, "dataformats", lambda w: w.add_image("x", tp.ones(3, 2, 2), dataformats="CXY")),
        (AssertionError, "dataformats", lambda w: w.add_image("x", tp.ones(3, 2, 2), dataformats="CHH")),
        (AssertionError, "are different", lambda w: w.add_image("x", tp.ones(3, 2))),
        (ValueError, "channels, got 2", lambda w: w.add_image("x", tp.ones(2, 2, 2))),
        (ValueError, "1 labels", lambda w: w.add_image_with_boxes("x", tp.ones(3, 9, 9), tp.ones(2, 4), labels="a")),
        (ValueError, "N, T, C, H, W", lambda w: w.add_video("x", tp.ones(3, 2, 2))),
        (AssertionError, "1 dimensional", lambda w: w.add_audio("x", tp.ones(2, 2))),
        (ValueError, "B, N, 3", lambda w: w.add_mesh("x", tp.ones(2, 3))),
        (TypeError, "dictionary", lambda w: w.add_hparams([1], {})),
        (TypeError, "which hparam_dict has not", lambda w: w.add_hparams({"a": 1}, {}, {"b": [1]})),
        (TypeError, "another type", lambda w: w.add_hparams({"a": 1.0}, {}, {"a": ["b"]})),
        (ValueError, "got list", lambda w: w.add_hparams({"a": [1]}, {})),
        (ValueError, "one number", lambda w: w.add_hparams({"a": tp.ones(2)}, {})),
        (AssertionError, "3 tags", lambda w: w.add_custom_scalars_marginchart(["a"])),
        (AssertionError, "2D", lambda w: w.add_embedding(tp.ones(2))),
        (AssertionError, "#labels", lambda w: w.add_embedding(tp.ones(2, 2), ["a"])),
        (AssertionError, "header", lambda w: w.add_embedding(tp.ones(1, 2), [["a"]], metadata_header=["a", "b"])),
        (AssertionError, "N=2", lambda w: w.add_embedding(tp.ones(2, 2), label_img=tp.ones(3, 3, 2, 2))),
        (AssertionError, "square", lambda w: w.add_embedding(tp.ones(2, 2), label_img=tp.ones(2, 3, 2, 4))),
        (TypeError, "Module", lambda w: w.add_graph(len, tp.ones(1))),
        (ValueError, "input_to_model", lambda w: w.add_graph(tp.nn.Linear(1, 1))),
        (RuntimeError, "nothing", lambda w: w.add_graph(tp.nn.Identity(), tp.ones(1, dtype=tp.int64))),
    ],
)
def test_bad_arguments(writer, kind, match, call):
    before = len(events(writer))
    with pytest.raises(kind, match=match):
        call(writer)
    assert len(events(writer)) == before


def test_without_the_package():
    program = (
        "import sys\n"
        "sys.modules['tensorboard'] = None\n"
        "from tensorplay.utils.tensorboard import SummaryWriter\n"
        "try:\n"
        "    SummaryWriter('nowhere')\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert "pip install 'tensorplay[tensorboard]'" in result.stdout and not result.stderr
