"""Calls that go through handlers for a while; functions are as they were before and after."""

import inspect
import threading
import time

import pytest

import tensorplay as tp
from tensorplay.core.callpath import parameter_names
from tensorplay.core.interception import Interception
from tensorplay.core.operator import OPERATORS, Operator
from tensorplay.core.primitive import PRIMITIVES, elementwise


def noting(log, name):
    def handler(call, args, kwargs):
        log.append(name)
        return call(*args, **kwargs)

    return handler


def outer(factor):
    def scaled(x, *, shift=0, **others):
        """Scaled."""
        return factor * x + shift

    return scaled


@pytest.mark.parametrize("function", [outer(3), lambda x, shift=0: 3 * x + shift], ids=["closure", "plain"])
def test_calls_reach_the_handler_while_it_is_there(function):
    log, code = [], function.__code__
    with Interception({function: noting(log, "call")}):
        assert function(1) == 3 and function(1, shift=4) == 7
        with pytest.raises(TypeError):
            function()
    assert log == ["call"] * 3
    assert function(1) == 3 and len(log) == 3 and function.__code__ is code and not vars(function)


def test_a_handler_may_answer_itself():
    function = outer(3)
    with Interception({function: lambda call, args, kwargs: (args, kwargs)}):
        assert function(1, shift=2) == ((1,), {"shift": 2})


def test_the_innermost_handler_comes_first_and_they_may_leave_in_any_order():
    log, function = [], outer(3)
    first, second = (Interception({function: noting(log, name)}) for name in ("first", "second"))
    first.__enter__()
    with second:
        function(1)
        first.__exit__()
        function(1)
    function(1)
    assert log == ["second", "first", "second"]


def test_an_exception_in_a_handler_is_the_callers():
    function = outer(3)

    def fail(call, args, kwargs):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), Interception({function: fail}):
        function(1)
    assert function(1) == 3


def test_operators_whose_code_is_written_at_their_first_call():
    log = []
    made = elementwise("first_called_in_a_test", lambda xp, input: input + 1, vjp={"input": lambda F, g: g})
    stub = made.__code__
    with Interception({made: noting(log, "call")}):
        for _ in range(3):
            assert made(tp.tensor(1.0)).item() == 2
    del PRIMITIVES["first_called_in_a_test"]
    assert log == ["call"] * 3
    assert made(tp.tensor(1.0)).item() == 2 and made.__code__ is not stub
    assert made.__code__.co_filename != "<tensorplay interception>"


def test_signatures_are_those_of_the_function():
    function = OPERATORS[""]["logsumexp"].plain
    before = inspect.signature(function), parameter_names(function)
    with Interception({function: noting([], "call")}):
        assert (inspect.signature(function), parameter_names(function)) == before


def test_every_operator_can_be_intercepted():
    functions = {f for p in PRIMITIVES.values() for f in p.forms.values()}
    functions |= {op.plain for operators in OPERATORS.values() for op in operators.values()}
    codes, log = {f: f.__code__ for f in functions}, []
    with Interception({f: noting(log, f.__name__) for f in functions}):
        x = tp.tensor([1.0, 2.0], requires_grad=True)
        y = (2.0 - x).cos().add_(1)
        (y @ y / tp.vmap(lambda a: a.sin())(x).sum()).backward()
    names = {"sub", "cos", "add_", "matmul", "div", "sin", "sum"}
    assert names <= set(log)
    written = {f for f in functions if f.__code__ is not codes[f]}
    assert not any(f.__code__.co_filename == "<tensorplay interception>" for f in functions)
    assert {f.__name__ for f in written} <= set(log)


def test_threads_run_on_while_others_begin_and_end_to_watch():
    errors, done = [], threading.Event()
    x = tp.tensor([1.0, 2.0], requires_grad=True)

    def work():
        try:
            while not done.is_set():
                ((x * 2).exp() + 1).sum().backward()
        except BaseException as error:
            errors.append(error)

    functions = {f for p in PRIMITIVES.found.values() for f in p.forms.values()}
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    log = []
    for _ in range(40):
        with Interception({f: noting(log, f.__name__) for f in functions}):
            time.sleep(0.002)
    done.set()
    for thread in threads:
        thread.join()
    assert not errors and {"mul", "exp", "add", "sum"} <= set(log)
    count = len(log)
    work_once = (x * 2).exp()
    assert len(log) == count and work_once.requires_grad


def test_a_public_function_made_while_its_operator_is_intercepted_is_the_same():
    prod = Operator("prod", "", OPERATORS[""]["prod"].plain, True, None, None)
    with Interception({prod.plain: lambda call, args, kwargs: call(*args, **kwargs)}):
        made = prod.function
    assert made(tp.tensor([[2.0, 3.0]]), axis=1).tolist() == [6.0]


def test_methods_with_further_names_are_intercepted_with_their_functions():
    log, x = [], tp.ones(2, 2)
    functions = [OPERATORS[""][name].plain for name in ("mul", "matmul", "div", "flip")]
    with Interception({f: noting(log, f.__name__) for f in functions}):
        assert tp.equal(x.mul(value=2), tp.mul(x, 2)) and x.div(other=2).sum().item() == 2
        x.matmul(tensor2=x)
    assert log.count("mul") == 2 and {"div", "matmul"} <= set(log)
    assert not any(f.__code__.co_filename == "<tensorplay interception>" for f in (tp.Tensor.mul, tp.Tensor.matmul))
