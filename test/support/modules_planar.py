"""Planar loop modules: the plane is the module's xy plane, at any attitude in space."""

from __future__ import annotations

import numpy as np

from tools.oracles.files import Array

from .site import BadDraw, Module, Site, X, Y, Z


def four_bar(site: Site) -> Module:
    """RRRR with random lengths, cut with the two in-plane translations."""
    return _four_bar(site, "four_bar", _random_quadrilateral(site))


def parallelogram(site: Site) -> Module:
    """RRRR with opposite sides equal."""
    rng = site.rng
    ground, swing = rng.uniform(0.15, 0.35), rng.uniform(0.8, 2.3)
    side = rng.uniform(0.1, 0.25) * np.array([np.cos(swing), np.sin(swing)])
    D = np.array([ground, 0.0])
    return _four_bar(site, "parallelogram", (np.zeros(2), side, D + side, D))


def overconstrained_four_bar(site: Site) -> Module:
    """RRRR whose cut is a full revolute joint: five rows of rank two."""
    module = _four_bar(site, "overconstrained_four_bar", _random_quadrilateral(site), full=True)
    module.notes.append("5 rows, rank 2")
    return module


def _random_quadrilateral(site: Site) -> tuple[Array, Array, Array, Array]:
    """A, B, C, D (2,) with ground A-D, crank A-B, coupler B-C, rocker D-C."""
    rng = site.rng
    D = np.array([rng.uniform(0.15, 0.35), 0.0])
    alpha, beta = rng.uniform(0.5, 2.6, 2) * rng.choice([-1.0, 1.0])
    B = rng.uniform(0.06, 0.25) * np.array([np.cos(alpha), np.sin(alpha)])
    C = D + rng.uniform(0.1, 0.3) * np.array([np.cos(beta), np.sin(beta)])
    if abs(_sine(B, C - B)) < 0.4 or abs(_sine(C - B, C - D)) < 0.4:
        raise BadDraw("toggle position")
    return np.zeros(2), B, C, D


def _sine(u: Array, v: Array) -> float:
    cross = u[0] * v[1] - u[1] * v[0]
    return float(cross / max(np.linalg.norm(u) * np.linalg.norm(v), 1e-9))


def _four_bar(
    site: Site, kind: str, points: tuple[Array, Array, Array, Array], full: bool = False
) -> Module:
    A, B, C, D = points
    rocker = site.joint("rocker", site.parent, site.off_plane(*D), Z)
    crank = site.joint("crank", site.parent, site.off_plane(*A), Z)
    coupler = site.joint("coupler", crank, site.off_plane(*B), Z)
    end = site.tip("end", coupler, site.off_plane(*C))
    if not full:
        body = coupler if site.rng.random() < 0.5 else end
        loop = site.cut(end, rocker, body, translations=_in_plane(site))
    elif site.rng.random() < 0.5:
        loop = site.technical_cut(end, rocker, "revolute", Z)
    else:
        loop = site.cut(end, rocker, rotations=(X, Y), translations=(X, Y, Z))
    y = site.name(rocker)
    return Module(kind, [y], [site.name(crank)], [loop], reach={y: 0.8})


def _in_plane(site: Site) -> tuple[Array, Array]:
    """Two orthogonal directions of the plane."""
    angle = 0.0 if site.aligned else site.rng.uniform(0.0, np.pi)
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c, s, 0.0]), np.array([-s, c, 0.0])


def lambda_rrpr(site: Site) -> Module:
    """RRPR: a linear actuator across a hinge; the cut frame is the piston's own frame."""
    rng = site.rng
    base = np.array([rng.uniform(0.05, 0.15), rng.uniform(-0.3, -0.15)])
    pin_point = np.array([rng.uniform(0.05, 0.15), rng.uniform(0.05, 0.2)])
    hinge = site.joint("hinge", site.parent, site.off_plane(0.0, 0.0), Z)
    rod = site.joint("rod", site.parent, site.off_plane(*base), Z)
    stroke = np.array([*(pin_point - base), 0.0]) / np.linalg.norm(pin_point - base)
    piston = site.joint("piston", rod, site.off_plane(*pin_point), stroke, kind="prismatic")
    loop = site.cut(piston, hinge, translations=_in_plane(site))
    y = site.name(hinge)
    return Module("lambda_rrpr", [y], [site.name(piston)], [loop], reach={y: 0.8})


def slider_crank(site: Site) -> Module:
    """Crank, rod and slider; the slide itself is cut (prismatic or cylindrical, redundant rows)."""
    rng = site.rng
    angle = rng.uniform(0.6, 2.4) * rng.choice([-1.0, 1.0])
    radius = rng.uniform(0.06, 0.15)
    wrist = radius * np.array([np.cos(angle), np.sin(angle)])
    foot = np.array([wrist[0] + rng.uniform(0.2, 0.35), rng.uniform(-0.03, 0.03)])
    crank = site.joint("crank", site.parent, site.off_plane(0.0, 0.0), Z)
    rod = site.joint("rod", crank, site.off_plane(*wrist), Z)
    slider = site.joint("slider", rod, site.off_plane(*foot), Z)
    kind = str(rng.choice(["prismatic", "cylindrical"]))
    loop = site.technical_cut(slider, site.parent, kind, X)
    y = site.name(crank)
    notes = [f"cut: {kind}, {5 if kind == 'prismatic' else 4} rows, rank 2"]
    return Module("slider_crank", [y], [site.name(rod)], [loop], reach={y: 0.7}, notes=notes)
