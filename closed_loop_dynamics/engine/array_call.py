"""Calling native code with NumPy arrays, without ctypes in between.

ctypes and NumPy's slicing cost microseconds per call, as much as a robot's dynamics. Here a
built-in function (``PyMethodDef``, METH_FASTCALL: both stable ABI of CPython) leads straight into
our code, which reads pointer, shape and stride out of the array objects. Their layout
(``PyArrayObject_fields``) is compiled into every NumPy extension, so it does not change, nor does
the place of ``PyArray_New`` in its table of functions; still both are tried before use, and where
they differ plain Python copies the vectors.

The result is a new array. Whatever is not so simple is left to Python, with a status: arguments
that are not exactly one-dimensional float64 arrays of the right length (CONVERT), calls that
failed, and calls by another thread than the one that the memory belongs to. Threads are told apart
by a number that no other thread ever has: idents come back when a thread has ended. The GIL is
held: these calls are short, and batches release it.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Array
from .code import Module
from .layout import CONVERT, ProgramShape
from .values import Block, Int, Real, Value

_HEAD = object.__basicsize__ // 8  # reference count and, last, the type
# In words of 64 bits from the start of an array object; the number of dimensions has half a word.
_TYPE, _DATA, _NDIM, _SHAPE, _STRIDES, _DESCR = (_HEAD + d for d in (-1, 0, 1, 2, 3, 5))
_LOW_HALF = (1 << 32) - 1
_METH_FASTCALL = 0x80
_NPY_DOUBLE, _PYARRAY_NEW = 12, 93  # a type, and a place among the functions of NumPy
#: In words from the start of a program's objects; the definition of the function comes last.
_ARRAY, _DOUBLE, _OWNER, _OTHERWISE, _STATUS, _SIZE, _DEFINITION = range(7)
#: Length of a program's objects.
OBJECTS = _DEFINITION + 4
#: What the code emitted here depends on, for the cache key.
DESCRIPTION = f"arrays after {_HEAD} words"
_ARGUMENTS = {"self": Block, "args": Block, "count": Int}
_PYTHON: dict[str, tuple[type[Value], ...]] = {
    "PyArray_New": (Block, Int, Block, Int, Block, Block, Int, Int, Block),
    "PyObject_Vectorcall": (Block, Block, Int, Block),
    "PyThreadState_Get": (),
    "PyThreadState_GetID": (Int,),
}


@lru_cache(maxsize=1)
def supported() -> bool:
    """True when array objects look as this module expects."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    array = np.arange(10.0)[1:8:3]

    def word(address: int) -> int:
        return ctypes.c_int64.from_address(address).value

    def field(position: int) -> int:
        return word(id(array) + 8 * position)

    seen = (field(_TYPE), field(_DATA), field(_NDIM) & _LOW_HALF, field(_DESCR))
    if seen != (id(np.ndarray), array.ctypes.data, 1, id(np.dtype(np.float64))):
        return False
    if (word(field(_SHAPE)), word(field(_STRIDES))) != (3, 24):
        return False
    pointer, number = ctypes.c_void_p, ctypes.c_int
    kinds = (pointer, number, pointer, number, pointer, pointer, number, number, pointer)
    try:
        make = ctypes.PYFUNCTYPE(ctypes.py_object, *kinds)(symbols()["PyArray_New"])
    except (ImportError, KeyError):
        return False
    size = ctypes.c_int64(3)
    dimensions = ctypes.addressof(size)
    made = make(id(np.ndarray), 1, dimensions, _NPY_DOUBLE, None, None, 0, 0, None)
    return (type(made), made.dtype, made.shape) == (np.ndarray, np.dtype(np.float64), (3,))


@lru_cache(maxsize=1)
def symbols() -> dict[str, int]:
    """Addresses of what the emitted code calls."""
    # Where ``import_array`` of NumPy's C headers finds its table.
    core = "numpy.core" if np.__version__.startswith("1.") else "numpy._core"
    capsule = vars(importlib.import_module(f"{core}._multiarray_umath"))["_ARRAY_API"]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    functions = pointer(capsule, None)
    found = {"PyArray_New": ctypes.c_void_p.from_address(functions + 8 * _PYARRAY_NEW).value}
    for name in ("PyObject_Vectorcall", "PyThreadState_Get", "PyThreadState_GetID"):
        found[name] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    return {name: address or 0 for name, address in found.items()}


