"""Calling programs: shapes, kinds of arguments, batches, threads; the same on both back-ends."""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from engine_support.programs import ARM, BACKENDS, arm_solution, explicit_program

from closed_loop_dynamics.engine import ProgramSource, SolverUnit, array_call, native
from closed_loop_dynamics.engine.layout import CONVERT
from closed_loop_dynamics.engine.program import Program
from closed_loop_dynamics.errors import InvalidInput

A, B = np.array([1.0, 2.0, 3.0]), np.array([0.5, -0.25])


def equation(a: Any, b: Any) -> Any:
    return ca.vertcat(a[0] * b[0], a[1] - b[1], ca.sin(a[2]), a[0])


def expected(a: Any, b: Any) -> np.ndarray:
    a, b = np.broadcast_arrays(a, np.zeros(3))[0], np.asarray(b, float)
    a = np.asarray(a, float)
    columns = np.broadcast_arrays(
        a[..., 0] * b[..., 0], a[..., 1] - b[..., 1], np.sin(a[..., 2]), a[..., 0]
    )
    return np.stack(columns, axis=-1)


@pytest.fixture(params=["native", "native without array calls", "vm"])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Program]:
    """Makes programs on a back-end."""
    backend = request.param
    if backend == "native without array calls":
        monkeypatch.setattr(array_call, "supported", lambda: False)
    return lambda *rest, **named: explicit_program(backend.split()[0], *rest, **named)


@pytest.fixture
def program(make: Callable[..., Program]) -> Program:
    return make([3, 2], equation)


def swapped(a: np.ndarray) -> np.ndarray:
    return a.astype(a.dtype.newbyteorder())


def spread(a: np.ndarray) -> np.ndarray:
    wide = np.full(4 * len(a), np.nan)
    wide[1::4] = a
    return wide[1::4]


def misaligned(a: np.ndarray) -> np.ndarray:
    raw = np.zeros(8 * len(a) + 1, dtype=np.uint8)
    view = raw[1:].view(float)
    view[:] = a
    return view


class Subclass(np.ndarray):
    pass


KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "array": lambda a: a,
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "float32": lambda a: a.astype(np.float32),
    "long double": lambda a: a.astype(np.longdouble),
    "every fourth": spread,
    "reversed twice": lambda a: a[::-1].copy()[::-1],
    "column": lambda a: np.stack([a, a + 1, a + 2], axis=1)[:, 0],
    "misaligned": misaligned,
    "byte-swapped": swapped,
    "unpickled": lambda a: pickle.loads(pickle.dumps(a)),
    "subclass": lambda a: a.view(Subclass),
    "read-only": lambda a: np.frombuffer(a.tobytes()),
}


def test_array_calls_work_here() -> None:
    """On CPython with NumPy; without them calls are right but slow."""
    assert array_call.supported()


@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_of_vector_is_accepted(program: Program, kind: str) -> None:
    for _ in range(2):
        np.testing.assert_allclose(program(KINDS[kind](A), KINDS[kind](B)), expected(A, B))
        np.testing.assert_allclose(program(A, KINDS[kind](B)), expected(A, B))


def test_integers_and_booleans_are_numbers(program: Program) -> None:
    np.testing.assert_allclose(program([1, 2, 3], [True, False]), expected([1, 2, 3], [1, 0]))
    np.testing.assert_allclose(program(np.arange(3), np.arange(2, dtype=np.uint8)),
                               expected(np.arange(3), np.arange(2)))  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1000])
def test_batches_of_any_size_equal_single_samples(program: Program, count: int) -> None:
    rng = np.random.default_rng(count)
    a, b = rng.normal(size=(count, 3)), rng.normal(size=(count, 2))
    out = program(a, b)
    assert out.shape == (count, 4)
    for i in range(count):
        np.testing.assert_allclose(out[i], program(a[i], b[i]), rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(out, expected(a, b), rtol=1e-15, atol=1e-15)


def test_single_vectors_are_repeated_along_a_batch(program: Program) -> None:
    a = np.random.default_rng(0).normal(size=(9, 3))
    np.testing.assert_allclose(program(a, B), expected(a, B))
    np.testing.assert_allclose(program(a[::2], B.tolist()), expected(a[::2], B))
    np.testing.assert_allclose(program(np.asfortranarray(a), B), expected(a, B))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, 2], [1, 2]),
        ([1, 2, 3, 4], [1, 2]),
        (1.0, [1, 2]),
        (np.float64(1.0), [1, 2]),
        (np.zeros((2, 2, 3)), [1, 2]),
        (np.zeros((3, 1)), [1, 2]),
        (np.zeros((3, 4)), np.zeros((3, 2))),
        ([], [1, 2]),
        (np.zeros(0), np.zeros(2)),
        (np.zeros(1), np.zeros(2)),
        ([[1, 2, 3], [1, 2]], [1, 2]),
        (["a", "b", "c"], [1, 2]),
        ([1j, 2, 3], [1, 2]),
        (None, [1, 2]),
        ([None, 1, 2], [1, 2]),
        (np.zeros((3, 3)), np.zeros((4, 2))),
        ({1, 2, 3}, [1, 2]),
    ],
)
def test_wrong_arguments_are_refused(program: Program, a: Any, b: Any) -> None:
    with pytest.raises(InvalidInput):
        program(a, b)
    np.testing.assert_allclose(program(A, B), expected(A, B))


