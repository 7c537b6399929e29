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


def test_models_are_tested_for_wrappers():
    model = tp.nn.DataParallel(tp.nn.Linear(1, 1))
    assert isinstance(model, (tp.nn.parallel.DistributedDataParallel, tp.nn.DataParallel))
    assert not isinstance(model, tp.nn.parallel.DistributedDataParallel)
    with pytest.raises(RuntimeError, match="no distributed training"):
        tp.nn.parallel.DistributedDataParallel(model)
