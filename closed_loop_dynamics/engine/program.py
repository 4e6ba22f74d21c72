"""Programs: what one Python call runs, from input check to result.

A :class:`Program` owns a traced *body* and refers to Newton solvers (:mod:`.solver_unit`).
Calls copy the inputs into a per-thread block of memory, run one function on it and copy the result
out. Here is what all back-ends share; :mod:`.native_program` runs machine code, :mod:`.vm` CasADi's
virtual machine.
"""

from __future__ import annotations

import abc
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import MAX_ANGLE, Array, as_rows, as_vectors
from ..errors import ClosureNotFound, InvalidInput
from .contexts import Context
from .layout import CHECK, CONVERT, INPUT, SOLVER, BoundSolver, ProgramShape, SolverUse
from .seeds import Seeds
from .solver_unit import SolverUnit
from .threads import share

_DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True)
class ProgramSource:
    """What a program is made of.

    Attributes:
        name: for messages and the cache.
        input_names, input_sizes: the user's vectors.
        output_size: length of the user's output block.
        build: traces the body (only called when nothing usable is cached).
        on_failure: called with the index of a failed check (or -1 - k for the k-th solver, when
            even the rescue's solution was refused) and the inputs; gives the outputs by other
            means, or the exception to raise.
        solvers: the Newton loops that run before the body.
        seldom: it runs when a robot is loaded or a loop refuses to close: that it is compiled
            fast counts for more than that it is fast.
    """

    name: str
    input_names: tuple[str, ...]
    input_sizes: tuple[int, ...]
    output_size: int
    build: Callable[[], Any]
    on_failure: Callable[[int, tuple[Array, ...]], Exception | Array]
    solvers: tuple[SolverUse, ...] = ()
    seldom: bool = False


class Rescue(Protocol):
    """Finds the unknowns of the program's ``k``-th solver when the short way failed, or raises.

    ``p`` are its parameters, ``first`` is the program's first input vector.
    """

    def __call__(self, k: int, p: Array, first: Array, /) -> Array: ...


