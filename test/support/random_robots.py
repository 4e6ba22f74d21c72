"""Random series-parallel robots, fully seeded: trees of serial chains, loops, gears and mimics.

``random_robot(seed)`` draws a robot whose loops close at q = 0 by construction and stay closed and
regular over the box of the independent joints' limits. Nothing here imports the package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import yaml

from tools.oracles.files import Array
from tools.oracles.oracle import Oracle

from .joint_box import find_ranges
from .modules_planar import (
    four_bar,
    lambda_rrpr,
    overconstrained_four_bar,
    parallelogram,
    slider_crank,
)
from .modules_simple import geared_rotor, mimic, serial
from .modules_spatial import ankle_2sprr_1u, platform_2spu_1u, rssr, spatial_slider
from .site import BadDraw, Module, Site
from .sketch import Sketch, render_urdf, unit_normal

INGREDIENTS: dict[str, Callable[[Site], Module]] = {
    "four_bar": four_bar,
    "lambda_rrpr": lambda_rrpr,
    "overconstrained_four_bar": overconstrained_four_bar,
    "platform_2spu_1u": platform_2spu_1u,
    "ankle_2sprr_1u": ankle_2sprr_1u,
    "rssr": rssr,
    "geared_rotor": geared_rotor,
    "mimic": mimic,
    "parallelogram": parallelogram,
    "slider_crank": slider_crank,
    "spatial_slider": spatial_slider,
}
DRAWS = 60


@dataclass(frozen=True, eq=False)
class RandomRobot:
    """A robot as text, and what a test needs to know about it.

    Attributes:
        urdf, yaml: file contents.
        floating: the robot is meant to be loaded with a floating base.
        independent, spanning, active: joint names (base excluded); the order of y, of the moving
            joints in the URDF, and of the actuators. Loaders may report other orders: map by name.
        lower, upper: (m,) box of the independent positions in the order of ``independent``.
        offsets: coupled joint -> position at y = 0; all other joints are at zero there.
        ingredients: loop modules used, in order.
        description: one line per module.
    """

    seed: int
    urdf: str
    yaml: str
    floating: bool
    independent: tuple[str, ...]
    spanning: tuple[str, ...]
    active: tuple[str, ...]
    lower: Array
    upper: Array
    offsets: dict[str, float]
    ingredients: tuple[str, ...]
    description: str

    def __post_init__(self) -> None:
        self.lower.flags.writeable = self.upper.flags.writeable = False

    def oracle(self, names: Sequence[str] | None = None) -> Oracle:
        """The oracle of this robot; vectors in the order of ``names`` (default: ``spanning``)."""
        return Oracle(self.urdf, self.yaml, self.floating, names=names or self.spanning)


@lru_cache(maxsize=256)
def random_robot(
    seed: int, *, floating: bool | None = None, loops: tuple[str, ...] | None = None
) -> RandomRobot:
    """Draw the robot of a seed (drawn once per process).

    Args:
        seed: any non-negative integer; consecutive seeds go through all ingredients.
        floating: force or forbid a floating base; default: with odd seeds.
        loops: names of ``INGREDIENTS`` to use; default: one by seed, and up to two random ones.
    """
    rng = np.random.default_rng([seed, 20240229])
    kinds = list(INGREDIENTS)
    if loops is None:
        extra = rng.choice(kinds, size=rng.integers(0, 3))
        loops = (kinds[seed % len(kinds)], *map(str, extra))
    floating = bool(seed % 2) if floating is None else floating
    sketch = Sketch(rng, "base")
    plan = [INGREDIENTS[kind] for kind in loops] + [serial] * int(rng.integers(1, 5))
    modules: list[Module] = []
    for i, place in enumerate(rng.permutation(len(plan))):
        modules.append(_add_module(sketch, rng, f"m{i}_", plan[place]))
    return _finish(seed, sketch, rng, modules, loops, floating)


def _add_module(
    sketch: Sketch, rng: np.random.Generator, prefix: str, draw: Callable[[Site], Module]
) -> Module:
    """Draw a module on a random link until it has a decent box, and set its joint limits."""
    candidates = [link for link in sketch.links if "rotor" not in link]
    parent = str(rng.choice(candidates))
    before = len(sketch.joints)
    for _ in range(DRAWS):
        sketch.remove_after(before)
        try:
            module = draw(Site.on(sketch, rng, prefix, parent))
        except BadDraw:
            continue
        module.joints = sketch.joints[before:]
        if module.loops and rng.random() < 0.2:
            module.active = list(module.independent)
        if _set_limits(sketch, rng, module, parent):
            return module
    raise RuntimeError(f"no regular {draw.__name__} in {DRAWS} draws")


def _set_limits(sketch: Sketch, rng: np.random.Generator, module: Module, parent: str) -> bool:
    """Joint limits by walking the module alone; False when its box would be too small."""
    links = [sketch.links[parent], *(sketch.links[joint.child] for joint in module.joints)]
    entry = _yaml([_entry(module, module.spanning, module.active)])
    oracle = Oracle(render_urdf("module", links, module.joints), entry)
    ranges = find_ranges(oracle, module, rng)
    if ranges is None:
        return False
    for joint in module.joints:
        joint.lower = ranges.lower.get(joint.name, 0.0)
        joint.upper = ranges.upper.get(joint.name, 0.0)
    return True


def _entry(module: Module, spanning: list[str], active: list[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": module.kind,
        "contextual_name": f"{module.kind}_{module.joints[0].name}",
        "type": module.type,
        "jointnames_independent": list(module.independent),
        "jointnames_spanningtree": spanning,
        "jointnames_active": active,
    }
    extras = {"loop_constraints": module.loops, "couplings": module.couplings}
    return entry | {key: value for key, value in extras.items() if value}


def _yaml(entries: list[dict[str, Any]]) -> str:
    return yaml.safe_dump({"submechanisms": entries}, sort_keys=False, default_flow_style=None)


def _finish(
    seed: int,
    sketch: Sketch,
    rng: np.random.Generator,
    modules: list[Module],
    loops: tuple[str, ...],
    floating: bool,
) -> RandomRobot:
    """Write the files; joint orders in them are shuffled for some seeds."""
    shuffle = rng.random() < 0.4
    entries = []
    for module in modules:
        if module.in_file:
            spanning, active = list(module.spanning), list(module.active)
            if shuffle:
                rng.shuffle(spanning)
                rng.shuffle(active)
            entries.append(_entry(module, spanning, active))
    joints = list(sketch.joints)
    if shuffle:
        rng.shuffle(joints)
    limits = {joint.name: (joint.lower, joint.upper) for joint in joints}
    independent = tuple(name for module in modules for name in module.independent)
    return RandomRobot(
        seed=seed,
        urdf=render_urdf(f"random_{seed}", sketch.links.values(), joints),
        yaml=_yaml(entries),
        floating=floating,
        independent=independent,
        spanning=tuple(joint.name for joint in joints if joint.kind != "fixed"),
        active=tuple(name for module in modules for name in module.active),
        lower=np.array([limits[name][0] for name in independent]),
        upper=np.array([limits[name][1] for name in independent]),
        offsets=_offsets(modules),
        ingredients=loops,
        description=_describe(seed, modules, floating, shuffle),
    )


def _offsets(modules: list[Module]) -> dict[str, float]:
    couplings = [coupling for module in modules for coupling in module.couplings]
    offsets = {coupling["joint"]: coupling.get("offset", 0.0) for coupling in couplings}
    for module in modules:
        offsets |= {joint.name: joint.mimic[2] for joint in module.joints if joint.mimic}
    return offsets


def _describe(seed: int, modules: list[Module], floating: bool, shuffled: bool) -> str:
    order = ", joint orders shuffled" if shuffled else ""
    lines = [f"seed {seed}: {'floating' if floating else 'fixed'} base{order}"]
    for module in modules:
        active = "independent" if module.active == module.independent else ", ".join(module.active)
        notes = [*module.notes, *([] if module.in_file else ["not in the file"])]
        facts = [f"{module.kind} on {module.joints[0].parent}", f"driven: {active}", *notes]
        lines.append("  " + "; ".join(facts))
    return "\n".join(lines)


def sample_states(
    robot: RandomRobot, rng: np.random.Generator, count: int
) -> tuple[Array, Array, Array]:
    """y, yd, ydd, each (count, m) in the order of ``robot.independent``, base excluded.

    Positions lie in the box, velocities and accelerations are non-zero.
    """
    m = len(robot.independent)
    y = rng.uniform(robot.lower, robot.upper, (count, m))
    yd, ydd = (_away_from_zero(rng, (count, m)) for _ in range(2))
    return y, yd, ydd


def sample_base_states(rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
    """Floating-base pose (count, 7) [x y z, quaternion x y z w], velocity, acceleration (count, 6).

    Velocity and acceleration are [angular; linear] in the base frame.
    """
    quaternions = np.array([unit_normal(rng, 4) for _ in range(count)]).reshape(count, 4)
    pose = np.hstack([rng.uniform(-1.0, 1.0, (count, 3)), quaternions])
    return pose, _away_from_zero(rng, (count, 6)), _away_from_zero(rng, (count, 6))


def _away_from_zero(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    return rng.uniform(0.2, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
