"""Inverse dynamics inside JAX: values and gradients from the native code; jit and vmap work."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

import closed_loop_dynamics as cld

jax.config.update("jax_enable_x64", True)


def jax_function(robot: cld.Robot, name: str = "inverse_dynamics") -> Any:
    """A function of (m,) arrays, for a robot with a fixed base."""

    def call(run: Any, shapes: Any, *values: Any) -> Any:
        def on_arrays(*v: Any) -> Any:
            return run(*map(np.asarray, v))

        return jax.pure_callback(on_arrays, shapes, *values, vmap_method="broadcast_all")

    def value(*at: Any) -> Any:
        shape = jax.ShapeDtypeStruct((robot.p,), np.float64)
        return call(getattr(robot, name), shape, *at)

    def backward(at: Any, weights: Any) -> Any:
        shapes = tuple(jax.ShapeDtypeStruct((robot.m,), np.float64) for _ in at)
        return call(lambda *v: robot.vjp(name, v[:-1], v[-1]), shapes, *at, weights)

    function = jax.custom_vjp(value)
    function.defvjp(lambda *at: (value(*at), at), backward)
    return function