class Program(abc.ABC):
    """A function of several vectors; call it with one sample or with a batch.

    Attributes:
        source: what it was made of.
        shape: sizes, and the solvers with the layout of their records.
    """

    source: ProgramSource
    shape: ProgramShape
    _pace = 1e-6  #: Of a row in the newest batch [s]; a guess before the first.

    def __init__(
        self,
        source: ProgramSource,
        key: str,
        unit: SolverUnit,
        seeds: Sequence[Seeds],
        rescue: Rescue | None = None,
    ) -> None:
        """``unit`` holds the solvers; ``key`` says what ``source`` is traced from."""
        self.source = source
        self._offsets = np.cumsum([0, *source.input_sizes])
        self.use_seeds(seeds, rescue)
        self._prepare(key, unit)

    def use_seeds(self, seeds: Sequence[Seeds], rescue: Rescue | None) -> None:
        """Start from other seeds; what was learnt from earlier calls is forgotten."""
        self._seeds, self._rescue = tuple(seeds), rescue
        self._local = threading.local()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"program '{self.source.name}' holds code and memory of this process: a loaded robot "
            "cannot be pickled or deep-copied; load it again where it is needed"
        )

    # -- what a back-end provides ---------------------------------------------------------------

    @abc.abstractmethod
    def _prepare(self, key: str, unit: SolverUnit) -> None:
        """Trace or compile the source; knows the ``shape`` afterwards."""

    @abc.abstractmethod
    def _attach(self, context: Context) -> None:
        """Give a context its ``handle`` and its ``call``."""

    @abc.abstractmethod
    def _single(self, handle: Any) -> int:
        """Run on the inputs that lie in the memory behind ``handle``; returns the status."""

    @abc.abstractmethod
    def _run_batch(
        self, context: Context, values: Sequence[Array], out: Array, status: NDArray[np.int64]
    ) -> None:
        """Evaluate the rows of the inputs (N, size), N > 0, into the other two."""

    def _grain(self, rows: int) -> int:
        """Rows that threads cannot share: all, where one starts from the other."""
        return max(rows, 1)

    @abc.abstractmethod
    def prepare_batch(self) -> None:
        """Do now what the first batch call would have to do."""

    def _traced_shape(
        self,
        bound: Sequence[BoundSolver],
        inputs: Sequence[int],
        outputs: Sequence[int],
        workspace: int = 0,
    ) -> ProgramShape:
        """The shape of a traced body that takes and gives vectors of these sizes."""
        shape = self._shape(bound, outputs[-1 - len(bound)], workspace)
        if (sum(inputs), sum(outputs)) != (shape.n_x + shape.n_user_in, shape.n_body_out):
            name = self.source.name
            raise ValueError(f"{name}: the traced body does not have the sizes declared")
        return shape

    def _shape(self, bound: Sequence[BoundSolver], checks: int, workspace: int) -> ProgramShape:
        return ProgramShape(
            solvers=tuple(bound),
            input_sizes=self.source.input_sizes,
            n_user_out=self.source.output_size,
            n_checks=checks,
            body_workspace=workspace,
        )

    # -- calling --------------------------------------------------------------------------------

    def __call__(self, *values: Any) -> Array:
        """Evaluate one sample, or a batch when a value is (N, size); returns a fresh array."""
        try:
            call = self._local.context.call
        except AttributeError:
            call = self.context().call
        result: Array = call(*values)
        return result

    def otherwise(self, context: Context, status: int, values: Sequence[Any]) -> Array:
        """The result of a call that ended with a status, by what is slower."""
        if status == CONVERT:
            return self._converted(values)
        self._recover(context, status, self._rescue)
        return context.output.copy()

    def _copying_call(self, context: Context) -> Callable[..., Array]:
        """A :attr:`Context.call` in plain Python."""

        def call(*values: Any) -> Array:
            if getattr(self._local, "context", None) is not context:
                return self(*values)
            try:
                for view, value in zip(context.inputs, values, strict=True):
                    if value.dtype is not _DOUBLE or value.shape != view.shape:
                        return self._converted(values)
                    view[:] = value
            except (AttributeError, ValueError):
                return self._converted(values)
            status = self._single(context.handle)
            return self.otherwise(context, status, values) if status else context.output.copy()

        return call

    def _converted(self, values: Sequence[Any]) -> Array:
        """Anything array-like: checked, made floats, sent to one sample or to the batch."""
        names, sizes = self.source.input_names, self.source.input_sizes
        if len(values) != len(names):
            raise TypeError(
                f"{self.source.name} takes {len(names)} vectors ({', '.join(names)}), "
                f"not {len(values)}"
            )
        arrays = [as_vectors(*each) for each in zip(values, names, sizes, strict=True)]
        rows = as_rows(self.source.name, arrays)
        if rows is not None:
            return self.batch(*rows)
        return self.evaluate_in(self.context(), *arrays)

    def batch(self, *values: Array) -> Array:
        """Evaluate N samples, each argument (N, size), shared by threads; (N, output size)."""
        count, context = len(values[0]), self.context()
        out, status = np.empty((count, self.source.output_size)), np.zeros(count, dtype=np.int64)
        last: list[NDArray[np.int64]] = []

        def part(start: int, end: int) -> None:
            rows, began = [v[start:end] for v in values], perf_counter()
            self._run_batch(context, rows, out[start:end], status[start:end])
            self._pace = (perf_counter() - began) / (end - start)
            if end == count:
                last[:] = (s.copy() for s in self.context().statuses)

        if count:
            share(count, self._grain(count), part, self._pace)
        for sample in (status >= INPUT).nonzero()[0]:
            row = np.concatenate([v[sample] for v in values])
            position = int((~(np.abs(row) <= MAX_ANGLE)).argmax())
            raise InvalidInput(f"sample {sample}: {self.input_error(position)}")
        for sample in status.nonzero()[0]:  # again, one by one and in order, by this thread
            try:
                out[sample] = self(*(v[sample] for v in values))
            except ClosureNotFound as error:
                error.sample = int(sample)
                raise
        if count and not status[-1]:
            for own, kept in zip(context.statuses, last, strict=True):
                own[:] = kept
        return out

    def iterations(self) -> int:
        """Newton iterations of this thread's newest call (of its last sample, for a batch)."""
        return sum(self.context().counts.tolist()) if self.shape.solvers else 0

    # -- memory ---------------------------------------------------------------------------------

    def context(self) -> Context:
        """This thread's memory: inputs and output of its newest call, its seeds."""
        if not hasattr(self._local, "context"):
            self._local.context = self.new_context()
        context: Context = self._local.context
        return context

    def new_context(self, seeds: Sequence[Seeds] | None = None) -> Context:
        """Memory for one thread, seeded from the tables (or from the given seeds)."""
        context = Context.of(self.shape, self._seeds if seeds is None else seeds)
        self._attach(context)
        return context

    def run_in(self, context: Context, *values: Any) -> int:
        """Run in a context of the caller's; returns the status, raises nothing."""
        for view, value in zip(context.inputs, values, strict=True):
            view[:] = value
        return int(self._single(context.handle))

    def evaluate_in(self, context: Context, *values: Any, rescue: Rescue | None = None) -> Array:
        """One sample in a context of the caller's, with rescue (default: the program's own).

        The vectors have their sizes.
        """
        status = self.run_in(context, *values)
        if status:
            self._recover(context, status, rescue or self._rescue)
        return context.output.copy()

    # -- failures -------------------------------------------------------------------------------

    def _recover(self, context: Context, status: int, rescue: Rescue | None) -> None:
        """Ask the rescue for the solution of the solver that failed, and run again."""
        before = [record.copy() for record in context.records]
        attempts = 0
        while status:
            if status >= INPUT:
                raise self.input_error(status - INPUT)
            inputs = tuple(vector.copy() for vector in context.inputs)
            if status >= CHECK:
                return self._settle(context, status - CHECK, inputs, before)
            k = status // SOLVER - 1
            attempts += 1
            if attempts > len(self.shape.solvers) + 1:
                return self._settle(context, -1 - k, inputs, before)
            if rescue is None:
                raise RuntimeError(f"{self.source.name}: solver {k} failed, code {status % SOLVER}")
            bound = self.shape.solvers[k]
            p = np.concatenate(inputs)[list(bound.parameters)]
            x = rescue(k, p, inputs[0])
            bound.solver.record.write(context.records[k], p, x, 0.0)
            status = self.run_in(context, *inputs)

    def _settle(
        self, context: Context, failure: int, inputs: tuple[Array, ...], records: Sequence[Array]
    ) -> None:
        """Take the outputs from the source's other means, or raise what it says.

        What was refused must not stay behind as the newest solution: ``records`` come back.
        """
        for record, before in zip(context.records, records, strict=True):
            record[:] = before
        outcome = self.source.on_failure(failure, inputs)
        if isinstance(outcome, Exception):
            raise outcome
        context.output[:] = outcome

    def input_error(self, position: int) -> InvalidInput:
        """The exception for a non-finite or huge element of the input block."""
        which = int(np.searchsorted(self._offsets, position, side="right")) - 1
        element = position - int(self._offsets[which])
        return InvalidInput(
            f"{self.source.name}: {self.source.input_names[which]}[{element}] is not a finite "
            f"number below {MAX_ANGLE:g} in magnitude"
        )
