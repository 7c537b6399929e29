"""Profiles: events nest, times add up, and nothing is left when they end."""

import gzip
import json
import re
import threading
import time

import pytest

import tensorplay as tp
from tensorplay import autograd, func
from tensorplay.autograd.profiler_util import format_memory, format_time
from tensorplay.core.interception import points
from tensorplay.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule


def program(n=3):
    """A step of training, with hooks for what profiles meet: views, composites, in place, a pass."""
    w = tp.ones(n, n, requires_grad=True)
    x = tp.arange(float(n)).requires_grad_()
    with record_function("forward"):
        h = tp.nn.functional.linear(x * 2, w).softmax(0).sin()
        h = h.reshape(1, n).add_(1)[0]
        loss = (2.0 - h).square().sum()
    loss.backward()
    with tp.no_grad():
        w.sub_(w.grad)
    return loss


def names(events):
    return [event.name for event in events]


@pytest.fixture
def prof():
    with profile(record_shapes=True) as prof:
        program()
    return prof


# ---- events


def test_events_nest(prof):
    events = prof.events()
    for event in events:
        span = event.time_range
        assert span.start <= span.end
        for child in event.cpu_children:
            assert child.cpu_parent is event
            assert span.start <= child.time_range.start <= child.time_range.end <= span.end
        for one, other in zip(event.cpu_children, event.cpu_children[1:]):
            assert one.time_range.end <= other.time_range.start
    starts = [event.time_range.start for event in events]
    assert starts == sorted(starts)
    assert {e.id for e in events} == {e.id for top in events if top.cpu_parent is None for e in tree(top)}


def tree(event):
    yield event
    for child in event.cpu_children:
        yield from tree(child)


def test_times_add_up():
    start = time.perf_counter()
    with profile() as prof:
        program(40)
    elapsed = 1e6 * (time.perf_counter() - start)
    events = prof.events()
    top = sum(e.cpu_time_total for e in events if e.cpu_parent is None)
    assert 0 < top < elapsed
    assert sum(e.self_cpu_time_total for e in events) == pytest.approx(top)
    assert all(e.self_cpu_time_total >= 0 for e in events)
    averages = prof.key_averages()
    assert averages.self_cpu_time_total == pytest.approx(top) == pytest.approx(events.self_cpu_time_total)
    assert averages.total_average().count == len(events)
    for a in averages:
        same = [e for e in events if e.key == a.key]
        assert a.count == len(same) and a.cpu_time == pytest.approx(a.cpu_time_total / a.count)
        assert a.self_cpu_time_total == pytest.approx(sum(e.self_cpu_time_total for e in same))


def test_operators_are_seen_however_they_are_called(prof):
    events = prof.events()
    (forward,) = [e for e in events if e.name == "forward"]
    assert names(forward.cpu_children) == [
        "mul", "linear", "softmax", "sin", "reshape", "add_", "getitem", "sub", "square", "sum"
    ]  # fmt: skip
    assert forward.is_user_annotation
    (mul,) = [e for e in forward.cpu_children if e.name == "mul"]
    assert mul.input_shapes == [[3], []] and mul.input_dtypes == ["float32", "int"]
    assert {"ones", "arange", "sub_"} <= set(names(events))


def test_a_public_function_and_its_primitive_are_one_event():
    x, w = tp.ones(2, 3), tp.ones(4, 3)
    with profile() as prof:
        tp.nn.functional.linear(x, w)
        tp.vmap(tp.sin)(x)
        tp.stack([x, x])
    assert names(prof.events()) == ["linear", "sin", "stack"]


def test_methods_functions_and_dunders():
    x = tp.ones(2, 2)
    with profile() as prof:
        x + x, 1 - x, x @ x, -x, x[0], x == x, abs(x), x**2, x > 1, tp.exp(x), x.exp(), tp.linalg.inv(tp.eye(2))
        x += 1
        x[0] = 2
    top = [e.name for e in prof.events() if e.cpu_parent is None]
    assert top == ["add", "sub", "matmul", "neg", "getitem", "eq", "abs", "pow", "gt", "exp", "exp", "eye",
                   "linalg_inv", "add_", "setitem"]  # fmt: skip


