"""Adjoint operators over NumPy, vectors [linear; angular], as Paz and Mattila write them."""

from __future__ import annotations

import numpy as np

from closed_loop_dynamics.arrays import Array


def hat(a: Array) -> Array:
    """(3, 3) matrix of a x."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def Ad(G: Array) -> Array:
    """(6, 6) twists of the outer frame in the inner one, for the inner frame's pose G (4, 4).

    Its transpose, the paper's Ad*, takes wrenches of the inner frame to the outer one.
    """
    R, p = G[:3, :3], G[:3, 3]
    return np.block([[R.T, -R.T @ hat(p)], [np.zeros((3, 3)), R.T]])


def ad(nu: Array) -> Array:
    """(6, 6) Lie bracket operator of a twist; its transpose is the paper's ad*."""
    v, w = hat(nu[:3]), hat(nu[3:])
    return np.block([[w, v], [np.zeros((3, 3)), w]])


def spatial_inertia(mass: float, first_moment: Array, inertia: Array) -> Array:
    """(6, 6) inertia about a frame's origin."""
    h = hat(first_moment)
    return np.block([[mass * np.eye(3), -h], [h, inertia]])


def about_z(angle: float, position: Array | None = None) -> Array:
    """(4, 4) a turn about z, at a position."""
    G = np.eye(4)
    c, s = np.cos(angle), np.sin(angle)
    G[:2, :2] = [[c, -s], [s, c]]
    if position is not None:
        G[:3, 3] = position
    return G


def along_x(distance: float) -> Array:
    """(4, 4) a shift along x."""
    G = np.eye(4)
    G[0, 3] = distance
    return G