def emit_array_call(module: Module, shape: ProgramShape, symbol: str, single: str) -> None:
    """Write ``PyObject *symbol(self, args, count)``: copy the vectors in, run, return a new array.

    ``self`` is the program's memory, an array; ``single`` is the function to run on it. What is
    left to Python goes to the function that was bound with it.
    """
    run = f"{symbol}_status"
    _emit_status(module, shape, run, single)
    for name, kinds in _PYTHON.items():
        module.external(name, kinds, Int)
    f = module.function(symbol, _ARGUMENTS, returns=Int)
    owner, args, count = f.arguments
    memory, nothing, zero = owner.of(Block)[_DATA], f.nowhere(), f.integer(0)
    objects = (memory + shape.layout.objects).of(Int)
    pointers = objects.of(Block)

    def left_to_python() -> Int:
        return f.called("PyObject_Vectorcall", Int, pointers[_OTHERWISE], args, count, nothing)

    def failed() -> Int:
        objects[_STATUS] = status
        return left_to_python()

    thread = f.called("PyThreadState_GetID", Int, f.called("PyThreadState_Get", Int))
    f.return_if(thread.differs(objects[_OWNER]), left_to_python)
    status = f.called(run, Int, *f.arguments)
    f.return_if(status.differs(0), failed)
    one, kind = f.integer(1), f.integer(_NPY_DOUBLE)
    rest = (nothing, nothing, zero, zero, nothing)
    array = f.called("PyArray_New", Int, pointers[_ARRAY], one, objects + _SIZE, kind, *rest)
    f.return_if(array.equals(0), 0)
    if shape.n_user_out:
        source, target = memory + shape.layout.body_out, array.as_address().of(Block)[_DATA]
        with f.loop(shape.n_user_out) as i:
            target[i] = source[i]
    f.finish(array)


def _emit_status(module: Module, shape: ProgramShape, symbol: str, single: str) -> None:
    """Write the same with the status as its result, and without a look at the thread."""
    f = module.function(symbol, _ARGUMENTS, returns=Int)
    owner, args, count = f.arguments
    memory = owner.of(Block)[_DATA]
    objects = (memory + shape.layout.objects).of(Int)
    array_type, double = objects[_ARRAY], objects[_DOUBLE]

    def unless(seen: Int, expected: Int | int) -> None:
        f.return_if(seen.differs(expected), CONVERT)

    unless(count, len(shape.input_sizes))
    target = memory + shape.layout.user_in
    for k, size in enumerate(shape.input_sizes):
        array = args.of(Block)[k]
        fields, pointers = array.of(Int), array.of(Block)
        unless(fields[_TYPE], array_type)
        unless(fields[_DESCR], double)
        unless(fields[_NDIM] & _LOW_HALF, 1)
        unless(pointers[_SHAPE].of(Int)[0], size)
        if size:
            data, stride = fields[_DATA], pointers[_STRIDES].of(Int)[0]
            with f.loop(size) as i:
                target[i] = (data + i * stride).as_address().of(Real, align=1)[0]
            target = target + size
    f.finish(f.called(single, Int, memory))


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_void_p),
    )


_NAME = ctypes.create_string_buffer(b"run")


class _Owned(np.ndarray):
    """Memory together with what must live as long."""

    keep: Any


#: Answers in place of the native code: takes the status (None: another thread called) and the
#: arguments.
Otherwise = Callable[[int | None, tuple[Any, ...]], Any]


def bind(
    memory: Array, shape: ProgramShape, address: int, keep: Any, otherwise: Otherwise
) -> Callable[..., Array]:
    """The Python function that runs the code at ``address``, part of ``keep``, in ``memory``.

    It is this thread's. Its definition is kept in the memory itself, which the function owns: it is
    read until the very end of the function's life.
    """
    objects = memory.view(np.int64)[shape.layout.objects :][:OBJECTS]
    thread = this_thread()

    def left(*values: Any) -> Any:
        return otherwise(int(objects[_STATUS]) if this_thread() == thread else None, values)

    objects[:_DEFINITION] = (
        *(id(np.ndarray), id(np.dtype(np.float64))),
        *(thread, id(left), 0, shape.n_user_out),
    )
    place = objects[_DEFINITION:].ctypes.data
    definition = _MethodDefinition.from_address(place)
    definition.name = ctypes.addressof(_NAME)
    definition.function = address
    definition.flags = _METH_FASTCALL
    owned = memory.view(_Owned)
    owned.keep = keep, left
    function: Callable[..., Array] = _new_function()(place, owned, None)
    return function


def this_thread() -> int:
    """A number that no other thread of this process ever has."""
    state, number = ctypes.pythonapi.PyThreadState_Get, ctypes.pythonapi.PyThreadState_GetID
    state.restype, number.restype = ctypes.c_void_p, ctypes.c_int64
    return int(number(ctypes.c_void_p(state())))


@lru_cache(maxsize=1)
def _new_function() -> Any:
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
    )
    return prototype(("PyCFunction_NewEx", ctypes.pythonapi))
