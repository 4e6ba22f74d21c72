"""Loads inside the mechanism: the wrench in every joint and cut, and the forces along its rods.

What the joints of the open tree would transmit comes from one native program (Newton and Euler,
body by body); the cuts take what nobody else gives (:mod:`.cut_forces`), and every joint between a
cut and where its loop begins transmits that much less, or more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..actuation.undriven import require_actuators
from ..arrays import Array, Guess, Vec, as_finite_vectors, as_rows
from ..dynamics.catalogue import FORWARD_DYNAMICS, INVERSE_DYNAMICS, TREE_WRENCHES
from ..errors import InvalidInput, did_you_mean
from ..programs import Programs
from .coordinates import reference_independent
from .cut_forces import MARKED, CutLoad, cut_loads
from .links import body_poses
from .rods import Rod, find_rods

#: Which components are not determined.
Marks = NDArray[np.bool_]
#: Actuator forces may miss those that the motion takes by this share.
AGREE = 1e-6
#: What counts as no force at all [N or N m].
TINY = 1e-9


@dataclass(frozen=True)
class Pin:
    """A joint or cut, and what its wrench means.

    Attributes:
        name: of the joint; ``predecessor~successor`` of a cut.
        by, on: the links: the wrench is what ``by`` exerts on ``on``. Of a joint parent and child
            (``world`` for a floating base), of a cut predecessor and successor.
        frame: where the wrench is expressed, in words.
        cut: a cut, not a joint of the tree.
    """

    name: str
    by: str
    on: str
    frame: str
    cut: bool = False


@dataclass(frozen=True, eq=False)
class InternalLoads:
    """Loads of one sample, or of a batch, whose axis then comes first in all arrays.

    Attributes:
        pins: the joints of the spanning tree in the order of ``names.spanning``, then the cuts.
        wrenches: (pins, 6) [moment; force] in N m and N that ``by`` exerts on ``on``: of a joint at
            its origin, in the frame of the child link; of a cut at the origin of the successor's
            cut frame, in the axes of the predecessor's. All that passes between the two links
            counts, an actuator's force, friction and springs in the joint too; those act along
            its axis.
        undetermined: (pins, 6) True for components that the rigid model does not determine, since
            the loop holds itself more than once; they are those of minimum norm.
        rods: names of the two-force members: links, ``+`` between cylinder and piston.
        axial: (rods,) force along each [N], tension positive: the mean of its two ends, which
            differ by its own weight and inertia; axial_undetermined: (rods,) as above.
        tau_u: (p,) the actuator forces of these loads.
    """

    pins: tuple[Pin, ...]
    wrenches: Array
    undetermined: Marks
    rods: tuple[str, ...]
    axial: Array
    axial_undetermined: Marks
    tau_u: Array

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the pins."""
        return tuple(pin.name for pin in self.pins)

    @property
    def forces(self) -> Array:
        """(pins,) size of the force in each [N]."""
        return np.asarray(np.linalg.norm(self.wrenches[..., 3:], axis=-1))

    @property
    def moments(self) -> Array:
        """(pins,) size of the moment in each [N m]."""
        return np.asarray(np.linalg.norm(self.wrenches[..., :3], axis=-1))

    def __getitem__(self, name: str) -> Array:
        """(6,) wrench of a pin, or the force along a rod, by name.

        Raises:
            InvalidInput: there is none of this name.
        """
        if name in self.names:
            return np.asarray(self.wrenches[..., self.names.index(name), :])
        if name in self.rods:
            return np.asarray(self.axial[..., self.rods.index(name)])
        known = (*self.names, *self.rods)
        raise InvalidInput(f"no joint, cut or rod '{name}'; {did_you_mean(name, known)}")