def test_the_message_names_the_vector_and_both_shapes(program: Program) -> None:
    with pytest.raises(InvalidInput, match=r"v1 has shape \(3,\); expected \(2,\) or \(N, 2\)"):
        program(A, A)


@pytest.mark.parametrize("values", [(), (A,), (A, B, B)])
def test_a_wrong_number_of_vectors_is_a_type_error(program: Program, values: Any) -> None:
    with pytest.raises(TypeError, match=r"f takes 2 vectors \(v0, v1\)"):
        program(*values)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1.1e8, -2e8])
def test_elements_that_are_not_finite_or_huge_are_named(program: Program, bad: float) -> None:
    b = np.array([0.0, bad])
    with pytest.raises(InvalidInput, match=r"v1\[1\] is not a finite number"):
        program(A, b)
    with pytest.raises(InvalidInput, match=r"v1\[1\] is not a finite number"):
        program(A.tolist(), b.tolist())
    batch = np.zeros((5, 2))
    batch[3, 1] = bad
    with pytest.raises(InvalidInput, match=r"sample 3: .*v1\[1\]"):
        program(A, batch)
    np.testing.assert_allclose(program(A, [0.0, 1e8]), expected(A, [0.0, 1e8]))


def test_results_are_fresh_arrays(program: Program) -> None:
    first = program(A, B)
    kept = first.copy()
    second = program(A + 1, B)
    np.testing.assert_array_equal(first, kept)
    first[:] = 99.0
    np.testing.assert_allclose(second, expected(A + 1, B))
    np.testing.assert_allclose(program(A, B), kept)
    assert first.base is None
    assert first.flags.owndata
    a = np.tile(A, (3, 1))
    one, two = program(a, B), program(a + 1, B)
    one[:] = 0.0
    np.testing.assert_allclose(two, expected(a + 1, B))


def test_arguments_are_not_changed_and_not_kept(program: Program) -> None:
    a, b = A.copy(), B.copy()
    program(a, b)
    counts = sys.getrefcount(a), sys.getrefcount(b)
    for _ in range(100):
        program(a, b)
        program(a, b.tolist())
    assert (sys.getrefcount(a), sys.getrefcount(b)) == counts
    np.testing.assert_array_equal(a, A)


def test_failed_checks_give_the_described_error_with_copies(make: Callable[..., Program]) -> None:
    program = make([2], lambda v: v, check=lambda v: ca.vertcat(v[0], v[1] - v[0]))
    np.testing.assert_array_equal(program([1, 2]), [1, 2])
    with pytest.raises(ArithmeticError) as caught:
        program(np.array([2.0, 1.0]))
    index, inputs = caught.value.args
    assert index == 1
    program([3, 4])
    np.testing.assert_array_equal(inputs[0], [2.0, 1.0])
    with pytest.raises(ArithmeticError) as caught:
        program(np.array([[1.0, 2.0], [-1.0, -2.0]]))
    assert caught.value.args[0] == 0


def test_a_program_of_empty_vectors(make: Callable[..., Program]) -> None:
    program = make([0, 1], lambda a, b: b + 1)
    np.testing.assert_array_equal(program(np.zeros(0), np.ones(1)), [2.0])
    np.testing.assert_array_equal(program([], [1]), [2.0])
    np.testing.assert_array_equal(program(np.zeros((3, 0)), np.ones((3, 1))), [[2.0]] * 3)


@pytest.mark.parametrize("backend", ["native", "vm"])
def test_a_body_of_other_sizes_than_declared_is_refused(backend: str) -> None:
    x, v = ca.SX.sym("x", 0), ca.SX.sym("v", 2)
    function = ca.Function("f", [x, v], [v, ca.SX(0, 1)])
    for size_in, size_out in ((3, 2), (2, 3)):
        source = ProgramSource(
            "f", ("v",), (size_in,), size_out, lambda: function, lambda i, inputs: ValueError(i)
        )
        with pytest.raises(ValueError, match="sizes declared"):
            BACKENDS[backend](source, "lie", SolverUnit("lie", list), [], None)


@pytest.mark.parametrize("backend", ["native", "vm"])
def test_iterations_before_any_call_and_after_an_empty_batch(backend: str) -> None:
    program = ARM.program(backend, ARM.seeds([1.1, 0.2], arm_solution([1.1, 0.2])))
    assert program.iterations() == 0
    assert program(np.zeros((0, 2))).shape == (0, 2)
    assert program.iterations() == 0
    program(np.array([1.15, 0.2]))
    single = program.iterations()
    assert single > 1
    program(np.array([[1.15, 0.2]]))
    assert 1 <= program.iterations() <= single


