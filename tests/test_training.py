"""Programs written for PyTorch train as they do there, once only what is imported is changed."""

import json
from pathlib import Path

import pytest
from training import PROGRAMS

import tensorplay as tp

TABLE = json.loads((Path(__file__).parent / "data" / "training.json").read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_losses_are_those_of_pytorch(name):
    assert PROGRAMS[name](tp) == pytest.approx(TABLE[name], rel=1e-8, abs=1e-10)


@pytest.mark.parametrize(
    "line",
    """
from tensorplay import Tensor, inf, nn, optim
from tensorplay.amp import GradScaler, autocast
from tensorplay.autograd import Function, Variable, grad
from tensorplay.backends import cudnn
from tensorplay.cuda.amp import GradScaler, autocast
from tensorplay.nn import Module, ModuleList, Parameter, init
from tensorplay.nn.attention import SDPBackend, sdpa_kernel
from tensorplay.nn.functional import cross_entropy, relu
from tensorplay.nn.init import _calculate_fan_in_and_fan_out, kaiming_normal_, trunc_normal_
from tensorplay.nn.modules.activation import MultiheadAttention, ReLU
from tensorplay.nn.modules.batchnorm import BatchNorm2d, _BatchNorm
from tensorplay.nn.modules.conv import Conv2d, _ConvNd
from tensorplay.nn.modules.dropout import _DropoutNd
from tensorplay.nn.modules.instancenorm import _InstanceNorm
from tensorplay.nn.modules.loss import _Loss, _WeightedLoss
from tensorplay.nn.modules.rnn import LSTM, RNNBase
from tensorplay.nn.modules.transformer import _get_activation_fn, _get_clones
from tensorplay.nn.modules.utils import _ntuple, _pair
from tensorplay.nn.common_types import _ratio_any_t, _size_2_t, _tensor_list_t
from tensorplay.nn.grad import conv2d_input, conv2d_weight
from tensorplay.nn.parallel import DataParallel, DistributedDataParallel
from tensorplay.nn.parameter import Parameter
from tensorplay.nn.utils import clip_grad_norm_, parametrize, prune, spectral_norm, weight_norm
from tensorplay.nn.utils.clip_grad import clip_grad_norm_
from tensorplay.nn.utils.fusion import fuse_conv_bn_eval
from tensorplay.nn.utils.memory_format import convert_conv2d_weight_memory_format
from tensorplay.nn.utils.parametrizations import orthogonal, weight_norm
from tensorplay.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_sequence
from tensorplay.nn.utils.spectral_norm import SpectralNorm
from tensorplay.nn.utils.weight_norm import WeightNorm
from tensorplay.optim import AdamW, Optimizer, lr_scheduler
from tensorplay.optim.adam import Adam
from tensorplay.optim.lr_scheduler import OneCycleLR, ReduceLROnPlateau, _LRScheduler
from tensorplay.optim.optimizer import Optimizer, required
from tensorplay.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv, _precision_to_scale_tril
from tensorplay.distributions.utils import _standard_normal, broadcast_all
from tensorplay.nn.modules.padding import _ConstantPadNd
from tensorplay.nn.modules.pooling import _AdaptiveAvgPoolNd, _AvgPoolNd, _MaxPoolNd
from tensorplay.optim.optimizer import ParamsT, StateDict
from tensorplay.utils._pytree import tree_flatten, tree_map, tree_unflatten
from tensorplay.optim.swa_utils import SWALR, AveragedModel, update_bn
from tensorplay.utils.checkpoint import checkpoint
from tensorplay.utils.data import DataLoader, Dataset, TensorDataset, random_split
from tensorplay.utils.data.dataloader import DataLoader
""".strip().splitlines(),
)
def test_what_programs_import_is_where_it_is_in_pytorch(line):
    found = {}
    exec(line, found)
    assert all(found[name.strip()] is not None for name in line.split(" import ")[1].split(","))


@pytest.mark.parametrize(
    "ask",
    """
tensorplay.cuda.memory_allocated() == tensorplay.cuda.max_memory_allocated() == 0
tensorplay.cuda.memory_reserved() == tensorplay.cuda.max_memory_reserved() == 0
tensorplay.cuda.empty_cache() is tensorplay.cuda.reset_peak_memory_stats() is None
tensorplay.cuda.set_rng_state_all(tensorplay.cuda.get_rng_state_all()) is None
not tensorplay.cuda.is_bf16_supported() and issubclass(tensorplay.OutOfMemoryError, RuntimeError)
not tensorplay.accelerator.is_available() and tensorplay.accelerator.device_count() == 0
tensorplay.accelerator.current_accelerator() is None
not tensorplay.distributed.is_available() and not tensorplay.distributed.is_initialized()
not tensorplay.jit.is_scripting() and not tensorplay.jit.is_tracing()
tensorplay.jit.script(len) is tensorplay.jit.unused(len) is tensorplay.jit.ignore(len) is len
tensorplay.jit.ignore(drop=True)(len) is tensorplay.jit.script_if_tracing(len) is tensorplay.jit.export(len) is len
tensorplay.jit.annotate(int, 3) == 3 and tensorplay.jit.Final is not None
tensorplay.version.cuda is None and tensorplay.version.__version__ == tensorplay.__version__
isinstance(tensorplay.device("cpu"), tensorplay.types.Device) and isinstance(2.5, tensorplay.types.Number)
not tensorplay.backends.cuda.is_built() and not tensorplay.backends.cuda.matmul.allow_tf32
""".strip().splitlines(),
)
def test_what_programs_ask_before_they_choose_is_answered(ask):
    assert eval(ask, {"tensorplay": tp})


@pytest.mark.parametrize("name", ["flash", "mem_efficient", "math", "cudnn"])
def test_settings_for_devices_that_are_not_there_are_kept(name):
    settings = tp.backends.cuda
    told = getattr(settings, f"{name}_sdp_enabled")
    assert told()
    getattr(settings, f"enable_{name}_sdp")(False)
    assert not told()
    getattr(settings, f"enable_{name}_sdp")(True)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: tp.accelerator.synchronize(), RuntimeError),
        (lambda: tp.accelerator.current_device_index(), RuntimeError),
        (lambda: tp.distributed.init_process_group("gloo"), RuntimeError),
        (lambda: tp.distributed.get_rank(), ValueError),
        (lambda: tp.distributed.get_world_size(), ValueError),
    ],
)  # fmt: skip
def test_what_needs_a_device_or_a_group_says_that_there_is_none(call, error):
    with pytest.raises(error, match="none is available|no distributed training"):
        call()


