"""The same robots in other libraries, for tests, benchmark and reproduction: who is right?

One adapter for Pinocchio (:mod:`.pinocchio_tree`, with loops :mod:`.oracle`) and one for MuJoCo
(:mod:`.mujoco_robot`). Nothing here imports ``closed_loop_dynamics``, not even to read a file: what
is compared with it must not share its mistakes. All vectors are ordered by the names of joints.
"""