def test_every_argument_that_is_not_a_plain_vector_is_left_to_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The native entry reads objects by layout: it must look before it reads."""
    program = explicit_program("native", [3, 2], equation)
    monkeypatch.setattr(program, "otherwise", lambda context, status, values: status)
    context = program.new_context()
    run = context.call
    np.testing.assert_allclose(run(A, B), expected(A, B))
    odd: list[Any] = [None, 1, 1.0, "text", b"bytes", [], (), object(), type, A.tolist(), A.dtype]
    odd += [np.float64(1.0), np.array(1.0), np.zeros((3, 1)), np.zeros(4), A.astype(int), A > 0]
    odd += [np.zeros(0), A.view(Subclass), np.ma.masked_array(A), memoryview(A), A.astype(object)]
    for thing in odd:
        assert run(thing, B) == CONVERT
        assert run(A, thing) == CONVERT
    for arguments in ((), (A,), (A, B, B), (B, A)):
        assert run(*arguments) == CONVERT
    np.testing.assert_allclose(run(A, B), expected(A, B))


def test_the_result_is_a_plain_array_of_its_own(program: Program) -> None:
    first, second = program(A, B), program(2 * A, B)
    assert type(first) is np.ndarray and first.dtype == np.float64 and first.flags.writeable
    np.testing.assert_allclose(first, expected(A, B))
    np.testing.assert_allclose(second, expected(2 * A, B))


def test_another_thread_may_use_a_call_that_is_not_its_own(program: Program) -> None:
    call = program.context().call
    call(A, B)
    found: list[Any] = []
    for b in (B, [5.0, 6.0]):
        thread = threading.Thread(target=lambda b=b: found.append(call(2 * A, b)))
        thread.start()
        thread.join()
    np.testing.assert_allclose(program.context().inputs[0], A)
    np.testing.assert_allclose(found, [expected(2 * A, B), expected(2 * A, np.array([5.0, 6.0]))])


def test_a_thread_does_not_inherit_the_memory_of_one_that_has_ended(program: Program) -> None:
    """Python gives new threads the idents of old ones."""
    found: list[Any] = []

    def first() -> None:
        context = program.context()
        context.call(A, B)
        found.append((threading.get_ident(), context, context.call))

    thread = threading.Thread(target=first)
    thread.start()
    thread.join()
    ident, context, call = found[0]
    idents: list[int] = []
    while ident not in idents:
        thread = threading.Thread(
            target=lambda: idents.append(threading.get_ident()) or call(2 * A, B)
        )
        thread.start()
        thread.join()
        assert len(idents) < 1000, "this system does not use idents again"
    np.testing.assert_array_equal(context.inputs[0], A)


@pytest.mark.parametrize("backend", ["native", "vm"])
def test_threads_get_the_serial_results(backend: str) -> None:
    program = ARM.program(
        backend, ARM.seeds([1.1, 0.2], arm_solution([1.1, 0.2])), lambda k, p, y: arm_solution(p)
    )
    count = 400 if backend == "native" else 40
    p = np.random.default_rng(4).uniform([0.6, -0.5], [1.5, 0.7], (8, count, 2))
    results = np.full((8, count, 2), np.nan)
    batches = np.full((8, count, 2), np.nan)
    errors: list[BaseException] = []
    together = threading.Barrier(8)

    def hammer(k: int) -> None:
        try:
            together.wait()
            for i in range(count):
                results[k, i] = program(p[k, i])
                if i % 10 == 0:
                    batches[k] = program(p[k])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=hammer, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    np.testing.assert_allclose(results, arm_solution(p), atol=1e-12)
    np.testing.assert_allclose(batches, arm_solution(p), atol=1e-12)


@pytest.mark.parametrize("width", [2, 4, 16])
def test_other_lane_widths(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr(native, "simd_lanes", lambda: width)
    program = explicit_program("native", [3, 2], equation)
    a = np.random.default_rng(1).normal(size=(2 * width + 1, 3))
    np.testing.assert_allclose(program(a, B), expected(a, B), rtol=1e-15)


def test_lane_memory_holds_everything_the_code_writes() -> None:
    """A program with neither solvers nor cuts once wrote its statuses behind its memory."""
    program: Any = explicit_program("native", [1], lambda v: v)
    program.prepare_batch()
    length = program.shape.lane_layout.size * native.simd_lanes()
    fence = np.full(length + 64, 7.0)
    start = (-(fence.ctypes.data // 8)) % 8
    context = program.context()
    context.lanes = fence[start : start + length]
    program._run_batch(context, [np.ones((3, 1))], np.empty((3, 1)), np.zeros(3, dtype=np.int64))
    assert (fence[:start] == 7.0).all()
    assert (fence[start + length :] == 7.0).all()