class LoadFinder:
    """The pins and rods of one robot, and their loads."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        mech, tree = programs.mechanism, programs.mechanism.tree
        cuts = [cut for branch in programs.branches.values() for cut in branch.closure.system.cuts]
        links = [tree.root_link, *(body.link for body in tree.bodies)]
        pins = []
        for b in mech.spanning:
            body = tree.bodies[b]
            by = "world" if body.parent < 0 and body.joint.n_v == 6 else links[body.parent + 1]
            pins.append(Pin(body.joint.name, by, body.link, f"{body.link}, at its origin"))
        loops = [loop for c in programs.branches for loop in mech.components[c].loops]
        seen: dict[str, int] = {}
        for loop in loops:
            name = f"{loop.predecessor}~{loop.successor}"
            seen[name] = seen.get(name, 0) + 1
            name += f"#{seen[name]}" if seen[name] > 1 else ""
            frame = f"cut frame of {loop.predecessor}, at the cut on {loop.successor}"
            pins.append(Pin(name, loop.predecessor, loop.successor, frame, cut=True))
        self.pins = tuple(pins)
        q = programs.named("positions", None, reference_independent(mech, programs.branches))["q"]
        self.rods = find_rods(mech, cuts, body_poses(mech, q))

    def loads(
        self,
        y: Vec,
        yd: Vec | None,
        ydd: Vec | None,
        tau_u: Vec | None,
        guess: Guess,
        wrenches: Array | None,
        parameters: Vec | None,
    ) -> InternalLoads:
        """See :meth:`Robot.internal_loads`; ``wrenches`` (6 bodies,) on bodies, in body frames."""
        mech, dynamics = self._programs.mechanism, self._programs.dynamics
        rest = np.zeros(mech.m)
        under: dict[str, Any] = {"wrenches": wrenches, "parameters": parameters}
        yd = rest if yd is None else yd
        if ydd is None:
            ydd = rest
            if tau_u is not None:
                ydd = dynamics(FORWARD_DYNAMICS, guess, y, yd, tau_u, **under)
        if tau_u is None:
            require_actuators(self._programs)
            tau_u = dynamics(INVERSE_DYNAMICS, guess, y, yd, ydd, **under)
        given = [
            as_finite_vectors(y, "y", mech.n_y),
            as_finite_vectors(yd, "yd", mech.m),
            as_finite_vectors(ydd, "ydd", mech.m),
            as_finite_vectors(tau_u, "tau_u", mech.p),
            np.zeros(6 * len(mech.tree.bodies)) if wrenches is None else wrenches,
        ]
        rows = as_rows("internal_loads", given)
        *motion, efforts, forces = given if rows is None else rows
        name, more = self._programs.variant(TREE_WRENCHES, forces, parameters)
        found = self._programs.named(name, guess, *motion, *more)
        if rows is not None:
            return self._loads(found, efforts)
        one = self._loads({key: part[None] for key, part in found.items()}, efforts[None])
        return InternalLoads(
            one.pins,
            one.wrenches[0],
            one.undetermined[0],
            one.rods,
            one.axial[0],
            one.axial_undetermined[0],
            one.tau_u[0],
        )

    def _loads(self, found: Mapping[str, Array], tau_u: Array) -> InternalLoads:
        """Of the outputs of the program, one sample per row."""
        mech = self._programs.mechanism
        lacking = found["tau"].copy()
        lacking[:, self._programs.actuator_rows[1]] -= tau_u
        self._check_forces(found, lacking)
        pin_of = {b: i for i, b in enumerate(mech.spanning)}
        wrenches = np.zeros((len(tau_u), len(self.pins), 6))
        doubt = np.zeros(wrenches.shape, dtype=bool)
        wrenches[:, : len(pin_of)] = found["f"][:, mech.spanning]
        axial = np.zeros((len(tau_u), len(self.rods)))
        axial_doubt = np.zeros(axial.shape, dtype=bool)
        cut_pin, cuts = len(pin_of), dict[int, CutLoad]()
        for c, branch in self._programs.branches.items():
            columns = mech.qd.slots(mech.components[c].joints)
            loads = cut_loads(branch.closure, found, lacking[:, columns])
            cuts.update(enumerate(loads, cut_pin))
            passed = {pin: load.in_cut_frame() for pin, load in enumerate(loads, cut_pin)}
            cut_pin += len(loads)
            for load in loads:
                more = load.in_joints(found)
                for k, b in enumerate(load.cut.bodies):
                    passed[pin_of[b]] = passed.get(pin_of[b], 0.0) + more[:, k]
            length = branch.closure.plan.length
            sizes = np.repeat([1.0, length], 3)
            for pin, wrench in passed.items():
                wrenches[:, pin] += wrench[:, 0]
                doubt[:, pin] = np.any(np.abs(wrench[:, 1:]) * sizes > MARKED, axis=1)
            for k, rod in enumerate(self.rods):
                if all(end.pin in passed for end in rod.ends):
                    unknown = [passed[end.pin][:, 1:] for end in rod.ends]
                    pulled = _tension(rod, unknown, found, cuts)
                    axial_doubt[:, k] = np.any(np.abs(pulled) * length > MARKED, axis=1)
        for k, rod in enumerate(self.rods):
            ends = [wrenches[:, end.pin, None] for end in rod.ends]
            axial[:, k] = _tension(rod, ends, found, cuts)[:, 0]
        names = tuple(rod.name for rod in self.rods)
        return InternalLoads(self.pins, wrenches, doubt, names, axial, axial_doubt, tau_u)

    def _check_forces(self, found: Mapping[str, Array], lacking: Array) -> None:
        """Refuse actuator forces that do not give the motion: nothing could carry the rest."""
        mech, G = self._programs.mechanism, found["G"]
        held = [k for k in range(mech.m) if k not in mech.flying]
        missing = np.einsum("nij,ni->nj", G, lacking)[:, held]
        given = np.abs(found["tau"]) + np.abs(lacking)
        size = np.einsum("nij,ni->nj", np.abs(G), given)[:, held]
        bad = np.argwhere(np.abs(missing) > AGREE * size + TINY)
        if len(bad):
            sample, k = bad[0].tolist()
            raise InvalidInput(
                f"tau_u does not give the motion: {missing[sample, k]:.4g} N or N m are missing at "
                f"'{mech.yd.names[held[k]]}'"
                + (f" in sample {sample}" if len(missing) > 1 else "")
                + "; leave tau_u out for the forces of the motion, or ydd for the motion of the "
                "forces"
            )


def _tension(
    rod: Rod, ends: list[Array], found: Mapping[str, Array], cuts: Mapping[int, CutLoad]
) -> Array:
    """(N, k) force along a rod, the mean of what pulls at its ends; ``ends`` (N, k, 6) wrenches."""
    points, pulls = [], []
    for end, sign, wrench in zip(rod.ends, rod.signs, ends, strict=True):
        cut = cuts.get(end.pin)
        R, point = (
            (cut.axes, cut.point) if cut else (found["R"][:, end.outer], found["p"][:, end.outer])
        )
        points.append(point)
        pulls.append(sign * wrench[..., 3:] @ np.swapaxes(R, 1, 2))
    along = points[1] - points[0]
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    return np.asarray(0.5 * ((pulls[1] - pulls[0]) @ along[:, :, None])[..., 0])
