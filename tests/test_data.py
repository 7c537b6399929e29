"""Datasets, samplers, collating, and the DataLoader in one process."""

import collections
import copy
import itertools
import pickle

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.utils import data
from tensorplay.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    random_split,
)
from tensorplay.utils.data._utils.collate import collate, default_collate_fn_map


class Numbers(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return index


class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))


class SizedStream(Stream):
    def __len__(self):
        return self.n


Point = collections.namedtuple("Point", "x y")


def plain(value):
    """Tensors as lists with their dtypes, within containers."""
    if isinstance(value, tp.Tensor):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    return type(value)(plain(entry) for entry in value) if type(value) in (list, tuple) else value


def integers(*values):
    return "tensorplay.int64", list(values)


# ---- errors


@pytest.mark.parametrize(
    "kind, match, make",
    [
        (NotImplementedError, "__getitem__", lambda: Dataset()[0]),
        (TypeError, "__iter__", lambda: IterableDataset()),
        (AssertionError, "Size mismatch", lambda: TensorDataset(tp.zeros(2), tp.zeros(3))),
        (ValueError, "At least one", lambda: StackDataset()),
        (ValueError, "either", lambda: StackDataset(Numbers(1), a=Numbers(1))),
        (ValueError, "Size mismatch", lambda: StackDataset(Numbers(2), Numbers(3))),
        (AssertionError, "empty", lambda: ConcatDataset([])),
        (AssertionError, "IterableDataset", lambda: ConcatDataset([Stream(1)])),
        (ValueError, "absolute value", lambda: ConcatDataset([Numbers(2)])[-3]),
        (IndexError, "range|out of", lambda: ConcatDataset([Numbers(2)])[2]),
        (AssertionError, "only supports", lambda: list(ChainDataset([Numbers(1)]))),
        (TypeError, "len", lambda: len(ChainDataset([Stream(1)]))),
        (IndexError, "range|out of", lambda: Subset(Numbers(9), [1])[1]),
        (ValueError, "Sum of input lengths", lambda: random_split(Numbers(9), [5, 5])),
        (ValueError, "Sum of input lengths", lambda: random_split(Numbers(9), [0.5, 0.4])),
        (ValueError, "index 0 is not between", lambda: random_split(Numbers(9), [1.5, -0.5])),
        (NotImplementedError, "__iter__", lambda: list(Sampler())),
        (ValueError, "positive integer", lambda: RandomSampler([])),
        (ValueError, "positive integer", lambda: RandomSampler([1], num_samples=0)),
        (ValueError, "positive integer", lambda: RandomSampler([1], num_samples=2.0)),
        (TypeError, "boolean", lambda: RandomSampler([1], replacement=3)),
        (ZeroDivisionError, "empty", lambda: list(RandomSampler([], num_samples=1))),
        (ValueError, "positive integer", lambda: WeightedRandomSampler([1], True)),
        (ValueError, "boolean", lambda: WeightedRandomSampler([1], 1, replacement=0)),
        (ValueError, r"1d sequence.*\(1, 2\)", lambda: WeightedRandomSampler([[1, 2]], 1)),
        (RuntimeError, "without replacement", lambda: list(WeightedRandomSampler([1.0], 2, replacement=False))),
        (ValueError, "positive integer", lambda: BatchSampler([1], 0, False)),
        (ValueError, "boolean", lambda: BatchSampler([1], 1, 0)),
        (ValueError, "num_replicas and rank", lambda: DistributedSampler(Numbers(1))),
        (ValueError, r"Invalid rank 2.*\[0, 1\]", lambda: DistributedSampler(Numbers(1), 2, 2)),
        (IndexError, "range|out of", lambda: default_collate([])),
        (TypeError, "found <class 'NoneType'>", lambda: default_collate([None])),
        (TypeError, "found <class 'complex'>", lambda: default_collate([1j])),
        (TypeError, "found <U1", lambda: default_collate([np.array(["a"])])),
        (TypeError, "found object", lambda: default_collate([np.array([None])])),
        (KeyError, "a", lambda: default_collate([{"a": 1}, {"b": 1}])),
        (RuntimeError, "equal size", lambda: default_collate([[1], [1, 2]])),
        (RuntimeError, "equal size", lambda: default_collate([tp.zeros(1), tp.zeros(2)])),
        (RuntimeError, "equal size", lambda: default_collate([np.zeros(1), np.zeros(2)])),
        (TypeError, "datetime", lambda: default_collate([np.array([0], "M8[s]")])),
        (ValueError, "num_workers", lambda: DataLoader(Numbers(1), num_workers=-1)),
        (ValueError, "timeout", lambda: DataLoader(Numbers(1), timeout=-1)),
        (AssertionError, "timeout", lambda: iter(DataLoader(Numbers(1), timeout=1))),
        (ValueError, "prefetch_factor", lambda: DataLoader(Numbers(1), prefetch_factor=1)),
        (ValueError, "prefetch_factor", lambda: DataLoader(Numbers(1), num_workers=1, prefetch_factor=-1)),
        (ValueError, "persistent_workers", lambda: DataLoader(Numbers(1), persistent_workers=True)),
        (ValueError, "num_workers > 0", lambda: DataLoader(Numbers(1), multiprocessing_context="spawn")),
        (ValueError, "start method", lambda: DataLoader(Numbers(1), num_workers=1, multiprocessing_context="x")),
        (TypeError, "context", lambda: DataLoader(Numbers(1), num_workers=1, multiprocessing_context=3)),
        (ValueError, "shuffle", lambda: DataLoader(Stream(1), shuffle=True)),
        (ValueError, "sampler", lambda: DataLoader(Stream(1), sampler=[0])),
        (ValueError, "batch_sampler", lambda: DataLoader(Stream(1), batch_sampler=[[0]])),
        (TypeError, "len", lambda: len(DataLoader(Stream(1)))),
        (ValueError, "exclusive", lambda: DataLoader(Numbers(1), shuffle=True, sampler=[0])),
        (ValueError, "exclusive", lambda: DataLoader(Numbers(1), batch_sampler=[[0]], batch_size=2)),
        (ValueError, "exclusive", lambda: DataLoader(Numbers(1), batch_sampler=[[0]], shuffle=True)),
        (ValueError, "exclusive", lambda: DataLoader(Numbers(1), batch_sampler=[[0]], drop_last=True)),
        (ValueError, "exclusive", lambda: DataLoader(Numbers(1), batch_size=None, drop_last=True)),
        (ValueError, "batch_size", lambda: DataLoader(Numbers(1), batch_size=0)),
        (ValueError, "batch_size", lambda: DataLoader(Numbers(1), batch_size=True)),
        (ValueError, "after DataLoader", lambda: setattr(DataLoader(Numbers(1)), "batch_size", 2)),
        (TypeError, "generator", lambda: list(DataLoader(Numbers(1), generator=3))),
        (NotImplementedError, "pickled", lambda: pickle.dumps(iter(DataLoader(Numbers(1))))),
    ],
)
def test_bad_arguments(kind, match, make):
    with pytest.raises(kind, match=match):
        make()


