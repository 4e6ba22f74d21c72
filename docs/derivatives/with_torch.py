"""Inverse dynamics inside PyTorch: values and gradients from the native code, batches included."""

from __future__ import annotations

from typing import Any

import torch

import closed_loop_dynamics as cld


class Native(torch.autograd.Function):
    """A program of a robot: values and gradients."""

    @staticmethod
    def forward(ctx: Any, robot: cld.Robot, name: str, *at: torch.Tensor) -> torch.Tensor:
        ctx.robot, ctx.name = robot, name
        ctx.save_for_backward(*at)
        return torch.from_numpy(getattr(robot, name)(*(v.numpy() for v in at)))

    @staticmethod
    def backward(ctx: Any, weights: torch.Tensor) -> Any:
        at = [v.numpy() for v in ctx.saved_tensors]
        gradients = ctx.robot.vjp(ctx.name, at, weights.numpy())
        return None, None, *map(torch.from_numpy, gradients)


def torch_function(robot: cld.Robot, name: str = "inverse_dynamics") -> Any:
    """A function of float64 tensors (m,) or (N, m), for a robot with a fixed base."""
    return lambda *at: Native.apply(robot, name, *at)
