"""What a program is made of, whoever makes it: the catalogue, or another program differentiated."""

from __future__ import annotations

from typing import Protocol

from ..closure.numerical import CLOSURE_TOLERANCE
from ..engine.outputs import Outputs
from ..mechanism import Mechanism
from ..spatial import SX


class Traceable(Protocol):
    """See ``catalogue.Recipe``."""

    @property
    def checks(self) -> str: ...

    @property
    def springs(self) -> bool: ...

    def outputs(self, mech: Mechanism) -> Outputs: ...

    def vectors(self, mech: Mechanism) -> dict[str, int]: ...

    def trace(self, mech: Mechanism, name: str, tolerance: float = CLOSURE_TOLERANCE) -> SX: ...
