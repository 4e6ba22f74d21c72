"""Two motions within the limits of joints and actuators: of least effort, and of least time."""

from __future__ import annotations

import casadi as ca
import numpy as np

from closed_loop_dynamics.robot import Robot

from .problem import Plan, Problem

#: rh5_leg standing, foot level below the hip, and what bends it; how long [s] and how high [m].
STANDING = np.array([0.0, 0.0, -0.2747, 0.5494, 0.0, -0.2747])
BENDING = np.array([0.0, 0.0, -0.4, 0.8, 0.0, -0.4])
SQUAT_TIME, SQUAT_HEIGHT = 1.2, 0.15
#: crank_leg: leg forward and nearly stretched, leg backward and bent.
FORWARD, BACKWARD = np.array([0.6, 0.1, -0.2]), np.array([-1.2, 1.6, 0.3])


def squat(leg: Robot, segments: int = 40) -> Plan:
    """rh5_leg: the foot goes up and down again in a given time, with the least effort.

    The foot stays level and within 3 cm of the line below the hip. The start bends and stretches
    the joints at constant speed.
    """
    problem = Problem(leg, segments, SQUAT_TIME)
    problem.rests(0, STANDING)
    problem.rests(segments, STANDING)
    opti, poses = problem.opti, problem.link("foot")
    x, y, z = leg.pose("foot", STANDING)[:3, 3]
    for R, p in poses[1:-1]:
        opti.subject_to(ca.vertcat(R[1, 0], R[2, 0], R[2, 1], p[1]) == [0.0, 0.0, 0.0, y])
        opti.subject_to(opti.bounded(-0.03, p[0] - x, 0.03))
    opti.subject_to(poses[segments // 2][1][2] >= z + SQUAT_HEIGHT)
    opti.minimize(ca.sumsqr(problem.tau) / problem.knots)
    up_and_down = 1.0 - np.abs(np.linspace(-1.0, 1.0, problem.knots))
    return problem.solve(STANDING + np.outer(up_and_down, BENDING), SQUAT_TIME)


def point_to_point(leg: Robot, segments: int = 40) -> Plan:
    """crank_leg: from rest to rest in the least time.

    Joints that are not in a hurry have many ways: of these the one whose efforts change least.
    The start goes straight at constant speed, in a whole second.
    """
    problem = Problem(leg, segments)
    problem.rests(0, FORWARD)
    problem.rests(segments, BACKWARD)
    problem.opti.subject_to(problem.T >= 0.1)
    problem.opti.minimize(problem.T + 1e-2 * ca.sumsqr(problem.change) / segments)
    return problem.solve(np.linspace(FORWARD, BACKWARD, problem.knots), 1.0)
