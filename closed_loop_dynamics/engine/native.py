"""LLVM IR text -> machine code in this process, through llvmlite."""

from __future__ import annotations

import ctypes
import ctypes.util
import threading
from functools import lru_cache
from typing import Any

from .llvm_ir import LIBM_NAMES

_lock = threading.Lock()


def available() -> bool:
    """True when llvmlite can be imported."""
    try:
        import llvmlite.binding  # noqa: F401
    except ImportError:
        return False
    return True


@lru_cache(maxsize=1)
def target_description() -> str:
    """What compiled code depends on: CPU, its features, LLVM version."""
    import llvmlite.binding as llvm

    return repr(
        (
            llvm.get_process_triple(),
            llvm.get_host_cpu_name(),
            llvm.get_host_cpu_features().flatten(),
            llvm.llvm_version_info,
        )
    )


@lru_cache(maxsize=1)
def simd_lanes() -> int:
    """Lanes of a batch: two registers' worth, so that latencies overlap."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    return 16 if features.get("avx512f") else 8 if features.get("avx2") else 4


@lru_cache(maxsize=1)
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    libm = ctypes.CDLL(ctypes.util.find_library("m") or None)
    for name in LIBM_NAMES:
        address = ctypes.cast(getattr(libm, name), ctypes.c_void_p).value
        llvm.add_symbol(name, address)
    return llvm


def _target_machine(llvm: Any) -> Any:
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        reloc="pic",
        codemodel="jitdefault",
        jit=True,
    )


def compile_ir(text: str) -> bytes:
    """Object code of an IR module. Several threads may compile at once."""
    with _lock:
        llvm = _llvm()
        context = llvm.create_context()
        machine = _target_machine(llvm)
    module = llvm.parse_assembly(text, context=context)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    result: bytes = machine.emit_object(module)
    return result


class LoadedCode:
    """Object code linked into this process; stays valid as long as this object lives."""

    def __init__(self, code: bytes) -> None:
        with _lock:
            llvm = _llvm()
            module = llvm.parse_assembly("", context=llvm.create_context())
            self._engine = llvm.create_mcjit_compiler(module, _target_machine(llvm))
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def address(self, symbol: str) -> int:
        """Address of an exported function."""
        return int(self._engine.get_function_address(symbol))


def publish(symbol: str, address: int) -> None:
    """Let code loaded later refer to ``symbol``."""
    with _lock:
        _llvm().add_symbol(symbol, address)