def test_warnings():
    with pytest.warns(UserWarning, match="no accelerator"):
        assert len(list(DataLoader(Numbers(2), pin_memory=True))) == 2
    with pytest.warns(UserWarning, match="will create 1000 worker"):
        DataLoader(Numbers(2), num_workers=1000)
    with pytest.warns(UserWarning, match="split at index 1 is 0"):
        assert [len(part) for part in random_split(Numbers(1), [0.5, 0.5])] == [1, 0]
    with pytest.warns(FutureWarning, match="cumulative_sizes"):
        assert ConcatDataset([Numbers(2)]).cummulative_sizes == [2]
    stream = SizedStream(3)
    loader = DataLoader(stream, batch_size=1)
    assert len(loader) == 3
    stream.n = 5
    with pytest.warns(UserWarning, match="reported to be 3 .* but [45] batches") as caught:
        assert len(list(loader)) == 5
    assert len(caught) == 2


# ---- datasets


def test_datasets_of_others():
    both = Numbers(2) + Numbers(3)
    assert isinstance(both, ConcatDataset)
    assert [both[i] for i in range(-5, 5)] == [0, 1, 0, 1, 2] * 2
    assert both.cumulative_sizes == [2, 5] == ConcatDataset.cumsum([Numbers(2), Numbers(3)])
    chain = SizedStream(2) + SizedStream(1)
    assert isinstance(chain, ChainDataset) and list(chain) == [0, 1, 0] and len(chain) == 3
    assert StackDataset(Numbers(2), "ab")[1] == (1, "b")
    assert StackDataset(a=Numbers(2), b="ab").__getitems__([1, 0]) == [{"a": 1, "b": "b"}, {"a": 0, "b": "a"}]
    part = Subset(both, [4, 0])
    assert (len(part), part[0], part[-1], part.__getitems__([0, 1])) == (2, 2, 0, [2, 0])
    assert Dataset[int] and len(TensorDataset(tp.zeros(3, 2))) == 3


