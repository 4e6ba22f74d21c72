"""The examples for PyTorch and JAX of docs/derivatives.md, where these are installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.crank_legs import standing

EXAMPLES = Path(__file__).resolve().parents[2] / "docs/derivatives"
RNG = np.random.default_rng(3)
AT = [np.array([[-0.4, 0.8, -0.4], [-0.2, 0.5, -0.1]]), *RNG.normal(size=(2, 2, 3))]
WEIGHTS = np.array([1.0, -0.01, 2.0])


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expected() -> list[np.ndarray]:
    """Gradients of the weighted efforts of both samples, by the analytic derivatives."""
    parts = standing().inverse_dynamics_derivatives(*AT)
    return [np.einsum("i,nij->nj", WEIGHTS, J) for J in parts]


def test_gradients_in_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    function = example("with_torch").torch_function(standing())
    at = [torch.tensor(v, requires_grad=True) for v in AT]
    (function(*at) @ torch.tensor(WEIGHTS)).sum().backward()
    for tensor, gradient in zip(at, expected(), strict=True):
        np.testing.assert_allclose(tensor.grad.numpy(), gradient, rtol=1e-9, atol=1e-9)
    assert torch.autograd.gradcheck(function, at, eps=1e-6, rtol=1e-4)


def test_gradients_in_jax_compiled_and_in_batches() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    function = example("with_jax").jax_function(standing())

    def total(*at: Any) -> Any:
        return (jax.jit(jax.vmap(function))(*at) @ WEIGHTS).sum()

    found = jax.grad(total, argnums=(0, 1, 2))(*AT)
    for part, gradient in zip(found, expected(), strict=True):
        np.testing.assert_allclose(np.asarray(part), gradient, rtol=1e-9, atol=1e-9)
    one = jax.grad(lambda y: function(y, AT[1][0], AT[2][0]) @ WEIGHTS)(AT[0][0])
    np.testing.assert_allclose(np.asarray(one), expected()[0][0], rtol=1e-9, atol=1e-9)
