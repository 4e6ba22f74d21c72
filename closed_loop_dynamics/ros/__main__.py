"""``python -m closed_loop_dynamics.ros <node>``: a node without ``ros2 run``."""

from __future__ import annotations

import sys

from .start import main

if __name__ == "__main__":
    sys.exit(main())
