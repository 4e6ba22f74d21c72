"""``python -m closed_loop_dynamics.cli.demo``."""

from .command_line import main

main()
