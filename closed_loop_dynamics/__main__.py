"""``python -m closed_loop_dynamics``: the command line."""

import sys

from .cli.command_line import main

sys.exit(main())
