"""The algorithms take joints of any number of velocities: a cylinder joint, which no file has yet.

Turn and slide along one axis, S (6, 2), must give what two joints with a body of no mass in between
give. The kind exists in this test only; a new kind would be added at the same two places.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from closed_loop_dynamics.dynamics import motion as motion_module
from closed_loop_dynamics.dynamics.centroidal import centroidal_matrix, momentum_and_energy
from closed_loop_dynamics.dynamics.cluster_aba import cluster_aba
from closed_loop_dynamics.dynamics.cluster_efpa import inverse_osim, response_to_force
from closed_loop_dynamics.dynamics.cluster_rnea import cluster_rnea
from closed_loop_dynamics.dynamics.innovations import inverse_mass_matrix, mass_matrix_factors
from closed_loop_dynamics.dynamics.joints import joint_transform
from closed_loop_dynamics.dynamics.lagrange import constraint_rows
from closed_loop_dynamics.dynamics.motion import Motion, trace_motion
from closed_loop_dynamics.dynamics.projection import reduced_mass_matrix
from closed_loop_dynamics.engine.symbolic import ca
from closed_loop_dynamics.mechanism import Mechanism, build_mechanism
from closed_loop_dynamics.model import read_submechanisms, read_urdf
from closed_loop_dynamics.model import tree as tree_module
from closed_loop_dynamics.model.tree import Joint, Tree
from closed_loop_dynamics.spatial import SX, Spatial, Transform, rotation, sx

CYLINDRICAL = "cylindrical"
AXIS = np.array([0.0, 0.6, 0.8])
#: (slide, turn, elbow), as the two joints have it, at (turn, slide, elbow) of the cylinder.
ORDER = [1, 0, 2]


def urdf(joints: str) -> str:
    inertial = (
        '<inertial><origin xyz="0.1 -0.05 0.2"/><mass value="{}"/><inertia ixx="0.05" ixy="0.01" '
        'ixz="-0.004" iyy="0.06" iyz="0.003" izz="0.04"/></inertial>'
    )
    return (
        '<robot name="r"><link name="world"/>'
        f'<link name="arm">{inertial.format(1.3)}</link>'
        f'<link name="hand">{inertial.format(0.7)}</link>{joints}'
        '<joint name="elbow" type="continuous"><parent link="arm"/><child link="hand"/>'
        '<origin xyz="0.3 0.1 0.2" rpy="0.3 -0.5 0.2"/><axis xyz="1 0 0"/></joint></robot>'
    )


def one(kind: str, name: str, parent: str, child: str, origin: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'{origin}<axis xyz="0 0.6 0.8"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
        "</joint>"
    )


ORIGIN = '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>'


def mechanism(tree: Tree) -> Mechanism:
    return build_mechanism(tree, read_submechanisms(None, tree), "none", {})


@pytest.fixture
def two_joints() -> Mechanism:
    slide = one("prismatic", "slide", "world", "between", ORIGIN)
    turn = one("continuous", "turn", "between", "arm")
    return mechanism(read_urdf(urdf(f'<link name="between"/>{slide}{turn}')))


@pytest.fixture
def cylinder(monkeypatch: pytest.MonkeyPatch) -> Mechanism:
    parts = (CYLINDRICAL, ("turn", "slide"))
    monkeypatch.setitem(tree_module._POSITIONS, *parts)
    monkeypatch.setitem(tree_module._VELOCITIES, *parts)

    def transform(joint: Joint, q: SX) -> Transform:
        if joint.kind != CYLINDRICAL:
            return joint_transform(joint, q)
        R, p = sx(joint.placement[:3, :3]), sx(joint.placement[:3, 3])
        return Transform(((R, p), (rotation(joint.axis, q[0]), sx(joint.axis) * q[1])))

    plain = Joint.S.func
    screws = np.kron(np.eye(2), AXIS[:, None])
    subspace = property(lambda joint: screws if joint.kind == CYLINDRICAL else plain(joint))
    monkeypatch.setattr(motion_module, "joint_transform", transform)
    monkeypatch.setattr(Joint, "S", subspace)
    tree = read_urdf(urdf(one("continuous", "shoulder", "world", "arm", ORIGIN)))
    first, *rest = tree.bodies
    first = replace(first, joint=replace(first.joint, kind=CYLINDRICAL))
    return mechanism(replace(tree, bodies=(first, *rest)))


def quantities(mech: Mechanism, order: list[int]) -> dict[str, np.ndarray]:
    """Everything at one moving state, vectors and matrices as (slide, turn, elbow)."""
    rng = np.random.default_rng(3)
    y, yd, x, f = (rng.normal(size=k) for k in (3, 3, 3, 6))
    back = np.argsort(order)
    moving: Motion = trace_motion(mech, *(ca.SX(v) for v in (y[back], np.zeros(0), yd[back])))
    still = trace_motion(mech, ca.SX(y[back]), ca.SX(0, 1), None)
    hand = len(mech.tree.bodies) - 1
    force = {hand: Spatial.of(ca.SX(f))}
    W, D, _ = mass_matrix_factors(still)
    ydd, a, _ = response_to_force(still, (hand, np.eye(4)), ca.SX(f))
    vectors = {
        "tau_y": cluster_rnea(moving, ca.SX(x[back]), force),
        "bias": cluster_rnea(moving, None),
        "gravity": cluster_rnea(still, None),
        "ydd": cluster_aba(moving, ca.SX(x[back]), force)[0],
        "response": ydd,
    }
    matrices = {
        "M": reduced_mass_matrix(still),
        "inverse": inverse_mass_matrix(still)[0],
        "factors": ca.inv(W) @ D @ ca.inv(W).T,
    }
    whole = {
        "momentum": ca.vertcat(*momentum_and_energy(moving).values()),
        "A_G": centroidal_matrix(still)[:, order],
        "osim": inverse_osim(still, [(hand, np.eye(4)), (hand - 1, np.eye(4))])[0],
        "a": a,
    }
    found = {name: v[order] for name, v in vectors.items()}
    found |= {name: v[order, order] for name, v in matrices.items()} | whole
    return {name: np.array(ca.DM(ca.densify(value))) for name, value in found.items()}


def test_a_cylinder_joint_is_a_slide_and_a_turn(two_joints: Mechanism, cylinder: Mechanism) -> None:
    expected, found = quantities(two_joints, [0, 1, 2]), quantities(cylinder, ORDER)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-10, atol=1e-10, err_msg=name)
    np.testing.assert_allclose(found["inverse"] @ found["M"], np.eye(3), atol=1e-10)


def test_its_coordinates_have_places_and_names(cylinder: Mechanism) -> None:
    assert (cylinder.m, cylinder.n, cylinder.n_y, cylinder.n_q) == (3, 3, 3, 3)
    assert cylinder.y.names == cylinder.yd.names == ("shoulder.turn", "shoulder.slide", "elbow")
    assert cylinder.qd.at == {0: 0, 1: 2} and cylinder.yd.slots([1, 0]) == [2, 0, 1]
    assert cylinder.scalar_joints(cylinder.independent) == [1]
    assert constraint_rows(cylinder) == 0
