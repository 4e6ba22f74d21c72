"""``python -m closed_loop_dynamics.demo``."""

from .command_line import main

main()
