"""Numbers that CasADi has read before are read from memory: nobody can write into that memory."""

from __future__ import annotations

import numpy as np
from support.shipped import shipped

from closed_loop_dynamics.engine.symbolic import ca, tracing
from closed_loop_dynamics.spatial import rotation, sx


def test_what_is_written_into_numbers_stays_there() -> None:
    numbers = np.array([[1.0 + 1e-16, 2e-16], [3.0, -1.0 - 2e-16]])
    with tracing():
        first = sx(numbers)
        first[0, 1] = 7.0
        numbers[1, 0] = 4.0
        turned = rotation(np.array([0.0, 0.0, 1.0]), ca.SX(0.3))
        turned[2, 2] = 7.0
        again = rotation(np.array([0.0, 0.0, 1.0]), ca.SX(0.3))
        np.testing.assert_array_equal(np.array(ca.DM(sx(numbers))), [[1.0, 0.0], [4.0, -1.0]])
        np.testing.assert_array_equal(np.array(ca.DM(again))[2], [0.0, 0.0, 1.0])


def test_cuts_at_rest_have_the_rows_of_cuts_that_move_at_zero_speed() -> None:
    robot = shipped("rh5_leg")
    for branch in robot.branches.values():
        system = branch.closure.system
        with tracing():
            q, zero = ca.SX.sym("q", len(system.joints)), ca.SX.zeros(len(system.joints))
            parts = [*system.motion(q), *system.motion(q, zero, zero)]
            values = ca.Function("rows", [q], [ca.densify(part) for part in parts])
            found = [
                np.array(each) for each in values(0.1 * np.arange(1.0, len(system.joints) + 1))
            ]
        still, moving = found[:4], found[len(found) // 2 :][:4]  # behind them, of no directions
        for one, other in zip(still, moving, strict=True):
            np.testing.assert_array_equal(one, other)
        assert not found[2].any() and not found[3].any() and found[1].any()