def test_trees_are_walked_by_the_names_of_pytorch():
    from tensorplay.utils import _pytree as pytree

    tree = {"a": (1, [2.5]), "b": None}
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == pytree.tree_leaves(tree) == [1, 2.5]
    assert pytree.tree_unflatten([3, 4], spec) == {"a": (3, [4]), "b": None}
    assert pytree.tree_map(lambda x: x + 1, tree) == {"a": (2, [3.5]), "b": None}
    assert pytree.tree_map_only(float, str, tree) == {"a": (1, ["2.5"]), "b": None}
    assert pytree.tree_all(lambda x: x > 0, tree) and not pytree.tree_any(lambda x: x > 3, tree)


def test_layers_show_what_layers_of_others_are_made_with():
    nn = tp.nn

    class Standardised(nn.Conv2d):
        def _conv_forward(self, input, weight, bias):
            padded = nn.functional.pad(input, self._reversed_padding_repeated_twice)
            return nn.functional.conv2d(padded, weight - weight.mean(), bias, self.stride)

    layer, x = Standardised(1, 2, (3, 2), stride=2, padding=(2, 1)), tp.rand(1, 1, 5, 6)
    want = nn.functional.conv2d(x, layer.weight - layer.weight.mean(), layer.bias, 2, (2, 1))
    assert tp.allclose(layer(x), want)
    rnn = nn.LSTM(2, 3, bidirectional=True)
    assert [id(w) for w in rnn._flat_weights] == [id(w) for w in rnn.parameters()]
    assert rnn._flat_weights_names == [name for name, _ in rnn.named_parameters()]


def test_models_are_tested_for_wrappers():
    model = tp.nn.DataParallel(tp.nn.Linear(1, 1))
    assert isinstance(model, (tp.nn.parallel.DistributedDataParallel, tp.nn.DataParallel))
    assert not isinstance(model, tp.nn.parallel.DistributedDataParallel)
    with pytest.raises(RuntimeError, match="no distributed training"):
        tp.nn.parallel.DistributedDataParallel(model)