def test_whole_batches_are_asked_for_where_a_dataset_offers_them():
    asked = []

    class Rows(Numbers):
        def __getitems__(self, keys):
            asked.append(keys)
            return [10 * key for key in keys]

    assert plain(list(DataLoader(Subset(Rows(9), [3, 5, 7]), batch_size=2))) == [integers(30, 50), integers(70)]
    assert asked == [[3, 5], [7]]
    assert StackDataset(Rows(2), Numbers(2)).__getitems__([1]) == [(10, 1)]
    Rows.__getitems__ = lambda self, keys: []
    with pytest.raises(ValueError, match="returned 0 samples for 1 keys"):
        StackDataset(Rows(2)).__getitems__([1])


def test_tensor_datasets_are_indexed_as_a_whole_only_where_that_is_the_same():
    x, y = tp.randn(9, 2), tp.arange(9)
    whole = TensorDataset(x, y)

    class Doubled(TensorDataset):
        def __getitem__(self, index):
            return tuple(2 * t for t in super().__getitem__(index))

    class Shifted(Subset):
        def __getitem__(self, index):
            return super().__getitem__(index - 1)

        def __getitems__(self, keys):
            return [self[key] for key in keys]

    for dataset in (whole, Doubled(x, y), Subset(whole, [8, 2, 2]), Subset(Subset(whole, np.array([5, 6])), [1, 0]),
                    Shifted(whole, [1, 2, 3]), ConcatDataset([whole, whole])):  # fmt: skip
        keys = [0, 1, 1]
        (batch,) = DataLoader(dataset, batch_sampler=[keys])
        rows = [dataset[key] for key in keys]
        assert plain(batch) == plain([tp.stack([row[i] for row in rows]) for i in range(2)])
    for dataset in (x, y, x[:, :0], Subset(x, [4, 3])):
        (batch,) = DataLoader(dataset, batch_sampler=[[1, 0, 1]])
        assert plain(batch) == plain(tp.stack([dataset[1], dataset[0], dataset[1]]))
    with pytest.raises(IndexError):
        list(DataLoader(whole, batch_sampler=[[9]]))
    batch = next(iter(DataLoader(whole, batch_size=2)))
    batch[1].zero_()
    assert y.tolist() == list(range(9))


