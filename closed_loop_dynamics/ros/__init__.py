"""The ROS 2 layer: thin lifecycle nodes around :class:`closed_loop_dynamics.Robot`.

Reading order: ``robot_node`` (what all nodes share), then one of ``feedforward``, ``simulator`` and
``joint_state_completer``. Everything that can be said without ROS is in ``trajectory``,
``trajectory_check``, ``plant``, ``observer``, ``limits`` and ``health``, which do not import it.
"""
