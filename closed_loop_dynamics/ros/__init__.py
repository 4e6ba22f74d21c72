"""The ROS 2 layer: thin lifecycle nodes around :class:`closed_loop_dynamics.Robot`.

Reading order: ``guarded_node`` and ``robot_node`` (what all nodes share), then one of
``feedforward``, ``simulator`` and ``joint_state_completer``; ``conversions`` turns messages into
arrays and back. What a node decides without ROS is in ``motion`` and ``simulation``. Some files
here do not import ROS: ``control_thread``, ``sender``, ``real_time``, ``ending``, ``health`` and
``domains`` are about the process that a node is, not about motion.
"""
