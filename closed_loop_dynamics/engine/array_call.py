"""Calling native code with NumPy arrays, without ctypes in between.

ctypes and NumPy's slicing cost microseconds per call, as much as a robot's dynamics. Here a
built-in function (``PyMethodDef``, METH_FASTCALL: both stable ABI of CPython) leads straight into
our code, which reads pointer, shape and stride out of the array objects. Their layout
(``PyArrayObject_fields``) is compiled into every NumPy extension, so it does not change; still it
is verified on a real array before use, and where it differs plain Python copies the vectors.

Whatever is not exactly a one-dimensional float64 ndarray of the right length is left to Python, as
CONVERT. The GIL is held: these calls are short, and batches release it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Array
from .emitter import FunctionEmitter, Lanes
from .layout import CONVERT, ProgramShape

_HEAD = object.__basicsize__  # reference count and, last, the type
# Bytes from the start of an array object.
_TYPE, _DATA, _NDIM, _SHAPE, _STRIDES, _DESCR = (_HEAD + d for d in (-8, 0, 8, 16, 24, 40))
_METH_FASTCALL = 0x80
DECLARATIONS = "declare ptr @PyLong_FromLongLong(i64)"
#: What the code emitted here depends on, for the cache key.
DESCRIPTION = f"arrays after {_HEAD} bytes"


@lru_cache(maxsize=1)
def supported() -> bool:
    """True when array objects look as this module expects."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    array = np.arange(10.0)[1:8:3]
    word = ctypes.c_int64.from_address
    start = id(array)
    seen = (
        word(start + _TYPE).value,
        word(start + _DATA).value,
        ctypes.c_int32.from_address(start + _NDIM).value,
        word(start + _DESCR).value,
    )
    if seen != (id(np.ndarray), array.ctypes.data, 1, id(np.dtype(np.float64))):
        return False
    shape, strides = word(start + _SHAPE).value, word(start + _STRIDES).value
    return (word(shape).value, word(strides).value) == (3, 24)


def emit_array_call(shape: ProgramShape, symbol: str, single: str) -> str:
    """IR of ``PyObject *symbol(self, args, count)``: copy the vectors in, run, return the status.

    ``self`` is the program's memory, an array; ``single`` is the function to run on it.
    """
    sizes, objects_at = shape.input_sizes, shape.layout.objects
    f = FunctionEmitter(Lanes(1))

    def field(thing: str, offset: int, kind: str = "ptr") -> str:
        address = f.at(thing, offset, "i8")
        return f.value(f"load {kind}, ptr {address}, align {4 if kind == 'i32' else 8}")

    def unless(kind: str, a: str, b: str | int) -> None:
        f.leave_if(f.value(f"icmp ne {kind} {a}, {b}"), "convert")

    memory = field("%self", _DATA)
    array_type = field(memory, 8 * objects_at)
    double = field(memory, 8 * objects_at + 8)
    unless("i64", "%count", len(sizes))
    target = shape.layout.body_in + shape.n_x
    for k, size in enumerate(sizes):
        array = field("%args", 8 * k)
        unless("ptr", field(array, _TYPE), array_type)
        unless("ptr", field(array, _DESCR), double)
        unless("i32", field(array, _NDIM, "i32"), 1)
        unless("i64", field(field(array, _SHAPE), 0, "i64"), size)
        if size == 0:
            continue
        data = field(array, _DATA)
        stride = field(field(array, _STRIDES), 0, "i64")
        vector = f.at(memory, target, "double")

        def copy(i: str, data: str = data, stride: str = stride, vector: str = vector) -> None:
            address = f.at(data, f.value(f"mul i64 {i}, {stride}"), "i8")
            value = f.value(f"load double, ptr {address}, align 1")
            f.line(f"store double {value}, ptr {f.at(vector, i, 'double')}, align 8")

        f.loop(size, copy)
        target += size
    status = f.value(f"call i64 @{single}(ptr {memory})")
    f.line("br label %done")
    last = f.block
    f.label("convert")
    f.line("br label %done")
    f.label("done")
    result = f.value(f"phi i64 [ {status}, %{last} ], [ {CONVERT}, %convert ]")
    boxed = f.value(f"call ptr @PyLong_FromLongLong(i64 {result})")
    text = "\n".join(f.lines)
    return (
        f"define ptr @{symbol}(ptr %self, ptr %args, i64 %count) {{\n"
        f"entry:\n{text}\n  ret ptr {boxed}\n}}"
    )


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


def bind(memory: Array, objects_at: int, address: int, keep: Any) -> Callable[..., int]:
    """The Python function that runs the code at ``address``, part of ``keep``, in ``memory``.

    Its definition is kept in the memory itself, which the function owns: it is read until the very
    end of the function's life.
    """
    memory.view(np.int64)[objects_at : objects_at + 2] = id(np.ndarray), id(np.dtype(np.float64))
    place = memory.ctypes.data + 8 * (objects_at + 2)
    definition = _MethodDefinition.from_address(place)
    definition.name = ctypes.addressof(_NAME)
    definition.function = address
    definition.flags = _METH_FASTCALL
    owned = memory.view(_Owned)
    owned.keep = keep
    function: Callable[..., int] = _new_function()(place, owned, None)
    return function


@lru_cache(maxsize=1)
def _new_function() -> Any:
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
    )
    return prototype(("PyCFunction_NewEx", ctypes.pythonapi))
