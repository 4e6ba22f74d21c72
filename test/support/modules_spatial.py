"""Spatial loop modules: universal platforms on linear actuators, RSSR, and spatial sliders."""

from __future__ import annotations

import numpy as np

from tools.oracles.files import Array

from .site import BadDraw, Module, Site, X, Y, Z
from .sketch import random_direction

LATERAL = 0.12
HEIGHT = 0.35


def platform_2spu_1u(site: Site) -> Module:
    """2-SPU+1U: universal platform, two U-P legs, each cut at a spherical joint (three rows)."""
    platform, independent = _universal_platform(site)
    loops, active = [], []
    for side in ("left", "right"):
        A, B = _leg_points(site, side)
        piston = _up_leg(site, side, A, B)
        loops.append(site.cut(piston, platform, translations=(X, Y, Z)))
        active.append(site.name(piston))
    reach = dict.fromkeys(independent, 0.5)
    return Module("platform_2spu_1u", independent, active, loops, reach=reach)


def ankle_2sprr_1u(site: Site) -> Module:
    """2-SPRR+1U as in the RH5 ankle: legs B1, B2, piston and a platform-side joint E.

    The cut at E locks three translations and one rotation (about E's axis).
    """
    platform, independent = _universal_platform(site)
    loops, active = [], []
    for side in ("left", "right"):
        A, B = _leg_points(site, side)
        piston = _up_leg(site, side, A, B)
        eye = site.joint(f"{side}_E", platform, B, X, mass=0.3)
        _refuse_ambiguous(site.in_frame(eye, X))
        loops.append(site.cut(eye, piston, rotations=(X,), translations=(X, Y, Z)))
        active.append(site.name(piston))
    reach = dict.fromkeys(independent, 0.5)
    return Module("ankle_2sprr_1u", independent, active, loops, reach=reach)


def _refuse_ambiguous(axis: list[float]) -> None:
    """One locked rotation needs the coordinate axis least aligned with it: no near ties."""
    size = np.sort(np.abs(axis))
    if size[1] - size[0] < 0.05 and size[2] < 1.0 - 1e-12:
        raise BadDraw("two coordinate axes equally far from the locked axis")


def _universal_platform(site: Site) -> tuple[str, list[str]]:
    """Two crossing revolutes at the module's origin; platform link and the joint names."""
    cross = site.joint("roll", site.parent, np.zeros(3), X, mass=0.3)
    platform = site.joint("pitch", cross, np.zeros(3), Y, mass=2.0)
    return platform, [site.name(cross), site.name(platform)]


def _leg_points(site: Site, side: str) -> tuple[Array, Array]:
    """Foot A on the base and head B on the platform, in front of the universal joint."""
    sign = 1.0 if side == "left" else -1.0
    spread = site.rng.uniform(-0.03, 0.03, (2, 3))
    A = np.array([LATERAL, sign * LATERAL, -HEIGHT]) + spread[0]
    return A, np.array([LATERAL, sign * LATERAL, 0.05]) + spread[1]


def _up_leg(site: Site, side: str, A: Array, B: Array) -> str:
    """Two revolutes at A (about x, then y, somewhat askew) and a piston with its frame at B."""
    stroke = (B - A) / np.linalg.norm(B - A)
    skew = np.zeros((2, 3)) if site.aligned else site.rng.uniform(-0.2, 0.2, (2, 3))
    first = site.joint(f"{side}_B1", site.parent, A, _unit(X + skew[0]), mass=0.2)
    second = site.joint(f"{side}_B2", first, A, _unit(Y + skew[1]), mass=0.8)
    return site.joint(f"{side}_piston", second, B, stroke, kind="prismatic", mass=0.5)


def rssr(site: Site) -> Module:
    """Spatial four-bar: rocker (independent), crank, rod on a universal joint, spherical cut."""
    rng = site.rng
    rocker_axis, crank_axis = _unit(Y + 0.3 * random_direction(rng)), _tilted(site, Z)
    crank_pivot = np.array([rng.uniform(0.25, 0.4), 0.0, rng.uniform(-0.1, 0.1)])
    rocker_tip = _lever(site, rocker_axis, rng.uniform(0.1, 0.2))
    crank_tip = crank_pivot + _lever(site, crank_axis, rng.uniform(0.1, 0.2))
    rocker = site.joint("rocker", site.parent, np.zeros(3), rocker_axis)
    crank = site.joint("crank", site.parent, crank_pivot, crank_axis)
    rod = _universal(site, "rod", crank, crank_tip, rocker_tip - crank_tip)
    end = site.tip("end", rod, rocker_tip)
    loop = site.cut(end, rocker, translations=(X, Y, Z))
    y = site.name(rocker)
    return Module("rssr", [y], [site.name(crank)], [loop], reach={y: 0.6})


def spatial_slider(site: Site) -> Module:
    """Crank, universal rod, and a slide that is cut: R-U-U-C (four rows) or R-U-S-P (five)."""
    rng = site.rng
    crank_axis = _tilted(site, Z)
    wrist = _lever(site, crank_axis, rng.uniform(0.08, 0.15))
    foot = np.array([0.0, rng.uniform(-0.03, 0.03), rng.uniform(-0.05, 0.05)])
    foot[0] = wrist[0] + rng.uniform(0.25, 0.35)
    crank = site.joint("crank", site.parent, np.zeros(3), crank_axis)
    rod = _universal(site, "rod", crank, wrist, foot - wrist)
    slider = _universal(site, "slider", rod, foot, foot - wrist)
    kind = "cylindrical"
    if rng.random() < 0.5:
        kind = "prismatic"
        slider = site.joint("slider_3", slider, foot, _unit(foot - wrist), mass=0.3)
    loop = site.technical_cut(slider, site.parent, kind, _unit(X + 0.2 * random_direction(rng)))
    y = site.name(crank)
    module = Module("spatial_slider", [y], [f"{site.prefix}rod_1"], [loop], reach={y: 0.6})
    module.notes.append(f"cut: {kind}, full rank")
    return module


def _universal(site: Site, name: str, parent: str, point: Array, along: Array) -> str:
    """Two revolutes at ``point``, across the direction ``along`` and each other."""
    first = _unit(np.cross(along, random_direction(site.rng)))
    second = _unit(np.cross(along, first))
    cross = site.joint(f"{name}_1", parent, point, first, mass=0.2)
    return site.joint(f"{name}_2", cross, point, second, mass=0.8)


def _tilted(site: Site, axis: Array) -> Array:
    return _unit(axis + 0.3 * random_direction(site.rng))


def _lever(site: Site, axis: Array, length: float) -> Array:
    """(3,) lever of ``length`` across ``axis``, in a random direction."""
    return length * _unit(np.cross(axis, random_direction(site.rng)))


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.linalg.norm(vector))
