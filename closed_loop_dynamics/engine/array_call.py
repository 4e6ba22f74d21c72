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
from .code import Module
from .layout import CONVERT, ProgramShape
from .values import Block, Int, Real

_HEAD = object.__basicsize__ // 8  # reference count and, last, the type
# In words of 64 bits from the start of an array object; the number of dimensions has half a word.
_TYPE, _DATA, _NDIM, _SHAPE, _STRIDES, _DESCR = (_HEAD + d for d in (-1, 0, 1, 2, 3, 5))
_LOW_HALF = (1 << 32) - 1
_METH_FASTCALL = 0x80
#: What the code emitted here depends on, for the cache key.
DESCRIPTION = f"arrays after {_HEAD} words"


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
    return (word(field(_SHAPE)), word(field(_STRIDES))) == (3, 24)


def emit_array_call(module: Module, shape: ProgramShape, symbol: str, single: str) -> None:
    """Write ``PyObject *symbol(self, args, count)``: copy the vectors in, run, return the status.

    ``self`` is the program's memory, an array; ``single`` is the function to run on it.
    """
    arguments = {"self": Block, "args": Block, "count": Int}
    run = f"{symbol}_status"
    f = module.function(run, arguments, returns=Int)
    owner, args, count = f.arguments
    memory = owner.of(Block)[_DATA]
    array_type, double = (memory.of(Int)[shape.layout.objects + i] for i in range(2))

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

    module.external("PyLong_FromLongLong", [Int], Block)
    f = module.function(symbol, arguments, returns=Block)
    f.finish(f.called("PyLong_FromLongLong", Block, f.called(run, Int, *f.arguments)))


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