@pytest.mark.parametrize(
    "n, lengths, counts",
    [
        (10, [7, 3], [7, 3]),
        (10, [0.5, 0.5], [5, 5]),
        (10, [0.33, 0.33, 0.34], [4, 3, 3]),
        (7, [0.5, 0.5], [4, 3]),
        (10, [10, 0], [10, 0]),
        (3, [1.0], [3]),
    ],
)
def test_random_split(n, lengths, counts):
    parts = random_split(Numbers(n), lengths, generator=tp.Generator().manual_seed(1))
    assert [len(part) for part in parts] == counts
    assert sorted(key for part in parts for key in part.indices) == list(range(n))
    again = random_split(Numbers(n), lengths, generator=tp.Generator().manual_seed(1))
    assert [part.indices for part in parts] == [part.indices for part in again]


# ---- samplers


@pytest.mark.parametrize(
    "make",
    [
        lambda g: RandomSampler(range(5), generator=g),
        lambda g: RandomSampler(range(5), num_samples=12, generator=g),
        lambda g: RandomSampler(range(5), replacement=True, num_samples=3000, generator=g),
        lambda g: SubsetRandomSampler([3, 1, 4], generator=g),
        lambda g: WeightedRandomSampler([0.1, 0.0, 0.9], 20, generator=g),
        lambda g: WeightedRandomSampler([0.1, 0.5, 0.9], 2, replacement=False, generator=g),
    ],
)
def test_random_samplers_repeat_with_the_seed(make):
    first = list(make(tp.Generator().manual_seed(5)))
    assert first == list(make(tp.Generator().manual_seed(5))) and len(first) == len(make(None))
    tp.manual_seed(7)
    passes = [list(make(None)) for _ in range(2)]
    tp.manual_seed(7)
    assert passes == [list(make(None)) for _ in range(2)]


def test_random_sampler_draws_all_keys():
    assert sorted(RandomSampler(range(50))) == list(range(50)) != list(RandomSampler(range(50)))
    assert collections.Counter(RandomSampler("abc", num_samples=6)) == {0: 2, 1: 2, 2: 2}
    drawn = collections.Counter(RandomSampler("ab", replacement=True, num_samples=2000))
    assert set(drawn) == {0, 1} and abs(drawn[0] - 1000) < 150
    weighted = collections.Counter(WeightedRandomSampler([1.0, 0.0, 3.0], 2000))
    assert set(weighted) == {0, 2} and abs(weighted[2] - 1500) < 150
    assert sorted(WeightedRandomSampler([1.0, 2.0, 3.0], 3, replacement=False)) == [0, 1, 2]
    source = [0]
    sampler = RandomSampler(source)
    source.append(0)
    assert len(sampler) == len(list(sampler)) == 2


def test_batch_sampler():
    assert list(BatchSampler(iter("abcde"), 2, True)) == [["a", "b"], ["c", "d"]]
    for n, size, drop in itertools.product(range(7), (1, 2, 3, 9), (False, True)):
        sampler = BatchSampler(SequentialSampler(range(n)), size, drop)
        expected = [list(range(i, min(i + size, n))) for i in range(0, n, size)]
        expected = [batch for batch in expected if len(batch) == size or not drop]
        assert list(sampler) == expected and len(sampler) == len(expected)


