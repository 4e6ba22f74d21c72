"""Ball, planar and free joints inside a tree, as MuJoCo and Pinocchio compute them, at speed."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation
from support.figures import relative
from support.mjcf import bar, robot

import closed_loop_dynamics as cld

Array = np.ndarray
#: A ball between hinges, one away from its body's frame, and a second tree that flies.
BALLS = robot(
    bar("base", 0.3, "0 0 0",
        bar("upper", 0.4, "0.3 0 0",
            bar("fore", 0.3, "0.4 0 0",
                bar("tip", 0.2, "0.3 0 0", "",
                    '<joint name="wrist" type="ball" pos="0.02 0 0.01"/>'),
                '<joint name="elbow" axis="0 1 0" range="-2 2"/>'),
            '<joint name="shoulder" type="ball"/>'),
        '<joint name="yaw" axis="0 0 1"/>')
    + '<body name="loose" pos="1 0 0"><freejoint name="flight"/>'
    '<geom type="box" size="0.2 0.1 0.05" pos="0.01 0.02 0.03"/>'
    + bar("tail", 0.2, "0.1 0 0") + "</body>",
    "", '<motor joint="yaw"/><motor joint="elbow"/>',
)  # fmt: skip


def link(name: str) -> str:
    return (
        f'<link name="{name}"><inertial><origin xyz="0.1 0.02 -0.03" rpy="0.1 0.2 0.3"/>'
        '<mass value="1.5"/><inertia ixx="0.02" ixy="0.001" ixz="0.002" iyy="0.03" iyz="0.003" '
        'izz="0.04"/></inertial></link>'
    )


def joint(name: str, kind: str, parent: str, child: str, axis: str = "0 0 1") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.1"/><axis xyz="{axis}"/>'
        '<limit lower="-2" upper="2" effort="9" velocity="9"/></joint>'
    )


#: It slides and turns on the ground, and lets a part of itself go.
CART = (
    '<robot name="cart"><link name="ground"/>'
    + "".join(map(link, ("cart", "mast", "ship", "rudder")))
    + joint("wheels", "planar", "ground", "cart")
    + joint("stem", "revolute", "cart", "mast", "0 1 0")
    + joint("flight", "floating", "mast", "ship")
    + joint("helm", "revolute", "ship", "rudder", "0 0.6 0.8")
    + "</robot>"
)


@pytest.fixture(scope="module")
def balls() -> cld.Robot:
    return cld.load(BALLS, prepare=())


def states(robot: cld.Robot, count: int = 4) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(0)
    return [(y, rng.normal(size=robot.m)) for y in robot.random_independent(rng, count)]


class Mujoco:
    """MuJoCo at a state of ours: its velocities are ``E yd``, its accelerations E ydd + Ed yd."""

    def __init__(self, robot: cld.Robot, y: Array, yd: Array) -> None:
        self.model = mujoco.MjModel.from_xml_string(BALLS)
        self.data = mujoco.MjData(self.model)
        mech, nv = robot.mechanism, self.model.nv
        self.E, self.Ed = np.zeros((nv, robot.m)), np.zeros((nv, robot.m))
        for b in mech.independent:
            joint = self.model.joint(mech.joint_name(b))
            q, columns, row = y[mech.y.rows[b]], mech.yd.slots([b]), int(joint.dofadr[0])
            own = slice(int(joint.qposadr[0]), int(joint.qposadr[0]) + len(q))
            rows = slice(row, row + len(columns))
            self.data.qpos[own] = q if len(q) == 1 else [*q[:-4], q[-1], *q[-4:-1]]
            self.E[rows, columns] = np.eye(len(columns))
            if len(q) == 7:  # its linear velocity comes first, and in the world
                R, w = Rotation.from_quat(q[3:]).as_matrix(), yd[columns[:3]]
                self.E[rows, columns] = np.block([[np.zeros((3, 3)), R], [np.eye(3), 0 * R]])
                self.Ed[row : row + 3, columns[3:]] = R @ np.cross(np.eye(3), w).T @ -np.eye(3)
        self.data.qvel[:] = self.E @ yd

    def mass_matrix(self) -> Array:
        mujoco.mj_forward(self.model, self.data)
        M = np.zeros((self.model.nv, self.model.nv))
        for row, direction in zip(M, np.eye(len(M)), strict=True):
            mujoco.mj_mulM(self.model, self.data, row, direction)
        return np.asarray(self.E.T @ M @ self.E)

    def accelerations(self, yd: Array, tau_y: Array) -> Array:
        self.data.qfrc_applied[:] = np.linalg.solve(self.E.T, tau_y)
        mujoco.mj_forward(self.model, self.data)
        return np.linalg.solve(self.E, self.data.qacc - self.Ed @ yd)


def test_mujocos_balls_and_loose_bodies(balls: cld.Robot) -> None:
    assert balls.names.independent == ("yaw", "shoulder", "elbow", "wrist", "flight", "tail_joint")
    assert (balls.m, balls.mechanism.n_y) == (15, 18)
    rng = np.random.default_rng(1)
    for y, yd in states(balls):
        native, tau = Mujoco(balls, y, yd), rng.normal(size=balls.p)
        assert relative(balls.mass_matrix(y), native.mass_matrix()) <= 1e-10
        for name in ("tip", "fore", "loose", "tail"):
            body = native.data.body(name)
            pose = np.vstack([np.c_[body.xmat.reshape(3, 3), body.xpos], [0, 0, 0, 1]])
            assert np.allclose(balls.pose(name, y), pose, rtol=0.0, atol=1e-12)
        expected = native.accelerations(yd, balls.actuator_jacobian(y).T @ tau)
        assert relative(balls.forward_dynamics(y, yd, tau), expected) <= 1e-8


def test_pinocchios_planar_joint_and_a_free_flyer_inside_the_tree() -> None:
    robot = cld.load(CART, prepare=())
    names = ("wheels_x", "wheels_y", "wheels_theta", "stem", "flight", "helm")
    assert robot.names.independent == names and robot.names.actuator == (*names[:4], "helm")
    model = pin.buildModelFromXML(CART)
    data = model.createData()
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    rng = np.random.default_rng(2)
    for y, yd in states(robot):
        ydd, R = rng.normal(size=robot.m), Rotation.from_rotvec([0, 0, y[2]]).as_matrix()[:2, :2]
        q = np.concatenate([y[:2], R[:, 0], y[3:]])
        T, Td = np.eye(robot.m), np.zeros((robot.m, robot.m))
        T[:2, :2], Td[:2, :2] = R.T, -yd[2] * turn @ R.T
        T[4:10, 4:10] = np.roll(np.eye(6), 3, axis=0)  # its linear velocity comes first
        pin.forwardKinematics(model, data, q)
        for name in ("cart", "rudder"):
            placed = pin.updateFramePlacement(model, data, model.getFrameId(name))
            assert np.allclose(robot.pose(name, y), placed.homogeneous, rtol=0.0, atol=1e-12)
        forces = T.T @ pin.rnea(model, data, q, T @ yd, T @ ydd + Td @ yd)
        assert relative(robot.generalized_forces(y, yd, ydd), forces) <= 1e-10
        M = np.triu(pin.crba(model, data, q))
        assert relative(robot.mass_matrix(y), T.T @ (M + np.triu(M, 1).T) @ T) <= 1e-10


def test_derivatives_beside_what_flies_first() -> None:
    kite = (
        '<body name="kite"><freejoint/><geom type="box" size="0.2 0.1 0.05"/>'
        + bar("tail", 0.2, "0.1 0 0")
        + "</body>"
    )
    pendulum = bar("rod", 0.3, "0 0 0", "", '<joint name="ball" type="ball"/>')
    loaded = cld.load(robot(kite + pendulum), prepare=())
    assert loaded.mechanism.floating and loaded.mechanism.tree.bodies[-1].parent == -1
    y, yd = states(loaded, 1)[0]
    found, h = loaded.forward_dynamics_derivatives(y, yd, [0.2]).dydd_dy, 1e-6
    ends = [
        [loaded.forward_dynamics(loaded.integrate(y, s * h * e), yd, [0.2]) for s in (1, -1)]
        for e in np.eye(loaded.m)
    ]
    assert relative(found, np.array([up - down for up, down in ends]).T / (2.0 * h)) <= 1e-7


def test_derivatives_are_along_the_directions_of_integrate(balls: cld.Robot) -> None:
    y, yd = states(balls, 1)[0]
    tau, h = np.array([0.3, -0.7]), 1e-6

    def slope(function: object) -> Array:
        sides = [[function(s * h * e) for e in np.eye(balls.m)] for s in (1, -1)]  # type: ignore[operator]
        return (np.array(sides[0]) - np.array(sides[1])).T / (2.0 * h)

    found = balls.forward_dynamics_derivatives(y, yd, tau)
    by_y = slope(lambda e: balls.forward_dynamics(balls.integrate(y, e), yd, tau))
    by_yd = slope(lambda e: balls.forward_dynamics(y, yd + e, tau))
    assert relative(found.dydd_dy, by_y) <= 1e-7 and relative(found.dydd_dyd, by_yd) <= 1e-7
    tip = slope(lambda e: balls.pose("tip", balls.integrate(y, e))[:3, 3])
    R = balls.pose("tip", y)[:3, :3]
    assert relative(R @ balls.jacobian("tip", y)[3:], tip) <= 1e-8
    steps = balls.step_derivatives(y, yd, tau, 1e-3)
    end = slope(
        lambda e: balls.difference(steps.y, balls.step(balls.integrate(y, e), yd, tau, 1e-3)[0])
    )
    assert relative(steps.dz_dz[: balls.m, : balls.m], end) <= 1e-8


def test_integrate_and_difference_undo_each_other(balls: cld.Robot) -> None:
    (y0, yd), (y1, _) = states(balls, 2)
    way = balls.difference(y0, y1)
    there = balls.integrate(y0, way)
    same = np.sign([y1[1:5] @ there[1:5], y1[6:10] @ there[6:10], y1[13:17] @ there[13:17]])
    for slots, sign in zip((range(1, 5), range(6, 10), range(13, 17)), same, strict=True):
        there[slots] *= sign  # a quaternion and its opposite turn alike
    assert np.allclose(there, y1, rtol=0.0, atol=1e-12)
    batch = balls.integrate(np.stack([y0, y1]), np.stack([yd, way]))
    assert np.array_equal(batch[0], balls.integrate(y0, yd))
    assert np.allclose(balls.difference(y0, balls.integrate(y0, 0.3 * yd)), 0.3 * yd)


def test_energy_stays_while_balls_swing(balls: cld.Robot) -> None:
    y, yd = states(balls, 1)[0]
    before = sum(balls.energy(y, yd))
    after = sum(balls.energy(*balls.step(y, yd, np.zeros(2), 2e-4, steps=1000)))
    assert abs(after - before) <= 1e-8 * abs(before)


def test_what_nothing_drives_is_said(balls: cld.Robot) -> None:
    y, yd = states(balls, 1)[0]
    with pytest.raises(cld.Underactuated, match=r"'shoulder'.*0 of 3.*shoulder.wx"):
        balls.inverse_dynamics(y, yd, yd)
    y[6:10] = 0.0
    with pytest.raises(cld.InvalidInput, match="quaternion of 'wrist'"):
        balls.forward_dynamics(y, yd, np.zeros(2))
