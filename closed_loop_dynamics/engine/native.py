"""LLVM IR text -> machine code in this process, through llvmlite."""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import sys
import threading
from functools import lru_cache
from typing import Any

from . import array_call, cache
from .llvm_ir import LIBM_NAMES

#: Raise when compiled code changes without a change in what it is compiled from.
ENGINE_VERSION = 5
#: How much the compiler tries: QUICK code is made in a fifth of the time and runs several times as
#: long. One less than USUAL would save a quarter of the time, but calls took 1 to 5 % longer.
USUAL, QUICK = 2, 0
#: Code up to this size [bytes], and so much of it, is remembered: robots have several equal loops.
SMALL, MANY = 1 << 17, 64
#: Code and constants lie together, so that an instruction reaches its constant by itself: the code
#: is a tenth smaller. It needs llvmlite's own memory manager, and no call by a short address to
#: what lies elsewhere (``RtLibUseGOT``, ``nonlazybind`` in :mod:`.llvm_ir`).
TOGETHER = sys.platform == "linux" and platform.machine() == "x86_64"
_compiled: dict[str, bytes] = {}
_lock = threading.Lock()


def available() -> bool:
    """True when llvmlite can be imported."""
    try:
        import llvmlite.binding  # noqa: F401
    except (ImportError, OSError):  # OSError: its shared library does not load
        return False
    return True


@lru_cache(maxsize=1)
def target_description() -> str:
    """What compiled code depends on: CPU, its features, LLVM version."""
    import llvmlite.binding as llvm

    cpu = llvm.get_host_cpu_name(), _features(llvm).flatten()
    return repr((llvm.get_process_triple(), *cpu, llvm.llvm_version_info))


def key_of(*parts: Any) -> str:
    """Cache key of machine code made from ``parts``."""
    return cache.key_of(*parts, ENGINE_VERSION, target_description())


@lru_cache(maxsize=1)
def simd_lanes() -> int:
    """Lanes of a batch: one register's worth.

    With two, latencies overlap (5 % on small robots), but Newton waits for the slowest of more,
    and what large robots compute outgrows the caches (20 %).
    """
    import llvmlite.binding as llvm

    features = _features(llvm)
    # 128-bit registers otherwise: SSE2 on x86, NEON on ARM.
    return 8 if features.get("avx512f") else 4 if features.get("avx2") else 2


def _features(llvm: Any) -> Any:
    try:
        return llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM cannot tell on this platform; the CPU's name implies most of them
        return llvm.FeatureMap()


@lru_cache(maxsize=1)
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    libm = ctypes.CDLL(ctypes.util.find_library("m") or None)
    for name in LIBM_NAMES:
        llvm.add_symbol(name, ctypes.cast(getattr(libm, name), ctypes.c_void_p).value)
    if array_call.supported():
        for name, address in array_call.symbols().items():
            llvm.add_symbol(name, address)
    return llvm


def _target_machine(llvm: Any, level: int = USUAL) -> Any:
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=_features(llvm).flatten(),
        opt=level,
        reloc="pic",
        codemodel="small" if TOGETHER else "jitdefault",
        jit=True,
    )


def compile_ir(text: str, level: int = USUAL) -> bytes:
    """Object code of an IR module; what this process has compiled before is not compiled again.

    llvmlite lets one thread at a time into LLVM, without the GIL: others can trace meanwhile.
    """
    key = cache.key_of(text.encode(), level)
    code = _compiled.get(key) or _compile(text, level)
    if len(code) <= SMALL and len(_compiled) < MANY:
        _compiled[key] = code
    return code


def _compile(text: str, level: int) -> bytes:
    with _lock:
        llvm = _llvm()
    machine = _target_machine(llvm, level)
    context = llvm.create_context()  # a large module must not stay behind in the global one
    with llvm.parse_assembly(text, context=context) as module:  # and must go before its context
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        result: bytes = machine.emit_object(module)
    return result


class LoadedCode:
    """Object code linked into this process; stays valid as long as this object lives.

    Every object has a linker of its own: equal names in two of them do not meet.
    """

    def __init__(self, code: bytes) -> None:
        with _lock:
            llvm = _llvm()
        # In the global context, which is never disposed of: the garbage collector finalises in any
        # order, and an engine that outlives the context of its module crashes.
        module = llvm.parse_assembly("")
        self._engine = llvm.create_mcjit_compiler(
            module, _target_machine(llvm), use_lmm=TOGETHER or None
        )
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, symbol: str) -> int:
        """Address of an exported function."""
        address = int(self._engine.get_function_address(symbol))
        if not address:
            raise LookupError(f"no function '{symbol}' in the compiled code")
        return address