def test_distributed_sampler():
    for n, replicas, drop, shuffle in itertools.product((0, 1, 2, 9, 10), (1, 2, 5), (False, True), (False, True)):
        shares = [
            DistributedSampler(Numbers(n), replicas, rank, shuffle=shuffle, drop_last=drop) for rank in range(replicas)
        ]
        lists = [list(share) for share in shares]
        assert [len(keys) for keys in lists] == [len(share) for share in shares] == [len(lists[0])] * replicas
        order = [key for keys in zip(*lists) for key in keys]
        assert len(order) == (n // replicas if drop else -(-n // replicas)) * replicas
        once = order[:n]
        assert len(set(once)) == len(once) and (drop or set(order) == set(range(n)))
        assert shuffle or once == list(range(len(once)))
    sampler = DistributedSampler(Numbers(20), 2, 0)
    first = list(sampler)
    assert first == list(sampler)
    sampler.set_epoch(1)
    assert first != list(sampler)


# ---- collating


@pytest.mark.parametrize(
    "batch, expected",
    [
        ([1, 2], integers(1, 2)),
        ([True, False], ("tensorplay.bool", [True, False])),
        ([1.5, 2], ("tensorplay.float64", [1.5, 2.0])),
        (["a", "b"], ["a", "b"]),
        ([b"a"], [b"a"]),
        ([np.float32(1), np.float32(2)], ("tensorplay.float32", [1.0, 2.0])),
        ([np.bool_(True)], ("tensorplay.bool", [True])),
        ([np.array(1, np.int8), np.array(2, np.int8)], ("tensorplay.int8", [1, 2])),
        ([np.ones(2), np.zeros(2)], ("tensorplay.float64", [[1.0, 1.0], [0.0, 0.0]])),
        ([np.ones(1, np.float32), np.zeros(1)], ("tensorplay.float64", [[1.0], [0.0]])),
        ([tp.tensor([1]), tp.tensor([2])], ("tensorplay.int64", [[1], [2]])),
        ([tp.nn.Parameter(tp.ones(1)).detach()], ("tensorplay.float32", [[1.0]])),
        ([(1, "a"), (2, "b")], [integers(1, 2), ("a", "b")]),
        ([[1, 2], [3, 4]], [integers(1, 3), integers(2, 4)]),
        ([range(2), range(2)], [integers(0, 0), integers(1, 1)]),
        ([{"a": {"b": 1}}, {"a": {"b": 2}}], {"a": {"b": integers(1, 2)}}),
        (((1, 2), (3, 4)), [integers(1, 3), integers(2, 4)]),
    ],
)
def test_default_collate(batch, expected):
    assert plain(default_collate(batch)) == expected


def test_containers_keep_their_kind():
    class Named(dict):
        name = ""

    class Items(collections.UserList):
        pass

    one, two = Named(a=1), Named(a=2)
    one.name = "first"
    batch = default_collate([one, two])
    assert type(batch) is Named and batch.name == "first" and batch["a"].tolist() == [1, 2] and one == {"a": 1}
    assert type(default_collate([Items([1]), Items([2])])) is Items
    assert type(default_convert(Items([np.ones(1)]))) is Items
    point = default_collate([Point(1, 2), Point(3, 4)])
    assert type(point) is Point and point.x.tolist() == [1, 3]
    assert type(default_collate([collections.OrderedDict(a=1)])) is collections.OrderedDict


def test_default_convert():
    array = np.zeros(2)
    assert default_convert(array).data_ptr() == tp.from_numpy(array).data_ptr()
    point = default_convert(Point(np.int32(1), "a"))
    assert plain(point.x) == ("tensorplay.int32", 1) and point.y == "a"
    assert plain(default_convert({"a": (1, np.ones(1)), "b": range(2)})) == {
        "a": [1, ("tensorplay.float64", [1.0])],
        "b": [0, 1],
    }
    text = np.array(["a"])
    assert default_convert(text) is text and default_convert(None) is None


def test_functions_for_types_of_samples():
    class Image:
        def __init__(self, size):
            self.size = size

    class Photo(Image):
        pass

    def sizes(batch, *, collate_fn_map):
        return collate([image.size for image in batch], collate_fn_map=collate_fn_map)

    samples = [(Photo(1), 0), (Image(2), 1)]
    with pytest.raises(TypeError, match="Photo"):
        default_collate(samples)
    assert plain(collate(samples, collate_fn_map={**default_collate_fn_map, Image: sizes})) == [
        integers(1, 2),
        integers(0, 1),
    ]
    default_collate_fn_map[Image] = sizes
    before = default_collate_fn_map[tp.Tensor]
    default_collate_fn_map[tp.Tensor] = lambda batch, *, collate_fn_map: len(batch)
    try:
        assert plain(default_collate(samples)[0]) == integers(1, 2)
        assert list(DataLoader(TensorDataset(tp.ones(3)), 3)) == [[3]]
        assert default_collate([np.ones(2), np.ones(2)]) == 2
    finally:
        del default_collate_fn_map[Image]
        default_collate_fn_map[tp.Tensor] = before


# ---- the loader in one process


@pytest.mark.parametrize("dataset", [Numbers(7), SizedStream(7)], ids=["indexed", "iterated"])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("size", [1, 3, 7, 9])
def test_batches(dataset, size, drop_last):
    loader = DataLoader(dataset, batch_size=size, drop_last=drop_last)
    expected = [list(range(i, min(i + size, 7))) for i in range(0, 7, size)]
    expected = [batch for batch in expected if len(batch) == size or not drop_last]
    for _ in range(2):
        assert [batch.tolist() for batch in loader] == expected
    assert len(loader) == len(expected)


def test_single_samples():
    assert list(DataLoader(Numbers(3), batch_size=None)) == [0, 1, 2] == list(DataLoader(Stream(3), batch_size=None))
    assert len(DataLoader(Numbers(3), batch_size=None)) == 3
    assert plain(list(DataLoader([np.float64(1)], batch_size=None))) == [("tensorplay.float64", 1.0)]
    assert list(DataLoader({"a": 5}, sampler=["a"], batch_size=None)) == [5]
    assert list(DataLoader([], batch_size=2)) == []


def test_arguments_that_say_what_makes_a_batch():
    assert list(DataLoader(Numbers(5), batch_size=2, collate_fn=tuple)) == [(0, 1), (2, 3), (4,)]
    loader = DataLoader(Numbers(5), batch_sampler=[[4, 1], [0]])
    assert [batch.tolist() for batch in loader] == [[4, 1], [0]]
    assert loader.batch_size is None and loader.drop_last is False and len(loader) == 2
    assert isinstance(loader.sampler, SequentialSampler)
    assert isinstance(DataLoader(Numbers(5), shuffle=True).sampler, RandomSampler)
    assert loader.collate_fn is default_collate
    assert DataLoader(Numbers(5), batch_size=None).collate_fn is default_convert


def test_shuffling_repeats_with_the_seed():
    def orders(generator=None):
        loader = DataLoader(Numbers(30), batch_size=30, shuffle=True, generator=generator)
        return [next(iter(loader)).tolist() for _ in range(3)]

    tp.manual_seed(3)
    first = orders()
    tp.manual_seed(3)
    assert first == orders()
    assert first[0] != first[1] and sorted(first[0]) == list(range(30))
    state = tp.get_rng_state()
    own = orders(tp.Generator().manual_seed(3))
    assert own == orders(tp.Generator().manual_seed(3))
    assert tp.equal(state, tp.get_rng_state())


def test_loaders_are_copied_and_pickled():
    for made in (copy.deepcopy, copy.copy, lambda loader: pickle.loads(pickle.dumps(loader))):
        loader = made(DataLoader(Numbers(4), batch_size=2, shuffle=False))
        assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3]]
        with pytest.raises(ValueError, match="should not be set"):
            loader.drop_last = True


def test_nested_passes_do_not_disturb_each_other():
    loader = DataLoader(Numbers(3))
    assert [(a.item(), b.item()) for a in loader for b in loader] == list(itertools.product(range(3), repeat=2))


def test_an_error_in_one_batch_leaves_the_next_one():
    iterator = iter(DataLoader([1, "x", 3], sampler=[0, 9, 2]))
    assert next(iterator).tolist() == [1]
    with pytest.raises(IndexError):
        next(iterator)
    assert next(iterator).tolist() == [3]


def test_names_are_those_of_pytorch():
    assert set(data.__all__) <= set(dir(data))
    assert data.dataset.TensorDataset is TensorDataset and data.sampler.Sampler is Sampler
    assert data.dataloader.default_collate is default_collate
    assert data.distributed.DistributedSampler is DistributedSampler