def test_the_backward_is_linked_to_the_forward(prof):
    events = prof.events()
    forward = {e.sequence_nr: e for e in events if e.scope == "operator" and e.sequence_nr >= 0}
    (run,) = [e for e in events if e.name == "backward pass"]
    linked = [(forward[e.sequence_nr].name, e.name) for e in run.cpu_children if e.sequence_nr in forward]
    expected = [("sum", "SumBackward0"), ("square", "PowBackward0"), ("sub", "RsubBackward1"), ("sin", "SinBackward0"),
                ("linear", "LinearBackward0"), ("softmax", "SoftmaxBackward0")]  # fmt: skip
    found = {origin: name for origin, name in linked}
    assert {origin for origin, _ in expected} <= set(found)
    assert found["sum"] == "SumBackward0" and found["sin"] == "SinBackward0"
    assert names(run.cpu_children).count("AccumulateGrad") == 2
    assert all(e.scope == "backward" for e in run.cpu_children)


@pytest.mark.parametrize("case", ["create_graph", "func.grad", "vmap(grad)", "grad twice", "hooks", "custom"])
def test_every_kind_of_pass(case):
    x = tp.ones(3, requires_grad=True)

    class Double(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    runs = {
        "create_graph": lambda: autograd.grad(x.sin().sum(), x, create_graph=True),
        "func.grad": lambda: func.grad(lambda x: x.sin().sum())(tp.ones(3)),
        "vmap(grad)": lambda: tp.vmap(func.grad(tp.sin))(tp.ones(3)),
        "grad twice": lambda: func.grad(func.grad(lambda x: x.sin()))(tp.tensor(1.0)),
        "hooks": lambda: hooked(x.sin()).sum().backward(),
        "custom": lambda: Double.apply(x.sin()).sum().backward(),
    }

    def hooked(y):
        y.register_hook(lambda g: g * 2)
        return y

    expected = runs[case]()
    x.grad = None
    with profile() as prof:
        found = runs[case]()
    for a, b in zip(tp.core.pytree.leaves(found), tp.core.pytree.leaves(expected)):
        assert a is b is None or (a == b).all()
    events = prof.events()
    (sine, *_) = [e for e in events if e.name == "SinBackward0"]
    origins = [e for e in events if e.name == "sin" and e.sequence_nr == sine.sequence_nr]
    assert len(origins) == 1
    if case == "custom":
        (node,) = [e for e in events if e.name == "DoubleBackward"]
        (apply,) = [e for e in events if e.name == "Double"]
        assert node.sequence_nr == apply.sequence_nr and names(apply.cpu_children) == ["mul"]
        assert names(node.cpu_children) == ["mul"]


def test_an_exception_ends_the_event():
    with profile() as prof:
        with pytest.raises(RuntimeError):
            tp.ones(2) @ tp.ones(3)
        tp.ones(1)
    assert names(e for e in prof.events() if e.cpu_parent is None) == ["ones", "ones", "matmul", "ones"]


def test_operators_called_for_the_first_time():
    made = tp.core.primitive.elementwise("profiled_first", lambda xp, input: input + 1)
    with profile() as prof:
        for _ in range(3):
            made(tp.ones(1))
    del tp.core.primitive.PRIMITIVES["profiled_first"]
    assert names(prof.events()).count("profiled_first") == 3


def test_threads_have_tracks_of_their_own():
    together = threading.Barrier(4)

    def work():
        with record_function("work"):
            together.wait()
            for _ in range(50):
                tp.ones(3).exp()

    with profile() as prof:
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        work()
        for thread in threads:
            thread.join()
    events = prof.events()
    works = [e for e in events if e.name == "work"]
    assert len({e.thread for e in works}) == 4
    for e in works:
        assert names(e.cpu_children) == ["ones", "exp"] * 50 and {c.thread for c in e.cpu_children} == {e.thread}
    check_trace(events.chrome_trace())


def test_modules_and_optimizers():
    model = tp.nn.Linear(2, 2)
    optimizer = tp.optim.SGD(model.parameters(), lr=0.1)
    with profile(with_modules=True) as prof:
        model(tp.ones(2)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    found = names(e for e in prof.events() if e.cpu_parent is None)
    assert found[1] == "nn.Module: Linear"
    assert found[-2:] == ["Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"]
    (module,) = [e for e in prof.events() if e.scope == "module"]
    assert "linear" in names(module.cpu_children)


# ---- nothing is left


def test_nothing_is_left_when_a_profile_ends():
    def codes():
        return {f: f.__code__ for f in list(points)}

    program()
    with profile():
        program()
    before = codes()
    assert not any(code.co_filename == "<tensorplay interception>" for code in before.values())
    with profile() as prof:
        program()
        during = codes()
    count = len(prof.events())
    program()
    assert codes() == before and len(prof.events()) == count
    watched = [f for f in before if during[f] is not before[f]]
    assert tp.Tensor.__mul__ in watched and tp.Tensor.backward not in watched
    assert autograd.profiler.active is None
    assert autograd.engine.run.__code__.co_filename == autograd.engine.__file__


def test_the_numbers_are_those_without_a_profile():
    expected = program()
    with profile(record_shapes=True, with_stack=True, profile_memory=True, with_flops=True):
        found = program()
    assert found.item() == expected.item()


def test_profiles_do_not_nest():
    with profile():
        with pytest.raises(RuntimeError, match="already enabled"):
            with profile():
                pass
        tp.ones(1)
    with profile() as prof:
        tp.ones(1)
    assert names(prof.events()) == ["ones"]


def test_an_exception_ends_the_profile():
    with pytest.raises(KeyError), profile() as prof:
        tp.ones(1)
        raise KeyError("mine")
    assert autograd.profiler.active is None and names(prof.events()) == ["ones"]


# ---- parts marked by the user


def test_marked_parts():
    @record_function("double")
    def double(x, depth=0):
        return double(x, depth + 1) if depth < 2 else x * 2

    with profile() as prof:
        with record_function("outer", "more"):
            double(tp.ones(1))
    outer, *_ = prof.events()
    assert names(tree(outer)) == ["outer", "ones", "double", "double", "double", "mul"]
    assert outer.args == "more"
    (average,) = [a for a in prof.key_averages() if a.key == "double"]
    assert average.count == 3 and average.cpu_time_total == outer.cpu_children[1].cpu_time_total
    assert double(tp.ones(1)).item() == 2


def test_parts_that_begin_before_or_end_after_the_profile():
    early, late = record_function("early"), record_function("late")
    with early:
        prof = profile()
        prof.start()
        tp.ones(1)
    late.__enter__()
    prof.stop()
    late.__exit__(None, None, None)
    assert names(prof.events()) == ["ones", "late"]
    ones, mark = prof.events()
    assert mark.time_range.end >= mark.time_range.start >= ones.time_range.end


# ---- details


def test_memory():
    with profile(profile_memory=True) as prof:
        with record_function("kept"):
            x = tp.ones(250_000)
        with record_function("dropped"):
            x.exp()
        with record_function("freed"):
            del x
    kept, dropped, freed = (e for e in prof.events() if e.is_user_annotation)
    assert kept.cpu_memory_usage == pytest.approx(1e6, rel=0.05)
    assert abs(kept.self_cpu_memory_usage) < 1e5 and abs(dropped.cpu_memory_usage) < 1e5
    assert dropped.cpu_children[0].cpu_memory_usage == pytest.approx(1e6, rel=0.05)
    assert dropped.self_cpu_memory_usage == pytest.approx(-1e6, rel=0.05)
    assert freed.self_cpu_memory_usage == pytest.approx(-1e6, rel=0.05)
    text = prof.key_averages().table(sort_by="self_cpu_memory_usage")
    assert "Self CPU Mem" in text and re.search(r"ones .* 97\d\.\d+ Kb", text)


def test_stacks(tmp_path):
    def inner():
        x = tp.ones(100, 100)
        for _ in range(20):
            x = x @ x / 100

    with profile(with_stack=True) as prof:
        inner()
    event = next(e for e in prof.events() if e.name == "mm")
    assert re.match(r".*test_profiler\.py\(\d+\): inner", event.stack[0])
    assert "test_stacks" in event.stack[1]
    assert not any("tensorplay/core" in line or "<tensorplay" in line for line in event.stack)
    averages = prof.key_averages(group_by_stack_n=1)
    text = averages.table(max_src_column_width=30)
    assert "Source Location" in text and re.search(r"\.\.\..*\(\d+\): inner", text)
    prof.export_stacks(tmp_path / "stacks.txt")
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    assert lines and all(re.fullmatch(r"[^;\s]+(;[^;\s]+)+ \d+", line) for line in lines)
    assert any(line.split(";")[-1].startswith("mm ") for line in lines)


@pytest.mark.parametrize(
    "run, flops",
    [
        (lambda: tp.ones(2, 3) @ tp.ones(3, 5), 2 * 2 * 3 * 5),
        (lambda: tp.nn.functional.linear(tp.ones(4, 3), tp.ones(5, 3), tp.ones(5)), 2 * 4 * 3 * 5),
        (lambda: tp.ones(7, 2, 3).bmm(tp.ones(7, 3, 5)), 7 * 2 * 2 * 3 * 5),
        (lambda: tp.nn.functional.conv2d(tp.ones(2, 3, 6, 6), tp.ones(5, 3, 3, 3)), 2 * (2 * 5 * 4 * 4) * 27),
        (lambda: tp.ones(3, 1) * tp.ones(4), 12),
    ],
)
def test_flops(run, flops):
    with profile(with_flops=True) as prof:
        run()
    assert prof.key_averages().total_average().flops == flops
    assert f"{flops:,}" in prof.key_averages().table()
    assert "Total FLOPs" not in prof.events().key_averages().columns([], 0, None, 9, 9)[0][0]


def test_averages_by_shape():
    with profile(record_shapes=True) as prof:
        for n in (2, 3, 3):
            tp.ones(n).exp()
    found = {str(a.input_shapes): a.count for a in prof.key_averages(group_by_input_shape=True) if a.key == "exp"}
    assert found == {"[[2]]": 1, "[[3]]": 2}
    assert "[[3]]" in prof.key_averages(group_by_input_shape=True).table()


def test_tables(prof):
    averages = prof.key_averages()
    text = averages.table(sort_by="self_cpu_time_total", row_limit=4, header="Times", time_unit="us")
    head, line, titles, _, *rows = text.splitlines()
    assert head == "Times" and set(line) == {"-", " "}
    assert re.split(r"\s{2,}", titles.strip()) == [
        "Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"
    ]  # fmt: skip
    rows = [re.split(r"\s{2,}", row.strip()) for row in rows[:4]]
    own = [float(row[2].removesuffix("us")) for row in rows]
    assert own == sorted(own, reverse=True)
    assert own[0] == pytest.approx(max(a.self_cpu_time_total for a in averages), abs=1e-3)
    shares = [float(r[1].rstrip("%")) for r in map(lambda row: re.split(r"\s{2,}", row.strip()),
              averages.table(row_limit=-1).splitlines()[3:-2])]  # fmt: skip
    assert len(shares) == len(averages) and sum(shares) == pytest.approx(100, abs=0.01 * len(shares))
    assert len(prof.events().table(top_level_events_only=True).splitlines()) < len(prof.events()) + 5
    assert f"Self CPU time total: {format_time(averages.self_cpu_time_total)}" in averages.table()
    assert "sof..." in averages.table(row_limit=-1, max_name_column_width=6)
    with pytest.raises(AttributeError, match="no 'cuda_time_total' to sort by; there are cpu_time, "):
        averages.table(sort_by="cuda_time_total")


@pytest.mark.parametrize(
    "value, text",
    [(0.5, "0.500us"), (1500, "1.500ms"), (2.5e6, "2.500s")],
)
def test_times_in_words(value, text):
    assert format_time(value) == text


@pytest.mark.parametrize("value, text", [(12, "12 b"), (-2048, "-2.00 Kb"), (3 << 20, "3.00 Mb"), (1 << 30, "1.00 Gb")])
def test_memory_in_words(value, text):
    assert format_memory(value) == text


# ---- traces


def check_trace(trace):
    """Complete events nest within each thread; flows begin and end within events."""
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    for tid in {e["tid"] for e in events}:
        ends = []
        for e in sorted((e for e in events if e["tid"] == tid), key=lambda e: (e["ts"], -e["dur"])):
            while ends and ends[-1] <= e["ts"]:
                ends.pop()
            end = e["ts"] + e["dur"]
            assert not ends or end <= ends[-1] + 1e-6
            ends.append(end)
    begun = {e["id"]: e for e in trace["traceEvents"] if e["ph"] == "s"}
    ended = {e["id"]: e for e in trace["traceEvents"] if e["ph"] == "f"}
    assert begun.keys() == ended.keys()
    links = []
    for id, begin in begun.items():
        ends = [next(x["name"] for x in events if (x["ts"], x["tid"]) == (e["ts"], e["tid"])) for e in
                (begin, ended[id])]  # fmt: skip
        assert begin["ts"] <= ended[id]["ts"] and ended[id]["bp"] == "e"
        links.append(tuple(ends))
    return links


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_traces_for_chrome(prof, tmp_path, name):
    prof.add_metadata("run", "first")
    prof.add_metadata_json("settings", '{"lr": 0.1}')
    prof.export_chrome_trace(tmp_path / name)
    opened = gzip.open if name.endswith(".gz") else open
    with opened(tmp_path / name, "rt") as file:
        trace = json.load(file)
    links = check_trace(trace)
    assert ("sin", "SinBackward0") in links and ("sum", "SumBackward0") in links
    assert trace["run"] == "first" and trace["settings"] == {"lr": 0.1}
    events = {e["name"]: e for e in trace["traceEvents"] if e["ph"] == "X"}
    assert events["forward"]["cat"] == "user_annotation" and events["sin"]["cat"] == "cpu_op"
    assert events["sin"]["args"]["Input Dims"] == [[3]]
    assert events["SinBackward0"]["args"]["Sequence number"] == events["sin"]["args"]["Sequence number"]
    assert len([e for e in trace["traceEvents"] if e["ph"] == "X"]) == len(prof.events())


def test_traces_for_tensorboard(tmp_path):
    for use_gzip in (False, True):
        handler = tp.profiler.tensorboard_trace_handler(tmp_path / "logs", "worker", use_gzip)
        with profile(on_trace_ready=handler):
            program()
    files = sorted(p.name for p in (tmp_path / "logs").iterdir())
    assert len(files) == 2 and all(re.fullmatch(r"worker\.\d+\.pt\.trace\.json(\.gz)?", f) for f in files)


# ---- steps


@pytest.mark.parametrize(
    "options, letters",
    [
        (dict(wait=1, warmup=1, active=2, repeat=2, skip_first=1), "NNWRSNWRSNNN"),
        (dict(wait=0, warmup=0, active=1), "SSS"),
        (dict(wait=1, warmup=1, active=1), "NWSNWS"),
        (dict(wait=2, warmup=0, active=3, skip_first=1, skip_first_wait=1), "NRRSNNRRS"),
        (dict(wait=0, warmup=2, active=1, repeat=1), "WWSN"),
    ],
)
def test_schedules(options, letters):
    chosen = schedule(**options)
    short = {"NONE": "N", "WARMUP": "W", "RECORD": "R", "RECORD_AND_SAVE": "S"}
    assert "".join(short[chosen(step).name] for step in range(len(letters))) == letters


@pytest.mark.parametrize(
    "options", [dict(wait=-1, warmup=0, active=1), dict(wait=0, warmup=0, active=0), dict(wait=0, warmup=0, active=1,
                                                                                           repeat=-1)]
)  # fmt: skip
def test_wrong_schedules(options):
    with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
        schedule(**options)
    with pytest.raises(AssertionError, match="Step must be non-negative"):
        schedule(wait=0, warmup=0, active=1)(-1)


@pytest.mark.parametrize("acc_events", [False, True])
def test_a_schedule_chooses_steps(acc_events):
    ready = []

    def note(prof):
        steps = [e.name for e in prof.events() if e.name.startswith("ProfilerStep")]
        averages = {a.key: a.count for a in prof.key_averages()}
        ready.append((prof.step_num, steps, averages["exp"], averages["ProfilerStep*"]))

    chosen = schedule(wait=1, warmup=1, active=2)
    with profile(schedule=chosen, on_trace_ready=note, acc_events=acc_events) as prof:
        for _ in range(11):
            tp.ones(1).exp()
            prof.step()
    first = ["ProfilerStep#2", "ProfilerStep#3"]
    second = ["ProfilerStep#6", "ProfilerStep#7"]
    third = ["ProfilerStep#10", "ProfilerStep#11"]
    if acc_events:
        second, third = first + second, first + second + third
    counts = [2, 4, 5] if acc_events else [2, 2, 1]
    assert [r[:2] for r in ready] == [(4, first), (8, second), (11, third)]
    assert [r[2] for r in ready] == counts
    step = next(e for e in prof.events() if e.name == "ProfilerStep#10")
    assert names(step.cpu_children) == ["ones", "exp"]


def test_a_schedule_that_drops_what_it_recorded_is_warned_of():
    actions = [ProfilerAction.RECORD, ProfilerAction.NONE]
    with profile(schedule=lambda step: actions[step]) as prof:
        with pytest.warns(UserWarning, match="RECORD followed by NONE"):
            prof.step()


def test_results_before_there_are_any():
    prof = profile()
    for ask in (prof.events, prof.key_averages, lambda: prof.export_chrome_trace("nowhere")):
        with pytest.raises(AssertionError, match="Profiler must be initialized before"):
            ask()


def test_activities():
    with pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling"):
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        profile(activities=[])
    with profile() as prof:
        tp.ones(1)
    with pytest.raises(RuntimeError, match="requires with_stack=True"):
        prof.export_stacks("nowhere")
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.events().export_stacks("nowhere", "self_cuda_time_total")


# ---- autograd.profiler.profile


def test_the_older_profile():
    with autograd.profiler.profile() as prof:
        assert str(prof) == "<unfinished profile>"
        tp.ones(2).exp()
    assert names(prof.function_events) == ["ones", "exp"]
    assert str(prof) == prof.table() and prof.total_average().count == 2
    assert prof.self_cpu_time_total > 0 and "FunctionEvent id=1 name=ones" in repr(prof)
    with autograd.profiler.profile(enabled=False) as off:
        tp.ones(2)
    assert off is None
    with pytest.raises(RuntimeError, match="didn't finish running"):
        autograd.profiler.profile().key_averages()
    with pytest.warns(UserWarning, match="CUDA is not available"):
        autograd.profiler.profile(use_cuda=True)
    for option in ({"use_cpu": False}, {"with_modules": True}):
        with pytest.raises(ValueError):
            autograd.profiler.profile(**option)
