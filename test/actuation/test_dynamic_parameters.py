"""Payloads, parameters as inputs and the regressor, against URDFs and Pinocchio's own regressor."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from support.figures import Motions, relative
from support.four_bar import FourBar, joint, link
from support.hardware import ROBOTS, hardware
from support.rh5 import FILES, kinds, rh5_oracle

import closed_loop_dynamics as cld
from closed_loop_dynamics import Payload
from tools.oracles.files import Array, homogeneous

every_robot = pytest.mark.parametrize("which", range(len(ROBOTS)))
PAYLOAD = Payload(3.0, (0.05, -0.1, 0.2), np.diag([0.02, 0.03, 0.04]) + 0.001)


@cache
def motions_of(which: int) -> Motions:
    built = hardware(*ROBOTS[which])
    floating = built.drawn.floating
    robot = cld.load(built.drawn.urdf, built.yaml, floating_base=floating)
    oracle = built.oracle(robot.names.spanning[floating:])
    return Motions.random(robot, oracle, 6, which, batch=False)


def fixed_payload(parent: str, payload: Payload) -> str:
    """URDF text of the payload as a link of its own, fixed at an odd pose."""
    xyz, rpy = (0.1, 0.2, -0.3), (0.3, -0.7, 1.9)
    T = np.linalg.inv(homogeneous(xyz, rpy))
    R = T[:3, :3]
    com, I = R @ np.asarray(payload.com) + T[:3, 3], R @ np.asarray(payload.inertia) @ R.T
    numbers = [repr(float(I[i, j])) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    words = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    inertia = " ".join(f'{w}="{n}"' for w, n in zip(words, numbers, strict=True))
    text = [" ".join(repr(float(v)) for v in vector) for vector in (com, xyz, rpy)]
    return (
        f'<link name="on_{parent}"><inertial><origin xyz="{text[0]}"/>'
        f'<mass value="{payload.mass}"/><inertia {inertia}/></inertial></link>'
        f'<joint name="grasp_{parent}" type="fixed"><origin xyz="{text[1]}" rpy="{text[2]}"/>'
        f'<parent link="{parent}"/><child link="on_{parent}"/></joint></robot>'
    )


@every_robot
def test_parameters_have_names_as_well_as_places(which: int) -> None:
    robot = motions_of(which).robot
    pi, names = robot.dynamic_parameters, robot.parameter_names
    view = robot.parameter_view(pi)
    for i, body in enumerate(robot.mechanism.tree.bodies):
        assert view.mass[i] == body.mass == pi[names.index(f"{body.link}.m")]
        np.testing.assert_array_equal(view.first_moment[i], body.first_moment)
        assert view.inertia[i, 2] == body.inertia[1, 1] == pi[names.index(f"{body.link}.I_yy")]
    places = [k for k, name in enumerate(names) if name.endswith(".viscous_friction")]
    np.testing.assert_array_equal(view.viscous_friction, pi[places])
    view.coulomb_friction[0] = 7.0
    assert 7.0 in pi and robot.parameter_view(np.tile(pi, (3, 1))).mass.shape == (3, len(view.mass))
    np.testing.assert_array_equal(robot.inertial_parameters, pi[: view.bodies.size])


@every_robot
def test_a_payload_is_a_fixed_link(which: int) -> None:
    """On a body inside a loop and on a link that is fixed to another, at speed, with wrenches."""
    motions = motions_of(which)
    built, tree = hardware(*ROBOTS[which]), motions.robot.mechanism.tree
    fixed = [
        name for name, (b, pose) in tree.frames.items() if b >= 0 and np.any(pose != np.eye(4))
    ]
    inside = next(
        tree.bodies[c.joints[-1]].link for c in motions.robot.mechanism.components if c.loops
    )
    carriers = (inside, fixed[0] if fixed else tree.bodies[-1].link)
    assert fixed or not which
    urdf = built.drawn.urdf
    for name in carriers:
        urdf = urdf.replace("</robot>", fixed_payload(name, PAYLOAD))
    loaded = cld.load(urdf, built.yaml, floating_base=built.drawn.floating)
    other = Motions(loaded, motions.oracle, motions.y, motions.yd, motions.ydd, batch=False)
    carried = {"payload": dict.fromkeys(carriers, PAYLOAD)}
    pushed = {"wrenches": {inside: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}}
    for options in ({}, pushed):
        found = motions.generalized_forces(**carried, **options)
        assert relative(found, other.generalized_forces(**options)) <= 1e-12
        tau_u = motions.inverse_dynamics(**carried, **options)
        found = motions.forward_dynamics(tau_u, **carried, **options)
        assert relative(found, other.forward_dynamics(tau_u, **options)) <= 1e-9
    assert relative(motions.inverse_dynamics(**carried), other.inverse_dynamics()) <= 1e-12
    M = motions.call("mass_matrix", motions.y, **carried)
    assert relative(M, other.call("mass_matrix", motions.y)) <= 1e-12
    assert relative(motions.generalized_forces(), other.generalized_forces()) > 1e-3


def test_payload_on_the_fixed_root_changes_nothing() -> None:
    motions = motions_of(0)
    sample = motions.y[0], motions.yd[0], motions.ydd[0]
    root = motions.robot.mechanism.tree.root_link
    found = motions.robot.inverse_dynamics(*sample, payload={root: PAYLOAD})
    np.testing.assert_allclose(found, motions.robot.inverse_dynamics(*sample), rtol=1e-13)


@every_robot
def test_regressor_times_parameters_is_inverse_dynamics(which: int) -> None:
    motions = motions_of(which)
    robot, pi = motions.robot, motions.robot.dynamic_parameters
    vectors = motions.y, motions.yd, motions.ydd
    W, W_y = motions.call("regressor", *vectors), motions.call("generalized_regressor", *vectors)
    assert W.shape[1:] == (robot.p, len(pi)) and W_y.shape[1:] == (robot.m, len(pi))
    assert relative(W @ pi, motions.inverse_dynamics()) <= 1e-12
    assert relative(W_y @ pi, motions.generalized_forces()) <= 1e-12


@every_robot
def test_regressor_is_the_projection_of_pinocchios(which: int) -> None:
    """The same order of parameters; joints permuted from the oracle's tree to the robot's."""
    motions = motions_of(which)
    check_pinocchio_regressor(motions)


def check_pinocchio_regressor(motions: Motions) -> None:
    robot, oracle = motions.robot, motions.oracle
    bodies = robot.mechanism.tree.bodies
    joints = [oracle.model.getJointId(b.joint.name) for b in bodies[robot.mechanism.floating :]]
    joints = [1] * robot.mechanism.floating + joints  # the free flyer is Pinocchio's first joint
    columns = [10 * (j - 1) + k for j in joints for k in range(10)]

    def tree(q: Array, qd: Array, qdd: Array) -> Array:
        v, a = oracle.to_pinocchio_v(qd), oracle.to_pinocchio_v(qdd)
        Y = pin.computeJointTorqueRegressor(
            oracle.model, oracle.data, oracle.to_pinocchio_q(q), v, a
        )
        return oracle.from_pinocchio_v(np.transpose(Y)).T

    Y = motions.each(tree)[:, :, columns]
    expected = np.einsum("sij,sik->sjk", motions.G, Y)
    found = motions.call("generalized_regressor", motions.y, motions.yd, motions.ydd)
    assert relative(found[:, :, : len(columns)], expected) <= 1e-9


@every_robot
def test_any_parameters_may_be_passed(which: int) -> None:
    """Random parameters, friction included: ID is W pi, FD inverts it."""
    motions = motions_of(which)
    robot = motions.robot
    rng = np.random.default_rng(9)
    pi = robot.dynamic_parameters * rng.uniform(0.7, 1.3, len(robot.parameter_names))
    W_y = motions.call("generalized_regressor", motions.y, motions.yd, motions.ydd)
    found = motions.generalized_forces(parameters=pi)
    assert relative(found, W_y @ pi) <= 1e-11
    assert relative(found, motions.generalized_forces()) > 1e-3
    if not robot.mechanism.floating:
        tau_u = motions.inverse_dynamics(parameters=pi)
        assert relative(motions.forward_dynamics(tau_u, parameters=pi), motions.ydd) <= 1e-8


def test_a_batch_of_parameters_goes_with_a_batch_of_states() -> None:
    mechanism = FourBar(0.3, 0.25, 0.2, 0.22)
    robot = cld.load(mechanism.urdf(), mechanism.yaml(active=("rocker",)))
    rng = np.random.default_rng(9)
    states = rng.uniform(-0.3, 0.3, (7, 1)), rng.normal(size=(7, 1)), rng.normal(size=(7, 1))
    many = robot.dynamic_parameters * rng.uniform(0.5, 2.0, (7, len(robot.parameter_names)))
    W = robot.regressor(*states)
    found = robot.inverse_dynamics(*states, parameters=many)
    assert relative(found, np.einsum("sij,sj->si", W, many)) <= 1e-12
    one = [robot.regressor(*sample) for sample in zip(*states, strict=True)]
    assert relative(W, np.array(one)) <= 1e-12


def test_names_and_numbers_of_the_parameters() -> None:
    robot = motions_of(1).robot
    names, pi = robot.parameter_names, robot.dynamic_parameters
    assert len(names) == len(pi) == len(set(names))
    body = robot.mechanism.tree.bodies[2]
    assert pi[names.index(f"{body.link}.m")] == body.mass
    assert pi[names.index(f"{body.link}.h_z")] == body.first_moment[2]
    assert pi[names.index(f"{body.link}.I_yz")] == body.inertia[1, 2]
    assert pi[names.index(f"{body.link}.I_xz")] == body.inertia[0, 2]
    built = hardware(*ROBOTS[1])
    joint_name = next(iter(built.rotor))
    assert pi[names.index(f"{joint_name}.rotor_inertia")] == built.rotor[joint_name]
    assert pi[names.index(f"{joint_name}.viscous_friction")] == built.viscous[joint_name]
    assert len(robot.inertial_parameters) == 10 * len(robot.mechanism.tree.bodies)


@pytest.mark.parametrize(("links", "expected"), [(1, 3), (2, 6)])
def test_number_of_base_parameters_of_a_pendulum(links: int, expected: int) -> None:
    """Per link of a planar pendulum: I_zz, h_x, h_y (regrouped with what hangs on it)."""
    parts, parent = [link("base")], "base"
    for i in range(links):
        parts += [link(f"j{i}_link", (0.2, 0.1)), joint(f"j{i}", "revolute", parent, (0.3, 0.1))]
        parent = f"j{i}_link"
    text = "".join(parts).replace(
        '<origin xyz="0.3 0.1 0.0"/>', '<origin xyz="0.3 0.1 0" rpy="{}"/>'
    )
    text = text.replace("{}", "1.5707963267948966 0 0", 1).replace("{}", "0 0 0")
    robot = cld.load(f'<robot name="pendulum">{text}</robot>')
    rng = np.random.default_rng(1)
    W = robot.generalized_regressor(*(rng.normal(size=(40, links)) for _ in range(3)))
    W = W.reshape(-1, W.shape[-1])[:, : 10 * links]
    s = np.linalg.svd(W / np.maximum(np.linalg.norm(W, axis=0), 1e-9), compute_uv=False)
    assert int(np.sum(s > 1e-8)) == expected


@kinds("reduced")
def test_regressor_of_an_upper_body(name: str) -> None:
    robot = cld.load(*FILES[name])
    oracle = rh5_oracle(name, robot.names.spanning)
    motions = Motions.random(robot, oracle, 5, 2, batch=False)
    W = motions.call("regressor", motions.y, motions.yd, motions.ydd)
    assert relative(W @ robot.dynamic_parameters, motions.inverse_dynamics()) <= 1e-9
    check_pinocchio_regressor(motions)


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1.0,), "negative"),
        ((np.nan,), "not finite"),
        ((1.0, (0.0, 1.0)), r"shape \(2,\)"),
        ((1.0, (0.0, 0.0, 0.0), np.ones(3)), r"not \(3, 3\)"),
        ((1.0, (0, 0, 0), [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]), "not symmetric"),
        ((1.0, (0, 0, 0), np.diag([1.0, 1.0, 3.0])), "principal moments"),
        ((1.0, (0, 0, 0), np.diag([-1.0, 1.0, 1.0])), "principal moments"),
    ],
)
def test_impossible_payloads_are_refused(arguments: tuple, words: str) -> None:
    with pytest.raises(cld.InvalidInput, match=words):
        Payload(*arguments)


def test_bad_payloads_and_parameters_are_refused() -> None:
    motions = motions_of(0)
    robot, sample = motions.robot, (motions.y[0], motions.yd[0], motions.ydd[0])
    link_name = robot.mechanism.tree.bodies[0].link
    with pytest.raises(cld.InvalidInput, match="no link 'hand'"):
        robot.inverse_dynamics(*sample, payload={"hand": PAYLOAD})
    with pytest.raises(cld.InvalidInput, match="not a Payload"):
        robot.inverse_dynamics(*sample, payload={link_name: 3.0})
    with pytest.raises(cld.InvalidInput, match="not a mapping"):
        robot.inverse_dynamics(*sample, payload=PAYLOAD)
    with pytest.raises(cld.InvalidInput, match="parameters has shape"):
        robot.inverse_dynamics(*sample, parameters=np.ones(3))
    with pytest.raises(cld.InvalidInput, match="parameters"):
        robot.inverse_dynamics(*sample, parameters=np.full(len(robot.parameter_names), np.nan))
    with pytest.raises(cld.InvalidInput, match="takes no payload"):
        tau = np.zeros(robot.p)
        robot.forward_dynamics(*sample[:2], tau, method="lagrange", payload={link_name: PAYLOAD})
    with pytest.raises(cld.SingularInertia):
        robot.forward_dynamics(
            *sample[:2], np.zeros(robot.p), parameters=0.0 * robot.dynamic_parameters
        )
